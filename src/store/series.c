/* SPDX-License-Identifier: MIT */
#include "store/series.h"

#include <string.h>

#include "base/clock.h"
#include "base/cursor.h"
#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/text.h"

enum { PIECE = 1 << 20 };

struct series {
    struct file_log log;
    struct series_column *columns;
    size_t *at; /* (count + 1) where a column begins in a row; the last is the row's length */
    size_t count;
    size_t start; /* of the rows in the file */
    uint64_t rows;
    double flushed; /* when, by clock_seconds */
    int failed;
};

static struct npz_array array_of(const struct series_column *column, uint64_t rows)
{
    struct npz_array array = {.shape = {(size_t)rows}, .ndim = column->ndim + 1};
    memcpy(array.name, column->name, sizeof array.name);
    memcpy(array.type, column->type, sizeof array.type);
    for (size_t i = 0; i < column->ndim; i++)
        array.shape[i + 1] = column->shape[i];
    return array;
}

static int set_columns(struct series *series, const struct series_column *columns, size_t count)
{
    series->columns = mem_get(count, sizeof *series->columns);
    series->at = mem_get(count + 1, sizeof *series->at);
    if (!series->columns || !series->at)
        return SPH_EMEMORY;
    series->count = count;
    for (size_t i = 0; i < count; i++) {
        struct npz_array one = array_of(&columns[i], 1);
        series->columns[i] = columns[i];
        series->at[i + 1] = series->at[i] + npz_array_bytes(&one);
    }
    return 0;
}

/* What stands at the head of the file. */
static void describe(struct text *out, const struct series *series)
{
    text_add(out, "spherelu series, bytes of a row: %zu\n", series->at[series->count]);
    for (size_t i = 0; i < series->count; i++) {
        const struct series_column *column = &series->columns[i];
        text_add(out, "%s %s", column->type, column->name);
        for (size_t k = 0; k < column->ndim; k++)
            text_add(out, " %zu", column->shape[k]);
        text_add(out, "\n");
    }
    text_add(out, "\n");
}

/* Before the file is cut: one that another recording left stays as it is. A short one is file_log_open's to
 * refuse. */
static int check_head(const char *path, const struct text *head)
{
    struct file_map map;
    int err = file_map(&map, path);
    if (err < 0)
        return err;
    struct cursor in = cursor_over(map.data, map.length);
    if (cursor_left(&in) >= head->length && !cursor_passes(&in, head->chars, head->length))
        err = sph_fail_at(SPH_EFORMAT, path,
                          "cannot continue: its columns differ from those that this run records");
    file_unmap(&map);
    return err;
}

int series_open(struct series **out, const char *path, const struct series_column *columns, size_t count,
                uint64_t keep_rows)
{
    struct series *series = *out = mem_get(1, sizeof *series);
    struct text head = {0};
    int err = SPH_EMEMORY;
    if (!series)
        return err;
    series->log.fd = -1;
    if ((err = set_columns(series, columns, count)) < 0)
        goto out;
    describe(&head, series);
    if (head.failed) {
        err = SPH_EMEMORY;
        goto out;
    }
    series->start = head.length;
    series->rows = keep_rows;
    series->flushed = clock_seconds();
    size_t keep, length = series->at[count];
    if (!size_times(&keep, keep_rows, length) || !size_plus(&keep, keep, series->start)) {
        err = sph_fail_at(SPH_EFORMAT, path, "cannot continue: %llu rows of %zu bytes are too many",
                          (unsigned long long)keep_rows, length);
        goto out;
    }
    if ((keep_rows && (err = check_head(path, &head)) < 0) ||
        (err = file_log_open(&series->log, path, keep_rows ? keep : 0)) < 0)
        goto out;
    if (!keep_rows && !(err = file_log_add(&series->log, head.chars, head.length)))
        err = file_log_flush(&series->log);
out:
    text_free(&head);
    if (err) {
        series_close(series);
        *out = NULL;
    }
    return err;
}

void series_close(struct series *series)
{
    if (!series)
        return;
    file_log_close(&series->log);
    mem_free(series->columns);
    mem_free(series->at);
    mem_free(series);
}

size_t series_row_bytes(const struct series *series)
{
    return series->at[series->count];
}

/* ---------------------------------------------------------------- growing */

static int flush(struct series *series)
{
    if (series->failed)
        return sph_fail_at(series->failed, series->log.path, "an earlier row could not be written");
    series->failed = file_log_flush(&series->log);
    series->flushed = clock_seconds();
    return series->failed;
}

/* A row larger than a piece goes through memory piece by piece. */
int series_add(struct series *series, const void *row)
{
    const char *bytes = row;
    size_t left = series_row_bytes(series);
    if (series->failed)
        return flush(series);
    while (left) {
        size_t room = series->log.length < PIECE ? PIECE - series->log.length : 0;
        size_t piece = left < room ? left : room;
        if ((series->failed = file_log_add(&series->log, bytes, piece)) < 0)
            return series->failed;
        bytes += piece;
        left -= piece;
        if (series->log.length >= PIECE && flush(series) < 0)
            return series->failed;
    }
    series->rows++;
    return clock_seconds() - series->flushed < 1 ? 0 : flush(series);
}

int series_sync(struct series *series, uint64_t *rows)
{
    int err = flush(series);
    if (!err)
        err = series->failed = file_log_sync(&series->log);
    if (!err && rows)
        *rows = series->rows;
    return err;
}

/* ---------------------------------------------------------------- reading */

static uint64_t offset_of(const struct series *series, uint64_t row)
{
    return series->start + row * series_row_bytes(series);
}

int series_read_row(struct series *series, uint64_t index, void *row)
{
    int err = flush(series);
    if (!err && index >= series->rows)
        err = sph_fail_at(SPH_EARG, series->log.path, "row %llu, expected below %llu",
                          (unsigned long long)index, (unsigned long long)series->rows);
    return err ? err : file_log_read(&series->log, offset_of(series, index), row, series_row_bytes(series));
}

/* Narrow rows: as many whole ones as the buffer holds, the column's bytes moved together at its front. */
static int save_narrow(struct npz_writer **writer, const struct series *series, size_t column, char *buffer)
{
    size_t length = series_row_bytes(series), at = series->at[column], width = series->at[column + 1] - at;
    int err = 0;
    for (uint64_t row = 0; row < series->rows && width && !err;) {
        uint64_t left = series->rows - row;
        size_t count = left < PIECE / length ? (size_t)left : PIECE / length;
        if ((err = file_log_read(&series->log, offset_of(series, row), buffer, count * length)) < 0)
            break;
        for (size_t i = 0; i < count; i++)
            memmove(buffer + i * width, buffer + i * length + at, width);
        err = npz_writer_data(writer, buffer, count * width);
        row += count;
    }
    return err;
}

/* Wide rows: the column's bytes of each, piece by piece. */
static int save_wide(struct npz_writer **writer, const struct series *series, size_t column, char *buffer)
{
    int err = 0;
    for (uint64_t row = 0; row < series->rows && !err; row++)
        for (size_t at = series->at[column], end = series->at[column + 1]; at < end && !err;) {
            size_t piece = end - at < PIECE ? end - at : PIECE;
            if (!(err = file_log_read(&series->log, offset_of(series, row) + at, buffer, piece)))
                err = npz_writer_data(writer, buffer, piece);
            at += piece;
        }
    return err;
}

static int save_column(struct npz_writer **writer, const struct series *series, size_t column, char *buffer)
{
    struct npz_array array = array_of(&series->columns[column], series->rows);
    int err = npz_writer_array(writer, &array);
    if (err < 0)
        return err;
    return series_row_bytes(series) <= PIECE ? save_narrow(writer, series, column, buffer)
                                             : save_wide(writer, series, column, buffer);
}

int series_save_npz(const char *path, struct series *const *all, size_t count,
                    const struct npz_array *constants, size_t constant_count)
{
    struct npz_writer *writer = NULL;
    char *buffer = mem_get(PIECE, 1);
    int err = buffer ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++)
        err = flush(all[i]);
    if (!err)
        err = npz_writer_begin(&writer, path);
    for (size_t i = 0; i < count && !err; i++)
        for (size_t c = 0; c < all[i]->count && !err; c++)
            err = save_column(&writer, all[i], c, buffer);
    for (size_t i = 0; i < constant_count && !err; i++)
        if (!(err = npz_writer_array(&writer, &constants[i])))
            err = npz_writer_data(&writer, constants[i].bytes, npz_array_bytes(&constants[i]));
    if (!err)
        err = npz_writer_commit(&writer);
    npz_writer_abort(&writer);
    mem_free(buffer);
    return err;
}
