/* SPDX-License-Identifier: MIT
 *
 * For the tool. Counts of a table, for programs that explain how it was read. Not installed, not part of the API. */
#ifndef SPH_ROWS_TOOL_H
#define SPH_ROWS_TOOL_H

#include "spherelu/train.h"

size_t sph_data_left_out(const sph_data *data); /* rows of the source dropped for missing cells */
size_t sph_data_filled(const sph_data *data);   /* missing feature cells of the rows that were not */

/* The order of the features against that of the source's columns. */
sph_column_order sph_data_order(const sph_data *data);

#endif
