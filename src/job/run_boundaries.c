/* SPDX-License-Identifier: MIT
 *
 * Boundaries of a run, on the rows it was trained on or on others. */
#include "base/error.h"
#include "base/memory.h"
#include "job/run.h"
#include "job/tool.h"

int sph_run_boundaries(sph_boundaries **out, sph_run *run, size_t layer, const char *source, size_t rows)
{
    NEED(out, run);
    sph_data *data = NULL;
    uint32_t *all = NULL; /* rows of another source */
    int err = run_check_single(run, "boundaries");
    if (err < 0 || (err = run_open_data(run, source, 0, &data)) < 0)
        return err;
    if (source)
        err = (all = mem_get(data->rows, sizeof *all)) ? 0 : SPH_EMEMORY;
    else
        err = run_own_split(run);
    size_t count = source ? data->rows : run->split.train_rows;
    for (size_t i = 0; i < count && source && !err; i++)
        all[i] = (uint32_t)i;
    if (!err)
        err = sph_boundaries_new(out, run->net, layer, 1, data, source ? all : run->split.train,
                                 rows && rows < count ? rows : count);
    mem_free(all);
    sph_data_free(data);
    return err;
}
