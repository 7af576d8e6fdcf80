/* SPDX-License-Identifier: MIT */
#include "report/sheet.h"

#include "base/error.h"
#include "base/memory.h"

int sheet_new(struct sheet *out, size_t rows, size_t columns)
{
    *out = (struct sheet){.rows = rows, .columns = columns};
    out->cell = mem_get(rows + 1, columns * sizeof *out->cell);
    out->number = mem_get(columns, 1);
    out->mark = mem_get(rows, columns);
    if (out->cell && out->number && out->mark)
        return 0;
    sheet_free(out);
    return SPH_EMEMORY;
}

void sheet_free(struct sheet *sheet)
{
    for (size_t i = 0; sheet->cell && i < (sheet->rows + 1) * sheet->columns; i++)
        text_free(&sheet->cell[i]);
    mem_free(sheet->cell);
    mem_free(sheet->number);
    mem_free(sheet->mark);
    *sheet = (struct sheet){0};
}

struct text *sheet_head(const struct sheet *sheet, size_t column)
{
    return &sheet->cell[column];
}

struct text *sheet_at(const struct sheet *sheet, size_t row, size_t column)
{
    return &sheet->cell[(row + 1) * sheet->columns + column];
}

void sheet_column(struct sheet *sheet, size_t column, const char *header, int number)
{
    text_add(sheet_head(sheet, column), "%s", header);
    sheet->number[column] = number != 0;
}

void sheet_mark(struct sheet *sheet, size_t row, size_t column, enum report_mark mark)
{
    sheet->mark[row * sheet->columns + column] = (unsigned char)mark;
}

static int is_empty(const struct sheet *sheet, size_t column)
{
    for (size_t row = 0; row < sheet->rows; row++)
        if (sheet_at(sheet, row, column)->length)
            return 0;
    return sheet->rows > 0;
}

int report_sheet(struct report *report, const struct sheet *sheet, const char *caption)
{
    size_t rows = sheet->rows, columns = 0;
    const char **cell = mem_get(rows + 1, sheet->columns * sizeof *cell);
    unsigned char *number = mem_get(sheet->columns, 1), *mark = mem_get(rows, sheet->columns);
    size_t *shown = mem_get(sheet->columns, sizeof *shown);
    int err = cell && number && mark && shown ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < (rows + 1) * sheet->columns && !err; i++)
        err = sheet->cell[i].failed ? SPH_EMEMORY : 0;
    for (size_t c = 0; c < sheet->columns && !err; c++)
        if (!is_empty(sheet, c))
            shown[columns++] = c;
    for (size_t k = 0; k < columns; k++) {
        number[k] = sheet->number[shown[k]];
        for (size_t row = 0; row <= rows; row++)
            cell[row * columns + k] = sheet->cell[row * sheet->columns + shown[k]].chars;
        for (size_t row = 0; row < rows; row++)
            mark[row * columns + k] = sheet->mark[row * sheet->columns + shown[k]];
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
