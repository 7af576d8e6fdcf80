/* SPDX-License-Identifier: MIT
 *
 * A dataset in memory: numbers or images, their targets, and the columns they came from. synthetic.c
 * creates some datasets; the module data reads files. */
#ifndef SPH_ROWS_DATA_H
#define SPH_ROWS_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "net/scaling.h"
#include "rows/picture_source.h"
#include "spherelu/core.h"

enum column_role { COLUMN_FEATURE, COLUMN_TARGET, COLUMN_DROPPED };
enum column_kind { COLUMN_NUMBER, COLUMN_TEXT, COLUMN_DATE };

/* What a column that is dropped serves for all the same, in training. */
enum column_use { COLUMN_FOR_NOTHING, COLUMN_GROUP, COLUMN_TIME, COLUMN_WEIGHT, COLUMN_USES };

/* How the cells of a date column are written: year, month and day in this order. */
enum date_order { DATE_YMD, DATE_DMY, DATE_MDY, DATE_ORDERS };

struct column {
    char *name; /* from the header, else its zero-based number */
    enum column_role role;
    enum column_kind kind;
    char **levels; /* (level_count) of a text feature, sorted bytewise */
    size_t level_count;
    int other;   /* text: words that are none of the levels share one more, the last */
    char **rare; /* (rare_count) of these words, those that training saw, sorted bytewise; NULL: not known */
    size_t rare_count;
    size_t encoded; /* text: 0: an indicator for each level; else so many numbers stand for a level */
    double *
        statistics; /* (level_count + other, encoded): those numbers. NULL with encoded 1: x has the level's place
                           until data_encode knows the split */
    int decimal_comma;     /* its cells had decimal commas */
    int unit;              /* of its numbers: an enum unit of data/sheet.h, 0: none */
    enum date_order order; /* dates */
    int times;             /* dates: some have a time of day */
    double first;          /* dates: the first of them, in days since 1970 */
    enum column_use use;
    char *why;      /* --drop auto leaves it out, or NULL */
    unsigned marks; /* enum column_marks, of a table that was read without a schema */
    size_t filled;  /* cells of it that were missing */
    size_t at;      /* its first column in x (column_width of them), or its column in y */
};

/* NEEDED: --drop auto does not leave it out. AS_TEXT: --text names it. SLIPS: it has words among numbers. USELESS: --drop auto would
 * leave it out. ACCEPTED: a run began on it, perhaps one of an older version that refused less. */
enum column_marks {
    COLUMN_NEEDED = 1,
    COLUMN_AS_TEXT = 2,
    COLUMN_SLIPS = 4,
    COLUMN_USELESS = 8,
    COLUMN_ACCEPTED = 16
};

/* Whether text in the column is text, whatever it looks like. */
static inline int column_is_settled(const struct column *column)
{
    return (column->marks & (COLUMN_AS_TEXT | COLUMN_ACCEPTED)) != 0;
}

/* Levels of a text column with that of all other words. */
static inline size_t column_levels(const struct column *column)
{
    return column->level_count + (column->other != 0);
}

/* How many columns of x a feature has: a date's are year, month, day of the week, days since the first, and the hour
 * where there are times. */
enum { DATE_WIDTH = 4 };
static inline size_t column_width(const struct column *column)
{
    return column->kind == COLUMN_TEXT   ? (column->encoded ? column->encoded : column_levels(column))
           : column->kind == COLUMN_DATE ? (size_t)DATE_WIDTH + (column->times != 0)
                                         : 1;
}

/* What became of the source's rows and cells. */
struct data_counts {
    size_t left_out;       /* rows that were dropped for missing cells */
    size_t filled;         /* missing feature cells of the others */
    size_t without_target; /* of those left out */
    size_t unseen;         /* text cells of the others that hold none of the known levels */
    size_t val;            /* the last rows, which are the set's own validation part */
};

/* Cells to be carried along as they are written. */
struct kept_cells {
    char **cells; /* (rows, columns); count of them, or NULL */
    char **names; /* (columns) */
    size_t columns, count;
};

/* How a table was read, or is to be. */
struct data_reading {
    int made;     /* by the seed, not read */
    int known;    /* a set that has a name, and its task is known */
    int reversed; /* the features lie in x from the last column to the first */
    int named;    /* the names mean something: they came from a header or a known set */
    sph_missing missing;
    int refuse_unseen;
    int like;            /* by a schema, as the table of training */
    int units;           /* the columns' units are known */
    char delimiter;      /* the user's, 0: none given */
    char *missing_words; /* that stand for a missing cell, comma-separated, or NULL */
};

struct data_images {
    uint8_t *pixels;                /* (rows, channels, height, width) in memory, or NULL */
    struct pictures *pictures;      /* those that are brought when they are needed, or NULL */
    size_t channels, height, width; /* features is their product; 0: a table, and x holds its numbers */
    int gray;                       /* one channel, the luma of what was read */
    size_t shrink;     /* a pixel is the mean of shrink x shrink pixels that were read; 0: as read */
    size_t eval_side;  /* pictures: what the shorter side becomes in evaluation; 0: as usual */
    sph_decode decode; /* how JPEG files are, or were, decoded */
};

struct sph_data {
    size_t holders; /* beside the first: sph_data_free ends with the last of them */
    size_t rows, features, targets;
    sph_task task;
    double *x; /* (rows, features) NaN: missing; NULL for images */
    double *y; /* (rows, targets); class tasks: class number; NULL when opened without targets */
    int has_missing;
    struct data_counts counts;
    struct text notes; /* lines about how the table was taken */
    struct kept_cells kept;

    /* (rows) numbers of columns that serve for something else than to be learnt, or NULL: groups, times, weights */
    double *side[COLUMN_USES];

    double *class_weights; /* (classes) what each counts in the loss, or NULL */
    char **labels;         /* (classes) class tasks, sorted: by value if all are numbers, else bytewise */
    size_t classes;

    struct column *columns; /* (column_count) in the source's order */
    size_t column_count;
    struct data_reading reading;
    struct data_images image;
    size_t test_from; /* rows from here on are the set's own test part; 0: it has none */
};

/* Whether rows are images, in memory or not. */
static inline int data_is_images(const sph_data *data)
{
    return data->image.channels > 0;
}

/* What sph_array_opts has, for data of any source; the weights are copied. val: of data from arrays only. */
int data_set_weights(sph_data *data, const double *weights);
int data_set_class_weights(sph_data *data, const double *weights);
int data_set_classes(sph_data *data, size_t classes);
int data_set_val(sph_data *data, size_t rows);

/* What options depend on. */
struct data_facts {
    size_t rows, classes, height, width;
    sph_task task;
    sph_decode decode;
    int own_val;  /* the validation part is given, and not drawn */
    int images;   /* not a table */
    int pictures; /* images of a folder of pictures, which are brought when they are needed */
};

static inline struct data_facts data_facts(const sph_data *data)
{
    return (struct data_facts){.rows = data->rows,
                               .classes = data->classes,
                               .height = data->image.height,
                               .width = data->image.width,
                               .task = data->task,
                               .decode = data->image.decode,
                               .own_val = data->counts.val > 0,
                               .images = data_is_images(data),
                               .pictures = data->image.pictures != NULL};
}

/* The same data once more, each to be freed. They are not to be changed from here on. */
sph_data *data_share(sph_data *data);

/* The names of x's columns: a text column gives column=level. Caller frees with mem_free. */
char *data_feature_name(const sph_data *data, size_t feature);

/* A text column's columns of x, from its first one on; text NULL: missing. 0: the text is none of the levels, and no other level
 * is there for it. */
int column_fill_text(const struct column *column, const char *text, double *x);

/* What follows a date column's name: year, month, ... */
const char *data_date_part(size_t part);

/* The name of a target column, borrowed. */
const char *data_target_name(const sph_data *data, size_t target);

/* Classes 0, 1, ... are called so. */
int data_number_labels(sph_data *data, size_t classes);

/* Fitted on these rows (count >= 1) only: mean and population standard deviation, where rows have weights by these; constant
 * columns get scale 1. kind AUTO is BOTH for regression and FEATURES otherwise; targets of class tasks are never scaled.
 * x_fill is always the training mean (0 where a column has no value in these rows). Images: one mean and
 * standard deviation a channel, the same for all its pixels, in units of bytes; OFF divides by 255 alone, MEAN
 * subtracts the mean and divides by 255; of images that are not in memory at most SCALING_PICTURES of these rows are
 * looked at, evenly spaced. Of a table MEAN divides by nothing.
 * scale ROBUST, where a table's features are divided by something: median and interquartile range instead (half the range if
 * the quartiles are equal), clipped at SCALING_CLIP; numpy's quantiles by the method averaged_inverted_cdf, so that a row
 * of weight 2 counts as two. indicators RAW: columns of 0 and 1 that stand for a text column stay as they are. */
struct scaling_how {
    sph_standardize kind;
    sph_scale scale;
    sph_indicators indicators;
};
enum { SCALING_PICTURES = 1024, SCALING_CLIP = 3 };
int scaling_fit(struct scaling *out, const sph_data *data, const uint32_t *rows, size_t count,
                const struct scaling_how *how);

/* Whether a column of a table's x, or of y where target is set, counts as constant there though its values differ in these rows: by
 * no more than rounding explains (1e9 and 1e9 + 1e-7). */
int scaling_flattens(const sph_data *data, const uint32_t *rows, size_t count, size_t column, int target);

#endif
