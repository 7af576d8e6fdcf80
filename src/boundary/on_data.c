/* SPDX-License-Identifier: MIT
 *
 * Boundaries of a net and what the rows of a data set see of them. */
#include "base/error.h"
#include "boundary/boundaries.h"
#include "rows/feed.h"

int sph_boundaries_new(sph_boundaries **out, const sph_net *net, size_t layer, int raw, const sph_data *data,
                       const uint32_t *rows, size_t count)
{
    struct feed *feed = NULL;
    if (!data)
        return boundaries_new(out, net, layer, raw, NULL);
    if (data->features != sph_net_inputs(net))
        return sph_fail_of(SPH_EARG, "", 0, "data", "data with %zu features, and the net takes %zu",
                           data->features, sph_net_inputs(net));
    for (size_t i = 0; rows && i < count; i++)
        if (rows[i] >= data->rows)
            return sph_fail_of(SPH_EARG, "", 0, "rows", "row %lu of data with %zu rows",
                               (unsigned long)rows[i], data->rows);
    int err = feed_new(&feed, data, rows, rows ? count : data->rows, net);
    if (!err)
        err = boundaries_new(out, net, layer, raw, &feed->source);
    feed_free(feed);
    return err;
}
