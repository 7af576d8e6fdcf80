/* SPDX-License-Identifier: MIT
 *
 * The table for readers as a grid of cells and a few sentences, which text, Markdown and LaTeX write each in
 * their way. */
#ifndef SPH_REPORT_TABLE_GRID_H
#define SPH_REPORT_TABLE_GRID_H

#include "report/table.h"

enum grid_column {
    GRID_METHOD,
    GRID_MEAN,
    GRID_COUNT,
    GRID_RANK,
    GRID_DIFFERENCE,
    GRID_INTERVAL,
    GRID_P,
    GRID_CHOSEN,
    GRID_SECONDS,
    GRID_COLUMNS
};

struct grid {
    size_t rows;              /* a header, then one per method */
    int shown[GRID_COLUMNS];  /* whether the column is there */
    int number[GRID_COLUMNS]; /* cells are numbers: to the right, in LaTeX as mathematics */
    struct text *cell;        /* (rows, GRID_COLUMNS) */
    int approximate, small;   /* what the notes must explain: a p, an interval */
};

int grid_make(struct grid *grid,
              const struct comparison *comparison); /* free with grid_free, unless it fails */
void grid_free(struct grid *grid);
size_t grid_shown(const struct grid *grid); /* columns */
const char *grid_cell(const struct grid *grid, size_t row, size_t column);

/* How a format writes a text that may hold anything: escaped, on one line. */
typedef void grid_adder(struct text *out, const char *text);
void grid_add_plain(struct text *out, const char *text); /* control characters become blanks */
char grid_printable(char c);

void grid_add_title(struct text *out, const struct comparison *comparison, grid_adder *add);
void grid_add_failure(struct text *out, const struct comparison_method *method, grid_adder *add);

/* One sentence a line, each after `begin`. */
void grid_add_notes(struct text *out, const struct comparison *comparison, const struct grid *grid,
                    const char *begin, grid_adder *add);
void grid_add_verdicts(struct text *out, const struct comparison *comparison, const char *begin,
                       grid_adder *add);

#endif
