/* SPDX-License-Identifier: MIT
 *
 * The interface of this module for other modules, beyond include/spherelu.h.
 *
 * A source (file or built-in dataset) is opened as a sheet (sheet.h), its columns get a role and a kind
 * (columns.c), and one pass fills x and y (fill.c). The columns are kept as a schema, so that another file
 * can be read in the same way. */
#ifndef SPH_DATA_OPEN_H
#define SPH_DATA_OPEN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "rows/data.h"
#include "spherelu/data.h"
#include "spherelu/train.h"

/* The word for standard input, which is read to its end as any file is, and what it is opened by. */
#define DATA_STDIN      "-"
#define DATA_STDIN_PATH "/dev/stdin"

/* Everything needed to read another file the same way:
 *   {"named": bool, "missing": word, "task": word, "classes": [label...] (class tasks only),
 *    "delimiter": one character (only if the user gave it), "units": true (since 0.3, where units are known),
 *    "columns": [{"name", "role": "feature|target|dropped", "kind": "number|text|date", "levels": [...] (text
 * features), "at": k (targets: column of y), "other": true (text: other words are one more level), "rare": [...] (those of them that training saw), "statistics": [numbers of each level] (text that is encoded by them),
 * "why": why it is dropped, "filled": missing cells in training, "unit": "%" or a currency, "decimal_comma": true (each only if so), "order": "ymd|dmy|mdy", "first": days since 1970, "times": true (dates)}...]}
 * or, for images, {"images": {"channels", "height", "width", "decode": "exact|scaled" (absent before 0.3: scaled),
 * "eval_side": pixels (only if given), "gray": true, "shrink": factor (both only if so)}, "classes": [label...]}. A new reference; the caller decrefs. */
int data_schema(const sph_data *data, json_t **out);

/* The columns of a schema without rows: what its features are called, and in which order a net takes them. */
int data_of_schema(sph_data **out, const json_t *schema);

/* Lines on how the table was taken: what its columns were taken for; cells that were filled, rows left out and why, words
 * that training did not see. Appended to what `out` has. */
void data_notes(const sph_data *data, struct text *out);
void data_counts(const sph_data *data, struct text *out);

/* Text columns that were opened with sph_data_opts.encode and have more than LEVELS_MAX levels: each level becomes the mean of
 * each output (the target, or whether the row is of a class), with ENCODE_PRIOR more rows of the mean of all. Only rows of the
 * training and validation part count. For these, the means are those of the other ones of ENCODE_FOLDS folds, so that no row's
 * own target is in its features; rows of a group share a fold. *data: replaced by a copy, where there are such columns. */
enum { ENCODE_FOLDS = 5, ENCODE_PRIOR = 10 };
int data_encode(sph_data **data, const sph_split *split);

/* Whether data_encode is still to come. */
int data_waits(const sph_data *data);

/* Opens source with the columns of schema. Columns are matched by name when both have names (any order, extra
 * ones are ignored), else by position; a table without names may have all columns, all but the dropped
 * ones, all but the targets, or features alone, and is refused where its number of columns means two of these
 * that differ. The schema's delimiter is tried first. need_targets 0: target columns may be absent, are not
 * read, and y is NULL; every row is kept, and a missing feature is NaN (schema's missing: mean) or an error
 * (error, drop). A class label that the schema does not know is an error; a level is one under how->strict, and
 * else counts as unseen and sets no indicator. The schema is checked as
 * carefully as the file: it comes from one. Of a set with its own test part, that part is read and no
 * more. how says with how many workers folders of pictures are read, whether bad ones are left out, whether it is
 * strict about levels, and which columns are kept as text; NULL: as usual. */
int data_open_like(sph_data **out, const char *source, const json_t *schema, int need_targets,
                   const sph_data_opts *how);

/* A number that turned out to be unusable after its table was read. */
struct data_refusal {
    size_t column; /* of x, or of y where target is set */
    int target;
    double value;
    const char *why;
};

/* Reads the source again, to the first row that has this number there, and fails: "PATH:LINE: column 'NAME' holds VALUE, WHY".
 * 0: there is no such row, as where standard input was the source. */
int data_refuse(const char *source, const json_t *schema, int need_targets, const sph_data_opts *how,
                const struct data_refusal *refusal);

#endif
