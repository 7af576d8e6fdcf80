/* SPDX-License-Identifier: MIT
 *
 * The data of a run on its page: rows of each part, and how each column was used. */
#include "base/error.h"
#include "report/pages.h"

enum { COLUMNS_LISTED = 60 };

/* How a column became features of the network. */
static void add_use(struct table *table, size_t row, const struct column *column)
{
    if (column->role == COLUMN_DROPPED)
        table_words(table, row, 2, column->use == COLUMN_FOR_NOTHING ? "left out" : "not a feature");
    else if (column->role == COLUMN_TARGET)
        table_words(table, row, 2, "target");
    else if (column->kind == COLUMN_TEXT)
        table_text(table, row, 2, "%zu indicators", column->level_count);
    else if (column->kind == COLUMN_DATE)
        table_text(table, row, 2, "%zu numbers: year, month, day of the week, days since the first%s",
                   column_width(column), column->times ? ", hour" : "");
    else
        table_words(table, row, 2, "1 number");
}

static int add_columns(struct report *report, const sph_data *data)
{
    static const char *const kinds[] = {
        [COLUMN_NUMBER] = "number", [COLUMN_TEXT] = "text", [COLUMN_DATE] = "date"};
    size_t rows = data->column_count < COLUMNS_LISTED ? data->column_count : COLUMNS_LISTED;
    struct table table = {0};
    table_columns(&table,
                  (struct table_column[]){{.head = "column"},
                                          {.head = "kind"},
                                          {.head = "used as"},
                                          {.head = "empty cells filled", .number = 1}},
                  4);
    table_rows(&table, rows);
    for (size_t i = 0; i < rows; i++) {
        const struct column *column = &data->columns[i];
        table_words(&table, i, 0, column->name);
        table_words(&table, i, 1, kinds[column->kind]);
        add_use(&table, i, column);
        if (column->role == COLUMN_FEATURE)
            table_count(&table, i, 3, column->filled);
    }
    int err = report_table(report, &table);
    table_free(&table);
    if (rows < data->column_count)
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
    const sph_data *data = run->data;
    struct text words = {0};
    report_section(report, "Data");
    text_add(&words, "%zu rows: %zu for training, %zu for validation, %zu for the test. %zu features.",
             data->rows, run->split.train_rows, run->split.val_rows, run->split.test_rows, data->features);
    if (!words.failed)
        report_paragraph(report, words.chars);
    if (data->notes.length)
        report_list(report, &data->notes);
    err = words.failed ? SPH_EMEMORY : data_is_images(data) ? 0 : add_columns(report, data);
    text_free(&words);
    return err;
}
