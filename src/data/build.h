/* SPDX-License-Identifier: MIT
 *
 * The steps from a source to a dataset; used by data.c, cache.c and schema.c. */
#ifndef SPH_DATA_BUILD_H
#define SPH_DATA_BUILD_H

#include "data/open.h"
#include "data/sheet.h"

/* Of a text feature: indicators; rows that a level needs, or it joins the others; and levels that are looked at. */
enum { LEVELS_MAX = 50, LEVELS_RARE = 5, LEVELS_MANY = 20000 };

/* data.c: all rows of a source, and the path they came from. What opts says of rows and task is not heeded yet,
 * but by a set that is made. Caller frees both. */
int data_read(sph_data **out, char **path, const char *source, const sph_data_opts *opts);

/* columns.c: sets data's columns, targets, features, and the labels of a text target, from options. A column
 * that is neither dropped nor named as target is a feature. */
int columns_choose(sph_data *data, const struct sheet *sheet, const sph_data_opts *opts);

/* Appends a line to what is told of how the table was taken. Where memory is short data->notes has failed, and
 * data_cache_open with it. */
void data_note(sph_data *data, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Leaves a column out, and notes why: "is text with ...". */
int data_leave_out(sph_data *data, struct column *column, const char *why);

/* useless.c: features that are the same in all rows or number them are left out, and noted; automatic 0: they are marked as
 * COLUMN_USELESS. */
int useless_named_id(const char *name); /* ends in id */
int useless_drop(sph_data *data, const struct sheet *sheet, int automatic);

/* Keeps the cells of the columns that list names, as they are written, beside the rows. All rows of the sheet must be
 * in data. */
int columns_keep(sph_data *data, const struct sheet *sheet, const char *list);

/* encode.c: the member "statistics" of a column's object. where: for messages. */
int encode_read(struct column *out, const json_t *object, const char *where);

/* choose.c: a copy, to be freed. */
int data_copy(sph_data **out, const sph_data *whole);

/* Gives every feature its place in x; sets features. path is for the message. */
int columns_place(sph_data *data, const char *path);

/* fill.c: reads all rows into x and y. from (column_count): the table's column of each of data's, SIZE_MAX:
 * absent. with_targets 0: targets are not read. refusal: NULL, or a
 * number that fails where it comes. With data->labels set, class numbers are looked up; else y
 * holds the cells. */
int fill_rows(sph_data *data, const struct sheet *sheet, const size_t *from, int with_targets,
              const struct data_refusal *refusal);

/* schema.c: data's columns from a JSON array of them, as in a schema; and there. */
int schema_read(sph_data *data, const json_t *schema); /* into data of zeroes */
int schema_columns(sph_data *data, const char *text);
int schema_write_columns(const sph_data *data, const sph_sink *to);

/* choose.c: a set of rows of another: those of numpy's RandomState(seed).choice(rows, count, replace=False), in
 * that order; of images, training rows and test rows in proportion, each in the set's order. */
int data_choose(sph_data **out, const sph_data *whole, const char *path, size_t count, uint64_t seed);

/* All rows in the order of numpy's RandomState(seed).permutation(rows); the same features from the last column to
 * the first. *data is replaced. */
int data_permute(sph_data **data, const char *path, uint32_t seed);
int data_reverse(sph_data **data, const char *path);

/* targets.c: settles the task (task -1: find out), numbers the classes, refuses targets from which nothing
 * can be learnt. */
int targets_settle(sph_data *data, const char *path, int task);

/* 1 when all labels are numbers; these then count by value. */
int targets_are_numbers(char *const *labels, size_t count);

/* Class number of a cell, or -1. */
ptrdiff_t targets_find(const sph_data *data, const struct cell *cell);

/* "a, b, c, ..." of the first few, in buffer. */
const char *targets_list(char *const *texts, size_t count, char *buffer, size_t size);

#endif
