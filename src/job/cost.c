/* SPDX-License-Identifier: MIT */
#include "job/cost.h"

#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/resident.h"
#include "net/net.h"
#include "store/tensors.h"
#include "train/trainer.h"

/* Pages of the program and its libraries that only a run touches. */
static const double code_bytes = 2.5e6;

enum {
    STEPS_LEAST = 3,
    ROW_DIGITS = 8
}; /* ROW_DIGITS: of a row's number in split.json, with what is around it */

struct ticks {
    double first, last, end;
    size_t steps;
};

static int tick(void *self, const sph_view *view)
{
    struct ticks *ticks = self;
    (void)view;
    ticks->last = clock_seconds();
    if (!ticks->steps++)
        ticks->first = ticks->last;
    return ticks->last >= ticks->end && ticks->steps >= STEPS_LEAST;
}

/* Every epoch's steps and scores, and the scores of all parts at the end. */
static double all_seconds(const struct sph_job *job, const struct fit *fit, const sph_split *split,
                          double step)
{
    double steps = (double)trainer_steps(fit->trainer), row = step * steps / (double)split->train_rows,
           scored = (double)split->val_rows + (job->options.train_scores > 0 ? (double)split->train_rows : 0),
           all = (double)(split->train_rows + split->val_rows + split->test_rows);
    return (double)job->options.epochs * (step * steps + row * scored / 3) + row * all / 3;
}

static double folder_bytes(struct fit *fit, const sph_net *net, const sph_split *split)
{
    struct trainer_span span[TRAINER_SPANS];
    size_t count = trainer_spans(fit->trainer, span);
    double bytes = (double)sph_net_learned(net) * (double)net->k->size; /* the model */
    for (size_t i = 0; i < count; i++)
        bytes += (double)span[i].count * (double)(span[i].is_f64 ? sizeof(double) : net->k->size);
    return bytes + (double)(split->train_rows + split->val_rows + split->test_rows) * ROW_DIGITS;
}

int job_cost(struct job_cost *out, const struct sph_job *job, struct fit *fit, sph_net *net,
             const sph_split *split, double seconds)
{
    double now, most;
    resident_bytes(&now, &most); /* memory comes zeroed, so that all of it is held before the first step */
    double began = clock_seconds();
    struct ticks ticks = {.end = began + seconds};
    sph_observer observer = {.self = &ticks, .step = tick};
    int err =
        trainer_run(fit->trainer, &observer, 1); /* and no scores of all the rows, as fit_run has them */
    if (err == SPH_EDIVERGED)                    /* soon done, then */
        err = 0;
    if (err < 0)
        return err;
    double step =
        ticks.steps > 1 ? (ticks.last - ticks.first) / (double)(ticks.steps - 1) : clock_seconds() - began;
    /* what is saved goes through a tensor's size in f64, and in the net's dtype */
    double saving = (double)tensors_largest(net) * (double)(sizeof(double) + net->k->size);
    *out = (struct job_cost){.step_seconds = step,
                             .seconds = trainer_stopped(fit->trainer) ? all_seconds(job, fit, split, step)
                                                                      : clock_seconds() - began,
                             .peak_bytes = fmax(most, now + saving) + code_bytes,
                             .disk_bytes = folder_bytes(fit, net, split)};
    return 0;
}
