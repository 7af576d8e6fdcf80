/* SPDX-License-Identifier: MIT
 *
 * A table as its source stores it: rows of cells, which can be scanned repeatedly from the beginning and
 * are never stored as a whole. Text tables come from files like CSV, number tables from .npy, .npz and the
 * synthetic datasets. */
#ifndef SPH_DATA_SHEET_H
#define SPH_DATA_SHEET_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "data/bytes.h"
#include "data/tool.h"
#include "spherelu.h"

/* The role of the comma or point in a number. MARK_COMMA and MARK_POINT: that is the decimal mark, or the number shows that it is
 * (0,544 1234,567 1.234,5 1.234.567 for the comma). UNCLEAR: one to three digits and three more, which could be thousands
 * (1,190 and 1.190). NONE: 12, 12 345, text. OTHER: none of them. */
enum mark { MARK_NONE, MARK_COMMA, MARK_POINT, MARK_UNCLEAR_COMMA, MARK_UNCLEAR_POINT, MARK_OTHER };

enum unit { UNIT_NONE, UNIT_PERCENT, UNIT_DOLLAR, UNIT_EURO, UNIT_POUND, UNIT_YEN, UNITS };

/* Missing: an empty cell, or one of NA N/A NaN null ? - in any case. Infinite: inf, infinity, or a number too
 * large for a double. Numbers may carry a sign or stand in parentheses (negative), have a currency ($ or the signs and words
 * of euro, pound, yen, dollar) before or after, thousands separated by commas, points, apostrophes or blanks, and a per cent
 * sign (12% is 12). */
enum cell_kind { CELL_MISSING, CELL_NUMBER, CELL_TEXT, CELL_INFINITE };

struct cell {
    enum cell_kind kind;
    double value;
    const char *text; /* as written; NULL in number tables */
    enum mark
        mark; /* where its text was read: of a number, or of a text that is one with the other decimal mark */
    enum unit unit; /* where its text was read */
};

/* The decimal mark is a point: a cell with a MARK_COMMA is text, and an unclear comma separates thousands. */
void cell_read(struct cell *out, const char *text);

/* The decimal mark is a comma: a cell with a MARK_POINT is text, and an unclear point separates thousands. */
void cell_read_decimal(struct cell *out, const char *text);

/* Whether the word is in the comma-separated list; upper and lower case are the same, blanks around it do not count. */
int cell_is_listed(const char *list, const char *word);

/* The mark of a plain number, -12.5e3. */
enum mark cell_point(const char *text, size_t length);

const char *cell_unit(enum unit unit); /* % $ EUR sign ...; "" for none */

/* The text looks like a number or date that cannot be read: its first sign is a digit, or one behind a sign, parenthesis or
 * currency, and most of it are digits. */
int cell_looks_like_number(const char *text);

/* Cells as one number each. A NaN stands for a word of the column: 0 is a missing cell, 1 the first word. */
static inline double kept_word(size_t word)
{
    uint64_t bits = UINT64_C(0x7ff8) << 48 | word;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline size_t kept_word_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (size_t)(bits & UINT32_MAX);
}

/* A 1-D or 2-D array of NPY's kinds of numbers, in place. */
struct array {
    const unsigned char *bytes;
    size_t rows, columns;
    char type;   /* 'f' 'i' 'u' 'b' */
    size_t size; /* bytes of an element */
    int swapped; /* other byte order than ours */
    int fortran; /* column after column */
};

/* What the first pass over a text table saw of a column's cells (the header's excluded). */
struct profile {
    size_t numbers, texts, missing, infinite;
    size_t text_line;   /* of the first text cell */
    char *text_example; /* the first text cell    */

    /* The column's decimal mark, by its cells and, where they are unclear, by those of the other columns. COMMA: its cells
     * are read as such; UNCLEAR: it is not known; NONE: the point, or no cell has any. */
    enum mark mark;
    size_t decimal, unclear, other; /* cells with a decimal comma, an unclear one, a comma that is neither */
    int points;                     /* there are numbers with a decimal point */
    int money;                      /* there are amounts of money such as $1,250 */
    int unclear_points;
    size_t mark_line; /* of the first MARK_COMMA cell, else of the first unclear one */
    char *mark_example;

    struct {
        size_t cells, line; /* line: of the first */
    } units[UNITS];
};

/* What is known of a text table. */
struct text_sheet {
    char delimiter;            /* ' ': runs of blanks and tabs */
    const char *missing_words; /* comma-separated, borrowed, or NULL */
    int header;                /* the first row is a header    */
    struct profile *profile;   /* (columns) */

    /* (rows, columns) numbers, and NaNs that stand for a missing cell or one of the column's words, where there was
     * room for them: nothing is read twice. NULL: otherwise. */
    const double *parsed;
    double *parsed_own;
    struct levels *words; /* (columns) */
};

struct sheet {
    char *path; /* for messages */
    struct data_bytes file;
    const char *bytes; /* (length) of it */
    size_t length;
    size_t rows, columns;
    char **names;            /* (columns) unique */
    char ***by_name;         /* (columns) into names, in bytewise order */
    size_t *repeat;          /* (columns) how often the header has this name; 0 for a renamed repetition */
    int named;               /* the names mean something */
    int made;                /* a synthetic set: opts.rows is heeded already */
    size_t test_from;        /* rows from here on are the set's own test part; 0: it has none */
    const sph_data_set *set; /* the known set that it is, or NULL */
    size_t default_targets;  /* of no known set: this many last columns */
    int is_text;
    struct text_sheet text;
    struct array x, y;     /* numbers: columns of x, then columns of y; y.columns may be 0 */
    unsigned char *own[2]; /* their bytes when not in the file as it is */
    struct npz *npz;       /* what holds them, of an .npz; else NULL    */
};

/* What is known of a source before it is opened. */
struct sheet_hints {
    char delimiter;   /* of text; 0: find out                                                  */
    int need_targets; /* 0: an .npz may lack y                                                 */
    const char *const
        *expected; /* (expected_count) names that a header is likely to have, since the data were
                                    seen before, or NULL; with them, the delimiter is but the likely one  */
    size_t expected_count;
};

/* source: a file or a known set; the delimiter is that of opts. A failure leaves nothing to free. */
int sheet_open(struct sheet *out, const char *source, const sph_data_opts *opts,
               const struct sheet_hints *hints);
void sheet_free(struct sheet *sheet);

/* Calls row for every data row. line: of the file (text, from 1) or row number (numbers, from 0). A negative
 * return ends the scan and is returned. */
typedef int sheet_row(void *user, size_t line, const struct cell *cells);
int sheet_scan(const struct sheet *sheet, sheet_row *row, void *user);

/* The same, each cell of a text table with its text, which sheet_scan may leave out of numbers and of columns with a
 * great many words. Slower: only where sheet_tells is 0 of a column whose text matters. */
int sheet_scan_text(const struct sheet *sheet, sheet_row *row, void *user);
int sheet_tells(const struct sheet *sheet, size_t column);

/* Fails with "path:line: ..." or "path: row N: ...". column: the name of the one it is about, or "". */
int sheet_fail(const struct sheet *sheet, size_t line, const char *column, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* Names all columns after `names`, or by number where names is NULL or a name is "". Later repetitions of a
 * name get .1, .2, ... after it. */
int sheet_set_names(struct sheet *sheet, const char *const *names);

/* Names the columns of x and y: x0 (by the number of the first), x1, ... and y, or y0, y1, ... */
int sheet_number_names(struct sheet *sheet, size_t first);

/* The column of this name, or -1. */
ptrdiff_t sheet_find(const struct sheet *sheet, const char *name);

/* text_sheet.c */
int text_sheet_scan(const struct sheet *sheet, sheet_row *row, void *user); /* with the text of each cell */
int text_sheet_scan_parsed(const struct sheet *sheet, sheet_row *row, void *user);
void text_sheet_forget(struct sheet *sheet); /* what was kept of its cells */

/* npy.c */
int npy_parse(struct array *out, const unsigned char *bytes, size_t length, const char *where);
double array_at(const struct array *array, size_t row, size_t column);

/* Leaves a made table its own test part and no more, where it has one. */
void sheet_keep_test_part(struct sheet *sheet);

/* synthetic.c: fills the number table of a synthetic set by opts' rows (0: the set's own number), seed and
 * noise. */
int synthetic_sheet(struct sheet *sheet, const char *name, const sph_data_opts *opts);

#endif
