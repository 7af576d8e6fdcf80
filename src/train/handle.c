/* SPDX-License-Identifier: MIT
 *
 * The public trainer: a fit that goes on when it is asked to. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"
#include "train/fit.h"

struct sph_trainer {
    struct fit *fit;
    int diverged;
};

int sph_trainer_new(sph_trainer **out, sph_net *net, const sph_data *data, const sph_split *split,
                    const sph_train_opts *opts)
{
    NEED(out, net, data, split, opts);
    sph_trainer *trainer = mem_get(1, sizeof *trainer);
    if (!trainer)
        return SPH_EMEMORY;
    int threads = threads_setting(), err = fit_new(&trainer->fit, net, data, split, opts);
    threads_set_back(threads);
    if (err < 0)
        sph_trainer_free(trainer);
    else
        *out = trainer;
    return err;
}

void sph_trainer_free(sph_trainer *trainer)
{
    if (!trainer)
        return;
    fit_free(trainer->fit);
    mem_free(trainer);
}

/* A step behind one that diverged would begin with weights that are no numbers. */
static int advance(sph_trainer *trainer, uint64_t steps)
{
    if (trainer->diverged)
        return sph_fail(SPH_EDIVERGED, "this training diverged; load a state from before, or begin anew");
    int threads = threads_setting(), err = trainer_advance(trainer->fit->trainer, steps);
    threads_set_back(threads);
    trainer->diverged = err == SPH_EDIVERGED;
    return err;
}

int sph_trainer_step(sph_trainer *trainer, size_t n)
{
    NEED(trainer);
    return advance(trainer, n);
}

int sph_trainer_epoch(sph_trainer *trainer)
{
    NEED(trainer);
    const struct trainer *loop = trainer->fit->trainer;
    return advance(trainer, trainer_steps(loop) - trainer_place(loop)->batch);
}

int sph_trainer_finished(const sph_trainer *trainer)
{
    NEED(trainer);
    return trainer_place(trainer->fit->trainer)->finished;
}

int sph_trainer_set_lr(sph_trainer *trainer, double lr)
{
    NEED(trainer);
    if (!(lr > 0 && isfinite(lr)))
        return sph_fail_key(SPH_EARG, "lr", "found %g, expected a number above 0", lr);
    trainer->fit->opts.lr = lr;
    return 0;
}

int sph_trainer_score(sph_trainer *trainer, sph_part part, sph_scores *out)
{
    NEED(trainer, out);
    struct fit *fit = trainer->fit;
    const struct feed *const feeds[] = {fit->as_it_is ? fit->as_it_is : fit->train, fit->val, fit->test};
    *out = (sph_scores){0};
    if ((unsigned)part > SPH_PART_TEST)
        return sph_fail_key(SPH_EARG, "part", "%d is none of the known ones", (int)part);
    int threads = threads_setting(),
        err = feeds[part] ? trainer_score(fit->trainer, &feeds[part]->source, out) : 0;
    threads_set_back(threads);
    return err;
}

int sph_trainer_view(sph_trainer *trainer, sph_view *out)
{
    NEED(trainer, out);
    *out = trainer_view(trainer->fit->trainer);
    return 0;
}

int sph_trainer_run(sph_trainer *trainer, const sph_observer *observers, size_t count, sph_result *result)
{
    NEED(trainer);
    if (count)
        NEED(observers);
    sph_result own;
    int threads = threads_setting(), err = fit_run(trainer->fit, observers, count, result ? result : &own);
    threads_set_back(threads);
    return err;
}

int sph_train(sph_net *net, const sph_data *data, const sph_split *split, const sph_train_opts *opts,
              const sph_observer *observers, size_t count, sph_result *result)
{
    sph_trainer *trainer = NULL;
    if (result)
        *result = (sph_result){0};
    int err = sph_trainer_new(&trainer, net, data, split, opts);
    if (!err)
        err = sph_trainer_run(trainer, observers, count, result);
    sph_trainer_free(trainer);
    return err;
}

/* ---------------------------------------------------------------- the state as bytes */

/* A head, then the spans of the trainer one after the other, in the byte order of the machine. */
struct head {
    char magic[8];
    uint64_t bytes[TRAINER_SPANS]; /* of each span; 0: there are no more */
    double lr;
};

static const char magic[8] = "sphstat1";

static size_t describe(const sph_trainer *trainer, struct head *head,
                       struct trainer_span spans[TRAINER_SPANS])
{
    size_t count = trainer_spans(trainer->fit->trainer, spans), whole = sizeof *head;
    *head = (struct head){.lr = trainer->fit->opts.lr};
    memcpy(head->magic, magic, sizeof magic);
    for (size_t i = 0; i < count; i++) {
        head->bytes[i] = spans[i].count * (spans[i].is_f64 ? sizeof(double) : trainer->fit->net->k->size);
        whole += head->bytes[i];
    }
    return whole;
}

int sph_trainer_save_state(sph_trainer *trainer, void **bytes, size_t *size)
{
    NEED(trainer, bytes, size);
    struct trainer_span spans[TRAINER_SPANS];
    struct head head;
    size_t whole = describe(trainer, &head, spans);
    char *at = *bytes = mem_get(whole, 1);
    if (!at)
        return SPH_EMEMORY;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (size_t i = 0; i < TRAINER_SPANS && head.bytes[i]; at += head.bytes[i++])
        memcpy(at, spans[i].data, (size_t)head.bytes[i]);
    *size = whole;
    return 0;
}

/* Counts are those of this training, and no number would end it. */
static int check_state(const sph_trainer *trainer, const struct head *head, const char *numbers)
{
    const struct trainer *loop = trainer->fit->trainer;
    double scalar[TRAINER_SCALAR_COUNT];
    memcpy(scalar, numbers, sizeof scalar);
    static const enum trainer_scalar counts[] = {TRAINER_STEP,       TRAINER_EPOCH,  TRAINER_BATCH,
                                                 TRAINER_BEST_EPOCH, TRAINER_WAITED, TRAINER_FINISHED};
    int bad = !(head->lr > 0 && isfinite(head->lr)) || scalar[TRAINER_BATCH] > (double)trainer_steps(loop) ||
              scalar[TRAINER_EPOCH] > (double)trainer->fit->opts.epochs;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double count = scalar[counts[i]];
        bad |= !(count >= 0 && count < 0x1p53 && count == floor(count));
    }
    return bad ? sph_fail(SPH_EFORMAT, "the state is damaged: its counts are not those of a training") : 0;
}

int sph_trainer_load_state(sph_trainer *trainer, const void *bytes, size_t size)
{
    NEED(trainer, bytes);
    struct trainer_span spans[TRAINER_SPANS];
    struct head own, head;
    size_t whole = describe(trainer, &own, spans);
    const char *at = (const char *)bytes + sizeof head;
    if (size >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    if (size < sizeof head || memcmp(head.magic, magic, sizeof magic) != 0)
        return sph_fail(SPH_EFORMAT, "these bytes are not the state of a trainer");
    if (size != whole || memcmp(head.bytes, own.bytes, sizeof own.bytes) != 0)
        return sph_fail(SPH_EFORMAT, "the state is that of another network or optimizer");
    int err = check_state(trainer, &head, at);
    if (err < 0)
        return err;
    for (size_t i = 0; i < TRAINER_SPANS && head.bytes[i]; at += head.bytes[i++])
        memcpy(spans[i].data, at, (size_t)head.bytes[i]);
    trainer_restored(trainer->fit->trainer);
    trainer->fit->opts.lr = head.lr;
    trainer->diverged = 0;
    return 0;
}

void sph_bytes_free(void *bytes)
{
    mem_free(bytes);
}
