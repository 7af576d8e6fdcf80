/* SPDX-License-Identifier: MIT
 *
 * A table of a report while it is filled: cells that are appended to in any order. */
#ifndef SPH_REPORT_SHEET_H
#define SPH_REPORT_SHEET_H

#include "base/text.h"
#include "report/report.h"

struct sheet {
    size_t rows, columns;  /* without the header */
    struct text *cell;     /* (1 + rows, columns) the header first */
    unsigned char *number; /* (columns) */
    unsigned char *mark;   /* (rows, columns) */
};

int sheet_new(struct sheet *out, size_t rows, size_t columns);
void sheet_free(struct sheet *sheet); /* of zeroes is fine */

struct text *sheet_head(const struct sheet *sheet, size_t column);
struct text *sheet_at(const struct sheet *sheet, size_t row, size_t column);

/* A header and what its column holds. */
void sheet_column(struct sheet *sheet, size_t column, const char *header, int number);
void sheet_mark(struct sheet *sheet, size_t row, size_t column, enum report_mark mark);

/* Adds it to the report, without columns in which no row holds anything. SPH_EMEMORY: also where a cell could
 * not be written before. */
int report_sheet(struct report *report, const struct sheet *sheet, const char *caption);

#endif
