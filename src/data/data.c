/* SPDX-License-Identifier: MIT
 *
 * The public face of a data set. */
#include "data/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/build.h"
#include "data/images.h"
#include "data/levels.h"

void sph_data_defaults(sph_data_opts *out)
{
    *out = (sph_data_opts){.task = -1, .missing = SPH_MISSING_MEAN, .noise = (double)NAN};
}

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
    if (!err && opts->rows && !sheet->made)
        err = fill_choose_rows(data, sheet->path, opts->rows, opts->seed);
    return err < 0 ? err : targets_settle(data, sheet->path, opts->task);
}

int sph_data_open(sph_data **out, const char *source, const sph_data_opts *opts)
{
    sph_data_opts defaults;
    sph_data_defaults(&defaults);
    struct images_source images;
    struct sheet sheet;
    *out = NULL;
    if (!source || !*source)
        return sph_fail_key(SPH_EARG, "data", "no file or set is named");
    if (!opts)
        opts = &defaults;
    if (opts->task < -1 || opts->task >= (int)SPH_TASK_COUNT || (unsigned)opts->missing >= SPH_MISSING_COUNT)
        return sph_fail_key(SPH_EARG, "data",
                            "the task or the way to treat missing cells is not one of the known ones");
    if (opts->noise < 0 || isinf(opts->noise))
        return sph_fail_key(SPH_EARG, "noise", "%g, expected a number, 0 or more", opts->noise);
    int err = images_find(&images, source, 0);
    if (err > 0) {
        err = images_open(out, &images, opts);
        images_free(&images);
        return err;
    }
    if (!err)
        err = sheet_open(&sheet, source, opts, 1, NULL, 0);
    if (err < 0)
        return err;
    sph_data *data = mem_get(1, sizeof *data);
    err = data ? build(data, &sheet, opts) : SPH_EMEMORY;
    sheet_free(&sheet);
    if (err < 0) {
        sph_data_free(data);
        return err;
    }
    *out = data;
    return 0;
}
