/* SPDX-License-Identifier: MIT
 *
 * A text table as its first pass kept it, against its text read again with care: the same cells to
 * the last bit, and as many of each kind. */
#ifndef TESTS_SHEET_TWICE_H
#define TESTS_SHEET_TWICE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/levels.h"
#include "data/sheet.h"

struct sheet_twice {
    const struct sheet *sheet;
    struct profile *counts; /* (columns) */
    size_t row, differ;
};

static int sheet_twice_same(const struct sheet_twice *twice, size_t column, const struct cell *cell)
{
    const struct sheet *sheet = twice->sheet;
    if (!sheet->text.parsed)
        return 1;
    double kept = sheet->text.parsed[twice->row * sheet->columns + column];
    const struct levels *words = &sheet->text.words[column];
    size_t word = kept_word_of(kept);
    if (cell->kind == CELL_NUMBER)
        return !memcmp(&kept, &cell->value, sizeof kept);
    if (cell->kind == CELL_MISSING)
        return isnan(kept) && !word;
    return cell->kind == CELL_TEXT && isnan(kept) && word &&
           (word <= words->count ? !strcmp(words->text[word - 1], cell->text) : words->overflow);
}

static int sheet_twice_row(void *user, size_t line, const struct cell *cells)
{
    struct sheet_twice *twice = user;
    (void)line;
    for (size_t i = 0; i < twice->sheet->columns; i++) {
        struct profile *counts = &twice->counts[i];
        twice->differ += !sheet_twice_same(twice, i, &cells[i]);
        counts->numbers += cells[i].kind == CELL_NUMBER;
        counts->texts += cells[i].kind == CELL_TEXT;
        counts->missing += cells[i].kind == CELL_MISSING;
        counts->infinite += cells[i].kind == CELL_INFINITE;
        struct cell cell;
        cell_read(&cell, cells[i].text);
        counts->points |= cell.kind == CELL_NUMBER && cell.mark == MARK_POINT;
    }
    twice->row++;
    return 0;
}

/* How many cells and counts differ. Of columns with commas in cells, where these do not part them, no counts: what they
 * are is settled by all of them. */
static size_t sheet_twice(const struct sheet *sheet)
{
    struct sheet_twice twice = {.sheet = sheet};
    twice.counts = calloc(sheet->columns, sizeof *twice.counts);
    if (!twice.counts || sheet_scan_text(sheet, sheet_twice_row, &twice) < 0)
        abort();
    twice.differ += twice.row != sheet->rows;
    for (size_t i = 0; i < sheet->columns; i++) {
        const struct profile *one = &sheet->text.profile[i], *other = &twice.counts[i];
        if (!one->decimal && !one->unclear && !one->other)
            twice.differ += one->numbers != other->numbers || one->texts != other->texts ||
                            one->missing != other->missing || one->infinite != other->infinite ||
                            (sheet->text.delimiter != ',' && one->points != other->points);
    }
    free(twice.counts);
    return twice.differ;
}

#endif
