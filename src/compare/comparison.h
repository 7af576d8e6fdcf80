/* SPDX-License-Identifier: MIT
 *
 * Methods compared over the same splits: means, paired differences, tests and a verdict in words. All that a
 * table says is computed here, once. */
#ifndef SPH_COMPARE_COMPARISON_H
#define SPH_COMPARE_COMPARISON_H

#include <stddef.h>

#include "base/text.h"
#include "compare/statistics.h"

struct comparison_method {
    const char *name;
    const double *value; /* (cases) the metric on the test part; NaN: the job failed or diverged */
    size_t failed;       /* jobs that gave no number                                             */
    const char *reason;  /* of the first failure, or NULL                                        */
    const char *chosen;  /* grid point chosen, "lr 0.03 (4 of 5), 0.1 (1 of 5)", or NULL          */
    double seconds;      /* mean per job; NaN: not shown, as where tables of two runs must be equal  */
};

enum { COMPARISON_BEST = -1, COMPARISON_NONE = -2 };

struct comparison_input {
    const char *experiment, *metric; /* "rmse" */
    int larger_is_better;
    const char *protocol; /* "holdout", "cv", "reference" */
    const char *warning;  /* "the test set chose the epoch: ..." printed in every format, or NULL */
    size_t cases;         /* seeds or splits, the same for every method */
    const struct comparison_method *methods;
    size_t count;
    int reference_method; /* the others are compared with this one: GmP by default; COMPARISON_BEST: the best mean
                             of the methods with most numbers; COMPARISON_NONE: no comparison */
};

enum { COMPARISON_RESAMPLES = 10000, COMPARISON_PERCENT = 95 };

/* A method against the reference over the cases where both have a number. */
struct comparison_pair {
    size_t pairs, left_out;
    size_t better, worse, equal; /* cases in which the reference is better, worse... */
    double difference;           /* mean of method - reference; NaN: no pair */
    struct interval interval;    /* NaN: fewer than two pairs */
    struct wilcoxon test;        /* p at least what test.n pairs can show */
    int significant;             /* at 5 %, as the verdict says */
    struct text verdict;         /* one line, no newline */
};

struct comparison_line {
    struct summary summary;
    double rank;
    struct comparison_pair pair; /* pair.verdict.chars is NULL for the reference itself */
};

struct comparison {
    const struct comparison_input *input;
    const char *reference;         /* name, or NULL: nothing to compare with */
    size_t compared;               /* methods beside it */
    struct comparison_line *lines; /* (input->count) */
};

/* Checks the input, which is borrowed, and computes all there is to say of it; free it even if this fails.
 * SPH_EARG: no method, no case, no such reference, a name missing. */
int comparison_make(struct comparison *out, const struct comparison_input *input);
void comparison_free(struct comparison *comparison);

/* The best mean of the lines with most numbers; NaN: no line has one. */
double comparison_best(const struct comparison *comparison);

/* "0.062", "< 0.0001" */
void comparison_add_p(struct text *out, double p);

/* The decimal exponent of value (> 0) rounded to two digits: 0.0996 is 1.0e-1. */
int comparison_exponent(double value);

#endif
