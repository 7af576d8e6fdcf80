/* SPDX-License-Identifier: MIT */
#include "net/plan.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"

/* Bytes of activations and gradients a tile may touch: measured, 404 to 7,654 rows of 100 units. Smaller ones
 * fit the first-level cache and lose more by their number than they gain. */
enum { TILE_BYTES = 64 * 1024, TILE_MOST = 256, TILE_LEAST = 12 };

/* From this many weights on, products go to BLAS, which wants tall matrices. */
enum { LARGE_LAYER = 48 * 1024 };

enum { OPS_PER_NODE = 4, BLOCKS_PER_NODE = 9 };

struct plan {
    struct weights *weights; /* borrowed */
    const struct kernels *k;
    size_t rows, tile_rows, tiles, workers;
    enum plan_mode mode;
    int coupled; /* a batch statistic joins the rows */

    struct buffer *value, *grad; /* (nodes) */
    struct op *ops;
    size_t op_count;
    struct norm_state **norms; /* owned, (norm_count) */
    size_t norm_count;
    void **blocks; /* owned, (block_count) */
    size_t block_count;
    double *tile_sum; /* (tiles) what the head returned */

    /* one run */
    const struct plan_head *head;
    size_t run_rows, run_tiles;
    size_t begin, end; /* ops of the segment at work */
    int forward, backward;
};

/* ---------------------------------------------------------------- making */

static void *own_block(struct plan *plan, size_t count)
{
    void *block = mem_get(count, plan->k->size);
    if (block)
        plan->blocks[plan->block_count++] = block;
    return block;
}

/* Rows that exist at once: of the whole batch where a statistic joins it, else of the tiles at work. */
static size_t buffered_rows(const struct plan *plan)
{
    return plan->coupled ? plan->rows : plan->workers * plan->tile_rows;
}

/* Room for values shaped like a node's. */
static int new_buffer(struct plan *plan, const struct net_node *like, struct buffer *out)
{
    size_t rows = buffered_rows(plan), width = like->channels;
    *out = (struct buffer){.width = width,
                           .ld = kernel_pad(width),
                           .pixels = node_pixels(like),
                           .worker_rows = plan->coupled ? 0 : plan->tile_rows};
    out->data = own_block(plan, rows * out->pixels * out->ld);
    return out->data ? 0 : SPH_EMEMORY;
}

static int new_norm(struct plan *plan, size_t width, double momentum, struct norm_state **out)
{
    int err = norm_state_new(out, plan->k, width, plan->tiles, momentum);
    if (!err)
        plan->norms[plan->norm_count++] = *out;
    return err;
}

static struct op *new_op(struct plan *plan, const struct op *like)
{
    struct op *op = &plan->ops[plan->op_count++];
    *op = *like;
    return op;
}

/* imn (gather, apply) | dense or conv | bn, mbn (gather, apply) or ln | activation */
static int plan_layer(struct plan *plan, size_t node, double momentum)
{
    const sph_net *net = plan->weights->net;
    const struct net_layer *layer = &net->layers[net->nodes[node].layer];
    size_t l = net->nodes[node].layer, m = layer->shape.m;
    sph_norm norm = layer->spec.norm;
    int train = plan->mode == PLAN_TRAIN, from = net->nodes[node].in[0], err;
    const struct net_node *here = &net->nodes[node], *before = &net->nodes[from];
    struct op base = {.k = plan->k,
                      .weights = &plan->weights->layer[l],
                      .grads = &plan->weights->grads[l * plan->weights->workers],
                      .dout = &plan->grad[node]};
    struct buffer *held =
        mem_get(4, sizeof *held); /* buffers that ops point to: centred x, its gradient, z, y */
    if (!held)
        return SPH_EMEMORY;
    plan->blocks[plan->block_count++] = held;
    struct buffer *in = &plan->value[from],
                  *din = train && net->nodes[from].kind != NODE_INPUT ? &plan->grad[from] : NULL;

    if (norm == SPH_NORM_IMN) {
        struct buffer *centred = &held[0], *dcentred = din ? &held[1] : NULL;
        if ((err = new_norm(plan, before->channels, momentum, &base.norm)) < 0 ||
            (err = new_buffer(plan, before, centred)) < 0 ||
            (dcentred && (err = new_buffer(plan, before, dcentred)) < 0))
            return err;
        struct op half = base;
        half.in = in;
        half.out = centred;
        half.dout = dcentred;
        half.din = din;
        struct op *gather = train ? new_op(plan, &half) : NULL, *apply = new_op(plan, &half);
        if (gather)
            op_norm_gather(gather, norm);
        op_norm_apply(apply, norm, train);
        apply->din = NULL;
        if (gather && !dcentred) { /* the data's gradient is nobody's business */
            gather->backward = apply->backward = NULL;
            apply->join_backward = NULL;
        }
        in = centred;
        din = dcentred;
        base.norm = NULL;
    }

    struct buffer *z = &held[2];
    if ((err = new_buffer(plan, here, z)) < 0 ||
        (train && (err = new_buffer(plan, here, &plan->grad[node])) < 0))
        return err;
    struct op *dense = new_op(plan, &base);
    dense->in = in;
    dense->din = din;
    dense->out = z;
    dense->no_bias = norm == SPH_NORM_MBN;
    dense->act = layer->spec.act;
    dense->act_follows = norm == SPH_NORM_NONE || norm == SPH_NORM_IMN;
    if (here->kind == NODE_CONV) {
        dense->window = here->window;
        dense->patches =
            own_block(plan, 2 * plan->workers * node_pixels(here) * plan->weights->layer[l].ldwt);
        if (!dense->patches)
            return SPH_EMEMORY;
        op_conv(dense);
    } else {
        op_dense(dense);
    }

    struct op half = base;
    half.in = half.out = z;
    if (norm == SPH_NORM_BN || norm == SPH_NORM_LN) {
        half.out = &held[3];
        if ((err = new_buffer(plan, here, half.out)) < 0)
            return err;
    }
    if (norm == SPH_NORM_BN || norm == SPH_NORM_MBN) {
        if ((err = new_norm(plan, m, momentum, &half.norm)) < 0)
            return err;
        if (train)
            op_norm_gather(new_op(plan, &half), norm);
        op_norm_apply(new_op(plan, &half), norm, train);
    } else if (norm == SPH_NORM_LN) {
        if (!(half.row_scratch = own_block(plan, plan->rows)))
            return SPH_EMEMORY;
        op_layer_norm(new_op(plan, &half));
    }

    struct op *act = new_op(plan, &base);
    act->in = half.out;
    act->out = &plan->value[node];
    act->act = layer->spec.act;
    act->act_follows = dense->act_follows;
    if ((err = new_buffer(plan, here, &act->spare)) < 0)
        return err;
    op_act(act);
    return 0;
}

/* An op without weights between the node and what it reads: its buffers, and the gradients somebody wants. */
static int plan_between(struct plan *plan, size_t node, struct op *out)
{
    const sph_net *net = plan->weights->net;
    const struct net_node *here = &net->nodes[node];
    int train = plan->mode == PLAN_TRAIN, first = here->in[0], second = here->in[1], err;
    *out = (struct op){.k = plan->k,
                       .in = &plan->value[first],
                       .in2 = second < 0 ? NULL : &plan->value[second],
                       .out = &plan->value[node],
                       .dout = &plan->grad[node],
                       .act = here->act,
                       .window = here->window};
    if (train && net->nodes[first].kind != NODE_INPUT)
        out->din = &plan->grad[first];
    if (train && second >= 0 && net->nodes[second].kind != NODE_INPUT)
        out->din2 = &plan->grad[second];
    if ((err = new_buffer(plan, here, out->out)) < 0 ||
        (train && (err = new_buffer(plan, here, out->dout)) < 0))
        return err;
    return 0;
}

static int plan_simple(struct plan *plan, size_t node)
{
    const struct net_node *here = &plan->weights->net->nodes[node];
    struct op op;
    int err = plan_between(plan, node, &op);
    if (err < 0)
        return err;
    if (here->kind == NODE_MAX_POOL) {
        op.winners = mem_get(buffered_rows(plan) * node_features(here), sizeof *op.winners);
        if (!op.winners)
            return SPH_EMEMORY;
        plan->blocks[plan->block_count++] = op.winners;
    }
    struct op *added = new_op(plan, &op);
    switch (here->kind) {
    case NODE_MAX_POOL:
        op_max_pool(added);
        break;
    case NODE_AVG_POOL:
        op_avg_pool(added);
        break;
    case NODE_ACT:
        op_act_alone(added);
        break;
    default:
        op_add(added);
    }
    return 0;
}

/* On the way back the first op to reach a node's gradient writes it, the others add. */
static void mark_additions(struct plan *plan)
{
    for (size_t node = 0; node < plan->weights->net->node_count; node++) {
        int written = 0;
        for (size_t i = plan->op_count; i-- > 0;) {
            struct op *op = &plan->ops[i];
            if (op->din == &plan->grad[node]) {
                op->add_din = written;
                written = 1;
            }
            if (op->din2 == &plan->grad[node]) {
                op->add_din2 = written;
                written = 1;
            }
        }
    }
}

/* An activation that one dense unit alone reads: its gradient is an outer product. */
static void pair_single_readers(struct plan *plan)
{
    for (size_t i = 0; i < plan->op_count; i++) {
        struct op *act = &plan->ops[i];
        if (!act->act_follows || op_is_dense(act))
            continue;
        size_t readers = 0;
        struct op *only = NULL;
        for (size_t j = i + 1; j < plan->op_count; j++)
            if (plan->ops[j].in == act->out || plan->ops[j].in2 == act->out) {
                readers++;
                only = &plan->ops[j];
            }
        if (readers == 1 && op_is_dense(only) && only->weights->m == 1 && only->din) {
            act->reader = only;
            only->before = act;
        }
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

int plan_new(struct plan **out, struct weights *weights, size_t rows, enum plan_mode mode, size_t workers,
             double norm_momentum)
{
    const sph_net *net = weights->net;
    struct plan *plan = mem_get(1, sizeof *plan);
    if (!plan)
        return SPH_EMEMORY;
    plan->weights = weights;
    plan->k = weights->k;
    plan->rows = rows;
    plan->mode = mode;
    plan->coupled = mode == PLAN_TRAIN && net_has_batch_statistic(net);
    plan->tile_rows = choose_tile_rows(net, plan->k->size, rows);
    plan->tiles = (rows + plan->tile_rows - 1) / plan->tile_rows;
    plan->workers = workers < plan->tiles ? workers : plan->tiles;
    plan->value = mem_get(net->node_count, sizeof *plan->value);
    plan->grad = mem_get(net->node_count, sizeof *plan->grad);
    plan->ops = mem_get(net->node_count * OPS_PER_NODE, sizeof *plan->ops);
    plan->norms = mem_get(net->layer_count, sizeof *plan->norms);
    plan->blocks = mem_get(net->node_count * BLOCKS_PER_NODE, sizeof *plan->blocks);
    plan->tile_sum = mem_get(plan->tiles, sizeof *plan->tile_sum);
    int err = SPH_EMEMORY;
    if (!plan->value || !plan->grad || !plan->ops || !plan->norms || !plan->blocks || !plan->tile_sum)
        goto fail;
    for (size_t node = 0; node < net->node_count; node++) {
        switch (net->nodes[node].kind) {
        case NODE_INPUT:
            err = 0;
            break;
        case NODE_DENSE:
        case NODE_CONV:
            err = plan_layer(plan, node, norm_momentum);
            break;
        default:
            err = plan_simple(plan, node);
        }
        if (err < 0)
            goto fail;
    }
    mark_additions(plan);
    if (mode == PLAN_TRAIN)
        pair_single_readers(plan);
    *out = plan;
    return 0;
fail:
    plan_free(plan);
    return err;
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->norm_count; i++)
        norm_state_free(plan->norms[i]);
    for (size_t i = 0; i < plan->block_count; i++)
        mem_free(plan->blocks[i]);
    mem_free(plan->value);
    mem_free(plan->grad);
    mem_free(plan->ops);
    mem_free(plan->norms);
    mem_free(plan->blocks);
    mem_free(plan->tile_sum);
    mem_free(plan);
}

/* ---------------------------------------------------------------- running */

static void run_tile(struct plan *plan, const struct tile *tile)
{
    int last = plan->end == plan->op_count;
    if (plan->forward)
        for (size_t i = plan->begin; i < plan->end; i++)
            plan->ops[i].forward(&plan->ops[i], tile);
    if (plan->forward && last && plan->head) {
        int output = plan->weights->net->output;
        const struct buffer *y = &plan->value[output], *dy = &plan->grad[output];
        int train = plan->mode == PLAN_TRAIN;
        plan->tile_sum[tile->index] =
            plan->head->run(plan->head->self, tile, buffer_at(y, plan->k, tile), y->ld,
                            train ? buffer_at(dy, plan->k, tile) : NULL, train ? dy->ld : 0);
    }
    if (plan->backward)
        for (size_t i = plan->end; i-- > plan->begin;)
            if (plan->ops[i].backward)
                plan->ops[i].backward(&plan->ops[i], tile);
}

/* Tiles are dealt in consecutive shares, the same for every run. */
static void run_worker(void *context, size_t worker)
{
    struct plan *plan = context;
    size_t first = worker * plan->run_tiles / plan->workers,
           stop = (worker + 1) * plan->run_tiles / plan->workers;
    for (size_t t = first; t < stop; t++) {
        size_t row = t * plan->tile_rows, left = plan->run_rows - row;
        struct tile tile = {.row = row,
                            .rows = left < plan->tile_rows ? left : plan->tile_rows,
                            .index = t,
                            .worker = worker};
        run_tile(plan, &tile);
    }
}

static void run_segment(struct plan *plan, size_t begin, size_t end, int forward, int backward)
{
    plan->begin = begin;
    plan->end = end;
    plan->forward = forward;
    plan->backward = backward;
    threads_run(plan->workers, run_worker, plan);
}

static void begin_run(struct plan *plan, const void *x, size_t ldx, size_t rows, const struct plan_head *head)
{
    plan->head = head;
    plan->run_rows = rows;
    plan->run_tiles = (rows + plan->tile_rows - 1) / plan->tile_rows;
    const struct net_node *input = &plan->weights->net->nodes[0];
    plan->value[0] = (struct buffer){.data = (void *)x,
                                     .width = input->channels,
                                     .ld = ldx / node_pixels(input),
                                     .pixels = node_pixels(input)};
    for (size_t i = 0; i < plan->op_count; i++)
        if (plan->ops[i].prepare)
            plan->ops[i].prepare(&plan->ops[i]);
}

double plan_run(struct plan *plan, const void *x, size_t ldx, size_t rows, const struct plan_head *head)
{
    begin_run(plan, x, ldx, rows, head);
    int train = plan->mode == PLAN_TRAIN;
    size_t begin = 0;
    for (size_t i = 0; i < plan->op_count; i++)
        if (plan->ops[i].join_forward) {
            run_segment(plan, begin, i + 1, 1, 0);
            plan->ops[i].join_forward(&plan->ops[i], plan->run_tiles, rows);
            begin = i + 1;
        }
    run_segment(plan, begin, plan->op_count, 1, train);
    while (train && begin > 0) {
        size_t end = begin;
        struct op *op = &plan->ops[end]; /* the applying half: its way back gathered */
        if (op->join_backward)
            op->join_backward(op, plan->run_tiles, rows);
        for (begin = end - 1; begin > 0 && !plan->ops[begin - 1].join_forward; begin--)
            ;
        run_segment(plan, begin, end, 0, 1);
    }
    double sum = 0;
    for (size_t t = 0; t < plan->run_tiles; t++)
        sum += plan->tile_sum[t];
    return sum;
}

/* ---------------------------------------------------------------- who is to blame */

size_t plan_blame(struct plan *plan, const void *x, size_t ldx, size_t rows)
{
    const sph_net *net = plan->weights->net;
    size_t bad = weights_first_bad(plan->weights);
    if (bad < net->layer_count)
        return bad;
    begin_run(plan, x, ldx, rows, NULL);
    for (size_t i = 0; i < plan->op_count; i++) {
        struct op *op = &plan->ops[i];
        for (size_t t = 0; t < plan->run_tiles; t++) {
            size_t row = t * plan->tile_rows, left = rows - row;
            struct tile tile = {
                .row = row, .rows = left < plan->tile_rows ? left : plan->tile_rows, .index = t};
            size_t first = plan->coupled ? i : 0; /* a tile's own buffers hold only what was just run */
            for (size_t j = first; j <= i; j++)
                plan->ops[j].forward(&plan->ops[j], &tile);
            char *out = buffer_at(op->out, plan->k, &tile);
            for (size_t r = 0; op->weights && !op->join_forward && r < buffer_rows(op->out, &tile); r++)
                if (!plan->k->all_finite(op->out->width, out + r * op->out->ld * plan->k->size))
                    return (size_t)(op->weights - plan->weights->layer);
        }
        if (op->join_forward)
            op->join_forward(op, plan->run_tiles, rows);
    }
    return net->layer_count;
}
