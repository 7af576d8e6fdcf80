/* SPDX-License-Identifier: MIT
 *
 * The data of a run on its page: the number of rows of each part, and how each column was used. */
#include "base/error.h"
#include "net/net.h"
#include "report/columns.h"
#include "report/pages.h"

enum { COLUMNS_LISTED = 60 };

void page_add_data(struct report *report, sph_run *run)
{
    int err = run_own_data(run, NULL);
    if (!err)
        err = run_own_split(run);
    if (err < 0 && err != SPH_EMEMORY) /* the data have moved or changed: the page does without them */
        return;
    if (err < 0 || (err = run_open_model(run)) < 0) {
        report_fail(report, err);
        return;
    }
    const sph_data *data = run->data;
    report_section(report, "Data");
    report_paragraph(
        report, "%zu rows: %zu for training, %zu for validation, %zu for the test. %zu features.%s",
        data->rows, run->split.train_rows, run->split.val_rows, run->split.test_rows, data->features,
        run->spec->options.ensemble_val == ENSEMBLE_VAL_FOLDS
            ? " These are the rows of the first network; each of the others is validated by "
              "another fold of the training and validation rows."
            : "");
    if (data->notes.length)
        report_list(report, &data->notes);
    if (data_is_images(data))
        return;
    const struct scaling none = {0};
    struct table table = {0};
    columns_table(&table, data, run->net ? &run->net->scaling : &none, COLUMNS_LISTED);
    report_take_table(report, &table);
    if (data->column_count > COLUMNS_LISTED)
        report_note(report, "The first 60 columns are listed.");
}
