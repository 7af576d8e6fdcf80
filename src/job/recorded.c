/* SPDX-License-Identifier: MIT */
#include "job/recorded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "job/config.h"
#include "job/job.h"
#include "job/run.h"
#include "net/net.h"
#include "store/model.h"
#include "store/runfolder.h"
#include "train/tool.h"

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

int recorded_describe(const char *dir, struct job_spec **spec, json_t **result)
{
    char *config = file_join(dir, RUNFOLDER_CONFIG), *path = file_join(dir, RUNFOLDER_RESULT);
    *spec = NULL;
    *result = NULL;
    int err = config && path ? options_new(spec) : SPH_EMEMORY;
    if (!err && !(err = config_read(*spec, config)) && file_exists(path))
        err = json_read(result, path);
    mem_free(path);
    mem_free(config);
    return err;
}

double recorded_score(const json_t *result, const char *part, const char *metric)
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
        r->score = recorded_score(result, "test", r->metric);
    json_decref(result);
    return err;
}

static int open_data(struct recorded *r, struct data_cache *cache)
{
    int err = job_read_data(r->spec, cache, &r->data);
    if (err < 0 || (err = runfolder_check_content(r->dir, job_content(r->data))) < 0)
        return err;
    return job_make_split(r->spec, r->data, &r->split);
}

static int make_first(struct recorded *r)
{
    int err = job_make_net(r->spec, r->data, &r->first);
    return err ? err
               : scaling_fit(&r->first->scaling, r->data, r->split.train, r->split.train_rows,
                             (sph_standardize)r->spec->options.standardize);
}

static int open_last(struct recorded *r, const char *model)
{
    int err = model_open_members(&r->nets, &r->members, NULL, model);
    if (!err && r->members == 1)
        r->last = r->nets[0];
    return err || !r->data ? err : run_check_net(r->nets[0], r->data, model);
}

static int open_parts(struct recorded *r, const char *config, const char *model, const char *result,
                      const char *metric, unsigned parts, struct data_cache *cache)
{
    int err = options_new(&r->spec);
    if (err < 0 || (err = config_read(r->spec, config)) < 0)
        return err;
    if (r->spec->options.task < 0)
        return sph_fail_of(SPH_EFORMAT, config, 0, "task",
                           "data has no task, expected regression, binary or classes: a run writes it");
    if (((parts & (RECORDED_DATA | RECORDED_FIRST)) && (err = open_data(r, cache)) < 0) ||
        ((parts & RECORDED_FIRST) && (err = make_first(r)) < 0) ||
        ((parts & RECORDED_LAST) && file_exists(model) && (err = open_last(r, model)) < 0))
        return err;
    snprintf(r->metric, sizeof r->metric, "%s",
             metric ? metric
                    : sph_word(SPH_WORDS_METRIC, (int)sph_metric_of((sph_task)r->spec->options.task))->word);
    err = read_score(r, result);
    return err || !(parts & RECORDED_RECORD) ? err : recorded_open_npz(&r->record, r->dir);
}

int recorded_open(struct recorded *out, const char *dir, const char *metric, unsigned parts,
                  struct data_cache *cache)
{
    char *config = file_join(dir, RUNFOLDER_CONFIG), *model = file_join(dir, RUNFOLDER_MODEL);
    char *result = file_join(dir, RUNFOLDER_RESULT);
    *out = (struct recorded){.dir = mem_text(dir), .score = (double)NAN};
    int err = config && model && result && out->dir ? 0 : SPH_EMEMORY;
    if (!err && !file_is_directory(dir))
        err = sph_fail_at(SPH_EIO, dir, "no such folder");
    else if (!err && !file_exists(config))
        err =
            sph_fail_at(SPH_EFORMAT, dir, "neither a run folder nor an experiment's: it has no %s and no %s",
                        RUNFOLDER_CONFIG, RUNFOLDER_EXPERIMENT);
    if (!err)
        err = open_parts(out, config, model, result, metric, parts, cache);
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
    model_free_members(r->nets, r->members);
    sph_split_free(&r->split);
    sph_data_free(r->data);
    options_delete(r->spec);
    mem_free(r->dir);
    *r = (struct recorded){0};
}
