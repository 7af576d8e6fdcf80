/* SPDX-License-Identifier: MIT */
#include "experiment/recorded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "experiment/config.h"
#include "experiment/job.h"
#include "net/net.h"
#include "store/model.h"
#include "store/runfolder.h"

/* ---------------------------------------------------------------- one run folder */

int recorded_open_npz(struct npz **out, const char *dir)
{
    char *path = file_join(dir, RUNFOLDER_BOUNDARIES);
    *out = NULL;
    if (!path)
        return SPH_EMEMORY;
    int err = file_exists(path) ? npz_open(out, path) : 0;
    mem_free(path);
    return err;
}

static double score_in(const json_t *result, const char *part, const char *metric)
{
    const json_t *value = json_object_get(json_object_get(result, part), metric);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* The score in its result.json, where there is one. */
static int read_score(struct recorded *r, const char *path)
{
    json_t *result = NULL;
    if (!file_exists(path))
        return 0;
    r->finished = 1;
    int err = json_read(&result, path);
    if (!err)
        r->score = score_in(result, "test", r->metric);
    json_decref(result);
    return err;
}

static int open_parts(struct recorded *r, const char *config, const char *model, const char *result,
                      const char *metric)
{
    int err = sph_job_new(&r->job);
    if (err < 0 || (err = config_read(r->job, config)) < 0)
        return err;
    memset(r->job->given, 0, sizeof r->job->given); /* settled by the run, defaults included */
    if ((err = job_open_data(r->job, &r->data)) < 0 ||
        (err = runfolder_check_content(r->dir, job_content(r->data))) < 0 ||
        (err = job_make_split(r->job, r->data, &r->split)) < 0 ||
        (err = job_make_net(r->job, r->data, &r->first)) < 0 ||
        (err = scaling_fit(&r->first->scaling, r->data, r->split.train, r->split.train_rows,
                           (sph_standardize)r->job->options.standardize)) < 0)
        return err;
    if (file_exists(model) && (err = model_open(&r->last, NULL, model)) < 0)
        return err;
    snprintf(r->metric, sizeof r->metric, "%s",
             metric                                 ? metric
             : r->data->task == SPH_TASK_REGRESSION ? "rmse"
                                                    : "accuracy");
    err = read_score(r, result);
    return err ? err : recorded_open_npz(&r->record, r->dir);
}

int recorded_open(struct recorded *out, const char *dir, const char *metric)
{
    char *config = file_join(dir, RUNFOLDER_CONFIG), *model = file_join(dir, RUNFOLDER_MODEL);
    char *result = file_join(dir, RUNFOLDER_RESULT);
    *out = (struct recorded){.dir = mem_text(dir), .score = (double)NAN};
    int err = config && model && result && out->dir ? 0 : SPH_EMEMORY;
    if (!err && !file_is_directory(dir))
        err = sph_fail(SPH_EIO, "%s: no such folder", dir);
    else if (!err && !file_exists(config))
        err = sph_fail(SPH_EFORMAT,
                       "%s: neither a run folder nor an experiment's: it has no %s and no " EXPERIMENT_FILE,
                       dir, RUNFOLDER_CONFIG);
    if (!err)
        err = open_parts(out, config, model, result, metric);
    mem_free(config);
    mem_free(model);
    mem_free(result);
    if (err < 0)
        recorded_free(out);
    return err;
}

void recorded_free(struct recorded *r)
{
    npz_free(r->record);
    sph_net_free(r->first);
    sph_net_free(r->last);
    sph_split_free(&r->split);
    sph_data_free(r->data);
    sph_job_free(r->job);
    mem_free(r->dir);
    *r = (struct recorded){0};
}

/* ---------------------------------------------------------------- results.json */

/* The number of the point whose values the job's `grid` names. */
static int find_point(const struct sph_experiment *e, const json_t *grid, size_t *point)
{
    *point = 0;
    for (size_t a = 0; a < e->axis_count; a++) {
        const struct experiment_axis *axis = &e->axes[a];
        const char *value = json_string_value(json_object_get(grid, option_key(axis->id)));
        size_t k = 0;
        while (value && k < axis->count && strcmp(axis->values[k], value) != 0)
            k++;
        if (!value || k == axis->count)
            return 0;
        *point = *point * axis->count + k;
    }
    return 1;
}

static int read_job(struct reported *out, const struct sph_experiment *e, const char *dir, json_t *job)
{
    const char *method = json_string_value(json_object_get(job, "method"));
    const char *folder = json_string_value(json_object_get(job, "folder"));
    const json_t *seed = json_object_get(job, "seed"), *fold = json_object_get(job, "fold");
    if (!method || !folder || !json_is_integer(seed))
        return 0;
    while (out->method < e->method_count && strcmp(e->methods[out->method].name, method) != 0)
        out->method++;
    while (out->seed < e->seed_count && e->seeds[out->seed] != (uint64_t)json_integer_value(seed))
        out->seed++;
    if (out->method == e->method_count || out->seed == e->seed_count ||
        !find_point(e, json_object_get(job, "grid"), &out->point))
        return 0;
    out->fold = json_is_integer(fold) ? (int)json_integer_value(fold) : -1;
    out->final = json_is_true(json_object_get(job, "reported"));
    out->result = job;
    out->folder = file_join(dir, folder);
    return out->folder ? 1 : SPH_EMEMORY;
}

int reported_read(struct reported_list *out, const struct sph_experiment *e, const char *dir)
{
    char *path = file_join(dir, EXPERIMENT_RESULTS);
    const char *metric = NULL;
    const json_t *jobs = NULL;
    *out = (struct reported_list){0};
    int err = path ? 0 : SPH_EMEMORY;
    if (!err && !file_exists(path))
        err = sph_fail(SPH_EFORMAT, "%s: the experiment is not finished: it has no %s; go on with --resume",
                       dir, EXPERIMENT_RESULTS);
    if (!err && !(err = json_read(&out->results, path)) &&
        !(err = json_member_text(out->results, path, "metric", &metric)))
        err = json_member_array(out->results, path, "jobs", &jobs);
    size_t count = err ? 0 : json_array_size(jobs);
    if (!err && !(out->jobs = mem_get(count, sizeof *out->jobs)))
        err = SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        int got = read_job(&out->jobs[out->count], e, dir, json_array_get(jobs, i));
        if (got == 0)
            err = sph_fail(SPH_EFORMAT, "%s: job %zu is none of the experiment's", path, i);
        else if (got < 0)
            err = got;
        out->count += got > 0;
    }
    if (!err)
        snprintf(out->metric, sizeof out->metric, "%s", metric);
    mem_free(path);
    if (err < 0)
        reported_free(out);
    return err;
}

void reported_free(struct reported_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        mem_free(list->jobs[i].folder);
    mem_free(list->jobs);
    json_decref(list->results);
    *list = (struct reported_list){0};
}

double reported_score(const struct reported *job, const char *part, const char *metric)
{
    return score_in(job->result, part, metric);
}

size_t reported_lines(const struct sph_experiment *e)
{
    return e->all_points ? experiment_points(e) : 1;
}

const struct reported *reported_find(const struct reported_list *list, const struct sph_experiment *e,
                                     size_t method, size_t line, size_t seed)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct reported *job = &list->jobs[i];
        if (job->final && job->method == method && job->seed == seed &&
            (!e->all_points || job->point == line))
            return job;
    }
    return NULL;
}
