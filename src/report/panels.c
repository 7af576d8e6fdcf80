/* SPDX-License-Identifier: MIT */
#include "report/panels.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/open.h"
#include "file/file.h"
#include "job/resolve.h"
#include "report/figures.h"
#include "report/show.h"
#include "store/runfolder.h"
#include "train/tool.h"

/* ---------------------------------------------------------------- one at a time */

size_t panels_count(const struct panels *panels)
{
    return panels->rows * panels->columns;
}

enum { SEEDS_NAMED = 12 }; /* in a message */

/* The index of a seed of the experiment. */
static int find_seed(const struct sph_experiment *e, uint64_t seed, size_t *out)
{
    for (*out = 0; *out < e->seed_count; ++*out)
        if (e->seeds[*out] == seed && (e->method_count || !*out))
            return 0;
    size_t known = e->method_count ? e->seed_count : 1, named = known < SEEDS_NAMED ? known : SEEDS_NAMED;
    struct text list = {0};
    for (size_t s = 0; s < named; s++)
        text_add(&list, "%s%" PRIu64, s ? ", " : "", e->seeds[s]);
    int err = list.failed ? SPH_EMEMORY
                          : sph_fail_of(SPH_EARG, e->path, 0, "seed", "no seed %" PRIu64 "; it has %s%s",
                                        seed, list.chars, named < known ? ", ..." : "");
    text_free(&list);
    return err;
}

int panels_begin(struct panels *panels, const struct results *results, const char *dir, const uint64_t *seed)
{
    const struct sph_experiment *e = results ? results->experiment : NULL;
    *panels = (struct panels){.results = results,
                              .e = e,
                              .dir = dir,
                              .rows = e ? experiment_lines(e) : 1,
                              .columns = e ? e->method_count : 1};
    if (e && seed)
        return find_seed(e, *seed, &panels->seed);
    if (e && e->method_count && e->seed_count > 1) {
        panels->seed = results_median_seed(results_of_set(results, 0));
        panels->is_median = 1;
    }
    const struct panel *panel;
    int err = seed ? panels_look(panels, 0, 0, &panel) : 0;
    if (!err && seed && panel->run.spec->options.seed != *seed)
        err = sph_fail_of(SPH_EARG, dir, 0, "seed", "no seed %" PRIu64 "; this run has %" PRIu64, *seed,
                          panel->run.spec->options.seed);
    return err;
}

static void close_panel(struct panels *panels)
{
    run_close(&panels->open.run);
    mem_free(panels->open.point);
    mem_free(panels->method);
    panels->open = (struct panel){0};
    panels->method = NULL;
    panels->is_open = 0;
}

void panels_end(struct panels *panels)
{
    close_panel(panels);
}

/* The job that panel i of an experiment shows. */
static size_t job_of(const struct panels *panels, size_t i)
{
    return results_final(panels->results, i % panels->columns, i / panels->columns, panels->seed);
}

/* Caller frees. */
static char *folder_of(const struct panels *panels, size_t i)
{
    return panels->e ? results_folder(panels->results, job_of(panels, i)) : mem_text(panels->dir);
}

/* The point of the grid, such as "lr 0.1, hidden 100"; without a grid, the learning rate. */
static int label(struct panels *panels, size_t i)
{
    struct text text = {0};
    if (panels->e && panels->e->grid.count) {
        experiment_add_point(panels->e, panels->results->jobs[job_of(panels, i)].point, &text);
    } else {
        text_add(&text, "lr ");
        options_add(&text, panels->open.run.spec, OPTION_LR);
    }
    panels->open.point = text.chars;
    return text.failed ? SPH_EMEMORY : 0;
}

/* "gmp+imn" for a single run. */
static int name_method(struct panels *panels)
{
    struct text text = {0};
    show_method(&text, panels->open.run.spec);
    panels->open.method = panels->method = text.chars;
    return text.failed ? SPH_EMEMORY : 0;
}

static int check_task(struct sph_run *run)
{
    if (run->spec->options.task >= 0)
        return 0;
    char *config = file_join(run->dir, RUNFOLDER_CONFIG);
    int err = config
                  ? sph_fail_of(SPH_EFORMAT, config, 0, "task",
                                "data has no task, expected regression, binary or classes: a run writes it")
                  : SPH_EMEMORY;
    mem_free(config);
    run_close(run);
    return err;
}

static const char *metric_word(const struct sph_run *run)
{
    return sph_word(SPH_WORDS_METRIC, (int)sph_metric_of((sph_task)run->spec->options.task))->word;
}

int panels_look(struct panels *panels, size_t i, unsigned parts, const struct panel **out)
{
    *out = &panels->open;
    if (panels->is_open && panels->number == i && (panels->parts & parts) == parts)
        return 0;
    close_panel(panels);
    char *folder = folder_of(panels, i);
    struct sph_run *run = &panels->open.run;
    int err =
        folder ? run_read(run, folder, parts, panels->e ? experiment_cache(panels->e) : NULL) : SPH_EMEMORY;
    mem_free(folder);
    if (err < 0 || (err = check_task(run)) < 0)
        return err;
    panels->open.metric = panels->e ? panels->results->facts.metric : metric_word(run);
    panels->open.score = result_score(run->result, "test", panels->open.metric);
    panels->is_open = 1;
    panels->number = i;
    panels->parts = parts;
    panels->open.median = (double)NAN;
    if (panels->e) {
        panels->open.method = panels->e->methods[i % panels->columns].name;
        if (panels->e->seed_count > 1)
            err = results_median_score(panels->results, i % panels->columns, i / panels->columns,
                                       &panels->open.median);
        panels->open.seeds = panels->e->seed_count;
    } else {
        err = name_method(panels);
    }
    return err ? err : label(panels, i);
}

int panels_open(struct panels *panels, size_t i, const struct panel **out)
{
    int err = panels_look(panels, i, figure_parts(panels->kind), out);
    if (!err && (err = figure_check_panel(panels->word, panels->kind, *out)) < 0)
        sph_fail_move(err, panels->open.run.dir, 0, 0);
    return err;
}

/* ---------------------------------------------------------------- into the script */

void panels_text(struct figure *figure, const char *key, size_t number, const char *format, ...)
{
    char name[64], value[512];
    va_list list;
    va_start(list, format);
    vsnprintf(value, sizeof value, format, list);
    va_end(list);
    snprintf(name, sizeof name, "%s_%zu", key, number);
    figure_text(figure, name, value);
}

void panels_number(struct figure *figure, const char *key, size_t number, double value)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%zu", key, number);
    figure_number(figure, name, value);
}

void panels_columns(struct figure *figure, size_t number, const char *tail, const char *header)
{
    char name[64];
    snprintf(name, sizeof name, "p%zu%s", number, tail);
    figure_columns(figure, name, header);
}

void panels_head(struct figure *figure, size_t rows, size_t columns)
{
    figure_number(figure, "down", (double)rows);
    figure_number(figure, "across", (double)columns);
}

void panels_title(struct figure *figure, const struct panel *panel, size_t number)
{
    panels_text(figure, "title", number, "%s%s%s", panel->method, *panel->point ? ", " : "", panel->point);
}

/* The figure shows all seeds. */
static int shows_all(const struct figure_kind *kind)
{
    return (kind->needs & (FIGURE_METRICS | FIGURE_SCORES)) != 0;
}

/* The selection that used the test part, or NULL. */
static const char *leak_of(const struct panels *panels)
{
    const struct sph_experiment *e = panels->e;
    if (e ? !experiment_warning(e) : !job_leaks(panels->open.run.spec))
        return NULL;
    if (!e || !e->grid.count || e->table.all_points)
        return "leak: the test set chose the epoch";
    return job_leaks(e->base) ? "leak: the test set chose the epoch and the point of the grid"
                              : "leak: the test set chose the point of the grid";
}

int panels_foot(struct figure *figure, struct panels *panels, char **caption)
{
    const struct sph_experiment *e = panels->e;
    const struct panel *panel;
    struct text seed = {0};
    *caption = NULL;
    int err = panels->kind->needs && !e ? panels_look(panels, 0, 0, &panel) : 0;
    if (err || !panels->kind->needs)
        return err;
    const char *leak = leak_of(panels);
    int one_set = e && e->set_count && !panels->results->sets;
    text_add(&seed, "%s", one_set ? e->sets[panels->results->set].name : "");
    if (!shows_all(panels->kind))
        text_add(&seed, "%sseed %" PRIu64, one_set ? ", " : "",
                 e ? e->seeds[panels->seed] : panels->open.run.spec->options.seed);
    if (!shows_all(panels->kind) && panels->is_median)
        text_add(&seed, ", closest to the median scores of %zu seeds", e->seed_count);
    if (!seed.failed) {
        figure_number(figure, "seeds", e ? (double)e->seed_count : 1);
        figure_text(figure, "foot_seed", seed.chars);
        figure_text(figure, "foot_leak", leak ? leak : "");
        *caption = mem_format("%s%s%s%s", seed.length ? "Shown: " : "", seed.chars, seed.length ? "." : "",
                              leak ? " Its scores are biased: the test set chose the epoch." : "");
    }
    text_free(&seed);
    return *caption ? 0 : SPH_EMEMORY;
}

const char *panel_without_model(const struct panel *panel)
{
    return panel->run.nets     ? "an ensemble, not a single network"
           : panel->run.result ? "diverged: no model"
                               : "not finished";
}

void panels_score(struct figure *figure, const struct panel *panel, size_t number)
{
    if (panel->run.nets && !isnan(panel->score))
        panels_text(figure, "score", number, "test %s %.3f%s", panel->metric, panel->score,
                    job_leaks(panel->run.spec) ? " (leak)" : "");
    else
        panels_text(figure, "score", number, "%s", panel->run.nets ? "" : panel_without_model(panel));
    if (isnan(panel->median))
        panels_text(figure, "median", number, "%s", "");
    else
        panels_text(figure, "median", number, "median of %zu: %.3f", panel->seeds, panel->median);
}

/* The name, escaped for gnuplot's enhanced text. */
static char *plain(const char *name)
{
    struct text text = {0};
    for (; *name; name++)
        text_add(&text, "%s%c", strchr("_^{}@&~\\", *name) ? "\\" : "", *name);
    if (text.failed)
        text_free(&text);
    return text.chars;
}

int panels_axes(struct figure *figure, const struct panel *panel)
{
    const sph_data *data = panel->run.data;
    int named = data->reading.named && !data->reading.made;
    char *feature = named ? data_feature_name(data, 0) : NULL;
    char *x = feature ? plain(feature) : NULL;
    char *y = named && data->targets ? plain(data_target_name(data, 0)) : NULL;
    int err = named && !(x && (y || !data->targets)) ? SPH_EMEMORY : 0;
    figure_text(figure, "x_name", x ? x : "{/:Italic x}");
    figure_text(figure, "y_name", y ? y : "{/:Italic y}");
    mem_free(feature);
    mem_free(x);
    mem_free(y);
    return err;
}

void panels_method(struct figure *figure, size_t column, const char *method, const char *point)
{
    panels_text(figure, "method", column, "%s", method);
    panels_text(figure, "label", column, "%s%s%s", method, *point ? ", " : "", point);
}

/* ---------------------------------------------------------------- along a key of the grid */

size_t panels_axis(const struct panels *panels)
{
    size_t axis = 0;
    while (strcmp(option_key(panels->e->grid.axes[axis].id), panels->kind->axis) !=
           0) /* the figure was checked for it */
        axis++;
    return axis;
}

int panels_row(struct figure *figure, const struct panels *panels, size_t row, size_t set, size_t point)
{
    const struct sph_experiment *e = panels->e;
    const char *name = e->set_count ? e->sets[set].name : "";
    struct text keys = {0};
    experiment_add_other_keys(e, point, panels_axis(panels), &keys);
    panels_text(figure, "title", row, "%s%s%s", name, *name && keys.length ? ", " : "",
                keys.chars ? keys.chars : "");
    int err = keys.failed ? SPH_EMEMORY : 0;
    text_free(&keys);
    return err;
}

/* ---------------------------------------------------------------- from the record */

int panel_has(const struct panel *panel, const char *name)
{
    size_t shape[4], ndim;
    return panel->run.record && npz_find(panel->run.record, name, shape, &ndim);
}

const char *panel_array(const struct panel *panel, size_t k, const char *what)
{
    const char *name = NULL;
    size_t tail = strlen(what);
    for (size_t i = 0; panel->run.record && (name = npz_name(panel->run.record, i)); i++) {
        size_t length = strlen(name);
        if (length > tail && name[length - tail - 1] == '.' && !strcmp(name + length - tail, what) && !k--)
            return name;
    }
    return NULL;
}

const char *panel_empty(const struct panel *panel)
{
    size_t shape[4], ndim;
    if (!panel->run.record || !npz_find(panel->run.record, "frame_step", shape, &ndim))
        return NULL;
    if (ndim == 1 && !shape[0])
        return "no recorded positions";
    return panel_array(panel, 0, "phi") ? NULL : "no hyperplanes";
}

void panels_note(struct figure *figure, size_t number, const char *note)
{
    panels_text(figure, "note", number, "%s", note ? note : "");
}

int panels_all_empty(const struct panels *panels, const char *note)
{
    int frames = !strcmp(note, "no recorded positions");
    char *folder = folder_of(panels, 0);
    int err = folder ? sph_fail_at(SPH_EFORMAT, folder, "%s%s", note,
                                   frames ? ": the chosen steps do not exist"
                                          : ": a norm with statistics of each sample has no hyperplanes")
                     : SPH_EMEMORY;
    mem_free(folder);
    return err;
}

int panel_shape(const struct panel *panel, const char *name, size_t ndim, size_t shape[4])
{
    size_t found = 0;
    if (!panel->run.record)
        return sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, "record",
                           "no recorded boundaries; train it with --record boundaries");
    if (!npz_find(panel->run.record, name, shape, &found))
        return sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, name, "boundaries.npz: no array '%s'", name);
    if (found != ndim)
        return sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, name,
                           "boundaries.npz: '%s' has %zu axes, expected %zu", name, found, ndim);
    return 0;
}

int panel_read(const struct panel *panel, const char *name, size_t ndim, size_t shape[4], double **values)
{
    size_t count = 1;
    int err = panel_shape(panel, name, ndim, shape);
    if (err < 0)
        return err;
    for (size_t i = 0; i < ndim; i++)
        if (!size_times(&count, count, shape[i]))
            return sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, name, "boundaries.npz: '%s' is too large",
                               name);
    if (!(*values = mem_get(count, sizeof **values)))
        return SPH_EMEMORY;
    if (count && (err = npz_read(panel->run.record, name, *values, 0, count)) < 0) {
        mem_free(*values);
        *values = NULL;
    }
    return err;
}

/* Reads x_mean or x_scale into values (n), which stay unchanged without the array. */
static int read_features(const struct panel *panel, const char *name, size_t n, double *values)
{
    size_t shape[4];
    if (!panel_has(panel, name))
        return 0;
    int err = panel_shape(panel, name, 1, shape);
    if (!err && shape[0] != n)
        err = sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, name,
                          "boundaries.npz: '%s' has %zu numbers, expected %zu", name, shape[0], n);
    return err ? err : npz_read(panel->run.record, name, values, 0, n);
}

int panel_scale(const struct panel *panel, size_t n, double *scale, double *mean)
{
    for (size_t i = 0; i < n; i++) {
        scale[i] = 1;
        mean[i] = 0;
    }
    int err = read_features(panel, "x_scale", n, scale);
    return err ? err : read_features(panel, "x_mean", n, mean);
}

/* ---------------------------------------------------------------- from the data */

void panel_window(const struct panel *panel, size_t feature, double share, double *low, double *high)
{
    const sph_data *data = panel->run.data;
    *low = *high = data->rows ? data->x[feature] : 0;
    for (size_t i = 0; i < data->rows; i++) {
        double x = data->x[i * data->features + feature];
        *low = x < *low ? x : *low; /* both comparisons are false for NaN */
        *high = x > *high ? x : *high;
    }
    double wide = (*high > *low ? *high - *low : 1) * share;
    *low -= wide;
    *high += wide;
}

void panels_classes(struct figure *figure, char *const *names, size_t count)
{
    figure_number(figure, "classes", (double)count);
    for (size_t k = 0; k < count; k++)
        panels_text(figure, "class", k, "%s%s", strchr("0123456789-+.", *names[k]) ? "class " : "", names[k]);
}

int panels_plane(struct figure *figure, const struct panel *first, double share, double window[4])
{
    static const char *const border[] = {"x_low", "x_high", "y_low", "y_high"};
    for (size_t k = 0; k < 2; k++) {
        char *name = data_feature_name(first->run.data, k);
        if (!name)
            return SPH_EMEMORY;
        figure_text(figure, k ? "y_name" : "x_name", name);
        mem_free(name);
        panel_window(first, k, share, &window[2 * k], &window[2 * k + 1]);
    }
    for (int i = 0; i < 4; i++)
        figure_number(figure, border[i], window[i]);
    return 0;
}
