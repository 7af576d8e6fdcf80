/* SPDX-License-Identifier: MIT
 *
 * The synthetic sets of the core as tables, so that columns and rows are chosen of them as of any file. */
#include "rows/synthetic.h"

#include "data/sheet.h"

int synthetic_sheet(struct sheet *sheet, const char *name, const sph_data_opts *opts)
{
    struct synthetic set;
    int err = synthetic_make(&set, name,
                             &(struct synthetic_opts){.rows = opts->rows,
                                                      .noise = opts->noise,
                                                      .seed = opts->seed,
                                                      .numpy = opts->by_numpy ? &opts->draw : NULL});
    if (err < 0)
        return err;
    sheet->own[0] = (unsigned char *)set.values;
    sheet->x = (struct array){
        .bytes = sheet->own[0], .rows = set.rows, .columns = set.columns, .type = 'f', .size = 8};
    sheet->rows = set.rows;
    sheet->columns = set.columns;
    sheet->test_from = set.test_from;
    sheet->named = 1;
    return sheet_set_names(sheet, set.names);
}
