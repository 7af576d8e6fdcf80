/* SPDX-License-Identifier: MIT
 *
 * The largest move and the largest turn of a boundary in each step, over all layers and, if there are few, for each layer. One panel
 * for each point of the grid, one line for each method. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/hyperplane.h"
#include "report/figures.h"

enum {
    EARLY = 40,      /* all of the first steps are shown, because they turn most */
    BINS = 1000,     /* in longer trainings the maximum of neighbouring steps is shown, so no peak is lost */
    LAYERS_MOST = 4, /* with more layers there is only the panel over all of them */
};

/* The drawn quantity: `move` or `turn` of some layers. */
struct motion_of {
    const char *what, *header;
    char **layer; /* (layers) arrays such as "layers.0.move" that some panel has */
    size_t layers, capacity;
    double steps; /* of the longest training */
};

static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* Writes a block of step, maximum, median and 90 % quantile over the units. Returns the overall maximum, or NaN. */
static double write_steps(struct figure *figure, const double *step, const double *value, size_t count)
{
    size_t early = count < EARLY ? count : EARLY, late = count - early, bins = late < BINS ? late : BINS;
    double most = (double)NAN;
    for (size_t bin = 0; bin < early + bins; bin++) {
        size_t k = bin - early, first = bin < early ? bin : early + late * k / bins,
               end = bin < early ? bin + 1 : early + late * (k + 1) / bins;
        double top[3] = {(double)NAN, (double)NAN, (double)NAN};
        for (size_t t = first; t < end; t++)
            for (size_t i = 0; i < 3; i++)
                top[i] = larger(top[i], value[t * 3 + i]);
        figure_row(figure, (double[]){step[first], top[0], top[1], top[2]}, 4);
        most = larger(most, top[0]);
    }
    if (!count) /* gnuplot needs the block */
        figure_row(figure, (double[]){0, (double)NAN, (double)NAN, (double)NAN}, 4);
    figure_gap(figure, 2);
    return most;
}

/* Moves of the first layer are in data units if there is one feature. */
static int factor_of(const struct panel *panel, const struct motion_of *of, const char *array, double *factor)
{
    size_t shape[4], ndim;
    double mean;
    const char *first = panel_array(panel, 0, of->what);
    int moves = of->what[0] == 'm';
    *factor = moves ? 1 : plane_degrees;
    return moves && first && !strcmp(array, first) && npz_find(panel->run.record, "x_scale", shape, &ndim) &&
                   ndim == 1 && shape[0] == 1
               ? panel_scale(panel, 1, factor, &mean)
               : 0;
}

/* value (steps, 3) <- the maximum of itself and the values of a layer, if the record has them. */
static int add_layer(const struct panel *panel, const struct motion_of *of, const char *array, double *value,
                     size_t steps)
{
    size_t shape[4];
    double *own = NULL, factor;
    if (!panel_has(panel, array))
        return 0;
    int err = factor_of(panel, of, array, &factor);
    if (!err)
        err = panel_read(panel, array, 2, shape, &own);
    if (!err && (shape[1] != 3 || shape[0] != steps))
        err = sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, array,
                          "boundaries.npz: '%s' is (%zu, %zu), expected (%zu, 3)", array, shape[0], shape[1],
                          steps);
    for (size_t i = 0; i < steps * 3 && !err; i++)
        value[i] = larger(value[i], own[i] * factor);
    mem_free(own);
    return err;
}

/* The line of a method: the maximum over `count` layers. */
static int write_line(struct figure *figure, const struct panel *panel, struct motion_of *of, size_t first,
                      size_t count, double *most)
{
    size_t steps[4];
    double *step = NULL, *value = NULL;
    int err = panel_read(panel, "step", 1, steps, &step);
    if (!err && !(value = mem_get(steps[0] * 3, sizeof *value)))
        err = SPH_EMEMORY;
    for (size_t i = 0; !err && i < steps[0] * 3; i++)
        value[i] = (double)NAN;
    for (size_t k = first; k < first + count && !err; k++)
        err = add_layer(panel, of, of->layer[k], value, steps[0]);
    if (!err)
        *most = larger(*most, write_steps(figure, step, value, steps[0]));
    if (!err && steps[0] && step[steps[0] - 1] > of->steps)
        of->steps = step[steps[0] - 1];
    mem_free(step);
    mem_free(value);
    return err;
}

/* Panel `number`: a line for each method, over some of the layers. */
static int write_panel(struct figure *figure, struct panels *panels, size_t row, struct motion_of *of,
                       size_t first, size_t count, size_t number)
{
    double most = (double)NAN;
    int err = 0;
    panels_columns(figure, number, "", of->header);
    for (size_t column = 0; column < panels->columns && !err; column++) {
        const struct panel *panel;
        if (!(err = panels_open(panels, row * panels->columns + column, &panel)))
            err = write_line(figure, panel, of, first, count, &most);
    }
    panels_text(figure, "note", number, "%s",
                isnan(most)          ? "nothing recorded"
                : most > 0           ? ""
                : of->what[0] == 'm' ? "no boundary moves"
                                     : "no boundary turns");
    return err;
}

/* Adds the layers of a panel that are new. */
static int take_layers(struct motion_of *of, const struct panel *panel)
{
    const char *array;
    for (size_t i = 0; (array = panel_array(panel, i, of->what)); i++) {
        size_t k = 0;
        while (k < of->layers && strcmp(of->layer[k], array) != 0)
            k++;
        if (k < of->layers)
            continue;
        if (!mem_reserve((void **)&of->layer, &of->capacity, k + 1, sizeof *of->layer) ||
            !(of->layer[k] = mem_text(array)))
            return SPH_EMEMORY;
        of->layers++;
    }
    return 0;
}

/* Collects the layers; label_<column> says if a method has none. */
static int find_layers(struct figure *figure, struct panels *panels, struct motion_of *of)
{
    size_t shape[4], recorded = 0;
    for (size_t i = 0; i < panels_count(panels); i++) {
        const struct panel *panel;
        int err = panels_open(panels, i, &panel);
        if (err < 0 || (err = panel_shape(panel, "step", 1, shape)) < 0 || (err = take_layers(of, panel)) < 0)
            return err;
        recorded += shape[0];
        if (i >= panels->columns)
            continue;
        const char *point = panels->rows == 1 ? panel->point : "";
        panels_text(figure, "method", i, "%s", panel->method);
        panels_text(figure, "label", i, "%s%s%s%s", panel->method, *point ? ", " : "", point,
                    panel_array(panel, 0, of->what) ? "" : " (no hyperplanes)");
    }
    if (!of->layers)
        return panels_all_empty(panels, "no hyperplanes");
    return recorded ? 0 : sph_fail_at(SPH_EARG, panels->open.run.dir, "no step was recorded");
}

static int write_row(struct figure *figure, struct panels *panels, size_t row, struct motion_of *of,
                     size_t alone)
{
    const struct panel *panel;
    int err = panels_open(panels, row * panels->columns, &panel);
    char *point = err ? NULL : mem_text(panels->rows > 1 ? panel->point : "");
    if (!err && !point)
        err = SPH_EMEMORY;
    for (size_t k = 0; k <= alone && !err; k++) {
        size_t number = row * (1 + alone) + k;
        const char *comma = *point ? ", " : "";
        if (k)
            panels_text(figure, "title", number, "%s%s%.*s", point, comma,
                        (int)(strlen(of->layer[k - 1]) - strlen(of->what) - 1), of->layer[k - 1]);
        else if (of->layers > 1)
            panels_text(figure, "title", number, "%s%sall %zu layers", point, comma, of->layers);
        else
            panels_text(figure, "title", number, "%s", point);
        err = write_panel(figure, panels, row, of, k ? k - 1 : 0, k ? 1 : of->layers, number);
    }
    mem_free(point);
    return err;
}

static int write_all(struct figure *figure, struct panels *panels, struct motion_of *of)
{
    int err = find_layers(figure, panels, of);
    if (err < 0)
        return err;
    size_t alone = of->layers > 1 && of->layers <= LAYERS_MOST ? of->layers : 0;
    panels_head(figure, panels->rows * (1 + alone), panels->columns);
    figure_number(figure, "layers", (double)of->layers);
    figure_number(figure, "per_row", (double)(1 + alone));
    for (size_t row = 0; row < panels->rows && !err; row++)
        err = write_row(figure, panels, row, of, alone);
    figure_number(figure, "x_most", of->steps);
    return err;
}

static int fill(struct figure *figure, struct panels *panels, const char *what, const char *header)
{
    struct motion_of of = {.what = what, .header = header, .steps = 1};
    int err = write_all(figure, panels, &of);
    mem_free_texts(of.layer, of.layers);
    return err;
}

static int fill_moves(struct figure *figure, struct panels *panels)
{
    return fill(figure, panels, "move", "step, |phi - phi before| of the units: largest, median, 90 %");
}

static int fill_turns(struct figure *figure, struct panels *panels)
{
    return fill(figure, panels, "turn", "step, turn of the units in degrees: largest, median, 90 %");
}

const struct figure_kind figure_moves = {
    .needs = FIGURE_BOUNDARIES,
    .fill = fill_moves,
    .caption = "The largest move of a boundary in each step, max |Δφ|, on a logarithmic axis, for all layers "
               "and, if there are few, for each layer.",
};

const struct figure_kind figure_turns = {
    .needs = FIGURE_BOUNDARIES | FIGURE_TURNS,
    .fill = fill_turns,
    .caption = "The largest turn of a boundary in each step, in degrees, for all layers and, if there are "
               "few, for each layer.",
};
