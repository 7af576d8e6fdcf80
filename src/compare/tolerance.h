/* SPDX-License-Identifier: MIT
 *
 * Tolerance of the learning rate: for a grid over `lr` whose points are all in the table, the rates at
 * which a method is nearly as good as at its best rate.
 *
 * Scores are converted to errors: the score itself if smaller is better, else 1 - score (accuracy, auc, r2,
 * ...), so that "within 5 %" of an accuracy of 0.9 is 0.895 and above. A rate at which a run has no score
 * (it diverged or failed) is outside of every range and is never the best. */
#ifndef SPH_COMPARE_TOLERANCE_H
#define SPH_COMPARE_TOLERANCE_H

#include "compare/comparison.h"
#include "compare/ranking.h"

#define TOLERANCE_FILE "tolerance"

enum { TOLERANCE_PERCENT = 5 };

/* Numbers of rates, which rise: the best, and the first and the last of the stretch around it within the percentage. */
struct tolerance_range {
    size_t best, low, high;
};

/* error (count): NaN where a training gave no number. Of equals the smallest rate is best. 0: no rate has a number. */
int tolerance_find(const double *error, size_t count, double percent, struct tolerance_range *out);

/* The rate of the grid that is `times` as large as that one, to a quarter; count: there is none. */
size_t tolerance_times(const double *rates, size_t count, size_t from, double times);

enum { TOLERANCE_THREE, TOLERANCE_TEN, TOLERANCE_STEPS }; /* times the best rate */
extern const double tolerance_steps[TOLERANCE_STEPS];

/* A method in one set, at one point of the grid's other keys. */
struct tolerance_line {
    size_t set, point, method;    /* point: with the grid's first rate */
    int known;                    /* 0: at every rate a training gave no number; then only these: */
    size_t lost;                  /* rates at which one did */
    struct tolerance_range range; /* of the means over the splits */
    struct summary score;         /* at the best rate */
    double factor;                /* largest rate within / smallest */
    int low_edge, high_edge;      /* it ends where the grid does: the factor is at least that */
    double loss
        [TOLERANCE_STEPS]; /* error there / error at the best - 1; NaN: not measured; infinite: diverged */
};

/* What is compared by split: log10 of the factor, and of the largest rate within. */
enum tolerance_measure { TOLERANCE_FACTOR, TOLERANCE_LARGEST, TOLERANCE_MEASURES };
extern const char *const tolerance_words[TOLERANCE_MEASURES];

struct tolerance {
    double *rates; /* (rate_count) rising; NULL: there is nothing to say */
    size_t rate_count;
    size_t groups, methods, seeds; /* groups: sets x points of the other keys */
    struct tolerance_line *lines;  /* (groups, methods) */
    double *error;                 /* (groups, methods, rate_count) means; NaN: a training gave no number */

    /* Of the methods over all groups and splits, corrected for both measures together. */
    double *split[TOLERANCE_MEASURES]; /* (methods, groups, seeds) log10; NaN: no rate gave a number */
    struct comparison_method *compared[TOLERANCE_MEASURES];
    struct comparison_input input[TOLERANCE_MEASURES];
    struct comparison comparison[TOLERANCE_MEASURES];
    struct ranking
        ranking; /* of the factors over several sets, where the grid has no other key; else empty */
};

struct results;

/* Fills it in where the table has all points of a grid over two or more rates; else it stays empty. */
int tolerance_make(struct tolerance *out, const struct results *results, int reference);
void tolerance_free(struct tolerance *tolerance);

/* The geometric mean over the groups of a method's factors, or of its error at a step over that at the best; over those
 * that have one, whose number is in *count. NaN: none has. diverged: groups in which a training did at that step. */
double tolerance_mean_factor(const struct tolerance *tolerance, size_t method, size_t *count);
double tolerance_mean_loss(const struct tolerance *tolerance, size_t method, size_t step, size_t *count,
                           size_t *diverged);

#endif
