/* SPDX-License-Identifier: MIT
 *
 * One training on data in memory: no folder, nothing written. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data.h"
#include "file/json.h"
#include "job/job.h"
#include "net/net.h"

/* What is about files, folders, known sets and images. */
static const enum option_id elsewhere[] = {
    OPTION_DATA,    OPTION_TARGET,  OPTION_DROP,     OPTION_DELIMITER, OPTION_ROWS,
    OPTION_PERMUTE, OPTION_COLUMNS, OPTION_DRAW,     OPTION_NOISE,     OPTION_AUGMENT,
    OPTION_SIZE,    OPTION_GRAY,    OPTION_WORKERS,  OPTION_SKIP_BAD,  OPTION_CHECKPOINT_SECONDS,
    OPTION_RECORD,  OPTION_LOG,     OPTION_PROTOCOL, OPTION_FOLDS,     OPTION_FOLD,
    OPTION_OUT,
};

int sph_option_in_memory(size_t row)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if ((size_t)elsewhere[i] == row)
            return 0;
    return row < OPTION_COUNT;
}

static int check(const struct sph_job *job, const sph_data *data)
{
    const struct job_options *o = &job->options;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (job->given[elsewhere[i]])
            return sph_fail_key(SPH_EARG, option_key(elsewhere[i]), "not for data in memory");
    if (o->task >= 0 && o->task != (int)data->task)
        return sph_fail_key(SPH_EARG, "task", "found %s, and the data are for %s",
                            sph_word(SPH_WORDS_TASK, o->task)->word,
                            sph_word(SPH_WORDS_TASK, (int)data->task)->word);
    if (data->has_missing && o->missing != SPH_MISSING_MEAN)
        return sph_fail_key(SPH_EARG, "missing", "%zu features are NaN, and %s is not for data in memory",
                            data->filled, sph_word(SPH_WORDS_MISSING, o->missing)->word);
    return 0;
}

/* What the data are, where the net goes: as a run folder's model has it. */
static int keep_schema(sph_net *net, const sph_data *data)
{
    json_t *schema = NULL;
    struct text text = {0};
    int err = data_schema(data, &schema);
    if (!err)
        err = json_print(&text, schema, 0);
    if (!err)
        err = sph_net_set_note(net, text.chars);
    json_decref(schema);
    text_free(&text);
    return err;
}

static int begin_with(sph_net *net, const sph_net *start)
{
    size_t count = sph_net_tensors(net);
    int err = count == sph_net_tensors(start)
                  ? 0
                  : sph_fail_key(SPH_EARG, "start", "a net of %zu tensors, expected %zu",
                                 sph_net_tensors(start), count);
    for (size_t i = 0; i < count && !err; i++) {
        sph_tensor here;
        sph_net_tensor(net, i, &here);
        double *values = mem_get(here.count, sizeof *values);
        err = values ? sph_net_get(start, here.name, values, here.count) : SPH_EMEMORY;
        if (!err)
            err = sph_net_set(net, here.name, values, here.count);
        mem_free(values);
    }
    return err;
}

int sph_job_train(sph_net **out, sph_job *job, const sph_data *data, const sph_net *start,
                  const sph_observer *observers, size_t count, sph_result *result)
{
    sph_split split = {0};
    sph_net *net = NULL;
    *out = NULL;
    int err = check(job, data);
    if (!err)
        err = job_settle(job, data);
    if (!err)
        err = job_make_split(job, data, &split);
    if (!err)
        err = job_make_net(job, data, &net);
    if (!err && start)
        err = begin_with(net, start);
    sph_train_opts opts = job_train_opts(job);
    if (!err)
        err = sph_train(net, data, &split, &opts, observers, count, result);
    if (!err)
        err = keep_schema(net, data);
    sph_split_free(&split);
    if (err < 0)
        sph_net_free(net);
    else
        *out = net;
    return err;
}
