/* SPDX-License-Identifier: MIT
 *
 * What the jobs of an experiment left: results.json, and what its methods come to beside each other. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/results.h"
#include "store/runfolder.h"

/* ---------------------------------------------------------------- result.json of a job */

void experiment_outcome_free(struct experiment_outcome *outcome)
{
    mem_free(outcome->reason);
    json_decref(outcome->result);
    *outcome = (struct experiment_outcome){0};
}

/* NaN where the part or the score is not there. */
static double score_in(const json_t *result, const char *part, const char *name)
{
    const json_t *value = json_object_get(json_object_get(result, part), name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int read_outcome(struct experiment_outcome *out, const char *path,
                        const struct experiment_facts *facts)
{
    const char *reason = "the loss stopped being a number";
    int err = json_read(&out->result, path);
    if (err < 0 || (err = json_member_bool(out->result, path, "diverged", &out->diverged)) < 0 ||
        (err = json_member_size(out->result, path, "epochs", &out->epochs)) < 0 ||
        (err = json_member_size(out->result, path, "best_epoch", &out->best_epoch)) < 0 ||
        (err = json_member_real(out->result, path, "seconds", &out->seconds)) < 0)
        return err;
    out->finished = 1;
    out->test = score_in(out->result, "test", facts->metric);
    out->val = score_in(out->result, "val", facts->metric);
    out->val_loss = score_in(out->result, "val", "loss");
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
    if (!err && file_exists(path) && (err = read_outcome(out, path, facts)) < 0)
        experiment_outcome_free(out);
    mem_free(path);
    mem_free(folder);
    return err;
}

/* ---------------------------------------------------------------- results.json */

static int is_final(const struct experiment_results *r, size_t job)
{
    size_t count = r->experiment->method_count * experiment_lines(r->experiment) * r->experiment->seed_count;
    for (size_t i = 0; i < count; i++)
        if (r->final[i] == job)
            return 1;
    return 0;
}

static json_t *job_to_json(const struct experiment_results *r, size_t i)
{
    const struct sph_experiment *e = r->experiment;
    const struct experiment_job *job = &r->jobs[i];
    const struct experiment_outcome *outcome = &r->outcomes[i];
    json_t *object = json_object(), *grid = json_object();
    int bad = !object || !grid;
    bad |= json_object_set_new(object, "method", json_string(e->methods[job->method].name));
    for (size_t a = 0; a < e->axis_count; a++)
        bad |= json_object_set_new(
            grid, option_key(e->axes[a].id),
            json_string(experiment_value_text(&e->axes[a], experiment_value(e, job->point, a))));
    bad |= e->axis_count ? json_object_set_new(object, "grid", grid) : (json_decref(grid), 0);
    bad |= json_object_set_new(object, "seed", json_integer((json_int_t)e->seeds[job->seed]));
    if (job->fold >= 0)
        bad |= json_object_set_new(object, "fold", json_integer(job->fold));
    if (job->fold == FOLD_REFIT)
        bad |= json_object_set_new(object, "refit", json_true());
    bad |= json_object_set_new(object, "folder", json_string(job->folder));
    bad |= json_object_set_new(object, "reported", json_boolean(is_final(r, i)));
    bad |= json_object_set_new(object, "failed", json_boolean(!outcome->finished));
    if (outcome->reason && !outcome->finished)
        bad |= json_object_set_new(object, "reason", json_string(outcome->reason));
    if (outcome->result)
        bad |= json_object_update(object, outcome->result);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* Which part of the work saw the test rows; NULL: none. */
static const char *warning_of(const struct sph_experiment *e)
{
    if (e->base->options.protocol != PROTOCOL_REFERENCE)
        return NULL;
    return e->axis_count && !e->all_points
               ? "protocol reference: the test part chose the epoch and the point of the grid, so its scores "
                 "are too good; not for reporting"
               : OPTION_LEAK;
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
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static int write_json(const struct experiment_results *r, const char *path)
{
    const struct sph_experiment *e = r->experiment;
    json_t *object = json_object(), *jobs = json_array();
    int bad = !object || !jobs;
    bad |= json_object_set_new(object, "experiment", json_string(e->name));
    bad |= json_object_set_new(object, "version", json_string(sph_version()));
    bad |= json_object_set_new(object, "cpu", json_string(sph_cpu()));
    bad |= json_object_set_new(object, "features", features_to_json());
    bad |= json_object_set_new(object, "protocol", json_string(options_word(e->base, OPTION_PROTOCOL)));
    if (warning_of(e))
        bad |= json_object_set_new(object, "warning", json_string(warning_of(e)));
    bad |= json_object_set_new(object, "metric", json_string(r->facts->metric));
    for (size_t i = 0; i < r->count && !bad; i++)
        bad |= json_array_append_new(jobs, job_to_json(r, i));
    bad |= json_object_set_new(object, "jobs", jobs);
    int err = bad ? sph_fail(SPH_EMEMORY, "out of memory") : json_write(path, object, 1);
    json_decref(object);
    return err;
}

int results_write(const struct experiment_results *r)
{
    char *path = file_join(r->dir, EXPERIMENT_RESULTS);
    int err = path ? write_json(r, path) : SPH_EMEMORY;
    mem_free(path);
    return err;
}

/* ---------------------------------------------------------------- compared */

enum { CHOICES_SHOWN = 3 };

/* "lr 0.03 (3 of 5), 0.1 (2)", the most frequent first; results.json has them all. */
static int describe_choice(const struct experiment_results *r, const size_t *final, char **out)
{
    const struct sph_experiment *e = r->experiment;
    size_t points = experiment_points(e), seeds = e->seed_count, *count = mem_get(points, sizeof *count);
    struct text text = {0};
    if (!count)
        return SPH_EMEMORY;
    for (size_t s = 0; s < seeds; s++)
        if (!isnan(r->outcomes[final[s]].test))
            count[r->jobs[final[s]].point]++;
    for (int shown = 0;; shown++) {
        size_t most = 0;
        for (size_t p = 1; p < points; p++)
            if (count[p] > count[most])
                most = p;
        if (!count[most])
            break;
        if (shown == CHOICES_SHOWN) {
            text_add(&text, ", ...");
            break;
        }
        text_add(&text, "%s", !shown ? "" : e->axis_count > 1 ? "; " : ", ");
        if (shown && e->axis_count == 1)
            text_add(&text, "%s", experiment_value_text(&e->axes[0], most));
        else
            experiment_add_point(e, most, &text);
        if (!shown && count[most] < seeds)
            text_add(&text, " (%zu of %zu)", count[most], seeds);
        else if (shown)
            text_add(&text, " (%zu)", count[most]);
        count[most] = 0;
    }
    mem_free(count);
    if (text.failed) {
        text_free(&text);
        return SPH_EMEMORY;
    }
    *out = text.chars;
    return 0;
}

static int fill_line(const struct experiment_results *r, size_t method, size_t line, struct results_line *own,
                     struct comparison_method *out)
{
    const struct sph_experiment *e = r->experiment;
    const size_t *final = r->final + (method * experiment_lines(e) + line) * e->seed_count;
    struct text name = {0};
    int err = 0;
    *out =
        (struct comparison_method){.seconds = (double)NAN}; /* tables of a resumed run have to be the same */
    if (!(own->value = mem_get(e->seed_count, sizeof *own->value)))
        return SPH_EMEMORY;
    for (size_t s = 0; s < e->seed_count; s++) {
        const struct experiment_outcome *outcome = &r->outcomes[final[s]];
        int refitted = r->jobs[final[s]].fold < 0;
        own->value[s] = refitted ? outcome->test : (double)NAN;
        if (refitted && outcome->finished && !outcome->diverged) /* a score may be undefined: no failure */
            continue;
        out->failed++;
        if (!out->reason)
            out->reason = outcome->reason;
    }
    text_add(&name, "%s", e->methods[method].name);
    if (e->all_points && e->axis_count) {
        text_add(&name, ", ");
        experiment_add_point(e, line, &name);
    } else if (e->axis_count) {
        err = describe_choice(r, final, &own->chosen);
    }
    own->name = name.chars;
    if (!err && name.failed)
        err = SPH_EMEMORY;
    out->name = own->name;
    out->value = own->value;
    out->chosen = own->chosen;
    return err;
}

/* The first method under gmp is what the others are compared with; without one, the best. Points of a grid
 * side by side are a picture, not a contest. */
int experiment_reference(const struct sph_experiment *e)
{
    if (e->all_points && e->axis_count)
        return COMPARISON_NONE;
    for (size_t m = 0; m < e->method_count; m++) {
        const struct sph_job *job = e->methods[m].job;
        if ((job->given[OPTION_PARAM] ? job : e->base)->options.param == SPH_PARAM_GMP)
            return (int)m;
    }
    return COMPARISON_BEST;
}

void results_comparison_free(struct results_comparison *out)
{
    comparison_free(&out->comparison);
    for (size_t i = 0; out->lines && i < out->input.count; i++) {
        mem_free(out->lines[i].value);
        mem_free(out->lines[i].name);
        mem_free(out->lines[i].chosen);
    }
    mem_free(out->lines);
    mem_free(out->methods);
    *out = (struct results_comparison){0};
}

int results_compare(struct results_comparison *out, const struct experiment_results *r)
{
    const struct sph_experiment *e = r->experiment;
    size_t lines = experiment_lines(e), count = e->method_count * lines;
    *out = (struct results_comparison){.lines = mem_get(count, sizeof *out->lines),
                                       .methods = mem_get(count, sizeof *out->methods)};
    out->input = (struct comparison_input){.experiment = e->name,
                                           .metric = r->facts->metric,
                                           .larger_is_better = r->facts->larger_is_better,
                                           .protocol = options_word(e->base, OPTION_PROTOCOL),
                                           .warning = warning_of(e),
                                           .cases = e->seed_count,
                                           .methods = out->methods,
                                           .count = count,
                                           .reference_method = experiment_reference(e)};
    int err = out->lines && out->methods ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++)
        err = fill_line(r, i / lines, i % lines, &out->lines[i], &out->methods[i]);
    return err ? err : comparison_make(&out->comparison, &out->input);
}
