/* SPDX-License-Identifier: MIT
 *
 * Choices that lie at the edge of what was tried: the least or the largest value of a key of the grid, the last
 * epoch that was allowed. Beyond them may be better ones, so every table says so. */
#include <math.h>

#include "base/error.h"
#include "base/text.h"
#include "compare/results.h"

/* The number of a value of an axis; NaN: it is a word. */
static double number_of(const struct experiment_axis *axis, size_t value)
{
    double number;
    return text_to_double(experiment_value_text(axis, value), &number) ? number : (double)NAN;
}

/* The values at both ends; 0: the axis has words, or but one value. */
static int find_ends(const struct experiment_axis *axis, size_t ends[2])
{
    ends[0] = ends[1] = 0;
    for (size_t i = 0; i < axis->count; i++) {
        double own = number_of(axis, i);
        if (isnan(own))
            return 0;
        ends[0] = own < number_of(axis, ends[0]) ? i : ends[0];
        ends[1] = own > number_of(axis, ends[1]) ? i : ends[1];
    }
    return axis->count > 2 && ends[0] != ends[1]; /* of two values each is at the edge */
}

/* Epochs that the job could have had. */
static size_t epochs_of(const struct sph_experiment *e, const struct experiment_job *job)
{
    for (size_t a = 0; a < e->grid.count; a++)
        if (e->grid.axes[a].id == OPTION_EPOCHS)
            return e->grid.axes[a].values[experiment_value(e, job->point, a)]->options.epochs;
    const struct job_spec *method = e->methods[job->method].asked;
    return (options_given(method, OPTION_EPOCHS) ? method : e->base)->options.epochs;
}

static void add_count(struct text *out, size_t count, size_t all)
{
    text_add(out, count == all ? " on all %zu splits" : " on %zu of %zu splits", count, all);
}

/* How many splits chose that value; `last`: had their best epoch at the end. */
static size_t count_choices(const struct results *r, size_t method, size_t line, size_t axis, size_t value,
                            int last)
{
    const struct sph_experiment *e = r->experiment;
    size_t count = 0;
    for (size_t s = 0; s < e->seed_count; s++) {
        size_t final = results_final(r, method, line, s);
        const struct experiment_job *job = &r->jobs[final];
        const struct experiment_outcome *outcome = &r->outcomes[final];
        if (isnan(outcome->test))
            continue;
        if (last)
            count += job->fold != FOLD_REFIT && outcome->best_epoch == epochs_of(e, job);
        else
            count += experiment_value(e, job->point, axis) == value;
    }
    return count;
}

int results_edges(const struct results *r, size_t method, size_t line, char **out)
{
    const struct sph_experiment *e = r->experiment;
    struct text words = {0};
    size_t ends[2], count;
    for (size_t a = 0; a < e->grid.count && !e->table.all_points; a++)
        for (int end = 0; end < 2 && find_ends(&e->grid.axes[a], ends); end++)
            if ((count = count_choices(r, method, line, a, ends[end], 0))) {
                text_add(&words, "%s%s %s, the %s,", words.length ? "; " : "", option_key(e->grid.axes[a].id),
                         experiment_value_text(&e->grid.axes[a], ends[end]), end ? "largest" : "least");
                add_count(&words, count, e->seed_count);
            }
    if ((count = count_choices(r, method, line, 0, 0, 1))) {
        text_add(&words, "%sthe last epoch", words.length ? "; " : "");
        add_count(&words, count, e->seed_count);
    }
    *out = words.chars;
    return words.failed ? SPH_EMEMORY : 0;
}
