/* SPDX-License-Identifier: MIT
 *
 * Text in columns of numbers or dates: words that stand for missing cells, and formats that cannot be read. */
#ifndef SPH_DATA_ODD_CELLS_H
#define SPH_DATA_ODD_CELLS_H

#include "base/levels.h"
#include "base/text.h"
#include "data/build.h"

/* A message about the column's name and a cell. */
#define ODD_MARKS                                                                                            \
    "column '%s' contains '%.60s' with a decimal comma, and other numbers with a decimal point; use a "      \
    "decimal point everywhere"

/* At least this many percent of the texts look like numbers or dates: so do all of the column. */
enum { ODD_SHARE = 80 };

/* levels: all texts of the column, those of its numbers too. Whether it is a column of numbers in which some words slipped: not
 * one of codes (101, A1), nor of few values (1, 2, 3+). */
int odd_is_slip(const struct profile *profile, const struct levels *levels);

/* Whether most of the texts are dates with years of two digits, numbers such as 738_241, or more than a few numbers with the
 * same unknown unit. Ranges (10-20), codes (4711A), versions, ordinals, times, postal codes (1234 AB) and one last value
 * (11 or more) are none. */
int odd_format(const struct levels *levels);

/* How many percent of the texts look like numbers or dates that cannot be read. */
size_t odd_share(const struct levels *levels);

struct odd_cell {
    char *text; /* caller frees */
    size_t line;
};

/* The first cell of the column that has the text; NULL: that looks like a number or date that cannot be read. */
int odd_find(struct odd_cell *out, const struct sheet *sheet, size_t column, const char *text);

/* Adds "; if ... use --missing-words ...": all words of the columns marked COLUMN_SLIPS that look like no number or date, with those
 * that are missing already. */
int odd_remedy(struct text *out, const struct sheet *sheet, const sph_data *data);

/* Fails with the column's first text cell. */
int odd_fail(const struct sheet *sheet, const struct column *column, const struct profile *profile,
             const char *remedy);

#endif
