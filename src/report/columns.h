/* SPDX-License-Identifier: MIT
 *
 * What became of each column of a run's table, for its page, `show` and the end of `train`. */
#ifndef SPH_REPORT_COLUMNS_H
#define SPH_REPORT_COLUMNS_H

#include "job/run.h"
#include "report/table.h"

/* The first `most` columns. scaling: of the net. Free with table_free. */
void columns_table(struct table *out, const sph_data *data, const struct scaling *scaling, size_t most);

/* *out <- the columns as the model file has them, to be freed; NULL: no table, or no model. */
int columns_read(sph_data **out, const struct sph_run *run);

#endif
