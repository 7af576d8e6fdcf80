/* SPDX-License-Identifier: MIT
 *
 * Compares methods over several datasets by the ranks of their mean scores (Demsar 2006): whether they
 * differ, and which pairs differ significantly. */
#ifndef SPH_COMPARE_RANKING_H
#define SPH_COMPARE_RANKING_H

#include <stddef.h>

struct ranking {
    size_t sets, methods;
    double *score; /* (sets, methods) means; NaN: none, which ranks last                         */
    double *rank;  /* (methods) mean over the sets, 1 the best; NULL: nothing was compared       */
    size_t *order; /* (methods) by rank, the best first                                          */

    /* NaN of fewer than two sets or methods, or where all are equal in every set. */
    double chi2, chi2_p; /* Friedman's, corrected for ties, as scipy.stats.friedmanchisquare   */
    double f, f_p;       /* Iman and Davenport's: less conservative; F is infinite where all sets agree */
    double critical;     /* Nemenyi's critical difference of two ranks at 5 %                 */
    size_t missing;      /* scores that are not there                                        */
};

/* score (sets, methods) is taken over, and freed with the ranking. */
int ranking_make(struct ranking *out, double *score, size_t sets, size_t methods, int larger_is_better);
void ranking_free(struct ranking *ranking);

/* Methods of neighbouring ranks that are not told apart: the k-th longest stretch order[from .. to] whose ends
 * differ by less than the critical difference and which is in no longer one. 0: there are no more. */
int ranking_group(const struct ranking *ranking, size_t k, size_t *from, size_t *to);

#endif
