/* SPDX-License-Identifier: MIT */
#include "engine.h"

/* out (m, 6) <- direction (2, of a net of one input the second is 0) and offset in the units of the data: the unit
 * switches where direction x + offset = 0; length of the weight; share of the training rows on the active side; state.
 * The last two need a pass over the data: census 0 leaves them out. Returns m; 0: the layer has no boundaries. */
int lines_of(const sph_net *net, int census, double *out)
{
    sph_boundaries *found = NULL;
    int err = sph_boundaries_new(&found, net, 0, 1, census ? world.data : NULL, world.split.train,
                                 census ? world.split.train_rows : 0);
    if (err < 0)
        return err;
    const sph_boundary *layer = &found->layer[0];
    int units = layer->kind == SPH_BOUNDARY_HYPERPLANE ? (int)layer->m : 0;
    for (int j = 0; j < units; j++, out += LINE_COLUMNS) {
        const double *direction = layer->direction + (size_t)j * layer->n;
        out[0] = direction[0];
        out[1] = layer->n > 1 ? direction[1] : 0;
        out[2] = layer->offset[j];
        out[3] = layer->norm[j];
        out[4] = layer->active_share[j];
        out[5] = layer->state[j];
    }
    sph_boundaries_free(found);
    return units;
}

EXPORT int pg_lines(int k, int census, double *out)
{
    return lines_of(world.method[k].net, census, out);
}

/* Units of all hidden layers that are active for no training row. */
EXPORT int pg_dead(int k)
{
    sph_boundaries *found = NULL;
    int dead = 0, err = sph_boundaries_new(&found, world.method[k].net, SPH_EVERY_LAYER, 0, world.data,
                                           world.split.train, world.split.train_rows);
    if (err < 0)
        return err;
    for (size_t i = 0; i < found->count; i++)
        for (size_t j = 0; found->layer[i].state && j < found->layer[i].m; j++)
            dead += found->layer[i].state[j] == SPH_UNIT_DEAD;
    sph_boundaries_free(found);
    return dead;
}
