/* SPDX-License-Identifier: MIT
 *
 * Boundaries of a net on a data set, and of a run on the rows it was trained on or on others. */
#include "base/error.h"
#include "boundary/boundaries.h"
#include "data/feed.h"
#include "experiment/run.h"
#include "store/runfolder.h"

int sph_boundaries_new(sph_boundaries **out, const sph_net *net, size_t layer, int raw, const sph_data *data,
                       const uint32_t *rows, size_t count)
{
    struct feed *feed = NULL;
    if (!data)
        return boundaries_new(out, net, layer, raw, NULL);
    if (data->features != sph_net_inputs(net))
        return sph_fail(SPH_EARG, "data with %zu features, and the net takes %zu", data->features,
                        sph_net_inputs(net));
    for (size_t i = 0; rows && i < count; i++)
        if (rows[i] >= data->rows)
            return sph_fail(SPH_EARG, "row %lu of data with %zu rows", (unsigned long)rows[i], data->rows);
    int err = feed_new(&feed, data, rows, rows ? count : data->rows, net);
    if (!err)
        err = boundaries_new(out, net, layer, raw, &feed->source);
    feed_free(feed);
    return err;
}

int sph_run_boundaries(sph_boundaries **out, sph_run *run, size_t layer, const char *source)
{
    sph_data *data = NULL;
    sph_split split = {0};
    int err = run_open_data(run, source, 0, &data);
    if (err < 0)
        return err;
    if (data->features != sph_net_inputs(run->net))
        err = sph_fail(SPH_EFORMAT, "%s: found %zu features, expected %zu: the data changed since the run",
                       run->job->options.data, data->features, sph_net_inputs(run->net));
    else if (source)
        err = sph_boundaries_new(out, run->net, layer, 1, data, NULL, 0);
    else if (!(err = runfolder_read_split(&split, run->dir, data->rows)))
        err = sph_boundaries_new(out, run->net, layer, 1, data, split.train, split.train_rows);
    sph_split_free(&split);
    sph_data_free(data);
    return err;
}
