/* SPDX-License-Identifier: MIT
 *
 * The data of a run on its page: the number of rows of each part, and how each column was used. */
#include "base/error.h"
#include "net/net.h"
#include "report/columns.h"
#include "report/pages.h"

enum { COLUMNS_LISTED = 60 };

enum { CLASSES_LISTED = 20 };

static size_t count_class(const sph_data *data, const uint32_t *rows, size_t count, size_t class)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += (size_t)data->y[rows[i]] == class;
    return found;
}

/* The rows of each class in each set. */
static void add_classes(struct report *report, const sph_data *data, const sph_split *split)
{
    static const char *const heads[] = {"training", "validation", "test"};
    const uint32_t *const rows[] = {split->train, split->val, split->test};
    const size_t counts[] = {split->train_rows, split->val_rows, split->test_rows};
    size_t listed = data->classes < CLASSES_LISTED ? data->classes : CLASSES_LISTED;
    struct table table = {0};
    if (!data->labels || data->task == SPH_TASK_REGRESSION || data->targets != 1 || !data->y)
        return;
    table_column(&table, (struct table_column){.head = "class"});
    for (size_t p = 0; p < 3; p++)
        table_column(&table, (struct table_column){.head = heads[p], .number = 1});
    table_rows(&table, listed);
    for (size_t c = 0; c < listed; c++) {
        table_words(&table, c, 0, data->labels[c]);
        for (size_t p = 0; p < 3; p++)
            table_count(&table, c, p + 1, count_class(data, rows[p], counts[p], c));
    }
    report_take_table(report, &table);
    if (listed < data->classes)
        report_note(report, "The first %d of %zu classes are listed.", CLASSES_LISTED, data->classes);
}

/* Which part of a dataset with a test set of its own each set is, for those that have rows. */
static void add_origin(struct report *report, const sph_data *data, const sph_split *split)
{
    int folders = data->image.pictures != NULL;
    if (!data->test_from)
        return;
    if (split->test_rows)
        report_note(report, "The test set is %s.",
                    folders ? "the folder val (or valid, validation, test)" : "that of the dataset");
    if (split->val_rows)
        report_note(report, "The validation set, which selects the epoch, is a part of %s.",
                    folders ? "the folder train" : "the training set of the dataset");
}

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
    report_paragraph(report, "%zu %s: %zu for training, %zu for validation, %zu for the test. %zu %s.%s",
                     data->rows, data_is_images(data) ? "images" : "rows", run->split.train_rows,
                     run->split.val_rows, run->split.test_rows, data->features,
                     data_is_images(data) ? "numbers for each" : "features",
                     run->spec->options.ensemble_val == ENSEMBLE_VAL_FOLDS
                         ? " These are the rows of the first network; each of the others is validated by "
                           "another fold of the training and validation rows."
                         : "");
    if (data->notes.length)
        report_list(report, &data->notes);
    add_origin(report, data, &run->split);
    add_classes(report, data, &run->split);
    if (data_is_images(data))
        return;
    const struct scaling none = {0};
    struct table table = {0};
    columns_table(&table, data, run->net ? &run->net->scaling : &none, COLUMNS_LISTED);
    report_take_table(report, &table);
    if (data->column_count > COLUMNS_LISTED)
        report_note(report, "The first 60 columns are listed.");
}
