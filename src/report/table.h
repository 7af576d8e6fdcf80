/* SPDX-License-Identifier: MIT
 *
 * A table: columns, rows of typed cells, a title and notes. It is filled once and written in six formats: aligned text, Markdown,
 * LaTeX and HTML with rounded numbers for readers, CSV and JSON with all digits for programs. Each column has a name for
 * each format that contains it.
 *
 * An allocation that fails while the table is filled makes every writer fail, so check only there. */
#ifndef SPH_REPORT_TABLE_H
#define SPH_REPORT_TABLE_H

#include <stddef.h>

#include "base/text.h"
#include "file/json.h"

enum cell_kind {
    CELL_EMPTY,   /* nothing                           */
    CELL_MISSING, /* an undefined value: - for readers */
    CELL_TEXT,
    CELL_FLAG,     /* true or false                     */
    CELL_COUNT,    /* a whole number                    */
    CELL_NUMBER,   /* rounded as the column says        */
    CELL_MEAN,     /* 0.1234 +- 0.0056                  */
    CELL_WITHIN,   /* a number known to within a spread */
    CELL_INTERVAL, /* [low, high], rounded the same way */
    CELL_P,        /* 0.062, ~0.062, < 0.0001           */
    CELL_LIST      /* numbers, for programs             */
};

/* Shown in HTML. MARK_FIRST, the best of a column, is shown in all formats for readers, as "*" in text. */
enum table_mark { MARK_PLAIN, MARK_BEST, MARK_BAD, MARK_LEAD, MARK_FIRST };

struct table_cell {
    enum cell_kind kind;
    enum table_mark mark;
    double a, b;  /* number; mean, error; value, spread; low, high; p */
    size_t count; /* count; flag; length of the list; 1: p is approximate */
    char *text;
    double *list;
};

/* Texts are borrowed. */
struct table_column {
    const char *head; /* name for readers; NULL: not shown to them */
    const char *unit; /* after the head in HTML */
    const char *csv;  /* NULL: not in CSV */
    const char *json; /* "p", or "test.p": p of the object test; NULL: not in JSON */
    int number;       /* right-aligned, and mathematics in LaTeX */
    int digits;       /* significant digits of a CELL_NUMBER, or */
    int fixed;        /* number of decimals */
    int plain;    /* with digits: no power of ten below a billion, for scores in large units such as prices */
    double least; /* a number between 0 and this is shown as "< least" */
    size_t wide;  /* minimum width in text */
};

struct table {
    struct text title;   /* not in HTML */
    const char *warning; /* or NULL; not in HTML; borrowed */
    struct text caption; /* above the head, in text and HTML */
    struct text
        notes; /* one sentence for each line, like the verdicts; not in HTML, where the page places them */
    struct text verdicts;
    struct table_column *columns;
    char **heads; /* (column_count) names that the table owns */
    size_t column_count, column_room, head_room;
    struct table_cell *cells; /* (row_count, column_count) */
    char **below;             /* (row_count) a line below the row in text, Markdown and LaTeX, or NULL */
    size_t row_count;
    int failed;
};

/* ---------------------------------------------------------------- filling */

void table_column(struct table *table, struct table_column column);
void table_columns(struct table *table, const struct table_column *columns, size_t count);
void table_made_column(struct table *table, struct table_column column, const char *head, ...)
    __attribute__((format(printf, 3, 4)));
void table_data_column(struct table *table, const char *csv, ...)
    __attribute__((format(printf, 2, 3)));         /* only in CSV */
void table_rows(struct table *table, size_t rows); /* call once, after all columns */
void table_free(struct table *table);

/* Cells are EMPTY until they are set. A number that is not finite and a text that is NULL are MISSING. */
void table_text(struct table *table, size_t row, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void table_words(struct table *table, size_t row, size_t column, const char *words);
void table_known_words(struct table *table, size_t row, size_t column, const char *words); /* NULL: EMPTY */
void table_known(struct table *table, size_t row, size_t column, double value);            /* NaN: EMPTY */
void table_take(struct table *table, size_t row, size_t column, struct text *words);       /* frees it */
void table_flag(struct table *table, size_t row, size_t column, int flag);
void table_count(struct table *table, size_t row, size_t column, size_t count);
void table_number(struct table *table, size_t row, size_t column, double value);
void table_mean(struct table *table, size_t row, size_t column, double mean, double error);
void table_within(struct table *table, size_t row, size_t column, double value, double spread);
void table_interval(struct table *table, size_t row, size_t column, double low, double high);
void table_p(struct table *table, size_t row, size_t column, double p, int approximate);
void table_list(struct table *table, size_t row, size_t column, const double *values, size_t count);
void table_missing(struct table *table, size_t row, size_t column);
void table_mark(struct table *table, size_t row, size_t column, enum table_mark mark);
void table_below(struct table *table, size_t row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends a line to the title, caption, notes or verdicts. Control characters become blanks. */
void table_line(struct text *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Columns from a list of X(ID, (fields of the column), kind of cell, value...). TABLE_IDS defines the numbers of the columns and
 * COLUMNS, TABLE_COLUMNS adds the columns, and the list with TABLE_CELL fills the cells of `row` of the table `out`. */
#define TABLE_ID(id, column, kind, ...)   id,
#define TABLE_ROW(id, column, kind, ...)  {TABLE_BARE column},
#define TABLE_CELL(id, column, kind, ...) table_##kind(out, row, id, __VA_ARGS__);
#define TABLE_BARE(...)                   __VA_ARGS__
#define TABLE_IDS(list)                   enum { list(TABLE_ID) COLUMNS }
#define TABLE_COLUMNS(out, list)          table_columns(out, (const struct table_column[]){list(TABLE_ROW)}, COLUMNS)

/* ---------------------------------------------------------------- writing
 * Each function appends. Readers do not see columns without any content. */

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_LATEX, TABLE_HTML, TABLE_CSV };
int table_write(const struct table *table, enum table_format format, struct text *out);

/* The rows as a list of objects. An inner object with only EMPTY members is null. NULL: out of memory. */
json_t *table_to_json(const struct table *table);

/* ---------------------------------------------------------------- for the writers */

int table_failed(const struct table *table); /* out of memory */
const struct table_cell *table_at(const struct table *table, size_t row, size_t column);
int table_shows(const struct table *table, size_t column); /* readers see the column */

/* Appends a cell for readers. */
enum table_style { STYLE_PLAIN, STYLE_MATH, STYLE_HTML };
void table_add_cell(struct text *out, const struct table *table, size_t row, size_t column,
                    enum table_style style);

void table_add_text(const struct table *table, struct text *out);
void table_add_markdown(const struct table *table, struct text *out);
void table_add_latex(const struct table *table, struct text *out); /* with rules of the package booktabs */
void table_add_html(const struct table *table, struct text *out);
void table_add_csv(const struct table *table, struct text *out);

#endif
