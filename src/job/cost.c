/* SPDX-License-Identifier: MIT */
#include "job/cost.h"

#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/file.h"
#include "net/net.h"
#include "store/tensors.h"
#include "train/trainer.h"

/* Pages of the program and its libraries that only a run touches. */
static const double code_bytes = 2.5e6;

static const double slow_seconds = 3;

enum {
    STEPS_LEAST = 3,
    ROW_DIGITS = 8
}; /* ROW_DIGITS: of a row's number in split.json, with what is around it */

/* Every epoch's steps and scores, and the scores of all parts at the end. */
static double all_seconds(const struct job_spec *spec, const sph_trainer *trainer, const sph_split *split,
                          double step)
{
    double steps = (double)trainer_steps(trainer->loop), row = step * steps / (double)split->train_rows,
           scored =
               (double)split->val_rows + (spec->options.train_scores > 0 ? (double)split->train_rows : 0),
           all = (double)(split->train_rows + split->val_rows + split->test_rows);
    return (double)spec->options.epochs * (step * steps + row * scored / 3) + row * all / 3;
}

struct ticks {
    const struct job_spec *spec;
    const sph_trainer *trainer;
    const sph_split *split;
    double began, first, last, seconds, enough;
    size_t steps;
};

/* The first step is slower than others: it counts where there is no other. */
static double step_seconds(const struct ticks *ticks)
{
    return ticks->steps > 1 ? (ticks->last - ticks->first) / (double)(ticks->steps - 1)
                            : clock_seconds() - ticks->began;
}

static int tick(void *self, const sph_view *view)
{
    struct ticks *ticks = self;
    (void)view;
    ticks->last = clock_seconds();
    if (!ticks->steps++)
        ticks->first = ticks->last;
    double spent = ticks->last - ticks->began;
    if (ticks->steps < STEPS_LEAST)
        return spent >= slow_seconds;
    return spent >= ticks->seconds ||
           all_seconds(ticks->spec, ticks->trainer, ticks->split, step_seconds(ticks)) < ticks->enough;
}

static double folder_bytes(sph_trainer *trainer, const sph_net *net, const sph_split *split)
{
    struct trainer_span span[TRAINER_SPANS];
    size_t count = trainer_spans(trainer->loop, span);
    double bytes = (double)sph_net_learned(net) * (double)net->k->size; /* the model */
    for (size_t i = 0; i < count; i++)
        bytes += (double)span[i].count * (double)(span[i].is_f64 ? sizeof(double) : net->k->size);
    return bytes + (double)(split->train_rows + split->val_rows + split->test_rows) * ROW_DIGITS;
}

int job_cost(struct job_cost *out, const struct job_spec *spec, sph_trainer *trainer, sph_net *net,
             const sph_split *split, double seconds, double enough)
{
    double now, most;
    struct ticks ticks = {.spec = spec,
                          .trainer = trainer,
                          .split = split,
                          .began = clock_seconds(),
                          .seconds = seconds,
                          .enough = enough};
    sph_observer observer = {.self = &ticks, .step = tick};
    int err =
        trainer_run(trainer->loop, &observer, 1); /* and no scores of all the rows, as fit_run has them */
    if (err == SPH_EDIVERGED)                     /* soon done, then */
        err = 0;
    if (err < 0)
        return err;
    double step = step_seconds(&ticks);
    resident_bytes(&now, &most); /* pictures that lie ready among it */
    /* what is saved goes through a tensor's size in f64, and in the net's dtype */
    double saving = (double)tensors_largest(net) * (double)(sizeof(double) + net->k->size);
    *out =
        (struct job_cost){.step_seconds = step,
                          .seconds = trainer_stopped(trainer->loop) ? all_seconds(spec, trainer, split, step)
                                                                    : clock_seconds() - ticks.began,
                          .peak_bytes = fmax(most, now + saving) + code_bytes,
                          .disk_bytes = folder_bytes(trainer, net, split)};
    return 0;
}
