/* SPDX-License-Identifier: MIT
 *
 * Another file, read by the columns of a schema: as the network that was trained on them takes it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/text.h"
#include "data/build.h"
#include "data/images.h"
#include "data/registry.h"

/* ---------------------------------------------------------------- which column is which */

/* 1: the schema has a column NAME.1 too. names (column_count) are its, in bytewise order. */
static int schema_repeats(const sph_data *data, const char *const *names, const char *name)
{
    char *second = mem_format("%s.1", name);
    if (!second)
        return SPH_EMEMORY;
    int found = bsearch(&second, names, data->column_count, sizeof *names, by_text) != NULL;
    mem_free(second);
    return found;
}

static int is_needed(const struct column *column, int with_targets)
{
    return column->role != COLUMN_DROPPED && (column->role != COLUMN_TARGET || with_targets);
}

/* Names all columns that the table lacks, and the table's column that has nearly the name of the first. */
static int no_column(const sph_data *data, const struct sheet *sheet, size_t first, int with_targets)
{
    const char *name = data->columns[first].name;
    const char *near = text_nearest(name, (const char *const *)sheet->names, sheet->columns);
    struct text lacks = {0};
    size_t count = 0;
    char list[200];
    for (size_t i = first; i < data->column_count; i++)
        if (is_needed(&data->columns[i], with_targets) && sheet_find(sheet, data->columns[i].name) < 0)
            text_add(&lacks, "%s'%s'", count++ ? ", " : "", data->columns[i].name);
    if (lacks.failed)
        return SPH_EMEMORY;
    int err = sph_fail_of(SPH_EFORMAT, sheet->path, 0, name, "no %scolumn%s %.300s%s%s%s; the columns are %s",
                          data->columns[first].role == COLUMN_TARGET ? "target " : "", count > 1 ? "s" : "",
                          lacks.chars, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "",
                          targets_list(sheet->names, sheet->columns, list, sizeof list));
    text_free(&lacks);
    return err;
}

static int match_sorted(const sph_data *data, const struct sheet *sheet, const char *const *names,
                        size_t *from, int with_targets)
{
    for (size_t i = 0; i < data->column_count; i++) {
        const struct column *column = &data->columns[i];
        if (!is_needed(column, with_targets))
            continue;
        ptrdiff_t found = sheet_find(sheet, column->name);
        if (found < 0)
            return no_column(data, sheet, i, with_targets);
        int repeats = sheet->repeat[found] > 1 ? schema_repeats(data, names, column->name) : 1;
        if (repeats < 0)
            return repeats;
        if (!repeats)
            return sph_fail_of(SPH_EFORMAT, sheet->path, 0, column->name,
                               "%zu columns are named '%s', expected one", sheet->repeat[found],
                               column->name);
        from[i] = (size_t)found;
    }
    return 0;
}

static int match_names(const sph_data *data, const struct sheet *sheet, size_t *from, int with_targets)
{
    const char **names = mem_get(data->column_count, sizeof *names);
    if (!names)
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count; i++)
        names[i] = data->columns[i].name;
    qsort(names, data->column_count, sizeof *names, by_text);
    int err = match_sorted(data, sheet, names, from, with_targets);
    mem_free(names);
    return err;
}

/* What a table without names may hold. */
struct layout {
    int dropped, targets;
    const char *name;
};

/* Places the columns of a layout; returns how many there are. */
static size_t lay_out(const sph_data *data, const struct layout *layout, size_t *from)
{
    size_t at = 0;
    for (size_t i = 0; i < data->column_count; i++) {
        enum column_role role = data->columns[i].role;
        int present = role == COLUMN_FEATURE || (role == COLUMN_TARGET ? layout->targets : layout->dropped);
        from[i] = present ? at++ : SIZE_MAX;
    }
    return at;
}

static int same_features(const sph_data *data, const size_t *a, const size_t *b)
{
    for (size_t i = 0; i < data->column_count; i++)
        if (data->columns[i].role == COLUMN_FEATURE && a[i] != b[i])
            return 0;
    return 1;
}

static int match_positions(const sph_data *data, const struct sheet *sheet, size_t *from, int with_targets)
{
    const char *many = data->targets > 1 ? "all but the targets" : "all but the target";
    const struct layout layouts[] = {
        {1, 1, "all"}, {0, 1, "all but the dropped ones"}, {1, 0, many}, {0, 0, "features"}};
    const struct layout *found = NULL;
    size_t have = sheet->columns, features = 0;
    size_t *other = mem_get(data->column_count, sizeof *other);
    int err = other ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < 4 && !err; i++) {
        size_t count = lay_out(data, &layouts[i], other);
        features = count; /* at last */
        if (count != have || (with_targets && !layouts[i].targets))
            continue;
        if (!found) {
            found = &layouts[i];
            memcpy(from, other, data->column_count * sizeof *from);
        } else if (!same_features(data, from, other))
            err = sph_fail_at(
                SPH_EFORMAT, sheet->path,
                "%zu columns can be %s or %s; give the file %sall %zu columns or only the features", have,
                layouts[i].name, found->name, data->reading.named ? "a header, " : "", data->column_count);
    }
    mem_free(other);
    if (err || found)
        return err;
    char alone[64] = "";
    if (!with_targets)
        snprintf(alone, sizeof alone, " or only the %zu features", features);
    return sph_fail_at(SPH_EFORMAT, sheet->path,
                       "%zu column%s, expected the %zu columns of the training data%s", have,
                       have == 1 ? "" : "s", data->column_count, alone);
}

/* ---------------------------------------------------------------- opening */

static int open_images(sph_data *data, const char *source, const json_t *schema, int need_targets,
                       const sph_data_opts *how)
{
    struct images_source images = {0};
    int err = schema_read(data, schema);
    if (!err)
        err = images_find(&images, source, 1);
    if (!err)
        err = file_exists(source) || registry_find(source)
                  ? sph_fail_at(SPH_EFORMAT, source,
                                "not a dataset of images; the model expects images of %zu x %zu x %zu",
                                data->image.channels, data->image.height, data->image.width)
                  : sph_fail_at(SPH_EIO, source, "no such file or folder, and not a built-in dataset");
    if (err > 0)
        err = images_open_like(data, &images, need_targets, how);
    images_free(&images);
    return err;
}

static int expected_names(const sph_data *data, const char ***out, size_t *count)
{
    *out = mem_get(data->column_count, sizeof **out);
    if (!*out)
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count; i++)
        (*out)[i] = data->columns[i].name;
    *count = data->reading.named ? data->column_count : 0;
    return 0;
}

static int read_sheet(sph_data *data, const struct sheet *sheet, int with_targets, const char *keep,
                      const struct data_refusal *refusal)
{
    size_t *from = mem_get(data->column_count, sizeof *from);
    if (!from)
        return SPH_EMEMORY;
    int err = data->reading.named && sheet->named ? match_names(data, sheet, from, with_targets)
                                                  : match_positions(data, sheet, from, with_targets);
    if (!err && data->reading.named && !sheet->named && sheet->is_text)
        data_note(data,
                  "the file has no header; its columns are those of the training data in the same order");
    if (!err)
        err = columns_place(data, sheet->path);
    if (!err)
        err = fill_rows(data, sheet, from, with_targets, refusal);
    if (!err && keep)
        err = columns_keep(data, sheet, keep);
    mem_free(from);
    return err;
}

static int open_sheet(sph_data *data, const char *source, const json_t *schema, int need_targets,
                      const sph_data_opts *how, const struct data_refusal *refusal)
{
    sph_data_opts opts;
    sph_data_defaults(&opts);
    struct sheet sheet = {0};
    const char **expected = NULL;
    size_t expected_count = 0;
    int err = schema_read(data, schema);
    if (!err)
        err = expected_names(data, &expected, &expected_count);
    opts.delimiter = data ? data->reading.delimiter : 0;
    opts.missing_words = data ? data->reading.missing_words : NULL;
    if (!err)
        err = sheet_open(&sheet, source, &opts,
                         &(struct sheet_hints){.need_targets = need_targets,
                                               .expected = expected,
                                               .expected_count = expected_count});
    if (!err) {
        sheet_keep_test_part(&sheet);
        data->reading.refuse_unseen = how->strict;
        data->reading.like = 1;
        for (size_t i = 0; i < data->column_count; i++)
            data->columns[i].filled = 0; /* those of training */
        err = read_sheet(data, &sheet, need_targets, how->keep, refusal);
        sheet_free(&sheet);
    }
    mem_free(expected);
    return err;
}

int data_open_like(sph_data **out, const char *source, const json_t *schema, int need_targets,
                   const sph_data_opts *how)
{
    sph_data_opts usual;
    sph_data_defaults(&usual);
    how = how ? how : &usual;
    *out = NULL;
    if (!strcmp(source, DATA_STDIN))
        source = DATA_STDIN_PATH;
    sph_data *data = mem_get(1, sizeof *data);
    if (!data)
        return SPH_EMEMORY;
    int err = json_object_get(schema, "images") ? open_images(data, source, schema, need_targets, how)
                                                : open_sheet(data, source, schema, need_targets, how, NULL);
    if (err < 0) {
        sph_data_free(data);
        return err;
    }
    *out = data;
    return 0;
}

int data_refuse(const char *source, const json_t *schema, int need_targets, const sph_data_opts *how,
                const struct data_refusal *refusal)
{
    sph_data *data = strcmp(source, DATA_STDIN) != 0 ? mem_get(1, sizeof *data) : NULL;
    if (!strcmp(source, DATA_STDIN))
        return 0;
    int err = data ? open_sheet(data, source, schema, need_targets, how, refusal) : SPH_EMEMORY;
    sph_data_free(data);
    return err;
}
