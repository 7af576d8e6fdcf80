/* SPDX-License-Identifier: MIT
 *
 * Compares methods over the same splits: means, paired differences, tests and a verdict in words.
 * Everything that a table shows is computed here. */
#ifndef SPH_COMPARE_COMPARISON_H
#define SPH_COMPARE_COMPARISON_H

#include <stddef.h>

#include "base/text.h"
#include "compare/statistics.h"

struct comparison_method {
    const char *name;
    const double *value;  /* (cases) the metric on the test part; NaN: the job failed or diverged */
    const double *beside; /* (cases) the metric beside it, or NULL                               */
    size_t failed;        /* jobs that gave no number                                             */
    const char *reason;   /* of the first failure, or NULL                                        */
    const char *chosen;   /* grid point chosen, "lr 0.03 (4 of 5), 0.1 (1 of 5)", or NULL          */
    const char *edge;     /* choices at the edge of what was tried, in words, or NULL              */
    double seconds;       /* mean per job; NaN: not shown, as where tables of two runs must be equal  */
};

enum { COMPARISON_BEST = -1, COMPARISON_NONE = -2, COMPARISON_ALL = -3 };

struct comparison_input {
    const char *experiment, *metric; /* "rmse" */
    const char *beside; /* another metric, shown and not compared: top5 beside accuracy; NULL: none */
    const char *set;    /* of several; NULL: there is one */
    int larger_is_better;
    const char *protocol; /* "holdout", "cv", "reference" */
    const char *warning;  /* "the test set chose the epoch: ..." printed in every format, or NULL */
    size_t cases;         /* seeds or splits, the same for every method */
    double baseline; /* mean over baseline_cases of the score of predicting a constant; no cases: not known */
    size_t baseline_cases;
    const struct comparison_method *methods;
    size_t count;
    int reference_method; /* the others are compared with this one: GmP by default; COMPARISON_BEST: the best mean
                             of the methods with most numbers; COMPARISON_NONE: no comparison; COMPARISON_ALL: each
                             with each */
    double
        overlap; /* of random splits of the same rows: test rows / rows the learner had; 0: they do not overlap */
};

enum { COMPARISON_RESAMPLES = 10000, COMPARISON_PERCENT = 95, FEW_SPLITS = 10 };

/* A method against the reference over the cases where both have a number. What is corrected is so for all
 * comparisons of an experiment together (Holm), and decides. */
struct comparison_pair {
    size_t method, reference; /* numbers of the input's */
    size_t pairs, left_out;
    size_t better, worse, equal; /* cases in which the reference is better, worse... */
    double difference;           /* mean of method - reference; NaN: no pair */
    struct interval interval;    /* NaN: fewer than two pairs */
    struct wilcoxon test;
    double corrected;    /* its p, corrected; NaN: no pair differs */
    struct t_test t;     /* where splits overlap; else p is NaN */
    double t_corrected;  /* likewise */
    int significant;     /* at 5 %, as the verdict says */
    struct text verdict; /* one line, no newline */
};

/* Whether the pair differs by all tests that were made: Wilcoxon's, and the t-test where splits overlap. */
int comparison_settled(const struct comparison_pair *pair);

struct comparison_line {
    struct summary summary, beside; /* beside: n 0 where there is none */
    double rank;
    const struct comparison_pair *pair; /* against the reference; NULL: it is that, or there is none */
};

struct comparison {
    const struct comparison_input *input;
    const char *reference;         /* name, or NULL: nothing to compare with, or all with all */
    struct comparison_pair *pairs; /* (pair_count) each of them compared, in the order of the methods */
    size_t pair_count;
    size_t family;                 /* comparisons that p was corrected for */
    struct comparison_line *lines; /* (input->count) */
};

/* Checks the input, which is borrowed, and computes what it says; free it even if this fails. SPH_EARG: no method,
 * no case, no such reference, a name missing. Verdicts come of all comparisons of an experiment together, whose
 * number they are corrected for: comparison_conclude. */
int comparison_measure(struct comparison *out, const struct comparison_input *input);
int comparison_conclude(struct comparison *const *list, size_t count);
void comparison_free(struct comparison *comparison);

/* The best mean of the lines with most numbers; NaN: no line has one. */
double comparison_best(const struct comparison *comparison);

/* "0.062", "< 0.0001" */
void comparison_add_p(struct text *out, double p);
void comparison_add_equal_p(struct text *out, double p); /* "p = 0.012" */

/* The decimal exponent of value (> 0) rounded to two digits: 0.0996 is 1.0e-1. */
int comparison_exponent(double value);

#endif
