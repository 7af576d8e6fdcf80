/* SPDX-License-Identifier: MIT */
#include "train/fit.h"

#include <math.h>

#include "compute/threads.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "rows/split.h"
#include "train/losses.h"
#include "train/metrics.h"
#include "train/optimizer.h"
#include "train/tool.h"

/* One rate serves every parameterization: see docs/numerics.md, "Default rates". */
static const double default_lr = 0.01;

void sph_train_defaults_sized(sph_train_opts *out, size_t size, sph_task task)
{
    sph_train_opts own = {
        .loss = loss_first(task),
        .lr_theta = 1,
        .lr_lambda = 1,
        .lr_r = 1,
        .huber_delta = 1,
        .batch = 1024,
        .epochs = 1000,
        .schedule = "none",
        .patience = 100,
        .norm_momentum = 0.1,
        .standardize = SPH_STANDARDIZE_AUTO,
        .threads = 1,
    };
    sph_train_optimizer(&own, SPH_OPTIMIZER_ADAM);
    for (int p = 0; p < SPH_PARAM_COUNT; p++) {
        const struct param_ops *ops = param_ops((sph_param)p);
        for (size_t t = 0; t < ops->tensors; t++)
            if (ops->tensor[t].decays)
                own.decay_groups |= 1u << ops->tensor[t].group;
    }
    sized_give(out, size, &own, sizeof own);
}

void sph_train_optimizer(sph_train_opts *opts, sph_optimizer optimizer)
{
    if (!opts)
        return;
    opts->optimizer = optimizer;
    if ((unsigned)optimizer >= SPH_OPTIMIZER_COUNT)
        return; /* sph_train says so */
    const struct optimizer_ops *ops = optimizer_ops(optimizer);
    opts->lr = default_lr * ops->rate;
    opts->momentum = ops->momentum;
    opts->beta1 = ops->beta1;
    opts->beta2 = ops->beta2;
    opts->epsilon = ops->epsilon;
}

static int check_part(const char *part, const uint32_t *index, size_t count, size_t rows)
{
    for (size_t i = 0; i < count; i++)
        if (index[i] >= rows)
            return sph_fail_key(SPH_EARG, "split", "%s holds row %u of data with %zu rows", part,
                                (unsigned)index[i], rows);
    return 0;
}

static int check_fit(const sph_net *net, const sph_data *data, const sph_split *split,
                     const sph_train_opts *opts)
{
    int err;
    if (!net->ready)
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network is not ready; call sph_net_ready first");
    if (sph_net_inputs(net) != data->features)
        return sph_fail_of(SPH_EARG, "", 0, "net",
                           "the network has %zu inputs, but the data have %zu features", sph_net_inputs(net),
                           data->features);
    if (sph_net_outputs(net) != sph_data_outputs(data))
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network has %zu outputs, but the data need %zu",
                           sph_net_outputs(net), sph_data_outputs(data));
    if ((unsigned)opts->loss >= SPH_LOSS_COUNT)
        return sph_fail_key(SPH_EARG, "loss", "unknown value %d", (int)opts->loss);
    if ((err = loss_check(opts->loss, data->task, opts->standardize, data->y, data->rows * data->targets)) <
        0)
        return err;
    if ((unsigned)opts->augment >= SPH_AUGMENT_COUNT)
        return sph_fail_key(SPH_EARG, "augment", "kind %d is unknown", (int)opts->augment);
    if (!split->train_rows)
        return sph_fail_of(SPH_EARG, "", 0, "train", "the training set has no rows");
    if ((unsigned)opts->standardize >= SPH_STANDARDIZE_COUNT)
        return sph_fail_key(SPH_EARG, "standardize", "unknown value %d", (int)opts->standardize);
    if ((unsigned)opts->scale >= SPH_SCALE_COUNT)
        return sph_fail_key(SPH_EARG, "scale", "unknown value %d", (int)opts->scale);
    if ((unsigned)opts->indicators >= SPH_INDICATORS_COUNT)
        return sph_fail_key(SPH_EARG, "indicators", "unknown value %d", (int)opts->indicators);
    if ((err = check_part("train", split->train, split->train_rows, data->rows)) < 0 ||
        (err = check_part("val", split->val, split->val_rows, data->rows)) < 0)
        return err;
    return check_part("test", split->test, split->test_rows, data->rows);
}

static size_t largest_part(const sph_split *split)
{
    size_t rows = split->train_rows > split->val_rows ? split->train_rows : split->val_rows;
    return split->test_rows > rows ? split->test_rows : rows;
}

static int feed_part(struct feed **out, const sph_trainer *trainer, const sph_data *data,
                     const uint32_t *rows, size_t count)
{
    return count ? feed_new(out, data, rows, count, trainer->net) : 0;
}

/* What rows count for their classes, and in all. */
static double count_classes(double *of_class, const sph_data *data, const uint32_t *rows, size_t count)
{
    const double *column = data->side[COLUMN_WEIGHT];
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double counts = column ? column[rows[i]] : 1;
        of_class[(size_t)data->y[rows[i]]] += counts;
        sum += counts;
    }
    return sum;
}

/* of_class (classes) <- such that each class weighs as much as any other in the rows that training sees, those that
 * validate included: scikit-learn's "balanced" of the rows of a fit. All folds have the same weights so. */
static void balance_classes(double *of_class, const sph_data *data, const sph_split *split)
{
    double all = count_classes(of_class, data, split->train, split->train_rows);
    all += count_classes(of_class, data, split->val, split->val_rows);
    for (size_t c = 0; c < data->classes; c++)
        of_class[c] = of_class[c] > 0 ? all / ((double)data->classes * of_class[c]) : 0;
}

/* *out <- what these rows count, of mean 1. of_class: NULL, or what each class does. */
static int weigh_part(double **out, const sph_data *data, const double *of_class, const uint32_t *rows,
                      size_t count, const char *part)
{
    const double *column = data->side[COLUMN_WEIGHT];
    double sum = 0, *weights = *out = mem_get(count, sizeof *weights);
    if (!weights)
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++) {
        weights[i] = (column ? column[rows[i]] : 1) * (of_class ? of_class[(size_t)data->y[rows[i]]] : 1);
        sum += weights[i];
    }
    if (!(sum > 0 && isfinite(sum)))
        return sph_fail_key(SPH_EARG, "weights", "they sum to %g in the %s part: %s", sum, part,
                            sum > 0 ? "too large" : "at least one row needs a weight above 0");
    for (size_t i = 0; i < count; i++)
        weights[i] *= (double)count / sum;
    return 0;
}

/* The rows that choose the epoch count as those do that are learnt from. */
static int weigh_rows(sph_trainer *trainer, const sph_data *data, const sph_split *split)
{
    int balanced = trainer->opts.class_weight == SPH_CLASS_WEIGHT_BALANCED, err = 0;
    double *of_class = NULL;
    if ((unsigned)trainer->opts.class_weight >= SPH_CLASS_WEIGHT_COUNT)
        return sph_fail_key(SPH_EARG, "class_weight", "unknown value %d", (int)trainer->opts.class_weight);
    if (balanced && data->task == SPH_TASK_REGRESSION)
        return sph_fail_key(SPH_EARG, "class_weight", "the task is regression, which has no classes");
    if (balanced && data->class_weights)
        return sph_fail_key(SPH_EARG, "class_weight",
                            "balanced cannot be combined with class weights; remove one of them");
    if (!data->side[COLUMN_WEIGHT] && !data->class_weights && !balanced)
        return 0;
    of_class = balanced              ? mem_get(data->classes, sizeof *of_class)
               : data->class_weights ? mem_copy(data->class_weights, data->classes, sizeof *of_class)
                                     : NULL;
    if ((balanced || data->class_weights) && !of_class)
        return SPH_EMEMORY;
    if (balanced)
        balance_classes(of_class, data, split);
    err = weigh_part(&trainer->row_weights, data, of_class, split->train, split->train_rows, "training");
    if (!err && split->val_rows)
        err = weigh_part(&trainer->val_weights, data, of_class, split->val, split->val_rows, "validation");
    mem_free(of_class);
    return err;
}

static int make_feeds(sph_trainer *trainer, const sph_data *data, const sph_split *split)
{
    const sph_train_opts *opts = &trainer->opts;
    int err = feed_new_augmented(&trainer->train, data, split->train, split->train_rows, trainer->net,
                                 opts->augment, opts->seed);
    if (!err && trainer->train->source.varies)
        err = feed_part(&trainer->as_it_is, trainer, data, split->train, split->train_rows);
    if (!err)
        err = feed_part(&trainer->val, trainer, data, split->val, split->val_rows);
    return err ? err : feed_part(&trainer->test, trainer, data, split->test, split->test_rows);
}

static void borrow_feeds(sph_trainer *trainer, const sph_trainer *from)
{
    trainer->borrows = 1;
    trainer->train = from->train;
    trainer->as_it_is = from->as_it_is;
    trainer->val = from->val;
    trainer->test = from->test;
}

/* The rows of a fold out of the first one's copy: at has where the training rows lie in it, then the others. */
static int join_feeds(sph_trainer *trainer, const sph_trainer *from, const sph_split *split,
                      const uint32_t *at)
{
    const struct source *train = &from->train->source, *val = &from->val->source;
    size_t size = trainer->net->k->size;
    trainer->borrows = trainer->folded = 1;
    trainer->test = from->test;
    int err = feed_new_joined(&trainer->train, train, val, at, split->train_rows, size);
    return err ? err
               : feed_new_joined(&trainer->val, train, val, at + split->train_rows, split->val_rows, size);
}

static int take_feeds(sph_trainer *trainer, const sph_trainer *first, const sph_data *data,
                      const sph_split *split, const uint32_t *at)
{
    if (!first || data_is_images(data))
        return make_feeds(trainer, data, split);
    if (at)
        return join_feeds(trainer, first, split, at);
    borrow_feeds(trainer, first);
    return 0;
}

/* What a trainer takes from elsewhere; all may be NULL. */
struct given {
    const struct scaling *scaling; /* the standardisation              */
    const sph_trainer *first;      /* whose rows it uses               */
    const uint32_t *at;            /* where rows of a fold (split_fold) lie in those */
    struct fit_team team;
};

static int make_fit(sph_trainer **out, sph_net *net, const sph_data *data, const sph_split *split,
                    const sph_train_opts *opts, const struct given *given)
{
    int err = check_fit(net, data, split, opts);
    if (err < 0)
        return err;
    sph_trainer *trainer = mem_get(1, sizeof *trainer);
    if (!trainer)
        return SPH_EMEMORY;
    trainer->net = net;
    trainer->opts = *opts;
    if (opts->standardize == SPH_STANDARDIZE_AUTO)
        trainer->opts.standardize = loss_standardize(opts->loss);
    scaling_free(&net->scaling);
    err = given->scaling ? scaling_copy(&net->scaling, given->scaling)
                         : scaling_fit(&net->scaling, data, split->train, split->train_rows,
                                       &(struct scaling_how){trainer->opts.standardize, trainer->opts.scale,
                                                             trainer->opts.indicators});
    if (!err)
        err = take_feeds(trainer, given->first, data, split, given->at);
    if (err < 0)
        goto fail;
    if ((err = weigh_rows(trainer, data, split)) < 0)
        goto fail;
    struct trainer_setup setup = {
        .row_weights = trainer->row_weights,
        .val_weights = trainer->val_weights,
        .net = net,
        .opts = &trainer->opts,
        .train = &trainer->train->source,
        .val = trainer->val ? &trainer->val->source : NULL,
        .most_rows = largest_part(split),
        .comm = given->team.comm,
        .local_norm = given->team.local_norm,
    };
    if ((err = trainer_new(&trainer->loop, &setup)) < 0)
        goto fail;
    *out = trainer;
    return 0;
fail:
    sph_trainer_free(trainer);
    return err;
}

int fit_new(sph_trainer **out, sph_net *net, const sph_data *data, const sph_split *split,
            const sph_train_opts *opts, struct fit_team team)
{
    return make_fit(out, net, data, split, opts, &(struct given){.team = team});
}

int fit_new_scaled(sph_trainer **out, sph_net *net, const struct scaling *scaling, const sph_data *data,
                   const sph_split *split, const sph_train_opts *opts)
{
    return make_fit(out, net, data, split, opts, &(struct given){.scaling = scaling});
}

int fit_new_beside(sph_trainer **out, sph_net *net, const sph_trainer *first, const sph_data *data,
                   const sph_split *split, struct fit_fold fold, const sph_train_opts *opts)
{
    struct given given = {.scaling = &first->net->scaling, .first = first};
    if (!fold.folds || !fold.fold)
        return make_fit(out, net, data, split, opts, &given);
    sph_split own;
    uint32_t *at;
    int err = split_fold(&own, &at, split, fold.folds, fold.fold);
    if (err < 0)
        return err;
    uint32_t *none = own.test; /* the test part is the split's */
    own.test = split->test;
    own.test_rows = split->test_rows;
    given.at = at;
    err = make_fit(out, net, data, &own, opts, &given);
    own.test = none;
    sph_split_free(&own);
    mem_free(at);
    return err;
}

void sph_trainer_free(sph_trainer *trainer)
{
    if (!trainer)
        return;
    trainer_free(trainer->loop);
    if (!trainer->borrows || trainer->folded) {
        feed_free(trainer->train);
        feed_free(trainer->val);
    }
    if (!trainer->borrows) {
        feed_free(trainer->as_it_is);
        feed_free(trainer->test);
    }
    mem_free(trainer->row_weights);
    mem_free(trainer->val_weights);
    mem_free(trainer);
}

static int score_part(sph_trainer *trainer, const struct feed *feed, sph_scores *out)
{
    return feed ? trainer_score(trainer->loop, &feed->source, out) : 0;
}

/* Every score is a number, or undefined where its metric may be. */
static int are_numbers(const sph_scores *scores)
{
    for (size_t i = 0; i < scores->count; i++) {
        int metric = sph_word_find(SPH_WORDS_METRIC, scores->name[i]);
        int undefined = isnan(scores->value[i]) && sph_metric_about((sph_metric)metric)->undefined;
        if (!isfinite(scores->value[i]) && !undefined)
            return 0;
    }
    return 1;
}

int fit_run(sph_trainer *trainer, const sph_observer *observers, size_t count, sph_result *result)
{
    *result = (sph_result){0};
    int err = trainer_run(trainer->loop, observers, count);
    result->epochs = (size_t)trainer_place(trainer->loop)->epoch;
    result->best_epoch = (size_t)trainer_place(trainer->loop)->best_epoch;
    result->steps = trainer_place(trainer->loop)->step;
    result->seconds = trainer_seconds(trainer->loop);
    const struct source *train = &trainer->train->source;
    result->waited = train->waited ? train->waited(train->self) : 0;
    result->diverged = err == SPH_EDIVERGED;
    result->stopped = trainer_stopped(trainer->loop);
    result->improving = !err && trainer_improving(trainer->loop);
    if (result->diverged)
        trainer_take_best(trainer->loop);
    if (err < 0)
        return err;
    if (result->stopped) /* who asks does not wait for scores */
        return 0;
    if (!trainer_take_best(trainer->loop))
        result->best_epoch = result->epochs;
    if ((err = score_part(trainer, trainer->as_it_is ? trainer->as_it_is : trainer->train, &result->train)) <
            0 ||
        (err = score_part(trainer, trainer->val, &result->val)) < 0 ||
        (err = score_part(trainer, trainer->test, &result->test)) < 0)
        return err;
    if (!are_numbers(&result->train) || !are_numbers(&result->val) || !are_numbers(&result->test)) {
        result->diverged = 1;
        result->train = result->val = result->test = (sph_scores){0};
        return sph_fail_of(
            SPH_EDIVERGED, "", 0, "lr",
            "the scores of the last weights are not finite numbers; try a learning rate below %g",
            trainer->opts.lr);
    }
    return 0;
}
