/* SPDX-License-Identifier: MIT */
#include "store/chain.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---------------------------------------------------------------- layers */

static const char *leaf_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* PATH.leaf, or leaf alone where a file holds one layer without a name; NULL where there is none. */
static int find_leaf(const struct safetensors *file, const char *path, const char *leaf,
                     const struct st_tensor **out)
{
    char *name = mem_format("%s%s%s", path, *path ? "." : "", leaf);
    if (!name)
        return SPH_EMEMORY;
    *out = safetensors_find(file, name);
    mem_free(name);
    return 0;
}

/* The row whose weights, angles or fixed signs this tensor holds; -1: none, it is something else. */
static int leads(const struct st_tensor *tensor)
{
    const char *leaf = leaf_of(tensor->name);
    for (int p = 0; p < SPH_PARAM_COUNT; p++) {
        const struct param_ops *ops = param_ops((sph_param)p);
        if (!strcmp(leaf, ops->tensor[0].name) || (ops->has_sign && !strcmp(leaf, "sign")))
            return p;
    }
    return -1;
}

static int fill_shape(struct chain_layer *layer, const struct st_tensor *lead, int signs)
{
    enum param_extent extent = param_ops(layer->param)->tensor[0].extent;
    size_t ndim = signs ? 1 : 2;
    if (lead->ndim != ndim)
        return sph_fail_of(SPH_EFORMAT, lead->file, 0, lead->name, "%.120s has %zu dimensions, expected %s",
                           lead->name, lead->ndim, signs ? "1: units" : "2: units and inputs");
    layer->shape = (struct param_shape){.m = lead->shape[0], .n = signs ? 1 : lead->shape[1]};
    if (!signs && extent == PARAM_ANGLES)
        layer->shape.n++;
    if (!lead->count)
        return sph_fail_of(SPH_EFORMAT, lead->file, 0, lead->name,
                           "%.120s is empty: a layer has at least one unit and one input", lead->name);
    return 0;
}

/* The layer that the tensor leads, with all that belongs to it; each tensor it takes is marked in known. */
static int read_layer(struct chain_layer *layer, const struct safetensors *file, const struct st_tensor *lead,
                      int param, char *known)
{
    const struct param_ops *ops = param_ops((sph_param)param);
    const char *leaf = leaf_of(lead->name);
    int signs = ops->has_sign && !strcmp(leaf, "sign"), err;
    layer->param = (sph_param)param;
    layer->path = mem_text_of(lead->name, leaf == lead->name ? 0 : (size_t)(leaf - lead->name - 1));
    if (!layer->path)
        return SPH_EMEMORY;
    if ((err = fill_shape(layer, lead, signs)) < 0)
        return err;
    if (signs)
        layer->sign = lead;
    layer->shape.has_bias = 1;
    for (size_t t = 0; t < ops->tensors; t++) {
        if (!param_per_unit(ops, t, &layer->shape))
            continue;
        if ((err = find_leaf(file, layer->path, ops->tensor[t].name, &layer->raw[t])) < 0)
            return err;
        if (!layer->raw[t] && !ops->tensor[t].is_bias)
            return sph_fail_of(SPH_EFORMAT, file->path, 0, lead->name, "%.120s exists, but %s is missing",
                               lead->name, ops->tensor[t].name);
    }
    layer->shape.has_bias = layer->raw[param_find_bias(ops)] != NULL;

    const struct st_tensor *all[PARAM_TENSORS + 1] = {layer->raw[0], layer->raw[1], layer->raw[2],
                                                      layer->sign};
    layer->dtype = SPH_F32;
    for (size_t t = 0; t <= PARAM_TENSORS; t++) {
        if (!all[t])
            continue;
        size_t shape[2] = {layer->shape.m, lead->ndim == 2 ? lead->shape[1] : 0};
        if ((err = tensors_check_shape(all[t], shape, all[t] == lead ? lead->ndim : 1)) < 0)
            return err;
        if (all[t]->dtype == ST_F64)
            layer->dtype = SPH_F64;
        known[all[t] - file->tensor] = 1;
    }
    return 0;
}

static int read_layers(struct chain *chain, const struct safetensors *file, char *known)
{
    for (size_t i = 0; i < file->count; i++) {
        int param = leads(&file->tensor[i]), err;
        if (param < 0)
            continue;
        if ((err = read_layer(&chain->layer[chain->count++], file, &file->tensor[i], param, known)) < 0)
            return err;
    }
    for (size_t i = 0; i < file->count; i++)
        if (!known[i])
            return sph_fail_at(SPH_EFORMAT, file->path,
                               "no spherelu metadata, and not only dense layers (PATH.weight, PATH.bias): it "
                               "contains %.120s",
                               file->tensor[i].name);
    return chain->count
               ? 0
               : sph_fail_at(
                     SPH_EFORMAT, file->path,
                     "no spherelu metadata and no dense layers (PATH.weight, PATH.bias): the file is empty");
}

/* ---------------------------------------------------------------- their order */

/* As strcmp, but digits in a row are one number: 2 before 10. */
static int compare_paths(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0");
            b += strspn(b, "0");
            size_t digits_a = strspn(a, "0123456789"), digits_b = strspn(b, "0123456789");
            int order = digits_a != digits_b ? (digits_a < digits_b ? -1 : 1) : strncmp(a, b, digits_a);
            if (order)
                return order;
            a += digits_a;
            b += digits_b;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int compare_layers(const void *a, const void *b)
{
    const struct chain_layer *la = a, *lb = b;
    int order = compare_paths(la->path, lb->path);
    return order ? order : strcmp(la->path, lb->path);
}

/* Where the layer's weights, angles or signs lie: what "the file's order" is about. */
static const struct st_tensor *lead_of(const struct chain_layer *layer)
{
    return layer->raw[0] ? layer->raw[0] : layer->sign;
}

static int compare_places(const void *a, const void *b)
{
    const struct st_tensor *ta = lead_of(a), *tb = lead_of(b);
    return ta < tb ? -1 : ta > tb;
}

/* Equal but for numbers. */
static int same_words(const char *a, const char *b)
{
    for (;;) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0123456789");
            b += strspn(b, "0123456789");
        }
        if (*a != *b)
            return 0;
        if (!*a)
            return 1;
        a++;
        b++;
    }
}

/* chain's layers are in the file's order. */
static int numbers_count(const struct chain *chain)
{
    int words = 1, sorted = 1;
    for (size_t k = 1; k < chain->count; k++) {
        const struct chain_layer *before = &chain->layer[k - 1], *layer = &chain->layer[k];
        words &= same_words(before->path, layer->path);
        /* Python's writer puts wider dtypes first, then goes by name. */
        sorted &= lead_of(before)->dtype != lead_of(layer)->dtype || strcmp(before->path, layer->path) < 0;
    }
    return words || sorted;
}

/* The first layer that does not fit the one before, or the number of layers. */
static size_t first_gap(const struct chain *chain)
{
    size_t k = 1;
    while (k < chain->count && chain->layer[k].shape.n == chain->layer[k - 1].shape.m)
        k++;
    return k;
}

static int put_in_order(struct chain *chain, const struct safetensors *file)
{
    int (*const orders[2])(const void *, const void *) = {compare_places, compare_layers};
    int first = numbers_count(chain);
    qsort(chain->layer, chain->count, sizeof *chain->layer, compare_layers);
    for (size_t k = 1; k < chain->count; k++)
        if (!strcmp(chain->layer[k].path, chain->layer[k - 1].path))
            return sph_fail_of(SPH_EFORMAT, file->path, 0, lead_of(&chain->layer[k - 1])->name,
                               "%.120s and %.120s, expected one parameterization of a layer",
                               lead_of(&chain->layer[k - 1])->name, lead_of(&chain->layer[k])->name);
    for (int i = 0; i < 2; i++) {
        qsort(chain->layer, chain->count, sizeof *chain->layer, orders[first ^ i]);
        if (first_gap(chain) == chain->count)
            return 0;
    }
    qsort(chain->layer, chain->count, sizeof *chain->layer, orders[first]);
    const struct chain_layer *layer = &chain->layer[first_gap(chain)];
    return sph_fail_of(SPH_EFORMAT, file->path, 0, layer->path,
                       "not a chain of dense layers: %.80s has %zu inputs, %.80s before it %zu units",
                       layer->path, layer->shape.n, layer[-1].path, layer[-1].shape.m);
}

/* ---------------------------------------------------------------- the chain */

int chain_read(struct chain *out, const struct safetensors *file)
{
    *out = (struct chain){.layer = mem_get(file->count, sizeof *out->layer)};
    char *known = out->layer ? mem_get(file->count, 1) : NULL;
    int err = known ? read_layers(out, file, known) : SPH_EMEMORY;
    mem_free(known);
    if (!err)
        err = put_in_order(out, file);
    for (size_t k = 0; k < out->count && !err; k++)
        if (out->layer[k].dtype == SPH_F64)
            out->dtype = SPH_F64;
    if (err < 0)
        chain_free(out);
    return err;
}

/* What a tensor is called in the file: a layer without a path has no dot before its tensors. */
static void name_tensor(const sph_net *net, const struct net_tensor *tensor, char out[static TENSOR_NAME])
{
    (void)net;
    snprintf(out, TENSOR_NAME, "%s", tensor->view.name + (*tensor->view.name == '.'));
}

int chain_open(sph_net **out, const struct chain *chain, const struct safetensors *file)
{
    sph_net *net = NULL;
    int err = sph_net_new(&net, chain->dtype);
    if (err < 0)
        return err;
    int node = sph_net_input(net, chain->layer[0].shape.n);
    for (size_t k = 0; k < chain->count && node >= 0; k++)
        node = sph_net_dense(net, node,
                             &(sph_layer){.size = sizeof(sph_layer),
                                          .path = chain->layer[k].path,
                                          .units = chain->layer[k].shape.m,
                                          .param = chain->layer[k].param,
                                          .act = k + 1 < chain->count ? SPH_ACT_RELU : SPH_ACT_IDENTITY});
    err = node < 0 ? node : net_finish(net, node);
    if (err < 0)
        sph_fail_move(err, file->path, 0, 1);
    else
        err = tensors_take(net, file, 1, &(struct tensor_names){.of = name_tensor, .no_bias = 1}, -1);
    if (err < 0)
        sph_net_free(net);
    else
        *out = net;
    return err;
}

int chain_lacks(const struct chain *chain, const struct net_tensor *tensor)
{
    int bias = tensor->view.group == SPH_GROUP_BIAS || tensor->view.group == SPH_GROUP_LAMBDA;
    return bias && !chain->layer[tensor->layer].shape.has_bias;
}

void chain_free(struct chain *chain)
{
    for (size_t k = 0; k < chain->count; k++)
        mem_free(chain->layer[k].path);
    mem_free(chain->layer);
    *chain = (struct chain){0};
}

void chain_order(const struct chain *chain, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (size_t k = 0; k < chain->count && used < size; k++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", k ? ", " : "", chain->layer[k].path);
    if (used >= size && size > 4)
        memcpy(out + size - 4, "...", 4);
}
