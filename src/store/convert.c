/* SPDX-License-Identifier: MIT
 *
 * From file to file: through a net where the file says or shows what net it is, else as a chain. */
#include <string.h>

#include "base/error.h"
#include "store/chain.h"
#include "store/model.h"
#include "store/torchvision.h"

static int convert_net(const char *in, const char *out, const sph_convert_opts *opts, sph_converted *result)
{
    sph_net *net = NULL, *converted = NULL;
    int err = sph_net_open(&net, in);
    if (!err)
        err = sph_net_convert(&converted, net, opts->to, opts->flags);
    sph_net_free(net);
    if (!err)
        err = sph_net_save_as(converted, out, opts->names);
    if (err < 0) {
        sph_net_free(converted);
        return err;
    }
    result->net = converted;
    result->layers = sph_net_layers(converted);
    result->learned = sph_net_learned(converted);
    result->dropped = opts->names != SPH_NAMES_SPHERELU &&
                      (converted->note || converted->scaling.features || converted->scaling.targets);
    return 0;
}

static int convert_chain(const struct safetensors *file, const char *out, const sph_convert_opts *opts,
                         sph_converted *result)
{
    struct chain chain;
    int err = chain_read(&chain, file);
    if (err < 0)
        return err;
    if (opts->names != SPH_NAMES_SPHERELU)
        err = sph_fail_at(SPH_EFORMAT, file->path,
                          "a chain of dense layers, and torchvision's names are for its resnets");
    if (!err)
        err = chain_convert(file, &chain, out, opts->to, opts->threads < 1 ? 1 : (size_t)opts->threads,
                            &result->learned);
    result->layers = chain.count;
    chain_order(&chain, result->order, sizeof result->order);
    chain_free(&chain);
    return err;
}

int sph_convert(const char *in, const char *out, const sph_convert_opts *opts, sph_converted *result)
{
    struct safetensors file;
    sph_converted ignored;
    if (!result)
        result = &ignored;
    memset(result, 0, sizeof *result);
    if ((unsigned)opts->to >= SPH_PARAM_COUNT)
        return sph_fail(SPH_EARG, "unknown parameterization %d", (int)opts->to);
    int err = safetensors_open(&file, in);
    if (err < 0)
        return err;
    if (safetensors_metadata(&file, MODEL_METADATA) || torchvision_recognise(&file))
        err = convert_net(in, out, opts, result);
    else
        err = convert_chain(&file, out, opts, result);
    safetensors_close(&file);
    if (result == &ignored)
        sph_net_free(ignored.net);
    return err;
}
