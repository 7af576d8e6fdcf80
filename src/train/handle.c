/* SPDX-License-Identifier: MIT
 *
 * The public trainer: a training that goes on when it is asked to, and its state as bytes. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "compute/threads.h"
#include "train/fit.h"

int sph_trainer_new(sph_trainer **out, sph_net *net, const sph_data *data, const sph_split *split,
                    const sph_train_opts *opts)
{
    NEED(out, net, data, split, opts);
    sph_train_opts own;
    sph_train_defaults(&own, sph_data_task(data));
    int threads = threads_setting(), err = SIZED_TAKE(&own, opts, sph_train_opts);
    if (!err)
        err = fit_new(out, net, data, split, &own, (struct fit_team){0});
    threads_set_back(threads);
    return err;
}

/* A step behind one that diverged would begin with weights that are no numbers. */
static int advance(sph_trainer *trainer, uint64_t steps, const sph_observer *observers, size_t count)
{
    if (trainer->diverged)
        return sph_fail(SPH_EDIVERGED, "this training run diverged; load an earlier state or start again");
    int threads = threads_setting(), err = trainer_advance(trainer->loop, steps, observers, count);
    threads_set_back(threads);
    trainer->diverged = err == SPH_EDIVERGED;
    return err;
}

int sph_trainer_step(sph_trainer *trainer, size_t n)
{
    NEED(trainer);
    return advance(trainer, n, NULL, 0);
}

int sph_trainer_observe(sph_trainer *trainer, size_t n, const sph_observer *observers, size_t count)
{
    NEED(trainer);
    if (count)
        NEED(observers);
    return advance(trainer, n, observers, count);
}

int sph_trainer_epoch(sph_trainer *trainer)
{
    NEED(trainer);
    const struct trainer *loop = trainer->loop;
    return advance(trainer, trainer_steps(loop) - trainer_place(loop)->batch, NULL, 0);
}

int sph_trainer_finished(const sph_trainer *trainer)
{
    NEED(trainer);
    return trainer_place(trainer->loop)->finished;
}

int sph_trainer_set_lr(sph_trainer *trainer, double lr)
{
    NEED(trainer);
    if (!(lr > 0 && isfinite(lr)))
        return sph_fail_key(SPH_EARG, "lr", "found %g, expected a number above 0", lr);
    trainer->opts.lr = lr;
    return 0;
}

int sph_trainer_score(sph_trainer *trainer, sph_part part, sph_scores *out)
{
    NEED(trainer, out);
    const struct feed *const feeds[] = {trainer->as_it_is ? trainer->as_it_is : trainer->train, trainer->val,
                                        trainer->test};
    *out = (sph_scores){0};
    if ((unsigned)part > SPH_PART_TEST)
        return sph_fail_key(SPH_EARG, "part", "unknown value %d", (int)part);
    int threads = threads_setting(),
        err = feeds[part] ? trainer_score(trainer->loop, &feeds[part]->source, out) : 0;
    threads_set_back(threads);
    return err;
}

int sph_trainer_view(sph_trainer *trainer, sph_view *out)
{
    NEED(trainer, out);
    *out = trainer_view(trainer->loop);
    return 0;
}

int sph_trainer_run(sph_trainer *trainer, const sph_observer *observers, size_t count, sph_result *result)
{
    NEED(trainer);
    if (count)
        NEED(observers);
    sph_result own;
    int threads = threads_setting(), err = fit_run(trainer, observers, count, result ? result : &own);
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
    size_t count;                /* of spans                                            */
    size_t slots;                /* of the optimizer: behind scalars, params and state  */
    size_t bytes[TRAINER_SPANS]; /* (count) of each span                                */
    double lr;
};

static const char magic[8] = "sphstat1";

/* The spans before those of the optimizer. */
enum { SLOTS_FROM = 3 };

static size_t describe(const sph_trainer *trainer, struct head *head,
                       struct trainer_span spans[TRAINER_SPANS])
{
    size_t whole = sizeof *head;
    *head = (struct head){.count = trainer_spans(trainer->loop, spans), .lr = trainer->opts.lr};
    memcpy(head->magic, magic, sizeof magic);
    for (size_t i = 0; i < head->count; i++) {
        head->bytes[i] = spans[i].count * (spans[i].is_f64 ? sizeof(double) : trainer->net->k->size);
        head->slots += (size_t)!strncmp(spans[i].name, "optimizer.", strlen("optimizer."));
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
    for (size_t i = 0; i < head.count; at += head.bytes[i++])
        if (head.bytes[i])
            memcpy(at, spans[i].data, (size_t)head.bytes[i]);
    *size = whole;
    return 0;
}

/* *head and *step <- those of a state whose spans are as long as its head says, and whose first ones, up to the optimizer's,
 * are as long as the trainer's own. loop: what the scalars are for; NULL: only what does not depend on it is checked. */
static int read_head(const struct trainer *loop, const struct head *own, const void *bytes, size_t size,
                     struct head *head, uint64_t *step)
{
    double scalar[TRAINER_SCALAR_COUNT];
    size_t scalars = TRAINER_SCALAR_COUNT * sizeof *scalar, left = size - sizeof *head;
    if (size >= sizeof *head + scalars)
        memcpy(head, bytes, sizeof *head);
    if (size < sizeof *head + scalars || memcmp(head->magic, magic, sizeof magic) != 0 ||
        head->count > TRAINER_SPANS)
        return sph_fail(SPH_EFORMAT, "these bytes are not the state of a trainer");
    for (size_t i = 0; i < head->count && head->bytes[i] <= left; i++)
        left -= head->bytes[i];
    if (left)
        return sph_fail(SPH_EFORMAT, "the state is damaged: its parts do not have %zu bytes in total", size);
    if (head->slots != own->slots || head->count < SLOTS_FROM + head->slots ||
        memcmp(head->bytes, own->bytes, (SLOTS_FROM + own->slots) * sizeof *own->bytes) != 0)
        return sph_fail(SPH_EFORMAT, "the state belongs to another network or optimizer");
    memcpy(scalar, (const char *)bytes + sizeof *head, scalars);
    int err = trainer_check_scalars(loop, scalar);
    if (!err && !(head->lr > 0 && isfinite(head->lr)))
        err = sph_fail(SPH_EFORMAT, "the learning rate is %g, expected a number above 0", head->lr);
    *step = err ? 0 : (uint64_t)scalar[TRAINER_STEP];
    return err < 0 ? sph_fail_in(err, "the state is damaged") : 0;
}

int sph_trainer_load_state(sph_trainer *trainer, const void *bytes, size_t size)
{
    NEED(trainer, bytes);
    struct trainer_span spans[TRAINER_SPANS];
    struct head own, head;
    uint64_t step;
    describe(trainer, &own, spans);
    int err = read_head(trainer->loop, &own, bytes, size, &head, &step);
    if (!err && (head.count != own.count || memcmp(head.bytes, own.bytes, sizeof own.bytes) != 0))
        err =
            sph_fail(SPH_EFORMAT, "the state belongs to a training run with another --monitor or --patience");
    if (err < 0)
        return err;
    const char *at = (const char *)bytes + sizeof head;
    for (size_t i = 0; i < head.count; at += head.bytes[i++])
        if (head.bytes[i])
            memcpy(spans[i].data, at, (size_t)head.bytes[i]);
    trainer_restored(trainer->loop);
    trainer->opts.lr = head.lr;
    trainer->diverged = 0;
    return 0;
}

int trainer_load_optimizer(sph_trainer *trainer, const void *bytes, size_t size)
{
    NEED(trainer, bytes);
    struct trainer_span spans[TRAINER_SPANS];
    struct head own, head;
    uint64_t step;
    describe(trainer, &own, spans);
    int err = read_head(NULL, &own, bytes, size, &head, &step);
    if (err < 0)
        return err;
    const char *from = (const char *)bytes + sizeof head;
    for (size_t i = 0; i < SLOTS_FROM; i++)
        from += head.bytes[i];
    size_t slot = own.slots ? own.bytes[SLOTS_FROM] : 0;
    char *copy = mem_get(own.slots * slot + 1, 1); /* aligned, and looked at before anything changes */
    if (!copy)
        return SPH_EMEMORY;
    memcpy(copy, from, own.slots * slot);
    if (!trainer->net->k->all_finite(own.slots * trainer->net->learned, copy))
        err = sph_fail(SPH_EFORMAT, "the state is damaged: the optimizer's numbers are not all finite");
    for (size_t i = 0; i < own.slots && !err; i++)
        memcpy(spans[SLOTS_FROM + i].data, copy + i * slot, slot);
    if (!err)
        trainer_set_step(trainer->loop, step);
    mem_free(copy);
    return err;
}

void sph_bytes_free(void *bytes)
{
    mem_free(bytes);
}
