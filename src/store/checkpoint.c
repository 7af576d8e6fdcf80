/* SPDX-License-Identifier: MIT */
#include "store/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/architecture.h"
#include "store/model.h"
#include "store/safetensors.h"

/* The spans of all trainers, under the names that a file has. */
struct spans {
    struct trainer_span *list; /* (count) */
    char **names;              /* (count) owned; NULL of one trainer */
    size_t count;
};

static enum st_dtype span_dtype(const struct trainer_span *span, const sph_net *net)
{
    return span->is_f64 || net->dtype == SPH_F64 ? ST_F64 : ST_F32;
}

static void spans_free(struct spans *spans)
{
    mem_free_texts(spans->names, spans->count);
    mem_free(spans->list);
}

static int spans_list(struct spans *out, const struct checkpoint_parts *parts)
{
    *out = (struct spans){.list = mem_get(parts->count * TRAINER_SPANS, sizeof *out->list)};
    if (parts->count > 1)
        out->names = mem_get(parts->count * TRAINER_SPANS, sizeof *out->names);
    if (!out->list || (parts->count > 1 && !out->names))
        goto fail;
    for (size_t k = 0; k < parts->count; k++) {
        size_t count = trainer_spans(parts->trainers[k], out->list + out->count);
        for (size_t i = out->count; out->names && i < out->count + count; i++) {
            if (!(out->names[i] = mem_format("members.%zu.%s", k, out->list[i].name)))
                goto fail;
            out->list[i].name = out->names[i];
        }
        out->count += count;
    }
    return 0;
fail:
    out->count = out->names ? parts->count * TRAINER_SPANS : 0;
    spans_free(out);
    return SPH_EMEMORY;
}

int checkpoint_save(const char *path, const struct checkpoint_parts *parts, const json_t *extra)
{
    struct spans spans;
    struct text metadata = {0};
    json_t *architecture = NULL;
    int err = spans_list(&spans, parts);
    if (err < 0)
        return err;
    struct st_item *items = mem_get(spans.count, sizeof *items);
    json_t *object = NULL;
    if (!items || (err = architecture_of(&architecture, parts->net)) < 0) {
        err = items ? sph_fail_move(err, path, 0, 1) : SPH_EMEMORY;
        goto out;
    }
    object =
        json_pack("{s:i, s:b, s:o}", "format", MODEL_FORMAT, "checkpoint", 1, "architecture", architecture);
    if (!object || (extra && json_object_set(object, "extra", (json_t *)extra) < 0))
        err = sph_fail_at(SPH_EMEMORY, path, "out of memory");
    if (!err)
        err = json_print(&metadata, object, 0);
    for (size_t i = 0; i < spans.count; i++) {
        const struct trainer_span *span = &spans.list[i];
        items[i] = (struct st_item){span->name, span_dtype(span, parts->net), &span->count, 1, span->data};
    }
    if (!err)
        err =
            safetensors_write(path, items, spans.count, &(struct st_meta){MODEL_METADATA, metadata.chars}, 1);
out:
    json_decref(object);
    text_free(&metadata);
    mem_free(items);
    spans_free(&spans);
    return err;
}

/* ---------------------------------------------------------------- loading */

static int check_architecture(const char *path, const json_t *object, const char *where, const sph_net *net)
{
    const json_t *there = NULL;
    json_t *here = NULL;
    char difference[256];
    int err;
    if ((err = json_member_object(object, where, "architecture", &there)) < 0)
        return err;
    if ((err = architecture_of(&here, net)) < 0)
        return sph_fail_move(err, path, 0, 1);
    if (architecture_difference(there, here, difference, sizeof difference))
        err = sph_fail_at(SPH_EFORMAT, path, "the checkpoint belongs to another network: %s", difference);
    json_decref(here);
    return err;
}

/* Each trainer has one span of scalars, in their order. */
static int check_scalars(const struct safetensors *file, const struct spans *spans,
                         const struct checkpoint_parts *parts)
{
    int err = 0;
    for (size_t i = 0, k = 0; i < spans->count && !err; i++) {
        if (!spans->list[i].is_f64 || spans->list[i].count != TRAINER_SCALAR_COUNT)
            continue;
        double value[TRAINER_SCALAR_COUNT];
        memcpy(value, safetensors_find(file, spans->list[i].name)->data, sizeof value);
        if ((err = trainer_check_scalars(parts->trainers[k++], value)) < 0)
            sph_fail_move(err, file->path, 0, 0);
    }
    return err;
}

/* known (the file's tensors) <- 1 for each that is a span. */
static int find_spans(const struct safetensors *file, const sph_net *net, const struct trainer_span *spans,
                      size_t count, char *known)
{
    for (size_t i = 0; i < count; i++) {
        const struct st_tensor *found = safetensors_find(file, spans[i].name);
        enum st_dtype dtype = span_dtype(&spans[i], net);
        if (!found)
            return sph_fail_of(SPH_EFORMAT, file->path, 0, spans[i].name,
                               "%s is missing; does the checkpoint belong to other options?", spans[i].name);
        if (found->dtype != dtype || found->ndim != 1 || found->count != spans[i].count)
            return sph_fail_of(SPH_EFORMAT, file->path, 0, spans[i].name,
                               "%s has %zu numbers of %s in %zu dimensions, expected %zu of %s in 1",
                               spans[i].name, found->count, st_dtype_name(found->dtype), found->ndim,
                               spans[i].count, st_dtype_name(dtype));
        known[found - file->tensor] = 1;
    }
    return 0;
}

static int check_spans(const struct safetensors *file, const sph_net *net, const struct trainer_span *spans,
                       size_t count)
{
    char *known = mem_get(file->count, 1);
    int err = known ? find_spans(file, net, spans, count, known) : SPH_EMEMORY;
    for (size_t t = 0; t < file->count && !err; t++)
        if (!known[t])
            err = sph_fail_of(
                SPH_EFORMAT, file->path, 0, file->tensor[t].name,
                "%.120s is not part of this training run; does the checkpoint belong to other options?",
                file->tensor[t].name);
    mem_free(known);
    return err;
}

/* net: NULL, or what it must be a checkpoint of. */
static int check_metadata(const char *path, const struct safetensors *file, const sph_net *net, json_t **out)
{
    const char *text = safetensors_metadata(file, MODEL_METADATA);
    char where[512];
    size_t format = 0;
    int err;
    if (!text)
        return sph_fail_at(SPH_EFORMAT, path, "no spherelu metadata: not a checkpoint");
    snprintf(where, sizeof where, "%.400s: metadata", path);
    if ((err = json_parse(out, where, text, strlen(text))) < 0 ||
        (err = json_member_size(*out, where, "format", &format)) < 0)
        return err;
    if (format != MODEL_FORMAT)
        return sph_fail_at(SPH_EFORMAT, where, "format %zu, this version reads %d", format, MODEL_FORMAT);
    if (!json_is_true(json_object_get(*out, "checkpoint")))
        return sph_fail_at(SPH_EFORMAT, path, "a model, expected a checkpoint");
    return net ? check_architecture(path, *out, where, net) : 0;
}

int checkpoint_load(const char *path, const struct checkpoint_parts *parts, json_t **extra)
{
    struct spans spans;
    struct safetensors file;
    json_t *object = NULL;
    if (extra)
        *extra = NULL;
    int err = spans_list(&spans, parts);
    if (err < 0)
        return err;
    if ((err = safetensors_open(&file, path)) < 0) {
        spans_free(&spans);
        return err;
    }
    if ((err = check_metadata(path, &file, parts->net, &object)) < 0 ||
        (err = check_spans(&file, parts->net, spans.list, spans.count)) < 0 ||
        (err = check_scalars(&file, &spans, parts)) < 0)
        goto out;
    for (size_t i = 0; i < spans.count; i++) {
        const struct st_tensor *found = safetensors_find(&file, spans.list[i].name);
        if (found->bytes)
            memcpy(spans.list[i].data, found->data, found->bytes);
    }
    for (size_t k = 0; k < parts->count; k++)
        trainer_restored(parts->trainers[k]);
    if (extra)
        *extra = json_incref(json_object_get(object, "extra"));
out:
    json_decref(object);
    safetensors_close(&file);
    spans_free(&spans);
    return err;
}

int checkpoint_extra(const char *path, json_t **extra)
{
    struct safetensors file;
    json_t *object = NULL;
    *extra = NULL;
    int err = safetensors_open(&file, path);
    if (err < 0)
        return err;
    if (!(err = check_metadata(path, &file, NULL, &object)))
        *extra = json_incref(json_object_get(object, "extra"));
    json_decref(object);
    safetensors_close(&file);
    return err;
}
