/* SPDX-License-Identifier: MIT
 *
 * What ranks exchange, by MPI: compiled by mpicc into a module for each family. MPI's own handling of errors ends all ranks with a
 * message when a call fails. */
#include <mpi.h>

#include "comm/comm.h"

#if defined OMPI_MAJOR_VERSION
#define TEXT(x)    #x
#define VERSION(x) TEXT(x)
#define LIBRARY                                                                                              \
    "Open MPI " VERSION(OMPI_MAJOR_VERSION) "." VERSION(OMPI_MINOR_VERSION) "." VERSION(OMPI_RELEASE_VERSION)
#elif defined MPICH_VERSION
#define LIBRARY "MPICH " MPICH_VERSION
#else
#define LIBRARY "MPI"
#endif

enum { MOST = 1 << 28 }; /* items of a call, which counts in int */

static int begin(void **self, size_t *rank, size_t *size)
{
    int ready = 0, level, number, count;
    if (MPI_Initialized(&ready) || (!ready && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level)) ||
        MPI_Comm_rank(MPI_COMM_WORLD, &number) || MPI_Comm_size(MPI_COMM_WORLD, &count))
        return -1;
    *self = NULL;
    *rank = (size_t)number;
    *size = (size_t)count;
    return 0;
}

static void sum(void *self, void *values, size_t count, int is_f64)
{
    (void)self;
    for (size_t done = 0; done < count; done += MOST) {
        int now = count - done < MOST ? (int)(count - done) : MOST;
        void *at = (char *)values + done * (is_f64 ? sizeof(double) : sizeof(float));
        MPI_Allreduce(MPI_IN_PLACE, at, now, is_f64 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void gather(void *self, const void *mine, size_t bytes, void *all)
{
    (void)self;
    MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void broadcast(void *self, size_t from, void *data, size_t bytes)
{
    (void)self;
    for (size_t done = 0; done < bytes; done += MOST)
        MPI_Bcast((char *)data + done, bytes - done < MOST ? (int)(bytes - done) : MOST, MPI_BYTE, (int)from,
                  MPI_COMM_WORLD);
}

static void end(void *self)
{
    (void)self;
    MPI_Finalize();
}

__attribute__((visibility("default"))) extern const struct comm_row spherelu_comm;
const struct comm_row spherelu_comm = {.version = COMM_VERSION,
                                       .name = LIBRARY,
                                       .begin = begin,
                                       .sum = sum,
                                       .gather = gather,
                                       .broadcast = broadcast,
                                       .end = end};
