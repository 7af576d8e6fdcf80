/* SPDX-License-Identifier: MIT
 *
 * A finished run as an ONNX graph: what it is told about its data becomes names and labels. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/run.h"
#include "store/onnx.h"

/* The columns of X, in the order in which the net takes them; images have no names. */
static int feature_names(const json_t *schema, json_t **out)
{
    sph_data *data = NULL;
    json_t *names = *out = json_array();
    int err = names ? data_of_schema(&data, schema) : SPH_EMEMORY, bad = 0;
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
                           "%zu classes, and the net tells %zu apart", count, expected);
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

int sph_run_export(sph_run *run, const char *path, const sph_export_opts *opts)
{
    const struct loss_row *loss = loss_row((sph_loss)run->job->options.loss);
    const char *missing = json_string_value(json_object_get(run->schema, "missing"));
    struct onnx_face face = {.raw = (opts->flags & SPH_EXPORT_RAW) != 0,
                             .link = loss->link,
                             .fill = missing &&
                                     !strcmp(missing, sph_word(SPH_WORDS_MISSING, SPH_MISSING_MEAN)->word)};
    struct text data = {0}, features = {0};
    json_t *names;
    char **labels = NULL;
    int err = feature_names(run->schema, &names);
    if (!err && loss->task != SPH_TASK_REGRESSION)
        err = read_labels(run->schema, sph_net_outputs(run->net), &face, &labels);
    if (!err && !(err = json_print(&data, run->schema, 0)) && !(err = json_print(&features, names, 0))) {
        face.data = data.chars;
        face.features = features.chars;
        err = onnx_save(run->nets, run->members, path, opts, &face);
    }
    mem_free(labels);
    json_decref(names);
    text_free(&data);
    text_free(&features);
    return err;
}
