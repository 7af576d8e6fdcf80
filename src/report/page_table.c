/* SPDX-License-Identifier: MIT */
#include "report/page_table.h"

#include "base/error.h"
#include "base/memory.h"

int page_table_new(struct page_table *out, size_t rows, size_t columns)
{
    *out = (struct page_table){.rows = rows, .columns = columns};
    out->cell = mem_get(rows + 1, columns * sizeof *out->cell);
    out->number = mem_get(columns, 1);
    out->mark = mem_get(rows, columns);
    if (out->cell && out->number && out->mark)
        return 0;
    page_table_free(out);
    return SPH_EMEMORY;
}

void page_table_free(struct page_table *table)
{
    for (size_t i = 0; table->cell && i < (table->rows + 1) * table->columns; i++)
        text_free(&table->cell[i]);
    mem_free(table->cell);
    mem_free(table->number);
    mem_free(table->mark);
    *table = (struct page_table){0};
}

struct text *sheet_head(const struct page_table *table, size_t column)
{
    return &table->cell[column];
}

struct text *page_table_at(const struct page_table *table, size_t row, size_t column)
{
    return &table->cell[(row + 1) * table->columns + column];
}

void page_table_column(struct page_table *table, size_t column, const char *header, int number)
{
    text_add(sheet_head(table, column), "%s", header);
    table->number[column] = number != 0;
}

void page_table_mark(struct page_table *table, size_t row, size_t column, enum report_mark mark)
{
    table->mark[row * table->columns + column] = (unsigned char)mark;
}

static int is_empty(const struct page_table *table, size_t column)
{
    for (size_t row = 0; row < table->rows; row++)
        if (page_table_at(table, row, column)->length)
            return 0;
    return table->rows > 0;
}

int report_page_table(struct report *report, const struct page_table *table, const char *caption)
{
    size_t rows = table->rows, columns = 0;
    const char **cell = mem_get(rows + 1, table->columns * sizeof *cell);
    unsigned char *number = mem_get(table->columns, 1), *mark = mem_get(rows, table->columns);
    size_t *shown = mem_get(table->columns, sizeof *shown);
    int err = cell && number && mark && shown ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < (rows + 1) * table->columns && !err; i++)
        err = table->cell[i].failed ? SPH_EMEMORY : 0;
    for (size_t c = 0; c < table->columns && !err; c++)
        if (!is_empty(table, c))
            shown[columns++] = c;
    for (size_t k = 0; k < columns; k++) {
        number[k] = table->number[shown[k]];
        for (size_t row = 0; row <= rows; row++)
            cell[row * columns + k] = table->cell[row * table->columns + shown[k]].chars;
        for (size_t row = 0; row < rows; row++)
            mark[row * columns + k] = table->mark[row * table->columns + shown[k]];
    }
    if (!err)
        report_table(report, &(struct report_table){.caption = caption,
                                                    .columns = columns,
                                                    .rows = rows,
                                                    .header = cell,
                                                    .cell = cell + columns,
                                                    .number = number,
                                                    .mark = mark});
    mem_free(shown);
    mem_free(mark);
    mem_free(number);
    mem_free(cell);
    return err;
}
