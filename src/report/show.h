/* SPDX-License-Identifier: MIT
 *
 * Shared by show, list and compare. */
#ifndef SPH_REPORT_SHOW_H
#define SPH_REPORT_SHOW_H

#include "job/options.h"
#include "report/table.h"

/* Name of the data without its folders, borrowed; NULL if there is none. */
const char *show_data(const struct job_spec *spec);

/* "mlp 100,50", "vgg6 x 0.25"; "gmp+imn", for an ensemble "5 x sphere" */
void show_network(struct text *out, const struct job_spec *spec);
void show_method(struct text *out, const struct job_spec *spec);

/* Writes the text unless err or text->failed is set, and frees it. */
int show_text(struct text *out, int err, const sph_sink *sink);

/* As text, or as a list of objects on one line. */
int show_table(const struct table *table, int json, const sph_sink *sink);

/* Writes the value on one line and takes it. NULL means out of memory. */
int show_json(json_t *value, const sph_sink *sink);

#endif
