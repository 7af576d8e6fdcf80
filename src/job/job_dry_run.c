/* SPDX-License-Identifier: MIT
 *
 * A few steps of a training, to tell what it will ask of the machine, and none of them taken afterwards. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"
#include "job/job.h"
#include "job/job_run.h"

/* A training of less is not worth telling how long it takes, nor measuring it well. */
static const double timed_seconds = 0.5, soon_seconds = 20;

/* Members take a thread each, and a second training as long as the first at most. */
static double whole_seconds(const struct job_run *run, const struct job_cost *cost)
{
    size_t threads = run->job->spec.options.threads, at_once = threads < run->count ? threads : run->count;
    double rounds = run->count > 1 ? (double)run->count / (double)(at_once ? at_once : 1) : 1;
    return cost->seconds * rounds * (job_refit_wanted(run) ? 2 : 1);
}

/* The numbers of a net whose training has not begun, into memory or back; an optimizer then remembers nothing. */
static int copy_start(sph_trainer *trainer, char **copy, int back)
{
    struct trainer_span span[TRAINER_SPANS];
    size_t count = trainer_spans(trainer->loop, span), bytes[TRAINER_SPANS], all = 0;
    for (size_t i = 0; i < count; i++) {
        bytes[i] = span[i].count * (span[i].is_f64 ? sizeof(double) : trainer->net->k->size);
        all += i < TRAINER_START_SPANS ? bytes[i] : 0;
    }
    char *at = back ? *copy : (*copy = mem_get(all, 1));
    for (size_t i = 0; i < count && at; i++)
        if (i >= TRAINER_START_SPANS && back)
            memset(span[i].data, 0, bytes[i]);
        else if (i < TRAINER_START_SPANS) {
            memcpy(back ? span[i].data : at, back ? at : span[i].data, bytes[i]);
            at += bytes[i];
        }
    if (back)
        trainer_restored(trainer->loop);
    return at ? 0 : SPH_EMEMORY;
}

/* A few steps tell how long it will take; then they are undone. */
int job_foresee(struct job_run *run)
{
    struct job_cost cost;
    char *start = NULL;
    int err = copy_start(run->trainers[0], &start, 0);
    if (!err)
        err = job_cost(&cost, &run->job->spec, run->trainers[0], run->nets[0], &run->split, timed_seconds,
                       soon_seconds);
    if (!err && !(err = copy_start(run->trainers[0], &start, 1)))
        run->job->seconds = whole_seconds(run, &cost);
    mem_free(start);
    return err;
}

int job_try(struct sph_job *job, sph_data *data, double seconds, struct job_cost *cost)
{
    struct job_run run = {.job = job, .held = -1, .data = data_share(data), .count = 1};
    int threads = threads_setting(), err = job_resolve_for(job, data);
    if (!err && !(err = job_make_split(&job->spec, data, &run.split)) &&
        !(err = data_encode(&run.data, &run.split)) && !(err = job_make_parts(&run)) && cost)
        err = job_cost(cost, &job->spec, run.trainers[0], run.nets[0], &run.split, seconds, 0);
    job_run_free(&run);
    threads_set_back(threads);
    return err;
}

int sph_job_dry_run(sph_job *job, sph_job_size *out)
{
    NEED(job, out);
    struct job_run run = {.job = job, .held = -1};
    struct job_cost cost;
    int threads = threads_setting(), err = job_prepare_rows(&run);
    if (!err && !(err = job_make_parts(&run)) &&
        !(err = job_cost(&cost, &job->spec, run.trainers[0], run.nets[0], &run.split, timed_seconds, 0)))
        *out = (sph_job_size){.train_rows = run.split.train_rows,
                              .val_rows = run.split.val_rows,
                              .test_rows = run.split.test_rows,
                              .features = run.data->features,
                              .learned = run.count * sph_net_learned(run.nets[0]),
                              .frozen = run.count * trainer_frozen(run.trainers[0]->loop),
                              .steps = trainer_steps(run.trainers[0]->loop),
                              .epochs = job->spec.options.epochs,
                              .step_seconds = cost.step_seconds,
                              .seconds = whole_seconds(&run, &cost),
                              .peak_bytes = cost.peak_bytes,
                              .disk_bytes = (double)run.count * cost.disk_bytes};
    job_run_free(&run);
    threads_set_back(threads);
    return err;
}
