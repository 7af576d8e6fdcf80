/* SPDX-License-Identifier: MIT
 *
 * The processes that train one network together (ranks) and their communication. An implementation is a row
 * of functions; the MPI row is a module that is loaded when needed (mpi/mpi.c), so the core does not depend
 * on MPI. All ranks call the same functions in the same order. With a comm that is NULL or has one rank,
 * nothing is exchanged. */
#ifndef SPH_COMM_COMM_H
#define SPH_COMM_COMM_H

#include <stddef.h>
#include <string.h>

/* Changes when the row does: a module of another version is refused. */
enum { COMM_VERSION = 1 };

/* A function that cannot do its work ends the program, as MPI does by default: the other ranks would wait forever. */
struct comm_row {
    int version;
    const char *name; /* of the library that does it, with its version */
    /* *self, *rank and *size <- those of this process; below 0: it failed */
    int (*begin)(void **self, size_t *rank, size_t *size);
    /* values (count) <- the sums over the ranks, the same bits on all of them */
    void (*sum)(void *self, void *values, size_t count, int is_f64);
    /* all (ranks, bytes) <- what each rank has, in their order */
    void (*gather)(void *self, const void *mine, size_t bytes, void *all);
    void (*broadcast)(void *self, size_t from, void *data, size_t bytes);
    void (*end)(void *self);
};

extern const struct comm_row comm_alone; /* one process */

struct comm {
    const struct comm_row *row;
    void *self;
    size_t rank, size;
    int muted;  /* this rank acts as if it were alone: all ranks are, or it alone has something to find out */
    int failed; /* what comm_agree found; the work together is over */
};

static inline int comm_many(const struct comm *comm)
{
    return comm && comm->size > 1 && !comm->muted;
}

/* The rank that writes files and talks. */
static inline int comm_first(const struct comm *comm)
{
    return !comm || !comm->rank;
}

static inline size_t comm_size(const struct comm *comm)
{
    return comm_many(comm) ? comm->size : 1;
}

static inline void comm_sum(const struct comm *comm, void *values, size_t count, int is_f64)
{
    if (comm_many(comm) && count)
        comm->row->sum(comm->self, values, count, is_f64);
}

static inline void comm_gather(const struct comm *comm, const void *mine, size_t bytes, void *all)
{
    if (comm_many(comm))
        comm->row->gather(comm->self, mine, bytes, all);
    else
        memcpy(all, mine, bytes);
}

static inline void comm_broadcast(const struct comm *comm, size_t from, void *data, size_t bytes)
{
    if (comm_many(comm) && bytes)
        comm->row->broadcast(comm->self, from, data, bytes);
}

/* Consecutive items of `count` that are this rank's: their lengths differ by 1 at most. */
struct comm_share {
    size_t first, count;
};
struct comm_share comm_share(const struct comm *comm, size_t count);
struct comm_share comm_share_of(size_t size, size_t rank, size_t count);

/* err: what this rank came to. Returns 0 if no rank failed; else all ranks get the failure of the first that did, which
 * says so if others did not fail. After that no rank exchanges anything here any more: later calls return that failure. */
int comm_agree(struct comm *comm, int err);

/* Whether these bytes are the same on all ranks: the first rank that has others than rank 0, or 0. */
size_t comm_differs(const struct comm *comm, const void *data, size_t bytes);

#endif
