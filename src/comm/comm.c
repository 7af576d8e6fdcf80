/* SPDX-License-Identifier: MIT */
#include "comm/comm.h"

#include <stdint.h>

#include "base/error.h"

/* ---------------------------------------------------------------- one process */

static int alone_begin(void **self, size_t *rank, size_t *size)
{
    *self = NULL;
    *rank = 0;
    *size = 1;
    return 0;
}

static void alone_sum(void *self, void *values, size_t count, int is_f64)
{
    (void)self, (void)values, (void)count, (void)is_f64;
}

static void alone_gather(void *self, const void *mine, size_t bytes, void *all)
{
    (void)self;
    memcpy(all, mine, bytes);
}

static void alone_broadcast(void *self, size_t from, void *data, size_t bytes)
{
    (void)self, (void)from, (void)data, (void)bytes;
}

static void alone_end(void *self)
{
    (void)self;
}

const struct comm_row comm_alone = {.version = COMM_VERSION,
                                    .name = "one process",
                                    .begin = alone_begin,
                                    .sum = alone_sum,
                                    .gather = alone_gather,
                                    .broadcast = alone_broadcast,
                                    .end = alone_end};

/* ---------------------------------------------------------------- shares */

struct comm_share comm_share_of(size_t size, size_t rank, size_t count)
{
    size_t whole = count / size, more = count % size;
    return (struct comm_share){rank * whole + (rank < more ? rank : more), whole + (rank < more)};
}

struct comm_share comm_share(const struct comm *comm, size_t count)
{
    return comm_many(comm) ? comm_share_of(comm->size, comm->rank, count) : (struct comm_share){0, count};
}

/* ---------------------------------------------------------------- agreement */

int comm_agree(struct comm *comm, int err)
{
    if (!comm_many(comm))
        return err;
    if (comm->failed)
        return err ? err : comm->failed;
    double failed = err < 0;
    comm_sum(comm, &failed, 1, 1);
    if (!(failed > 0))
        return 0;
    struct failure failure = {0};
    size_t from = 0;
    for (; from < comm->size; from++) { /* rank by rank, until one has something to say */
        if (from == comm->rank && err < 0) {
            failure_save(&failure);
            failure.code = err;
        }
        comm_broadcast(comm, from, &failure, sizeof failure);
        if (failure.code < 0)
            break;
    }
    comm->failed = failure_set(&failure);
    if (from && failed < (double)comm->size)
        sph_fail_in(comm->failed, "rank %zu", from);
    return comm->failed;
}

size_t comm_differs(const struct comm *comm, const void *data, size_t bytes)
{
    uint64_t hash = 14695981039346656037u, first; /* FNV-1a */
    size_t found = 0;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    first = hash;
    comm_broadcast(comm, 0, &first, sizeof first);
    for (size_t rank = 1; rank < comm_size(comm) && !found; rank++) {
        double differs = rank == comm->rank && hash != first;
        comm_sum(comm, &differs, 1, 1);
        found = differs > 0 ? rank : 0;
    }
    return found;
}
