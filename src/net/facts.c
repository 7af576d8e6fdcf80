/* SPDX-License-Identifier: MIT
 *
 * What a net is: sizes and layers, for those who look at one. */
#include "net/net.h"

int net_has_batch_statistic(const sph_net *net)
{
    for (size_t l = 0; l < net->layer_count; l++)
        if (net->layers[l].norm->batch)
            return 1;
    return 0;
}

sph_dtype sph_net_dtype(const sph_net *net)
{
    return net ? net->dtype : SPH_F32;
}

size_t sph_net_inputs(const sph_net *net)
{
    return net && net->node_count ? node_features(&net->nodes[0]) : 0;
}

size_t sph_net_outputs(const sph_net *net)
{
    return !net || net->output < 0 ? 0 : node_features(&net->nodes[net->output]);
}

size_t sph_net_layers(const sph_net *net)
{
    return net ? net->layer_count : 0;
}

size_t sph_net_learned(const sph_net *net)
{
    return net ? net->learned : 0;
}

const sph_layer *sph_net_layer(const sph_net *net, size_t k, size_t *inputs)
{
    if (!net || k >= net->layer_count)
        return NULL;
    struct net_layer *layer = &net->layers[k];
    layer->spec.path = layer->path; /* the array may have moved while the net grew */
    if (inputs)
        *inputs = layer->shape.n;
    return &layer->spec;
}
