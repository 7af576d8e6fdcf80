/* SPDX-License-Identifier: MIT
 *
 * What the formats of a table share: its numbers, computed once, and how they are written. */
#ifndef SPH_EXPERIMENT_TABLE_PARTS_H
#define SPH_EXPERIMENT_TABLE_PARTS_H

#include "experiment/table.h"

enum { TABLE_RESAMPLES = 10000, TABLE_PERCENT = 95 };

/* A method against the reference over the cases where both have a number. */
struct table_pair {
    size_t pairs, left_out;
    size_t better, worse, equal; /* cases in which the reference is better, worse... */
    double difference;           /* mean of method - reference; NaN: no pair */
    struct interval interval;    /* NaN: fewer than two pairs */
    struct wilcoxon test;        /* p at least what test.n pairs can show */
    int significant;             /* at 5 %, as the verdict says */
    struct text verdict;         /* one line, no newline */
};

struct table_line {
    struct summary summary;
    double rank;
    struct table_pair pair; /* pair.verdict.chars is NULL for the reference itself */
};

struct table_parts {
    const struct table_input *input;
    const char *reference;    /* name, or NULL: nothing to compare with */
    size_t compared;          /* methods beside it */
    struct table_line *lines; /* (input->count) */
};

/* Checks the input and computes all there is to say of it; free the parts even if this fails. */
int table_make_parts(struct table_parts *parts, const struct table_input *input);
void table_free_parts(struct table_parts *parts);

/* One number, with a decimal point whatever the locale. */
void table_add_fixed(struct text *out, int decimals, double value);
void table_add_general(struct text *out, int digits, double value);
void table_add_exact(struct text *out, double value); /* as few digits as read back the same */

/* "0.062", "< 0.0001" */
void table_add_p(struct text *out, double p);

/* The decimal exponent of value (> 0) rounded to two digits: 0.0996 is 1.0e-1. */
int table_exponent(double value);

int table_add_text(const struct table_parts *parts, struct text *out);
int table_add_markdown(const struct table_parts *parts, struct text *out);
int table_add_latex(const struct table_parts *parts, struct text *out);
int table_add_csv(const struct table_parts *parts, struct text *out);
int table_add_json(const struct table_parts *parts, struct text *out);

#endif
