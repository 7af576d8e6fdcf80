/* SPDX-License-Identifier: MIT
 *
 * The tables of an experiment, filled from its results. If memory is short, the writers of the table report it. */
#ifndef SPH_REPORT_TABLES_H
#define SPH_REPORT_TABLES_H

#include "compare/results.h"
#include "report/table.h"

/* Methods over the same splits, one row each: the mean with its standard error, rounded to two significant digits of the error;
 * n, the number of splits with a score; the difference to the reference over the splits where both have a score, with the 95 %
 * bootstrap interval of its mean and Wilcoxon's p, which is never below the smallest p for the number of splits. The best mean
 * is marked, with MARK_BEST if the verdicts support it. */
void comparison_table(struct table *out, const struct comparison *comparison);

/* Explanations of the columns, once for all of these tables. */
void comparison_notes(struct text *notes, const struct comparison *const *list, size_t count);
json_t *comparison_to_json(const struct comparison *comparison, const struct table *table,
                           const struct table *pairs);

/* All pairs, if each method is compared with each; otherwise no rows. */
void pairs_table(struct table *out, const struct comparison *comparison);

/* For several datasets: one row for each method, one column for each dataset, and the ranks over the datasets. */
void overall_table(struct table *out, const struct results *results);
void ranking_verdicts(struct table *out, const struct ranking *ranking, const struct comparison_input *input);
json_t *overall_to_json(const struct results *results, const struct table *table);

/* For table: all, a matrix of means for each method: the values of the last key of the grid across, those of the others down. With
 * one key there is one matrix with the methods down. */
size_t matrix_count(const struct results *results);
void matrix_table(struct table *out, const struct results *results, size_t number);

/* The score of each seed: one row for each seed, or one row for each method if there are more than eight. */
void seeds_table(struct table *out, const struct results *results);

/* The first `most` jobs; only_bad: of those without a score. */
void jobs_table(struct table *out, const struct results *results, int only_bad, size_t most);
int gave_nothing(const struct experiment_outcome *outcome);

/* Dead and always active units and epochs for each method and dataset; in JSON also seconds. */
void diagnostics_table(struct table *out, const struct results *results);
json_t *diagnostics_to_json(const struct results *results, const struct table *table);

/* Moves and turns of boundaries in a step; published numbers beside ours. */
void motion_table(struct table *out, const struct motion *motion);
void papers_table(struct table *out, const struct motion *motion);
json_t *motion_to_json(const struct motion *motion, const struct table *rows, const struct table *papers);

/* Tolerance of the learning rate: one row for each method over all datasets, and one for each method, dataset and point of the other
 * keys of the grid. No rows without a grid over rates. */
void tolerance_overall_table(struct table *out, const struct results *results);
void tolerance_table(struct table *out, const struct results *results);
json_t *tolerance_to_json(const struct results *results, const struct table *overall,
                          const struct table *lines);

/* One unit under a perturbation: turn of its boundary, or shift of phi. */
void perturb_table(struct table *out, const sph_perturb_result *result, int shift);
json_t *perturb_to_json(const char *name, const sph_perturb_result *result, uint64_t seed);

/* The matrix, or 1 and the most frequent confusions if there are more than 20 classes. */
int confusion_table(struct table *out, const sph_confusion *confusion);

/* ---------------------------------------------------------------- all of them */

struct set_tables {
    struct table comparison, pairs, motion, papers; /* without rows if they do not apply */
    struct table *matrices;                         /* (matrix_count) */
    size_t matrix_count;
};

struct tables {
    struct table overall;                      /* several datasets; otherwise no rows */
    struct table tolerance_overall, tolerance; /* a grid over rates; otherwise no rows */
    struct set_tables *sets;                   /* (set_count) */
    size_t set_count;
    struct table perturb[2]; /* turns, shifts */
};

/* Fills all tables that apply to the results. Call tables_free also after a failure. */
int tables_make(struct tables *out, const struct results *results);
void tables_free(struct tables *tables);

/* Writes table.txt, .md, .tex, .csv and .json into the experiment's folder; sets.csv, pairs.csv, motion.* and tolerance.* if they apply,
 * otherwise old files of these names are removed. An experiment without training has perturb.txt and perturb.json instead. */
int tables_write(const struct tables *tables, const struct results *results);

/* Prints the tables as text, or with json as one object on one line. */
int tables_print(const struct tables *tables, const struct results *results, int json, const sph_sink *sink);

#endif
