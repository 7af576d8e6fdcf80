/* SPDX-License-Identifier: MIT
 *
 * A net as an ONNX graph: X in the user's units, standardised inside; the nodes of the net; predictions. What goes out is
 * called as skl2onnx calls it without ZipMap: variable, or label and probabilities. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "net/net.h"
#include "store/onnx.h"
#include "store/onnx_layers.h"

static const char input_name[] = "X";

/* ---------------------------------------------------------------- what goes in */

static int any_above(const double *values, size_t count, double limit)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(values[i]) > limit)
            return 1;
    return 0;
}

/* ((NaN -> fill) - mean) / scale. A large mean is taken off as f32 has it, and what that lacks is added in the end. */
static const char *standardise(struct onnx_export *e, const char *x, int fill)
{
    struct onnx_build *build = &e->build;
    const struct scaling *scaling = &e->net->scaling;
    size_t n = scaling->features;
    double *rounded = onnx_take(build, n, sizeof *rounded), *factor = onnx_take(build, n, sizeof *factor),
           *rest = onnx_take(build, n, sizeof *rest);
    if (!n || !rest)
        return x;
    for (size_t i = 0; i < n; i++) {
        double mean = scaling->x_mean ? scaling->x_mean[i] : 0;
        rounded[i] = (float)mean;
        factor[i] = 1 / (scaling->x_scale ? scaling->x_scale[i] : 1);
        rest[i] = (rounded[i] - mean) * factor[i];
    }
    if (fill && (scaling->x_fill || scaling->x_mean)) {
        const char *missing = onnx_node(build, "IsNaN", "X.missing", x, NULL);
        const char *instead = onnx_features(e, "X.fill", scaling->x_fill ? scaling->x_fill : scaling->x_mean);
        x = onnx_node(build, "Where", "X.filled", missing, instead, x, NULL);
    }
    if (any_above(rounded, n, 0))
        x = onnx_node(build, "Sub", "X.centred", x, onnx_features(e, "X.mean", rounded), NULL);
    if (scaling->x_scale)
        x = onnx_node(build, "Mul", "X.scaled", x, onnx_features(e, "X.factor", factor), NULL);
    if (any_above(rest, n, 1e-7))
        x = onnx_node(build, "Add", "X.corrected", x, onnx_features(e, "X.rest", rest), NULL);
    return x;
}

/* z / sqrt(1 + (z / clip)^2), of clipped features. Beyond a million the square would leave f32. */
static const char *clip(struct onnx_export *e, const char *z)
{
    struct onnx_build *build = &e->build;
    const struct scaling *scaling = &e->net->scaling;
    size_t n = scaling->features;
    double *low = onnx_take(build, n, sizeof *low), *high = onnx_take(build, n, sizeof *high),
           *inverse = onnx_take(build, n, sizeof *inverse), *one = onnx_take(build, n, sizeof *one);
    if (!scaling->x_clip || !one)
        return z;
    for (size_t i = 0; i < n; i++) {
        int clipped = scaling->x_clip[i] > 0;
        high[i] = clipped ? 1e6 : FLT_MAX;
        low[i] = -high[i];
        inverse[i] = clipped ? 1 / scaling->x_clip[i] : 0;
        one[i] = 1;
    }
    z = onnx_node(build, "Min", "X.below", z, onnx_features(e, "X.high", high), NULL);
    z = onnx_node(build, "Max", "X.within", z, onnx_features(e, "X.low", low), NULL);
    const char *far = onnx_node(build, "Mul", "X.far", z, onnx_features(e, "X.clip", inverse), NULL);
    const char *square = onnx_node(build, "Mul", "X.square", far, far, NULL);
    const char *sum = onnx_node(build, "Add", "X.sum", square, onnx_features(e, "X.one", one), NULL);
    const char *root = onnx_node(build, "Sqrt", "X.root", sum, NULL);
    return onnx_node(build, "Div", "X.clipped", z, root, NULL);
}

static void add_input(struct onnx_export *e, int fill)
{
    const struct net_node *input = &e->net->nodes[0];
    const size_t shape[] = {input->channels, input->height, input->width};
    int image = node_pixels(input) > 1;
    onnx_input(&e->build, input_name, ONNX_FLOAT, shape, image ? 3 : 1);
    e->value[0] = (struct onnx_value){clip(e, standardise(e, input_name, fill)), image};
}

/* ---------------------------------------------------------------- what goes out */

/* The value under another name: its own node's where that is the last one, which nobody reads yet. */
static void finish(struct onnx_build *build, const char *value, const char *name, int type, size_t width)
{
    if (!build->node || strcmp(build->node->output[0], value) != 0)
        onnx_node(build, "Identity", name, value, NULL);
    if (build->node)
        build->node->name = build->node->output[0] = (char *)name;
    onnx_output(build, name, type, &width, width ? 1 : 0);
}

static const char *unscale(struct onnx_export *e, const char *y)
{
    const struct scaling *scaling = &e->net->scaling;
    if (scaling->y_scale)
        y = onnx_node(&e->build, "Mul", "Y.scaled", y,
                      onnx_floats(&e->build, "Y.scale", scaling->y_scale, &scaling->targets, 1), NULL);
    if (scaling->y_mean)
        y = onnx_node(&e->build, "Add", "Y.moved", y,
                      onnx_floats(&e->build, "Y.mean", scaling->y_mean, &scaling->targets, 1), NULL);
    return y;
}

/* 1: the text is how its number is written. */
static int is_integer(const char *text, int64_t *out)
{
    char *end, again[32];
    *out = strtoll(text, &end, 10);
    snprintf(again, sizeof again, "%lld", (long long)*out);
    return *text && !*end && !strcmp(again, text);
}

/* label <- what the class of this number is called, of type int64 where all are integers. */
static void add_label(struct onnx_build *build, const struct onnx_face *face, const char *index)
{
    int64_t *numbers = onnx_take(build, face->classes, sizeof *numbers);
    size_t integers = 0;
    while (numbers && integers < face->classes && is_integer(face->labels[integers], &numbers[integers]))
        integers++;
    int whole = integers == face->classes;
    const char *labels = whole ? onnx_ints(build, "labels", numbers, numbers ? face->classes : 0)
                               : onnx_strings(build, "labels", face->labels, face->classes);
    finish(build, onnx_node(build, "Gather", "label", labels, index, NULL), "label",
           whole ? ONNX_INT64 : ONNX_STRING, 0);
}

static void add_logistic(struct onnx_build *build, const struct onnx_face *face, const char *logit)
{
    const int64_t flat[] = {-1};
    const size_t one = 1;
    const double zero = 0;
    const char *is_second =
        onnx_node(build, "Greater", "is_second", logit, onnx_floats(build, "zero", &zero, &one, 1), NULL);
    const char *number = onnx_node(build, "Cast", "second", is_second, NULL);
    onnx_set_int(build, "to", ONNX_INT64);
    add_label(build, face,
              onnx_node(build, "Reshape", "class", number, onnx_ints(build, "rows", flat, 1), NULL));
    const char *second = onnx_node(build, "Sigmoid", "of_second", logit, NULL);
    const char *first =
        onnx_node(build, "Sigmoid", "of_first", onnx_node(build, "Neg", "less", logit, NULL), NULL);
    const char *both = onnx_node(build, "Concat", "probabilities", first, second, NULL);
    onnx_set_int(build, "axis", 1);
    finish(build, both, "probabilities", ONNX_FLOAT, 2);
}

static void add_softmax(struct onnx_build *build, const struct onnx_face *face, const char *logits)
{
    const char *top = onnx_node(build, "ArgMax", "class", logits, NULL);
    onnx_set_int(build, "axis", 1);
    onnx_set_int(build, "keepdims", 0);
    add_label(build, face, top);
    const char *shares = onnx_node(build, "Softmax", "probabilities", logits, NULL);
    onnx_set_int(build, "axis", 1);
    finish(build, shares, "probabilities", ONNX_FLOAT, face->classes);
}

static void add_output(struct onnx_export *e, const struct onnx_face *face, const char *output)
{
    struct onnx_build *build = &e->build;
    size_t outputs = sph_net_outputs(e->net);
    const char *y = unscale(e, output);
    if (!face->raw && face->labels && face->link == LOSS_LOGISTIC) {
        add_logistic(build, face, y);
        return;
    }
    if (!face->raw && face->labels && face->link == LOSS_SOFTMAX) {
        add_softmax(build, face, y);
        return;
    }
    if (!face->raw && face->link == LOSS_EXP)
        y = onnx_node(build, "Exp", "Y.mean_of_counts", y, NULL);
    finish(build, y, face->raw ? "scores" : "variable", ONNX_FLOAT, outputs);
}

/* ---------------------------------------------------------------- the mean of several */

static const char *mean_of(struct onnx_build *build, const char *const *values, size_t count,
                           const char *name)
{
    const size_t one = 1;
    const double share = 1 / (double)count;
    const char *sum = values[0];
    for (size_t k = 1; k < count; k++)
        sum = onnx_node(build, "Add", onnx_text(build, "%s.sum_%zu", name, k), sum, values[k], NULL);
    return onnx_node(build, "Mul", name, sum,
                     onnx_floats(build, onnx_text(build, "%s.share", name), &share, &one, 1), NULL);
}

/* What each of the nets predicts, by one operator on its outputs. */
static const char *mean_by(struct onnx_build *build, const char *op, const char *const *outputs, size_t count,
                           const char *name)
{
    const char **each = onnx_take(build, count, sizeof *each);
    for (size_t k = 0; each && k < count; k++) {
        each[k] = onnx_node(build, op, onnx_text(build, "%s.%zu", name, k), outputs[k], NULL);
        if (!strcmp(op, "Softmax"))
            onnx_set_int(build, "axis", 1);
    }
    return each ? mean_of(build, each, count, name) : "";
}

static void add_mean_logistic(struct onnx_build *build, const struct onnx_face *face,
                              const char *const *logits, size_t count)
{
    const int64_t flat[] = {-1};
    const char **less = onnx_take(build, count, sizeof *less);
    for (size_t k = 0; less && k < count; k++)
        less[k] = onnx_node(build, "Neg", onnx_text(build, "less.%zu", k), logits[k], NULL);
    const char *second = mean_by(build, "Sigmoid", logits, count, "of_second");
    const char *first = less ? mean_by(build, "Sigmoid", less, count, "of_first") : "";
    const char *number = onnx_node(build, "Cast", "second",
                                   onnx_node(build, "Greater", "is_second", second, first, NULL), NULL);
    onnx_set_int(build, "to", ONNX_INT64);
    add_label(build, face,
              onnx_node(build, "Reshape", "class", number, onnx_ints(build, "rows", flat, 1), NULL));
    const char *both = onnx_node(build, "Concat", "probabilities", first, second, NULL);
    onnx_set_int(build, "axis", 1);
    finish(build, both, "probabilities", ONNX_FLOAT, 2);
}

static void add_mean_softmax(struct onnx_build *build, const struct onnx_face *face,
                             const char *const *logits, size_t count)
{
    const char *mean = mean_by(build, "Softmax", logits, count, "mean");
    const char *top = onnx_node(build, "ArgMax", "class", mean, NULL);
    onnx_set_int(build, "axis", 1);
    onnx_set_int(build, "keepdims", 0);
    add_label(build, face, top);
    finish(build, mean, "probabilities", ONNX_FLOAT, face->classes);
}

/* outputs (count) of the nets, before their units are undone. */
static void add_mean(struct onnx_export *e, const struct onnx_face *face, const char *const *outputs,
                     size_t count)
{
    struct onnx_build *build = &e->build;
    if (face->labels && face->link == LOSS_LOGISTIC) {
        add_mean_logistic(build, face, outputs, count);
        return;
    }
    if (face->labels && face->link == LOSS_SOFTMAX) {
        add_mean_softmax(build, face, outputs, count);
        return;
    }
    const char *mean = face->link == LOSS_EXP ? mean_by(build, "Exp", outputs, count, "mean")
                                              : unscale(e, mean_of(build, outputs, count, "mean"));
    finish(build, mean, "variable", ONNX_FLOAT, sph_net_outputs(e->net));
}

/* ---------------------------------------------------------------- all of it */

static void add_metadata(struct onnx_build *build, const struct onnx_face *face)
{
    onnx_metadata(build, "spherelu_version", sph_version());
    if (face->features)
        onnx_metadata(build, "features", face->features);
    if (face->data)
        onnx_metadata(build, "data", face->data);
}

static int check(const sph_net *net, const char *path, const sph_export_opts *opts)
{
    if (!net->ready)
        return sph_fail_of(SPH_EARG, path, 0, "net", "the network is not ready; call sph_net_ready first");
    if (opts->opset && (opts->opset < ONNX_OPSET_LEAST || opts->opset > ONNX_OPSET_MOST))
        return sph_fail_of(SPH_EARG, "", 0, "opset", "opset %d, expected %d to %d", opts->opset,
                           ONNX_OPSET_LEAST, ONNX_OPSET_MOST);
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct norm_ops *norm = net->layers[l].norm;
        if (norm->per_sample && !norm->standardizes)
            return sph_fail_of(SPH_EARG, path, 0, net->layers[l].path,
                               "%s: norm %s cannot be written as ONNX", net->layers[l].path, norm->name);
    }
    return 0;
}

/* One net's nodes; what it gives is called *out. */
static int add_net(struct onnx_export *e, const sph_net *net, const char *path, const char **out)
{
    int err = weights_new(&e->weights, (sph_net *)net, net->k, 0);
    if (err < 0)
        return err;
    e->net = net;
    weights_materialize(e->weights);
    size_t bad = weights_first_bad(e->weights);
    if (bad < net->layer_count)
        err = sph_fail_of(SPH_EARG, path, 0, net->layers[bad].path,
                          "%s has numbers that are not finite, so it cannot be exported",
                          net->layers[bad].path);
    for (size_t i = 1; i < net->node_count && !err; i++)
        onnx_add_node(e, i);
    weights_free(e->weights);
    e->weights = NULL;
    if (!err && !e->build.err)
        *out = onnx_as_vector(e, net->output);
    return err ? err : e->build.err;
}

static int check_all(sph_net *const *nets, size_t count, const char *path, const sph_export_opts *opts,
                     const struct onnx_face *face)
{
    int err = 0;
    for (size_t k = 0; k < count && !err; k++)
        err = check(nets[k], path, opts);
    return !err && count > 1 && face->raw
               ? sph_fail_of(SPH_EARG, "", 0, "raw",
                             "scores of %zu networks cannot be averaged; use --member K", count)
               : err;
}

int onnx_save(sph_net *const *nets, size_t count, const char *path, const sph_export_opts *opts,
              const struct onnx_face *face)
{
    sph_export_opts own = {.size = sizeof(sph_export_opts)};
    int err = opts ? SIZED_TAKE(&own, opts, sph_export_opts) : 0;
    opts = &own;
    if (err < 0 || (err = check_all(nets, count, path, opts, face)) < 0)
        return err;
    struct onnx_export e = {.net = nets[0], .before = "", .keep_norm = opts->flags & SPH_EXPORT_KEEP_BN};
    onnx_begin(&e.build, opts->opset ? opts->opset : ONNX_OPSET);
    e.value = onnx_take(&e.build, nets[0]->node_count, sizeof *e.value);
    const char **outputs = onnx_take(&e.build, count, sizeof *outputs);
    if (!e.value || !outputs) {
        err = e.build.err;
        goto out;
    }
    add_input(&e, face->fill);
    for (size_t k = 0; k < count && !err; k++) {
        if (count > 1)
            e.before = onnx_text(&e.build, "members.%zu.", k);
        err = e.before ? add_net(&e, nets[k], path, &outputs[k]) : e.build.err;
    }
    if (err < 0)
        goto out;
    if (count > 1)
        add_mean(&e, face, outputs, count);
    else
        add_output(&e, face, outputs[0]);
    add_metadata(&e.build, face);
    err = onnx_write(&e.build, path);
out:
    onnx_free(&e.build);
    return err;
}

int sph_net_export(const sph_net *net, const char *path, const sph_export_opts *opts)
{
    NEED(net, path);
    sph_net *one = (sph_net *)net;
    return onnx_save(&one, 1, path, opts, &(struct onnx_face){.raw = 1});
}
