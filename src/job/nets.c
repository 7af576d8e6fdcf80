/* SPDX-License-Identifier: MIT
 *
 * Nets without a folder: what an ensemble predicts, its file, its graph. A run does the same with its own. */
#include "job/nets.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/open.h"
#include "store/model.h"
#include "store/onnx.h"
#include "store/tool.h"

/* ---------------------------------------------------------------- files */

int sph_nets_open(sph_net ***out, size_t *count, const char *path)
{
    NEED(out, count, path);
    json_t *data = NULL;
    *out = NULL;
    *count = 0;
    int err = model_open_members(out, count, &data, path);
    if (!err)
        err = model_keep_data(*out, *count, data);
    json_decref(data);
    if (err < 0) {
        sph_nets_free(*out, *count);
        *out = NULL;
        *count = 0;
    }
    return err;
}

void sph_nets_free(sph_net **nets, size_t count)
{
    model_free_members(nets, count);
}

static int check(sph_net *const *nets, size_t count)
{
    if (!count)
        return sph_fail_key(SPH_EARG, "count", "no networks, expected one or more");
    for (size_t k = 0; k < count; k++)
        if (!nets[k])
            return sph_fail_key(SPH_EARG, "nets", "net %zu is NULL", k);
    return 0;
}

int sph_nets_save(sph_net *const *nets, size_t count, const char *path)
{
    NEED(nets, path);
    json_t *data = NULL;
    int err = check(nets, count);
    if (!err && !(err = model_note(&data, nets[0], path)))
        err = model_save_members(path, nets, count, data);
    json_decref(data);
    return err;
}

/* ---------------------------------------------------------------- predictions */

void nets_join(struct joined *row, enum loss_link link)
{
    size_t outputs = row->outputs, members = row->members;
    for (size_t k = 0; k < members; k++)
        loss_predict(link, outputs, row->each + k * outputs);
    for (size_t j = 0; j < outputs; j++) {
        double sum = row->each[j], squares = 0;
        for (size_t k = 1; k < members; k++)
            sum += row->each[k * outputs + j];
        row->mean[j] = sum / (double)members;
        for (size_t k = 0; k < members; k++) {
            double off = row->each[k * outputs + j] - row->mean[j];
            squares += off * off;
        }
        row->spread[j] = members > 1 ? sqrt(squares / (double)(members - 1)) : 0;
    }
}

int sph_nets_predict(sph_net *const *nets, size_t count, sph_loss loss, const double *x, size_t rows,
                     double *mean, double *spread)
{
    NEED(nets);
    if (rows)
        NEED(x, mean);
    int err = check(nets, count);
    if (err < 0)
        return err;
    if ((unsigned)loss >= SPH_LOSS_COUNT)
        return sph_fail_key(SPH_EARG, "loss", "unknown loss %d", (int)loss);
    size_t inputs = sph_net_inputs(nets[0]), outputs = sph_net_outputs(nets[0]), numbers, all;
    for (size_t k = 1; k < count; k++)
        if (sph_net_inputs(nets[k]) != inputs || sph_net_outputs(nets[k]) != outputs)
            return sph_fail_key(SPH_EARG, "nets", "network %zu has another shape than the first", k);
    if (__builtin_mul_overflow(rows, outputs, &numbers) || __builtin_mul_overflow(numbers, count, &all))
        return sph_fail_key(SPH_EARG, "rows", "%zu rows are too many", rows);
    double *y = mem_get(all, sizeof *y), *one = mem_get((count + 2) * outputs, sizeof *one);
    if (!y || !one)
        err = SPH_EMEMORY;
    for (size_t k = 0; k < count && !err; k++)
        err = sph_net_forward(nets[k], x, rows, y + k * numbers);
    for (size_t i = 0; i < all && !err; i++) /* before the link, which makes 1 of infinity */
        if (!isfinite(y[i]))
            err = sph_fail_key(
                SPH_EARG, "x",
                "the prediction of row %zu is not a finite number; is one of its features too large?",
                i % numbers / outputs);
    struct joined row = {count, outputs, one, one + count * outputs, one + (count + 1) * outputs};
    for (size_t i = 0; i < rows && !err; i++) {
        for (size_t k = 0; k < count; k++)
            memcpy(row.each + k * outputs, y + k * numbers + i * outputs, outputs * sizeof *y);
        nets_join(&row, loss_row(loss)->link);
        memcpy(mean + i * outputs, row.mean, outputs * sizeof *y);
        if (spread)
            memcpy(spread + i * outputs, row.spread, outputs * sizeof *y);
    }
    mem_free(one);
    mem_free(y);
    return err;
}

/* ---------------------------------------------------------------- graphs */

/* The columns of X, in the order in which the net takes them; images have no names. */
static int feature_names(const json_t *schema, json_t **out)
{
    sph_data *data = NULL;
    json_t *names = *out = json_array();
    if (!names)
        return sph_fail(SPH_EMEMORY, "out of memory: the names of the features");
    if (!json_object_get(schema, "columns"))
        return 0;
    int err = data_of_schema(&data, schema), bad = 0;
    for (size_t i = 0; !err && !data_is_images(data) && i < data->features; i++) {
        char *name = data_feature_name(data, i);
        bad |= !name || json_array_append_new(names, json_string(name));
        mem_free(name);
    }
    sph_data_free(data);
    return bad ? sph_fail(SPH_EMEMORY, "out of memory: the names of the features") : err;
}

/* The classes' names, borrowed from the schema; the array is the caller's. */
static int read_labels(const json_t *schema, size_t outputs, struct onnx_face *face, char ***out)
{
    const json_t *classes = json_object_get(schema, "classes");
    size_t count = json_array_size(classes), expected = face->link == LOSS_LOGISTIC ? 2 : outputs;
    if (count != expected)
        return sph_fail_of(SPH_EFORMAT, "data schema", 0, "classes",
                           "%zu classes, but the network distinguishes %zu", count, expected);
    if (!(*out = mem_get(count, sizeof **out)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++)
        if (!((*out)[i] = (char *)json_string_value(json_array_get(classes, i))))
            return sph_fail_of(SPH_EFORMAT, "data schema", 0, "classes",
                               "\"classes\" holds something that is not a string");
    face->labels = *out;
    face->classes = count;
    return 0;
}

int nets_export(sph_net *const *nets, size_t count, const json_t *schema, sph_loss named, const char *path,
                const sph_export_opts *opts)
{
    const struct loss_row *loss = loss_row(named);
    const char *missing = json_string_value(json_object_get(schema, "missing"));
    struct onnx_face face = {.raw = opts && (opts->flags & SPH_EXPORT_RAW),
                             .link = loss->link,
                             .fill = missing &&
                                     !strcmp(missing, sph_word(SPH_WORDS_MISSING, SPH_MISSING_MEAN)->word)};
    struct text data = {0}, features = {0};
    json_t *names;
    char **labels = NULL;
    int err = feature_names(schema, &names);
    if (!err && loss->task != SPH_TASK_REGRESSION)
        err = read_labels(schema, sph_net_outputs(nets[0]), &face, &labels);
    if (!err && !(err = json_print(&data, schema, 0)) && !(err = json_print(&features, names, 0))) {
        face.data = data.chars;
        face.features = features.chars;
        err = onnx_save(nets, count, path, opts, &face);
    }
    mem_free(labels);
    json_decref(names);
    text_free(&data);
    text_free(&features);
    return err;
}

int sph_nets_export(sph_net *const *nets, size_t count, sph_loss loss, const char *path,
                    const sph_export_opts *opts)
{
    NEED(nets, path);
    json_t *schema = NULL;
    int err = check(nets, count);
    if (!err && (unsigned)loss >= SPH_LOSS_COUNT)
        err = sph_fail_key(SPH_EARG, "loss", "unknown loss %d", (int)loss);
    if (!err)
        err = model_note(&schema, nets[0], path);
    int described = json_object_get(schema, "columns") || json_object_get(schema, "classes");
    if (!err && !described && count == 1 && opts && (opts->flags & SPH_EXPORT_RAW))
        err = sph_net_export(nets[0], path, opts);
    else if (!err && !schema)
        err = sph_fail_of(
            SPH_EARG, path, 0, "note",
            "the network has no note that describes its data; use SPH_EXPORT_RAW to export its scores");
    else if (!err)
        err = nets_export(nets, count, schema, loss, path, opts);
    json_decref(schema);
    return err;
}

int nets_describe(const sph_data *data, sph_loss loss, json_t **out)
{
    sph_loss usual = loss_first(loss_row(loss)->task);
    int err = data_schema(data, out);
    if (!err && loss_row(loss)->link != loss_row(usual)->link &&
        json_object_set_new(*out, "loss", json_string(sph_word(SPH_WORDS_LOSS, (int)loss)->word)) < 0)
        err = sph_fail(SPH_EMEMORY, "out of memory: the data schema");
    return err;
}
