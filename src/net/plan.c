/* SPDX-License-Identifier: MIT */
#include "net/plan_inside.h"

#include "base/error.h"
#include "base/memory.h"

/* Bytes of activations and gradients a tile may touch: measured, 404 to 7,654 rows of 100 units. Smaller ones
 * fit the first-level cache and lose more by their number than they gain. */
enum { TILE_BYTES = 64 * 1024, TILE_MOST = 256, TILE_LEAST = 12 };

/* From this many weights on, products go to BLAS, which wants tall matrices. */
enum { LARGE_LAYER = 48 * 1024 };

/* imn's two, product, bn's two, activation; held buffers or winners; centred input and its gradient, value,
 * its gradient, normalized (or room for a slice of that, forward and back), scaled, the product's room forward
 * and back, its input again. */
enum { OPS_PER_NODE = 6, OWNED_PER_NODE = 1, BUFFERS_PER_NODE = 10 };

/* The buffers of a layer that ops point to. */
enum { HELD_X, HELD_DX, HELD_Z, HELD_Y, HELD_BACK_Y, HELD_SY, HELD_WORK, HELD_BACK_WORK, HELD };

/* ---------------------------------------------------------------- making */

/* Rows that exist at once: of the whole batch, or of the tiles at work. */
static size_t buffered_rows(const struct plan *plan)
{
    return plan->whole ? plan->rows : plan->workers * plan->tile_rows;
}

static size_t round_up(size_t count, size_t step)
{
    return (count + step - 1) / step * step;
}

/* How values of a node lie. */
static struct buffer shape_of(const struct plan *plan, const struct net_node *like)
{
    size_t width = like->channels, pixels = node_pixels(like);
    struct buffer shape = {.width = width,
                           .ld = kernel_pad(width),
                           .pixels = pixels,
                           .blocks = 1,
                           .worker_rows = plan->whole ? 0 : plan->tile_rows};
    if (plan->block) {
        shape.ld = round_up(width, plan->block);
        if (pixels > 1) {
            shape.blocked = 1;
            shape.blocks = shape.ld / plan->block;
            shape.ld = plan->block;
        }
    }
    return shape;
}

/* Asks for room for values shaped like a node's; out must stay where it is. */
static void new_buffer(struct plan *plan, const struct net_node *like, struct buffer *out)
{
    *out = shape_of(plan, like);
    size_t rows = plan->whole ? plan->rows : plan->tile_rows;
    plan->requests.list[plan->requests.count++] =
        (struct request){.buffer = out, .numbers = rows * buffer_length(out)};
}

/* Asks for room of so many bytes for each worker; out must stay where it is. */
static struct buffer *new_work(struct plan *plan, size_t bytes, struct buffer *out)
{
    size_t numbers = round_up(bytes, MEM_ALIGN) / plan->k->size;
    if (!numbers)
        return NULL;
    *out = (struct buffer){.width = numbers, .ld = numbers, .pixels = 1, .blocks = 1, .worker_rows = 1};
    plan->requests.list[plan->requests.count++] =
        (struct request){.buffer = out,
                         .numbers = (plan->whole ? plan->workers : 1) * numbers,
                         .worker_step = plan->whole ? numbers : 0};
    return out;
}

static int new_norm(struct plan *plan, const struct norm_ops *row, size_t width, struct norm_op *out)
{
    struct norm_room room = {.k = plan->k,
                             .width = width,
                             .groups = out->groups,
                             .rows = plan->rows,
                             .shares = plan->block && plan->rows > plan->tiles ? plan->rows : plan->tiles,
                             .workers = plan->workers,
                             .momentum = plan->running.momentum,
                             .epsilon = out->epsilon,
                             .variance = plan->running.variance,
                             .comm = plan->running.comm};
    int err = norm_state_new(&out->state, row, &room);
    if (!err)
        plan->owned.norms[plan->owned.norm_count++] = out->state;
    return err;
}

static struct op *new_op(struct plan *plan, const struct op *like)
{
    struct op *op = &plan->ops[plan->op_count++];
    *op = *like;
    return op;
}

/* What a per-channel kernel takes at once. */
static size_t slice_bytes(const struct plan *plan, const struct buffer *of)
{
    return (of->blocked ? of->pixels * of->ld : plan->tile_rows * buffer_length(of)) * plan->k->size;
}

/* Images of the largest batch that a worker runs. */
static size_t worker_share(const struct plan *plan, size_t worker)
{
    size_t first = worker * plan->tile_rows, left = plan->rows - first;
    return left < plan->tile_rows ? left : plan->tile_rows;
}

static int new_convs(struct plan *plan, const struct net_node *here, struct op *op, struct buffer *held)
{
    size_t most = 0;
    struct conv_spec spec = {.k = plan->k,
                             .window = here->window,
                             .units = op->weights->m,
                             .groups = layer_groups(&plan->weights->net->layers[here->layer]),
                             .block = plan->block,
                             .way = plan->weights->net->conv,
                             .train = op->back,
                             .input_grad = op->din != NULL};
    op->kind = &op_conv;
    op->conv.convs = &plan->owned.convs[plan->owned.conv_count];
    for (size_t worker = 0; worker < plan->workers; worker++) {
        spec.images = worker_share(plan, worker);
        int err = conv_new(&plan->owned.convs[plan->owned.conv_count], &spec);
        if (err < 0)
            return err;
        size_t bytes = conv_scratch(plan->owned.convs[plan->owned.conv_count++]);
        most = bytes > most ? bytes : most;
    }
    op->work = new_work(plan, most, &held[HELD_WORK]);
    op->back_work = spec.train ? new_work(plan, most, &held[HELD_BACK_WORK]) : NULL;
    return 0;
}

/* The product of a layer: op's fields are set but for what kind it is. */
static int plan_product(struct plan *plan, const struct net_node *here, struct op *op, struct buffer *held)
{
    if (here->kind == NODE_CONV)
        return new_convs(plan, here, op, held);
    op->kind = &op_dense;
    return 0;
}

/* How the normalization of a layer runs; one without a way back as in evaluation. */
static enum norm_how how_of(const struct plan *plan, const struct norm_ops *row, size_t node)
{
    if (plan->mode != PLAN_TRAIN)
        return NORM_EVALUATE;
    if (!row->batch || !weights_still(plan->weights, plan->weights->net->nodes[node].layer))
        return NORM_TRAIN;
    return plan->notes.wanted[node] ? NORM_STILL : NORM_EVALUATE;
}

/* A normalization of what a layer reads. In training two layers that read one node share the result, and send
 * their gradients back together. */
static int plan_centring(struct plan *plan, const struct norm_ops *row, const struct op *base, size_t node,
                         struct buffer *held, struct buffer **in, struct buffer **din)
{
    int from = plan->weights->net->nodes[node].in[0], err;
    const struct net_node *before = &plan->weights->net->nodes[from];
    struct centred *shared = &plan->notes.centred[from];
    enum norm_how how = how_of(plan, row, node);
    if (shared->norm && how == NORM_TRAIN) {
        norm_state_share(shared->norm, base->weights);
        shared->norm = NULL;
        *in = shared->value;
        *din = shared->grad;
        return 0;
    }
    struct op half = *base;
    half.norm.groups = 1;
    half.norm.epsilon = norm_epsilon;
    if ((err = new_norm(plan, row, before->channels, &half.norm)) < 0)
        return err;
    half.in = *in;
    half.out = &held[HELD_X];
    half.dout = *din ? &held[HELD_DX] : NULL;
    half.din = *din;
    new_buffer(plan, before, half.out);
    if (half.dout)
        new_buffer(plan, before, half.dout);
    struct op *gather = how == NORM_TRAIN ? new_op(plan, &half) : NULL, *apply = new_op(plan, &half);
    if (gather) {
        row->gather(gather);
        apply->din = NULL;
    }
    row->apply(apply, how);
    apply->again = row->again;
    if (gather)
        *shared = (struct centred){half.out, half.dout, half.norm.state};
    *in = half.out;
    *din = half.dout;
    return 0;
}

/* A normalization behind the product: a batch statistic in two halves, others in one op. op->in is the
 * product, op->out where the result goes. */
static int plan_norm(struct plan *plan, const struct norm_ops *row, struct op *op, size_t node)
{
    enum norm_how how = how_of(plan, row, node);
    int err = new_norm(plan, row, op->weights->m, &op->norm);
    if (err < 0)
        return err;
    if (how == NORM_TRAIN && row->gather)
        row->gather(new_op(plan, op));
    struct op *apply = new_op(plan, op);
    row->apply(apply, how);
    apply->again = row->again;
    return 0;
}

/* A normalization of what the activation gives, whose own result stays as it is: its slope is told from it. */
static int plan_output_norm(struct plan *plan, const struct norm_ops *row, const struct op *base,
                            struct buffer *in, size_t node)
{
    struct op half = *base;
    half.norm.groups = 1;
    half.norm.epsilon = norm_epsilon;
    half.in = in;
    half.out = &plan->value[node];
    new_buffer(plan, &plan->weights->net->nodes[node], half.out);
    return plan_norm(plan, row, &half, node);
}

/* The activation of a layer, behind z or what a normalization made of it. through: the normalization in between is computed
 * again where the activation reads it. */
static struct op *plan_act(struct plan *plan, const struct op *base, size_t node, struct buffer *in,
                           struct buffer *held, int through)
{
    const struct net_node *here = &plan->weights->net->nodes[node];
    const struct fusion *fusion = &plan->notes.fusions[here->layer];
    struct op *last = new_op(plan, base);
    last->in = in;
    last->out = &plan->value[node];
    last->act.act = plan->weights->net->layers[here->layer].spec.act;
    if (through) {
        last->act.through = last - 1;
        last->again = op_act_again;
        last->work = new_work(plan, slice_bytes(plan, in), &held[HELD_Y]);
        last->back_work = new_work(plan, slice_bytes(plan, in), &held[HELD_BACK_Y]);
    }
    last->kind = fusion_always_idle(fusion) ? &op_act_idle : &op_act;
    last->spare = shape_of(plan, here);
    if (fusion_needs_place(fusion))
        new_buffer(plan, here, &last->spare);
    return last;
}

/* [norm at the input] | dense or conv | [norm] | activation | [norm at the output]; a norm is gather, apply or one op */
static int plan_layer(struct plan *plan, size_t node)
{
    const sph_net *net = plan->weights->net;
    const struct net_node *here = &net->nodes[node];
    const struct net_layer *layer = &net->layers[here->layer];
    struct fusion *fusion = &plan->notes.fusions[here->layer];
    const struct norm_ops *norm = layer->norm;
    int from = here->in[0], back = plan->notes.wanted[node], err;
    fusion_begin(fusion, layer, &plan->weights->layer[here->layer]);
    struct op base = {.k = plan->k,
                      .weights = &plan->weights->layer[here->layer],
                      .grads = &plan->weights->grads[here->layer * plan->weights->workers],
                      .fused = &fusion->now,
                      .back = back,
                      .dout = &plan->grad[node]};
    struct buffer *held = mem_get(HELD, sizeof *held);
    if (!held)
        return SPH_EMEMORY;
    plan->owned.other[plan->owned.count++] = held;
    struct buffer *in = &plan->value[from], *z = &held[HELD_Z],
                  *din = plan->notes.wanted[from] ? &plan->grad[from] : NULL;
    if (norm->at_input && (err = plan_centring(plan, norm, &base, node, held, &in, &din)) < 0)
        return err;

    new_buffer(plan, here, z);
    if (back)
        new_buffer(plan, here, &plan->grad[node]);
    struct op *product = new_op(plan, &base);
    product->in = in;
    product->din = din;
    product->out = z;
    if ((err = plan_product(plan, here, product, held)) < 0)
        return err;

    struct op half = base;
    half.norm.groups = norm->grouped ? layer->spec.norm_groups : 1;
    half.norm.epsilon = layer->norm_epsilon;
    half.in = half.out = z;
    int through = back && norm_between(norm) && norm->again && fusion_needs_place(fusion);
    if (through) {
        half.out = NULL;
    } else if (norm->result == NORM_APART || (norm->result == NORM_APART_IN_TRAINING && back)) {
        half.out = &held[HELD_Y];
        new_buffer(plan, here, half.out);
    }
    if (norm_between(norm) && (err = plan_norm(plan, norm, &half, node)) < 0)
        return err;

    struct op *last = plan_act(plan, &base, node, through ? z : half.out, held, through);
    if (norm->at_output)
        last->out = &held[HELD_SY];
    return norm->at_output ? plan_output_norm(plan, norm, &base, last->out, node) : 0;
}

/* An op without weights: its buffers, and the gradients somebody wants. from: the node whose inputs it reads,
 * itself unless an addition and the relu behind it are one. */
static struct op between(struct plan *plan, size_t node, const struct net_node *from)
{
    const sph_net *net = plan->weights->net;
    const struct net_node *here = &net->nodes[node];
    int back = plan->notes.wanted[node], first = from->in[0], second = from->in[1];
    struct op op = {.k = plan->k,
                    .back = back,
                    .in = &plan->value[first],
                    .in2 = second < 0 ? NULL : &plan->value[second],
                    .out = &plan->value[node],
                    .dout = &plan->grad[node]};
    if (plan->notes.wanted[first])
        op.din = &plan->grad[first];
    if (second >= 0 && plan->notes.wanted[second])
        op.din2 = &plan->grad[second];
    new_buffer(plan, here, op.out);
    if (back)
        new_buffer(plan, here, op.dout);
    return op;
}

static int new_winners(struct plan *plan, const struct net_node *here, struct op *op)
{
    op->pool.winners = mem_get(buffered_rows(plan) * node_features(here), sizeof *op->pool.winners);
    if (!op->pool.winners)
        return SPH_EMEMORY;
    plan->owned.other[plan->owned.count++] = op->pool.winners;
    return 0;
}

static int plan_pool(struct plan *plan, size_t node)
{
    const struct net_node *here = &plan->weights->net->nodes[node];
    struct op op = between(plan, node, here);
    op.kind = here->kind == NODE_MAX_POOL ? &op_max_pool : &op_avg_pool;
    op.pool.window = here->window;
    int err = here->kind == NODE_MAX_POOL && op.back ? new_winners(plan, here, &op) : 0;
    new_op(plan, &op);
    return err;
}

/* An addition, an activation, or both as one. */
static int plan_pointwise(struct plan *plan, size_t node)
{
    const sph_net *net = plan->weights->net;
    const struct net_node *here = &net->nodes[node];
    if (fusion_joins_relu(net, node))
        return 0; /* the relu's turn comes */
    int both = here->kind == NODE_ACT && fusion_joins_relu(net, (size_t)here->in[0]);
    struct op op = between(plan, node, both ? &net->nodes[here->in[0]] : here);
    op.kind = both ? &op_add_relu : here->kind == NODE_ADD ? &op_add : &op_act_alone;
    if (op.kind == &op_act_alone)
        op.act.act = here->act;
    new_op(plan, &op);
    return 0;
}

/* The images as the caller lays them, into blocks: no work at all for a few channels in one block of 8. (A
 * single pixel is a vector, whose padding may hold anything: it is copied.) */
static void plan_entrance(struct plan *plan)
{
    const struct net_node *here = &plan->weights->net->nodes[0];
    struct op *op = new_op(
        plan, &(struct op){.kind = &op_enter, .k = plan->k, .in = &plan->input, .out = &plan->value[0]});
    op->again = op_enter_again;
    plan->value[0] = shape_of(plan, here);
    if (plan->value[0].blocks > 1 || plan->value[0].ld != kernel_pad(here->channels) ||
        node_pixels(here) == 1)
        new_buffer(plan, here, &op->spare);
}

/* On the way back the first op to reach a gradient writes it, the others add. */
static void mark_additions(struct plan *plan)
{
    for (size_t i = 0; i < plan->op_count; i++) {
        struct op *op = &plan->ops[i];
        for (size_t j = i + 1; j < plan->op_count; j++) {
            const struct op *earlier = &plan->ops[j]; /* on the way back */
            op->add.din |= op->din && (earlier->din == op->din || earlier->din2 == op->din);
            op->add.din2 |= op->din2 && (earlier->din == op->din2 || earlier->din2 == op->din2);
        }
        op->add.din2 |= op->din2 && op->din2 == op->din; /* x + x */
    }
}

static size_t choose_tile_rows(const sph_net *net, size_t size, size_t rows)
{
    size_t width = net_row_length(net), largest = 0;
    int images = node_pixels(&net->nodes[0]) > 1;
    for (size_t l = 0; l < net->layer_count; l++) {
        width += 3 * kernel_pad(net->layers[l].shape.m) * node_pixels(&net->nodes[net->layers[l].node]);
        if (net->layers[l].shape.m * net->layers[l].shape.n > largest)
            largest = net->layers[l].shape.m * net->layers[l].shape.n;
    }
    size_t tile = TILE_BYTES / (width * size);
    if (images) /* an image is a tall matrix of its own */
        return tile > 1 ? (tile < rows ? tile : rows) : 1;
    if (tile < TILE_LEAST)
        tile = TILE_LEAST;
    if (tile > TILE_MOST || largest >= LARGE_LAYER)
        tile = TILE_MOST;
    tile = tile / TILE_LEAST * TILE_LEAST; /* whole register tiles */
    size_t tiles = (rows + tile - 1) / tile;
    return (rows + tiles - 1) / tiles; /* even, so that the last one is not a stub */
}

/* ---------------------------------------------------------------- a plan */

/* Blocks of 16 are written whole by kernels of 8 only where no block is half empty. */
size_t plan_block(const sph_net *net, const struct kernels *k)
{
    size_t block = conv_block(k), convs = 0;
    for (size_t node = 1; node < net->node_count; node++) {
        convs += net->nodes[node].kind == NODE_CONV;
        if (block == 16 && node_pixels(&net->nodes[node]) > 1 &&
            round_up(net->nodes[node].channels, 8) % block && k->lanes < block)
            block = 8;
    }
    return convs ? block : 0;
}

/* The op that leaves its result in a buffer; an activation that does nothing passes on what it reads. NULL: none
 * that could do it again from something else. */
static const struct op *source_of(const struct plan *plan, const struct buffer *buffer)
{
    for (size_t i = plan->op_count; i-- > 0;) {
        const struct op *op = &plan->ops[i];
        if (op->out != buffer || op->kind->join_forward)
            continue;
        if (op->kind == &op_act_idle)
            return source_of(plan, op->in);
        int copies = op->kind == &op_enter ? op->spare.width > 0 : op->in != op->out;
        return op->again && copies ? op : NULL;
    }
    return NULL;
}

/* Inputs of products that are computed again for the weights' gradient instead of being kept: images in blocks, which
 * the caller keeps as they are; with little memory what is normalized, too. */
static void find_again(struct plan *plan)
{
    for (size_t i = 0; i < plan->op_count; i++) {
        struct op *op = &plan->ops[i];
        if (!op->back || (op->kind != &op_conv && op->kind != &op_dense) || !op->grads->dw)
            continue;
        const struct op *source = source_of(plan, op->in);
        if (!source || (source->kind != &op_enter && plan->running.memory != SPH_MEMORY_SMALL))
            continue;
        size_t l = (size_t)(op->weights - plan->weights->layer);
        const sph_net *net = plan->weights->net;
        op->in_again.source = source;
        op->in_again.buffer = &plan->notes.again[l];
        new_buffer(plan, &net->nodes[net->nodes[net->layers[l].node].in[0]], op->in_again.buffer);
    }
}

static int plan_node(struct plan *plan, size_t node)
{
    switch (plan->weights->net->nodes[node].kind) {
    case NODE_DENSE:
    case NODE_CONV:
        return plan_layer(plan, node);
    case NODE_MAX_POOL:
    case NODE_AVG_POOL:
        return plan_pool(plan, node);
    default:
        return plan_pointwise(plan, node);
    }
}

/* Nothing before the lowest layer that learns sends a gradient back. */
static void find_wanted(struct plan *plan)
{
    const sph_net *net = plan->weights->net;
    for (size_t node = 1; node < net->node_count && plan->mode == PLAN_TRAIN; node++) {
        const struct net_node *here = &net->nodes[node];
        int layer = here->kind == NODE_DENSE || here->kind == NODE_CONV;
        plan->notes.wanted[node] = (layer && !weights_still(plan->weights, here->layer)) ||
                                   plan->notes.wanted[here->in[0]] ||
                                   (here->in[1] >= 0 && plan->notes.wanted[here->in[1]]);
    }
}

static int plan_nodes(struct plan *plan)
{
    int err = 0;
    find_wanted(plan);
    if (plan->block)
        plan_entrance(plan);
    for (size_t node = 1; node < plan->weights->net->node_count; node++)
        if ((err = plan_node(plan, node)) < 0)
            return err;
    mark_additions(plan);
    if (plan->mode == PLAN_TRAIN)
        fusion_pair(plan->notes.fusions, plan->weights->layer, plan->ops, plan->op_count);
    find_again(plan);
    while (plan->back_end < plan->op_count && !plan->ops[plan->back_end].back)
        plan->back_end++;
    return plan_place_buffers(plan);
}

int plan_new(struct plan **out, struct weights *weights, size_t rows, enum plan_mode mode, size_t workers,
             const struct plan_running *running)
{
    const sph_net *net = weights->net;
    size_t nodes = net->node_count;
    struct plan *plan = mem_get(1, sizeof *plan);
    if (!plan)
        return SPH_EMEMORY;
    plan->weights = weights;
    plan->k = weights->k;
    plan->rows = rows;
    plan->mode = mode;
    if (running)
        plan->running = *running;
    plan->block = plan_block(net, plan->k);
    plan->whole = !plan->block && mode == PLAN_TRAIN && net_has_batch_statistic(net);
    plan->tile_rows =
        plan->block ? (rows + workers - 1) / workers : choose_tile_rows(net, plan->k->size, rows);
    plan->tiles = (rows + plan->tile_rows - 1) / plan->tile_rows;
    plan->workers = workers < plan->tiles ? workers : plan->tiles;
    plan->value = mem_get(nodes, sizeof *plan->value);
    plan->grad = mem_get(nodes, sizeof *plan->grad);
    plan->notes.wanted = mem_get(nodes, sizeof *plan->notes.wanted);
    plan->notes.centred = mem_get(nodes, sizeof *plan->notes.centred);
    plan->notes.fusions = mem_get(net->layer_count, sizeof *plan->notes.fusions);
    plan->ops = mem_get(nodes * OPS_PER_NODE, sizeof *plan->ops);
    plan->owned.norms = mem_get(nodes, sizeof *plan->owned.norms);
    plan->owned.convs = mem_get(nodes * plan->workers, sizeof *plan->owned.convs);
    plan->owned.other = mem_get(nodes * OWNED_PER_NODE, sizeof *plan->owned.other);
    plan->notes.again = mem_get(net->layer_count, sizeof *plan->notes.again);
    plan->requests.list = mem_get(nodes * BUFFERS_PER_NODE, sizeof *plan->requests.list);
    plan->run.tile_sum = mem_get(plan->tiles, sizeof *plan->run.tile_sum);
    int err = SPH_EMEMORY;
    if (!plan->value || !plan->grad || !plan->notes.wanted || !plan->notes.centred || !plan->notes.fusions ||
        !plan->ops || !plan->owned.norms || !plan->owned.convs || !plan->owned.other || !plan->notes.again ||
        !plan->requests.list || !plan->run.tile_sum || (err = plan_nodes(plan)) < 0) {
        plan_free(plan);
        return err;
    }
    *out = plan;
    return 0;
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->owned.norm_count; i++)
        norm_state_free(plan->owned.norms[i]);
    for (size_t i = 0; i < plan->owned.conv_count; i++)
        conv_free(plan->owned.convs[i]);
    for (size_t i = 0; i < plan->owned.count; i++)
        mem_free(plan->owned.other[i]);
    if (plan->owned.memory != plan->weights->room)
        mem_free(plan->owned.memory);
    void *owned[] = {plan->value,         plan->grad,          plan->notes.wanted,  plan->notes.again,
                     plan->notes.centred, plan->notes.fusions, plan->ops,           plan->owned.norms,
                     plan->owned.convs,   plan->owned.other,   plan->requests.list, plan->run.tile_sum};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
    mem_free(plan);
}
