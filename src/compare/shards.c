/* SPDX-License-Identifier: MIT */
#include "compare/shards.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

/* Children of a crew that was killed let go of the folder a moment later. */
static const double patience = 2;

enum { TURN_MILLISECONDS = 10, WAIT_MILLISECONDS = 50 };
enum { CLAIM_BEGIN, CLAIM_JOBS }; /* the first one is the folder's beginning */

static void wait_milliseconds(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

int shards_collect(const struct experiment_run *run)
{
    return run->opts->together && run->opts->shard == 1;
}

/* ---------------------------------------------------------------- the folder */

static int refuse(const struct experiment_run *run, enum claims_kind others)
{
    if (others == CLAIMS_SHARED)
        return sph_fail_at(SPH_EIO, run->opts->out,
                           "shards of this experiment are at work in it; wait until they have ended");
    return sph_fail_at(SPH_EIO, run->opts->out, "another process is using it");
}

int shards_enter(struct experiment_run *run, int *entered)
{
    enum claims_kind kind = run->shared ? CLAIMS_SHARED : CLAIMS_ALONE, others = CLAIMS_ALONE;
    double end = clock_seconds() + patience;
    char mark;
    int err, taken = !run->shared;
    while ((err = claims_begin(&run->claims, run->opts->out, kind, &others)) > 0 && clock_seconds() < end)
        wait_milliseconds(TURN_MILLISECONDS);
    if (err > 0 && run->opts->together && run->opts->shard > 1 && others == CLAIMS_ALONE)
        return 0;
    if (err)
        return err > 0 ? refuse(run, others) : err;
    while (!taken && (taken = claims_take(&run->claims, CLAIM_BEGIN, &mark)) == 0)
        wait_milliseconds(TURN_MILLISECONDS);
    *entered = 1;
    return taken < 0 ? taken : 0;
}

int shards_begun(struct experiment_run *run)
{
    return claims_give(&run->claims, CLAIM_BEGIN, 0);
}

int shards_wait(struct experiment_run *run)
{
    const sph_experiment_opts *opts = run->opts;
    sph_progress view = {.what = "waiting for other processes", .share = 1, .seconds_left = (double)NAN};
    int err;
    claims_end(&run->claims);
    while ((err = claims_begin(&run->claims, opts->out, CLAIMS_ALONE, NULL)) > 0) {
        view.all = view.done = run->before;
        view.seconds = clock_seconds() - run->began;
        int answer = opts->progress ? opts->progress(opts->self, &view) : 0;
        if (answer) {
            run->result->stopped = answer > 0;
            return answer < 0 ? answer : 0;
        }
        wait_milliseconds(WAIT_MILLISECONDS);
    }
    run->shared = 0;
    return err;
}

/* ---------------------------------------------------------------- the order */

/* How long a job of this set, method and point takes beside others of the experiment: passes over its rows and weights. */
static int measure(const struct sph_experiment *e, const struct experiment_job *job, double *work)
{
    struct sph_job *options = NULL;
    int err = experiment_job_of(e, job, NULL, &options);
    if (err < 0)
        return err;
    const struct job_options *o = &options->request.asked.options;
    double inputs = 1, weights = 1;
    for (size_t i = 0; i < o->hidden.count; i++) {
        weights += inputs * (double)o->hidden.list[i];
        inputs = (double)o->hidden.list[i];
    }
    double rows = e->data ? (double)e->data[job->set].rows : 1, side = o->size ? (double)o->size : 1,
           width = o->width > 0 ? o->width : 1;
    *work = rows * (double)(o->epochs ? o->epochs : 1) * (double)(o->ensemble ? o->ensemble : 1) * weights *
            side * side * width * width;
    sph_job_free(options);
    return 0;
}

struct sized_job {
    double work;
    size_t at;
};

static int longest_first(const void *a, const void *b)
{
    const struct sized_job *one = a, *other = b;
    if (one->work != other->work)
        return one->work > other->work ? -1 : 1;
    return one->at < other->at ? -1 : one->at > other->at;
}

/* The jobs of one set, method and point lie side by side. */
static int size_jobs(const struct experiment_run *run, struct sized_job *sized)
{
    const struct experiment_job *last = NULL;
    int err = 0;
    for (size_t i = 0; i < run->todo_count && !err; i++) {
        const struct experiment_job *job = &run->results.jobs[run->todo[i]];
        sized[i].at = run->todo[i];
        if (last && last->set == job->set && last->method == job->method && last->point == job->point)
            sized[i].work = sized[i - 1].work;
        else
            err = measure(run->experiment, job, &sized[i].work);
        last = job;
    }
    return err;
}

int shards_order(struct experiment_run *run)
{
    struct sized_job *sized = mem_get(run->todo_count ? run->todo_count : 1, sizeof *sized);
    int err = sized ? size_jobs(run, sized) : SPH_EMEMORY;
    if (!err && run->todo_count) {
        qsort(sized, run->todo_count, sizeof *sized, longest_first);
        for (size_t i = 0; i < run->todo_count; i++)
            run->todo[i] = sized[i].at;
    }
    mem_free(sized);
    return err;
}

/* ---------------------------------------------------------------- jobs */

/* Refits are added in the order in which they become known, which is each process's own: they have the number of what they are
 * reported as. */
static size_t claim_of(const struct experiment_run *run, size_t at)
{
    const struct experiment_job *job = &run->results.jobs[at];
    size_t line = run->experiment->table.all_points ? job->point : 0;
    return CLAIM_JOBS + (at < run->known ? at
                                         : run->known + experiment_report(run->experiment, job->set,
                                                                          job->method, line, job->seed));
}

/* One that was killed may have left a result, and no mark. */
int shards_take(void *self, size_t job)
{
    struct experiment_run *run = self;
    size_t at = run->todo[job];
    struct experiment_outcome *outcome = &run->results.outcomes[at];
    char mark;
    int taken = claims_take(&run->claims, claim_of(run, at), &mark), err;
    if (taken <= 0)
        return taken;
    if (mark)
        return (err = shards_give(run, at, SHARDS_STOPPED)) < 0 ? err : 0;
    if ((err = experiment_outcome_read(outcome, run->opts->out, &run->results.jobs[at],
                                       &run->results.facts)) < 0)
        return err;
    if (outcome->finished)
        return (err = shards_give(run, at, SHARDS_DONE)) < 0 ? err : 0;
    return 1;
}

int shards_give(const struct experiment_run *run, size_t at, enum shards_mark mark)
{
    return run->shared ? claims_give(&run->claims, claim_of(run, at), (char)mark) : 0;
}
