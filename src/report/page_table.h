/* SPDX-License-Identifier: MIT
 *
 * A table of a report while it is filled: cells that are appended to in any order. */
#ifndef SPH_REPORT_SHEET_H
#define SPH_REPORT_SHEET_H

#include "base/text.h"
#include "report/report.h"

struct page_table {
    size_t rows, columns;  /* without the header */
    struct text *cell;     /* (1 + rows, columns) the header first */
    unsigned char *number; /* (columns) */
    unsigned char *mark;   /* (rows, columns) */
};

int page_table_new(struct page_table *out, size_t rows, size_t columns);
void page_table_free(struct page_table *table); /* of zeroes is fine */

struct text *sheet_head(const struct page_table *table, size_t column);
struct text *page_table_at(const struct page_table *table, size_t row, size_t column);

/* A header and what its column holds. */
void page_table_column(struct page_table *table, size_t column, const char *header, int number);
void page_table_mark(struct page_table *table, size_t row, size_t column, enum report_mark mark);

/* Adds it to the report, without columns in which no row holds anything. SPH_EMEMORY: also where a cell could
 * not be written before. */
int report_page_table(struct report *report, const struct page_table *table, const char *caption);

#endif
