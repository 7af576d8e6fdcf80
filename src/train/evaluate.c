/* SPDX-License-Identifier: MIT */
#include "train/evaluate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/losses.h"
#include "train/tool.h"

struct evaluator {
    struct weights *weights; /* of the first member */
    struct plan *plan;       /* likewise            */
    struct plan **plans;     /* (members) of all of them */
    size_t members;
    double *each; /* (members, rows, outputs) and what they mean (outputs); NULL of one member */
    char *joint;  /* (rows, ldj) what a net would give that predicts it */
    size_t ldj;
    struct evaluator_opts opts;
    size_t rows;
    char *x, *y; /* (rows, ld) one batch */
    size_t ldx, ldy;
    uint32_t *index; /* (rows) */

    struct metric_part part;
    double *first;             /* (targets) */
    double *kept, *kept_t;     /* (room, outputs), (room, targets) */
    struct metric_rank *order; /* (room) */
    size_t room;
    struct mem_owned owned, room_owned; /* what lies behind the pointers; those of (room) */
    sph_metric list[SPH_METRICS_MAX];   /* (count) of the task */
    size_t count;
    size_t at[SPH_METRICS_MAX], numbers; /* where a metric's sums begin, and how many all have */
    size_t broken;                       /* the last of them: predictions that are no finite numbers */
    double *tile_sums;                   /* (tiles, numbers) of one batch */
    double *sums;                        /* (numbers) */
    double *scratch;                     /* (workers + 1, tile rows, outputs + targets) */
    size_t scratch_size;                 /* of a worker */

    /* one run */
    int wanted[SPH_METRICS_MAX]; /* (count) */
    size_t row;                  /* the batch's first */
    double weight;               /* of a term of the loss */
    const double *row_weights;   /* (rows of the source) or NULL */
};

size_t evaluator_list(const struct evaluator_opts *opts, size_t outputs, enum evaluator_which which,
                      sph_metric list[SPH_METRICS_MAX])
{
    sph_metric all[SPH_METRICS_MAX];
    size_t count = 0, of_task = metric_list(loss_row(opts->loss)->task, outputs, all);
    for (size_t i = 0; i < of_task; i++)
        if (which == EVALUATOR_ALL || all[i] == opts->watched || sph_metric_about(all[i])->every_epoch)
            list[count++] = all[i];
    return count;
}

/* Room for the scores of so many rows, where a wanted metric keeps them and they are not too many. */
static int make_room(struct evaluator *e, size_t rows)
{
    int keeps = 0;
    for (size_t i = 0; i < e->count; i++)
        keeps |= e->wanted[i] && metric_row(e->list[i])->keeps;
    if (!keeps || rows <= e->room || rows > METRIC_KEPT_MOST / e->part.outputs)
        return 0;
    mem_free_owned(&e->room_owned);
    e->kept = mem_own(&e->room_owned, rows * e->part.outputs, sizeof *e->kept);
    e->kept_t = mem_own(&e->room_owned, rows * e->part.targets, sizeof *e->kept_t);
    e->order = mem_own(&e->room_owned, rows, sizeof *e->order);
    e->room = e->room_owned.failed ? 0 : rows;
    return e->room ? 0 : SPH_EMEMORY;
}

static void want(struct evaluator *e, enum evaluator_which which)
{
    sph_metric list[SPH_METRICS_MAX];
    size_t count = evaluator_list(&e->opts, e->part.outputs, which, list), next = 0;
    for (size_t i = 0; i < e->count; i++) {
        e->wanted[i] = next < count && list[next] == e->list[i];
        next += (size_t)e->wanted[i];
    }
}

static void describe_part(struct evaluator *e)
{
    size_t outputs = sph_net_outputs(e->weights->net);
    sph_task task = loss_row(e->opts.loss)->task;
    e->part = (struct metric_part){
        .task = task,
        .outputs = outputs,
        .targets = loss_targets(e->opts.loss, outputs),
        .classes = task == SPH_TASK_CLASSES  ? outputs
                   : task == SPH_TASK_BINARY ? 2
                                             : 0,
        .scale = e->weights->net->scaling.y_scale,
        .mean = e->weights->net->scaling.y_mean,
    };
    e->count = metric_list(task, outputs, e->list);
    for (size_t i = 0; i < e->count; i++) {
        const struct metric *metric = metric_row(e->list[i]);
        e->at[i] = e->numbers;
        e->numbers += metric->numbers ? metric->numbers(&e->part) : metric->tally && !metric->keeps;
    }
    e->broken = e->numbers++;
}

static int make_plans(struct evaluator *e, struct weights *const *members, size_t rows)
{
    int err = 0;
    e->plans = mem_own(&e->owned, e->members, sizeof(struct plan *));
    if (!e->plans)
        return SPH_EMEMORY;
    for (size_t k = 0; k < e->members && !err; k++)
        err = plan_new(&e->plans[k], members[k], rows, PLAN_EVALUATE, e->opts.workers, NULL);
    e->plan = e->plans[0];
    return err;
}

int evaluator_new(struct evaluator **out, struct weights *weights, const struct evaluator_opts *opts,
                  size_t rows)
{
    return evaluator_new_mean(out, &weights, 1, opts, rows);
}

int evaluator_new_mean(struct evaluator **out, struct weights *const *members, size_t count,
                       const struct evaluator_opts *opts, size_t rows)
{
    struct evaluator *e = mem_get(1, sizeof *e);
    struct weights *weights = members[0];
    if (!e)
        return SPH_EMEMORY;
    e->weights = weights;
    e->members = count;
    e->opts = *opts;
    e->rows = rows;
    describe_part(e);
    want(e, EVALUATOR_ALL);
    int err = make_plans(e, members, rows);
    if (err < 0)
        goto fail;
    size_t columns = e->part.outputs + e->part.targets;
    e->ldj = kernel_pad(e->part.outputs);
    if (count > 1) {
        e->each = mem_own(&e->owned, (count * rows + 1) * e->part.outputs, sizeof *e->each);
        e->joint = mem_own(&e->owned, rows * e->ldj, weights->k->size);
    }
    e->ldx = net_row_length(weights->net);
    e->ldy = kernel_pad(e->part.targets);
    e->scratch_size = plan_tile_rows(e->plan) * columns;
    e->x = mem_own(&e->owned, rows * e->ldx, weights->k->size);
    e->y = mem_own(&e->owned, rows * e->ldy, weights->k->size);
    e->index = mem_own(&e->owned, rows, sizeof *e->index);
    e->first = mem_own(&e->owned, e->part.targets, sizeof *e->first);
    e->tile_sums = mem_own(&e->owned, plan_tiles(e->plan, rows) * e->numbers, sizeof *e->tile_sums);
    e->sums = mem_own(&e->owned, e->numbers, sizeof *e->sums);
    e->scratch = mem_own(&e->owned, (opts->workers + 1) * e->scratch_size, sizeof *e->scratch);
    if (e->owned.failed || make_room(e, opts->most_rows) < 0) {
        err = SPH_EMEMORY;
        goto fail;
    }
    *out = e;
    return 0;
fail:
    evaluator_free(e);
    return err;
}

void evaluator_free(struct evaluator *e)
{
    if (!e)
        return;
    for (size_t k = 0; e->plans && k < e->members; k++)
        plan_free(e->plans[k]);
    mem_free_owned(&e->room_owned);
    mem_free_owned(&e->owned);
    mem_free(e);
}

/* p, t <- the tile's predictions and targets, the way metrics take them. */
static struct metric_tile view_tile(const struct evaluator *e, const struct tile *tile, const void *y,
                                    size_t ldy, const char *truth)
{
    const struct kernels *k = e->weights->k;
    const struct loss_row *loss = loss_row(e->opts.loss);
    size_t outputs = e->part.outputs, targets = e->part.targets;
    double *p = e->scratch + tile->worker * e->scratch_size, *t = p + tile->rows * outputs;
    for (size_t i = 0; i < tile->rows; i++) {
        k->to_double(outputs, (const char *)y + i * ldy * k->size, p + i * outputs);
        k->to_double(targets, truth + i * e->ldy * k->size, t + i * targets);
        if (loss->task == SPH_TASK_REGRESSION)
            loss_predict(loss->link, outputs, p + i * outputs);
    }
    return (struct metric_tile){e->row + tile->row, tile->rows, p, t};
}

static double score_tile(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy,
                         size_t lddy)
{
    (void)dy;
    (void)lddy;
    struct evaluator *e = self;
    const struct kernels *k = e->weights->k;
    const char *truth = e->y + tile->row * e->ldy * k->size;
    struct metric_tile view = view_tile(e, tile, y, ldy, truth);
    double *sums = e->tile_sums + tile->index * e->numbers;
    memset(sums, 0, e->numbers * sizeof *sums);
    for (size_t i = 0; i < tile->rows * e->part.outputs; i++)
        sums[e->broken] += !isfinite(view.p[i]);
    for (size_t i = 0; i < e->count; i++)
        if (e->wanted[i] && metric_row(e->list[i])->tally)
            metric_row(e->list[i])->tally(&e->part, &view, sums + e->at[i]);
    struct loss_args args = {.rows = tile->rows,
                             .k = e->part.outputs,
                             .p = y,
                             .ldp = ldy,
                             .t = truth,
                             .ldt = e->ldy,
                             .weight = e->weight,
                             .smoothing = e->opts.smoothing,
                             .delta = e->opts.delta};
    if (!e->row_weights)
        return k->loss[e->opts.loss](&args);
    double sum = 0;
    args.rows = 1;
    for (size_t i = 0; i < tile->rows; i++) {
        args.p = (const char *)y + i * ldy * k->size;
        args.t = truth + i * e->ldy * k->size;
        args.weight = e->weight * e->row_weights[e->row + tile->row + i];
        sum += k->loss[e->opts.loss](&args);
    }
    return sum;
}

struct collect {
    const struct evaluator *e;
    double *y; /* (rows, outputs) of one member */
};

static double collect_tile(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy,
                           size_t lddy)
{
    (void)dy;
    (void)lddy;
    const struct collect *collect = self;
    const struct kernels *k = collect->e->weights->k;
    size_t outputs = collect->e->part.outputs;
    for (size_t i = 0; i < tile->rows; i++)
        k->to_double(outputs, (const char *)y + i * ldy * k->size, collect->y + (tile->row + i) * outputs);
    return 0;
}

/* mean <- of the members that a row is for; i is its place in the batch. A member that gives no finite number leaves none:
 * the mean of an infinite logit's probability, which is 1, would hide it. */
static void join(const struct evaluator *e, size_t i, double *mean)
{
    size_t outputs = e->part.outputs, stride = e->rows * outputs, first = 0, step = 1;
    if (e->opts.fold_end) {
        while (e->row + i >= e->opts.fold_end[first])
            first++;
        step = e->opts.folds;
    }
    loss_join(loss_row(e->opts.loss)->link, outputs, (e->members - first + step - 1) / step,
              e->each + first * stride + i * outputs, step * stride, mean);
    for (size_t m = first; m < e->members; m += step)
        for (size_t j = 0; j < outputs; j++)
            if (!isfinite(e->each[m * stride + i * outputs + j]))
                mean[j] = (double)NAN;
}

/* Every member's outputs, what they mean, and that scored as if one net had given it. */
static double run_members(struct evaluator *e, size_t count)
{
    const struct kernels *k = e->weights->k;
    size_t outputs = e->part.outputs, stride = e->rows * outputs, most = plan_tile_rows(e->plan);
    double *mean = e->each + e->members * stride, sum = 0;
    for (size_t m = 0; m < e->members; m++) {
        struct collect collect = {e, e->each + m * stride};
        plan_run(e->plans[m], e->x, e->ldx, count, &(struct plan_head){&collect, collect_tile});
    }
    for (size_t i = 0; i < count; i++) {
        join(e, i, mean);
        k->from_double(outputs, mean, e->joint + i * e->ldj * k->size);
    }
    for (size_t row = 0, index = 0; row < count; row += most, index++) {
        struct tile tile = {.row = row, .rows = count - row < most ? count - row : most, .index = index};
        sum += score_tile(e, &tile, e->joint + row * e->ldj * k->size, e->ldj, NULL, 0);
    }
    return sum;
}

static int run_batch(struct evaluator *e, const struct source *source, size_t row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        e->index[i] = (uint32_t)(row + i);
    int err = source->fetch(source->self, e->index, count, e->x, e->ldx, e->y, e->ldy);
    if (err < 0)
        return err;
    e->row = row;
    if (!row)
        e->weights->k->to_double(e->part.targets, e->y, e->first);
    e->part.loss += e->members > 1
                        ? run_members(e, count)
                        : plan_run(e->plan, e->x, e->ldx, count, &(struct plan_head){e, score_tile});
    for (size_t t = 0; t < plan_tiles(e->plan, count); t++)
        for (size_t i = 0; i < e->numbers; i++)
            e->sums[i] += e->tile_sums[t * e->numbers + i];
    for (size_t m = 0; m < e->members && !err; m++)
        err = plan_check(e->plans[m]);
    return err;
}

int evaluator_run(struct evaluator *e, const struct source *source, const double *row_weights,
                  enum evaluator_which which, sph_scores *out)
{
    want(e, which);
    int err = make_room(e, source->rows);
    if (err < 0)
        return err;
    e->part.rows = source->rows;
    e->part.loss = 0;
    e->part.first = e->first;
    e->part.kept = source->rows <= e->room ? e->kept : NULL;
    e->part.kept_t = e->kept_t;
    e->part.order = e->order;
    e->weight = 1 / ((double)source->rows * (double)e->part.targets);
    e->row_weights = row_weights;
    memset(e->sums, 0, e->numbers * sizeof *e->sums);
    if (source->ahead)
        err = source->ahead(source->self, NULL, 0, source->rows);
    for (size_t row = 0; row < source->rows && !err; row += e->rows)
        err = run_batch(e, source, row, source->rows - row < e->rows ? source->rows - row : e->rows);
    *out = (sph_scores){.rows = source->rows};
    for (size_t i = 0; i < e->count && !err; i++)
        if (e->wanted[i]) {
            out->name[out->count] = sph_word(SPH_WORDS_METRIC, (int)e->list[i])->word;
            out->value[out->count++] = e->sums[e->broken] > 0
                                           ? (double)NAN
                                           : metric_row(e->list[i])->finish(&e->part, e->sums + e->at[i]);
        }
    return err;
}
