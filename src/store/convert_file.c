/* SPDX-License-Identifier: MIT
 *
 * From file to file: open, convert, save. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "store/chain.h"
#include "store/model.h"
#include "store/runfolder.h"
#include "store/tool.h"
#include "store/torchvision.h"

static int convert_all(sph_net **nets, size_t count, const sph_convert_opts *opts)
{
    int err = 0;
    for (size_t k = 0; k < count && !err; k++) {
        sph_net *converted = NULL;
        if ((err = sph_net_convert(&converted, nets[k], opts->to, opts->flags)) < 0 && count > 1)
            sph_fail_in(err, "member %zu", k);
        if (err)
            break;
        sph_net_free(nets[k]);
        nets[k] = converted;
    }
    return err;
}

/* A file with a description. An ensemble stays one file: each member is converted. */
static int convert_net(const char *in, const char *out, const sph_convert_opts *opts, sph_converted *result)
{
    sph_net **nets = NULL;
    json_t *data = NULL;
    size_t count = 1;
    int err = model_open_members(&nets, &count, &data, in);
    if (!err && count > 1 && opts->names != SPH_NAMES_SPHERELU)
        err = sph_fail_of(SPH_EARG, out, 0, "names",
                          "an ensemble of %zu networks, but torchvision's names require a single network; "
                          "use --member or another --names",
                          count);
    if (!err && count == 1 && data)
        err = model_keep_data(nets, 1, data);
    if (!err && !(err = convert_all(nets, count, opts)))
        err = count > 1 ? model_save_members(out, nets, count, data)
                        : sph_net_save_as(nets[0], out, opts->names);
    json_decref(data);
    if (!err) {
        result->net = nets[0];
        nets[0] = NULL;
        result->members = count;
        result->layers = sph_net_layers(result->net);
        result->learned = count * sph_net_learned(result->net);
        result->dropped =
            opts->names != SPH_NAMES_SPHERELU &&
            (result->net->note || result->net->scaling.features || result->net->scaling.targets);
    }
    model_free_members(nets, count);
    return err;
}

/* A unit that is constant leaves that to the biases of the next layer, which may have had none. */
static int note_biases(struct chain *chain, const sph_net *net)
{
    double *values = mem_get(tensors_largest(net), sizeof *values);
    for (size_t i = 0; i < net->tensor_count && values; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        if (!chain_lacks(chain, tensor))
            continue;
        net_read_tensor(net, tensor, values);
        for (size_t j = 0; j < tensor->view.count; j++)
            chain->layer[tensor->layer].shape.has_bias |= values[j] != 0;
    }
    mem_free(values);
    return values ? 0 : SPH_EMEMORY;
}

/* A file like the one that was read: without a description, with its metadata and with the biases it had. */
static int convert_chain(const struct safetensors *file, const char *out, const sph_convert_opts *opts,
                         sph_converted *result)
{
    struct chain chain;
    sph_net *net = NULL, *converted = NULL;
    int err = chain_read(&chain, file);
    if (!err && opts->names != SPH_NAMES_SPHERELU)
        err = sph_fail_at(SPH_EFORMAT, file->path,
                          "a chain of dense layers, but torchvision's names require a resnet");
    if (!err && !(err = chain_open(&net, &chain, file)) &&
        (err = sph_net_convert(&converted, net, opts->to, opts->flags)) < 0)
        sph_fail_move(err, file->path, 0, 0);
    sph_net_free(net);
    if (!err && !(err = note_biases(&chain, converted)) &&
        !(err = model_save_chain(out, converted, &chain, file))) {
        result->net = converted;
        result->layers = chain.count;
        result->learned = sph_net_learned(converted);
        for (size_t i = 0; i < converted->tensor_count; i++)
            if (chain_lacks(&chain, &converted->tensors[i]))
                result->learned -= converted->tensors[i].view.count;
        chain_order(&chain, result->order, sizeof result->order);
    } else
        sph_net_free(converted);
    chain_free(&chain);
    return err;
}

static int convert_file(const char *in, const char *out, const sph_convert_opts *opts, sph_converted *result)
{
    struct safetensors file;
    sph_converted ignored;
    if (!result)
        result = &ignored;
    memset(result, 0, sizeof *result);
    if ((unsigned)opts->to >= SPH_PARAM_COUNT)
        return sph_fail_of(SPH_EARG, "", 0, "to", "unknown parameterization %d", (int)opts->to);
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

int sph_convert(const char *in, const char *out, const sph_convert_opts *opts, sph_converted *result)
{
    NEED(in, out, opts);
    if (!file_is_directory(in))
        return convert_file(in, out, opts, result);
    char *model = file_join(in, RUNFOLDER_MODEL);
    int err = model ? file_enter(in) : SPH_EMEMORY;
    if (!err) {
        err = convert_file(model, out, opts, result);
        file_leave(in);
    }
    mem_free(model);
    return err;
}
