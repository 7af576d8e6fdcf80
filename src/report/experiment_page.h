/* SPDX-License-Identifier: MIT
 *
 * What the files that write reports of experiments and runs share. */
#ifndef SPH_REPORT_EXPERIMENT_PAGE_H
#define SPH_REPORT_EXPERIMENT_PAGE_H

#include "file/json.h"
#include "compare/experiment.h"
#include "report/report.h"

struct report_source {
    const char *dir;
    struct sph_experiment *experiment;
    json_t *table, *results, *motion; /* NULL: there is none */
    struct report *report;
};

/* Each adds nothing where its file is not there. */
int report_add_result(const struct report_source *source); /* the table, its verdicts, what gave no number */
int report_add_motion(const struct report_source *source);
int report_add_seeds(const struct report_source *source); /* a number for each seed, and every job */

/* A text of the object, or NULL; a number of it, or of one of its parts, if there is one. */
const char *report_words(const json_t *object, const char *key);
void report_add_number(struct text *out, const json_t *object, const char *part, const char *key, int digits);

/* Every figure of folder/figures, with a note before them or NULL; and a file of the folder, folded. */
int report_add_figures(struct report *report, const char *folder, const char *note);
int report_add_file(struct report *report, const char *dir, const char *name, const char *summary);

#endif
