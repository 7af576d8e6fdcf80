/* SPDX-License-Identifier: MIT
 *
 * What the tests of linear regions share: a net of one hidden layer by hand, and its regions. */
#ifndef SPH_TESTS_REGIONS_BY_HAND_H
#define SPH_TESTS_REGIONS_BY_HAND_H

#include "support.h"

#include "spherelu.h"

/* One hidden layer by hand: w (units, inputs), b (units), v (units), c: y = v relu(w x + b) + c. */
SUPPORT sph_net *by_hand(size_t inputs, size_t units, const double *w, const double *b, const double *v,
                         double c)
{
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = dense(net, sph_net_input(net, inputs), units, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 0);
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, units * inputs), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", b, units), 0);
    assert_int_equal(sph_net_set(net, "layers.1.weight", v, units), 0);
    assert_int_equal(sph_net_set(net, "layers.1.bias", &c, 1), 0);
    return net;
}

/* In the window [-1, 1] x [-1, 1]; frees the net. */
SUPPORT sph_regions *cut(sph_net *net, sph_task task)
{
    sph_regions_opts opts = {.size = sizeof opts};
    sph_regions *regions = NULL;
    opts.task = task;
    assert_int_equal(sph_regions_new(&regions, net, &opts), 0);
    sph_net_free(net);
    return regions;
}

static const double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, none[8] = {0};

#endif
