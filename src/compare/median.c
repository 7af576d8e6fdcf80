/* SPDX-License-Identifier: MIT
 *
 * Which seed stands for all of them where one has to: the one whose scores lie nearest to the middle. */
#include <math.h>

#include "base/memory.h"
#include "compare/results.h"
#include "compare/statistics.h"

static double score_of(const struct results *r, size_t method, size_t line, size_t seed)
{
    return results_score(r, results_final(r, method, line, seed), "test", r->facts.metric);
}

/* Twice the distance of a seed's rank from the middle one; equals share theirs, and what has no number is last. */
static size_t off_middle(const struct results *r, size_t method, size_t line, size_t seed)
{
    double own = score_of(r, method, line, seed);
    size_t count = r->experiment->seed_count, less = 0, equal = 0;
    for (size_t s = 0; s < count; s++) {
        double other = score_of(r, method, line, s);
        if (isnan(own) ? isnan(other) : same_number(other, own))
            equal++;
        else
            less += isnan(own) || other < own;
    }
    size_t twice = 2 * less + equal; /* the rank's double, plus 1: the middle one has count there */
    return twice > count ? twice - count : count - twice;
}

size_t results_median_seed(const struct results *r)
{
    const struct sph_experiment *e = r->experiment;
    size_t best = 0, least = SIZE_MAX;
    for (size_t s = 0; s < e->seed_count; s++) {
        size_t sum = 0;
        for (size_t m = 0; m < e->method_count; m++)
            for (size_t l = 0; l < experiment_lines(e); l++)
                sum += off_middle(r, m, l, s);
        if (sum < least) {
            least = sum;
            best = s;
        }
    }
    return best;
}

int results_median_score(const struct results *r, size_t method, size_t line, double *out)
{
    size_t n = 0;
    double *score = mem_get(r->experiment->seed_count, sizeof *score);
    *out = (double)NAN;
    if (!score)
        return SPH_EMEMORY;
    for (size_t s = 0; s < r->experiment->seed_count; s++)
        if (!isnan(score[n] = score_of(r, method, line, s)))
            n++;
    sort_rising(score, n);
    if (n)
        *out = (score[(n - 1) / 2] + score[n / 2]) / 2;
    mem_free(score);
    return 0;
}
