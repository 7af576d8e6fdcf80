/* SPDX-License-Identifier: MIT
 *
 * ONNX graphs of one net, and graphs to model files as `spherelu import` makes them. */
#ifndef SPH_TESTS_IMPORT_NET_H
#define SPH_TESTS_IMPORT_NET_H

#include "spherelu/job.h"

/* SPH_EFORMAT, too, if the graph has several nets. */
static inline int import_net(sph_net **out, const char *path, sph_imported *result)
{
    sph_net **nets = NULL;
    size_t count = 0;
    int err = sph_nets_import(&nets, &count, path, result);
    if (!err && count == 1) {
        *out = nets[0];
        nets[0] = NULL;
    } else if (!err)
        err = SPH_EFORMAT;
    sph_nets_free(nets, count);
    return err;
}

static inline int import_file(const char *in, const char *out, size_t *count, sph_imported *result)
{
    sph_net **nets = NULL;
    *count = 0;
    int err = sph_nets_import(&nets, count, in, result);
    if (!err)
        err = sph_nets_save(nets, *count, out);
    sph_nets_free(nets, *count);
    return err;
}

#endif
