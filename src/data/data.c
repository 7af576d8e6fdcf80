/* SPDX-License-Identifier: MIT
 *
 * The public face of a data set. */
#include "data/data.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/build.h"
#include "data/cache.h"
#include "data/images.h"

void sph_data_defaults(sph_data_opts *out)
{
    *out = (sph_data_opts){.task = -1, .missing = SPH_MISSING_MEAN, .noise = (double)NAN};
}

/* ---------------------------------------------------------------- opening */

static int build(sph_data *data, const struct sheet *sheet, const sph_data_opts *opts)
{
    data->missing = opts->missing;
    if (sheet->is_text && (unsigned char)opts->delimiter < 0x80) /* JSON holds no halves of characters */
        data->delimiter = opts->delimiter;
    int err = columns_choose(data, sheet, opts);
    if (err < 0)
        return err;
    size_t *from = mem_get(data->column_count, sizeof *from);
    if (!from)
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count; i++)
        from[i] = i;
    err = fill_rows(data, sheet, from, 1);
    mem_free(from);
    data->test_from = sheet->test_from;
    data->made = sheet->made;
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
        return sph_fail_key(SPH_EARG, "data", "no file or set is named");
    if (opts->task < -1 || opts->task >= (int)SPH_TASK_COUNT || (unsigned)opts->missing >= SPH_MISSING_COUNT)
        return sph_fail_key(SPH_EARG, "data",
                            "the task or the way to treat missing cells is not one of the known ones");
    if (opts->noise < 0 || isinf(opts->noise))
        return sph_fail_key(SPH_EARG, "noise", "%g, expected a number, 0 or more", opts->noise);
    int err = images_find(&images, source, 0);
    if (err <= 0)
        return err < 0 ? err : read_table(out, path, source, opts);
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
    struct data_cache once = {0};
    sph_data_opts defaults;
    sph_data_defaults(&defaults);
    int err = data_cache_open(&once, out, source, opts ? opts : &defaults);
    data_cache_free(&once);
    return err;
}
