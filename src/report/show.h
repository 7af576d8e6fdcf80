/* SPDX-License-Identifier: MIT
 *
 * What show, list and compare say alike. */
#ifndef SPH_REPORT_SHOW_H
#define SPH_REPORT_SHOW_H

#include "job/options.h"
#include "report/table.h"

/* "mlp 100,50", "vgg6 x 0.25"; "gmp+imn", of an ensemble "5 x sphere" */
void show_network(struct text *out, const struct job_spec *spec);
void show_method(struct text *out, const struct job_spec *spec);

/* What was gathered, where nothing failed; frees it. */
int show_text(struct text *out, int err, const sph_sink *sink);

/* As text, or as a list of objects on one line. */
int show_table(const struct table *table, int json, const sph_sink *sink);

/* The value on one line; takes it. NULL is out of memory. */
int show_json(json_t *value, const sph_sink *sink);

#endif
