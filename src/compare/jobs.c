/* SPDX-License-Identifier: MIT
 *
 * Which jobs an experiment has, where they lie, and their options. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "job/job.h"
#include "base/text.h"
#include "compare/experiment.h"

size_t experiment_points(const struct sph_experiment *e)
{
    size_t points = 1;
    for (size_t i = 0; i < e->grid.count; i++)
        if (__builtin_mul_overflow(points, e->grid.axes[i].count, &points))
            return SIZE_MAX;
    return points;
}

size_t experiment_reports(const struct sph_experiment *e)
{
    return experiment_sets(e) * e->method_count * experiment_lines(e) * e->seed_count;
}

size_t experiment_report(const struct sph_experiment *e, size_t set, size_t method, size_t line, size_t seed)
{
    return ((set * e->method_count + method) * experiment_lines(e) + line) * e->seed_count + seed;
}

size_t experiment_lines(const struct sph_experiment *e)
{
    return e->table.all_points ? experiment_points(e) : 1;
}

size_t experiment_folds(const struct sph_experiment *e)
{
    if (e->base->options.protocol != PROTOCOL_CV)
        return 0;
    return options_has(e->base, OPTION_FOLDS) ? e->base->options.folds : EXPERIMENT_FOLDS;
}

/* The last axis turns fastest. */
size_t experiment_value(const struct sph_experiment *e, size_t point, size_t axis)
{
    for (size_t i = e->grid.count; --i > axis;)
        point /= e->grid.axes[i].count;
    return point % e->grid.axes[axis].count;
}

const char *experiment_value_text(const struct experiment_axis *axis, size_t number)
{
    return options_text(axis->values[number], axis->id);
}

void experiment_add_point(const struct sph_experiment *e, size_t point, struct text *out)
{
    experiment_add_other_keys(e, point, SIZE_MAX, out);
}

void experiment_add_other_keys(const struct sph_experiment *e, size_t point, size_t axis, struct text *out)
{
    const char *between = "";
    for (size_t a = 0; a < e->grid.count; a++)
        if (a != axis) {
            text_add(out, "%s%s %s", between, option_key(e->grid.axes[a].id),
                     experiment_value_text(&e->grid.axes[a], experiment_value(e, point, a)));
            between = ", ";
        }
}

size_t experiment_along(const struct sph_experiment *e, size_t point, size_t axis, size_t k)
{
    size_t stride = 1;
    for (size_t a = axis + 1; a < e->grid.count; a++)
        stride *= e->grid.axes[a].count;
    return point + k * stride;
}

/* ---------------------------------------------------------------- folders */

/* "lr-0.1_hidden-100"; values are told apart by their number where their letters would not do. */
static void add_point_folder(const struct sph_experiment *e, size_t point, struct text *out)
{
    for (size_t i = 0; i < e->grid.count; i++) {
        const struct experiment_axis *axis = &e->grid.axes[i];
        size_t number = experiment_value(e, point, i);
        const char *value = experiment_value_text(axis, number);
        int odd = 0;
        text_add(out, "%s%s-", i ? "_" : "", option_key(axis->id));
        for (const char *c = value; *c && c < value + 60; c++) {
            int fine = isalnum((unsigned char)*c) || strchr("+-.,", *c);
            odd |= !fine;
            text_add(out, "%c", fine ? *c : '_');
        }
        if (odd || strlen(value) > 60)
            text_add(out, "-%zu", number);
    }
}

int experiment_folder(const struct sph_experiment *e, struct experiment_job *job)
{
    struct text out = {0};
    text_add(&out, EXPERIMENT_JOBS "/");
    if (e->set_count)
        text_add(&out, "%s/", e->sets[job->set].folder);
    text_add(&out, "%s/", e->methods[job->method].folder);
    if (e->grid.count) {
        add_point_folder(e, job->point, &out);
        text_add(&out, "/");
    }
    text_add(&out, "seed-%llu", (unsigned long long)e->seeds[job->seed]);
    if (job->fold == FOLD_REFIT)
        text_add(&out, "/refit");
    else if (job->fold >= 0)
        text_add(&out, "/fold-%d", job->fold);
    if (out.failed) {
        text_free(&out);
        return SPH_EMEMORY;
    }
    mem_free(job->folder);
    job->folder = out.chars;
    return 0;
}

/* ---------------------------------------------------------------- the list */

void experiment_list_free(struct experiment_job *jobs, size_t count)
{
    for (size_t i = 0; jobs && i < count; i++)
        mem_free(jobs[i].folder);
    mem_free(jobs);
}

int experiment_count(const struct sph_experiment *e, size_t *count)
{
    size_t folds = experiment_folds(e) ? experiment_folds(e) : 1;
    if (!__builtin_mul_overflow(e->method_count, experiment_points(e), count) &&
        !__builtin_mul_overflow(*count, e->seed_count, count) &&
        !__builtin_mul_overflow(*count, experiment_sets(e), count) &&
        !__builtin_mul_overflow(*count, folds, count) && *count <= EXPERIMENT_MOST_JOBS)
        return 0;
    char sets[40] = "";
    if (e->set_count)
        snprintf(sets, sizeof sets, "%zu set%s, ", e->set_count, e->set_count == 1 ? "" : "s");
    return sph_fail_at(SPH_EFORMAT, e->path,
                       "more than %d jobs: %s%zu methods, %zu of the grid, %zu seeds, %zu fold%s",
                       EXPERIMENT_MOST_JOBS, sets, e->method_count, experiment_points(e), e->seed_count,
                       folds, folds == 1 ? "" : "s");
}

int experiment_list(const struct sph_experiment *e, size_t more, struct experiment_job **out, size_t *count)
{
    size_t all, made = 0, folds = experiment_folds(e);
    int err = experiment_count(e, &all);
    if (err < 0)
        return err;
    struct experiment_job *jobs = mem_get(all + more, sizeof *jobs);
    if (!jobs)
        return SPH_EMEMORY;
    size_t points = experiment_points(e), count_folds = folds ? folds : 1;
    for (size_t d = 0; d < experiment_sets(e) && !err; d++)
        for (size_t m = 0; m < e->method_count && !err; m++)
            for (size_t p = 0; p < points && !err; p++)
                for (size_t s = 0; s < e->seed_count && !err; s++)
                    for (size_t k = 0; k < count_folds && !err; k++, made++) {
                        jobs[made] = (struct experiment_job){
                            .set = d, .method = m, .point = p, .seed = s, .fold = folds ? (int)k : FOLD_NONE};
                        err = experiment_folder(e, &jobs[made]);
                    }
    if (err < 0) {
        experiment_list_free(jobs, all);
        return err;
    }
    *out = jobs;
    *count = all;
    return 0;
}

/* ---------------------------------------------------------------- options */

static void give_size(struct job_spec *asked, enum option_id id, uint64_t number)
{
    options_set_size(asked, id, number, ORIGIN_FILE);
}

/* On the whole training part, for as long as the folds found best. */
static void be_refit(struct job_spec *asked, size_t epochs)
{
    options_set_word(asked, OPTION_PROTOCOL, PROTOCOL_HOLDOUT, ORIGIN_FILE);
    options_set_real(asked, OPTION_VAL, 0, ORIGIN_FILE);
    options_unset(asked, OPTION_FOLDS);
    options_unset(asked, OPTION_MONITOR);
    give_size(asked, OPTION_PATIENCE, 0);
    give_size(asked, OPTION_EPOCHS, epochs);
}

static int fill_options(const struct sph_experiment *e, const struct experiment_job *which, const char *out,
                        struct job_spec *asked)
{
    int err = options_override(asked, e->base, ORIGIN_FILE);
    if (!err && e->set_count)
        err = options_override(asked, e->sets[which->set].asked, ORIGIN_FILE);
    if (!err)
        err = options_override(asked, e->methods[which->method].asked, ORIGIN_METHOD);
    for (size_t i = 0; i < e->grid.count && !err; i++)
        err = options_override(asked, e->grid.axes[i].values[experiment_value(e, which->point, i)],
                               ORIGIN_GRID);
    if (err < 0)
        return err;
    give_size(asked, OPTION_SEED, e->seeds[which->seed]);
    if (which->fold == FOLD_REFIT)
        be_refit(asked, which->epochs);
    if (which->fold >= 0) {
        give_size(asked, OPTION_FOLDS, experiment_folds(e));
        give_size(asked, OPTION_FOLD, (uint64_t)which->fold);
    }
    if (!out)
        return 0;
    char *dir = file_join(out, which->folder);
    err = dir ? options_put(asked, OPTION_OUT, dir, ORIGIN_FILE) : SPH_EMEMORY;
    mem_free(dir);
    return err;
}

int experiment_job_of(const struct sph_experiment *e, const struct experiment_job *which, const char *out,
                      struct sph_job **job)
{
    int err = job_new(job, 0);
    if (err < 0)
        return err;
    (*job)->cache = experiment_cache(e);
    (*job)->request.again = e->call.again;
    if ((err = fill_options(e, which, out, &(*job)->request.asked)) < 0) {
        sph_job_free(*job);
        *job = NULL;
    }
    return err;
}
