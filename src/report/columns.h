/* SPDX-License-Identifier: MIT
 *
 * How each column of a run's table is used: for its page, `show` and the end of `train`. */
#ifndef SPH_REPORT_COLUMNS_H
#define SPH_REPORT_COLUMNS_H

#include "job/run.h"
#include "report/table.h"

/* The first `most` columns. scaling: of the network. Free with table_free. */
void columns_table(struct table *out, const sph_data *data, const struct scaling *scaling, size_t most);

#endif
