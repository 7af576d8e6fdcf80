/* SPDX-License-Identifier: MIT */
#include "experiment/job.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define WORD_ROW(id, word, help) word,
static const char *const task_words[] = {SPH_TASKS(WORD_ROW)};
static const char *const loss_words[] = {SPH_LOSSES(WORD_ROW)};
static const char *const init_words[] = {SPH_INITS(WORD_ROW)};

/* ---------------------------------------------------------------- data */

static int settle(struct sph_job *job, const sph_data *data)
{
    sph_train_opts defaults = sph_train_defaults(data->task);
    int err = options_put(job, OPTION_TASK, task_words[data->task]);
    if (!err && job->options.loss < 0)
        err = options_put(job, OPTION_LOSS, loss_words[defaults.loss]);
    if (!err && !(job->options.lr > 0))
        err = options_put_real(job, OPTION_LR, defaults.lr);
    if (!err && job->options.standardize < 0)
        err = options_put(job, OPTION_STANDARDIZE, data->task == SPH_TASK_REGRESSION ? "both" : "features");
    if (!err && !job->options.init)
        err = options_put(job, OPTION_INIT, job->options.param == SPH_PARAM_GMP ? "paper" : "glorot");
    return err;
}

int job_open_data(struct sph_job *job, sph_data **out)
{
    const struct job_options *o = &job->options;
    if (!o->data)
        return sph_fail(SPH_EARG, "data: nothing given, expected a file or the name of a set");
    if (o->net != NET_MLP)
        return sph_fail(SPH_EARG, "net: this version builds mlp only");
    sph_data_opts opts = sph_data_defaults();
    opts.target = o->target;
    opts.drop = o->drop;
    opts.delimiter = o->delimiter;
    opts.task = o->task;
    opts.missing = (sph_missing)o->missing;
    opts.seed = o->seed;
    opts.rows = o->rows;
    int err = sph_data_open(out, o->data, &opts);
    if (err < 0)
        return err;
    if ((err = settle(job, *out)) < 0) {
        sph_data_free(*out);
        *out = NULL;
    }
    return err;
}

int job_make_split(const struct sph_job *job, const sph_data *data, sph_split *out)
{
    const struct job_options *o = &job->options;
    int err = sph_split_make(out, data, (sph_split_kind)o->split, o->test, o->val, o->seed);
    if (!err && job->given[OPTION_BATCH] && o->batch > out->train_rows) {
        err = sph_fail(SPH_EARG, "batch: %zu is more than the %zu training rows; use --batch full", o->batch,
                       out->train_rows);
        sph_split_free(out);
    }
    return err;
}

/* ---------------------------------------------------------------- net */

int job_make_net(const struct sph_job *job, const sph_data *data, sph_net **out)
{
    const struct job_options *o = &job->options;
    int init = o->init ? text_find(o->init, init_words, SPH_INIT_COUNT) : SPH_INIT_DEFAULT;
    sph_mlp spec = {
        .dtype = (sph_dtype)o->dtype,
        .inputs = data->features,
        .outputs = sph_data_outputs(data),
        .hidden = o->hidden.list,
        .depth = o->hidden.count,
        .param = (sph_param)o->param,
        .norm = (sph_norm)o->norm,
        .act = (sph_act)o->activation,
        .init = init < 0 ? SPH_INIT_DEFAULT : (sph_init)init,
        .seed = o->seed,
    };
    int err = sph_net_mlp(out, &spec);
    if (!err && init < 0 && (err = sph_net_load_tensors(*out, o->init)) < 0) {
        sph_net_free(*out);
        *out = NULL;
    }
    return err;
}

/* ---------------------------------------------------------------- training */

sph_train_opts job_train_opts(const struct sph_job *job)
{
    const struct job_options *o = &job->options;
    sph_train_opts opts = sph_train_defaults((sph_task)o->task);
    opts.loss = (sph_loss)o->loss;
    opts.label_smoothing = o->label_smoothing;
    opts.optimizer = (sph_optimizer)o->optimizer;
    opts.lr = o->lr;
    opts.group_lr[SPH_GROUP_THETA] = o->lr_theta;
    opts.group_lr[SPH_GROUP_LAMBDA] = o->lr_lambda;
    opts.group_lr[SPH_GROUP_R] = o->lr_r;
    opts.momentum = o->momentum;
    opts.nesterov = o->nesterov;
    opts.weight_decay = o->weight_decay;
    opts.clip = o->clip;
    opts.batch = o->batch;
    opts.micro = o->micro;
    opts.epochs = o->epochs;
    opts.schedule = o->schedule;
    opts.warmup = o->warmup;
    opts.patience = o->patience;
    opts.monitor = o->monitor;
    opts.norm_momentum = o->norm_momentum;
    opts.standardize = (sph_standardize)o->standardize;
    opts.seed = o->seed;
    opts.threads = (int)o->threads;
    return opts;
}
