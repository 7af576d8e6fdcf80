/* SPDX-License-Identifier: MIT */
#include "train/evaluate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* What one tile adds; summed in the order of the tiles. */
struct tally {
    double squared, absolute;
    double hits, hits5;
};

struct evaluator {
    struct weights *weights;
    struct plan *plan;
    struct evaluator_opts opts;
    size_t rows, targets, outputs;
    char *x, *y; /* (rows, ld) one batch */
    size_t ldx, ldy;
    uint32_t *index;     /* (rows) */
    struct tally *tally; /* (rows) one per tile, at most one per row */
    double *scratch;     /* (workers, outputs + targets) */
    double weight;       /* of a row's loss */
    size_t tiles;
};

static int is_regression(sph_loss loss)
{
    return loss == SPH_LOSS_MAE || loss == SPH_LOSS_MSE;
}

size_t evaluator_names(sph_loss loss, size_t outputs, const char *names[SPH_METRICS_MAX])
{
    size_t count = 0;
    names[count++] = "loss";
    if (is_regression(loss)) {
        names[count++] = "rmse";
        names[count++] = "mae";
    } else {
        names[count++] = "accuracy";
        if (outputs > 5)
            names[count++] = "top5";
    }
    return count;
}

int evaluator_new(struct evaluator **out, struct weights *weights, const struct evaluator_opts *opts,
                  size_t rows)
{
    struct evaluator *e = mem_get(1, sizeof *e);
    if (!e)
        return SPH_EMEMORY;
    const sph_net *net = weights->net;
    e->weights = weights;
    e->opts = *opts;
    e->rows = rows;
    e->outputs = sph_net_outputs(net);
    e->targets = opts->loss == SPH_LOSS_CE ? 1 : e->outputs;
    e->ldx = net_row_length(net);
    e->ldy = kernel_pad(e->targets);
    e->x = mem_get(rows * e->ldx, weights->k->size);
    e->y = mem_get(rows * e->ldy, weights->k->size);
    e->index = mem_get(rows, sizeof *e->index);
    e->tally = mem_get(rows, sizeof *e->tally);
    e->scratch = mem_get((opts->workers + 1) * (e->outputs + e->targets), sizeof *e->scratch);
    int err = SPH_EMEMORY;
    if (!e->x || !e->y || !e->index || !e->tally || !e->scratch ||
        (err = plan_new(&e->plan, weights, rows, PLAN_EVALUATE, opts->workers, 0)) < 0) {
        evaluator_free(e);
        return err;
    }
    *out = e;
    return 0;
}

void evaluator_free(struct evaluator *e)
{
    if (!e)
        return;
    plan_free(e->plan);
    mem_free(e->x);
    mem_free(e->y);
    mem_free(e->index);
    mem_free(e->tally);
    mem_free(e->scratch);
    mem_free(e);
}

/* A hit: fewer than k other classes score at least as high as the true one; a score that is no number misses.
 */
static size_t rank_of(const double *p, size_t classes, size_t truth)
{
    if (!isfinite(p[truth]))
        return classes;
    size_t above = 0;
    for (size_t c = 0; c < classes; c++)
        above += c != truth && !(p[c] < p[truth]);
    return above;
}

static void tally_row(const struct evaluator *e, const double *p, const double *t, struct tally *sum)
{
    if (is_regression(e->opts.loss)) {
        for (size_t j = 0; j < e->outputs; j++) {
            double error = (p[j] - t[j]) * (e->opts.y_scale ? e->opts.y_scale[j] : 1);
            sum->squared += error * error;
            sum->absolute += fabs(error);
        }
    } else if (e->opts.loss == SPH_LOSS_BCE) {
        for (size_t j = 0; j < e->outputs; j++)
            sum->hits += isfinite(p[j]) && (p[j] > 0) == (t[j] > 0.5);
    } else {
        size_t rank = rank_of(p, e->outputs, (size_t)t[0]);
        sum->hits += rank < 1;
        sum->hits5 += rank < 5;
    }
}

static double tally_tile(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy,
                         size_t lddy)
{
    (void)dy;
    (void)lddy;
    struct evaluator *e = self;
    const struct kernels *k = e->weights->k;
    const char *truth = e->y + tile->row * e->ldy * k->size;
    double *p = e->scratch + tile->worker * (e->outputs + e->targets), *t = p + e->outputs;
    struct tally sum = {0};
    for (size_t i = 0; i < tile->rows; i++) {
        k->to_double(e->outputs, (const char *)y + i * ldy * k->size, p);
        k->to_double(e->targets, truth + i * e->ldy * k->size, t);
        tally_row(e, p, t, &sum);
    }
    e->tally[tile->index] = sum;
    return k->loss[e->opts.loss](&(struct loss_args){.rows = tile->rows,
                                                     .k = e->outputs,
                                                     .p = y,
                                                     .ldp = ldy,
                                                     .t = truth,
                                                     .ldt = e->ldy,
                                                     .weight = e->weight,
                                                     .smoothing = e->opts.smoothing});
}

int evaluator_run(struct evaluator *e, const struct source *source, sph_scores *out)
{
    double per_row = e->opts.loss == SPH_LOSS_CE ? 1 : (double)e->outputs;
    double cells = (double)source->rows * per_row, loss = 0;
    struct tally sum = {0};
    e->weight = 1 / cells;
    for (size_t row = 0; row < source->rows; row += e->rows) {
        size_t count = source->rows - row < e->rows ? source->rows - row : e->rows;
        for (size_t i = 0; i < count; i++)
            e->index[i] = (uint32_t)(row + i);
        int err = source->fetch(source->self, e->index, count, e->x, e->ldx, e->y, e->ldy);
        if (err < 0)
            return err;
        memset(e->tally, 0, count * sizeof *e->tally);
        loss += plan_run(e->plan, e->x, e->ldx, count, &(struct plan_head){e, tally_tile});
        for (size_t i = 0; i < count; i++) {
            sum.squared += e->tally[i].squared;
            sum.absolute += e->tally[i].absolute;
            sum.hits += e->tally[i].hits;
            sum.hits5 += e->tally[i].hits5;
        }
    }
    *out = (sph_scores){.rows = source->rows};
    out->count = evaluator_names(e->opts.loss, e->outputs, out->name);
    out->value[0] = loss;
    if (is_regression(e->opts.loss)) {
        out->value[1] = sqrt(sum.squared / cells);
        out->value[2] = sum.absolute / cells;
    } else {
        out->value[1] = sum.hits / cells;
        out->value[2] = sum.hits5 / cells;
    }
    return 0;
}
