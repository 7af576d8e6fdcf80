/* SPDX-License-Identifier: MIT */
#include "compare/reported.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/json.h"
#include "job/recorded.h"

/* The number of the point whose values the job's `grid` names. */
static int find_point(const struct sph_experiment *e, const json_t *grid, size_t *point)
{
    *point = 0;
    for (size_t a = 0; a < e->axis_count; a++) {
        const struct experiment_axis *axis = &e->axes[a];
        const char *value = json_string_value(json_object_get(grid, option_key(axis->id)));
        size_t k = 0;
        while (value && k < axis->count && strcmp(experiment_value_text(axis, k), value) != 0)
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
        err =
            sph_fail_at(SPH_EFORMAT, dir, "the experiment is not finished: it has no %s; go on with --resume",
                        EXPERIMENT_RESULTS);
    if (!err && !(err = json_read(&out->results, path)) &&
        !(err = json_member_text(out->results, path, "metric", &metric)))
        err = json_member_array(out->results, path, "jobs", &jobs);
    size_t count = err ? 0 : json_array_size(jobs);
    if (!err && !(out->jobs = mem_get(count, sizeof *out->jobs)))
        err = SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        int got = read_job(&out->jobs[out->count], e, dir, json_array_get(jobs, i));
        if (got == 0)
            err = sph_fail_at(SPH_EFORMAT, path, "job %zu is none of the experiment's", i);
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
    return recorded_score(job->result, part, metric);
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
