/* SPDX-License-Identifier: MIT
 *
 * What can be refused before the first job: data, splits, and a net of every method and grid point. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/experiment.h"
#include "compare/perturbed_unit.h"
#include "job/job.h"
#include "job/job_run.h"
#include "job/option_kinds.h"
#include "train/losses.h"
#include "train/metrics.h"
#include "train/tool.h"

/* ---------------------------------------------------------------- whose line it is */

/* The option that a failure is about, or -1. Of a file the key is something in it, a column or a tensor. */
static int option_of(const struct sph_failure *failure, const char *data)
{
    if (*failure->path)
        return !strcmp(failure->path, data) ? OPTION_DATA : -1;
    for (int i = 0; i < OPTION_COUNT && *failure->key; i++)
        if (!strcmp(failure->key, option_key((enum option_id)i)) && strcmp(failure->key, "name"))
            return i;
    return *failure->key ? option_find(failure->key) : -1;
}

static size_t line_of(const struct sph_experiment *e, const struct experiment_job *job, int id)
{
    if (id < 0)
        return 0;
    for (size_t i = 0; i < e->grid.count; i++)
        if ((int)e->grid.axes[i].id == id)
            return e->grid.axes[i].line;
    size_t own = e->methods[job->method].lines[id], of_set = e->set_count ? e->sets[job->set].lines[id] : 0;
    return own ? own : of_set ? of_set : e->lines[id];
}

static const char *source_of(const struct sph_experiment *e, size_t set)
{
    return (e->set_count ? e->sets[set].asked : e->base)->options.data;
}

/* Gives a failure the line of its key in the file, and the method where that matters. */
static int blame(const struct sph_experiment *e, const struct experiment_job *job, int of_method, int err)
{
    const struct experiment_named *method = &e->methods[job->method];
    if (err == SPH_EMEMORY)
        return err;
    int id = option_of(sph_failure(), source_of(e, job->set));
    size_t line = line_of(e, job, id);
    if (!line && of_method)
        line = method->line;
    if (!line && id >= 0) /* a default: the section's own line would be a guess, the data's is none */
        line = e->set_count ? e->sets[job->set].line : e->lines[OPTION_DATA];
    sph_fail_move(SPH_EFORMAT, e->path, line, 1);
    if (id == OPTION_DATA && !*sph_failure()->key)
        sph_fail_of(SPH_EFORMAT, e->path, line, "data", "%s", sph_failure()->what);
    if (of_method)
        sph_fail_in(SPH_EFORMAT, "method '%s'", method->name);
    return e->set_count && id != OPTION_DATA ? sph_fail_in(SPH_EFORMAT, "set '%s'", e->sets[job->set].name)
                                             : SPH_EFORMAT;
}

/* ---------------------------------------------------------------- data and splits */

/* Every class has to be in the rows that are learned from. */
static int check_classes(const sph_data *data, const sph_split *split, uint64_t seed, int fold)
{
    if (data->task == SPH_TASK_REGRESSION)
        return 0;
    size_t *count = mem_get(data->classes, sizeof *count), empty = 0;
    if (!count)
        return SPH_EMEMORY;
    for (size_t i = 0; i < split->train_rows; i++)
        count[(size_t)data->y[split->train[i]]]++;
    while (empty < data->classes && count[empty])
        empty++;
    mem_free(count);
    if (empty == data->classes)
        return 0;
    char which[32] = "";
    if (fold >= 0)
        snprintf(which, sizeof which, ", fold %d,", fold);
    return sph_fail_key(SPH_EARG, "split",
                        "with seed %" PRIu64 "%s, the training set has no row of class '%s'%s", seed, which,
                        data->labels[empty], fold >= 0 ? "" : "; use split: stratified");
}

static int check_split(const struct sph_experiment *e, const struct job_spec *spec, const sph_data *data,
                       const struct experiment_job *job)
{
    sph_split split;
    int err = job_make_split(spec, data, &split);
    if (err < 0)
        return err;
    if (!split.test_rows)
        err = sph_fail_key(SPH_EARG, "test",
                           "found 0, expected a fraction above 0: the table needs test scores");
    else if (!split.val_rows && e->grid.count && !e->table.all_points &&
             spec->options.protocol == PROTOCOL_HOLDOUT)
        err = sph_fail_key(SPH_EARG, "val",
                           "found 0, expected a fraction above 0: the validation set chooses the grid point");
    else
        err = check_classes(data, &split, job_seed(spec, OPTION_SEED_SPLIT), job->fold);
    sph_split_free(&split);
    return err;
}

static void list_useless(char *out, size_t size, const sph_data *data)
{
    size_t used = 0;
    for (size_t i = 0; i < data->column_count && used < size; i++)
        if (data->columns[i].role == COLUMN_FEATURE && data->columns[i].marks & COLUMN_USELESS)
            used += (size_t)snprintf(out + used, size - used, "%s'%.40s'", used ? ", " : "",
                                     data->columns[i].name);
}

/* What is known of a set without any training; a split that cannot be made is told by the check. */
static int describe(struct experiment_data *out, const struct job_spec *spec, const sph_data *data)
{
    sph_split split = {0};
    uint32_t draw;
    *out = (struct experiment_data){.rows = data->rows,
                                    .task = data->task,
                                    .drawn = data->reading.made && !option_draw(spec->options.draw, &draw),
                                    .own_test = data->test_from > 0};
    list_useless(out->useless, sizeof out->useless, data);
    int err = job_make_split(spec, data, &split);
    if (!err)
        out->test_rows = split.test_rows;
    sph_split_free(&split);
    return err == SPH_EMEMORY ? err : 0;
}

static int read_set(struct sph_experiment *e, size_t set)
{
    struct experiment_job job = {
        .set = set, .seed = e->seed_count - 1, .fold = experiment_folds(e) ? 0 : FOLD_NONE};
    struct sph_job *options = NULL;
    sph_data *data = NULL;
    int err = experiment_job_of(e, &job, NULL, &options);
    if (!err && (err = job_open_data(options, &data)) < 0)
        err = blame(e, &job, 0, err);
    if (!err)
        err = describe(&e->data[set], &options->spec, data);
    sph_data_free(data);
    sph_job_free(options);
    return err;
}

int experiment_read_data(struct sph_experiment *e)
{
    int err = 0;
    if (experiment_without_jobs(e))
        return 0;
    mem_free(e->data);
    if (!(e->data = mem_get(experiment_sets(e), sizeof *e->data)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < experiment_sets(e) && !err; i++)
        err = read_set(e, i);
    return err;
}

static int depends_on_seed(const struct sph_job *options, const sph_data *data)
{
    return !data || data->reading.made || options->request.asked.options.rows;
}

/* All seeds and folds of the first method; *data stays open for the next seed where it is the same. */
static int check_seed(const struct sph_experiment *e, struct experiment_job *job, sph_data **data,
                      uint64_t *content)
{
    size_t folds = experiment_folds(e), count = folds ? folds : 1;
    int err = 0;
    for (size_t k = 0; k < count && !err; k++) {
        struct sph_job *options = NULL;
        job->fold = folds ? (int)k : FOLD_NONE;
        if ((err = experiment_job_of(e, job, NULL, &options)) < 0)
            return err;
        if (k == 0 && depends_on_seed(options, *data)) {
            sph_data_free(*data);
            *data = NULL;
            err = job_open_data(options, data);
            if (!err)
                *content = (*content ^ job_content(*data)) * 0x100000001b3u;
        } else {
            err = job_resolve_for(options, *data);
        }
        if (!err)
            err = check_split(e, &options->spec, *data, job);
        sph_job_free(options);
    }
    return err;
}

/* ---------------------------------------------------------------- methods */

static int choose_metric(const struct sph_experiment *e, sph_loss loss, size_t outputs,
                         struct experiment_facts *facts)
{
    sph_metric list[SPH_METRICS_MAX];
    sph_task task = loss_row(loss)->task;
    int wanted =
        e->table.metric ? sph_word_find(SPH_WORDS_METRIC, e->table.metric) : (int)sph_metric_of(task);
    size_t count = metric_list(task, outputs, list), found = 0;
    while (found < count && (int)list[found] != wanted)
        found++;
    if (found == count) {
        char known[256] = "";
        for (size_t i = 0; i < count; i++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                     sph_word(SPH_WORDS_METRIC, (int)list[i])->word);
        }
        return sph_fail_line_key(SPH_EFORMAT, e->path, e->table.metric_line, "metric",
                                 "unknown metric '%s'; available: %s", e->table.metric, known);
    }
    snprintf(facts->metric, sizeof facts->metric, "%s", sph_word(SPH_WORDS_METRIC, wanted)->word);
    facts->larger_is_better = sph_metric_about((sph_metric)wanted)->larger_is_better;
    return 0;
}

static int try_job(const struct sph_experiment *e, const struct experiment_job *job, sph_data *data,
                   struct experiment_facts *facts)
{
    struct sph_job *options = NULL;
    int err = experiment_job_of(e, job, NULL, &options);
    if (!err && e->grid.count && options_has(&options->request.asked, OPTION_TUNE))
        err = sph_fail_key(
            SPH_EARG, "tune",
            "cannot be combined with a grid, because both choose hyperparameters; remove one of them");
    if (!err)
        err = job_try(options, data, 0, NULL);
    err = err ? blame(e, job, 1, err)
              : choose_metric(e, (sph_loss)options->spec.options.loss, sph_data_outputs(data), facts);
    sph_job_free(options);
    return err;
}

/* Metrics of one task mean nothing in another. */
static int check_task(const struct sph_experiment *e, size_t set, sph_task task, sph_task *first)
{
    if (!set)
        *first = task;
    if (task == *first)
        return 0;
    return sph_fail_line_key(SPH_EFORMAT, e->path, e->sets[set].line, "data",
                             "the task of '%s' is %s, the task of '%s' is %s: they have no common metric; "
                             "use one experiment file for each task",
                             e->sets[set].name, sph_word(SPH_WORDS_TASK, (int)task)->word, e->sets[0].name,
                             sph_word(SPH_WORDS_TASK, (int)*first)->word);
}

static int check_set(const struct sph_experiment *e, size_t set, struct experiment_facts *facts,
                     uint64_t *content, sph_task *task)
{
    struct experiment_job job = {.set = set};
    sph_data *data = NULL;
    int err = 0;
    for (size_t s = e->seed_count; s-- > 0 && !err;) { /* the first seed's data stay */
        job.seed = s;
        if ((err = check_seed(e, &job, &data, content)) < 0)
            err = blame(e, &job, 0, err);
    }
    if (!err)
        err = check_task(e, set, data->task, task);
    job.seed = 0;
    job.fold = experiment_folds(e) ? 0 : FOLD_NONE;
    size_t points = experiment_points(e);
    for (job.method = 0; job.method < e->method_count && !err; job.method++)
        for (job.point = 0; job.point < points && !err; job.point++)
            err = try_job(e, &job, data, facts);
    if (!err)
        err = e->drawn.known->check(e, data);
    sph_data_free(data);
    return err;
}

int experiment_check(const struct sph_experiment *e, struct experiment_facts *facts)
{
    uint64_t content = 0xcbf29ce484222325u;
    sph_task task;
    int err = 0;
    *facts = (struct experiment_facts){0};
    if (experiment_without_jobs(e))
        return e->drawn.known->check(e, NULL);
    for (size_t set = 0; set < experiment_sets(e) && !err; set++)
        err = check_set(e, set, facts, &content, &task);
    snprintf(facts->content, sizeof facts->content, "%016" PRIx64, content);
    return err;
}

/* ---------------------------------------------------------------- cost */

static const double timed_seconds = 0.1;

int experiment_cost(const struct sph_experiment *e, const struct experiment_job *job, struct job_cost *out)
{
    struct sph_job *options = NULL;
    sph_data *data = NULL;
    int err = experiment_job_of(e, job, NULL, &options);
    if (!err && !(err = job_open_data(options, &data)))
        err = job_try(options, data, timed_seconds, out);
    sph_job_free(options);
    sph_data_free(data);
    return err;
}
