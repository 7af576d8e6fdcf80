/* SPDX-License-Identifier: MIT
 *
 * The synthetic sets of the core as tables, so that columns and rows are chosen of them as of any file. */
#include "rows/synthetic.h"

#include "data/table.h"

int synthetic_table(struct table *table, const char *name, const sph_data_opts *opts)
{
    struct synthetic set;
    int err = synthetic_make(&set, name, opts->rows, opts->noise, opts->seed);
    if (err < 0)
        return err;
    table->own[0] = (unsigned char *)set.values;
    table->x = (struct array){
        .bytes = table->own[0], .rows = set.rows, .columns = set.columns, .type = 'f', .size = 8};
    table->rows = set.rows;
    table->columns = set.columns;
    table->test_from = set.test_from;
    table->named = 1;
    return table_set_names(table, set.names);
}
