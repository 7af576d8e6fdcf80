/* SPDX-License-Identifier: MIT
 *
 * The public face of a data set. */
#include "data/open.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "data/build.h"
#include "data/cache.h"
#include "data/images.h"

static const sph_data_opts usual = {.task = -1, .missing = SPH_MISSING_MEAN, .noise = (double)NAN};

void sph_data_defaults_sized(sph_data_opts *out, size_t size)
{
    sized_give(out, size, &usual, sizeof usual);
}

void data_note(sph_data *data, const char *format, ...)
{
    enum { MOST = 4000 }; /* characters: a table may have 100,000 columns to tell of */
    char line[400];
    if (data->notes.length > MOST)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_add_line(&data->notes, "%s", line);
    if (data->notes.length > MOST)
        text_add(&data->notes, "\nfurther notes of this kind are not shown");
}

void data_notes(const sph_data *data, struct text *out)
{
    if (data->notes.length)
        text_add_line(out, "%s", data->notes.chars);
    for (size_t i = 0; i < data->column_count; i++) {
        const struct column *column = &data->columns[i];
        if (column->kind == COLUMN_DATE && column->role == COLUMN_FEATURE)
            text_add_line(out,
                          "column '%s': dates, used as year, month, day of the week, %sdays since the first",
                          column->name, column->times ? "hour and " : "");
    }
}

void data_counts(const sph_data *data, struct text *out)
{
    if (data->counts.filled && data->column_count && !data->reading.made) {
        const char *comma = "";
        text_add_line(out, "%zu missing cell%s filled:", data->counts.filled,
                      data->counts.filled == 1 ? "" : "s");
        for (size_t i = 0; i < data->column_count; i++)
            if (data->columns[i].filled) {
                text_add(out, "%s %s %zu", comma, data->columns[i].name, data->columns[i].filled);
                comma = ",";
            }
    }
    if (data->counts.left_out && !data->image.pictures) {
        text_add_line(out, "%zu row%s left out:", data->counts.left_out,
                      data->counts.left_out == 1 ? "" : "s");
        if (data->counts.without_target)
            text_add(out, " %zu without a target", data->counts.without_target);
        if (data->counts.left_out > data->counts.without_target)
            text_add(out, "%s %zu with missing cells", data->counts.without_target ? "," : "",
                     data->counts.left_out - data->counts.without_target);
    }
    if (data->reading.like && data->notes.length)
        text_add_line(out, "%s", data->notes.chars);
}

/* ---------------------------------------------------------------- opening */

static int build(sph_data *data, const struct sheet *sheet, const sph_data_opts *opts)
{
    data->reading.missing = opts->missing;
    if (sheet->is_text && (unsigned char)opts->delimiter < 0x80) /* JSON holds no halves of characters */
        data->reading.delimiter = opts->delimiter;
    if (opts->missing_words && !(data->reading.missing_words = mem_text(opts->missing_words)))
        return SPH_EMEMORY;
    int err = columns_choose(data, sheet, opts);
    if (err < 0)
        return err;
    size_t *from = mem_get(data->column_count, sizeof *from);
    if (!from)
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count; i++)
        from[i] = i;
    err = fill_rows(data, sheet, from, 1, NULL);
    mem_free(from);
    data->test_from = sheet->test_from;
    data->reading.made = sheet->made;
    data->reading.known = sheet->set && sheet->set->target;
    return err;
}

static int read_table(sph_data **out, char **path, const char *source, const sph_data_opts *opts)
{
    struct sheet sheet;
    int err = sheet_open(&sheet, source, opts, &(struct sheet_hints){.need_targets = 1});
    if (err < 0)
        return err;
    sph_data *data = mem_get(1, sizeof *data);
    err = data ? build(data, &sheet, opts) : SPH_EMEMORY;
    if (!err) {
        *out = data;
        *path = sheet.path;
        sheet.path = NULL;
    } else {
        sph_data_free(data);
    }
    sheet_free(&sheet);
    return err;
}

int data_read(sph_data **out, char **path, const char *source, const sph_data_opts *opts)
{
    struct images_source images;
    if (!source || !*source)
        return sph_fail_key(SPH_EARG, "data", "no file or dataset is given");
    if (!strcmp(source, DATA_STDIN))
        return read_table(out, path, DATA_STDIN_PATH, opts);
    if (opts->task < -1 || opts->task >= (int)SPH_TASK_COUNT || (unsigned)opts->missing >= SPH_MISSING_COUNT)
        return sph_fail_key(SPH_EARG, "data", "unknown task or treatment of missing cells");
    if (opts->noise < 0 || isinf(opts->noise))
        return sph_fail_key(SPH_EARG, "noise", "%g, expected a number, 0 or more", opts->noise);
    int err = images_find(&images, source, 0);
    if (err <= 0)
        return err < 0 ? err : read_table(out, path, source, opts);
    if (images.pictures && !file_is_directory(images.path))
        err = sph_fail_at(SPH_EARG, source,
                          "a single image; training needs an image folder with one sub-folder per class");
    else
        err = images_open(out, &images, opts);
    if (!err) {
        *path = images.path;
        images.path = NULL;
    }
    images_free(&images);
    return err;
}

int sph_data_open(sph_data **out, const char *source, const sph_data_opts *opts)
{
    NEED(out, source);
    struct data_cache once = {0};
    sph_data_opts own = usual;
    int err = opts ? SIZED_TAKE(&own, opts, sph_data_opts) : 0;
    if (!err)
        err = data_cache_open(&once, out, source, &own);
    data_cache_free(&once);
    return err;
}
