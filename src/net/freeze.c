/* SPDX-License-Identifier: MIT */
#include "net/freeze.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* Whether the first `length` bytes of path are the name, or the beginning of it up to a dot. */
static int begins(const char *name, const char *path, size_t length)
{
    return !strncmp(name, path, length) && (!name[length] || name[length] == '.');
}

/* The paths of a name, "layer1", "layer1.0", ...: adds those that are new to the list. */
static int add_paths(char ***list, size_t *count, size_t *capacity, const char *name)
{
    for (size_t length = 1; length <= strlen(name); length++) {
        size_t known = 0;
        if (name[length] && name[length] != '.')
            continue;
        while (known < *count && !(strlen((*list)[known]) == length && begins(name, (*list)[known], length)))
            known++;
        if (known < *count)
            continue;
        if (!mem_reserve((void **)list, capacity, *count + 1, sizeof **list) ||
            !((*list)[*count] = mem_text_of(name, length)))
            return SPH_EMEMORY;
        ++*count;
    }
    return 0;
}

static int unknown(const sph_net *net, const char *path)
{
    char **paths = NULL;
    size_t count = 0, capacity = 0;
    int err = 0;
    for (size_t i = 0; i < net->tensor_count && !err; i++)
        if (net->tensors[i].view.learned)
            err = add_paths(&paths, &count, &capacity, net->tensors[i].view.name);
    const char *nearest = err ? NULL : text_nearest(path, (const char *const *)paths, count);
    if (!err && nearest)
        err = sph_fail_key(SPH_EARG, "freeze", "no trained tensor begins with '%.80s', did you mean '%s'?",
                           path, nearest);
    else if (!err)
        err =
            sph_fail_key(SPH_EARG, "freeze", "no trained tensor begins with '%.80s'; the layers are %s to %s",
                         path, net->layers[0].path, net->layers[net->layer_count - 1].path);
    mem_free_texts(paths, count);
    return err;
}

static int freeze_path(struct freeze *freeze, const sph_net *net, const char *path, size_t length)
{
    size_t found = 0;
    for (size_t i = 0; i < net->tensor_count; i++)
        if (net->tensors[i].view.learned && length && begins(net->tensors[i].view.name, path, length)) {
            freeze->tensor[i] = 1;
            found++;
        }
    if (found)
        return 0;
    char *alone = mem_text_of(path, length);
    int err = alone ? unknown(net, alone) : SPH_EMEMORY;
    mem_free(alone);
    return err;
}

/* Of each layer: what its tensors come to. */
static int sum_up(struct freeze *freeze, const sph_net *net)
{
    size_t left = 0;
    memset(freeze->weights, 1, net->layer_count);
    memset(freeze->still, 1, net->layer_count);
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        const struct net_layer *layer = &net->layers[tensor->layer];
        if (!tensor->view.learned || freeze->tensor[i])
            continue;
        left++;
        freeze->still[tensor->layer] = 0;
        for (size_t t = 0; t < layer->ops->tensors; t++)
            if (layer->raw[t] == tensor->at)
                freeze->weights[tensor->layer] = 0;
    }
    return left ? 0
                : sph_fail_key(SPH_EARG, "freeze", "all tensors are frozen, expected at least one to train");
}

int freeze_new(struct freeze **out, const sph_net *net, const char *paths)
{
    struct freeze *freeze = mem_get(1, sizeof *freeze);
    if (!freeze)
        return SPH_EMEMORY;
    freeze->tensor = mem_get(net->tensor_count, 1);
    freeze->weights = mem_get(net->layer_count, 1);
    freeze->still = mem_get(net->layer_count, 1);
    int err = freeze->tensor && freeze->weights && freeze->still ? 0 : SPH_EMEMORY;
    for (const char *path = paths; !err; path++) {
        path += strspn(path, " ");
        size_t length = strcspn(path, ","), end = length;
        while (end && path[end - 1] == ' ')
            end--;
        err = freeze_path(freeze, net, path, end);
        path += length;
        if (!*path)
            break;
    }
    if (!err)
        err = sum_up(freeze, net);
    if (err < 0)
        freeze_free(freeze);
    else
        *out = freeze;
    return err;
}

void freeze_free(struct freeze *freeze)
{
    if (!freeze)
        return;
    mem_free(freeze->tensor);
    mem_free(freeze->weights);
    mem_free(freeze->still);
    mem_free(freeze);
}
