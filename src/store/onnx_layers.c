/* SPDX-License-Identifier: MIT
 *
 * A layer becomes [Sub] Gemm or Conv [norm] [activation] [Mul] [Sub]: weights as they are after the parameterization has
 * made them, and every norm that is affine in evaluation folded into them, in f64. What looks at a sample as a whole is
 * InstanceNormalization of its groups, which every opset has. */
#include "store/onnx_layers.h"

#include <string.h>

#include "base/memory.h"
#include "net/net.h"

/* One layer on its way, in f64. */
struct layer {
    const struct net_layer *of;
    const struct net_node *node;
    const char *path, *at; /* its name; what it has become so far */
    size_t m, n;
    double *memory; /* owns the rest */
    double *w;      /* (m, n)        */
    double *b, *s;  /* (m)           */
    double *spare;  /* (m)           */
    double *shape;  /* as the activation's row has it */
    struct norm_values norm;
    int image;
};

/* ---------------------------------------------------------------- values */

static int is_image(const struct onnx_export *e, int node)
{
    return e->value[node].image;
}

const char *onnx_as_vector(struct onnx_export *e, int node)
{
    const char *name = e->value[node].name;
    if (!is_image(e, node))
        return name;
    const char *flat = onnx_node(&e->build, "Flatten", onnx_text(&e->build, "%s.flat", name), name, NULL);
    onnx_set_int(&e->build, "axis", 1);
    e->value[node] = (struct onnx_value){flat, 0};
    return flat;
}

static const char *as_image(struct onnx_export *e, int node)
{
    const char *name = e->value[node].name;
    if (is_image(e, node))
        return name;
    const int64_t shape[] = {0, (int64_t)e->net->nodes[node].channels, 1, 1};
    const char *to = onnx_ints(&e->build, onnx_text(&e->build, "%s.shape", name), shape, 4);
    return onnx_node(&e->build, "Reshape", onnx_text(&e->build, "%s.image", name), name, to, NULL);
}

/* A number for each unit, beside what the layer gives. */
static const char *units(struct onnx_export *e, const struct layer *layer, const char *what,
                         const double *values)
{
    const size_t shape[] = {layer->m, 1, 1};
    return onnx_floats(&e->build, onnx_text(&e->build, "%s.%s", layer->path, what), values, shape,
                       layer->image ? 3 : 1);
}

static void apply(struct onnx_export *e, struct layer *layer, const char *op, const char *what,
                  const char *with)
{
    layer->at =
        onnx_node(&e->build, op, onnx_text(&e->build, "%s.%s", layer->path, what), layer->at, with, NULL);
}

const char *onnx_features(struct onnx_export *e, const char *name, const double *values)
{
    const struct net_node *input = &e->net->nodes[0];
    size_t pixels = node_pixels(input), c = 0, shape[] = {input->channels, input->height, input->width};
    if (pixels == 1)
        return onnx_floats(&e->build, name, values, shape, 1);
    double *of_channel = onnx_take(&e->build, input->channels, sizeof *of_channel);
    for (size_t i = 0; of_channel && i < input->channels * pixels; i++) {
        if (i % pixels == 0)
            of_channel[i / pixels] = values[i];
        c += values[i] == of_channel[i / pixels];
    }
    if (of_channel && c == input->channels * pixels)
        shape[1] = shape[2] = 1, values = of_channel;
    return onnx_floats(&e->build, name, values, shape, 3);
}

/* ---------------------------------------------------------------- numbers of a layer */

static int read_layer(struct onnx_export *e, struct layer *layer)
{
    const struct layer_weights *from = &e->weights->layer[layer->node->layer];
    const struct kernels *k = e->net->k;
    size_t m = layer->m, n = layer->n, normed = net_norm_numbers(layer->of),
           shapes = net_shape_length(layer->of);
    layer->memory = mem_get(m * n + 3 * m + normed + shapes, sizeof *layer->memory);
    if (!layer->memory)
        return e->build.err = SPH_EMEMORY;
    layer->w = layer->memory;
    layer->b = layer->w + m * n;
    layer->s = layer->b + m;
    layer->spare = layer->s + m;
    layer->shape = layer->spare + m + normed;
    for (size_t i = 0; i < n; i++) {
        k->to_double(m, (const char *)from->w + i * from->ldw * k->size, layer->spare);
        for (size_t j = 0; j < m; j++)
            layer->w[j * n + i] = layer->spare[j];
    }
    if (from->b)
        k->to_double(m, from->b, layer->b);
    for (size_t j = 0; j < m; j++)
        layer->s[j] = 1;
    if (from->scaled)
        k->to_double(m, from->s, layer->s);
    net_norm_values(e->net, layer->of, layer->spare + m, &layer->norm);
    if (shapes)
        k->to_double(shapes, from->act_shape, layer->shape);
    return 0;
}

static double *norm_tensor(const struct layer *layer, const char *name)
{
    for (size_t t = 0; t < layer->of->norm->tensors; t++)
        if (!strcmp(layer->of->norm->tensor[t].name, name))
            return layer->norm.tensor[t];
    return NULL;
}

static int stays_apart(const struct onnx_export *e, const struct norm_ops *norm)
{
    return norm->per_sample || (e->keep_norm && norm->batch && norm->divides);
}

/* A norm at the input of a padded conv is a node: zeroes are put around what it gives. */
static int is_before(const struct layer *layer)
{
    return layer->of->norm->at_input && layer->of->spec.pad;
}

static void fold(const struct onnx_export *e, struct layer *layer)
{
    const struct norm_ops *norm = layer->of->norm;
    int folds = norm->fold && !stays_apart(e, norm) && !is_before(layer);
    for (size_t j = 0; folds && j < layer->m; j++)
        norm->fold(&layer->norm, j, layer->w + j * layer->n, &layer->b[j]);
    if (!layer->of->act->identity || stays_apart(e, norm))
        return;
    for (size_t j = 0; j < layer->m; j++) {
        for (size_t i = 0; i < layer->n; i++)
            layer->w[j * layer->n + i] *= layer->s[j];
        layer->b[j] *= layer->s[j];
        layer->s[j] = 1;
    }
}

static int all_are(const double *values, size_t count, double value)
{
    size_t same = 0;
    while (same < count && values[same] == value)
        same++;
    return same == count;
}

/* ---------------------------------------------------------------- nodes of a layer */

static void set_window(struct onnx_build *build, const struct window *window)
{
    onnx_set_ints(build, "kernel_shape", (size_t[]){window->kernel_height, window->kernel_width}, 2);
    onnx_set_ints(build, "strides", (size_t[]){window->stride, window->stride}, 2);
    onnx_set_ints(build, "pads", (size_t[]){window->pad, window->pad, window->pad, window->pad}, 4);
}

static void product(struct onnx_export *e, struct layer *layer)
{
    struct onnx_build *build = &e->build;
    const struct window *window = &layer->node->window;
    size_t area = layer->image ? window->kernel_height * window->kernel_width : 1;
    const size_t shape[] = {layer->m, layer->n / area, window->kernel_height, window->kernel_width};
    const char *weight =
        onnx_floats(build, onnx_text(build, "%s.weight", layer->path), layer->w, shape, layer->image ? 4 : 2);
    const char *bias = NULL, *op = layer->image ? "Conv" : "Gemm";
    if (!layer->image || !all_are(layer->b, layer->m, 0))
        bias = onnx_floats(build, onnx_text(build, "%s.bias", layer->path), layer->b, shape, 1);
    layer->at =
        onnx_node(build, op, onnx_text(build, "%s.product", layer->path), layer->at, weight, bias, NULL);
    if (layer->image) {
        set_window(build, window);
        onnx_set_int(build, "group", (int64_t)layer_groups(layer->of));
    } else {
        onnx_set_int(build, "transB", 1);
    }
}

/* Over the units of a group, and all their pixels. */
static void sample_norm(struct onnx_export *e, struct layer *layer)
{
    struct onnx_build *build = &e->build;
    size_t groups = layer->norm.norm_groups;
    const int64_t apart[] = {0, (int64_t)groups, -1};
    const int64_t together[] = {0, (int64_t)layer->m, (int64_t)layer->node->height,
                                (int64_t)layer->node->width};
    double *ones = onnx_take(build, groups, sizeof *ones), *zeros = onnx_take(build, groups, sizeof *zeros);
    for (size_t g = 0; zeros && g < groups; g++)
        ones[g] = 1;
    if (!zeros)
        return;
    apply(e, layer, "Reshape", "grouped",
          onnx_ints(build, onnx_text(build, "%s.groups", layer->path), apart, 3));
    layer->at =
        onnx_node(build, "InstanceNormalization", onnx_text(build, "%s.normalized", layer->path), layer->at,
                  onnx_floats(build, onnx_text(build, "%s.ones", layer->path), ones, &groups, 1),
                  onnx_floats(build, onnx_text(build, "%s.zeros", layer->path), zeros, &groups, 1), NULL);
    onnx_set_float(build, "epsilon", layer->norm.epsilon);
    apply(e, layer, "Reshape", "ungrouped",
          onnx_ints(build, onnx_text(build, "%s.units", layer->path), together, layer->image ? 4 : 2));
    apply(e, layer, "Mul", "scaled", units(e, layer, "norm.scale", norm_tensor(layer, "norm.scale")));
    apply(e, layer, "Add", "shifted", units(e, layer, "norm.shift", norm_tensor(layer, "norm.shift")));
}

static void batch_norm(struct onnx_export *e, struct layer *layer)
{
    static const char *const names[] = {"norm.scale", "norm.shift", "norm.mean", "norm.var"};
    struct onnx_build *build = &e->build;
    const char *tensor[4];
    for (size_t t = 0; t < 4; t++)
        tensor[t] = onnx_floats(build, onnx_text(build, "%s.%s", layer->path, names[t]),
                                norm_tensor(layer, names[t]), &layer->m, 1);
    layer->at = onnx_node(build, "BatchNormalization", onnx_text(build, "%s.norm", layer->path), layer->at,
                          tensor[0], tensor[1], tensor[2], tensor[3], NULL);
    onnx_set_float(build, "epsilon", layer->norm.epsilon);
}

/* t + a (z - t) beyond each of the two thresholds, as the kernel has it */
static void three_lines(struct onnx_export *e, struct layer *layer)
{
    static const struct {
        int t, a;
        const char *test, *side;
    } sides[] = {{SRELU_T_LEFT, SRELU_A_LEFT, "LessOrEqual", "left"},
                 {SRELU_T_RIGHT, SRELU_A_RIGHT, "GreaterOrEqual", "right"}};
    struct onnx_build *build = &e->build;
    const char *z = layer->at, *so_far = z;
    for (size_t i = 0; i < 2; i++) {
        const char *side = sides[i].side;
        const char *t =
            units(e, layer, onnx_text(build, "act.t_%s", side), layer->shape + (size_t)sides[i].t * layer->m);
        const char *a =
            units(e, layer, onnx_text(build, "act.a_%s", side), layer->shape + (size_t)sides[i].a * layer->m);
        const char *beyond =
            onnx_node(build, sides[i].test, onnx_text(build, "%s.beyond_%s", layer->path, side), z, t, NULL);
        layer->at = z;
        apply(e, layer, "Sub", onnx_text(build, "from_%s", side), t);
        apply(e, layer, "Mul", onnx_text(build, "slope_%s", side), a);
        apply(e, layer, "Add", onnx_text(build, "line_%s", side), t);
        so_far = onnx_node(build, "Where", onnx_text(build, "%s.%s", layer->path, side), beyond, layer->at,
                           so_far, NULL);
    }
    layer->at = so_far;
}

/* Of activations that have no shape. */
static const char *plain_act(struct onnx_build *build, const struct act_ops *act, const char *prefix,
                             const char *in)
{
    if (act->identity)
        return in;
    const char *op = act->is_relu ? "Relu" : act->two_lines ? "LeakyRelu" : "Elu";
    const char *out = onnx_node(build, op, onnx_text(build, "%s.%s", prefix, act->name), in, NULL);
    if (act->two_lines && !act->is_relu)
        onnx_set_float(build, "alpha", act->below);
    return out;
}

static void add_layer(struct onnx_export *e, size_t node)
{
    const struct net_node *here = &e->net->nodes[node];
    const struct net_layer *of = &e->net->layers[here->layer];
    struct layer layer = {.of = of,
                          .node = here,
                          .path = onnx_text(&e->build, "%s%s", e->before, of->path),
                          .m = of->shape.m,
                          .n = of->shape.n,
                          .image = here->kind == NODE_CONV};
    layer.at = layer.image ? as_image(e, here->in[0]) : onnx_as_vector(e, here->in[0]);
    if (read_layer(e, &layer) < 0)
        return;
    fold(e, &layer);
    if (is_before(&layer)) {
        const size_t shape[] = {of->channels, 1, 1};
        apply(e, &layer, "Sub", "centred",
              onnx_floats(&e->build, onnx_text(&e->build, "%s.norm.mean", layer.path), layer.norm.tensor[0],
                          shape, 3));
    }
    product(e, &layer);
    if (of->norm->per_sample)
        sample_norm(e, &layer);
    else if (stays_apart(e, of->norm))
        batch_norm(e, &layer);
    if (of->act->shapes)
        three_lines(e, &layer);
    else
        layer.at = plain_act(&e->build, of->act, layer.path, layer.at);
    if (!all_are(layer.s, layer.m, 1))
        apply(e, &layer, "Mul", "out", units(e, &layer, "r", layer.s));
    if (of->norm->at_output)
        apply(e, &layer, "Sub", "centred", units(e, &layer, "norm.mean", layer.norm.tensor[0]));
    e->value[node] = (struct onnx_value){layer.at, layer.image};
    mem_free(layer.memory);
}

/* ---------------------------------------------------------------- other nodes */

static void add_pool(struct onnx_export *e, size_t node)
{
    const struct net_node *here = &e->net->nodes[node];
    const struct window *window = &here->window;
    int largest = here->kind == NODE_MAX_POOL;
    int whole = !largest && here->height == 1 && here->width == 1 && !window->pad &&
                window->kernel_height == window->height && window->kernel_width == window->width;
    const char *in = as_image(e, here->in[0]);
    const char *out = onnx_node(&e->build,
                                whole     ? "GlobalAveragePool"
                                : largest ? "MaxPool"
                                          : "AveragePool",
                                onnx_text(&e->build, "%snodes.%zu.pool", e->before, node), in, NULL);
    if (!whole)
        set_window(&e->build, window);
    if (!whole && !largest)
        onnx_set_int(&e->build, "count_include_pad", 1);
    e->value[node] = (struct onnx_value){out, 1};
}

static void add_sum(struct onnx_export *e, size_t node)
{
    const struct net_node *here = &e->net->nodes[node];
    int image = is_image(e, here->in[0]) && is_image(e, here->in[1]);
    const char *in[2];
    for (size_t i = 0; i < 2; i++)
        in[i] = image ? e->value[here->in[i]].name : onnx_as_vector(e, here->in[i]);
    e->value[node] = (struct onnx_value){onnx_node(&e->build, "Add",
                                                   onnx_text(&e->build, "%snodes.%zu.sum", e->before, node),
                                                   in[0], in[1], NULL),
                                         image};
}

void onnx_add_node(struct onnx_export *e, size_t node)
{
    const struct net_node *here = &e->net->nodes[node];
    if (e->build.err)
        return;
    switch (here->kind) {
    case NODE_INPUT: /* onnx_export.c has it */
        break;
    case NODE_DENSE:
    case NODE_CONV:
        add_layer(e, node);
        break;
    case NODE_MAX_POOL:
    case NODE_AVG_POOL:
        add_pool(e, node);
        break;
    case NODE_ADD:
        add_sum(e, node);
        break;
    case NODE_ACT:
        e->value[node] = (struct onnx_value){plain_act(&e->build, act_ops(here->act),
                                                       onnx_text(&e->build, "%snodes.%zu", e->before, node),
                                                       e->value[here->in[0]].name),
                                             is_image(e, here->in[0])};
        break;
    }
}
