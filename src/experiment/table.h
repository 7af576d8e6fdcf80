/* SPDX-License-Identifier: MIT
 *
 * The table of an experiment: one line per method, in five formats. */
#ifndef SPH_EXPERIMENT_TABLE_H
#define SPH_EXPERIMENT_TABLE_H

#include <stddef.h>

#include "base/text.h"
#include "experiment/statistics.h"

struct table_method {
    const char *name;
    const double *value; /* (cases) the metric on the test part; NaN: the job failed or diverged */
    size_t failed;       /* jobs that gave no number                                             */
    const char *reason;  /* of the first failure, or NULL                                        */
    const char *chosen;  /* grid point chosen, "lr 0.03 (4 of 5), 0.1 (1 of 5)", or NULL          */
    double seconds;      /* mean per job; NaN: not shown, as where tables of two runs must be equal  */
};

enum { TABLE_BEST = -1, TABLE_NONE = -2 };

struct table_input {
    const char *experiment, *metric; /* "rmse" */
    int larger_is_better;
    const char *protocol; /* "holdout", "cv", "reference" */
    const char *warning;  /* "the test set chose the epoch: ..." printed in every format, or NULL */
    size_t cases;         /* seeds or splits, the same for every method */
    const struct table_method *methods;
    size_t count;
    int reference_method; /* the others are compared with this one: GmP by default; TABLE_BEST: the best mean
                             of the methods with most numbers; TABLE_NONE: no comparison */
};

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_LATEX, TABLE_CSV, TABLE_JSON };

/* Appends to out. The text form ends with a paired verdict in words, one line per compared method. Every
 * format has the warning, failures with their reason, and the verdicts (LaTeX as comments).
 *
 * Means stand with their standard error to two significant digits of the error; n counts the cases with a
 * number. Differences are method minus reference over the cases where both have one, with the 95 % bootstrap
 * interval of their mean and Wilcoxon's p, which is nowhere below what the number of cases can show,
 * approximate or not. CSV and JSON hold all digits; what is not there is an empty cell or null. SPH_EARG: no
 * method, no case, no such reference, a name missing. */
int table_write(const struct table_input *input, enum table_format format, struct text *out);

#endif
