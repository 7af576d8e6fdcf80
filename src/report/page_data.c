/* SPDX-License-Identifier: MIT
 *
 * The data of a run on its page: rows of each part, and how each column was used. */
#include "base/error.h"
#include "net/net.h"
#include "report/columns.h"
#include "report/pages.h"

enum { COLUMNS_LISTED = 60 };

static int add_columns(struct report *report, const sph_data *data, const struct scaling *scaling)
{
    struct table table = {0};
    columns_table(&table, data, scaling, COLUMNS_LISTED);
    int err = report_table(report, &table);
    table_free(&table);
    if (data->column_count > COLUMNS_LISTED)
        report_note(report, "The first 60 columns are listed.");
    return err;
}

int page_add_data(struct report *report, sph_run *run)
{
    int err = run_own_data(run, NULL);
    if (!err)
        err = run_own_split(run);
    if (err < 0) /* they are not where they were, or changed */
        return err == SPH_EMEMORY ? err : 0;
    if ((err = run_open_model(run)) < 0)
        return err;
    const sph_data *data = run->data;
    const struct scaling none = {0};
    struct text words = {0};
    report_section(report, "Data");
    text_add(&words, "%zu rows: %zu for training, %zu for validation, %zu for the test. %zu features.",
             data->rows, run->split.train_rows, run->split.val_rows, run->split.test_rows, data->features);
    if (run->spec->options.ensemble_val == ENSEMBLE_VAL_FOLDS)
        text_add(
            &words,
            " These are the rows of the first network; each of the others is validated by another fold of "
            "the training and validation rows.");
    if (!words.failed)
        report_paragraph(report, words.chars);
    if (data->notes.length)
        report_list(report, &data->notes);
    err = words.failed           ? SPH_EMEMORY
          : data_is_images(data) ? 0
                                 : add_columns(report, data, run->net ? &run->net->scaling : &none);
    text_free(&words);
    return err;
}
