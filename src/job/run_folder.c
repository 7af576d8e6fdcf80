/* SPDX-License-Identifier: MIT
 *
 * Run folders, read as far as is asked for. All that looks into one does it by these functions. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/registry.h"
#include "file/file.h"
#include "job/config.h"
#include "job/job.h"
#include "job/run.h"
#include "net/net.h"
#include "store/model.h"
#include "store/runfolder.h"

/* ---------------------------------------------------------------- parts of a folder */

int run_open_record(struct npz **out, const char *dir)
{
    char *path = file_join(dir, RUNFOLDER_BOUNDARIES);
    *out = NULL;
    if (!path)
        return SPH_EMEMORY;
    int err = file_exists(path) ? npz_open(out, path) : 0;
    mem_free(path);
    return err;
}

double result_score(const json_t *result, const char *part, const char *metric)
{
    const json_t *value = json_object_get(json_object_get(result, part), metric);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

struct metric_columns {
    const char *const *names;
    size_t count, rows, capacity;
    double *values;
};

static int add_line(void *self, const json_t *line)
{
    struct metric_columns *m = self;
    if (!mem_reserve((void **)&m->values, &m->capacity, (m->rows + 1) * m->count, sizeof *m->values))
        return SPH_EMEMORY;
    for (size_t k = 0; k < m->count; k++) {
        const json_t *value = json_object_get(line, m->names[k]);
        m->values[m->rows * m->count + k] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    m->rows++;
    return 0;
}

int run_read_metrics(const char *dir, const char *const *names, size_t count, double **values, size_t *rows)
{
    struct metric_columns m = {.names = names, .count = count};
    int there = metrics_read(dir, add_line, &m);
    *values = m.values;
    *rows = m.rows;
    return there;
}

int run_own_data(sph_run *run, struct data_cache *cache)
{
    if (run->data)
        return 0;
    const char *source = run->spec->options.data;
    if (source && *source != '/' && strcmp(source, DATA_STDIN) && !registry_find(source) &&
        !file_exists(source))
        return sph_fail_at(
            SPH_EIO, source,
            "no such file; %s was trained on it, and the path is relative to the folder in which "
            "the training was started",
            run->dir);
    int err = job_read_data(run->spec, 0, 1, cache, &run->data);
    if (!err && (err = runfolder_check_content(run->dir, job_content(run->data))) < 0) {
        sph_data_free(run->data);
        run->data = NULL;
    }
    if (!err && data_waits(run->data) && !(err = run_own_split(run)))
        err = data_encode(&run->data, &run->split);
    return err;
}

int run_own_split(sph_run *run)
{
    return run->split.train ? 0 : runfolder_read_split(&run->split, run->dir, run->data->rows);
}

static int make_first(sph_run *run)
{
    sph_train_opts opts = job_train_opts(run->spec);
    int err = job_make_net(run->spec, run->data, &run->first);
    return err ? err
               : scaling_fit(&run->first->scaling, run->data, run->split.train, run->split.train_rows,
                             &(struct scaling_how){opts.standardize, opts.scale, opts.indicators});
}

/* A net of a run knows the columns of its data, as one that sph_net_open reads from the same file does. */
int run_take_nets(sph_run *run, sph_net **nets, size_t members, json_t *schema)
{
    run->nets = nets;
    run->net = nets[0];
    run->members = members;
    run->schema = schema;
    for (size_t k = 0; k < members; k++)
        sph_net_set_conv(nets[k], (sph_conv)run->spec->options.conv);
    return model_keep_data(nets, members, schema);
}

int run_open_model(sph_run *run)
{
    sph_net **nets = NULL;
    size_t members = 0;
    json_t *schema = NULL;
    char *path = file_join(run->dir, RUNFOLDER_MODEL);
    int err = path ? 0 : SPH_EMEMORY;
    if (!err && !run->nets && file_exists(path) &&
        !(err = model_open_members(&nets, &members, &schema, path)) &&
        !(err = run_take_nets(run, nets, members, schema)) && run->data)
        err = run_check_net(run->net, run->data, path);
    mem_free(path);
    return err;
}

sph_net *run_single(const sph_run *run)
{
    return run->members == 1 ? run->net : NULL;
}

/* ---------------------------------------------------------------- folders */

/* The usual mistake is to name a file of the folder. */
static int fail_file(const char *path)
{
    static const char *const files[] = {RUNFOLDER_CONFIG, RUNFOLDER_EXPERIMENT};
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : 1, inside = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files && !inside; i++) {
        char *file = mem_format("%.*s/%s", length, slash ? path : ".", files[i]);
        if (!file)
            return SPH_EMEMORY;
        inside = file_exists(file);
        mem_free(file);
    }
    return inside ? sph_fail_at(SPH_EFORMAT, path, "a file, expected a run folder; use %.*s", length,
                                slash ? path : ".")
                  : sph_fail_at(SPH_EFORMAT, path, "a file, expected a run folder");
}

static int check_folder(const char *dir, const char *config)
{
    char *experiment = file_join(dir, RUNFOLDER_EXPERIMENT);
    int err = experiment ? 0 : SPH_EMEMORY;
    if (!err && !file_is_directory(dir))
        err = file_exists(dir) ? fail_file(dir) : sph_fail_at(SPH_EIO, dir, "no such run folder");
    else if (!err && !file_exists(config) && file_exists(experiment))
        err = sph_fail_at(SPH_EFORMAT, dir, "an experiment, not a run; its runs are in %s/jobs", dir);
    else if (!err && !file_exists(config))
        err = sph_fail_at(SPH_EFORMAT, dir, "not a run folder: it has no %s", RUNFOLDER_CONFIG);
    mem_free(experiment);
    return err;
}

static int read_parts(sph_run *run, unsigned parts, struct data_cache *cache)
{
    int err = 0;
    if ((parts & (RUN_DATA | RUN_FIRST)) &&
        ((err = run_own_data(run, cache)) < 0 || (err = run_own_split(run)) < 0))
        return err;
    if (((parts & RUN_FIRST) && (err = make_first(run)) < 0) ||
        ((parts & RUN_MODEL) && (err = run_open_model(run)) < 0))
        return err;
    return parts & RUN_RECORD ? run_open_record(&run->record, run->dir) : 0;
}

int run_read(sph_run *run, const char *dir, unsigned parts, struct data_cache *cache)
{
    char *config = file_join(dir, RUNFOLDER_CONFIG), *result = file_join(dir, RUNFOLDER_RESULT);
    *run = (sph_run){.dir = mem_text(dir)};
    int err = config && result && run->dir ? check_folder(dir, config) : SPH_EMEMORY;
    if (!err && !(err = options_new(&run->spec)))
        err = config_read(run->spec, config);
    if (!err && file_exists(result))
        err = json_read(&run->result, result);
    if (!err)
        err = read_parts(run, parts, cache);
    mem_free(config);
    mem_free(result);
    if (err < 0)
        run_close(run);
    return err;
}

void run_close(sph_run *run)
{
    npz_free(run->record);
    sph_net_free(run->first);
    model_free_members(run->nets, run->members);
    json_decref(run->schema);
    json_decref(run->result);
    sph_split_free(&run->split);
    sph_data_free(run->data);
    options_delete(run->spec);
    mem_free(run->keep);
    text_free(&run->notes);
    mem_free(run->dir);
    *run = (sph_run){0};
}

/* What a folder needs to be used: a result that is none of a divergence, and the model with the columns of its data. */
static int check_finished(const sph_run *run)
{
    int diverged = 0;
    char *model = file_join(run->dir, RUNFOLDER_MODEL), *result = file_join(run->dir, RUNFOLDER_RESULT);
    int err = model && result ? 0 : SPH_EMEMORY;
    if (!err && run->result)
        err = json_member_bool(run->result, result, "diverged", &diverged);
    if (!err && diverged)
        err = sph_fail_at(SPH_EFORMAT, run->dir, "the run diverged and has no model");
    else if (!err && !file_exists(model))
        err = sph_fail_at(SPH_EFORMAT, run->dir,
                          "the run is not finished (%s is missing); continue with --resume", RUNFOLDER_MODEL);
    mem_free(model);
    mem_free(result);
    return err;
}

static int open_finished(sph_run *run, const char *dir)
{
    int err = run_read(run, dir, 0, NULL);
    if (!err && !(err = check_finished(run)) && !(err = run_open_model(run)) && !run->schema)
        err = sph_fail_at(SPH_EFORMAT, dir, RUNFOLDER_MODEL " does not describe the columns of its data");
    return err;
}

int sph_run_open(sph_run **out, const char *dir)
{
    NEED(out, dir);
    sph_run *run = mem_get(1, sizeof *run);
    int err = run ? file_enter(dir) : SPH_EMEMORY;
    if (!err && (err = open_finished(run, dir)) < 0) {
        run_close(run);
        file_leave(dir);
    }
    if (err < 0)
        mem_free(run);
    else
        *out = run;
    return err;
}

void sph_run_free(sph_run *run)
{
    if (!run)
        return;
    file_leave(run->dir);
    run_close(run);
    mem_free(run);
}
