/* SPDX-License-Identifier: MIT */
#include "train/trainer_inside.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "compute/denormals.h"
#include "train/batch.h"
#include "train/losses.h"

enum { EVALUATE_ROWS = 1024 };

static_assert(TRAINER_SCHEDULE + SCHEDULE_STATE == TRAINER_SCALAR_COUNT, "the schedule's memory comes last");

/* ---------------------------------------------------------------- making */

enum { STEP_BITS = 53 }; /* steps are counted in a double */

static int check_steps(const struct trainer *t)
{
    uint64_t steps;
    if (__builtin_mul_overflow((uint64_t)t->opts->epochs, t->step.count, &steps) || steps >> STEP_BITS)
        return sph_fail_key(SPH_EARG, "epochs", "%zu of %zu steps each, expected at most 2^%d steps in all",
                            t->opts->epochs, t->step.count, STEP_BITS);
    return 0;
}

/* Names the values that each epoch reports: train_loss, then val_ and the name of each metric. */
static void name_values(struct trainer *t, const sph_metric *list, size_t count)
{
    snprintf(t->seen.name_text[0], sizeof t->seen.name_text[0], "train_loss");
    for (size_t i = 0; i < count; i++)
        snprintf(t->seen.name_text[i + 1], sizeof t->seen.name_text[0], "val_%s",
                 sph_word(SPH_WORDS_METRIC, (int)list[i])->word);
    t->seen.values = count + 1;
    for (size_t i = 0; i < t->seen.values; i++)
        t->seen.name[i] = t->seen.name_text[i];
}

/* Adds the scores of the training part. train_loss comes from the steps, so metric 0 (the loss) is skipped. */
static void name_train_scores(struct trainer *t, const struct evaluator_opts *eval)
{
    sph_metric list[SPH_METRICS_MAX];
    size_t count = evaluator_list(eval, sph_net_outputs(t->net), EVALUATOR_EPOCH, list);
    for (size_t i = 1; i < count; i++, t->seen.values++) {
        snprintf(t->seen.name_text[t->seen.values], sizeof t->seen.name_text[0], "train_%s",
                 sph_word(SPH_WORDS_METRIC, (int)list[i])->word);
        t->seen.name[t->seen.values] = t->seen.name_text[t->seen.values];
    }
}

/* Finds the monitored value by name and chooses the metrics that each epoch computes. */
static int choose_monitor(struct trainer *t, struct evaluator_opts *eval)
{
    sph_metric list[SPH_METRICS_MAX];
    size_t outputs = sph_net_outputs(t->net);
    size_t count = t->val ? evaluator_list(eval, outputs, EVALUATOR_ALL, list) : 0;
    const char *wanted = t->opts->monitor ? t->opts->monitor : t->val ? "val_loss" : "train_loss";
    name_values(t, list, count);
    int found = text_find(wanted, t->seen.name, t->seen.values);
    if (found < 0) {
        struct text known = {0};
        for (size_t i = 0; i < t->seen.values; i++)
            text_add(&known, "%s%s", i ? ", " : "", t->seen.name[i]);
        int err = known.failed ? SPH_EMEMORY
                               : sph_fail_key(SPH_EARG, "monitor", "unknown metric %s; available: %s%s",
                                              wanted, known.chars, t->val ? "" : " (no validation set)");
        text_free(&known);
        return err;
    }
    eval->watched = found ? list[found - 1] : SPH_METRIC_LOSS;
    t->best.watched = sph_metric_about(eval->watched);
    name_values(t, list, t->val ? evaluator_list(eval, outputs, EVALUATOR_EPOCH, list) : 0);
    t->best.monitor = (size_t)text_find(wanted, t->seen.name, t->seen.values);
    if (t->opts->train_scores)
        name_train_scores(t, eval);
    t->best.keeps = t->val || t->opts->monitor || t->opts->patience;
    return 0;
}

/* Some metrics are undefined for some targets, whatever the network predicts, so the first weights show
 * whether the monitored metric can be computed. */
static int check_monitor(struct trainer *t)
{
    sph_scores scores;
    if (!t->val || !t->best.watched->undefined)
        return 0;
    weights_materialize(t->weights);
    int err = evaluator_run(t->evaluator, t->val, t->val_weights, EVALUATOR_EPOCH, &scores);
    if (!err && isnan(scores.value[t->best.monitor - 1]))
        err = sph_fail_key(SPH_EARG, "monitor", "%s is undefined %s in the validation set",
                           t->seen.name[t->best.monitor], t->best.watched->undefined);
    return err;
}

static int make_parts(struct trainer *t, const struct evaluator_opts *eval)
{
    const sph_train_opts *opts = t->opts;
    size_t workers = (size_t)opts->threads, score_rows = net_rows_at_once(t->net, EVALUATE_ROWS);
    if (t->train->rows < score_rows && (!t->val || t->val->rows < score_rows))
        score_rows = t->val && t->val->rows > t->train->rows ? t->val->rows : t->train->rows;
    struct plan_running running = {opts->norm_momentum, opts->norm_variance, opts->memory,
                                   t->team.local_norm ? NULL : t->team.comm};
    int err = opts->freeze ? freeze_new(&t->freeze, t->net, opts->freeze) : 0;
    if (err < 0 || (err = weights_new_frozen(&t->weights, t->net, t->k, workers, t->freeze)) < 0 ||
        (err = plan_new(&t->plan, t->weights, t->step.micro, PLAN_TRAIN, workers, &running)) < 0 ||
        (err = evaluator_new(&t->evaluator, t->weights, eval, score_rows)) < 0)
        return err;
    return optimizer_new(&t->optimizer, t->weights, opts);
}

static int make_arrays(struct trainer *t)
{
    t->seen.layer = mem_own(&t->owned, t->net->layer_count, sizeof *t->seen.layer);
    t->step.order = mem_own(&t->owned, t->train->rows, sizeof *t->step.order);
    t->step.x = mem_own(&t->owned, t->step.share * t->step.ldx, t->k->size);
    t->step.y = mem_own(&t->owned, t->step.share * t->step.ldy, t->k->size);
    if (t->row_weights)
        t->step.weights = mem_own(&t->owned, t->step.share, sizeof *t->step.weights);
    if (t->best.keeps) {
        t->best.params = mem_own(&t->owned, t->net->learned, t->k->size);
        t->best.state = mem_own(&t->owned, t->net->state_len, t->k->size);
    }
    return t->owned.failed ? SPH_EMEMORY : 0;
}

int trainer_new(struct trainer **out, const struct trainer_setup *setup)
{
    const sph_train_opts *opts = setup->opts;
    size_t outputs = sph_net_outputs(setup->net);
    int err = opts_check(opts, setup->net);
    if (err < 0)
        return err;
    struct trainer *t = mem_get(1, sizeof *t);
    if (!t)
        return SPH_EMEMORY;
    t->net = setup->net;
    t->opts = opts;
    t->train = setup->train;
    t->val = setup->val && setup->val->rows ? setup->val : NULL;
    t->row_weights = setup->row_weights;
    t->val_weights = setup->val_weights;
    t->k = t->net->k;
    t->team = (struct team){.comm = comm_many(setup->comm) ? setup->comm : NULL,
                            .local_norm = comm_many(setup->comm) && setup->local_norm};
    t->step.targets = loss_targets(opts->loss, outputs);
    t->step.ldx = net_row_length(t->net);
    t->step.ldy = kernel_pad(t->step.targets);
    t->at.best = INFINITY;
    t->seen.loss = (double)NAN;
    t->seen.lr = opts->lr;
    schedule_begin(t->at.schedule);
    struct evaluator_opts eval = {.loss = opts->loss,
                                  .smoothing = opts->label_smoothing,
                                  .delta = opts->huber_delta,
                                  .workers = (size_t)opts->threads,
                                  .most_rows = setup->most_rows,
                                  .comm = t->team.comm};
    if (!(err = schedule_parse(&t->schedule, opts->schedule, opts->warmup)) && !(err = batches_plan(t)) &&
        !(err = check_steps(t)) && !(err = choose_monitor(t, &eval)) && !(err = make_parts(t, &eval)))
        err = make_arrays(t);
    if ((err = comm_agree(t->team.comm, err)) < 0 || (err = check_monitor(t)) < 0)
        goto fail;
    *out = t;
    return 0;
fail:
    trainer_free(t);
    return err;
}

void trainer_free(struct trainer *t)
{
    if (!t)
        return;
    if (t->train && t->train->ahead)
        t->train->ahead(t->train->self, NULL, 0, 0); /* the source still points to `order` */
    plan_free(t->plan);
    evaluator_free(t->evaluator);
    weights_free(t->weights);
    freeze_free(t->freeze);
    optimizer_free(&t->optimizer);
    mem_free_owned(&t->owned);
    mem_free(t);
}

/* ---------------------------------------------------------------- one step */

/* The first layer whose output is not finite for these rows of this rank, or for those of another one. */
static size_t blame(struct trainer *t, size_t rows)
{
    size_t bad = t->net->layer_count;
    if (t->team.comm)
        t->team.comm->muted = 1;
    for (size_t row = 0; row < rows && bad == t->net->layer_count; row += t->step.micro)
        bad = plan_blame(t->plan, t->step.x + row * t->step.ldx * t->k->size, t->step.ldx,
                         rows - row < t->step.micro ? rows - row : t->step.micro);
    if (t->team.comm)
        t->team.comm->muted = 0;
    return ranks_least(t, bad);
}

/* Fails because the loss or a weight is not finite; names the first layer whose output is not finite. */
static int diverged(struct trainer *t, const char *what, double loss, uint64_t step, size_t rows)
{
    size_t bad = blame(t, rows);
    const char *layer = bad < t->net->layer_count ? t->net->layers[bad].path : "";
    t->seen.stopped = 0;
    return sph_fail_of(SPH_EDIVERGED, "", 0, layer,
                       "%s %g at step %llu (epoch %llu), first in %s; try a learning rate below %g", what,
                       isnan(loss) ? fabs(loss) : loss, (unsigned long long)step,
                       (unsigned long long)t->at.epoch + 1, *layer ? layer : "the loss itself", t->opts->lr);
}

static uint64_t all_steps(const struct trainer *t)
{
    return (uint64_t)t->opts->epochs * t->step.count;
}

static int take_step(struct trainer *t, double *loss, double *lr)
{
    size_t batch = (size_t)t->at.batch, rows, own;
    uint64_t step = t->at.step;
    int err = batches_fetch(t, batch, &rows, &own);
    if (err < 0 && !t->team.comm) /* others wait for this rank, whatever its rows are */
        return err;
    struct batch parts = {.weights = t->weights,
                          .plan = t->plan,
                          .micro = t->step.micro,
                          .opts = t->opts,
                          .targets = t->step.targets,
                          .ldx = t->step.ldx,
                          .ldy = t->step.ldy,
                          .row_weights = t->row_weights ? t->step.weights : NULL,
                          .all = rows,
                          .runs = batches_runs(t, rows)};
    *loss = batch_run(&parts, t->step.x, t->step.y, own);
    int checked = plan_check(t->plan);
    if ((err = ranks_join(t, err ? err : checked, loss)) < 0)
        return err;
    if (!isfinite(*loss))
        return diverged(t, "the loss became", *loss, t->at.step + 1, own);
    weights_pull(t->weights);
    ranks_sum_gradients(t);
    if (t->opts->natural > 0)
        weights_natural(t->weights, t->opts->natural);
    *lr = t->opts->lr * schedule_factor(&t->schedule, t->at.schedule, (size_t)t->at.epoch, step, all_steps(t),
                                        t->step.count);
    optimizer_step(&t->optimizer, t->weights, *lr, step + 1);
    weights_after_step(t->weights);
    weights_refresh(t->weights);
    if (!t->k->all_finite(t->net->learned, t->net->params)) /* before an observer can save them */
        return diverged(t, "the weights overflowed after a loss of", *loss, t->at.step + 1, own);
    t->at.step++;
    t->at.batch++;
    t->at.loss_sum +=
        *loss * ((double)rows / (double)t->step.rows); /* the last batch may have another number of rows */
    return 0;
}

/* Observers run in the caller's floating-point mode, so the mode is restored before they are called. */
static int train_step(struct trainer *t, double *loss, double *lr)
{
    unsigned mode = denormals_as_zero();
    int err = take_step(t, loss, lr);
    denormals_mode_set(mode);
    return err;
}

/* ---------------------------------------------------------------- epochs */

/* Copies the weights at the end of the epoch. train_loss is averaged over the steps of the epoch, each
 * measured before its update, but the copy has all updates of the epoch, as in Keras. */
static void keep_best(struct trainer *t)
{
    memcpy(t->best.params, t->net->params, t->net->learned * t->k->size);
    memcpy(t->best.state, t->net->state, t->net->state_len * t->k->size);
}

void trainer_go_on(struct trainer *t)
{
    const sph_train_opts *opts = t->opts;
    int patient = !opts->patience || t->at.waited < opts->patience;
    size_t last = opts->last_epoch && opts->last_epoch < opts->epochs ? opts->last_epoch : opts->epochs;
    t->at.finished = !patient || t->at.epoch >= last;
}

/* Computes the values of the finished epoch and updates the schedule and the stopping rule. */
static int end_epoch(struct trainer *t, int *improved)
{
    sph_scores scores;
    t->seen.value[0] = t->at.loss_sum / ((double)t->train->rows / (double)t->step.rows);
    if (t->team.local_norm)
        ranks_align_state(t);
    if (t->val) {
        int err = evaluator_run(t->evaluator, t->val, t->val_weights, EVALUATOR_EPOCH, &scores);
        if (err < 0)
            return err;
        memcpy(t->seen.value + 1, scores.value, scores.count * sizeof *t->seen.value);
        if (!isfinite(scores.value[0]))
            return diverged(t, "the validation loss became", scores.value[0], t->at.step,
                            comm_share(t->team.comm, t->step.rows).count);
    }
    if (t->opts->train_scores) {
        int err = evaluator_run(t->evaluator, t->train, NULL, EVALUATOR_EPOCH, &scores);
        if (err < 0)
            return err;
        memcpy(t->seen.value + t->seen.values - (scores.count - 1), scores.value + 1,
               (scores.count - 1) * sizeof *t->seen.value);
    }
    t->at.epoch++;
    t->at.batch = 0;
    t->at.loss_sum = 0;
    double value =
        t->best.watched->larger_is_better ? -t->seen.value[t->best.monitor] : t->seen.value[t->best.monitor];
    schedule_epoch(&t->schedule, t->at.schedule, value);
    *improved = value < t->at.best;
    if (*improved) {
        t->at.best = value;
        t->at.best_epoch = t->at.epoch;
        t->at.waited = 0;
        if (t->best.keeps)
            keep_best(t);
    } else {
        t->at.waited++;
    }
    trainer_go_on(t);
    return 0;
}

static const sph_view_layer *view_layers(struct trainer *t)
{
    for (size_t k = 0; k < t->net->layer_count; k++) {
        const struct layer_weights *weights = &t->weights->layer[k];
        t->seen.layer[k] =
            (sph_view_layer){weights->w, weights->ldw, weights->b, weights->scaled ? weights->s : NULL};
    }
    return t->seen.layer;
}

static sph_view view_of(struct trainer *t, enum moment moment, double loss, int improved)
{
    return (sph_view){
        .net = t->net,
        .layer = view_layers(t),
        .epoch = (size_t)t->at.epoch,
        .epochs = t->opts->epochs,
        .step = t->at.step,
        .steps = all_steps(t),
        .lr = t->seen.lr,
        .loss = loss,
        .names = t->seen.name,
        .value = t->seen.value,
        .values = moment == AT_EPOCH && t->at.epoch ? t->seen.values : 0,
        .seconds = moment == AT_STEP ? 0 : trainer_seconds(t),
        .improved = improved,
    };
}

static int observe(struct trainer *t, enum moment moment, const sph_observer *observers, size_t count,
                   double loss, int improved)
{
    if (!count)
        return t->team.comm && moment != AT_STEP ? ranks_join(t, 0, NULL) : 0;
    sph_view view = view_of(t, moment, loss, improved);
    int stop = observers_tell(observers, count, &view, moment);
    if (t->team.comm) { /* the others do not know: ranks_join */
        t->team.wish |= stop > 0 && moment != AT_END;
        t->team.err = stop < 0 ? stop : t->team.err;
        return moment == AT_STEP ? 0 : ranks_join(t, 0, NULL);
    }
    t->seen.stopped |= stop > 0 && moment != AT_END;
    return stop < 0 ? stop : 0;
}

/* Runs up to `steps` steps; at.batch keeps the place in the epoch between calls. */
static int advance(struct trainer *t, uint64_t steps, const sph_observer *observers, size_t count)
{
    int err, improved = 0;
    while (!t->seen.stopped && !t->at.finished && steps) {
        if (!t->step.ordered && !t->step.fetched && (err = batches_begin(t)) < 0) {
            if (!t->team.comm)
                return err;
            t->team.err = err;
        }
        t->step.ordered = 1;
        while (!t->seen.stopped && t->at.batch < t->step.count && steps) {
            if ((err = train_step(t, &t->seen.loss, &t->seen.lr)) < 0 ||
                (err = observe(t, AT_STEP, observers, count, t->seen.loss, 0)) < 0)
                return err;
            steps--;
        }
        if (t->at.batch < t->step.count)
            return t->team.comm ? ranks_join(t, 0, NULL) : 0;
        t->step.ordered = 0;
        if ((err = end_epoch(t, &improved)) < 0 ||
            (err = observe(t, AT_EPOCH, observers, count, t->seen.value[0], improved)) < 0)
            return err;
    }
    return 0;
}

static void begin(struct trainer *t)
{
    t->seen.stopped = t->team.wish = t->team.err = 0;
    t->seen.began = clock_seconds();
    weights_materialize(t->weights);
}

int trainer_advance(struct trainer *t, uint64_t steps, const sph_observer *observers, size_t count)
{
    begin(t);
    return advance(t, steps, observers, count);
}

int trainer_run(struct trainer *t, const sph_observer *observers, size_t count)
{
    begin(t);
    t->seen.loss = 0;
    t->seen.lr = t->opts->lr;
    int err = observe(t, AT_START, observers, count, 0, 0);
    if (!err)
        err = advance(t, UINT64_MAX, observers, count);
    return err ? err : observe(t, AT_END, observers, count, t->seen.loss, 0);
}

sph_view trainer_view(struct trainer *t)
{
    return view_of(t, AT_EPOCH, t->seen.loss, 0);
}

int trainer_stopped(const struct trainer *t)
{
    return t->seen.stopped && !t->at.finished;
}

int trainer_improving(const struct trainer *t)
{
    size_t all = t->opts->epochs, best = (size_t)t->at.best_epoch;
    return t->at.epoch == all && all - best <= all / 100 && !schedule_ends_low(&t->schedule);
}

int trainer_take_best(struct trainer *t)
{
    int there = t->best.keeps && t->at.best_epoch > 0;
    if (there) {
        memcpy(t->net->params, t->best.params, t->net->learned * t->k->size);
        memcpy(t->net->state, t->best.state, t->net->state_len * t->k->size);
    }
    weights_materialize(t->weights);
    return there;
}

int trainer_score(struct trainer *t, const struct source *source, sph_scores *out)
{
    return evaluator_run(t->evaluator, source, NULL, EVALUATOR_ALL, out);
}

/* ---------------------------------------------------------------- checkpoints */

size_t trainer_spans(struct trainer *t, struct trainer_span out[TRAINER_SPANS])
{
    static const char *const slots[OPTIMIZER_SLOTS] = {"optimizer.0", "optimizer.1"};
    size_t count = 0, learned = t->net->learned, state = t->net->state_len;
    place_to_scalars(&t->at, t->scalar);
    out[count++] = (struct trainer_span){"scalars", t->scalar, TRAINER_SCALAR_COUNT, 1};
    out[count++] = (struct trainer_span){"params", t->net->params, learned, 0};
    out[count++] = (struct trainer_span){"state", t->net->state, state, 0};
    for (size_t i = 0; i < t->optimizer.slots; i++)
        out[count++] = (struct trainer_span){slots[i], t->optimizer.slot[i], learned, 0};
    if (t->best.keeps) {
        out[count++] = (struct trainer_span){"best.params", t->best.params, learned, 0};
        out[count++] = (struct trainer_span){"best.state", t->best.state, state, 0};
    }
    return count;
}

void trainer_restored(struct trainer *t)
{
    t->at = place_of_scalars(t->scalar);
    t->step.fetched = t->step.ordered = 0;
    weights_materialize(t->weights);
    trainer_go_on(t); /* `epochs` or `last_epoch` may differ from those of the checkpoint */
}

const struct trainer_place *trainer_place(const struct trainer *t)
{
    return &t->at;
}

void trainer_set_step(struct trainer *t, uint64_t step)
{
    t->at.step = step;
}

size_t trainer_names(const struct trainer *t, const char **out)
{
    memcpy(out, t->seen.name, t->seen.values * sizeof *out);
    return t->seen.values;
}

double trainer_seconds(const struct trainer *t)
{
    return clock_seconds() - t->seen.began;
}

size_t trainer_steps(const struct trainer *t)
{
    return t->step.count;
}

size_t trainer_frozen(const struct trainer *t)
{
    size_t frozen = 0;
    for (size_t i = 0; t->freeze && i < t->net->tensor_count; i++)
        frozen += t->freeze->tensor[i] ? t->net->tensors[i].view.count : 0;
    return frozen;
}

size_t trainer_rows(const struct trainer *t)
{
    size_t all = t->step.micro * comm_size(t->team.comm);
    return all < t->step.longest ? all : t->step.longest;
}
