/* SPDX-License-Identifier: MIT
 *
 * The report of an experiment, or of one run: everything a reader needs, in one HTML file. */
#ifndef SPH_REPORT_PAGE_OF_H
#define SPH_REPORT_PAGE_OF_H

#define EXPERIMENT_REPORT "report.html"

/* Writes dir/report.html of what lies in dir, and of nothing else, so that it can be made again at any time:
 *
 *   experiment.yaml   has to be there
 *   results.json      jobs, what became of them, version and machine       as far as these are there:
 *   table.json        the result                                           an experiment may have none
 *   motion.json       how far boundaries moved
 *   figures/          each NAME.svg (or, not drawn yet, NAME.gp) is a figure
 *
 * Call it last, after tables and figures. No time of day and no seconds are in it: the same results give the
 * same bytes. */
int experiment_write_report(const char *dir);

/* The same for a run folder: config.yaml has to be there; result.json and figures/ as far as they are. */
int run_write_report(const char *dir);

#endif
