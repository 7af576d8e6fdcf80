/* SPDX-License-Identifier: MIT
 *
 * The tables of an experiment, each filled from its results. A failure for want of memory stays in the table,
 * whose writers tell it. */
#ifndef SPH_REPORT_TABLES_H
#define SPH_REPORT_TABLES_H

#include "compare/results.h"
#include "report/table.h"

/* Methods over the same splits, one row each: means with their standard error to two significant digits of
 * the error, n counts the cases with a number. Differences are method minus reference over the cases where
 * both have one, with the 95 % bootstrap interval of their mean and Wilcoxon's p, which is nowhere below what
 * the number of cases can show, approximate or not. The best mean is marked, MARK_BEST where the verdicts
 * support it. As JSON it is an object: what holds for all, and the rows. */
void comparison_table(struct table *out, const struct comparison *comparison);

/* What the columns of such tables mean, all of them together. */
void comparison_notes(struct text *notes, const struct comparison *const *list, size_t count);
json_t *comparison_to_json(const struct comparison *comparison, const struct table *table,
                           const struct table *pairs);

/* Where each method is compared with each: the pairs; else no rows. */
void pairs_table(struct table *out, const struct comparison *comparison);

/* Of several sets: a method by a row, a set by a column, and the ranks over them. */
void overall_table(struct table *out, const struct results *results);
void ranking_verdicts(struct table *out, const struct ranking *ranking, const struct comparison_input *input);
json_t *overall_to_json(const struct results *results, const struct table *table);

/* Of a table with a line for each point of the grid: means, the last key's values across, the others' down, a
 * table for each method; with one key the methods are down. */
size_t matrix_count(const struct results *results);
void matrix_table(struct table *out, const struct results *results, size_t number);

/* The score of each seed; up to eight lines of the comparison across, more down. */
void seeds_table(struct table *out, const struct results *results);

/* The jobs, or of them those that gave no number; at most `most`. */
void jobs_table(struct table *out, const struct results *results, int only_bad, size_t most);
int gave_nothing(const struct experiment_outcome *outcome);

/* What became of units, and epochs, of each method and set; in JSON seconds too. */
void diagnostics_table(struct table *out, const struct results *results);
json_t *diagnostics_to_json(const struct results *results, const struct table *table);

/* How far steps moved and turned boundaries; what the papers say beside what came out here. */
void motion_table(struct table *out, const struct motion *motion);
void papers_table(struct table *out, const struct motion *motion);
json_t *motion_to_json(const struct motion *motion, const struct table *rows, const struct table *papers);

/* How wrong a learning rate may be: a row a method over all sets, and a row a method, set and point of the grid's other
 * keys; no rows where the table is not by rates. */
void tolerance_overall_table(struct table *out, const struct results *results);
void tolerance_table(struct table *out, const struct results *results);
json_t *tolerance_to_json(const struct results *results, const struct table *overall,
                          const struct table *lines);

/* One unit under a perturbation: how far its boundary turns, or how far phi moves. */
void perturb_table(struct table *out, const sph_perturb_result *result, int shift);
json_t *perturb_to_json(const char *name, const sph_perturb_result *result, uint64_t seed);

/* ---------------------------------------------------------------- all of them */

struct set_tables {
    struct table comparison, pairs, motion, papers; /* no rows: there is nothing to say */
    struct table *matrices;                         /* (matrix_count) */
    size_t matrix_count;
};

struct tables {
    struct table overall;                      /* of several sets; else no rows */
    struct table tolerance_overall, tolerance; /* of a grid over rates; else no rows */
    struct set_tables *sets;                   /* (set_count) each by itself */
    size_t set_count;
    struct table perturb[2]; /* turns, shifts */
};

/* Fills all that the results have. Free also after a failure. */
int tables_make(struct tables *out, const struct results *results);
void tables_free(struct tables *tables);

/* table.txt, .md, .tex, .csv, .json, of several sets also sets.csv, of all pairs pairs.csv, motion.txt, .csv, .json and tolerance.txt, .csv, .json in the experiment's folder, these removed
 * where there is nothing to say; of one that trains nothing perturb.txt and .json. */
int tables_write(const struct tables *tables, const struct results *results);

/* What a terminal shows: the texts of these, or, if json, all of it in one object on one line. */
int tables_print(const struct tables *tables, const struct results *results, int json, const sph_sink *sink);

#endif
