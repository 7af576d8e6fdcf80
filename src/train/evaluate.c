/* SPDX-License-Identifier: MIT */
#include "train/evaluate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/losses.h"
#include "train/tool.h"

/* The nets whose mean is scored. */
struct scored {
    struct plan **plans; /* (count) */
    size_t count;
    double *each; /* (count, rows, outputs) and what they mean (outputs); NULL of one net */
    char *joint;  /* (rows, ldj) what a net would give that predicts it */
    size_t ldj;
};

/* Scores of rows, for metrics that need all of them. */
struct kept {
    double *scores, *targets;  /* (rows, outputs), (rows, targets) */
    struct metric_rank *order; /* (rows) */
    size_t rows;
    struct mem_owned owned;
};

/* The metrics of the task and what they add up. */
struct sums {
    sph_metric list[SPH_METRICS_MAX]; /* (count) */
    size_t count;
    size_t at[SPH_METRICS_MAX], numbers; /* where a metric's sums begin, and how many all have */
    size_t broken;                       /* the last of them: predictions that are no finite numbers */
    double *of_tiles;                    /* (tiles, numbers) of one batch */
    double *all;                         /* (numbers + 2) behind them the loss, and ranks that failed */
    double *scratch;                     /* (workers + 1, tile rows, outputs + targets) */
    size_t scratch_size;                 /* of a worker */
};

struct evaluator {
    struct weights *weights; /* of the first net */
    struct plan *plan;       /* likewise         */
    struct scored nets;
    struct evaluator_opts opts;
    size_t rows;
    char *x, *y; /* (rows, ld) one batch */
    size_t ldx, ldy;
    uint32_t *index; /* (rows) */
    struct metric_part part;
    double *first; /* (targets) */
    struct kept kept;
    struct sums sums;
    struct mem_owned owned; /* what lies behind the pointers but those of kept */

    /* one run */
    int wanted[SPH_METRICS_MAX]; /* (sums.count) */
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

static int keeps(const struct evaluator *e)
{
    int found = 0;
    for (size_t i = 0; i < e->sums.count; i++)
        found |= e->wanted[i] && metric_row(e->sums.list[i])->keeps;
    return found;
}

/* Room for the scores of so many rows, where a wanted metric keeps them and they are not too many. */
static int make_room(struct evaluator *e, size_t rows)
{
    if (!keeps(e) || rows <= e->kept.rows || rows > METRIC_KEPT_MOST / e->part.outputs)
        return 0;
    mem_free_owned(&e->kept.owned);
    e->kept.scores = mem_own(&e->kept.owned, rows * e->part.outputs, sizeof *e->kept.scores);
    e->kept.targets = mem_own(&e->kept.owned, rows * e->part.targets, sizeof *e->kept.targets);
    e->kept.order = mem_own(&e->kept.owned, rows, sizeof *e->kept.order);
    e->kept.rows = e->kept.owned.failed ? 0 : rows;
    return e->kept.rows ? 0 : SPH_EMEMORY;
}

static void want(struct evaluator *e, enum evaluator_which which)
{
    sph_metric list[SPH_METRICS_MAX];
    size_t count = evaluator_list(&e->opts, e->part.outputs, which, list), next = 0;
    for (size_t i = 0; i < e->sums.count; i++) {
        e->wanted[i] = next < count && list[next] == e->sums.list[i];
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
    e->sums.count = metric_list(task, outputs, e->sums.list);
    for (size_t i = 0; i < e->sums.count; i++) {
        const struct metric *metric = metric_row(e->sums.list[i]);
        e->sums.at[i] = e->sums.numbers;
        e->sums.numbers += metric->numbers ? metric->numbers(&e->part) : metric->tally && !metric->keeps;
    }
    e->sums.broken = e->sums.numbers++;
}

static int make_plans(struct evaluator *e, struct weights *const *members, size_t rows)
{
    int err = 0;
    e->nets.plans = mem_own(&e->owned, e->nets.count, sizeof(struct plan *));
    if (!e->nets.plans)
        return SPH_EMEMORY;
    for (size_t k = 0; k < e->nets.count && !err; k++)
        err = plan_new(&e->nets.plans[k], members[k], rows, PLAN_EVALUATE, e->opts.workers, NULL);
    e->plan = e->nets.plans[0];
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
    e->nets.count = count;
    e->opts = *opts;
    e->rows = rows;
    describe_part(e);
    want(e, EVALUATOR_ALL);
    int err = make_plans(e, members, rows);
    if (err < 0)
        goto fail;
    size_t columns = e->part.outputs + e->part.targets;
    e->nets.ldj = kernel_pad(e->part.outputs);
    if (count > 1) {
        e->nets.each = mem_own(&e->owned, (count * rows + 1) * e->part.outputs, sizeof *e->nets.each);
        e->nets.joint = mem_own(&e->owned, rows * e->nets.ldj, weights->k->size);
    }
    e->ldx = net_row_length(weights->net);
    e->ldy = kernel_pad(e->part.targets);
    e->sums.scratch_size = plan_tile_rows(e->plan) * columns;
    e->x = mem_own(&e->owned, rows * e->ldx, weights->k->size);
    e->y = mem_own(&e->owned, rows * e->ldy, weights->k->size);
    e->index = mem_own(&e->owned, rows, sizeof *e->index);
    e->first = mem_own(&e->owned, e->part.targets, sizeof *e->first);
    e->sums.of_tiles =
        mem_own(&e->owned, plan_tiles(e->plan, rows) * e->sums.numbers, sizeof *e->sums.of_tiles);
    e->sums.all = mem_own(&e->owned, e->sums.numbers + 2, sizeof *e->sums.all);
    e->sums.scratch = mem_own(&e->owned, (opts->workers + 1) * e->sums.scratch_size, sizeof *e->sums.scratch);
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
    for (size_t k = 0; e->nets.plans && k < e->nets.count; k++)
        plan_free(e->nets.plans[k]);
    mem_free_owned(&e->kept.owned);
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
    double *p = e->sums.scratch + tile->worker * e->sums.scratch_size, *t = p + tile->rows * outputs;
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
    double *sums = e->sums.of_tiles + tile->index * e->sums.numbers;
    memset(sums, 0, e->sums.numbers * sizeof *sums);
    for (size_t i = 0; i < tile->rows * e->part.outputs; i++)
        sums[e->sums.broken] += !isfinite(view.p[i]);
    for (size_t i = 0; i < e->sums.count; i++)
        if (e->wanted[i] && metric_row(e->sums.list[i])->tally)
            metric_row(e->sums.list[i])->tally(&e->part, &view, sums + e->sums.at[i]);
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
    loss_join(loss_row(e->opts.loss)->link, outputs, (e->nets.count - first + step - 1) / step,
              e->nets.each + first * stride + i * outputs, step * stride, mean);
    for (size_t m = first; m < e->nets.count; m += step)
        for (size_t j = 0; j < outputs; j++)
            if (!isfinite(e->nets.each[m * stride + i * outputs + j]))
                mean[j] = (double)NAN;
}

/* Every member's outputs, what they mean, and that scored as if one net had given it. */
static double run_members(struct evaluator *e, size_t count)
{
    const struct kernels *k = e->weights->k;
    size_t outputs = e->part.outputs, stride = e->rows * outputs, most = plan_tile_rows(e->plan);
    double *mean = e->nets.each + e->nets.count * stride, sum = 0;
    for (size_t m = 0; m < e->nets.count; m++) {
        struct collect collect = {e, e->nets.each + m * stride};
        plan_run(e->nets.plans[m], e->x, e->ldx, count, &(struct plan_head){&collect, collect_tile});
    }
    for (size_t i = 0; i < count; i++) {
        join(e, i, mean);
        k->from_double(outputs, mean, e->nets.joint + i * e->nets.ldj * k->size);
    }
    for (size_t row = 0, index = 0; row < count; row += most, index++) {
        struct tile tile = {.row = row, .rows = count - row < most ? count - row : most, .index = index};
        sum += score_tile(e, &tile, e->nets.joint + row * e->nets.ldj * k->size, e->nets.ldj, NULL, 0);
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
    e->part.loss += e->nets.count > 1
                        ? run_members(e, count)
                        : plan_run(e->plan, e->x, e->ldx, count, &(struct plan_head){e, score_tile});
    for (size_t t = 0; t < plan_tiles(e->plan, count); t++)
        for (size_t i = 0; i < e->sums.numbers; i++)
            e->sums.all[i] += e->sums.of_tiles[t * e->sums.numbers + i];
    for (size_t m = 0; m < e->nets.count && !err; m++)
        err = plan_check(e->nets.plans[m]);
    return err;
}

/* This rank's rows. The target of row 0 is what all ranks measure regressions from. */
static int run_share(struct evaluator *e, const struct source *source)
{
    struct comm_share share = comm_share(e->opts.comm, source->rows);
    size_t stop = share.first + share.count;
    int err = 0;
    if (share.first && e->part.task == SPH_TASK_REGRESSION) {
        *e->index = 0;
        err = source->fetch(source->self, e->index, 1, e->x, e->ldx, e->y, e->ldy);
        e->weights->k->to_double(e->part.targets, e->y, e->first);
    }
    if (source->ahead && !err)
        err = source->ahead(source->self, NULL, share.first, share.count);
    for (size_t row = share.first; row < stop && !err; row += e->rows)
        err = run_batch(e, source, row, stop - row < e->rows ? stop - row : e->rows);
    return err;
}

/* The sums, and the rows that are kept, of all ranks. */
static int join_ranks(struct evaluator *e, int err)
{
    double *more = e->sums.all + e->sums.numbers;
    if (!comm_many(e->opts.comm))
        return err;
    more[0] = e->part.loss;
    more[1] = err < 0;
    comm_sum(e->opts.comm, e->sums.all, e->sums.numbers + 2, 1);
    e->part.loss = more[0];
    if (more[1] > 0)
        return comm_agree(e->opts.comm, err);
    if (keeps(e) && e->part.kept) {
        comm_sum(e->opts.comm, e->part.kept, e->part.rows * e->part.outputs, 1);
        comm_sum(e->opts.comm, e->part.kept_t, e->part.rows * e->part.targets, 1);
    }
    return 0;
}

int evaluator_run(struct evaluator *e, const struct source *source, const double *row_weights,
                  enum evaluator_which which, sph_scores *out)
{
    want(e, which);
    int err = make_room(e, source->rows);
    if (err < 0 && !comm_many(e->opts.comm))
        return err;
    e->part.rows = source->rows;
    e->part.loss = 0;
    e->part.first = e->first;
    e->part.kept = source->rows <= e->kept.rows ? e->kept.scores : NULL;
    e->part.kept_t = e->kept.targets;
    e->part.order = e->kept.order;
    e->weight = 1 / ((double)source->rows * (double)e->part.targets);
    e->row_weights = row_weights;
    memset(e->sums.all, 0, e->sums.numbers * sizeof *e->sums.all);
    if (comm_many(e->opts.comm) && e->part.kept) {
        memset(e->part.kept, 0, source->rows * e->part.outputs * sizeof(double));
        memset(e->part.kept_t, 0, source->rows * e->part.targets * sizeof(double));
    }
    err = join_ranks(e, err ? err : run_share(e, source));
    *out = (sph_scores){.rows = source->rows};
    for (size_t i = 0; i < e->sums.count && !err; i++)
        if (e->wanted[i]) {
            out->name[out->count] = sph_word(SPH_WORDS_METRIC, (int)e->sums.list[i])->word;
            out->value[out->count++] =
                e->sums.all[e->sums.broken] > 0
                    ? (double)NAN
                    : metric_row(e->sums.list[i])->finish(&e->part, e->sums.all + e->sums.at[i]);
        }
    return err;
}
