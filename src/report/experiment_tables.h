/* SPDX-License-Identifier: MIT */
#ifndef SPH_REPORT_EXPERIMENT_TABLES_H
#define SPH_REPORT_EXPERIMENT_TABLES_H

#include "compare/results.h"

/* table.txt, .md, .tex, .csv and .json in the experiment's folder. */
int experiment_write_tables(const struct experiment_results *results,
                            const struct results_comparison *compared);

#endif
