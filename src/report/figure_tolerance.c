/* SPDX-License-Identifier: MIT
 *
 * Tolerance of the learning rate: the error over the rates for all datasets together, and for each dataset and method a bar over the
 * rates at which the method is close to its best. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/figures.h"

enum { WIDE_PERCENT = 50 }; /* the thin bar */

static const double *errors_of(const struct tolerance *t, size_t group, size_t method)
{
    return t->error + (group * t->methods + method) * t->rate_count;
}

/* The smallest mean error of any method in a group, or NaN. */
static double least_error(const struct tolerance *t, size_t group)
{
    double least = (double)NAN;
    for (size_t i = 0; i < t->methods * t->rate_count; i++)
        least = fmin(least, errors_of(t, group, 0)[i]); /* fmin ignores NaN */
    return least;
}

/* The geometric mean over the groups of the error divided by that of the best method; NaN if a score is missing. */
static double relative_error(const struct tolerance *t, size_t method, size_t rate)
{
    double sum = 0;
    for (size_t g = 0; g < t->groups; g++)
        sum += log(errors_of(t, g, method)[rate] / least_error(t, g));
    return exp(sum / (double)t->groups);
}

static void write_curves(struct figure *figure, const struct tolerance *t)
{
    figure_columns(
        figure, "curves",
        "lr, mean error over the smallest of any method, geometric mean over the panels; a block a "
        "method");
    for (size_t m = 0; m < t->methods; m++) {
        for (size_t i = 0; i < t->rate_count; i++)
            figure_row(figure, (double[]){t->rates[i], relative_error(t, m, i)}, 2);
        figure_gap(figure, 2);
    }
}

/* One row for each method, then the rates at which a training has no score. */
static void write_bars(struct figure *figure, const struct tolerance *t, size_t group)
{
    panels_columns(figure, group, "",
                   "method, smallest and largest lr within 5 %, within 50 %, the best; a block a "
                   "method");
    for (size_t m = 0; m < t->methods; m++) {
        const struct tolerance_line *line = &t->lines[group * t->methods + m];
        struct tolerance_range wide;
        if (line->known && tolerance_find(errors_of(t, group, m), t->rate_count, WIDE_PERCENT, &wide))
            figure_row(figure,
                       (double[]){(double)m, t->rates[line->range.low], t->rates[line->range.high],
                                  t->rates[wide.low], t->rates[wide.high], t->rates[line->range.best]},
                       6);
        else
            figure_row(figure, (double[]){(double)m, NAN, NAN, NAN, NAN, NAN}, 6);
        figure_gap(figure, 2);
    }
    panels_columns(figure, group, "lost", "method, lr at which a training diverged");
    figure_row(figure, (double[]){NAN, NAN}, 2); /* gnuplot does not accept an empty file */
    for (size_t m = 0; m < t->methods; m++)
        for (size_t i = 0; i < t->rate_count; i++)
            if (!isfinite(errors_of(t, group, m)[i]))
                figure_row(figure, (double[]){(double)m, t->rates[i]}, 2);
}

static int fill(struct figure *figure, struct panels *panels)
{
    const struct tolerance *t = &panels->results->tolerance;
    int err = 0;
    if (!t->rates)
        return sph_fail_of(SPH_EARG, panels->e->path, 0, panels->word,
                           "%s needs table: all and a grid over two or more rates", panels->word);
    panels_head(figure, t->groups, t->methods);
    figure_number(figure, "rate_low", t->rates[0]);
    figure_number(figure, "rate_high", t->rates[t->rate_count - 1]);
    figure_text(figure, "metric", panels->results->facts.metric);
    figure_number(figure, "larger", panels->results->facts.larger_is_better);
    for (size_t m = 0; m < t->methods; m++)
        panels_method(figure, m, panels->e->methods[m].name, "");
    write_curves(figure, t);
    for (size_t g = 0; g < t->groups && !err; g++) {
        err = panels_row(figure, panels, g, t->lines[g * t->methods].set, t->lines[g * t->methods].point);
        write_bars(figure, t, g);
    }
    return err;
}

const struct figure_kind figure_tolerance = {
    .needs = FIGURE_SCORES,
    .axis = "lr",
    .all_points = 1,
    .all_sets = 1,
    .fill = fill,
    .caption = "Tolerance of the learning rate. Top: mean error for each rate, divided by the smallest error "
               "of any method (geometric mean over the panels below; a line ends at a rate at which a "
               "training diverged). Below: the bars show the rates at which a method's mean error is within "
               "5 % (thin bars: 50 %) of its best. A mark shows the best rate; a bar that reaches the frame "
               "ends where the grid ends; a cross shows a rate at which a training run diverged.",
};
