/* SPDX-License-Identifier: MIT
 *
 * One training on data in memory: no folder, nothing written. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "compute/kernels.h"
#include "compute/threads.h"
#include "data/open.h"
#include "file/json.h"
#include "job/job.h"
#include "job/job_run.h"
#include "job/nets.h"
#include "net/net.h"
#include "store/model.h"

/* What is about files, their columns, folders, known sets and images. */
static const enum option_id elsewhere[] = {
    OPTION_WEIGHTS,       OPTION_GROUP,
    OPTION_TIME,          OPTION_TUNE,
    OPTION_DATA,          OPTION_TARGET,
    OPTION_DROP,          OPTION_KEEP,
    OPTION_MISSING_WORDS, OPTION_TEXT,
    OPTION_DELIMITER,     OPTION_ROWS,
    OPTION_PERMUTE,       OPTION_COLUMNS,
    OPTION_DRAW,          OPTION_NOISE,
    OPTION_AUGMENT,       OPTION_SIZE,
    OPTION_GRAY,          OPTION_WORKERS,
    OPTION_SKIP_BAD,      OPTION_CHECKPOINT_SECONDS,
    OPTION_RECORD,        OPTION_LOG,
    OPTION_PROTOCOL,      OPTION_FOLDS,
    OPTION_FOLD,          OPTION_OUT,
};

int sph_option_in_memory(size_t row)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if ((size_t)elsewhere[i] == row)
            return 0;
    return row < OPTION_COUNT;
}

static int check(const struct job_spec *asked, const sph_data *data)
{
    const struct job_options *o = &asked->options;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (options_given(asked, elsewhere[i]))
            return sph_fail_key(SPH_EARG, option_key(elsewhere[i]), "not used with data in memory");
    if (o->task >= 0 && o->task != (int)data->task)
        return sph_fail_key(SPH_EARG, "task", "found %s, but the data are for %s",
                            sph_word(SPH_WORDS_TASK, o->task)->word,
                            sph_word(SPH_WORDS_TASK, (int)data->task)->word);
    if (data->counts.val && options_given(asked, OPTION_ENSEMBLE_VAL) &&
        o->ensemble_val == ENSEMBLE_VAL_FOLDS)
        return sph_fail_key(SPH_EARG, "ensemble_val", "folds are not used with a given validation set");
    if (data->has_missing && o->missing >= 0 && o->missing != SPH_MISSING_MEAN)
        return sph_fail_key(
            SPH_EARG, "missing",
            "%zu features are NaN, and %s is not used with data in memory; fill in the missing values first",
            data->counts.filled, sph_word(SPH_WORDS_MISSING, o->missing)->word);
    return 0;
}

/* What the data are, where the net goes: as a run folder's model has it. */
static int keep_schema(sph_net *net, const sph_data *data, sph_loss loss)
{
    json_t *schema = NULL;
    int err = nets_describe(data, loss, &schema);
    if (!err)
        err = model_keep_data(&net, 1, schema);
    json_decref(schema);
    return err;
}

/* ---------------------------------------------------------------- what the optimizers remember */

/* The states of all members, one after the other: nets of one shape have states of one size. */
static int recall_state(const struct job_run *run)
{
    const char *state = run->start ? run->start->state : NULL;
    size_t part = state ? run->start->state_size / run->count : 0;
    int err = 0;
    if (state && part * run->count != run->start->state_size)
        err = sph_fail(SPH_EFORMAT, "%zu bytes, expected those of %zu networks", run->start->state_size,
                       run->count);
    for (size_t k = 0; state && k < run->count && !err; k++)
        err = trainer_load_optimizer(run->trainers[k], state + k * part, part);
    return err < 0 ? sph_fail_about(err, "state", "state") : 0;
}

static int keep_state(const struct job_run *run, void **out, size_t *out_size)
{
    char *all = NULL;
    size_t size = 0;
    int err = 0;
    for (size_t k = 0; k < run->count && !err; k++) {
        void *part = NULL;
        if ((err = sph_trainer_save_state(run->trainers[k], &part, &size)) < 0)
            break;
        if (!all && !(all = mem_get(run->count, size)))
            err = SPH_EMEMORY;
        else
            memcpy(all + k * size, part, size);
        sph_bytes_free(part);
    }
    if (err < 0)
        mem_free(all);
    else {
        *out = all;
        *out_size = run->count * size;
    }
    return err;
}

/* ---------------------------------------------------------------- training */

int sph_job_settle(sph_job *job, const sph_data *data)
{
    NEED(job, data);
    int err = check(&job->request.asked, data);
    return err ? err : job_resolve_for(job, data);
}

/* A training in memory cannot be resumed, so that its best weights are worth more than the last ones. */
static void stop_at_best(struct job_run *run, sph_result *result)
{
    double best = 0;
    for (size_t k = 0; k < run->count; k++) {
        struct trainer *loop = run->trainers[k]->loop;
        size_t epochs = (size_t)trainer_place(loop)->epoch;
        result->epochs = epochs > result->epochs ? epochs : result->epochs;
        best += (double)(trainer_take_best(loop) ? trainer_place(loop)->best_epoch : epochs);
    }
    result->best_epoch = (size_t)lround(best / (double)run->count);
}

/* room: for so many nets */
static int train(struct job_run *run, size_t room, const sph_observer *observers, size_t count,
                 sph_result *result)
{
    struct sph_job *job = run->job;
    int err = sph_job_settle(job, run->data);
    if (err < 0)
        return err;
    run->count = job_members(&job->spec);
    if (run->count != room)
        return sph_fail_key(SPH_EARG, "ensemble",
                            "%zu networks, but memory was reserved for %zu; call sph_job_settle first",
                            run->count, room);
    err = job_make_split(&job->spec, run->data, &run->split);
    if (!err)
        err = job_make_parts(run);
    if (!err)
        err = recall_state(run);
    if (!err)
        err = job_train_parts(run, observers, count, result);
    if (!err && result->stopped)
        stop_at_best(run, result);
    for (size_t k = 0; k < run->count && !err; k++)
        err = keep_schema(run->nets[k], run->data, (sph_loss)job->spec.options.loss);
    return err;
}

int sph_job_train(sph_net **out, sph_job *job, const sph_data *data, const sph_start *start,
                  const sph_observer *observers, size_t count, sph_result *result, void **state,
                  size_t *state_size)
{
    NEED(out, job, data);
    sph_start own = {.size = sizeof(sph_start)};
    int err = start ? SIZED_TAKE(&own, start, sph_start) : 0;
    if (err < 0)
        return err;
    if (start && !own.nets)
        return sph_fail_key(SPH_EARG, "start", "nets is NULL");
    if (count)
        NEED(observers);
    if (state) {
        NEED(state_size);
        *state = NULL;
        *state_size = 0;
    }
    /* run->data is the caller's, and only looked at */
    struct job_run run = {.job = job, .held = -1, .data = (sph_data *)data, .start = start ? &own : NULL};
    sph_result unseen;
    if (!result)
        result = &unseen;
    *result = (sph_result){0};
    size_t room = job_members(job->resolved ? &job->spec : &job->request.asked);
    for (size_t k = 0; k < room; k++)
        out[k] = NULL;
    int threads = threads_setting();
    err = train(&run, room, observers, count, result);
    if (!err && state)
        err = keep_state(&run, state, state_size);
    for (size_t k = 0; k < run.count && !err; k++) {
        out[k] = run.nets[k];
        run.nets[k] = NULL;
    }
    run.data = NULL;
    job_run_free(&run);
    threads_set_back(threads);
    return err;
}
