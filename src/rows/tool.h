/* SPDX-License-Identifier: MIT
 *
 * For the tool: how a table was interpreted. Not installed, not part of the API. */
#ifndef SPH_ROWS_TOOL_H
#define SPH_ROWS_TOOL_H

#include "spherelu/train.h"

/* The order of the features against that of the source's columns. */
sph_column_order sph_data_order(const sph_data *data);

#endif
