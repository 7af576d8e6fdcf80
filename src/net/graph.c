/* SPDX-License-Identifier: MIT
 *
 * Building a net: nodes, shapes, first values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "net/net.h"

int sph_net_new(sph_net **out, sph_dtype dtype)
{
    NEED(out);
    if ((unsigned)dtype >= SPH_DTYPE_COUNT)
        return sph_fail_of(SPH_EARG, "", 0, "dtype", "unknown dtype %d", (int)dtype);
    sph_net *net = mem_get(1, sizeof *net);
    if (!net)
        return SPH_EMEMORY;
    net->dtype = dtype;
    net->k = kernels_pick(dtype, KERNELS_FASTEST);
    net->output = -1;
    *out = net;
    return 0;
}

void sph_net_set_conv(sph_net *net, sph_conv way)
{
    if (!net)
        return;
    net->conv = way;
}

void sph_net_free(sph_net *net)
{
    if (!net)
        return;
    mem_free(net->nodes);
    levels_free(&net->names.layers);
    levels_free(&net->names.tensors);
    mem_free(net->layers);
    mem_free(net->tensors);
    mem_free(net->params);
    mem_free(net->state);
    scaling_free(&net->scaling);
    mem_free(net->note);
    mem_free(net);
}

/* ---------------------------------------------------------------- nodes */

/* 0: the node fits, and add_node will not fail. */
static int make_room(sph_net *net, const struct net_node *node)
{
    size_t numbers;
    if (net->ready)
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network is ready; nodes cannot be added");
    if (net->node_count == NET_MOST_NODES)
        return sph_fail_key(SPH_EARG, "net", "a network has at most %d nodes", NET_MOST_NODES);
    if (!size_product(&numbers, (size_t[]){node->channels, node->height, node->width}, 3) ||
        numbers > NET_MOST_NUMBERS)
        return sph_fail_key(SPH_EARG, "net", "%zu x %zu x %zu numbers are more than this machine can address",
                            node->channels, node->height, node->width);
    void **nodes = (void **)&net->nodes;
    return mem_reserve(nodes, &net->room.nodes, net->node_count + 1, sizeof *net->nodes) ? 0 : SPH_EMEMORY;
}

static int add_node(sph_net *net, struct net_node node)
{
    int err = make_room(net, &node);
    if (!err)
        net->nodes[net->node_count] = node;
    return err ? err : (int)net->node_count++;
}

static int check_node(const sph_net *net, int node, const char *what)
{
    if (!net->node_count)
        return sph_fail_key(SPH_EARG, what, "the network has no input yet");
    if (node < 0 || (size_t)node >= net->node_count)
        return sph_fail_key(SPH_EARG, what, "its input is node %d, but nodes are 0..%zu", node,
                            net->node_count - 1);
    return 0;
}

int sph_net_input(sph_net *net, size_t features)
{
    NEED(net);
    if (!features)
        return sph_fail_key(SPH_EARG, "input", "0 features, expected at least 1");
    return sph_net_image(net, features, 1, 1);
}

int sph_net_image(sph_net *net, size_t channels, size_t height, size_t width)
{
    NEED(net);
    if (!channels || !height || !width)
        return sph_fail_key(SPH_EARG, "input",
                            "an image of %zu x %zu x %zu (channels, height, width) is empty", channels,
                            height, width);
    if (net->node_count)
        return sph_fail_key(SPH_EARG, "input", "the network already has one; it must be the first node");
    return add_node(
        net, (struct net_node){
                 .kind = NODE_INPUT, .in = {-1, -1}, .channels = channels, .height = height, .width = width});
}

static int check_layer(const sph_layer *spec, const char *path)
{
    if (!spec->units)
        return sph_fail_key(SPH_EARG, path, "0 units, expected at least 1");
    if ((unsigned)spec->param >= SPH_PARAM_COUNT || (unsigned)spec->norm >= SPH_NORM_COUNT ||
        (unsigned)spec->act >= SPH_ACT_COUNT || (unsigned)spec->init >= SPH_INIT_COUNT)
        return sph_fail_key(SPH_EARG, path, "a value in its description is unknown");
    int has_radius = param_has_radius(spec->param);
    if (spec->init == SPH_INIT_PAPER && !has_radius)
        return sph_fail_key(SPH_EARG, path, "--init paper is only for gmp and sphere; use glorot or he");
    const sph_details *details = &spec->details;
    if ((unsigned)details->imn_at >= SPH_IMN_PLACE_COUNT ||
        (unsigned)details->mbn_bias >= SPH_MBN_BIAS_COUNT ||
        (unsigned)details->angle_order >= SPH_ANGLE_ORDER_COUNT ||
        (unsigned)details->fan_out >= SPH_FAN_OUT_COUNT)
        return sph_fail_key(SPH_EARG, path, "a value in its details is unknown");
    if (!(details->norm_epsilon >= 0) || !isfinite(details->norm_epsilon))
        return sph_fail_key(SPH_EARG, path,
                            "norm epsilon %g, expected a number above 0, or 0 for the default",
                            details->norm_epsilon);
    if (spec->signs && has_radius)
        return sph_fail_key(SPH_EARG, path, "output signs are only for sp and wn");
    return 0;
}

/* Into how many groups the layer's norm takes its units: as the layer says, or as many as are usual. */
static int find_groups(struct net_layer *layer, size_t pixels)
{
    size_t units = layer->spec.units, *groups = &layer->spec.norm_groups;
    if (!layer->norm->grouped && *groups)
        return sph_fail_key(SPH_EARG, layer->path, "%zu groups, but norm %s does not use groups", *groups,
                            layer->norm->name);
    if (!layer->norm->grouped)
        return 0;
    if (*groups && units % *groups)
        return sph_fail_key(SPH_EARG, layer->path,
                            "%zu units cannot be divided into %zu groups of equal size", units, *groups);
    if (*groups > 1 && *groups == units && pixels == 1)
        return sph_fail_key(SPH_EARG, layer->path,
                            "%zu groups of one value each, which %s would set to 0; use fewer groups",
                            *groups, layer->norm->name);
    for (size_t usual = 32; !*groups; usual /= 2)
        if (usual == 1 || (units % usual == 0 && units / usual >= 4)) /* two units would become +-1 */
            *groups = usual;
    return 0;
}

/* A weight layer at `node`, whose description is all there but for the layer's number: each unit reads
 * window_area numbers from each channel of its group. */
static int add_layer(sph_net *net, const sph_layer *spec, struct net_node node, size_t window_area)
{
    struct net_layer layer = {.spec = *spec};
    if (spec->path)
        snprintf(layer.path, sizeof layer.path, "%s", spec->path);
    else
        snprintf(layer.path, sizeof layer.path, "layers.%zu", net->layer_count);
    if (spec->path && strlen(spec->path) >= sizeof layer.path)
        return sph_fail_key(SPH_EARG, layer.path, "a layer's name has at most %zu bytes",
                            sizeof layer.path - 1);
    if (levels_seen(&net->names.layers, layer.path) != SIZE_MAX)
        return sph_fail_key(SPH_EARG, layer.path, "two layers have this name");

    size_t groups = layer_groups(&layer), inputs;
    if (!size_times(&inputs, net->nodes[node.in[0]].channels / groups, window_area) ||
        inputs > NET_MOST_NUMBERS)
        return sph_fail_key(SPH_EARG, layer.path,
                            "a unit of %zu channels in a window of %zu is more than this machine can address",
                            net->nodes[node.in[0]].channels / groups, window_area);
    layer.ops = param_ops(spec->param);
    layer.norm = norm_ops_at(spec->norm, spec->details.imn_at);
    layer.norm_epsilon = spec->details.norm_epsilon > 0 ? spec->details.norm_epsilon : norm_epsilon;
    layer.act = act_ops(spec->act);
    layer.channels = net->nodes[node.in[0]].channels;
    layer.shape = (struct param_shape){
        .m = spec->units,
        .n = inputs,
        .fan_in = inputs,
        .fan_out = spec->units / groups * (spec->details.fan_out == SPH_FAN_OUT_FILTERS ? 1 : window_area),
        .filters = spec->units / groups,
        .area = window_area,
        .order = spec->details.angle_order,
        .has_bias = !layer.norm->replaces_bias &&
                    !(layer.norm->adds_bias && spec->details.mbn_bias == SPH_MBN_BIAS_NONE),
        .fold = layer.act->homogeneous && !norm_between(layer.norm),
    };
    int err = find_groups(&layer, node_pixels(&node));
    if (err < 0)
        return err;
    if (!mem_reserve((void **)&net->layers, &net->room.layers, net->layer_count + 1, sizeof *net->layers))
        return SPH_EMEMORY;
    node.layer = net->layer_count;
    if ((err = make_room(net, &node)) < 0 || (err = levels_add(&net->names.layers, layer.path)) < 0)
        return err;
    layer.node = add_node(net, node);
    net->layers[net->layer_count++] = layer;
    return layer.node;
}

/* What an error calls a layer that does not exist yet. */
static const char *layer_name(const sph_net *net, const sph_layer *spec, char text[32])
{
    snprintf(text, 32, "layers.%zu", net->layer_count);
    return spec->path ? spec->path : text;
}

int sph_net_dense(sph_net *net, int from, const sph_layer *spec)
{
    NEED(net, spec);
    sph_layer own = {.size = sizeof(sph_layer)};
    int err = SIZED_TAKE(&own, spec, sph_layer);
    if (err < 0)
        return err;
    spec = &own;
    char text[32];
    const char *name = layer_name(net, spec, text);
    if ((err = check_layer(spec, name)) < 0 || (err = check_node(net, from, name)) < 0)
        return err;
    if (spec->kernel || spec->stride || spec->pad || spec->groups)
        return sph_fail_key(SPH_EARG, name, "a dense layer has no kernel, stride, pad or groups");
    const struct net_node *before = &net->nodes[from];
    if (node_pixels(before) != 1)
        return sph_fail_key(SPH_EARG, name,
                            "a dense layer takes vectors, its input is an image of %zu x %zu x %zu; pool it",
                            before->channels, before->height, before->width);
    return add_layer(
        net, spec,
        (struct net_node){
            .kind = NODE_DENSE, .in = {from, -1}, .channels = spec->units, .height = 1, .width = 1},
        1);
}

/* ---------------------------------------------------------------- images */

/* The node a window over `from` gives; what names it in errors. */
static int slide(const sph_net *net, int from, const char *what, size_t kernel, size_t stride, size_t pad,
                 struct net_node *out)
{
    int err = check_node(net, from, what);
    if (err < 0)
        return err;
    const struct net_node *in = &net->nodes[from];
    size_t height, width;
    if (!kernel || !stride)
        return sph_fail_key(SPH_EARG, what, "a window of %zu every %zu pixels, expected at least 1 and 1",
                            kernel, stride);
    if (pad >= kernel)
        return sph_fail_key(SPH_EARG, what, "padding %zu is not less than the window of %zu", pad, kernel);
    if (kernel > NET_MOST_WINDOW || !size_plus(&height, in->height, 2 * pad) ||
        !size_plus(&width, in->width, 2 * pad))
        return sph_fail_key(SPH_EARG, what, "a window of %zu, expected at most %zu", kernel,
                            (size_t)NET_MOST_WINDOW);
    if (height < kernel || width < kernel)
        return sph_fail_key(SPH_EARG, what,
                            "an image of %zu x %zu (padded by %zu) is smaller than the window of %zu",
                            in->height, in->width, pad, kernel);
    *out = (struct net_node){
        .in = {from, -1},
        .channels = in->channels,
        .height = (height - kernel) / stride + 1,
        .width = (width - kernel) / stride + 1,
    };
    out->window = (struct window){.channels = in->channels,
                                  .height = in->height,
                                  .width = in->width,
                                  .kernel_height = kernel,
                                  .kernel_width = kernel,
                                  .stride = stride,
                                  .pad = pad,
                                  .out_height = out->height,
                                  .out_width = out->width};
    return 0;
}

int sph_net_conv(sph_net *net, int from, const sph_layer *spec)
{
    NEED(net, spec);
    sph_layer own = {.size = sizeof(sph_layer)};
    int err = SIZED_TAKE(&own, spec, sph_layer);
    if (err < 0)
        return err;
    spec = &own;
    char text[32];
    const char *name = layer_name(net, spec, text);
    struct net_node node;
    if ((err = check_layer(spec, name)) < 0 ||
        (err = slide(net, from, name, spec->kernel, spec->stride, spec->pad, &node)) < 0)
        return err;
    if (spec->groups && (node.channels % spec->groups || spec->units % spec->groups))
        return sph_fail_key(SPH_EARG, name,
                            "%zu channels and %zu units cannot both be divided into %zu groups of equal size",
                            node.channels, spec->units, spec->groups);
    node.kind = NODE_CONV;
    node.channels = spec->units;
    return add_layer(net, spec, node, spec->kernel * spec->kernel);
}

static int add_pool(sph_net *net, int from, enum node_kind kind, const char *what, size_t kernel,
                    size_t stride, size_t pad)
{
    struct net_node node;
    int err = slide(net, from, what, kernel, stride, pad, &node);
    node.kind = kind;
    return err < 0 ? err : add_node(net, node);
}

int sph_net_max_pool(sph_net *net, int from, size_t kernel, size_t stride, size_t pad)
{
    NEED(net);
    return add_pool(net, from, NODE_MAX_POOL, "max pool", kernel, stride, pad);
}

int sph_net_avg_pool(sph_net *net, int from, size_t kernel, size_t stride, size_t pad)
{
    NEED(net);
    return add_pool(net, from, NODE_AVG_POOL, "average pool", kernel, stride, pad);
}

int sph_net_global_pool(sph_net *net, int from)
{
    NEED(net);
    int err = check_node(net, from, "global pool");
    if (err < 0)
        return err;
    const struct net_node *in = &net->nodes[from];
    struct net_node node = {
        .kind = NODE_AVG_POOL, .in = {from, -1}, .channels = in->channels, .height = 1, .width = 1};
    node.window = (struct window){.channels = in->channels,
                                  .height = in->height,
                                  .width = in->width,
                                  .kernel_height = in->height,
                                  .kernel_width = in->width,
                                  .stride = 1,
                                  .out_height = 1,
                                  .out_width = 1};
    return add_node(net, node);
}

int sph_net_add(sph_net *net, int a, int b)
{
    NEED(net);
    int err;
    if ((err = check_node(net, a, "add")) < 0 || (err = check_node(net, b, "add")) < 0)
        return err;
    const struct net_node *left = &net->nodes[a], *right = &net->nodes[b];
    size_t fa = node_features(left), fb = node_features(right);
    if (fa != fb)
        return sph_fail_key(SPH_EARG, "add", "node %d has %zu features, node %d has %zu; they must be equal",
                            a, fa, b, fb);
    if (left->channels != right->channels || left->height != right->height)
        return sph_fail_key(
            SPH_EARG, "add", "node %d is %zu x %zu x %zu, node %d is %zu x %zu x %zu; they must be equal", a,
            left->channels, left->height, left->width, b, right->channels, right->height, right->width);
    return add_node(net, (struct net_node){.kind = NODE_ADD,
                                           .in = {a, b},
                                           .channels = left->channels,
                                           .height = left->height,
                                           .width = left->width});
}

int sph_net_act(sph_net *net, int from, sph_act act)
{
    NEED(net);
    int err = check_node(net, from, "activation");
    if (err < 0)
        return err;
    if ((unsigned)act >= SPH_ACT_COUNT)
        return sph_fail_key(SPH_EARG, "activation", "unknown value %d", (int)act);
    if (act_ops(act)->shapes)
        return sph_fail_key(SPH_EARG, "activation", "%s has learned parameters and must belong to a layer",
                            act_ops(act)->name);
    const struct net_node *in = &net->nodes[from];
    return add_node(net, (struct net_node){.kind = NODE_ACT,
                                           .in = {from, -1},
                                           .channels = in->channels,
                                           .height = in->height,
                                           .width = in->width,
                                           .act = act});
}

int net_finish(sph_net *net, int output)
{
    int err;
    if (net->ready)
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network is already ready");
    if ((err = check_node(net, output, "output")) < 0)
        return err;
    if (!net->layer_count)
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network has no layer");
    if ((size_t)output + 1 != net->node_count)
        return sph_fail_key(SPH_EARG, "output",
                            "node %d is not the last one; the nodes after it would not be used", output);
    const struct net_node *last = &net->nodes[output];
    if (node_pixels(last) != 1)
        return sph_fail_key(SPH_EARG, "output",
                            "node %d is an image of %zu x %zu x %zu, expected a vector; pool it", output,
                            last->channels, last->height, last->width);
    net->output = output;
    if ((err = net_lay_out(net)) < 0)
        return err;
    net->ready = 1;
    return 0;
}

int sph_net_ready(sph_net *net, int output, uint64_t seed)
{
    NEED(net);
    int err = net_finish(net, output);
    return err < 0 ? err : net_draw(net, seed);
}

/* ---------------------------------------------------------------- first values */

static void fill(const sph_net *net, void *values, size_t count, double value)
{
    for (size_t i = 0; i < count; i++)
        net->k->from_double(1, &value, (char *)values + i * net->k->size);
}

int net_draw(sph_net *net, uint64_t seed)
{
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct net_layer *layer = &net->layers[l];
        size_t m = layer->shape.m;
        struct param_values values;
        int err = net_values_new(layer->ops, &layer->shape, &values);
        if (err < 0)
            return err;
        struct rng rng = rng_stream(seed, RNG_INIT, (uint32_t)l);
        err = param_init(layer->ops, &layer->shape, layer->spec.init, &rng, &values);
        if (!err)
            net_set_layer_values(net, l, &values);
        net_values_free(&values);
        if (err < 0)
            return err;
        for (size_t t = 0; t < layer->norm->tensors; t++)
            fill(net, net_norm(net, layer, t), net_norm_length(layer, t), layer->norm->tensor[t].first);
        if (layer->output_sign != NET_NOWHERE)
            fill(net, net_state(net, layer->output_sign), m, 1);
        for (size_t q = 0; q < layer->act->shapes; q++)
            fill(net, net_param(net, layer->act_shape + q * m), m, layer->act->shape[q].first);
    }
    return 0;
}

/* ---------------------------------------------------------------- ready-made and copied nets */

sph_norm net_norm_behind(const sph_net *net, int from, sph_norm norm, const sph_details *details)
{
    int known = (unsigned)norm < SPH_NORM_COUNT && (unsigned)details->imn_at < SPH_IMN_PLACE_COUNT;
    return known && norm_ops_at(norm, details->imn_at)->at_input && net->nodes[from].kind == NODE_INPUT
               ? SPH_NORM_NONE
               : norm;
}

sph_layer net_output_layer(sph_param param, sph_init init, int wn_output)
{
    int like = wn_output && (unsigned)param < SPH_PARAM_COUNT && param_ops(param)->may_be_output;
    sph_param plain = {0};
    return (sph_layer){.size = sizeof(sph_layer),
                       .param = like ? param : plain,
                       .init = init == SPH_INIT_HE ? SPH_INIT_HE : SPH_INIT_GLOROT};
}

int sph_net_mlp(sph_net **out, const sph_mlp *spec)
{
    NEED(out, spec);
    sph_mlp own = {.size = sizeof(sph_mlp)};
    sph_net *net = NULL;
    int err = SIZED_TAKE(&own, spec, sph_mlp);
    if (err < 0 || (err = sph_net_new(&net, own.dtype)) < 0)
        return err;
    spec = &own;
    int node = sph_net_input(net, spec->inputs);
    for (size_t d = 0; node >= 0 && d < spec->depth; d++) {
        sph_layer layer = {.size = sizeof(sph_layer),
                           .units = spec->hidden[d],
                           .param = spec->param,
                           .norm = net_norm_behind(net, node, spec->norm, &spec->details),
                           .act = spec->act,
                           .init = spec->init,
                           .norm_groups = spec->norm_groups,
                           .details = spec->details};
        node = sph_net_dense(net, node, &layer);
    }
    sph_layer last = net_output_layer(spec->param, spec->init, spec->wn_output);
    last.units = spec->outputs;
    if (node >= 0)
        node = sph_net_dense(net, node, &last);
    err = node < 0 ? node : sph_net_ready(net, node, spec->seed);
    if (err < 0) {
        sph_net_free(net);
        return err;
    }
    *out = net;
    return 0;
}

int net_add_like(sph_net *net, const struct net_node *node, const int in[2], const sph_layer *spec)
{
    switch (node->kind) {
    case NODE_INPUT:
        return sph_net_image(net, node->channels, node->height, node->width);
    case NODE_ADD:
        return sph_net_add(net, in[0], in[1]);
    case NODE_ACT:
        return sph_net_act(net, in[0], node->act);
    case NODE_DENSE:
        return sph_net_dense(net, in[0], spec);
    case NODE_CONV:
        return sph_net_conv(net, in[0], spec);
    default: {
        struct net_node pool = *node;
        pool.in[0] = in[0];
        return add_node(net, pool);
    }
    }
}

static int copy_node(sph_net *copy, const sph_net *net, const struct net_node *node, net_adapt *adapt,
                     void *self)
{
    sph_layer spec = {.size = sizeof(sph_layer)};
    if (node->kind == NODE_DENSE || node->kind == NODE_CONV) {
        spec = net->layers[node->layer].spec;
        spec.path = net->layers[node->layer].path;
        if (adapt)
            adapt(self, node->layer, &spec);
    }
    return net_add_like(copy, node, node->in, &spec);
}

int net_copy_graph(sph_net **out, const sph_net *net, net_adapt *adapt, void *self)
{
    sph_net *copy = NULL;
    int err = sph_net_new(&copy, net->dtype);
    for (size_t i = 0; err >= 0 && i < net->node_count; i++)
        err = copy_node(copy, net, &net->nodes[i], adapt, self);
    if (err >= 0 && (err = net_finish(copy, net->output)) >= 0)
        err = scaling_copy(&copy->scaling, &net->scaling);
    if (err >= 0 && net->note && !(copy->note = mem_text(net->note)))
        err = SPH_EMEMORY;
    if (err < 0) {
        sph_net_free(copy);
        return err;
    }
    *out = copy;
    return 0;
}

const char *sph_net_note(const sph_net *net)
{
    if (!net)
        return "";
    return net->note ? net->note : "";
}

int sph_net_set_note(sph_net *net, const char *text)
{
    NEED(net);
    char *note = text && *text ? mem_text(text) : NULL;
    if (text && *text && !note)
        return SPH_EMEMORY;
    mem_free(net->note);
    net->note = note;
    return 0;
}

int sph_net_copy(sph_net **out, const sph_net *net)
{
    NEED(out, net);
    int err = net_copy_graph(out, net, NULL, NULL);
    if (err < 0)
        return err;
    memcpy((*out)->params, net->params, net->learned * net->k->size);
    memcpy((*out)->state, net->state, net->state_len * net->k->size);
    return 0;
}
