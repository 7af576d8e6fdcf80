/* SPDX-License-Identifier: MIT */
#include "store/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "net/net.h"
#include "store/architecture.h"
#include "store/chain.h"
#include "store/safetensors.h"
#include "store/tensors.h"
#include "store/torchvision.h"

enum { MEMBER_NAME = 40, MODEL_MOST_NODES = 1000000 /* of all members */ };

/* ---------------------------------------------------------------- standardisation */

struct scaling_array {
    const char *name;
    double **values;
    size_t count;
    enum { ANY, NOT_ZERO, NOT_NEGATIVE } least;
};

enum { SCALING_ARRAYS = 6 };

static void list_scaling(struct scaling *s, struct scaling_array out[SCALING_ARRAYS])
{
    const struct scaling_array arrays[SCALING_ARRAYS] = {
        {"x_mean", &s->x_mean, s->features, ANY},       {"x_scale", &s->x_scale, s->features, NOT_ZERO},
        {"x_fill", &s->x_fill, s->features, ANY},       {"y_mean", &s->y_mean, s->targets, ANY},
        {"y_scale", &s->y_scale, s->targets, NOT_ZERO}, {"x_clip", &s->x_clip, s->features, NOT_NEGATIVE},
    };
    memcpy(out, arrays, sizeof arrays);
}

/* Of images the columns of a channel, `area` of them, are standardised alike: a number is kept for each channel. */
static json_t *numbers_of(const double *values, size_t count, size_t area)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != values[i / area * area])
            area = 1;
    if (area == 1)
        return json_numbers(values, count);
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i += area)
        if (json_array_append_new(list, json_number(values[i])) < 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

/* *values (count) <- each of them `area` times. */
static int repeat_each(double **values, size_t count, size_t area)
{
    double *all = mem_get(count * area, sizeof *all);
    for (size_t i = 0; all && i < count * area; i++)
        all[i] = (*values)[i / area];
    if (!all)
        return SPH_EMEMORY;
    mem_free(*values);
    *values = all;
    return 0;
}

static int put_scaling(json_t *object, const sph_net *net, const char *path)
{
    struct scaling scaling = net->scaling;
    struct scaling_array arrays[SCALING_ARRAYS];
    list_scaling(&scaling, arrays);
    if (!scaling.features && !scaling.targets)
        return 0;
    json_t *member = json_pack("{s:I, s:I}", "features", (json_int_t)scaling.features, "targets",
                               (json_int_t)scaling.targets);
    int missing = !member;
    size_t pixels = node_pixels(&net->nodes[0]);
    for (size_t a = 0; a < SCALING_ARRAYS; a++) {
        const double *values = *arrays[a].values;
        size_t area = arrays[a].name[0] == 'x' ? pixels : 1;
        for (size_t i = 0; values && i < arrays[a].count; i++)
            if (!isfinite(values[i])) {
                json_decref(member);
                return sph_fail_of(SPH_EARG, path, 0, arrays[a].name,
                                   "standardisation: %s of column %zu is %g", arrays[a].name, i, values[i]);
            }
        if (values)
            missing |=
                json_object_set_new(member, arrays[a].name, numbers_of(values, arrays[a].count, area)) < 0;
    }
    missing |= json_object_set_new(object, "standardisation", member) < 0;
    return missing ? sph_fail_at(SPH_EMEMORY, path, "out of memory") : 0;
}

static int get_scaling(sph_net *net, const json_t *object, const char *where)
{
    struct scaling *scaling = &net->scaling;
    int err;
    if ((err = json_member_size(object, where, "features", &scaling->features)) < 0 ||
        (err = json_member_size(object, where, "targets", &scaling->targets)) < 0)
        return err;
    if (scaling->features && scaling->features != sph_net_inputs(net))
        return sph_fail_of(SPH_EFORMAT, where, 0, "features",
                           "standardisation of %zu features, the net has %zu", scaling->features,
                           sph_net_inputs(net));
    struct scaling_array arrays[SCALING_ARRAYS];
    list_scaling(scaling, arrays);
    for (size_t a = 0; a < SCALING_ARRAYS; a++) {
        size_t count = 0, expected = arrays[a].name[0] == 'x' ? sph_net_inputs(net) : sph_net_outputs(net);
        if (!json_object_get(object, arrays[a].name))
            continue;
        if (arrays[a].count != expected)
            return sph_fail_of(SPH_EFORMAT, where, 0, arrays[a].name,
                               "standardisation of %zu columns, the net has %zu", arrays[a].count, expected);
        if ((err = json_member_reals(object, where, arrays[a].name, arrays[a].values, &count)) < 0)
            return err;
        size_t pixels = node_pixels(&net->nodes[0]);
        if (arrays[a].name[0] == 'x' && pixels > 1 && count == net->nodes[0].channels) {
            if ((err = repeat_each(arrays[a].values, count, pixels)) < 0)
                return err;
            count *= pixels;
        }
        if (count != expected)
            return sph_fail_of(SPH_EFORMAT, where, 0, arrays[a].name, "\"%s\" has %zu numbers, expected %zu",
                               arrays[a].name, count, expected);
        for (size_t i = 0; arrays[a].least != ANY && i < count; i++) {
            double value = (*arrays[a].values)[i];
            if (arrays[a].least == NOT_ZERO ? value == 0 : value < 0)
                return sph_fail_of(SPH_EFORMAT, where, 0, arrays[a].name, "\"%s\"[%zu] is %g", arrays[a].name,
                                   i, value);
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- saving */

static int describe(struct text *out, const char *path, const sph_net *net, size_t members,
                    const json_t *data)
{
    json_t *architecture = NULL, *object = NULL;
    int err = architecture_of(&architecture, net);
    if (err < 0)
        return sph_fail_move(err, path, 0, 1);
    object = json_pack("{s:i, s:o}", "format", net->scaling.x_clip ? MODEL_FORMAT_CLIPPED : MODEL_FORMAT,
                       "architecture", architecture);
    if (!object)
        return sph_fail_at(SPH_EMEMORY, path, "out of memory");
    err = put_scaling(object, net, path);
    if (!err && members > 1 &&
        json_object_set_new(object, MODEL_MEMBERS, json_integer((json_int_t)members)) < 0)
        err = sph_fail_at(SPH_EMEMORY, path, "out of memory");
    if (!err && data && json_object_set(object, "data", (json_t *)data) < 0)
        err = sph_fail_at(SPH_EMEMORY, path, "out of memory");
    if (!err)
        err = json_print(out, object, 0);
    json_decref(object);
    return err;
}

/* "members.2.": what stands before the names of a member's tensors, nothing of one alone. */
static void name_member(char out[static MEMBER_NAME], size_t member, size_t members)
{
    out[0] = 0;
    if (members > 1)
        snprintf(out, MEMBER_NAME, MODEL_MEMBERS ".%zu.", member);
}

/* The tensors of a net as they are; of a chain (net's file had dense layers only) layer by layer and without biases of 0. */
static int list_tensors(struct tensor_list *out, const sph_net *net, const char *before,
                        const struct chain *chain)
{
    int err = 0;
    for (size_t l = 0; l < (chain ? net->layer_count : 1); l++)
        for (size_t i = 0; i < net->tensor_count && !err; i++) {
            const struct net_tensor *tensor = &net->tensors[i];
            const char *own = tensor->view.name;
            char name[TENSOR_NAME];
            if (chain && (tensor->layer != l || chain_lacks(chain, tensor)))
                continue;
            snprintf(name, sizeof name, "%s%s", before,
                     own + (chain && *own == '.')); /* a layer without a path */
            err = tensors_add(out, net, tensor, name);
        }
    return err;
}

/* One description serves all. */
int model_check_member(const char *path, const sph_net *first, const sph_net *other, size_t member)
{
    json_t *one = NULL, *two = NULL;
    char difference[256];
    int err = architecture_of(&one, first);
    if (!err && !(err = architecture_of(&two, other)) &&
        architecture_difference(one, two, difference, sizeof difference))
        err = sph_fail_of(SPH_EARG, path, 0, "members", "member %zu differs from the first: %s", member,
                          difference);
    json_decref(one);
    json_decref(two);
    return err;
}

/* What a file has beside the numbers: a description, or what another file of dense layers had. */
struct beside {
    const json_t *data;
    const struct chain *chain; /* not NULL: no description */
    const struct safetensors *like;
};

/* Into sink or, where that is NULL, into the file. */
static int save(const char *path, const sph_sink *sink, sph_net *const *nets, size_t count,
                const struct beside *beside)
{
    struct tensor_list list = {0};
    struct text metadata = {0};
    char before[MEMBER_NAME];
    int err = 0;
    for (size_t k = 1; k < count && !err; k++)
        err = model_check_member(path, nets[0], nets[k], k);
    for (size_t k = 0; k < count && !err; k++)
        if (!nets[k]->ready)
            err = sph_fail_at(SPH_EARG, path, "the network is not ready; call sph_net_ready first");
    if (!err && !beside->chain)
        err = describe(&metadata, path, nets[0], count, beside->data);
    for (size_t k = 0; k < count && !err; k++) {
        name_member(before, k, count);
        err = list_tensors(&list, nets[k], before, beside->chain);
    }
    if (!err)
        err = tensors_save(&list, path, sink,
                           beside->chain ? NULL : &(struct st_meta){MODEL_METADATA, metadata.chars},
                           beside->like);
    tensors_list_free(&list);
    text_free(&metadata);
    return err;
}

int model_save_members(const char *path, sph_net *const *nets, size_t count, const json_t *data)
{
    return save(path, NULL, nets, count, &(struct beside){.data = data});
}

int model_save_chain(const char *path, sph_net *net, const struct chain *chain,
                     const struct safetensors *like)
{
    return save(path, NULL, &net, 1, &(struct beside){.chain = chain, .like = like});
}

/* ---------------------------------------------------------------- opening */

/* One member's net from the description, with its numbers and the standardisation that all of them have. */
static int build_member(sph_net **out, const struct safetensors *file, const json_t *object,
                        const char *where, size_t member, size_t members)
{
    char before[MEMBER_NAME];
    const struct tensor_names names = {.before = before};
    const json_t *architecture = NULL, *scaling;
    sph_net *net = NULL;
    int output = 0, err;
    name_member(before, member, members);
    if ((err = json_member_object(object, where, "architecture", &architecture)) < 0 ||
        (err = architecture_build(&net, &output, architecture, where)) < 0 ||
        (err = tensors_check_weights(file, net, before)) < 0 || (err = net_finish(net, output)) < 0 ||
        (err = tensors_take(net, file, 1, &names, -1)) < 0)
        goto out;
    if (json_object_get(object, "standardisation") &&
        ((err = json_member_object(object, where, "standardisation", &scaling)) < 0 ||
         (err = get_scaling(net, scaling, where)) < 0))
        goto out;
    *out = net;
    net = NULL;
out:
    sph_net_free(net);
    return err;
}

/* A name that belongs to no member. What a member has too many, build_member saw. */
static int check_members(const struct safetensors *file, size_t tensors, size_t members)
{
    for (size_t i = 0; i < file->count && file->count != tensors * members; i++) {
        const char *name = file->tensor[i].name, *number = name + strlen(MODEL_MEMBERS ".");
        char digits[24] = "", before[MEMBER_NAME] = "";
        size_t member = members, length = strlen(name) < strlen(MODEL_MEMBERS ".") ? 0 : strcspn(number, ".");
        if (length < sizeof digits)
            memcpy(digits, number, length);
        if (text_to_size(digits, &member))
            name_member(before, member, members);
        if (member >= members || strncmp(name, before, strlen(before)))
            return sph_fail_of(SPH_EFORMAT, file->path, 0, name,
                               "the ensemble of %zu nets has no tensor %.120s", members, name);
    }
    return 0;
}

static int count_members(const struct safetensors *file, const json_t *object, const char *where, size_t *out)
{
    *out = 1;
    if (!json_object_get(object, MODEL_MEMBERS))
        return 0;
    int err = json_member_size(object, where, MODEL_MEMBERS, out);
    if (!err && (!*out || *out > file->count))
        err = sph_fail_of(SPH_EFORMAT, where, 0, MODEL_MEMBERS, "\"%s\" is %zu, and the file has %zu tensors",
                          MODEL_MEMBERS, *out, file->count);
    return err;
}

static int open_described(sph_net ***nets, size_t *count, json_t **data, const struct safetensors *file,
                          const char *text)
{
    char where[512];
    json_t *object = NULL;
    const json_t *member;
    size_t format = 0;
    int err;
    snprintf(where, sizeof where, "%.400s: metadata", file->path);
    if ((err = json_parse(&object, where, text, strlen(text))) < 0 ||
        (err = json_member_size(object, where, "format", &format)) < 0)
        goto out;
    if (format != MODEL_FORMAT && format != MODEL_FORMAT_CLIPPED)
        err = sph_fail_at(SPH_EFORMAT, where, "format %zu, this version reads %d and %d", format,
                          MODEL_FORMAT, MODEL_FORMAT_CLIPPED);
    else if (json_object_get(object, "checkpoint"))
        err = sph_fail_at(SPH_EFORMAT, file->path, "a checkpoint, expected a model");
    else
        err = count_members(file, object, where, count);
    if (err < 0)
        goto out;
    if (!(*nets = mem_get(*count, sizeof(sph_net *)))) {
        err = SPH_EMEMORY;
        goto out;
    }
    for (size_t k = 0; k < *count && !err; k++)
        if (!(err = build_member(&(*nets)[k], file, object, where, k, *count)) &&
            (*nets)[0]->node_count > MODEL_MOST_NODES / *count)
            err = sph_fail_of(SPH_EFORMAT, where, 0, MODEL_MEMBERS,
                              "%zu nets, expected at most %d nodes in all of them", *count, MODEL_MOST_NODES);
    if (!err && *count > 1)
        err = check_members(file, (*nets)[0]->tensor_count, *count);
    if (!err && data && json_object_get(object, "data") &&
        !(err = json_member_object(object, where, "data", &member)))
        *data = json_incref((json_t *)member);
out:
    json_decref(object);
    return err;
}

static int open_chain(sph_net **out, const struct safetensors *file)
{
    struct chain chain;
    int err = chain_read(&chain, file);
    if (!err)
        err = chain_open(out, &chain, file);
    chain_free(&chain);
    return err;
}

void model_free_members(sph_net **nets, size_t count)
{
    for (size_t k = 0; nets && k < count; k++)
        sph_net_free(nets[k]);
    mem_free(nets);
}

/* Closes the file. */
static int open_all(sph_net ***out, size_t *count, json_t **data, struct safetensors *file)
{
    const char *text = safetensors_metadata(file, MODEL_METADATA);
    sph_net **nets = NULL;
    size_t members = 1;
    int err;
    if (text)
        err = open_described(&nets, &members, data, file, text);
    else if (!(nets = mem_get(1, sizeof(sph_net *))))
        err = SPH_EMEMORY;
    else
        err = torchvision_recognise(file) ? torchvision_open(nets, file) : open_chain(nets, file);
    safetensors_close(file);
    if (err < 0) {
        model_free_members(nets, members);
        return err;
    }
    *out = nets;
    *count = members;
    return 0;
}

/* The same where one net is expected. */
static int open_one(sph_net **out, json_t **data, struct safetensors *file, const char *path)
{
    sph_net **nets;
    size_t count;
    int err = open_all(&nets, &count, data, file);
    if (err < 0)
        return err;
    if (count > 1) {
        model_free_members(nets, count);
        if (data) {
            json_decref(*data);
            *data = NULL;
        }
        return sph_fail_at(SPH_EARG, path, "an ensemble of %zu networks, expected a single network", count);
    }
    *out = nets[0];
    mem_free(nets);
    return 0;
}

int model_open_members(sph_net ***out, size_t *count, json_t **data, const char *path)
{
    struct safetensors file;
    if (data)
        *data = NULL;
    int err = safetensors_open(&file, path);
    return err < 0 ? err : open_all(out, count, data, &file);
}

int model_open(sph_net **out, json_t **data, const char *path)
{
    struct safetensors file;
    if (data)
        *data = NULL;
    int err = safetensors_open(&file, path);
    return err < 0 ? err : open_one(out, data, &file, path);
}

/* ---------------------------------------------------------------- what a net says about its data */

int model_keep_data(sph_net *const *nets, size_t count, const json_t *data)
{
    struct text text = {0};
    int err = data ? json_print(&text, data, 0) : 0;
    for (size_t k = 0; k < count && data && !err; k++)
        err = sph_net_set_note(nets[k], text.chars);
    text_free(&text);
    return err;
}

int model_note(json_t **data, const sph_net *net, const char *path)
{
    *data = NULL;
    int err = net->note ? json_parse(data, path, net->note, strlen(net->note)) : 0;
    if (!err && *data && !json_is_object(*data))
        err = sph_fail_at(SPH_EARG, path, "the note of the network is not a JSON object");
    return err;
}

/* ---------------------------------------------------------------- the public doors */

static int save_with_note(const sph_net *net, const char *path, const sph_sink *sink)
{
    json_t *data;
    sph_net *one = (sph_net *)net;
    int err = model_note(&data, net, path);
    if (!err)
        err = save(path, sink, &one, 1, &(struct beside){.data = data});
    json_decref(data);
    return err;
}

int sph_net_save(const sph_net *net, const char *path)
{
    NEED(net, path);
    return save_with_note(net, path, NULL);
}

int sph_net_write(const sph_net *net, const sph_sink *to)
{
    NEED(net, to);
    NEED_CALL(to->write);
    return save_with_note(net, ST_NOWHERE, to);
}

int sph_net_save_as(const sph_net *net, const char *path, sph_names names)
{
    NEED(net, path);
    if ((unsigned)names >= SPH_NAMES_COUNT)
        return sph_fail_of(SPH_EARG, path, 0, "names", "unknown names %d", (int)names);
    if (!net->ready)
        return sph_fail_at(SPH_EARG, path, "the network is not ready; call sph_net_ready first");
    return names == SPH_NAMES_TORCHVISION ? torchvision_save(path, net) : sph_net_save(net, path);
}

/* err: of what opened net and data, which are taken over. */
static int opened(sph_net **out, int err, sph_net *net, json_t *data)
{
    if (!err && data)
        err = model_keep_data(&net, 1, data);
    json_decref(data);
    if (err < 0) {
        sph_net_free(net);
        return err;
    }
    *out = net;
    return 0;
}

int sph_net_open(sph_net **out, const char *path)
{
    NEED(out, path);
    json_t *data = NULL;
    sph_net *net = NULL;
    int err = model_open(&net, &data, path);
    return opened(out, err, net, data);
}

int sph_net_read(sph_net **out, const void *bytes, size_t length)
{
    NEED(out, bytes);
    json_t *data = NULL;
    sph_net *net = NULL;
    struct safetensors file;
    int err = safetensors_of_bytes(&file, bytes, length);
    if (!err)
        err = open_one(&net, &data, &file, ST_NOWHERE);
    return opened(out, err, net, data);
}
