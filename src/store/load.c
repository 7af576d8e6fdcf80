/* SPDX-License-Identifier: MIT
 *
 * Loading the tensors of a file into an existing net. */
#include <string.h>

#include "base/error.h"
#include "net/net.h"
#include "store/architecture.h"
#include "store/model.h"
#include "store/safetensors.h"
#include "store/tensors.h"
#include "store/torchvision.h"

/* Beyond names and shapes: strides, activations and normalizations of the description must be those of the net. The output layer, the
 * precision and the size of images may differ. */
static int check_body(const struct safetensors *file, json_t *description, const sph_net *net)
{
    json_t *here = NULL, *there = json_object_get(description, "architecture");
    json_t *nodes = json_object_get(there, "nodes");
    char difference[256];
    int err = there ? architecture_of(&here, net) : 0;
    if (!err && there) {
        json_t *ours = json_object_get(here, "nodes");
        size_t last = (size_t)net->output;
        const char *path = json_string_value(json_object_get(json_array_get(nodes, last), "path"));
        int failed = json_object_set(there, "dtype", json_object_get(here, "dtype"));
        if (json_object_get(json_array_get(nodes, 0), "height"))
            failed |= json_array_set(nodes, 0, json_array_get(ours, 0));
        if (path && !strcmp(path, net->layers[net->nodes[last].layer].path))
            failed |= json_array_set(nodes, last, json_array_get(ours, last));
        if (failed)
            err = sph_fail_at(SPH_EMEMORY, file->path, "out of memory");
        else if (architecture_difference(there, here, difference, sizeof difference))
            err = sph_fail_at(SPH_EFORMAT, file->path,
                              "the networks differ in more than the output layer: %s", difference);
    }
    json_decref(here);
    return err;
}

static int load(sph_net *net, const char *path, int new_head)
{
    if (!net->ready)
        return sph_fail_at(SPH_EARG, path, "the network is not ready; call sph_net_ready first");
    const struct net_node *last = &net->nodes[net->output];
    if (new_head && last->kind != NODE_DENSE && last->kind != NODE_CONV)
        return sph_fail_at(SPH_EARG, path, "the network does not end in a layer that could be replaced");
    struct safetensors file;
    json_t *description = NULL;
    int err = safetensors_open(&file, path);
    if (err < 0)
        return err;
    const struct tensor_names *names = torchvision_recognise(&file) ? &torchvision_names : NULL;
    const char *text = safetensors_metadata(&file, MODEL_METADATA);
    int but = new_head ? (int)last->layer : -1;
    if (text)
        err = json_parse(&description, path, text, strlen(text));
    if (!err && json_object_get(description, MODEL_MEMBERS))
        err = sph_fail_at(SPH_EFORMAT, path, "an ensemble, expected a single network");
    if (!err)
        err = architecture_same_angles(json_object_get(description, "architecture"), net, path);
    if (!err && new_head && !(err = tensors_fit(net, &file, 0, names, but)))
        err = check_body(&file, description, net);
    if (!err)
        err = tensors_take(net, &file, 0, names, but);
    json_decref(description);
    safetensors_close(&file);
    return err;
}

int sph_net_load_tensors(sph_net *net, const char *path)
{
    NEED(net, path);
    return load(net, path, 0);
}

int sph_net_load_body(sph_net *net, const char *path)
{
    NEED(net, path);
    return load(net, path, 1);
}
