/* SPDX-License-Identifier: MIT */
#include "job/job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/words.h"
#include "data/cache.h"
#include "job/option_kinds.h"
#include "job/pictures.h"
#include "job/recommend.h"
#include "job/reference.h"
#include "rows/split.h"
#include "net/net.h"
#include "net/zoo.h"
#include "train/losses.h"
#include "train/optimizer.h"
#include "train/schedule.h"

uint64_t job_seed(const struct sph_job *job, enum option_id which)
{
    const struct job_options *o = &job->options;
    return !job->set[which] ? o->seed : which == OPTION_SEED_SPLIT ? o->seed_split : o->seed_init;
}

static const struct net_kind *kind_of(const struct job_options *o)
{
    return net_kind((sph_net_kind)o->net);
}

/* ---------------------------------------------------------------- data */

/* What fits neither the data nor the kind of network. */
static int check_kind(const struct sph_job *job, const sph_data *data)
{
    const struct job_options *o = &job->options;
    const char *word = sph_word(SPH_WORDS_NET, o->net)->word;
    const char *source = o->data ? o->data : "the array";
    int image_net = kind_of(o)->make != NULL;
    if (image_net && !data_is_images(data))
        return sph_fail_key(SPH_EARG, "net", "%s takes images, and %s is a table; use mlp", word, source);
    if (image_net && job->given[OPTION_HIDDEN])
        return sph_fail_key(SPH_EARG, "hidden", "%s has layers of its own; --width scales them", word);
    if (!image_net && job->given[OPTION_WIDTH])
        return sph_fail_key(SPH_EARG, "width", "an mlp has the widths that --hidden says");
    /* an experiment that was written down names it whatever the net */
    if (job->named[OPTION_STEM] && !kind_of(o)->stems)
        return sph_fail_key(SPH_EARG, "stem", "%s has no stem to choose; the resnets have", word);
    static const enum option_id of_tables[] = {OPTION_GROUP, OPTION_TIME, OPTION_WEIGHTS};
    for (size_t i = 0; i < sizeof of_tables / sizeof *of_tables; i++)
        if (data_is_images(data) && job->set[of_tables[i]])
            return sph_fail_key(SPH_EARG, option_key(of_tables[i]),
                                "%s holds images, and only tables have columns", source);
    const struct norm_ops *norm = norm_ops((sph_norm)o->norm);
    if (job->set[OPTION_GROUPS] && !norm->grouped)
        return sph_fail_key(SPH_EARG, "groups", "norm %s has none", norm->name);
    return 0;
}

enum { IMAGE_EPOCHS = 30 };

/* Options that have no meaning in this job are unset, so that they are not written down. */
static int settle_kind(struct sph_job *job, const sph_data *data)
{
    const struct net_kind *kind = kind_of(&job->options);
    int err = check_kind(job, data);
    if (err < 0 || (err = pictures_check(job, data)) < 0)
        return err;
    options_unset(job, kind->make ? OPTION_HIDDEN : OPTION_WIDTH);
    if (kind->stems)
        options_set_word(job, OPTION_STEM,
                         (int)net_stem((sph_stem)job->options.stem, data->height, data->width));
    else
        options_unset(job, OPTION_STEM);
    if (!job->set[OPTION_BATCH])
        options_set_size(job, OPTION_BATCH, kind->batch);
    /* A thousand epochs of images do not end. */
    if (kind->make && !job->settled && !job->given[OPTION_EPOCHS])
        options_set_size(job, OPTION_EPOCHS, IMAGE_EPOCHS);
    if (kind->make && !job->settled && !job->given[OPTION_SCHEDULE] &&
        (err = options_put(job, OPTION_SCHEDULE, "cosine")) < 0)
        return err;
    pictures_settle(job, data);
    return 0;
}

/* Folds deal rows out one by one, which groups and times forbid. A run that was begun before there were folds has none. */
static int settle_folds(struct sph_job *job)
{
    const struct job_options *o = &job->options;
    int parted = o->protocol == PROTOCOL_HOLDOUT && o->val > 0;
    enum option_id by = job->set[OPTION_GROUP] ? OPTION_GROUP : OPTION_TIME;
    if (!(o->ensemble > 1)) {
        if (job->named[OPTION_ENSEMBLE_VAL])
            return sph_fail_key(SPH_EARG, "ensemble_val",
                                "one net has no folds; --ensemble K trains several");
        options_unset(job, OPTION_ENSEMBLE_VAL);
        return 0;
    }
    if (!job->set[OPTION_ENSEMBLE_VAL])
        options_set_word(job, OPTION_ENSEMBLE_VAL,
                         parted && !job->set[by] && !job->settled ? ENSEMBLE_VAL_FOLDS : ENSEMBLE_VAL_ONE);
    if (o->ensemble_val != ENSEMBLE_VAL_FOLDS)
        return 0;
    if (!parted)
        return sph_fail_key(SPH_EARG, "ensemble_val",
                            "no validation part to begin the folds with; use protocol holdout and val");
    return job->set[by]
               ? sph_fail_key(SPH_EARG, "ensemble_val",
                              "folds would part rows that --%s keeps together; use one", option_key(by))
               : 0;
}

size_t job_folds(const struct sph_job *job)
{
    const struct job_options *o = &job->options;
    return o->ensemble > 1 && o->ensemble_val == ENSEMBLE_VAL_FOLDS ? (size_t)fmax(2, round(1 / o->val)) : 0;
}

/* What an ensemble cannot do: no net of it is the one whose boundaries move. */
static int check_ensemble(const struct sph_job *job)
{
    const struct job_options *o = &job->options;
    int init = o->init ? sph_word_find(SPH_WORDS_INIT, o->init) : 0;
    if (o->ensemble > 1 && job->set[OPTION_RECORD])
        return sph_fail_key(SPH_EARG, "record", "of one net, and --ensemble trains %zu", o->ensemble);
    if (o->ensemble > 1 && init < 0 && !(o->new_head > 0))
        return sph_fail_key(SPH_EARG, "ensemble", "%zu nets that all begin as %s would be nearly one",
                            o->ensemble, o->init);
    return 0;
}

/* A second training needs to know from the first when to end, and nothing else. */
static int check_refit(const struct sph_job *job)
{
    const struct job_options *o = &job->options;
    struct schedule schedule;
    if (!(o->refit > 0))
        return 0;
    if (o->protocol != PROTOCOL_HOLDOUT || !(o->val > 0))
        return sph_fail_key(SPH_EARG, "refit",
                            "no validation part chooses the epoch; use protocol holdout and val");
    if (job->set[OPTION_RECORD])
        return sph_fail_key(SPH_EARG, "record", "of the net that is kept, and --refit trains another one");
    int err = schedule_parse(&schedule, o->schedule, o->warmup);
    return !err && schedule_watches(&schedule)
               ? sph_fail_key(
                     SPH_EARG, "refit",
                     "schedule %s watches the validation part, which the second training has none of",
                     o->schedule)
               : err;
}

static int check_tune(const struct sph_job *job)
{
    const struct job_options *o = &job->options;
    if (!job->set[OPTION_TUNE])
        return 0;
    if (kind_of(o)->make)
        return sph_fail_key(SPH_EARG, "tune", "of an mlp, and the net is a %s",
                            sph_word(SPH_WORDS_NET, o->net)->word);
    if (o->protocol != PROTOCOL_HOLDOUT || !(o->val > 0))
        return sph_fail_key(SPH_EARG, "tune", "no validation part chooses; use protocol holdout and val");
    return 0;
}

/* Only holdout has a validation part of its own. */
static int settle_protocol(struct sph_job *job)
{
    const struct job_options *o = &job->options;
    if (o->protocol != PROTOCOL_CV && (job->given[OPTION_FOLD] || job->given[OPTION_FOLDS]))
        return sph_fail_key(SPH_EARG, job->given[OPTION_FOLD] ? "fold" : "folds",
                            "only protocol cv has folds");
    if (o->protocol == PROTOCOL_HOLDOUT)
        return 0;
    if (job->given[OPTION_VAL] && o->val > 0)
        return sph_fail_key(SPH_EARG, "val", "found %g, expected 0: %s", o->val,
                            o->protocol == PROTOCOL_CV ? "the folds of cv are its validation parts"
                                                       : "under protocol reference the test part validates");
    if (o->protocol == PROTOCOL_CV && !job->set[OPTION_FOLD])
        return sph_fail_key(SPH_EARG, "fold", "nothing given, expected the fold to leave out");
    if (o->protocol == PROTOCOL_REFERENCE && !(o->test > 0))
        return sph_fail_key(SPH_EARG, "test",
                            "found 0, and under protocol reference the test part validates");
    options_set_real(job, OPTION_VAL, 0);
    if (o->protocol == PROTOCOL_CV && !job->set[OPTION_FOLDS])
        options_set_size(job, OPTION_FOLDS, 5);
    return 0;
}

static const enum option_id optimizer_options[OPTIMIZER_OPTIONS] = {
    [OPTIMIZER_MOMENTUM] = OPTION_MOMENTUM, [OPTIMIZER_NESTEROV] = OPTION_NESTEROV,
    [OPTIMIZER_BETA1] = OPTION_BETA1,       [OPTIMIZER_BETA2] = OPTION_BETA2,
    [OPTIMIZER_EPSILON] = OPTION_EPSILON,   [OPTIMIZER_FORM] = OPTION_ADAM_FORM,
};

int job_reads(const struct sph_job *job, enum option_id id)
{
    const struct optimizer_ops *ops = optimizer_ops((sph_optimizer)job->options.optimizer);
    for (int i = 0; i < OPTIMIZER_OPTIONS; i++)
        if (optimizer_options[i] == id)
            return ops->reads[i];
    return 1;
}

/* "momentum: not read by adam, but by sgd, rmsprop" */
static int unread(const struct sph_job *job, enum optimizer_option option)
{
    char readers[128] = "";
    for (int i = 0; i < SPH_OPTIMIZER_COUNT; i++) {
        const struct optimizer_ops *ops = optimizer_ops((sph_optimizer)i);
        size_t length = strlen(readers);
        if (ops->reads[option])
            snprintf(readers + length, sizeof readers - length, "%s%s", length ? ", " : "", ops->name);
    }
    return sph_fail_key(SPH_EARG, option_key(optimizer_options[option]), "not read by %s, but by %s",
                        optimizer_ops((sph_optimizer)job->options.optimizer)->name, readers);
}

/* The net's own rate is meant for its own batch; where another one is asked for, it goes with that. 0 is all rows. */
static double image_rate(const struct sph_job *job, const struct net_kind *kind,
                         const struct optimizer_ops *ops, size_t rows)
{
    size_t asked = job->options.batch;
    double batch = (double)(asked && asked < rows ? asked : rows);
    double scale = job->given[OPTION_BATCH] ? pow(batch / (double)kind->batch, ops->batch_power) : 1;
    return ops->rate * kind->lr * scale;
}

/* What is the optimizer's own. Files name momentum, nesterov and epsilon whatever the optimizer, the others only where
 * they were given. */
static int settle_optimizer(struct sph_job *job, const sph_train_opts *own, size_t rows)
{
    const struct optimizer_ops *ops = optimizer_ops(own->optimizer);
    const struct net_kind *kind = kind_of(&job->options);
    for (int i = 0; i < OPTIMIZER_OPTIONS; i++) {
        enum option_id id = optimizer_options[i];
        int in_files = id == OPTION_MOMENTUM || id == OPTION_NESTEROV || id == OPTION_EPSILON;
        if (!ops->reads[i] && (in_files ? job->named[id] : job->set[id]))
            return unread(job, (enum optimizer_option)i);
    }
    if (!job->set[OPTION_MOMENTUM])
        options_set_real(job, OPTION_MOMENTUM, own->momentum);
    if (!job->set[OPTION_EPSILON])
        options_set_real(job, OPTION_EPSILON, own->epsilon);
    if (!job->set[OPTION_LR])
        options_set_real(job, OPTION_LR, kind->make ? image_rate(job, kind, ops, rows) : own->lr);
    return 0;
}

void sph_job_recommend(sph_job *job)
{
    if (!job)
        return;
    job->recommends = 1;
}

/* The papers' protocol has constants of its own, images have those of their nets. A run that goes on has its options from its
 * config.yaml, but for those that --tune was still looking for. */
static int settle_recommended(struct sph_job *job, const sph_data *data)
{
    int open = job->recommends && !kind_of(&job->options)->make && !data_is_images(data) &&
               job->options.protocol != PROTOCOL_REFERENCE;
    return open ? recommend_settle(job, data) : 0;
}

int job_settle(struct sph_job *job, const sph_data *data)
{
    sph_train_opts defaults;
    int err = settle_recommended(job, data);
    if (!err)
        err = settle_kind(job, data);
    if (!err)
        err = settle_protocol(job);
    if (!err)
        err = check_ensemble(job);
    if (!err)
        err = settle_folds(job);
    if (!err)
        err = check_refit(job);
    if (!err)
        err = check_tune(job);
    if (!err && job->options.protocol == PROTOCOL_REFERENCE && !job->settled)
        err = reference_settle(job, data);
    sph_train_defaults(&defaults, data->task);
    sph_train_optimizer(&defaults, (sph_optimizer)job->options.optimizer);
    if (!err)
        err = settle_optimizer(job, &defaults, data->rows);
    if (err < 0)
        return err;
    const struct job_options *o = &job->options;
    options_set_word(job, OPTION_TASK, (int)data->task);
    if (!job->set[OPTION_LOSS])
        options_set_word(job, OPTION_LOSS, (int)defaults.loss);
    if (job->set[OPTION_HUBER_DELTA] && !loss_row((sph_loss)o->loss)->reads_delta)
        return sph_fail_key(SPH_EARG, "huber_delta", "%s has none", sph_word(SPH_WORDS_LOSS, o->loss)->word);
    if (!job->set[OPTION_STANDARDIZE])
        options_set_word(job, OPTION_STANDARDIZE, (int)loss_standardize((sph_loss)o->loss));
    if (!job->set[OPTION_INIT])
        err = options_put(job, OPTION_INIT,
                          sph_word(SPH_WORDS_INIT, (int)param_ops((sph_param)o->param)->first_init)->word);
    return err;
}

int job_open_data(struct sph_job *job, sph_data **out)
{
    const struct job_options *o = &job->options;
    if (!o->data)
        return sph_fail_key(SPH_EARG, "data", "nothing given, expected a file or the name of a set");
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.target = o->target;
    opts.drop = o->drop;
    opts.group = o->group;
    opts.time = o->time;
    opts.weights = o->weights;
    opts.delimiter = o->delimiter;
    opts.task = o->task;
    opts.missing = (sph_missing)o->missing;
    opts.seed = job_seed(job, OPTION_SEED_SPLIT);
    opts.rows = o->rows;
    opts.noise = o->noise;
    opts.by_numpy = option_draw(o->draw, &opts.draw);
    if (job->set[OPTION_PERMUTE] && o->permute > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "permute", "numpy's permutation takes seeds below 2^32");
    opts.permutes = job->set[OPTION_PERMUTE];
    opts.permute = (uint32_t)o->permute;
    opts.columns = o->columns < 0 ? SPH_COLUMNS_AS_IS : (sph_column_order)o->columns;
    opts.gray = o->gray > 0;
    opts.size = o->size;
    opts.eval_side = o->eval_side;
    /* unset by a run of 0.2.0 or before (config_read), which decoded so */
    opts.decode = o->decode < 0 ? SPH_DECODE_SCALED : (sph_decode)o->decode;
    opts.workers = o->workers;
    opts.skip_bad = o->skip_bad > 0;
    int err =
        job->cache ? data_cache_open(job->cache, out, o->data, &opts) : sph_data_open(out, o->data, &opts);
    if (err < 0)
        return err;
    job->rows = (*out)->rows;
    job->left_out = (*out)->pictures ? (*out)->left_out : 0;
    mem_free(job->notes);
    mem_free(job->counts);
    job->notes = job->counts = NULL;
    if ((err = data_notes(*out, &job->notes)) < 0 || (err = data_counts(*out, &job->counts)) < 0 ||
        (err = job_settle(job, *out)) < 0) {
        sph_data_free(*out);
        *out = NULL;
    }
    return err;
}

/* The test part stays; fold by fold, the training part gives the validation part. */
static int leave_fold_out(const struct sph_job *job, sph_split *split)
{
    const struct job_options *o = &job->options;
    sph_split part;
    uint64_t seed = job_seed(job, OPTION_SEED_SPLIT);
    int err = split_kfold(&part, split->train, split->train_rows, o->folds, o->fold, seed);
    if (err < 0) {
        sph_split_free(split);
        return err;
    }
    mem_free(part.test);
    part.test = split->test;
    part.test_rows = split->test_rows;
    split->test = NULL;
    sph_split_free(split);
    *split = part;
    return 0;
}

int job_make_split(const struct sph_job *job, const sph_data *data, sph_split *out)
{
    const struct job_options *o = &job->options;
    if (o->protocol == PROTOCOL_CV && (o->group || o->time))
        return sph_fail_key(SPH_EARG, o->group ? "group" : "time",
                            "the folds of protocol cv are drawn row by row");
    uint64_t seed = job_seed(job, OPTION_SEED_SPLIT);
    int err = sph_split_make(out, data, (sph_split_kind)o->split, o->test, o->val, seed);
    if (!err && o->protocol == PROTOCOL_CV)
        err = leave_fold_out(job, out);
    return err;
}

/* FNV-1a over words of eight bytes: enough to notice an edited file. */
static uint64_t add_content(uint64_t hash, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)bytes + i, length - i < sizeof bits ? length - i : sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
        hash ^= hash >> 32; /* or the high bits of a double would stay high */
    }
    return hash;
}

uint64_t job_content(const sph_data *data)
{
    size_t numbers = data->rows * data->features;
    uint64_t hash = 0xcbf29ce484222325u;
    hash = data->pictures ? add_content(hash, &data->pictures->content, sizeof data->pictures->content)
           : data->pixels ? add_content(hash, data->pixels, numbers)
                          : add_content(hash, data->x, numbers * sizeof *data->x);
    return add_content(hash, data->y, data->rows * data->targets * sizeof *data->y);
}

/* ---------------------------------------------------------------- net */

static sph_details details_of(const struct job_options *o)
{
    return (sph_details){
        .norm_epsilon = isnan(o->norm_epsilon) ? 0 : o->norm_epsilon,
        .imn_at = o->imn_at < 0 ? SPH_IMN_AT_INPUT : (sph_imn_place)o->imn_at,
        .mbn_bias = o->mbn_bias < 0 ? SPH_MBN_BIAS_AFTER : (sph_mbn_bias)o->mbn_bias,
        .angle_order = o->angle_order < 0 ? SPH_ANGLES_CHW : (sph_angle_order)o->angle_order,
        .fan_out = o->fan_out < 0 ? SPH_FAN_OUT_AREA : (sph_fan_out)o->fan_out,
    };
}

static int make_image_net(const struct job_options *o, const sph_data *data, sph_init init, uint64_t seed,
                          sph_net **out)
{
    sph_image_net spec = {
        .dtype = (sph_dtype)o->dtype,
        .channels = data->channels,
        .height = data->height,
        .width = data->width,
        .classes = sph_data_outputs(data),
        .scale = o->width,
        .stem = (sph_stem)o->stem,
        .param = (sph_param)o->param,
        .norm = (sph_norm)o->norm,
        .norm_groups = o->groups,
        .act = (sph_act)o->activation,
        .init = init,
        .seed = seed,
        .details = details_of(o),
        .wn_output = o->wn_output > 0,
    };
    return kind_of(o)->make(out, &spec);
}

static int make_mlp(const struct job_options *o, const sph_data *data, sph_init init, uint64_t seed,
                    sph_net **out)
{
    sph_mlp spec = {
        .dtype = (sph_dtype)o->dtype,
        .inputs = data->features,
        .outputs = sph_data_outputs(data),
        .hidden = o->hidden.list,
        .depth = o->hidden.count,
        .param = (sph_param)o->param,
        .norm = (sph_norm)o->norm,
        .norm_groups = o->groups,
        .act = (sph_act)o->activation,
        .init = init,
        .seed = seed,
        .details = details_of(o),
        .wn_output = o->wn_output > 0,
    };
    return sph_net_mlp(out, &spec);
}

/* Lengths of hidden layers; the output layer stays as drawn. */
static int scale_net(sph_net *net, double scale)
{
    for (size_t l = 0; l + 1 < net->layer_count; l++) {
        const struct param_ops *ops = net->layers[l].ops;
        const struct param_shape *shape = &net->layers[l].shape;
        struct param_values values;
        int err = net_layer_values(net, l, &values);
        if (err < 0)
            return err;
        for (size_t t = 0; t < ops->tensors; t++) {
            size_t count = ops->tensor[t].is_length ? shape->m * param_per_unit(ops, t, shape) : 0;
            for (size_t i = 0; i < count; i++)
                values.raw[t][i] *= scale;
        }
        net_set_layer_values(net, l, &values);
        net_values_free(&values);
    }
    return 0;
}

size_t job_members(const struct sph_job *job)
{
    return job->options.ensemble ? job->options.ensemble : 1;
}

uint64_t job_member_seed(const struct sph_job *job, size_t member)
{
    uint64_t seed = job_seed(job, OPTION_SEED_INIT);
    struct rng rng = rng_stream(seed, RNG_MEMBER, (uint32_t)member);
    return member ? rng_u64(&rng) : seed;
}

int job_make_net(const struct sph_job *job, const sph_data *data, sph_net **out)
{
    return job_make_member(job, data, 0, out);
}

int job_make_member(const struct sph_job *job, const sph_data *data, size_t member, sph_net **out)
{
    uint64_t seed = job_member_seed(job, member);
    const struct job_options *o = &job->options;
    int init = o->init ? sph_word_find(SPH_WORDS_INIT, o->init) : SPH_INIT_DEFAULT;
    sph_init first = init < 0 ? SPH_INIT_DEFAULT : (sph_init)init;
    if (init < 0 && o->init_scale != 1)
        return sph_fail_key(SPH_EARG, "init_scale", "found %g, but the first values come from %s",
                            o->init_scale, o->init);
    if (init >= 0 && o->new_head > 0)
        return sph_fail_key(SPH_EARG, "new_head",
                            "--init is '%s', expected a file whose net gets the new output layer",
                            sph_word(SPH_WORDS_INIT, init)->word);
    int err =
        kind_of(o)->make ? make_image_net(o, data, first, seed, out) : make_mlp(o, data, first, seed, out);
    if (err < 0)
        return err;
    if (o->init_scale != 1)
        err = scale_net(*out, o->init_scale);
    else if (init < 0 && !data_is_images(data))
        err = job_check_order(o->init, data);
    if (!err && init < 0)
        err = o->new_head > 0 ? sph_net_load_body(*out, o->init) : sph_net_load_tensors(*out, o->init);
    if (err < 0) {
        sph_net_free(*out);
        *out = NULL;
        return err;
    }
    sph_net_set_conv(*out, (sph_conv)o->conv);
    return 0;
}

/* ---------------------------------------------------------------- training */

sph_train_opts job_train_opts(const struct sph_job *job)
{
    const struct job_options *o = &job->options;
    sph_train_opts opts;
    sph_train_defaults(&opts, (sph_task)o->task);
    opts.loss = (sph_loss)o->loss;
    opts.label_smoothing = o->label_smoothing;
    opts.huber_delta = isnan(o->huber_delta) ? opts.huber_delta : o->huber_delta;
    sph_train_optimizer(&opts, (sph_optimizer)o->optimizer);
    opts.adam_form = o->adam_form < 0 ? SPH_ADAM_TORCH : (sph_adam_form)o->adam_form;
    opts.lr = o->lr;
    opts.group_lr[SPH_GROUP_THETA] = o->lr_theta;
    opts.group_lr[SPH_GROUP_LAMBDA] = o->lr_lambda;
    opts.group_lr[SPH_GROUP_R] = o->lr_r;
    opts.momentum = o->momentum;
    opts.nesterov = o->nesterov;
    opts.train_scores = o->train_scores;
    opts.weight_decay = o->weight_decay;
    opts.beta1 = isnan(o->beta1) ? opts.beta1 : o->beta1;
    opts.beta2 = isnan(o->beta2) ? opts.beta2 : o->beta2;
    opts.epsilon = o->epsilon;
    opts.natural = isnan(o->natural) ? 0 : o->natural;
    opts.clip = o->clip;
    opts.freeze = o->freeze;
    opts.memory = o->memory < 0 ? SPH_MEMORY_NORMAL : (sph_memory)o->memory;
    opts.batch = o->batch;
    opts.micro = o->micro;
    opts.class_weight = o->class_weight < 0 ? SPH_CLASS_WEIGHT_NONE : (sph_class_weight)o->class_weight;
    opts.epochs = o->epochs;
    opts.schedule = o->schedule;
    opts.warmup = o->warmup;
    opts.patience = o->patience;
    opts.monitor = o->monitor;
    opts.norm_momentum = o->norm_momentum;
    opts.norm_variance = o->norm_variance < 0 ? SPH_VARIANCE_UNBIASED : (sph_variance)o->norm_variance;
    opts.standardize = (sph_standardize)o->standardize;
    opts.augment = o->augment > 0 ? (sph_augment)o->augment : SPH_AUGMENT_NONE;
    opts.seed = job_seed(job, OPTION_SEED_INIT);
    opts.threads = (int)o->threads;
    return opts;
}
