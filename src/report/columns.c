/* SPDX-License-Identifier: MIT
 *
 * How each column of a run's table is used. */
#include "report/columns.h"

#include <math.h>

#include "net/net.h"

/* The use of a column, such as "20 indicators". */
static void add_use(struct table *table, size_t row, const struct column *column)
{
    static const char *const uses[COLUMN_USES] = {NULL, "groups, not a feature", "times, not a feature",
                                                  "weights, not a feature"};
    size_t levels = column_levels(column);
    if (column->role == COLUMN_DROPPED && column->use != COLUMN_FOR_NOTHING)
        table_words(table, row, 2, uses[column->use]);
    else if (column->role == COLUMN_DROPPED && column->why)
        table_text(table, row, 2, "left out: it %s", column->why);
    else if (column->role == COLUMN_DROPPED)
        table_words(table, row, 2, "left out");
    else if (column->role == COLUMN_TARGET)
        table_words(table, row, 2, "target");
    else if (column->kind == COLUMN_TEXT && column->encoded)
        table_text(table, row, 2, "mean target of %zu levels", levels);
    else if (column->kind == COLUMN_TEXT)
        table_text(table, row, 2, "%zu indicator%s%s", levels, levels == 1 ? "" : "s",
                   column->other ? ", the last of rare and new values" : "");
    else if (column->kind == COLUMN_DATE)
        table_text(table, row, 2, "year, month, day of the week, days since the first%s",
                   column->times ? ", hour" : "");
    else
        table_words(table, row, 2, "number");
}

/* "(x - 3.2) / 1.1, clipped". */
static void add_scaling(struct table *table, size_t row, const struct column *column,
                        const struct scaling *scaling)
{
    struct text words = {0};
    size_t at = column->at;
    int indicators = column->kind == COLUMN_TEXT && !column->encoded;
    if (column->role != COLUMN_FEATURE || at >= scaling->features)
        return;
    double mean = scaling->x_mean ? scaling->x_mean[at] : 0,
           scale = scaling->x_scale ? scaling->x_scale[at] : 1;
    const char *clipped = scaling->x_clip && scaling->x_clip[at] > 0 ? ", clipped" : "";
    if (!scaling->x_mean || (indicators && mean == 0 && scale == 1))
        text_add(&words, "not scaled");
    else if (column_width(column) == 1)
        text_add(&words, "(x %c %.4g) / %.4g%s", mean < 0 ? '+' : '-', fabs(mean), scale, clipped);
    else
        text_add(&words, "scaled, each by its own%s", clipped);
    table_take(table, row, 3, &words);
}

void columns_table(struct table *out, const sph_data *data, const struct scaling *scaling, size_t most)
{
    static const char *const kinds[] = {
        [COLUMN_NUMBER] = "number", [COLUMN_TEXT] = "text", [COLUMN_DATE] = "date"};
    table_columns(out,
                  (struct table_column[]){{.head = "column", .json = "column"},
                                          {.head = "kind", .json = "kind"},
                                          {.head = "used as", .json = "used_as"},
                                          {.head = "scaling", .json = "scaling"},
                                          {.head = "filled", .json = "filled", .number = 1}},
                  5);
    table_rows(out, data->column_count < most ? data->column_count : most);
    for (size_t i = 0; i < out->row_count; i++) {
        const struct column *column = &data->columns[i];
        table_words(out, i, 0, column->name);
        table_words(out, i, 1, kinds[column->kind]);
        add_use(out, i, column);
        add_scaling(out, i, column, scaling);
        if (column->filled)
            table_count(out, i, 4, column->filled);
    }
    if (out->row_count < data->column_count)
        table_line(&out->notes, "and %zu more columns", data->column_count - out->row_count);
}
