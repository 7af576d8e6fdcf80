/* SPDX-License-Identifier: MIT
 *
 * Boundaries of a run, on the rows it was trained on or on others. */
#include "base/error.h"
#include "base/memory.h"
#include "job/tool.h"
#include "rows/feed.h"
#include "job/run.h"
#include "store/runfolder.h"

/* The data points of a run: its training rows, or all of another source. */
static int choose_rows(const sph_run *run, const sph_data *data, int own, sph_split *split)
{
    if (own)
        return runfolder_read_split(split, run->dir, data->rows);
    if (!(split->train = mem_get(data->rows, sizeof *split->train)))
        return SPH_EMEMORY;
    split->train_rows = data->rows;
    for (size_t i = 0; i < data->rows; i++)
        split->train[i] = (uint32_t)i;
    return 0;
}

int sph_run_boundaries(sph_boundaries **out, sph_run *run, size_t layer, const char *source, size_t rows)
{
    NEED(out, run);
    sph_data *data = NULL;
    sph_split split = {0};
    int err = run_check_single(run, "boundaries");
    if (err < 0 || (err = run_open_data(run, source, 0, &data)) < 0)
        return err;
    if (!(err = choose_rows(run, data, !source, &split)))
        err = sph_boundaries_new(out, run->net, layer, 1, data, split.train,
                                 rows && rows < split.train_rows ? rows : split.train_rows);
    sph_split_free(&split);
    sph_data_free(data);
    return err;
}
