/* SPDX-License-Identifier: MIT
 *
 * One training on data in memory: no folder, nothing written. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "compute/kernels.h"
#include "compute/threads.h"
#include "data/data.h"
#include "file/json.h"
#include "job/job.h"
#include "job/job_run.h"
#include "job/nets.h"
#include "net/net.h"

/* What is about files, their columns, folders, known sets and images. */
static const enum option_id elsewhere[] = {
    OPTION_WEIGHTS,
    OPTION_GROUP,
    OPTION_TIME,
    OPTION_TUNE,
    OPTION_DATA,
    OPTION_TARGET,
    OPTION_DROP,
    OPTION_KEEP,
    OPTION_MISSING_WORDS,
    OPTION_DELIMITER,
    OPTION_ROWS,
    OPTION_PERMUTE,
    OPTION_COLUMNS,
    OPTION_DRAW,
    OPTION_NOISE,
    OPTION_AUGMENT,
    OPTION_SIZE,
    OPTION_GRAY,
    OPTION_WORKERS,
    OPTION_SKIP_BAD,
    OPTION_CHECKPOINT_SECONDS,
    OPTION_RECORD,
    OPTION_LOG,
    OPTION_PROTOCOL,
    OPTION_FOLDS,
    OPTION_FOLD,
    OPTION_OUT,
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
            return sph_fail_key(SPH_EARG, option_key(elsewhere[i]), "not for data in memory");
    if (o->task >= 0 && o->task != (int)data->task)
        return sph_fail_key(SPH_EARG, "task", "found %s, and the data are for %s",
                            sph_word(SPH_WORDS_TASK, o->task)->word,
                            sph_word(SPH_WORDS_TASK, (int)data->task)->word);
    if (data->has_missing && o->missing >= 0 && o->missing != SPH_MISSING_MEAN)
        return sph_fail_key(SPH_EARG, "missing", "%zu features are NaN, and %s is not for data in memory",
                            data->filled, sph_word(SPH_WORDS_MISSING, o->missing)->word);
    return 0;
}

/* What the data are, where the net goes: as a run folder's model has it. */
static int keep_schema(sph_net *net, const sph_data *data, sph_loss loss)
{
    json_t *schema = NULL;
    struct text text = {0};
    int err = nets_describe(data, loss, &schema);
    if (!err)
        err = json_print(&text, schema, 0);
    if (!err)
        err = sph_net_set_note(net, text.chars);
    json_decref(schema);
    text_free(&text);
    return err;
}

/* ---------------------------------------------------------------- what an optimizer remembers */

void sph_moments_free(sph_moments *moments)
{
    if (!moments)
        return;
    mem_free(moments->value);
    *moments = (sph_moments){0};
}

/* The spans of it in a trainer. */
static size_t moments_of(struct trainer *trainer, struct trainer_span out[TRAINER_SPANS])
{
    size_t all = trainer_spans(trainer, out), count = 0;
    for (size_t i = 0; i < all; i++) {
        if (!strncmp(out[i].name, "optimizer.", strlen("optimizer.")))
            out[count++] = out[i];
    }
    return count;
}

static size_t moments_count(const struct job_run *run)
{
    struct trainer_span spans[TRAINER_SPANS];
    size_t count = moments_of(run->fits[0]->trainer, spans), numbers = 0;
    for (size_t i = 0; i < count; i++)
        numbers += spans[i].count;
    return run->count * numbers;
}

/* value (moments_count) to the trainers, or from them. */
static void move_moments(const struct job_run *run, sph_moments *moments, int back)
{
    const struct kernels *k = kernels_pick(run->nets[0]->dtype, KERNELS_FASTEST);
    double *value = moments->value;
    for (size_t member = 0; member < run->count; member++) {
        struct trainer_span spans[TRAINER_SPANS];
        struct trainer *trainer = run->fits[member]->trainer;
        size_t count = moments_of(trainer, spans);
        if (back)
            moments->step = trainer_place(trainer)->step;
        else
            trainer_set_step(trainer, moments->step);
        for (size_t i = 0; i < count; value += spans[i++].count)
            back ? k->to_double(spans[i].count, spans[i].data, value)
                 : k->from_double(spans[i].count, value, spans[i].data);
    }
}

static int recall_moments(const struct job_run *run)
{
    const sph_moments *before = run->start ? run->start->moments : NULL;
    size_t count = moments_count(run);
    if (!before)
        return 0;
    if (before->count != count || before->step >= (uint64_t)1 << 52)
        return sph_fail_key(SPH_EARG, "moments", "%zu numbers, expected %zu: another optimizer or net",
                            before->count, count);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(before->value[i]))
            return sph_fail_key(SPH_EARG, "moments", "number %zu is not finite", i);
    move_moments(run, &(sph_moments){before->step, count, before->value}, 0);
    return 0;
}

static int keep_moments(const struct job_run *run, sph_moments *out)
{
    out->count = moments_count(run);
    out->value = mem_get(out->count, sizeof *out->value);
    if (!out->value)
        return SPH_EMEMORY;
    move_moments(run, out, 1);
    return 0;
}

/* ---------------------------------------------------------------- training */

int sph_job_settle(sph_job *job, const sph_data *data)
{
    NEED(job, data);
    int err = check(&job->request.asked, data);
    return err ? err : job_resolve_for(job, data);
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
        return sph_fail_key(SPH_EARG, "ensemble", "%zu nets, and there is room for %zu: sph_job_settle first",
                            run->count, room);
    err = job_make_split(&job->spec, run->data, &run->split);
    if (!err)
        err = job_make_parts(run);
    if (!err)
        err = recall_moments(run);
    if (!err)
        err = job_train_parts(run, observers, count, result);
    for (size_t k = 0; k < run->count && !err; k++)
        err = keep_schema(run->nets[k], run->data, (sph_loss)job->spec.options.loss);
    return err;
}

int sph_job_train(sph_net **out, sph_moments *moments, sph_job *job, const sph_data *data,
                  const sph_start *start, const sph_observer *observers, size_t count, sph_result *result)
{
    NEED(out, job, data);
    if (start && !start->nets)
        return sph_fail_key(SPH_EARG, "start", "nets is NULL");
    if (count)
        NEED(observers);
    /* run->data is the caller's, and only looked at */
    struct job_run run = {.job = job, .held = -1, .data = (sph_data *)data, .start = start};
    sph_result own;
    if (!result)
        result = &own;
    *result = (sph_result){0};
    if (moments)
        *moments = (sph_moments){0};
    size_t room = job_members(job->resolved ? &job->spec : &job->request.asked);
    for (size_t k = 0; k < room; k++)
        out[k] = NULL;
    int threads = threads_setting(), err = train(&run, room, observers, count, result);
    if (!err && moments)
        err = keep_moments(&run, moments);
    for (size_t k = 0; k < run.count && !err; k++) {
        out[k] = run.nets[k];
        run.nets[k] = NULL;
    }
    run.data = NULL;
    job_run_free(&run);
    threads_set_back(threads);
    return err;
}
