/* SPDX-License-Identifier: MIT */
#include "compare/tolerance.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/results.h"

const double tolerance_steps[TOLERANCE_STEPS] = {3, 10};
const char *const tolerance_words[TOLERANCE_MEASURES] = {"tolerance", "largest rate"};

/* ---------------------------------------------------------------- one curve */

/* Errors of accuracies are 1 - score, so that theirs is the rounding of numbers near 1, and larger beside the error. */
static const double rounding = 1e-9;

int tolerance_find(const double *error, size_t count, double percent, struct tolerance_range *out)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (isfinite(error[i]) && (best == count || error[i] < error[best] * (1 - rounding)))
            best = i;
    if (best == count)
        return 0;
    double most = error[best] * (1 + percent / 100) * (1 + rounding);
    *out = (struct tolerance_range){best, best, best};
    while (out->low && error[out->low - 1] <= most) /* not of a NaN */
        out->low--;
    while (out->high + 1 < count && error[out->high + 1] <= most)
        out->high++;
    return 1;
}

size_t tolerance_times(const double *rates, size_t count, size_t from, double times)
{
    double wanted = rates[from] * times, nearest = log(1.25);
    size_t found = count;
    for (size_t i = 0; i < count; i++) {
        double off = fabs(log(rates[i] / wanted));
        if (off <= nearest) {
            nearest = off;
            found = i;
        }
    }
    return found;
}

/* ---------------------------------------------------------------- the scores of an experiment */

/* Where the curves lie: the grid's axis of rates, its values by rising rate, and the points of the other keys. */
struct curves {
    const struct results *results;
    const struct sph_experiment *e;
    size_t axis;
    size_t *order; /* (rates) values of the axis */
};

static int find_axis(const struct sph_experiment *e, size_t *axis)
{
    for (*axis = 0; *axis < e->grid.count; ++*axis)
        if (e->grid.axes[*axis].id == OPTION_LR)
            return e->table.all_points && e->grid.axes[*axis].count > 1;
    return 0;
}

static void sort_rates(const struct experiment_axis *axis, size_t *order, double *rates)
{
    for (size_t i = 0; i < axis->count; i++) {
        double rate = axis->values[i]->options.lr;
        size_t at = i;
        for (; at && rates[at - 1] > rate; at--) {
            rates[at] = rates[at - 1];
            order[at] = order[at - 1];
        }
        rates[at] = rate;
        order[at] = i;
    }
}

/* The score of one training; NaN: it gave none. */
static double score_of(const struct curves *c, const struct tolerance_line *line, size_t rate, size_t seed)
{
    size_t point = experiment_along(c->e, line->point, c->axis, c->order[rate]);
    const struct results *set = results_of_set(c->results, line->set);
    const struct experiment_outcome *outcome =
        &c->results->outcomes[results_final(set, line->method, point, seed)];
    return outcome->finished && !outcome->diverged ? outcome->test : (double)NAN;
}

static double error_of(const struct curves *c, double score)
{
    return c->results->facts.larger_is_better ? 1 - score : score;
}

/* ---------------------------------------------------------------- a line of the table */

/* The means of the splits at each rate; NaN where one has no number. */
static void mean_errors(const struct curves *c, struct tolerance_line *line, size_t rates, double *error)
{
    for (size_t i = 0; i < rates; i++) {
        double sum = 0;
        for (size_t s = 0; s < c->e->seed_count; s++)
            sum += error_of(c, score_of(c, line, i, s));
        error[i] = sum / (double)c->e->seed_count;
        line->lost += isfinite(error[i]) ? 0 : 1;
    }
}

static double loss_at(const double *error, size_t at, size_t best, size_t count)
{
    if (at == count || !(error[best] > 0))
        return (double)NAN;
    return isfinite(error[at]) ? error[at] / error[best] - 1 : (double)INFINITY;
}

static void fill_line(const struct curves *c, const struct tolerance *t, struct tolerance_line *line,
                      double *error, double *scores)
{
    size_t count = t->rate_count;
    struct tolerance_range *range = &line->range;
    mean_errors(c, line, count, error);
    line->known = tolerance_find(error, count, TOLERANCE_PERCENT, range);
    if (!line->known)
        return;
    for (size_t s = 0; s < t->seeds; s++)
        scores[s] = score_of(c, line, range->best, s);
    summarize(scores, t->seeds, &line->score);
    line->factor = t->rates[range->high] / t->rates[range->low];
    line->low_edge = range->low == 0;
    line->high_edge = range->high + 1 == count;
    for (size_t k = 0; k < TOLERANCE_STEPS; k++)
        line->loss[k] = loss_at(error, tolerance_times(t->rates, count, range->best, tolerance_steps[k]),
                                range->best, count);
}

/* Each split by itself. */
static void fill_splits(const struct curves *c, struct tolerance *t, const struct tolerance_line *line,
                        size_t group, double *error)
{
    for (size_t s = 0; s < t->seeds; s++) {
        size_t at = (line->method * t->groups + group) * t->seeds + s;
        struct tolerance_range range;
        for (size_t i = 0; i < t->rate_count; i++)
            error[i] = error_of(c, score_of(c, line, i, s));
        int known = tolerance_find(error, t->rate_count, TOLERANCE_PERCENT, &range);
        t->split[TOLERANCE_FACTOR][at] =
            known ? log10(t->rates[range.high] / t->rates[range.low]) : (double)NAN;
        t->split[TOLERANCE_LARGEST][at] = known ? log10(t->rates[range.high]) : (double)NAN;
    }
}

static int fill_lines(struct tolerance *t, const struct curves *c)
{
    const struct sph_experiment *e = c->e;
    double *error = mem_get(t->rate_count, sizeof *error), *scores = mem_get(t->seeds, sizeof *scores);
    int err = error && scores ? 0 : SPH_EMEMORY;
    size_t group = 0;
    for (size_t set = 0; set < experiment_sets(e) && !err; set++)
        for (size_t p = 0; p < experiment_points(e) && !err; p++) {
            if (experiment_value(e, p, c->axis) != 0)
                continue;
            for (size_t m = 0; m < t->methods; m++) {
                size_t at = group * t->methods + m;
                struct tolerance_line *line = &t->lines[at];
                *line = (struct tolerance_line){.set = set, .point = p, .method = m};
                fill_line(c, t, line, t->error + at * t->rate_count, scores);
                fill_splits(c, t, line, group, error);
            }
            group++;
        }
    mem_free(error);
    mem_free(scores);
    return err;
}

/* ---------------------------------------------------------------- compared */

static int compare(struct tolerance *t, const struct results *results, int reference)
{
    struct comparison *list[TOLERANCE_MEASURES];
    const struct sph_experiment *e = results->experiment;
    for (size_t k = 0; k < TOLERANCE_MEASURES; k++) {
        struct comparison_method *methods = mem_get(t->methods, sizeof *methods);
        if (!(t->compared[k] = methods))
            return SPH_EMEMORY;
        for (size_t m = 0; m < t->methods; m++)
            methods[m] = (struct comparison_method){.name = e->methods[m].name,
                                                    .value = t->split[k] + m * t->groups * t->seeds,
                                                    .seconds = (double)NAN};
        t->input[k] = (struct comparison_input){.experiment = e->name,
                                                .metric = tolerance_words[k],
                                                .larger_is_better = 1,
                                                .protocol = options_word(e->base, OPTION_PROTOCOL),
                                                .cases = t->groups * t->seeds,
                                                .methods = methods,
                                                .count = t->methods,
                                                .reference_method = reference};
        list[k] = &t->comparison[k];
        int err = comparison_measure(list[k], &t->input[k]);
        if (err < 0)
            return err;
    }
    return comparison_conclude(list, TOLERANCE_MEASURES);
}

static int rank(struct tolerance *t)
{
    double *score = mem_get(t->groups, t->methods * sizeof *score);
    if (!score)
        return SPH_EMEMORY;
    for (size_t i = 0; i < t->groups * t->methods; i++)
        score[i] = t->lines[i].known ? t->lines[i].factor : (double)NAN;
    return ranking_make(&t->ranking, score, t->groups, t->methods, 1);
}

int tolerance_make(struct tolerance *t, const struct results *results, int reference)
{
    const struct sph_experiment *e = results->experiment;
    struct curves c = {.results = results, .e = e};
    *t = (struct tolerance){0};
    if (!find_axis(e, &c.axis))
        return 0;
    t->rate_count = e->grid.axes[c.axis].count;
    t->groups = experiment_sets(e) * (experiment_points(e) / t->rate_count);
    t->methods = e->method_count;
    t->seeds = e->seed_count;
    t->rates = mem_get(t->rate_count, sizeof *t->rates);
    t->lines = mem_get(t->groups * t->methods, sizeof *t->lines);
    t->error = mem_get(t->groups * t->methods, t->rate_count * sizeof *t->error);
    c.order = mem_get(t->rate_count, sizeof *c.order);
    for (size_t k = 0; k < TOLERANCE_MEASURES; k++)
        t->split[k] = mem_get(t->methods * t->groups, t->seeds * sizeof **t->split);
    int err = t->rates && t->lines && t->error && c.order && t->split[0] && t->split[1] ? 0 : SPH_EMEMORY;
    if (!err) {
        sort_rates(&e->grid.axes[c.axis], c.order, t->rates);
        err = fill_lines(t, &c);
    }
    mem_free(c.order);
    if (!err)
        err = compare(t, results, reference);
    return err || e->grid.count > 1 || t->groups < 2 || t->methods < 2 ? err : rank(t);
}

void tolerance_free(struct tolerance *t)
{
    for (size_t k = 0; k < TOLERANCE_MEASURES; k++) {
        comparison_free(&t->comparison[k]);
        mem_free(t->compared[k]);
        mem_free(t->split[k]);
    }
    ranking_free(&t->ranking);
    mem_free(t->lines);
    mem_free(t->error);
    mem_free(t->rates);
    *t = (struct tolerance){0};
}

/* ---------------------------------------------------------------- over all groups */

double tolerance_mean_factor(const struct tolerance *t, size_t method, size_t *count)
{
    double sum = 0;
    *count = 0;
    for (size_t g = 0; g < t->groups; g++) {
        const struct tolerance_line *line = &t->lines[g * t->methods + method];
        sum += line->known ? log(line->factor) : 0;
        *count += line->known ? 1 : 0;
    }
    return *count ? exp(sum / (double)*count) : (double)NAN;
}

double tolerance_mean_loss(const struct tolerance *t, size_t method, size_t step, size_t *count,
                           size_t *diverged)
{
    double sum = 0;
    *count = *diverged = 0;
    for (size_t g = 0; g < t->groups; g++) {
        const struct tolerance_line *line = &t->lines[g * t->methods + method];
        double loss = line->known ? line->loss[step] : (double)NAN;
        *diverged += isinf(loss) != 0;
        if (!isfinite(loss))
            continue;
        sum += log1p(loss);
        ++*count;
    }
    return *count ? expm1(sum / (double)*count) : (double)NAN;
}
