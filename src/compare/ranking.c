/* SPDX-License-Identifier: MIT */
#include "compare/ranking.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/distributions.h"
#include "compare/statistics.h"

static const double significant = 0.05;

/* Sum of t^3 - t over groups of t equal scores in one set; those without a number are one group. */
static double ties_of(const double *score, size_t methods)
{
    double sum = 0;
    for (size_t a = 0; a < methods; a++) { /* each member of a group adds (t^2 - 1) */
        size_t alike = 0;
        for (size_t b = 0; b < methods; b++)
            alike += (isfinite(score[a]) ? same_number(score[a], score[b]) : !isfinite(score[b])) ? 1 : 0;
        sum += (double)(alike * alike) - 1;
    }
    return sum;
}

static void friedman(struct ranking *r)
{
    double n = (double)r->sets, k = (double)r->methods, ties = 0, squares = 0;
    r->chi2 = r->chi2_p = r->f = r->f_p = r->critical = (double)NAN;
    if (r->sets < 2 || r->methods < 2)
        return;
    for (size_t i = 0; i < r->sets; i++)
        ties += ties_of(r->score + i * r->methods, r->methods);
    for (size_t m = 0; m < r->methods; m++) {
        double off = r->rank[m] - (k + 1) / 2;
        squares += off * off;
    }
    double correction = 1 - ties / (n * k * (k * k - 1));
    r->critical = range_quantile(significant, (unsigned)r->methods) * sqrt(k * (k + 1) / (12 * n));
    if (correction < 1e-12) /* equal everywhere */
        return;
    r->chi2 = 12 * n / (k * (k + 1)) * squares / correction;
    r->chi2_p = chi2_above(r->chi2, k - 1);
    double rest = n * (k - 1) - r->chi2;
    r->f = rest > 1e-9 ? (n - 1) * r->chi2 / rest : (double)INFINITY; /* all sets rank them alike */
    r->f_p = f_above(r->f, k - 1, (k - 1) * (n - 1));
}

/* Few methods: an insertion sort, which keeps equals in the order of the file. */
static void sort_methods(struct ranking *r)
{
    for (size_t i = 0; i < r->methods; i++) {
        size_t at = i;
        for (; at && r->rank[r->order[at - 1]] > r->rank[i]; at--)
            r->order[at] = r->order[at - 1];
        r->order[at] = i;
    }
}

int ranking_make(struct ranking *out, double *score, size_t sets, size_t methods, int larger_is_better)
{
    *out = (struct ranking){.sets = sets, .methods = methods, .score = score};
    out->rank = mem_get(methods, sizeof *out->rank);
    out->order = mem_get(methods, sizeof *out->order);
    if (!out->rank || !out->order)
        return SPH_EMEMORY;
    int err = average_ranks(score, sets, methods, larger_is_better, out->rank);
    if (err < 0)
        return err;
    for (size_t i = 0; i < sets * methods; i++)
        out->missing += isfinite(score[i]) ? 0 : 1;
    sort_methods(out);
    friedman(out);
    return 0;
}

void ranking_free(struct ranking *ranking)
{
    mem_free(ranking->score);
    mem_free(ranking->rank);
    mem_free(ranking->order);
    *ranking = (struct ranking){0};
}

int ranking_group(const struct ranking *ranking, size_t k, size_t *from, size_t *to)
{
    size_t reached = 0;
    for (size_t first = 0; first < ranking->methods; first++) {
        size_t last = first;
        while (last + 1 < ranking->methods &&
               ranking->rank[ranking->order[last + 1]] - ranking->rank[ranking->order[first]] <
                   ranking->critical)
            last++;
        if (last == first || last <= reached) /* alone, or within the one before */
            continue;
        reached = last;
        if (!k--) {
            *from = first;
            *to = last;
            return 1;
        }
    }
    return 0;
}
