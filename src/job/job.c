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
#include "job/defaults.h"
#include "job/option_kinds.h"
#include "job/resolve.h"
#include "rows/split.h"
#include "net/net.h"
#include "net/zoo.h"
#include "store/model.h"
#include "train/losses.h"
#include "train/optimizer.h"
#include "train/schedule.h"
#include "train/tool.h"

uint64_t job_seed(const struct job_spec *spec, enum option_id which)
{
    const struct job_options *o = &spec->options;
    return !options_has(spec, which) ? o->seed : which == OPTION_SEED_SPLIT ? o->seed_split : o->seed_init;
}

static const struct net_kind *kind_of(const struct job_options *o)
{
    return net_kind((sph_net_kind)o->net);
}

/* ---------------------------------------------------------------- data */

size_t job_folds(const struct job_spec *spec)
{
    const struct job_options *o = &spec->options;
    return o->ensemble > 1 && o->ensemble_val == ENSEMBLE_VAL_FOLDS ? (size_t)fmax(2, round(1 / o->val)) : 0;
}

int job_read_data(const struct job_spec *spec, size_t folder_side, int again, struct data_cache *cache,
                  sph_data **out)
{
    const struct job_options *o = &spec->options;
    if (!o->data)
        return sph_fail_key(SPH_EARG, "data", "empty, expected a file or a built-in dataset");
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.target = o->target;
    opts.drop = o->drop;
    opts.needed = o->keep;
    opts.text = o->text;
    opts.group = o->group;
    opts.time = o->time;
    opts.weights = o->weights;
    opts.delimiter = o->delimiter;
    opts.task = o->task;
    opts.missing = (sph_missing)o->missing;
    opts.missing_words = o->missing_words;
    opts.seed = job_seed(spec, OPTION_SEED_SPLIT);
    opts.rows = o->rows;
    opts.noise = o->noise;
    opts.by_numpy = option_draw(o->draw, &opts.draw);
    if (options_has(spec, OPTION_PERMUTE) && o->permute > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "permute", "numpy's permutation requires seeds below 2^32");
    opts.permutes = options_has(spec, OPTION_PERMUTE);
    opts.permute = (uint32_t)o->permute;
    opts.columns = o->columns < 0 ? SPH_COLUMNS_AS_IS : (sph_column_order)o->columns;
    opts.gray = o->gray > 0;
    opts.side = o->size;
    opts.folder_side = folder_side;
    opts.eval_side = o->eval_side;
    /* unset by a run of 0.2.0 or before, which decoded so */
    opts.decode = o->decode < 0 ? SPH_DECODE_SCALED : (sph_decode)o->decode;
    opts.workers = o->workers;
    opts.skip_bad = o->skip_bad > 0;
    opts.again = again;
    opts.encode = 1; /* and whoever trains on them calls data_encode */
    return cache ? data_cache_open(cache, out, o->data, &opts) : sph_data_open(out, o->data, &opts);
}

/* The papers' images have a thousand classes, and top-5 chooses the epoch; says where there are too few for that. */
static int note_monitor(struct sph_job *job, const struct data_facts *facts)
{
    const struct job_spec *spec = &job->spec;
    size_t least = sph_metric_about(SPH_METRIC_TOP5)->least_outputs;
    if (spec->options.protocol != PROTOCOL_REFERENCE || !kind_of(&spec->options)->make ||
        spec->origin[OPTION_MONITOR] != ORIGIN_PROTOCOL || facts->classes >= least)
        return 0;
    text_add_line(&job->notes,
                  "--protocol reference: val_accuracy chooses the epoch, because val_top5 needs %zu classes "
                  "and these images have %zu",
                  least, facts->classes);
    return job->notes.failed ? SPH_EMEMORY : 0;
}

int job_resolve_for(struct sph_job *job, const sph_data *data)
{
    struct data_facts facts = data_facts(data);
    options_free(&job->spec);
    int err = job_resolve(&job->spec, &job->request, &facts);
    job->resolved = !err;
    return err ? err : note_monitor(job, &facts);
}

/* What was asked for, and the defaults of all options that the data are opened with. Whether they are a table shows afterwards. */
static int read_asked(struct sph_job *job, sph_data **out)
{
    struct job_spec asked;
    int err = options_copy(&asked, &job->request.asked);
    if (err < 0)
        return err;
    if (job->request.recommends && !options_has(&asked, OPTION_DROP) && defaults_drop(&asked))
        err = options_put(&asked, OPTION_DROP, "auto", ORIGIN_RECOMMENDED);
    if (!err && !(err = defaults_fixed(&asked)))
        err = job_read_data(&asked, resolve_folder_side(&job->request), job->request.again, job->cache, out);
    options_free(&asked);
    return err;
}

int job_open_data(struct sph_job *job, sph_data **out)
{
    int err = read_asked(job, out);
    if (err < 0)
        return err;
    job->rows = (*out)->rows;
    job->left_out = (*out)->image.pictures ? (*out)->counts.left_out : 0;
    text_free(&job->notes);
    text_free(&job->counts);
    data_notes(*out, &job->notes);
    data_counts(*out, &job->counts);
    err = job->notes.failed || job->counts.failed ? SPH_EMEMORY : job_resolve_for(job, *out);
    if (err < 0) {
        sph_data_free(*out);
        *out = NULL;
    }
    return err;
}

/* The test part stays; fold by fold, the training part gives the validation part. */
static int leave_fold_out(const struct job_spec *spec, sph_split *split)
{
    const struct job_options *o = &spec->options;
    sph_split part;
    uint64_t seed = job_seed(spec, OPTION_SEED_SPLIT);
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

int job_make_split(const struct job_spec *spec, const sph_data *data, sph_split *out)
{
    const struct job_options *o = &spec->options;
    if (o->protocol == PROTOCOL_CV && (o->group || o->time))
        return sph_fail_key(SPH_EARG, o->group ? "group" : "time",
                            "not used with --protocol cv, whose folds are drawn by row");
    uint64_t seed = job_seed(spec, OPTION_SEED_SPLIT);
    int err = sph_split_make(out, data, (sph_split_kind)o->split, o->test, o->val, seed);
    if (!err && o->protocol == PROTOCOL_CV)
        err = leave_fold_out(spec, out);
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
    hash = data->image.pictures
               ? add_content(hash, &data->image.pictures->content, sizeof data->image.pictures->content)
           : data->image.pixels ? add_content(hash, data->image.pixels, numbers)
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
        .size = sizeof(sph_image_net),
        .dtype = (sph_dtype)o->dtype,
        .channels = data->image.channels,
        .height = data->image.height,
        .width = data->image.width,
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
        .size = sizeof(sph_mlp),
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

size_t job_members(const struct job_spec *spec)
{
    return spec->options.ensemble ? spec->options.ensemble : 1;
}

uint64_t job_member_seed(const struct job_spec *spec, size_t member)
{
    uint64_t seed = job_seed(spec, OPTION_SEED_INIT);
    struct rng rng = rng_stream(seed, RNG_MEMBER, (uint32_t)member);
    return member ? rng_u64(&rng) : seed;
}

int job_make_net(const struct job_spec *spec, const sph_data *data, sph_net **out)
{
    return job_make_member(spec, data, 0, out);
}

int job_make_member(const struct job_spec *spec, const sph_data *data, size_t member, sph_net **out)
{
    uint64_t seed = job_member_seed(spec, member);
    const struct job_options *o = &spec->options;
    int init = o->init ? sph_word_find(SPH_WORDS_INIT, o->init) : SPH_INIT_DEFAULT;
    sph_init first = init < 0 ? SPH_INIT_DEFAULT : (sph_init)init;
    if (init < 0 && o->init_scale != 1)
        return sph_fail_key(SPH_EARG, "init_scale",
                            "found %g, but the initial values are loaded from %s; remove one of them",
                            o->init_scale, o->init);
    if (init >= 0 && o->new_head > 0)
        return sph_fail_key(SPH_EARG, "new_head",
                            "--init is '%s', expected a model file, whose output layer is replaced",
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

sph_train_opts job_train_opts(const struct job_spec *spec)
{
    const struct job_options *o = &spec->options;
    sph_train_opts opts;
    sph_train_defaults(&opts, (sph_task)o->task);
    opts.loss = (sph_loss)o->loss;
    opts.label_smoothing = o->label_smoothing;
    opts.huber_delta = isnan(o->huber_delta) ? opts.huber_delta : o->huber_delta;
    sph_train_optimizer(&opts, (sph_optimizer)o->optimizer);
    opts.adam_form = o->adam_form < 0 ? SPH_ADAM_TORCH : (sph_adam_form)o->adam_form;
    opts.lr = o->lr;
    opts.lr_theta = o->lr_theta;
    opts.lr_lambda = o->lr_lambda;
    opts.lr_r = o->lr_r;
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
    opts.scale = o->scale < 0 ? SPH_SCALE_STANDARD : (sph_scale)o->scale;
    opts.indicators = o->indicators < 0 ? SPH_INDICATORS_SCALED : (sph_indicators)o->indicators;
    opts.augment = o->augment > 0 ? (sph_augment)o->augment : SPH_AUGMENT_NONE;
    opts.seed = job_seed(spec, OPTION_SEED_INIT);
    opts.threads = (int)o->threads;
    return opts;
}

/* ---------------------------------------------------------------- what its run tells */

void sph_job_record_size(const sph_job *job, sph_record_size *out)
{
    if (job && out)
        *out = job->record_size;
}

void sph_job_foresee(sph_job *job)
{
    if (job)
        job->foresees = 1;
}

double sph_job_seconds(const sph_job *job)
{
    return job ? job->seconds : (double)NAN;
}

const char *sph_job_notes(const sph_job *job)
{
    return job && job->notes.chars ? job->notes.chars : "";
}

const char *sph_job_counts(const sph_job *job)
{
    return job && job->counts.chars ? job->counts.chars : "";
}

size_t sph_job_rows(const sph_job *job)
{
    return job ? job->rows : 0;
}

size_t sph_job_left_out(const sph_job *job)
{
    return job ? job->left_out : 0;
}

sph_run *sph_job_take_run(sph_job *job)
{
    sph_run *run = job ? job->run : NULL;
    if (run)
        job->run = NULL;
    return run;
}
