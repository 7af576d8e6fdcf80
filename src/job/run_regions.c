/* SPDX-License-Identifier: MIT
 *
 * Regions of a run: rows of its data become a plane, their box a window, and what a reader wants to know goes
 * along: names, a title, data points. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "boundary/regions.h"
#include "job/run.h"
#include "job/tool.h"

enum { POINTS_MOST = 400 }; /* more would hide what they lie on */

static const double margin = 0.1; /* of the box, on each side */

struct aim {
    sph_run *run;
    const sph_run_regions_opts *opts;
    sph_data *data; /* NULL: not there, and not needed */
    sph_regions_opts regions;
    double *plane; /* (3, inputs) origin, first, second */
    double *point; /* (3, inputs) */
};

/* ---------------------------------------------------------------- data */

/* A feature of a row in raw units, whatever the data are kept as; what is missing is as the net takes it. */
static double feature(const struct aim *aim, size_t row, size_t i)
{
    const struct scaling *scaling = &aim->run->net->scaling;
    size_t at = row * aim->data->features + i;
    double value = aim->data->image.pixels ? aim->data->image.pixels[at] : aim->data->x[at];
    if (!isnan(value))
        return value;
    return scaling->x_fill ? scaling->x_fill[i] : scaling->x_mean ? scaling->x_mean[i] : 0;
}

/* A relative name is looked for where the command runs. */
static int run_lost_data(const sph_run *run, int err)
{
    const char *data = run->spec->options.data;
    if (err == SPH_EMEMORY || !data || *data == '/' || file_exists(data) ||
        strcmp(sph_failure()->path, data) != 0)
        return err;
    return sph_fail_more(
        err, "; the run's path of the data is relative to the folder in which it was trained; use --data");
}

/* With targets where the source has them. What is only looked at may be absent. */
static int open_data(struct aim *aim)
{
    const sph_run_regions_opts *o = aim->opts;
    int err = run_open_data(aim->run, o->data, 1, &aim->data);
    if (err < 0 && err != SPH_EMEMORY && o->data)
        err = run_open_data(aim->run, o->data, 0, &aim->data);
    if (!err && aim->data->image.pictures)
        return sph_fail_key(SPH_EARG, "data", "regions are not supported for image folders");
    if (err < 0 && err != SPH_EMEMORY && !o->data && o->window && !o->plane)
        return 0;
    return !err || o->data ? err : run_lost_data(aim->run, err);
}

/* ---------------------------------------------------------------- plane and window */

static int check_inputs(const struct aim *aim)
{
    size_t n = sph_net_inputs(aim->run->net);
    if (!aim->opts->plane && n > 2)
        return sph_fail_key(SPH_EARG, "plane",
                            "missing; a network with %zu inputs needs three rows such as 0,1,2", n);
    if (aim->opts->colour_output && sph_net_outputs(aim->run->net) != 1)
        return sph_fail_key(SPH_EARG, "colour",
                            "output requires a network with one output, but this one has %zu; use units",
                            sph_net_outputs(aim->run->net));
    if (aim->opts->plane && n < 2)
        return sph_fail_key(SPH_EARG, "plane", "not used with a network of one input");
    return 0;
}

static int find_plane(struct aim *aim)
{
    const size_t *rows = aim->opts->plane;
    size_t n = aim->data->features;
    aim->plane = mem_get(3 * n, sizeof *aim->plane);
    aim->point = mem_get(3 * n, sizeof *aim->point);
    if (!aim->plane || !aim->point)
        return SPH_EMEMORY;
    for (size_t p = 0; p < 3; p++) {
        if (rows[p] >= aim->data->rows)
            return sph_fail_key(SPH_EARG, "plane",
                                "found row %zu, expected 0 to %zu, because the data have %zu rows", rows[p],
                                aim->data->rows - 1, aim->data->rows);
        for (size_t i = 0; i < n; i++)
            aim->point[p * n + i] = feature(aim, rows[p], i);
    }
    sph_regions_opts *o = &aim->regions;
    int err = sph_plane_through(aim->run->net, aim->point, aim->point + n, aim->point + 2 * n, aim->plane,
                                aim->plane + n, aim->plane + 2 * n, o->window);
    if (err < 0)
        return sph_fail_about(err, "plane", "plane: rows %zu, %zu and %zu", rows[0], rows[1], rows[2]);
    o->origin = aim->plane;
    o->first = aim->plane + n;
    o->second = aim->plane + 2 * n;
    return 0;
}

/* The box of the data; a feature that does not vary gets some room. */
static void find_box(struct aim *aim)
{
    double *window = aim->regions.window;
    window[2] = 0;
    window[3] = 1;
    for (size_t i = 0; i < aim->data->features; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t row = 0; row < aim->data->rows; row++) {
            low = fmin(low, feature(aim, row, i));
            high = fmax(high, feature(aim, row, i));
        }
        double room = high > low ? margin * (high - low) : fmax(1, 1e-3 * fabs(low));
        window[2 * i] = low - room;
        window[2 * i + 1] = high + room;
    }
}

static int find_window(struct aim *aim)
{
    size_t n = sph_net_inputs(aim->run->net);
    int err = aim->opts->plane ? find_plane(aim) : 0;
    if (!err && !aim->opts->plane && !aim->opts->window)
        find_box(aim);
    if (!err && aim->opts->window) {
        double strip[4] = {0, 0, 0, 1};
        memcpy(strip, aim->opts->window, (n == 1 ? 2 : 4) * sizeof *strip);
        memcpy(aim->regions.window, strip, sizeof strip);
    }
    return err;
}

/* ---------------------------------------------------------------- what goes along */

static void add_point(const struct aim *aim, struct regions_about *about, size_t row, double s, double t)
{
    int classes = aim->data->task != SPH_TASK_REGRESSION && aim->data->y;
    double *point = about->point + 4 * about->points++;
    point[0] = s;
    point[1] = t;
    point[2] = classes ? aim->data->y[row] : 0;
    point[3] = (double)row;
}

/* Of a plane its three rows, else the data in the window, some of them if they are many. */
static int add_points(const struct aim *aim, sph_regions *regions)
{
    struct regions_about *about = &regions->about;
    const size_t *plane = aim->opts->plane;
    size_t n = aim->data->features, rows = aim->data->rows;
    size_t step = rows > POINTS_MOST ? (rows + POINTS_MOST - 1) / POINTS_MOST : 1;
    if (!(about->point = mem_get(4 * (plane ? 3 : rows / step + 1), sizeof *about->point)))
        return SPH_EMEMORY;
    const double *w = regions->plane.window;
    for (size_t p = 0; plane && p < 3; p++) {
        double s = 0, t = 0;
        for (size_t i = 0; i < n; i++) {
            double scale = aim->run->net->scaling.x_scale ? aim->run->net->scaling.x_scale[i] : 1;
            double x = (aim->point[p * n + i] - regions->plane.origin[i]) / scale;
            s += x * regions->plane.first[i] / scale;
            t += x * regions->plane.second[i] / scale;
        }
        add_point(aim, about, plane[p], s, t);
    }
    for (size_t row = 0; !plane && row < rows; row += step) {
        double s = feature(aim, row, 0), t = n > 1 ? feature(aim, row, 1) : w[2] + 0.5 * (w[3] - w[2]);
        if (s >= w[0] && s <= w[1] && t >= w[2] && t <= w[3])
            add_point(aim, about, row, s, t);
    }
    return 0;
}

/* The names of the classes, as predictions have them. */
static int add_classes(const struct aim *aim, struct regions_about *about)
{
    if (!aim->data || aim->data->task == SPH_TASK_REGRESSION)
        return 0;
    about->class_names = mem_copy_texts(aim->data->labels, aim->data->classes);
    about->classes = about->class_names ? aim->data->classes : 0;
    return about->class_names ? 0 : SPH_EMEMORY;
}

static int add_words(const struct aim *aim, sph_regions *regions)
{
    struct regions_about *about = &regions->about;
    const size_t *plane = aim->opts->plane;
    size_t n = regions->inputs;
    about->title =
        mem_format(regions->stopped ? "the first %zu linear regions" : "%zu linear regions", regions->count);
    double high = (regions->plane.window[3] - regions->plane.window[2]) /
                  (regions->plane.window[1] - regions->plane.window[0]);
    about->square = plane && high > 0.5 && high < 2; /* a strip would be lost on its page */
    about->planar = plane != NULL;
    about->output = aim->opts->colour_output;
    if (plane) {
        const char *unit = aim->run->net->scaling.x_scale ? "standardized distance" : "distance";
        about->s_name = mem_format("s: from row %zu to row %zu (%s)", plane[0], plane[1], unit);
        about->t_name = mem_format("t: towards row %zu (%s)", plane[2], unit);
    } else {
        about->s_name = aim->data ? data_feature_name(aim->data, 0) : mem_text("input 0");
        about->t_name = n < 2       ? mem_text("")
                        : aim->data ? data_feature_name(aim->data, 1)
                                    : mem_text("input 1");
    }
    return about->title && about->s_name && about->t_name ? add_classes(aim, about) : SPH_EMEMORY;
}

int sph_run_regions(sph_regions **out, sph_run *run, const sph_run_regions_opts *opts)
{
    NEED(out, run, opts);
    struct aim aim = {.run = run, .opts = opts};
    sph_regions *regions = NULL;
    int err;
    aim.regions.size = sizeof aim.regions;
    aim.regions.task = run->spec->options.task < 0 ? SPH_TASK_REGRESSION : (sph_task)run->spec->options.task;
    aim.regions.self = opts->self;
    aim.regions.progress = opts->progress;
    if (opts->most)
        aim.regions.most = opts->most;
    if (!(err = run_check_single(run, "regions")) && !(err = check_inputs(&aim)) &&
        !(err = open_data(&aim)) && !(err = find_window(&aim)) &&
        !(err = sph_regions_new(&regions, run->net, &aim.regions)) && !(err = add_words(&aim, regions)) &&
        aim.data)
        err = add_points(&aim, regions);
    sph_data_free(aim.data);
    mem_free(aim.plane);
    mem_free(aim.point);
    if (err < 0) {
        sph_regions_free(regions);
        return err;
    }
    *out = regions;
    return 0;
}
