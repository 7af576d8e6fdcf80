/* SPDX-License-Identifier: MIT
 *
 * How far a step moves boundaries, and how far it turns them: the largest of all units of all layers, step by
 * step, and of each layer where they are few. One panel for each point of the listing, one line for each method.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/hyperplane.h"
#include "data/data.h"
#include "report/panels.h"

enum {
    BINS = 1000,     /* of longer trainings the largest of neighbouring steps is shown, and no peak is lost */
    LAYERS_MOST = 4, /* more have no panels of their own */
    LAYERS = 1024,
};

/* What is drawn: a record's `move` or `turn` of some layers. */
struct motion_of {
    const char *what, *header;
    size_t layer[LAYERS], layers; /* that have hyperplanes in some panel */
    double steps;                 /* of the longest training */
};

static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* Blocks: step, largest, median and 90 % of the units. Returns the largest of all, NaN: none. */
static double write_steps(struct figure *figure, const double *step, const double *value, size_t count)
{
    size_t bins = count < BINS ? count : BINS;
    double most = (double)NAN;
    for (size_t bin = 0; bin < bins; bin++) {
        size_t first = count * bin / bins, end = count * (bin + 1) / bins;
        double top[3] = {(double)NAN, (double)NAN, (double)NAN};
        for (size_t t = first; t < end; t++)
            for (size_t k = 0; k < 3; k++)
                top[k] = larger(top[k], value[t * 3 + k]);
        figure_row(figure, (double[]){step[first], top[0], top[1], top[2]}, 4);
        most = larger(most, top[0]);
    }
    if (!bins) /* the block must be there */
        figure_row(figure, (double[]){0, (double)NAN, (double)NAN, (double)NAN}, 4);
    figure_gap(figure, 2);
    return most;
}

/* Moves are in raw units where there is one feature to speak of, and in the first layer alone. */
static int factor_of(const struct panel *panel, const struct motion_of *of, size_t layer, double *factor)
{
    double mean;
    int moves = of->what[0] == 'm';
    *factor = moves ? 1 : plane_degrees;
    return moves && !layer && panel->data->features == 1 ? panel_scale(panel, 1, factor, &mean) : 0;
}

/* value (steps, 3): the larger of itself and a layer's, where the record has it. */
static int add_layer(const struct panel *panel, const struct motion_of *of, size_t layer, double *value,
                     size_t steps)
{
    char name[128];
    size_t shape[4];
    double *own = NULL, factor;
    panel_name(name, panel, layer, of->what);
    if (!panel_has(panel, name))
        return 0;
    int err = factor_of(panel, of, layer, &factor);
    if (!err)
        err = panel_read(panel, name, 2, shape, &own);
    if (!err && (shape[1] != 3 || shape[0] != steps))
        err = sph_fail_at(SPH_EFORMAT, panel->where, "boundaries.npz: '%s' is (%zu, %zu), expected (%zu, 3)",
                          name, shape[0], shape[1], steps);
    for (size_t i = 0; i < steps * 3 && !err; i++)
        value[i] = larger(value[i], own[i] * factor);
    mem_free(own);
    return err;
}

/* One method's line: the largest over count layers. */
static int write_line(struct figure *figure, const struct panel *panel, struct motion_of *of,
                      const size_t *layer, size_t count, double *most)
{
    size_t steps[4];
    double *step = NULL, *value = NULL;
    int err = panel_read(panel, "step", 1, steps, &step);
    if (!err && !(value = mem_get(steps[0] * 3, sizeof *value)))
        err = SPH_EMEMORY;
    for (size_t i = 0; !err && i < steps[0] * 3; i++)
        value[i] = (double)NAN;
    for (size_t k = 0; k < count && !err; k++)
        err = add_layer(panel, of, layer[k], value, steps[0]);
    if (!err)
        *most = larger(*most, write_steps(figure, step, value, steps[0]));
    if (!err && steps[0] && step[steps[0] - 1] > of->steps)
        of->steps = step[steps[0] - 1];
    mem_free(step);
    mem_free(value);
    return err;
}

/* Panel `number` of the page: a point of the grid and some of its layers. */
static int write_panel(struct figure *figure, const struct panel *row, size_t columns, struct motion_of *of,
                       const size_t *layer, size_t count, size_t number)
{
    double most = (double)NAN;
    int err = 0;
    panels_columns(figure, number, "", of->header);
    for (size_t column = 0; column < columns && !err; column++)
        err = write_line(figure, &row[column], of, layer, count, &most);
    panels_text(figure, "note", number, "%s",
                isnan(most)          ? "nothing recorded"
                : most > 0           ? ""
                : of->what[0] == 'm' ? "no boundary moves"
                                     : "no boundary turns");
    return err;
}

static int has_layer(const struct panel *panel, const char *what, size_t layer)
{
    char name[128];
    if (layer >= sph_net_layers(panel->first))
        return 0;
    panel_name(name, panel, layer, what);
    return panel_has(panel, name);
}

/* Which layers there are; label_<column> says it of a method that has none. */
static int find_layers(struct figure *figure, const struct panels *panels, struct motion_of *of)
{
    size_t all = panels->rows * panels->columns, shape[4], recorded = 0;
    for (size_t i = 0; i < all; i++) {
        int err = panel_shape(&panels->list[i], "step", 1, shape);
        if (err < 0)
            return err;
        recorded += shape[0];
    }
    for (size_t layer = 0; layer < LAYERS; layer++)
        for (size_t i = 0; i < all; i++)
            if (has_layer(&panels->list[i], of->what, layer)) {
                of->layer[of->layers++] = layer;
                break;
            }
    if (!of->layers)
        return panels_all_empty(panels, "no hyperplanes");
    if (!recorded)
        return sph_fail_at(SPH_EARG, panels->list[0].where, "no step was recorded");
    for (size_t column = 0; column < panels->columns; column++) {
        const struct panel *panel = &panels->list[column];
        int there = 0;
        for (size_t k = 0; k < of->layers; k++)
            there |= has_layer(panel, of->what, of->layer[k]);
        const char *point = panels->rows == 1 ? panel->point : "";
        panels_text(figure, "method", column, "%s", panel->method);
        panels_text(figure, "label", column, "%s%s%s%s", panel->method, *point ? ", " : "", point,
                    there ? "" : " (no hyperplanes)");
    }
    return 0;
}

static const char *path_of(const struct panels *panels, size_t layer)
{
    size_t i = 0;
    while (i + 1 < panels->rows * panels->columns && layer >= sph_net_layers(panels->list[i].first))
        i++;
    return sph_net_layer(panels->list[i].first, layer, NULL)->path;
}

static int fill(struct figure *figure, const struct panels *panels, struct motion_of *of)
{
    int err = find_layers(figure, panels, of);
    if (err < 0)
        return err;
    size_t alone = of->layers > 1 && of->layers <= LAYERS_MOST ? of->layers : 0, number = 0;
    panels_head(figure, panels->rows * (1 + alone), panels->columns);
    figure_number(figure, "layers", (double)of->layers);
    figure_number(figure, "per_row", (double)(1 + alone));
    for (size_t row = 0; row < panels->rows && !err; row++) {
        const struct panel *list = &panels->list[row * panels->columns];
        const char *point = panels->rows > 1 ? list->point : "";
        for (size_t k = 0; k <= alone && !err; k++, number++) {
            if (k)
                panels_text(figure, "title", number, "%s%s%s", point, *point ? ", " : "",
                            path_of(panels, of->layer[k - 1]));
            else if (of->layers > 1)
                panels_text(figure, "title", number, "%s%sall %zu layers", point, *point ? ", " : "",
                            of->layers);
            else
                panels_text(figure, "title", number, "%s", point);
            err = write_panel(figure, list, panels->columns, of, k ? &of->layer[k - 1] : of->layer,
                              k ? 1 : of->layers, number);
        }
    }
    figure_number(figure, "x_most", of->steps);
    return err;
}

int moves_fill(struct figure *figure, const struct panels *panels)
{
    struct motion_of of = {
        .what = "move", .header = "step, |phi - phi before| of the units: largest, median, 90 %", .steps = 1};
    return fill(figure, panels, &of);
}

int turns_fill(struct figure *figure, const struct panels *panels)
{
    struct motion_of of = {
        .what = "turn", .header = "step, turn of the units in degrees: largest, median, 90 %", .steps = 1};
    return fill(figure, panels, &of);
}
