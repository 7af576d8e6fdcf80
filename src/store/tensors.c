/* SPDX-License-Identifier: MIT */
#include "store/tensors.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

size_t tensors_largest(const sph_net *net)
{
    size_t largest = 0;
    for (size_t i = 0; i < net->tensor_count; i++)
        if (net->tensors[i].view.count > largest)
            largest = net->tensors[i].view.count;
    return largest;
}

static void print_shape(char *out, size_t size, const size_t *shape, size_t ndim)
{
    size_t used = (size_t)snprintf(out, size, "(");
    for (size_t i = 0; i < ndim && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
    if (used < size)
        snprintf(out + used, size - used, ")");
}

int tensors_check_shape(const struct st_tensor *found, const size_t *shape, size_t ndim)
{
    if (!st_dtype_is_real(found->dtype))
        return sph_fail_of(SPH_EFORMAT, found->file, 0, found->name,
                           "%.120s is %s, expected F32, F64, F16 or BF16", found->name,
                           st_dtype_name(found->dtype));
    if (found->ndim == ndim && !memcmp(found->shape, shape, ndim * sizeof *shape))
        return 0;
    char there[200], here[64];
    print_shape(there, sizeof there, found->shape, found->ndim);
    print_shape(here, sizeof here, shape, ndim);
    return sph_fail_of(SPH_EFORMAT, found->file, 0, found->name,
                       "%.120s has shape %s, but the network's has shape %s", found->name, there, here);
}

static int missing_tensor(const struct safetensors *file, const char *name)
{
    return sph_fail_of(SPH_EFORMAT, file->path, 0, name, "%s is missing", name);
}

int tensors_check_weights(const struct safetensors *file, const sph_net *net, const char *before)
{
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct net_layer *layer = &net->layers[l];
        for (size_t t = 0; t < layer->ops->tensors; t++) {
            size_t shape[4], ndim = net_raw_shape(layer, t, shape);
            char name[TENSOR_NAME];
            snprintf(name, sizeof name, "%s%s.%s", before ? before : "", layer->path,
                     layer->ops->tensor[t].name);
            const struct st_tensor *found = ndim ? safetensors_find(file, name) : NULL;
            int err = !ndim    ? 0
                      : !found ? missing_tensor(file, name)
                               : tensors_check_shape(found, shape, ndim);
            if (err < 0)
                return err;
        }
    }
    return 0;
}

/* found (net's tensors) <- the file's; none of them is missing that must be there, all have the net's shapes.
 */
static int find_tensors(const struct safetensors *file, const sph_net *net, int all,
                        const struct tensor_names *names, int but, const struct st_tensor **found)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        const sph_tensor *view = &tensor->view;
        char name[TENSOR_NAME];
        if ((int)tensor->layer == but)
            continue;
        if (names->of)
            names->of(net, tensor, name);
        else
            snprintf(name, sizeof name, "%s%s", names->before ? names->before : "", view->name);
        found[i] = safetensors_find(file, name);
        int bias = view->group == SPH_GROUP_BIAS || view->group == SPH_GROUP_LAMBDA;
        int optional = view->learned ? names->no_bias && bias : !all;
        int err = found[i]   ? tensors_check_shape(found[i], view->shape, view->ndim)
                  : optional ? 0
                             : missing_tensor(file, name);
        if (err < 0)
            return err;
    }
    return 0;
}

/* Whether a name is under the path of the layer that stays. */
static int belongs_to(const char *name, const sph_net *net, int but)
{
    size_t length = but < 0 ? 0 : strlen(net->layers[but].path);
    return length && !strncmp(name, net->layers[but].path, length) && name[length] == '.';
}

/* Only the names that begin with names->before are gone through: a file may hold as many members as tensors. */
static int check_strangers(const struct safetensors *file, const sph_net *net,
                           const struct tensor_names *names, int but, const struct st_tensor *const *found)
{
    size_t first, count = safetensors_begin_with(file, names->before ? names->before : "", &first);
    char *known = mem_get(count, 1);
    if (!known)
        return SPH_EMEMORY;
    for (size_t i = 0; i < net->tensor_count; i++) {
        size_t place = found[i] ? safetensors_place(file, found[i]) : SIZE_MAX;
        if (place >= first && place - first < count)
            known[place - first] = 1;
    }
    int err = 0;
    for (size_t i = 0; i < count && !err; i++) {
        const struct st_tensor *tensor = file->by_name[first + i];
        if (!known[i] && !belongs_to(tensor->name, net, but) &&
            !(names->ignores && names->ignores(file, tensor)))
            err = sph_fail_of(SPH_EFORMAT, file->path, 0, tensor->name, "the network has no tensor %.120s",
                              tensor->name);
    }
    mem_free(known);
    return err;
}

static int is_never_negative(const struct net_layer *layer, const struct net_tensor *tensor)
{
    for (size_t t = 0; t < layer->norm->tensors; t++)
        if (layer->norm->tensor[t].learned == tensor->view.learned && layer->norm_at[t] == tensor->at)
            return layer->norm->tensor[t].not_negative;
    return 0;
}

/* Constants that the net relies on: signs are +-1, variances not negative. */
static int check_state(const sph_net *net, const struct st_tensor *const *found, double *values)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        const struct net_layer *layer = &net->layers[tensor->layer];
        int is_sign = tensor->at == layer->sign || tensor->at == layer->output_sign,
            is_var = is_never_negative(layer, tensor);
        if (tensor->view.learned || !found[i] || (!is_sign && !is_var))
            continue;
        int err = safetensors_to_double(found[i], values);
        if (err < 0)
            return err;
        for (size_t j = 0; j < found[i]->count; j++)
            if ((is_sign && fabs(values[j]) != 1) || (is_var && values[j] < 0))
                return sph_fail_of(SPH_EFORMAT, found[i]->file, 0, found[i]->name,
                                   "%s[%zu] is %g, expected %s", found[i]->name, j, values[j],
                                   is_sign ? "1 or -1" : "0 or more");
    }
    return 0;
}

/* How far a number of the file may be from the one that was meant. */
static double rounding_of(enum st_dtype dtype)
{
    return dtype == ST_BF16 ? 0x1p-8 : dtype == ST_F16 ? 0x1p-11 : FLT_EPSILON;
}

/* Numbers are finite, directions have length 1. */
static int check_values(const sph_net *net, const struct st_tensor *const *found, double *values)
{
    int err = 0;
    for (size_t i = 0; i < net->tensor_count && !err; i++) {
        if (!found[i])
            continue;
        err = safetensors_to_double(found[i], values);
        for (size_t j = 0; j < found[i]->count && !err; j++)
            if (!isfinite(values[j]))
                err = sph_fail_of(SPH_EFORMAT, found[i]->file, 0, found[i]->name,
                                  "%s[%zu] is %g, expected a finite number", found[i]->name, j, values[j]);
        if (!err)
            err = net_check_units(net, &net->tensors[i], values, rounding_of(found[i]->dtype), found[i]->file,
                                  found[i]->name);
    }
    return err;
}

static int take(sph_net *net, const struct st_tensor *const *found, int but, double *values)
{
    int err = 0;
    for (size_t i = 0; !err && i < net->tensor_count; i++) {
        if ((int)net->tensors[i].layer == but)
            continue;
        memset(values, 0, net->tensors[i].view.count * sizeof *values);
        if (found[i])
            err = safetensors_to_double(found[i], values); /* cannot fail: the dtype was looked at */
        if (!err && (found[i] || net->tensors[i].view.learned))
            net_write_tensor(net, &net->tensors[i], values); /* a bias that is not there is 0 */
    }
    return err;
}

/* into: NULL, or the net itself. */
static int fit_or_take(const sph_net *net, sph_net *into, const struct safetensors *file, int all,
                       const struct tensor_names *names, int but)
{
    static const struct tensor_names own = {0};
    const struct st_tensor **found = mem_get(net->tensor_count, sizeof(struct st_tensor *));
    double *values = found ? mem_get(tensors_largest(net), sizeof *values) : NULL;
    if (!names)
        names = &own;
    int err = values ? find_tensors(file, net, all, names, but, found) : SPH_EMEMORY;
    if (!err)
        err = check_strangers(file, net, names, but, found);
    if (!err)
        err = check_state(net, found, values);
    if (!err)
        err = check_values(net, found, values);
    if (!err && into)
        err = take(into, found, but, values);
    mem_free(values);
    mem_free(found);
    return err;
}

int tensors_take(sph_net *net, const struct safetensors *file, int all, const struct tensor_names *names,
                 int but)
{
    return fit_or_take(net, net, file, all, names, but);
}

int tensors_fit(const sph_net *net, const struct safetensors *file, int all, const struct tensor_names *names,
                int but)
{
    return fit_or_take(net, NULL, file, all, names, but);
}

/* ---------------------------------------------------------------- writing */

int tensors_add(struct tensor_list *list, const sph_net *net, const struct net_tensor *tensor,
                const char *name)
{
    static const int64_t zero = 0;
    char *copy = mem_text(name);
    if (!copy ||
        !mem_reserve((void **)&list->items, &list->item_room, list->count + 1, sizeof *list->items) ||
        !mem_reserve((void **)&list->from, &list->from_room, list->count + 1, sizeof *list->from)) {
        mem_free(copy);
        return SPH_EMEMORY;
    }
    list->items[list->count] = tensor ? (struct st_item){copy, net->dtype == SPH_F32 ? ST_F32 : ST_F64,
                                                         tensor->view.shape, tensor->view.ndim, NULL}
                                      : (struct st_item){copy, ST_I64, NULL, 0, &zero};
    list->from[list->count++] = (struct tensor_source){net, tensor};
    return 0;
}

static int read_numbers(void *self, size_t item, const void **data)
{
    const struct tensor_list *list = self;
    const struct tensor_source *from = &list->from[item];
    net_read_tensor(from->net, from->tensor, list->values);
    from->net->k->from_double(from->tensor->view.count, list->values, list->bytes);
    *data = list->bytes;
    return 0;
}

int tensors_save(struct tensor_list *list, const char *path, const sph_sink *sink, const struct st_meta *meta,
                 const struct safetensors *like)
{
    size_t largest = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->from[i].tensor && list->from[i].tensor->view.count > largest)
            largest = list->from[i].tensor->view.count;
    list->values = mem_get(largest, sizeof *list->values);
    list->bytes = mem_get(largest, sizeof(double));
    if (!list->values || !list->bytes)
        return SPH_EMEMORY;
    return safetensors_save(path, sink,
                            &(struct st_file){.items = list->items,
                                              .count = list->count,
                                              .meta = meta,
                                              .metas = meta != NULL,
                                              .like = like,
                                              .numbers = read_numbers,
                                              .self = list});
}

void tensors_list_free(struct tensor_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        mem_free((char *)(uintptr_t)list->items[i].name);
    mem_free(list->items);
    mem_free(list->from);
    mem_free(list->values);
    mem_free(list->bytes);
}
