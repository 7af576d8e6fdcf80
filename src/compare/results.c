/* SPDX-License-Identifier: MIT
 *
 * What the jobs of an experiment left: results.json, written and read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/tool.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "compare/results.h"
#include "job/run.h"
#include "store/runfolder.h"
#include "train/tool.h"

/* ---------------------------------------------------------------- result.json of a job */

void experiment_outcome_free(struct experiment_outcome *outcome)
{
    mem_free(outcome->reason);
    json_decref(outcome->result);
    *outcome = (struct experiment_outcome){0};
}

/* result, which is the outcome's from now on: what result.json says, or a job of results.json. */
static int take_outcome(struct experiment_outcome *out, json_t *result, const char *path,
                        const struct experiment_facts *facts)
{
    const char *reason = "the loss is not a finite number";
    int err;
    out->result = result;
    if ((err = json_member_bool(out->result, path, "diverged", &out->diverged)) < 0 ||
        (err = json_member_size(out->result, path, "epochs", &out->epochs)) < 0 ||
        (err = json_member_size(out->result, path, "best_epoch", &out->best_epoch)) < 0 ||
        (err = json_member_real(out->result, path, "seconds", &out->seconds)) < 0)
        return err;
    out->finished = 1;
    out->test = result_score(out->result, "test", facts->metric);
    out->val = result_score(out->result, "val", facts->metric);
    out->val_loss = result_score(out->result, "val", "loss");
    if (!out->diverged)
        return 0;
    if (json_is_string(json_object_get(out->result, "reason")))
        reason = json_string_value(json_object_get(out->result, "reason"));
    out->reason = mem_format("diverged: %s", reason);
    return out->reason ? 0 : SPH_EMEMORY;
}

int experiment_outcome_read(struct experiment_outcome *out, const char *dir, const struct experiment_job *job,
                            const struct experiment_facts *facts)
{
    experiment_outcome_free(out);
    out->test = out->val = out->val_loss = out->seconds = (double)NAN;
    char *folder = file_join(dir, job->folder), *path = folder ? file_join(folder, RUNFOLDER_RESULT) : NULL;
    int err = path ? 0 : SPH_EMEMORY;
    if (!err && file_exists(path)) {
        json_t *result = NULL;
        err = json_read(&result, path);
        if (!err && (err = take_outcome(out, result, path, facts)) < 0)
            experiment_outcome_free(out);
    }
    mem_free(path);
    mem_free(folder);
    return err;
}

/* ---------------------------------------------------------------- results.json */

static json_t *job_to_json(const struct results *r, size_t i, int final)
{
    const struct sph_experiment *e = r->experiment;
    const struct experiment_job *job = &r->jobs[i];
    const struct experiment_outcome *outcome = &r->outcomes[i];
    json_t *grid = json_object();
    int bad = !grid;
    for (size_t a = 0; a < e->grid.count; a++)
        bad |= json_object_set_new(
            grid, option_key(e->grid.axes[a].id),
            json_string(experiment_value_text(&e->grid.axes[a], experiment_value(e, job->point, a))));
    json_t *object = JSON_OF(
        JSON_IF(e->set_count, "set", json_string(e->sets[job->set].name)),
        {"method", json_string(e->methods[job->method].name)}, {e->grid.count ? "grid" : "", grid},
        {"seed", json_count(e->seeds[job->seed])}, JSON_IF(job->fold >= 0, "fold", json_integer(job->fold)),
        JSON_IF(job->fold == FOLD_REFIT, "refit", json_true()), {"folder", json_string(job->folder)},
        {"reported", json_boolean(final)}, {"failed", json_boolean(!outcome->finished)},
        JSON_IF(outcome->reason && !outcome->finished, "reason", json_string(outcome->reason)));
    if (outcome->result)
        bad |= json_object_update(object, outcome->result);
    return json_whole(object, bad);
}

/* The lines "name: value" of sph_features() as an object; NULL: out of memory. */
static json_t *features_to_json(void)
{
    json_t *object = json_object();
    int bad = !object;
    for (const char *line = sph_features(); *line && !bad;) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, ":");
        char *key = mem_text_of(line, name);
        const char *value = line + name + 1 + strspn(line + name + 1, " ");
        bad = !key || json_object_set_new(object, key, json_stringn(value, (size_t)(line + length - value)));
        mem_free(key);
        line += length + (line[length] == '\n');
    }
    return json_whole(object, bad);
}

/* 1 for each job that is reported. */
static unsigned char *mark_final(const struct results *r)
{
    size_t reports = experiment_reports(r->experiment);
    unsigned char *final = mem_get(r->count, 1);
    for (size_t i = 0; final && i < reports; i++)
        if (r->final[i] < r->count)
            final[r->final[i]] = 1;
    return final;
}

static int make_about(struct results *r)
{
    if (!r->about)
        r->about = json_object();
    int bad = !r->about;
    bad |= json_object_set_new(r->about, "version", json_string(sph_version()));
    bad |= json_object_set_new(r->about, "cpu", json_string(sph_cpu()));
    bad |= json_object_set_new(r->about, "features", features_to_json());
    return bad;
}

/* What the sets are, for who reads the results without them. */
static json_t *data_to_json(const struct results *r)
{
    json_t *list = json_array();
    int bad = !list;
    for (size_t i = 0; i < experiment_sets(r->experiment) && !bad; i++) {
        const struct experiment_data *data = &r->data[i];
        bad = json_array_append_new(
            list, JSON_OF({"name", json_words(experiment_set_name(r->experiment, i))},
                          {"task", json_string(sph_word(SPH_WORDS_TASK, (int)data->task)->word)},
                          {"rows", json_count(data->rows)}, {"test_rows", json_count(data->test_rows)},
                          {"drawn", json_boolean(data->drawn)}, {"own_test", json_boolean(data->own_test)},
                          JSON_IF(*data->useless, "useless", json_words(data->useless))));
    }
    return json_whole(list, bad);
}

static int write_json(struct results *r, const char *path, const unsigned char *final)
{
    const struct sph_experiment *e = r->experiment;
    json_t *object = json_object(), *jobs = json_array();
    int bad = !object || !jobs || make_about(r);
    bad |= json_object_set_new(object, "experiment", json_string(e->name));
    bad |= json_object_update(object, r->about);
    bad |= json_object_set_new(object, "protocol", json_string(options_word(e->base, OPTION_PROTOCOL)));
    if (experiment_warning(e))
        bad |= json_object_set_new(object, "warning", json_string(experiment_warning(e)));
    bad |= json_object_set_new(object, "metric", json_string(r->facts.metric));
    if (r->data)
        bad |= json_object_set_new(object, "data", data_to_json(r));
    for (size_t i = 0; i < r->count && !bad; i++)
        bad |= json_array_append_new(jobs, job_to_json(r, i, final[i]));
    bad |= json_object_set_new(object, "jobs", jobs);
    int err = bad ? sph_fail(SPH_EMEMORY, "out of memory") : json_write(path, object, 1);
    json_decref(object);
    return err;
}

int results_write(struct results *r)
{
    char *path = file_join(r->dir, EXPERIMENT_RESULTS);
    unsigned char *final = mark_final(r);
    int err = path && final ? write_json(r, path, final) : SPH_EMEMORY;
    mem_free(final);
    mem_free(path);
    return err;
}

/* ---------------------------------------------------------------- read again */

/* The number of the point whose values the job's `grid` names. */
static int find_point(const struct sph_experiment *e, const json_t *grid, size_t *point)
{
    *point = 0;
    for (size_t a = 0; a < e->grid.count; a++) {
        const struct experiment_axis *axis = &e->grid.axes[a];
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

/* 1; 0: it is none of the experiment's; or a failure. */
static int read_job(struct experiment_job *out, const struct sph_experiment *e,
                    const struct placed_seed *seeds, const json_t *job)
{
    const char *method = json_string_value(json_object_get(job, "method"));
    const char *set = json_string_value(json_object_get(job, "set"));
    const char *folder = json_string_value(json_object_get(job, "folder"));
    const json_t *seed = json_object_get(job, "seed"), *fold = json_object_get(job, "fold");
    if (!method || !folder || !json_is_integer(seed) || (e->set_count && !set))
        return 0;
    while (out->set < e->set_count && strcmp(e->sets[out->set].name, set) != 0)
        out->set++;
    while (out->method < e->method_count && strcmp(e->methods[out->method].name, method) != 0)
        out->method++;
    const struct placed_seed wanted = {.seed = (uint64_t)json_integer_value(seed)},
                             *found =
                                 bsearch(&wanted, seeds, e->seed_count, sizeof *seeds, placed_seed_compare);
    if ((e->set_count && out->set == e->set_count) || out->method == e->method_count || !found ||
        !find_point(e, json_object_get(job, "grid"), &out->point))
        return 0;
    out->seed = found->place;
    out->fold = json_is_integer(fold)                         ? (int)json_integer_value(fold)
                : json_is_true(json_object_get(job, "refit")) ? FOLD_REFIT
                                                              : FOLD_NONE;
    out->folder = mem_text(folder);
    return out->folder ? 1 : SPH_EMEMORY;
}

/* What results.json says of a job that has failed. */
static int read_failure(struct experiment_outcome *out, const json_t *job)
{
    const char *reason = json_string_value(json_object_get(job, "reason"));
    out->test = out->val = out->val_loss = out->seconds = (double)NAN;
    out->reason = mem_text(reason ? reason : "it did not write result.json");
    return out->reason ? 0 : SPH_EMEMORY;
}

static int read_each_job(struct results *out, const char *path, const json_t *jobs,
                         const struct placed_seed *seeds)
{
    const struct sph_experiment *e = out->experiment;
    size_t lines = experiment_lines(e), reports = experiment_reports(e);
    out->jobs = mem_get(json_array_size(jobs), sizeof *out->jobs);
    out->outcomes = mem_get(json_array_size(jobs), sizeof *out->outcomes);
    out->final = mem_get(reports, sizeof *out->final);
    if (!out->jobs || !out->outcomes || !out->final)
        return SPH_EMEMORY;
    for (size_t i = 0; i < reports; i++)
        out->final[i] = SIZE_MAX;
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        json_t *job = json_array_get(jobs, i);
        int err = read_job(&out->jobs[i], e, seeds, job);
        if (err <= 0)
            return err ? err : sph_fail_of(SPH_EFORMAT, path, 0, "jobs", "the experiment has no job %zu", i);
        const struct experiment_job *own = &out->jobs[out->count++];
        err = json_is_true(json_object_get(job, "failed"))
                  ? read_failure(&out->outcomes[i], job)
                  : take_outcome(&out->outcomes[i], json_incref(job), path, &out->facts);
        if (err < 0)
            return err;
        if (json_is_true(json_object_get(job, "reported")))
            out->final[experiment_report(e, own->set, own->method, e->table.all_points ? own->point : 0,
                                         own->seed)] = i;
    }
    for (size_t i = 0; i < reports; i++)
        if (out->final[i] == SIZE_MAX)
            return sph_fail_of(SPH_EFORMAT, path, 0, "jobs", "no job of method '%s' has a result",
                               e->methods[i / e->seed_count / lines % e->method_count].name);
    return 0;
}

static int read_jobs(struct results *out, const char *path, const json_t *jobs)
{
    struct placed_seed *seeds = experiment_sort_seeds(out->experiment->seeds, out->experiment->seed_count);
    int err = seeds ? read_each_job(out, path, jobs, seeds) : SPH_EMEMORY;
    mem_free(seeds);
    return err;
}

/* What is there of older versions' results: nothing. */
static int read_data(struct results *out, const char *path, const json_t *list)
{
    size_t count = experiment_sets(out->experiment);
    int err = 0;
    if (!list)
        return 0;
    if (json_array_size(list) != count)
        return sph_fail_of(SPH_EFORMAT, path, 0, "data", "%zu datasets, expected %zu", json_array_size(list),
                           count);
    if (!(out->data = mem_get(count, sizeof *out->data)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        const json_t *object = json_array_get(list, i);
        struct experiment_data *data = &out->data[i];
        if ((err = json_member_size(object, path, "rows", &data->rows)) < 0 ||
            (err = json_member_size(object, path, "test_rows", &data->test_rows)) < 0 ||
            (err = json_member_bool(object, path, "drawn", &data->drawn)) < 0)
            return err;
        if ((err = json_member_bool(object, path, "own_test", &data->own_test)) < 0)
            return err;
        const char *useless = "";
        if (json_object_get(object, "useless"))
            err = json_member_text(object, path, "useless", &useless);
        snprintf(data->useless, sizeof data->useless, "%s", useless);
    }
    return err;
}

static int read_results(struct results *out, const char *path)
{
    const char *metric = NULL;
    const json_t *jobs = NULL;
    int err = json_read(&out->about, path);
    if (err < 0 || (err = json_member_text(out->about, path, "metric", &metric)) < 0 ||
        (err = json_member_array(out->about, path, "jobs", &jobs)) < 0)
        return err;
    snprintf(out->facts.metric, sizeof out->facts.metric, "%s", metric);
    int known = sph_word_find(SPH_WORDS_METRIC, metric);
    if (known < 0)
        return sph_fail_of(SPH_EFORMAT, path, 0, "metric", "unknown metric '%s'", metric);
    out->facts.larger_is_better = sph_metric_about((sph_metric)known)->larger_is_better;
    err = read_data(out, path, json_object_get(out->about, "data"));
    return err ? err : read_jobs(out, path, jobs);
}

int results_perturb(struct results *r)
{
    sph_perturb_result *perturb = mem_get(1, sizeof *perturb);
    int err = perturb ? experiment_perturb(r->experiment, perturb) : SPH_EMEMORY;
    if (!err)
        r->perturb = perturb;
    else
        mem_free(perturb);
    return err;
}

int results_read(struct results *out, const struct sph_experiment *e, const char *dir)
{
    *out = (struct results){.experiment = e, .dir = dir, .owned = 1};
    if (experiment_without_jobs(e))
        return results_perturb(out);
    char *path = file_join(dir, EXPERIMENT_RESULTS);
    int err = path ? 0 : SPH_EMEMORY;
    if (!err && !file_exists(path))
        err = sph_fail_at(SPH_EFORMAT, dir,
                          "the experiment is not finished (%s is missing); continue with --resume",
                          EXPERIMENT_RESULTS);
    if (!err)
        err = read_results(out, path);
    mem_free(path);
    if (!err)
        err = diagnostics_load(out);
    if (!err)
        err = results_compare(out);
    return err ? err : results_measure(out);
}

void results_free(struct results *r)
{
    for (size_t i = 0; r->sets && i < r->experiment->set_count; i++) {
        r->sets[i].units = NULL; /* the whole's */
        results_free(&r->sets[i]);
    }
    mem_free(r->sets);
    mem_free(r->units);
    ranking_free(&r->ranking);
    tolerance_free(&r->tolerance);
    comparison_free(&r->comparison);
    for (size_t i = 0; r->methods && i < r->input.count; i++) {
        const void *own[] = {r->methods[i].value, r->methods[i].beside, r->methods[i].name,
                             r->methods[i].chosen, r->methods[i].edge};
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            mem_free((void *)own[k]);
    }
    mem_free(r->methods);
    motion_free(&r->motion);
    if (r->perturb)
        sph_perturb_free(r->perturb);
    mem_free(r->perturb);
    json_decref(r->about);
    for (size_t i = 0; r->owned && r->outcomes && i < r->count; i++)
        experiment_outcome_free(&r->outcomes[i]);
    if (r->owned) {
        mem_free(r->outcomes);
        experiment_list_free(r->jobs, r->count);
        mem_free(r->final);
        mem_free(r->data);
    }
    *r = (struct results){0};
}

/* ---------------------------------------------------------------- asked */

size_t results_final(const struct results *r, size_t method, size_t line, size_t seed)
{
    return r->final[experiment_report(r->experiment, r->set, method, line, seed)];
}

const struct results *results_of_set(const struct results *r, size_t set)
{
    return r->sets ? &r->sets[set] : r;
}

char *results_folder(const struct results *r, size_t job)
{
    return file_join(r->dir, r->jobs[job].folder);
}

double results_score(const struct results *r, size_t job, const char *part, const char *metric)
{
    return result_score(r->outcomes[job].result, part, metric);
}
