/* SPDX-License-Identifier: MIT
 *
 * Activation patterns of the data during training: bits that differ from the previous pattern, and distinct patterns; a line for
 * each layer and one for all layers. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/figures.h"

/* In longer trainings every k-th moment is shown, with the sum of the flips since the previous one. */
enum { MOMENTS_MOST = 1000 };

/* The ranges of the axes. */
struct extent {
    double steps, least, most, distinct; /* least, most: of flips above 0 */
};

static int write_lines(struct figure *figure, const struct panel *panel, const double *step, size_t moments,
                       const char *flips, const char *distinct, struct extent *extent)
{
    size_t shape[4];
    double *bits = NULL, *patterns = NULL, sum = 0;
    int err = panel_read(panel, flips, 1, shape, &bits);
    if (!err && shape[0] == moments)
        err = panel_read(panel, distinct, 1, shape, &patterns);
    if (!err && shape[0] != moments)
        err = sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, flips,
                          "boundaries.npz: '%s' has %zu numbers, expected %zu", flips, shape[0], moments);
    size_t every = (moments + MOMENTS_MOST - 1) / MOMENTS_MOST;
    for (size_t t = 0; t < moments && !err; t++) {
        sum += bits[t];
        if (t && t + 1 < moments && t % every)
            continue;
        figure_row(figure, (double[]){step[t], sum, patterns[t]}, 3);
        if (sum > 0 && sum < extent->least)
            extent->least = sum;
        extent->most = sum > extent->most ? sum : extent->most;
        extent->distinct = patterns[t] > extent->distinct ? patterns[t] : extent->distinct;
        sum = 0;
    }
    figure_gap(figure, 2);
    mem_free(bits);
    mem_free(patterns);
    return err;
}

static int write_panel(struct figure *figure, const struct panel *panel, size_t number, size_t *lines,
                       struct extent *extent)
{
    const char *flips, *distinct;
    size_t shape[4], shown = 0;
    double *step = NULL;
    int err = panel_read(panel, "pattern_step", 1, shape, &step);
    if (err < 0)
        return err;
    panels_title(figure, panel, number);
    panels_columns(figure, number, "", "step, bits that flipped since the one before, distinct patterns");
    while (!err && (flips = panel_array(panel, shown, "flips")) &&
           (distinct = panel_array(panel, shown, "distinct"))) {
        panels_text(figure, "line", shown++, "%.*s", (int)(strlen(flips) - strlen(".flips")), flips);
        err = write_lines(figure, panel, step, shape[0], flips, distinct, extent);
    }
    if (!err && shown > 1 && panel_has(panel, "flips")) {
        panels_text(figure, "line", shown++, "all layers");
        err = write_lines(figure, panel, step, shape[0], "flips", "distinct", extent);
    }
    *lines = shown;
    if (!err && shape[0] && step[shape[0] - 1] > extent->steps)
        extent->steps = step[shape[0] - 1];
    mem_free(step);
    return err;
}

static int fill(struct figure *figure, struct panels *panels)
{
    struct extent extent = {.steps = 1, .least = (double)INFINITY, .distinct = 1};
    size_t lines_most = 0;
    panels_head(figure, panels->rows, panels->columns);
    for (size_t i = 0; i < panels_count(panels); i++) {
        const struct panel *panel;
        size_t lines = 0;
        int err = panels_open(panels, i, &panel);
        if (err < 0 || (err = write_panel(figure, panel, i, &lines, &extent)) < 0)
            return err;
        panels_number(figure, "lines", i, (double)lines);
        lines_most = lines > lines_most ? lines : lines_most;
    }
    if (extent.most <= 0) /* without flips, the axis still needs a range */
        extent.least = extent.most = 1;
    figure_number(figure, "x_most", extent.steps);
    figure_number(figure, "lines_most", (double)lines_most);
    figure_number(figure, "flips_least", extent.least);
    figure_number(figure, "flips_most", extent.most);
    figure_number(figure, "distinct_most", extent.distinct);
    return 0;
}

const struct figure_kind figure_flips = {
    .needs = FIGURE_PATTERNS,
    .fill = fill,
    .caption =
        "Activation patterns of the data: bits that flip between recorded steps, and distinct patterns.",
};
