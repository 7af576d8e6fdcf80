/* SPDX-License-Identifier: MIT
 *
 * The table for readers as rows of cells and a few sentences, which text, Markdown and LaTeX write each in
 * their way. */
#ifndef SPH_REPORT_LISTING_H
#define SPH_REPORT_LISTING_H

#include "report/table.h"

enum listing_column {
    LISTING_METHOD,
    LISTING_MEAN,
    LISTING_COUNT,
    LISTING_RANK,
    LISTING_DIFFERENCE,
    LISTING_INTERVAL,
    LISTING_P,
    LISTING_CHOSEN,
    LISTING_SECONDS,
    LISTING_COLUMNS
};

struct listing {
    size_t rows;                 /* a header, then one per method */
    int shown[LISTING_COLUMNS];  /* whether the column is there */
    int number[LISTING_COLUMNS]; /* cells are numbers: to the right, in LaTeX as mathematics */
    struct text *cell;           /* (rows, LISTING_COLUMNS) */
    int approximate, small;      /* what the notes must explain: a p, an interval */
};

int listing_make(struct listing *listing,
                 const struct comparison *comparison); /* free with listing_free, unless it fails */
void listing_free(struct listing *listing);
size_t listing_shown(const struct listing *listing); /* columns */
const char *listing_cell(const struct listing *listing, size_t row, size_t column);

/* How a format writes a text that may hold anything: escaped, on one line. */
typedef void listing_adder(struct text *out, const char *text);
void listing_add_plain(struct text *out, const char *text); /* control characters become blanks */
char listing_printable(char c);

void listing_add_title(struct text *out, const struct comparison *comparison, listing_adder *add);
void listing_add_failure(struct text *out, const struct comparison_method *method, listing_adder *add);

/* One sentence a line, each after `begin`. */
void listing_add_notes(struct text *out, const struct comparison *comparison, const struct listing *listing,
                       const char *begin, listing_adder *add);
void listing_add_verdicts(struct text *out, const struct comparison *comparison, const char *begin,
                          listing_adder *add);

#endif
