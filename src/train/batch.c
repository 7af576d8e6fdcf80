/* SPDX-License-Identifier: MIT */
#include "train/batch.h"

/* The loss of the rows that a plan runs on. */
struct head {
    const struct batch *batch;
    const char *y;             /* targets of these rows */
    const double *row_weights; /* weights of these rows, or NULL */
    double weight;
};

static double loss_tile(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy, size_t lddy)
{
    const struct head *head = self;
    const struct batch *batch = head->batch;
    const struct kernels *k = batch->weights->k;
    struct loss_args args = {.rows = tile->rows,
                             .k = sph_net_outputs(batch->weights->net),
                             .p = y,
                             .ldp = ldy,
                             .t = head->y + tile->row * batch->ldy * k->size,
                             .ldt = batch->ldy,
                             .weight = head->weight,
                             .smoothing = batch->opts->label_smoothing,
                             .delta = batch->opts->huber_delta,
                             .dp = dy,
                             .lddp = lddy};
    if (!head->row_weights)
        return k->loss[batch->opts->loss](&args);
    double sum = 0;
    args.rows = 1;
    for (size_t i = 0; i < tile->rows; i++) {
        args.p = (const char *)y + i * ldy * k->size;
        args.t = head->y + (tile->row + i) * batch->ldy * k->size;
        args.dp = (char *)dy + i * lddy * k->size;
        args.weight = head->weight * head->row_weights[tile->row + i];
        sum += k->loss[batch->opts->loss](&args);
    }
    return sum;
}

double batch_run(const struct batch *batch, const void *x, const void *y, size_t rows)
{
    size_t all = batch->all ? batch->all : rows, size = batch->weights->k->size;
    size_t runs = batch->runs ? batch->runs : (rows + batch->micro - 1) / batch->micro;
    struct head head = {.batch = batch, .weight = 1 / ((double)all * (double)batch->targets)};
    double loss = 0;
    weights_clear(batch->weights);
    for (size_t i = 0; i < runs; i++) {
        size_t row = i * batch->micro < rows ? i * batch->micro : rows,
               count = rows - row < batch->micro ? rows - row : batch->micro;
        head.y = (const char *)y + row * batch->ldy * size;
        head.row_weights = batch->row_weights ? batch->row_weights + row : NULL;
        loss += plan_run(batch->plan, (const char *)x + row * batch->ldx * size, batch->ldx, count,
                         &(struct plan_head){&head, loss_tile});
    }
    return loss;
}
