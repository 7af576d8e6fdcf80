/* SPDX-License-Identifier: MIT */
#include "store/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/architecture.h"
#include "store/model.h"
#include "store/safetensors.h"

static enum st_dtype span_dtype(const struct trainer_span *span, const sph_net *net)
{
    return span->is_f64 || net->dtype == SPH_F64 ? ST_F64 : ST_F32;
}

int checkpoint_save(const char *path, struct trainer *trainer, const sph_net *net, const json_t *extra)
{
    struct trainer_span spans[TRAINER_SPANS];
    struct st_item items[TRAINER_SPANS];
    size_t count = trainer_spans(trainer, spans);
    struct text metadata = {0};
    json_t *architecture = NULL;
    int err = architecture_of(&architecture, net);
    if (err < 0)
        return sph_fail_move(err, path, 0, 1);
    json_t *object =
        json_pack("{s:i, s:b, s:o}", "format", MODEL_FORMAT, "checkpoint", 1, "architecture", architecture);
    if (!object || (extra && json_object_set(object, "extra", (json_t *)extra) < 0))
        err = sph_fail_at(SPH_EMEMORY, path, "out of memory");
    if (!err)
        err = json_print(&metadata, object, 0);
    json_decref(object);
    for (size_t i = 0; i < count; i++)
        items[i] =
            (struct st_item){spans[i].name, span_dtype(&spans[i], net), &spans[i].count, 1, spans[i].data};
    if (!err)
        err = safetensors_write(path, items, count, &(struct st_meta){MODEL_METADATA, metadata.chars}, 1);
    text_free(&metadata);
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
        err = sph_fail_at(SPH_EFORMAT, path, "checkpoint is of another network: %s", difference);
    json_decref(here);
    return err;
}

/* Counts are whole numbers that a double holds exactly; the rest may be anything, infinite too. */
static int check_scalars(const struct st_tensor *scalars)
{
    static const enum trainer_scalar counts[] = {TRAINER_STEP,       TRAINER_EPOCH,  TRAINER_BATCH,
                                                 TRAINER_BEST_EPOCH, TRAINER_WAITED, TRAINER_FINISHED};
    double value[TRAINER_SCALAR_COUNT];
    memcpy(value, scalars->data, sizeof value);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double x = value[counts[i]];
        if (!(x >= 0 && x <= 0x1p53) || x != floor(x))
            return sph_fail_at(SPH_EFORMAT, scalars->file, "scalars[%d] is %g, expected a whole number",
                               (int)counts[i], x);
    }
    return 0;
}

static int check_spans(const struct safetensors *file, const sph_net *net, const struct trainer_span *spans,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct st_tensor *found = safetensors_find(file, spans[i].name);
        enum st_dtype dtype = span_dtype(&spans[i], net);
        int err = 0;
        if (!found)
            return sph_fail_of(SPH_EFORMAT, file->path, 0, spans[i].name,
                               "%s is missing: other options than the checkpoint's?", spans[i].name);
        if (found->dtype != dtype || found->ndim != 1 || found->count != spans[i].count)
            return sph_fail_of(SPH_EFORMAT, file->path, 0, spans[i].name,
                               "%s has %zu numbers of %s in %zu dimensions, expected %zu of %s in 1",
                               spans[i].name, found->count, st_dtype_name(found->dtype), found->ndim,
                               spans[i].count, st_dtype_name(dtype));
        if (!strcmp(spans[i].name, "scalars") && (err = check_scalars(found)) < 0)
            return err;
    }
    for (size_t t = 0; t < file->count; t++) {
        size_t i = 0;
        while (i < count && strcmp(spans[i].name, file->tensor[t].name) != 0)
            i++;
        if (i == count)
            return sph_fail_of(
                SPH_EFORMAT, file->path, 0, file->tensor[t].name,
                "%.120s belongs to no part of this training: other options than the checkpoint's?",
                file->tensor[t].name);
    }
    return 0;
}

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
    return check_architecture(path, *out, where, net);
}

int checkpoint_load(const char *path, struct trainer *trainer, const sph_net *net, json_t **extra)
{
    struct trainer_span spans[TRAINER_SPANS];
    size_t count = trainer_spans(trainer, spans);
    struct safetensors file;
    json_t *object = NULL;
    if (extra)
        *extra = NULL;
    int err = safetensors_open(&file, path);
    if (err < 0)
        return err;
    if ((err = check_metadata(path, &file, net, &object)) < 0 ||
        (err = check_spans(&file, net, spans, count)) < 0)
        goto out;
    for (size_t i = 0; i < count; i++) {
        const struct st_tensor *found = safetensors_find(&file, spans[i].name);
        if (found->bytes)
            memcpy(spans[i].data, found->data, found->bytes);
    }
    trainer_restored(trainer);
    if (extra)
        *extra = json_incref(json_object_get(object, "extra"));
out:
    json_decref(object);
    safetensors_close(&file);
    return err;
}
