/* SPDX-License-Identifier: MIT
 *
 * The page of an experiment, or of one run: everything a reader needs, in one HTML file. */
#ifndef SPH_REPORT_PAGES_H
#define SPH_REPORT_PAGES_H

#include "job/run.h"
#include "report/report.h"
#include "report/tables.h"

#define REPORT_PAGE "report.html"

/* Writes dir/report.html of the results and their tables, of experiment.yaml and of what lies in dir/figures:
 * each NAME.svg (or, not drawn yet, NAME.gp) is a figure. Call it last, after tables and figures. No time of day
 * and no seconds are in it: the same results give the same bytes. */
int experiment_write_page(const struct results *results, const struct tables *tables);

/* The page of the run in dir, finished or not. */
int run_write_page(const char *dir);

/* `spherelu train` with every option that is not at its default. */
void run_add_command(struct text *out, const struct job_spec *spec);

/* What they share: every figure of folder/figures, with a note before them or NULL; a file of the folder,
 * folded. */
int page_add_figures(struct report *report, const char *folder);
int page_add_file(struct report *report, const char *dir, const char *name, const char *summary);

/* Of a run whose data are where they were: rows of each part and the use of each column. */
int page_add_data(struct report *report, sph_run *run);

/* Of a run on a table whose data are where they were: what the net predicts of the test rows. */
int page_add_rows(struct report *report, sph_run *run);

/* The same: how much its predictions depend on each column. */
int page_add_importance(struct report *report, sph_run *run);

/* Of a run with --tune: what was tried and chosen, and how long it took. */
int page_add_tuning(struct report *report, const sph_run *run);

/* Curves of trainings in one drawing, as far as there are any: curve i is names[i] of dirs[i]/metrics.jsonl. best: an
 * epoch to mark; 0: none. */
int page_add_curves(struct report *report, const char *const *dirs, const char *const *names,
                    const char *const *labels, size_t count, size_t best, const char *caption);

#endif
