/* SPDX-License-Identifier: MIT */
#include "data/loader.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

enum { READY_MOST = 384, READY_BYTES = 256 << 20, READY_LEAST = 4 };

/* A row on its way. Number n of the sequence is in slot n % slots. */
struct slot {
    uint8_t *bytes;
    int done, err;
    struct failure *failure; /* of err; NULL: there was no memory even for that */
};

struct loader {
    struct loader_maker maker;
    size_t workers, slots;
    void *own; /* the desk of who takes */
    uint8_t *lent;

    pthread_t *thread; /* (started) */
    size_t started;
    pthread_mutex_t lock;
    pthread_cond_t space, ready; /* a slot is free; a row is done */
    struct slot *slot;           /* (slots) */

    /* the sequence */
    size_t epoch, count;
    const uint32_t *rows, *order;
    size_t claimed, taken; /* numbers below were begun by a thread, were handed out */
    int held;              /* the last one handed out is still lent */
    int stop;
    double waited;
};

static uint32_t row_at(const struct loader *loader, size_t n)
{
    uint32_t place = loader->order ? loader->order[n] : (uint32_t)n;
    return loader->rows ? loader->rows[place] : place;
}

/* ---------------------------------------------------------------- a thread */

static void keep_failure(struct slot *slot)
{
    struct failure failure; /* before anything else fails */
    failure_save(&failure);
    if (!slot->failure)
        slot->failure = mem_get(1, sizeof failure);
    if (slot->failure)
        *slot->failure = failure;
}

static void *work(void *self)
{
    struct loader *loader = self;
    const struct loader_maker *maker = &loader->maker;
    void *desk = maker->desk(maker->self);
    pthread_mutex_lock(&loader->lock);
    for (;;) {
        while (!loader->stop && loader->claimed < loader->count &&
               loader->claimed >= loader->taken - (size_t)loader->held + loader->slots)
            pthread_cond_wait(&loader->space, &loader->lock);
        if (loader->stop || loader->claimed == loader->count)
            break;
        size_t n = loader->claimed++;
        uint32_t row = row_at(loader, n);
        struct slot *slot = &loader->slot[n % loader->slots];
        pthread_mutex_unlock(&loader->lock);
        if (!slot->bytes)
            slot->bytes = mem_get(maker->bytes, 1);
        int err = desk && slot->bytes ? maker->bring(maker->self, desk, loader->epoch, row, slot->bytes)
                                      : SPH_EMEMORY;
        if (err < 0)
            keep_failure(slot);
        pthread_mutex_lock(&loader->lock);
        slot->err = err;
        slot->done = 1;
        pthread_cond_signal(&loader->ready);
    }
    pthread_mutex_unlock(&loader->lock);
    if (desk)
        maker->desk_free(maker->self, desk);
    return NULL;
}

/* Ends the sequence: what is not taken yet is brought at the time of asking. */
static void halt(struct loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    loader->stop = 1;
    pthread_cond_broadcast(&loader->space);
    pthread_mutex_unlock(&loader->lock);
    for (size_t i = 0; i < loader->started; i++)
        pthread_join(loader->thread[i], NULL);
    loader->started = loader->count = loader->claimed = loader->taken = 0;
    loader->held = loader->stop = 0;
    for (size_t i = 0; i < loader->slots; i++)
        loader->slot[i].done = 0;
}

/* ---------------------------------------------------------------- who asks */

int loader_new(struct loader **out, const struct loader_maker *maker, size_t workers)
{
    struct loader *loader = mem_get(1, sizeof *loader);
    if (!loader)
        return SPH_EMEMORY;
    loader->maker = *maker;
    loader->workers = workers;
    size_t most = READY_BYTES / (maker->bytes ? maker->bytes : 1);
    loader->slots = most > READY_MOST ? READY_MOST : most < READY_LEAST ? READY_LEAST : most;
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->space, NULL);
    pthread_cond_init(&loader->ready, NULL);
    loader->thread = mem_get(workers, sizeof *loader->thread);
    loader->slot = mem_get(loader->slots, sizeof *loader->slot);
    loader->lent = mem_get(maker->bytes, 1);
    if (!loader->thread || !loader->slot || !loader->lent) {
        loader_free(loader);
        return SPH_EMEMORY;
    }
    *out = loader;
    return 0;
}

void loader_free(struct loader *loader)
{
    if (!loader)
        return;
    if (loader->slot)
        halt(loader);
    if (loader->own)
        loader->maker.desk_free(loader->maker.self, loader->own);
    for (size_t i = 0; loader->slot && i < loader->slots; i++) {
        mem_free(loader->slot[i].bytes);
        mem_free(loader->slot[i].failure);
    }
    pthread_cond_destroy(&loader->ready);
    pthread_cond_destroy(&loader->space);
    pthread_mutex_destroy(&loader->lock);
    mem_free(loader->thread);
    mem_free(loader->slot);
    mem_free(loader->lent);
    mem_free(loader);
}

int loader_begin(struct loader *loader, size_t epoch, const uint32_t *rows, const uint32_t *order,
                 size_t count)
{
    halt(loader);
    loader->epoch = epoch;
    loader->rows = rows;
    loader->order = order;
    loader->count = count;
    for (size_t i = 0; i < loader->workers && i < count; i++)
        if (pthread_create(&loader->thread[loader->started], NULL, work, loader) == 0)
            loader->started++;
    if (!loader->started)
        loader->count = 0; /* no thread to be had: rows come at the time of asking */
    return 0;
}

static int bring_now(struct loader *loader, uint32_t row, const uint8_t **bytes)
{
    const struct loader_maker *maker = &loader->maker;
    if (!loader->own && !(loader->own = maker->desk(maker->self)))
        return SPH_EMEMORY;
    *bytes = loader->lent;
    return maker->bring(maker->self, loader->own, loader->epoch, row, loader->lent);
}

int loader_take(struct loader *loader, uint32_t row, const uint8_t **bytes)
{
    pthread_mutex_lock(&loader->lock);
    if (loader->held) { /* the one before may go, and its memory where no row comes to it any more */
        struct slot *last = &loader->slot[(loader->taken - 1) % loader->slots];
        if (loader->taken - 1 + loader->slots >= loader->count) {
            mem_free(last->bytes);
            last->bytes = NULL;
        }
        loader->held = 0;
        pthread_cond_signal(&loader->space);
    }
    int next = loader->taken < loader->count && row_at(loader, loader->taken) == row;
    if (!next) {
        pthread_mutex_unlock(&loader->lock);
        return bring_now(loader, row, bytes);
    }
    struct slot *slot = &loader->slot[loader->taken % loader->slots];
    if (!slot->done) {
        double from = clock_seconds();
        while (!slot->done)
            pthread_cond_wait(&loader->ready, &loader->lock);
        loader->waited += clock_seconds() - from;
    }
    slot->done = 0;
    loader->taken++;
    loader->held = 1;
    int err = slot->err;
    *bytes = slot->bytes;
    pthread_mutex_unlock(&loader->lock);
    if (err < 0)
        return slot->failure ? failure_set(slot->failure) : sph_fail(SPH_EMEMORY, "out of memory: an image");
    return 0;
}

double loader_waited(const struct loader *loader)
{
    return loader->waited;
}
