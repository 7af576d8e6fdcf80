/* SPDX-License-Identifier: MIT
 *
 * A kind of network is one row of one table: its name and help are in SPH_NETS of spherelu/base.h, the rest
 * is here. Code that builds networks by name uses the row and does not compare names. */
#ifndef SPH_NET_ZOO_H
#define SPH_NET_ZOO_H

#include "spherelu/net.h"

struct net_kind {
    int (*make)(sph_net **out,
                const sph_image_net *spec); /* NULL: not for images, of hidden layers: sph_net_mlp */
    int stems;                              /* it has a stem to choose */
    size_t batch;                           /* rows of a training step unless somebody says otherwise */
    double lr;                              /* adam's, likewise; 0: the optimizer's own */
    struct {
        size_t size, batch, classes; /* what a measurement takes: images of size x size */
    } bench;
};

/* The makers of the rows; spec is whole. sph_net_zoo is for callers. */
int sph_net_vgg6(sph_net **out, const sph_image_net *spec);
int sph_net_resnet18(sph_net **out, const sph_image_net *spec);
int sph_net_resnet50(sph_net **out, const sph_image_net *spec);
int sph_net_wrn28_2(sph_net **out, const sph_image_net *spec);
int sph_net_mobile(sph_net **out, const sph_image_net *spec);

/* What auto stands for in images of this size. */
sph_stem net_stem(sph_stem stem, size_t height, size_t width);

/* The row of a kind; never NULL. */
const struct net_kind *net_kind(sph_net_kind kind);

#endif
