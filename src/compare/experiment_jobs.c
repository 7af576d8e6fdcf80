/* SPDX-License-Identifier: MIT
 *
 * An experiment into its folder. The folder's experiment.yaml comes first, then each job's own run folder;
 * results and tables are made of what the jobs left, so a kill at any moment costs no more than the work
 * since the last checkpoints. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "compare/tool.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/experiment_jobs.h"
#include "compare/perturbed_unit.h"
#include "compare/shards.h"
#include "job/cost.h"
#include "job/record.h"
#include "store/runfolder.h"

/* ---------------------------------------------------------------- one thing in a process of its own
 * What makes nets may start threads, and a process that has some had better not fork. Data are read before:
 * the children then share them. */

struct errand {
    const struct sph_experiment *experiment;
    const struct experiment_job *jobs; /* to be timed; NULL: check */
    struct crew_slot answer;
    struct job_cost *cost; /* (jobs) */
};

static int do_errand(void *self, size_t job, struct crew_slot *slot)
{
    const struct errand *errand = self;
    if (errand->jobs) {
        struct job_cost cost;
        _Static_assert(sizeof cost <= sizeof slot->note, "a cost fits into a note");
        int err = experiment_cost(errand->experiment, &errand->jobs[job], &cost);
        if (!err)
            memcpy(slot->note, &cost, sizeof cost);
        return err;
    }
    struct experiment_facts facts;
    _Static_assert(sizeof facts <= sizeof slot->note, "the facts fit into a note");
    int err = experiment_check(errand->experiment, &facts);
    memcpy(slot->note, &facts, sizeof facts);
    return err;
}

static int take_answer(void *self, size_t job, const struct crew_slot *slot)
{
    struct errand *errand = self;
    memcpy(errand->answer.note, slot->note, sizeof slot->note);
    if (errand->cost && slot->err >= 0)
        memcpy(&errand->cost[job], slot->note, sizeof errand->cost[job]);
    return slot->err < 0 ? failure_set(&slot->failure) : 0;
}

static int check(struct sph_experiment *e, size_t workers, struct experiment_facts *facts)
{
    struct errand errand = {.experiment = e};
    struct crew crew = {
        .jobs = 1, .workers = workers ? 1 : 0, .self = &errand, .work = do_errand, .ended = take_answer};
    int stopped, err = experiment_complete(e);
    if (!err && !(err = experiment_read_data(e)))
        err = crew_run(&crew, &stopped);
    memcpy(facts, errand.answer.note, sizeof *facts);
    return err;
}

int sph_experiment_check(sph_experiment *experiment)
{
    NEED(experiment);
    struct experiment_facts facts;
    int err = check(experiment, 1, &facts);
    data_cache_free(&experiment->cache);
    return err;
}

const char *sph_experiment_useless(const sph_experiment *experiment, size_t set, const char **name)
{
    if (!experiment || !experiment->data || set >= experiment_sets(experiment))
        return NULL;
    *name = experiment_set_name(experiment, set);
    return experiment->data[set].useless;
}

/* ---------------------------------------------------------------- a dry run */

int sph_experiment_plan(sph_experiment *experiment, int timed, size_t *jobs)
{
    NEED(experiment, jobs);
    struct experiment_job *list = NULL, *samples = NULL;
    struct job_cost *costs = NULL, *sampled = NULL;
    size_t count = 0, points = experiment_points(experiment), sample_count = 0,
           kinds = experiment_sets(experiment) * experiment->method_count;
    int stopped, err = experiment_complete(experiment);
    if (err < 0 || (err = experiment_list(experiment, 0, &list, &count)) < 0)
        return err;
    costs = mem_get(count, sizeof *costs);
    sampled = mem_get(kinds * points, sizeof *sampled);
    samples = mem_get(kinds * points, sizeof *samples);
    if (!costs || !sampled || !samples) {
        err = SPH_EMEMORY;
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        costs[i] = (struct job_cost){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
        if (list[i].seed == 0 && list[i].fold <= 0)
            samples[sample_count++] = list[i];
    }
    if (timed) {
        struct errand errand = {.experiment = experiment, .jobs = samples, .cost = sampled};
        struct crew crew = {
            .jobs = sample_count, .workers = 1, .self = &errand, .work = do_errand, .ended = take_answer};
        if ((err = experiment_read_data(experiment)) < 0 || (err = crew_run(&crew, &stopped)) < 0)
            goto out;
        for (size_t i = 0; i < count; i++)
            costs[i] =
                sampled[(list[i].set * experiment->method_count + list[i].method) * points + list[i].point];
    }
    experiment_list_free(experiment->plan.jobs, experiment->plan.count);
    mem_free(experiment->plan.cost);
    experiment->plan.jobs = list;
    experiment->plan.count = *jobs = count;
    experiment->plan.cost = costs;
    list = NULL;
    costs = NULL;
out:
    data_cache_free(&experiment->cache);
    experiment_list_free(list, count);
    mem_free(costs);
    mem_free(sampled);
    mem_free(samples);
    return err;
}

int sph_experiment_job_at(const sph_experiment *experiment, size_t i, sph_experiment_job *out)
{
    NEED(experiment, out);
    struct text point = {0};
    if (i >= experiment->plan.count)
        return sph_fail(SPH_EARG, "job %zu of %zu", i, experiment->plan.count);
    const struct experiment_job *job = &experiment->plan.jobs[i];
    experiment_add_point(experiment, job->point, &point);
    if (point.failed)
        return SPH_EMEMORY;
    *out = (sph_experiment_job){.set = experiment->set_count ? experiment->sets[job->set].name : NULL,
                                .method = experiment->methods[job->method].name,
                                .seed = experiment->seeds[job->seed],
                                .fold = job->fold >= 0 ? job->fold : -1,
                                .folder = job->folder,
                                .seconds = experiment->plan.cost[i].seconds,
                                .peak_bytes = experiment->plan.cost[i].peak_bytes,
                                .disk_bytes = experiment->plan.cost[i].disk_bytes};
    snprintf(out->point, sizeof out->point, "%s", point.chars ? point.chars : "");
    text_free(&point);
    return 0;
}

/* ---------------------------------------------------------------- the folder */

/* The first line in which two files differ. */
static int other_experiment(const char *dir, const char *theirs, const char *mine)
{
    size_t line = 1;
    const char *a = theirs, *b = mine;
    for (;; line++) {
        size_t na = strcspn(a, "\n"), nb = strcspn(b, "\n");
        if (na != nb || memcmp(a, b, na) != 0)
            return sph_fail_of(SPH_EARG, dir, 0, "out",
                               "contains another experiment: line %zu of its " EXPERIMENT_FILE
                               " is '%.*s', here it would be '%.*s'; choose another --out",
                               line, (int)(na < 200 ? na : 200), a, (int)(nb < 200 ? nb : 200), b);
        a += na + (a[na] == '\n');
        b += nb + (b[nb] == '\n');
    }
}

/* The key `directory` is the last line of the file. A folder that was moved has another one and is the same experiment. */
static void drop_directory(char *text)
{
    char *line = strstr(text, "\ndirectory: ");
    if (line)
        line[1] = '\0';
}

static int compare_file(const char *dir, const char *path, char *text)
{
    char *theirs = NULL;
    int err = file_read(&theirs, NULL, path);
    drop_directory(text);
    if (!err)
        drop_directory(theirs);
    if (!err && strcmp(theirs, text) != 0)
        err = other_experiment(dir, theirs, text);
    mem_free(theirs);
    return err;
}

static int begin_experiment(struct experiment_run *run, const char *file, const char *config)
{
    const char *dir = run->opts->out;
    char *text = NULL;
    int err = experiment_write(run->experiment, dir, &text);
    if (err < 0)
        return err;
    if (file_exists(config))
        err = sph_fail_of(SPH_EARG, dir, 0, "out", "contains a run of spherelu train; choose another --out");
    else if (!file_exists(file))
        err = (err = file_check_empty(dir)) < 0 ? err : file_replace_with(file, text, strlen(text));
    else if ((err = compare_file(dir, file, text)) == 0 && !run->opts->resume && !run->shared)
        err =
            sph_fail_of(SPH_EARG, dir, 0, "resume",
                        "already contains this experiment; continue with --resume, or choose another --out");
    mem_free(text);
    return err;
}

/* *entered: 0 where another process of the same launcher has come to the end of all jobs. */
static int begin_folder(struct experiment_run *run, int *entered)
{
    const char *dir = run->opts->out;
    char *file = file_join(dir, EXPERIMENT_FILE), *config = file_join(dir, RUNFOLDER_CONFIG);
    int err = file && config ? 0 : SPH_EMEMORY;
    if (!err && !(err = file_make_directory(dir)))
        err = shards_enter(run, entered);
    if (!err && *entered) {
        err = begin_experiment(run, file, config);
        if (!err && run->shared)
            err = shards_begun(run);
    }
    mem_free(config);
    mem_free(file);
    return err;
}

/* ---------------------------------------------------------------- jobs */

static int watch(void *self, const sph_view *view)
{
    struct crew_slot *slot = self;
    if (view->steps)
        atomic_store_explicit(&slot->share, (double)view->step / (double)view->steps, memory_order_relaxed);
    return crew_wants_stop(slot);
}

/* In the worker. A divergence is a result: result.json has it. */
static int do_job(void *self, size_t job, struct crew_slot *slot)
{
    const struct experiment_run *run = self;
    const sph_observer observer = {.self = slot, .start = watch, .step = watch};
    struct sph_job *options = NULL;
    sph_result result = {0};
    int err =
        experiment_job_of(run->experiment, &run->results.jobs[run->todo[job]], run->opts->out, &options);
    if (!err)
        err = sph_job_run(options, 1, &observer, 1, &result);
    slot->stopped = !err && result.stopped;
    sph_job_free(options);
    return err == SPH_EDIVERGED ? 0 : err;
}

static int read_outcome(struct experiment_run *run, size_t at)
{
    return experiment_outcome_read(&run->results.outcomes[at], run->opts->out, &run->results.jobs[at],
                                   &run->results.facts);
}

static int job_ended(void *self, size_t job, const struct crew_slot *slot)
{
    struct experiment_run *run = self;
    size_t at = run->todo[job];
    struct experiment_outcome *outcome = &run->results.outcomes[at];
    char *note = run->result->failed_note;
    int err = 0;
    if (slot->stopped)
        return shards_give(run, at, SHARDS_STOPPED);
    run->result->repeated++;
    if (slot->err >= 0)
        err = read_outcome(run, at);
    if (!err && !outcome->finished) {
        mem_free(outcome->reason);
        outcome->reason = mem_text(slot->err < 0 ? slot->failure.text : "it did not write result.json");
        err = outcome->reason ? 0 : SPH_EMEMORY;
    }
    if (!err && !outcome->finished && !*note)
        snprintf(note, sizeof run->result->failed_note, "%s: %s", run->results.jobs[at].folder,
                 outcome->reason);
    return err ? err : shards_give(run, at, outcome->finished ? SHARDS_DONE : SHARDS_FAILED);
}

static int tell_progress(void *self, const struct crew_progress *progress)
{
    struct experiment_run *run = self;
    size_t all = run->before + progress->jobs + run->after;
    double done = (double)run->before + progress->share * (double)progress->jobs;
    sph_progress view = {.all = all,
                         .done = run->before + progress->ended,
                         .running = progress->running,
                         .share = done / (double)all,
                         .seconds = clock_seconds() - run->began};
    view.seconds_left =
        view.share > 0 && view.seconds > 0.5 ? view.seconds * (1 - view.share) / view.share : (double)NAN;
    return run->opts->progress ? run->opts->progress(run->opts->self, &view) : 0;
}

static int sweep(const struct experiment_run *run, size_t job)
{
    char *dir = file_join(run->opts->out, run->results.jobs[job].folder);
    int err = dir ? record_sweep(dir) : SPH_EMEMORY;
    mem_free(dir);
    return err;
}

/* Runs the jobs from number `from` on that have no result yet. */
static int run_jobs(struct experiment_run *run, size_t from, size_t after)
{
    int err = 0;
    mem_free(run->todo);
    run->todo_count = 0;
    run->after = after;
    if (!(run->todo = mem_get(run->results.count - from, sizeof *run->todo)))
        return SPH_EMEMORY;
    for (size_t i = from; i < run->results.count && !err; i++) {
        if (!run->results.outcomes[i].finished && !run->results.outcomes[i].reason)
            err = read_outcome(run, i);
        if (!err && !run->results.outcomes[i].finished)
            run->todo[run->todo_count++] = i;
        else if (!err && !run->shared)
            err = sweep(run, i);
    }
    if (!err && run->shared)
        err = shards_order(run);
    if (run->shared && !from) { /* again, for what others had when it was looked at before */
        run->unfinished = run->unfinished ? run->unfinished : run->todo_count;
        run->before = run->unfinished - run->todo_count;
    }
    struct crew crew = {.jobs = run->todo_count,
                        .workers = run->opts->workers,
                        .self = run,
                        .work = do_job,
                        .take = run->shared ? shards_take : NULL,
                        .ended = job_ended,
                        .progress = tell_progress};
    if (!err)
        err = crew_run(&crew, &run->result->stopped);
    run->before += run->todo_count;
    return err;
}

/* ---------------------------------------------------------------- choices */

struct score {
    double value, loss; /* of the validation parts; NaN: no number */
    double epochs;      /* best ones, mean */
};

static struct score score_of(const struct experiment_run *run, size_t first, size_t jobs)
{
    struct score score = {0};
    int reference = run->experiment->base->options.protocol == PROTOCOL_REFERENCE;
    for (size_t k = 0; k < jobs; k++) {
        const struct experiment_outcome *o = &run->results.outcomes[first + k];
        score.value += (reference ? o->test : o->val) / (double)jobs;
        score.loss += (reference ? 0 : o->val_loss) / (double)jobs;
        score.epochs += (double)o->best_epoch / (double)jobs;
    }
    return score;
}

static int is_better(const struct experiment_run *run, const struct score *a, const struct score *b)
{
    if (isnan(a->value) && isnan(b->value)) /* undefined in that part: the loss has to do */
        return a->loss < b->loss || (isnan(b->loss) && !isnan(a->loss));
    if (isnan(a->value) || isnan(b->value))
        return !isnan(a->value);
    if (!same_number(a->value, b->value)) /* folds: means of the same counts, added in another order */
        return run->results.facts.larger_is_better ? a->value > b->value : a->value < b->value;
    return a->loss < b->loss;
}

/* The number of a job in the list. */
static size_t number_of(const struct sph_experiment *e, const struct experiment_job *job)
{
    size_t jobs = experiment_folds(e) ? experiment_folds(e) : 1;
    return (((job->set * e->method_count + job->method) * experiment_points(e) + job->point) * e->seed_count +
            job->seed) *
           jobs;
}

static int add_refit(struct experiment_run *run, const struct experiment_job *best, double epochs)
{
    struct experiment_job *job = &run->results.jobs[run->results.count++];
    *job = *best;
    job->fold = FOLD_REFIT;
    job->epochs = epochs < 1 ? 1 : (size_t)(epochs + 0.5);
    return experiment_folder(run->experiment, job);
}

/* The job that one line and seed of the table reports. Where no point has a number it is the first one's, which
 * says why. */
static int choose_one(struct experiment_run *run, struct experiment_job job, size_t *at)
{
    const struct sph_experiment *e = run->experiment;
    size_t folds = experiment_folds(e), jobs = folds ? folds : 1;
    struct experiment_job best = job;
    struct score best_score = score_of(run, number_of(e, &best), jobs);
    for (job.point = 1; !e->table.all_points && job.point < experiment_points(e); job.point++) {
        struct score score = score_of(run, number_of(e, &job), jobs);
        if (is_better(run, &score, &best_score)) {
            best = job;
            best_score = score;
        }
    }
    *at = number_of(e, &best);
    if (!folds)
        return 0;
    if (isnan(best_score.value) && isnan(best_score.loss)) { /* a fold that gave no number tells why */
        while (!isnan(run->results.outcomes[*at].val))
            ++*at;
        return 0;
    }
    *at = run->results.count;
    return add_refit(run, &best, best_score.epochs);
}

/* Whether every job that this one is chosen from has a result. */
static int is_ready(const struct experiment_run *run, struct experiment_job job)
{
    const struct sph_experiment *e = run->experiment;
    size_t folds = experiment_folds(e), jobs = folds ? folds : 1,
           last = e->table.all_points ? job.point + 1 : experiment_points(e);
    for (; job.point < last; job.point++)
        for (size_t k = 0; k < jobs; k++)
            if (!run->results.outcomes[number_of(e, &job) + k].finished)
                return 0;
    return 1;
}

/* Fills final with the job that each line and seed of the tables reports: the best point's, or every point's;
 * under cv a refit that is added to the list. A shard leaves out what waits for jobs of others. */
static int choose(struct experiment_run *run, size_t *final)
{
    const struct sph_experiment *e = run->experiment;
    int err = 0;
    for (size_t d = 0; d < experiment_sets(e); d++)
        for (size_t m = 0; m < e->method_count; m++)
            for (size_t line = 0; line < experiment_lines(e); line++)
                for (size_t s = 0; s < e->seed_count && !err; s++, final++) {
                    struct experiment_job job = {.set = d, .method = m, .point = line, .seed = s};
                    if (!run->shared || is_ready(run, job))
                        err = choose_one(run, job, final);
                }
    return err;
}

/* ---------------------------------------------------------------- all */

static void forget_refits(struct experiment_run *run)
{
    for (; run->results.count > run->known; run->results.count--) {
        experiment_outcome_free(&run->results.outcomes[run->results.count - 1]);
        mem_free(run->results.jobs[run->results.count - 1].folder);
        run->results.jobs[run->results.count - 1].folder = NULL;
    }
}

/* Jobs that nobody else has, then refits whose folds have ended, until there are none of either: meanwhile others may have ended,
 * and left theirs. */
static int run_shard(struct experiment_run *run, size_t refits)
{
    sph_experiment_result *result = run->result;
    size_t ran;
    int err;
    do {
        ran = result->repeated;
        err = run_jobs(run, 0, refits);
        if (err < 0 || result->stopped || !refits)
            continue;
        forget_refits(run);
        if (!(err = choose(run, run->results.final)) && run->results.count > run->known)
            err = run_jobs(run, run->known, 0);
    } while (!err && !result->stopped && result->repeated > ran);
    result->left = run->known + refits;
    for (size_t i = 0; i < run->results.count; i++)
        result->left -= run->results.outcomes[i].finished != 0;
    return err;
}

static int run_all(struct experiment_run *run, int *complete)
{
    sph_experiment *e = run->experiment;
    size_t reports = experiment_reports(e), refits = experiment_folds(e) ? reports : 0;
    int err = experiment_list(e, refits, &run->results.jobs, &run->results.count);
    if (err < 0)
        return err;
    run->known = run->results.count;
    run->results.outcomes = mem_get(run->results.count + refits, sizeof *run->results.outcomes);
    run->results.final = mem_get(reports, sizeof *run->results.final);
    if (!run->results.outcomes || !run->results.final)
        return SPH_EMEMORY;
    if (run->shared && ((err = run_shard(run, refits)) < 0 || run->result->stopped || !shards_collect(run) ||
                        (err = shards_wait(run)) < 0 || run->result->stopped))
        return err;
    forget_refits(run);
    err = run_jobs(run, 0, refits);
    if (err < 0 || run->result->stopped || (err = choose(run, run->results.final)) < 0)
        return err;
    if (run->results.count > run->known && ((err = run_jobs(run, run->known, 0)) < 0 || run->result->stopped))
        return err;
    run->results.data = e->data;
    run->result->left = 0;
    *complete = 1;
    return results_write(&run->results);
}

static int settle_content(struct experiment_run *run)
{
    sph_experiment *e = run->experiment;
    if (e->content && strcmp(e->content, run->results.facts.content) != 0)
        return sph_fail_line_key(SPH_EFORMAT, e->path, 0, "content",
                                 "the data have changed since the experiment was run");
    if (!e->content && !(e->content = mem_text(run->results.facts.content)))
        return SPH_EMEMORY;
    return 0;
}

int experiment_run_jobs(struct experiment_run *run, int *complete)
{
    sph_experiment *e = run->experiment;
    const sph_experiment_opts *opts = run->opts;
    int entered = 0;
    if (!opts->out || !*opts->out)
        return sph_fail_key(SPH_EARG, "out", "empty, expected the folder of an experiment");
    if (opts->shards && (!opts->shard || opts->shard > opts->shards))
        return sph_fail_key(SPH_EARG, "shard", "found %zu of %zu, expected 1 to %zu", opts->shard,
                            opts->shards, opts->shards);
    if (e->content && !(run->content = mem_text(e->content)))
        return SPH_EMEMORY;
    run->settled = 1;
    run->shared = opts->shards > 0 && !experiment_without_jobs(e);
    run->results.experiment = e;
    run->results.dir = opts->out;
    char *file = file_join(opts->out, EXPERIMENT_FILE);
    e->call.again = file && (opts->resume || run->shared) && file_exists(file);
    int err = file ? check(e, opts->workers, &run->results.facts) : SPH_EMEMORY;
    mem_free(file);
    if (!err)
        err = settle_content(run);
    if (err < 0 || (opts->shards && !run->shared && !shards_collect(run)))
        return err;
    err = begin_folder(run, &entered);
    run->began = clock_seconds();
    if (err < 0 || !entered)
        return err;
    *complete = experiment_without_jobs(e);
    return *complete ? 0 : run_all(run, complete);
}

void experiment_run_end(struct experiment_run *run)
{
    run->result->jobs = run->results.count;
    for (size_t i = 0; i < run->results.count && run->results.outcomes; i++) {
        run->result->diverged += run->results.outcomes[i].diverged != 0;
        run->result->failed += run->results.outcomes[i].reason && !run->results.outcomes[i].diverged;
        experiment_outcome_free(&run->results.outcomes[i]);
    }
    mem_free(run->results.outcomes);
    experiment_list_free(run->results.jobs, run->results.count);
    mem_free(run->results.final);
    results_free(&run->results);
    mem_free(run->todo);
    data_cache_free(&run->experiment->cache);
    claims_end(&run->claims);
    if (run->settled) {
        mem_free(run->experiment->content);
        run->experiment->content = run->content;
    }
}
