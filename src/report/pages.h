/* SPDX-License-Identifier: MIT
 *
 * The page of an experiment, or of one run: one HTML file. */
#ifndef SPH_REPORT_PAGES_H
#define SPH_REPORT_PAGES_H

#include "job/run.h"
#include "report/report.h"
#include "report/tables.h"

#define REPORT_PAGE "report.html"

/* Writes dir/report.html from the results, their tables, experiment.yaml and the figures in dir/figures. Call it after tables and
 * figures are written. The page has no dates and no durations, so the same results give the same bytes. */
int experiment_write_page(const struct results *results, const struct tables *tables);

/* The page of the run in dir, finished or not. */
int run_write_page(const char *dir);

/* Appends `spherelu train` with every option that differs from its default. */
void run_add_command(struct text *out, const struct job_spec *spec);

/* ---------------------------------------------------------------- parts; each adds nothing if it does not apply to the run */

/* Every figure of folder/figures, and the reasons for missing ones. */
void page_add_figures(struct report *report, const char *folder);

/* A file of the folder, folded. */
void page_add_file(struct report *report, const char *dir, const char *name, const char *summary);

/* Rows of each part and the use of each column. Opens the data, the split and the model of the run. */
void page_add_data(struct report *report, sph_run *run);

/* Predictions for the test rows. */
void page_add_rows(struct report *report, sph_run *run);

/* Importance of each column of a table. */
void page_add_importance(struct report *report, sph_run *run);

/* Candidates and choice of --tune. */
void page_add_tuning(struct report *report, const sph_run *run);

/* One chart with curve i from column names[i] of dirs[i]/metrics.jsonl, if that exists. best: an epoch to mark; 0: none. */
void page_add_curves(struct report *report, const char *const *dirs, const char *const *names,
                     const char *const *labels, size_t count, size_t best, const char *caption);

#endif
