/* SPDX-License-Identifier: MIT
 *
 * A plan at work: tiles, workers, joins; and who is to blame for a NaN. */
#include <assert.h>

#include "compute/threads.h"
#include "net/plan_inside.h"

/* Values of a node, once the op that ends it has run. */
static void show(const struct plan *plan, const struct op *op, const struct tile *tile)
{
    for (size_t node = 1; node < plan->weights->net->node_count; node++)
        if (op->out == &plan->value[node])
            plan->run.watcher->see(plan->run.watcher->self, node, tile, op->out);
}

static void run_tile(struct plan *plan, const struct tile *tile)
{
    int last = plan->run.end == plan->op_count;
    if (plan->run.forward)
        for (size_t i = plan->run.begin; i < plan->run.end; i++) {
            if (plan->ops[i].kind->forward)
                plan->ops[i].kind->forward(&plan->ops[i], tile);
            if (plan->run.watcher)
                show(plan, &plan->ops[i], tile);
        }
    if (plan->run.forward && last && plan->run.head) {
        int output = plan->weights->net->output;
        const struct buffer *y = &plan->value[output], *dy = &plan->grad[output];
        int train = plan->mode == PLAN_TRAIN;
        plan->run.tile_sum[tile->index] =
            plan->run.head->run(plan->run.head->self, tile, buffer_at(y, plan->k, tile), y->ld,
                                train ? buffer_at(dy, plan->k, tile) : NULL, train ? dy->ld : 0);
    }
    if (plan->run.backward)
        for (size_t i = plan->run.end; i-- > plan->run.begin;)
            if (plan->ops[i].back && plan->ops[i].kind->backward)
                plan->ops[i].kind->backward(&plan->ops[i], tile);
}

/* Tiles are dealt in consecutive shares, the same for every run; those of blocked images are a worker's whole
 * share, and the worker's own convs fit it. */
static void run_worker(void *context, size_t worker)
{
    struct plan *plan = context;
    size_t first = plan->block ? worker : worker * plan->run.tiles / plan->workers,
           stop = plan->block ? worker + 1 : (worker + 1) * plan->run.tiles / plan->workers;
    if (stop > plan->run.tiles)
        stop = plan->run.tiles;
    for (size_t t = first; t < stop; t++) {
        size_t row = t * plan->tile_rows, left = plan->run.rows - row;
        struct tile tile = {.row = row,
                            .rows = left < plan->tile_rows ? left : plan->tile_rows,
                            .index = t,
                            .worker = worker};
        run_tile(plan, &tile);
    }
}

static void run_segment(struct plan *plan, size_t begin, size_t end, int forward, int backward)
{
    plan->run.begin = begin;
    plan->run.end = end;
    plan->run.forward = forward;
    plan->run.backward = backward;
    threads_run(plan->workers, run_worker, plan);
}

size_t plan_tiles(const struct plan *plan, size_t rows)
{
    return (rows + plan->tile_rows - 1) / plan->tile_rows;
}

size_t plan_tile_rows(const struct plan *plan)
{
    return plan->tile_rows;
}

static void begin_run(struct plan *plan, const void *x, size_t ldx, size_t rows, const struct plan_head *head)
{
    plan->run.head = head;
    plan->run.rows = rows;
    plan->run.tiles = plan_tiles(plan, rows);
    const struct net_node *input = &plan->weights->net->nodes[0];
    plan->input = (struct buffer){.data = (void *)x,
                                  .width = input->channels,
                                  .ld = ldx / node_pixels(input),
                                  .pixels = node_pixels(input),
                                  .blocks = 1};
    if (!plan->block)
        plan->value[0] = plan->input;
    for (size_t l = 0; l < plan->weights->net->layer_count; l++)
        fusion_decide(&plan->notes.fusions[l]);
    for (size_t i = 0; i < plan->op_count; i++)
        if (plan->ops[i].kind->prepare)
            plan->ops[i].kind->prepare(&plan->ops[i]);
}

void plan_watch(struct plan *plan, const struct plan_watcher *watcher)
{
    assert(plan->mode == PLAN_EVALUATE && plan->workers == 1);
    plan->run.watcher = watcher;
}

double plan_run(struct plan *plan, const void *x, size_t ldx, size_t rows, const struct plan_head *head)
{
    begin_run(plan, x, ldx, rows, head);
    int train = plan->mode == PLAN_TRAIN;
    size_t begin = 0;
    for (size_t i = 0; i < plan->op_count; i++)
        if (plan->ops[i].kind->join_forward) {
            run_segment(plan, begin, i + 1, 1, 0);
            plan->ops[i].kind->join_forward(&plan->ops[i], plan->run.tiles, rows);
            begin = i + 1;
        }
    run_segment(plan, begin, plan->op_count, 1, train);
    while (train && begin > plan->back_end) {
        size_t end = begin;
        struct op *op = &plan->ops[end]; /* the applying half: its way back gathered */
        if (op->back && op->kind->join_backward)
            op->kind->join_backward(op, plan->run.tiles, rows);
        for (begin = end - 1; begin > 0 && !plan->ops[begin - 1].kind->join_forward; begin--)
            ;
        run_segment(plan, begin, end, 0, 1);
    }
    double sum = 0;
    for (size_t t = 0; t < plan->run.tiles; t++)
        sum += plan->run.tile_sum[t];
    return sum;
}

int plan_check(const struct plan *plan)
{
    int err = 0;
    for (size_t i = 0; i < plan->owned.conv_count && !err; i++)
        err = conv_check(plan->owned.convs[i]);
    return err;
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
        for (size_t t = 0; t < plan->run.tiles; t++) {
            size_t row = t * plan->tile_rows, left = rows - row;
            struct tile tile = {.row = row,
                                .rows = left < plan->tile_rows ? left : plan->tile_rows,
                                .index = t,
                                .worker = plan->block ? t : 0};
            size_t first =
                plan->whole || plan->block ? i : 0; /* a worker's buffers hold its last tile only */
            for (size_t j = first; j <= i; j++)
                if (plan->ops[j].kind->forward)
                    plan->ops[j].kind->forward(&plan->ops[j], &tile);
            for (size_t p = 0;
                 op->weights && op->out && !op->kind->join_forward && p < buffer_slices(op->out, &tile);
                 p++) {
                struct slice slice = buffer_slice(op->out, &tile, p);
                const char *out = slice_at(op->out, plan->k, &tile, p);
                for (size_t r = 0; r < slice.rows; r++)
                    if (!plan->k->all_finite(slice.width, out + r * op->out->ld * plan->k->size))
                        return (size_t)(op->weights - plan->weights->layer);
            }
        }
        if (op->kind->join_forward)
            op->kind->join_forward(op, plan->run.tiles, rows);
    }
    return net->layer_count;
}
