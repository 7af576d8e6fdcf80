/* SPDX-License-Identifier: MIT */
#include "compute/blas.h"

#ifdef SPH_BLAS

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct blas blas;
static atomic_int tried;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Bytes of address space that a process with it takes, and its buffers for each core, with as much again to be
 * sure: it does not fail, it hangs. */
enum { START_BYTES = 1 << 30, CORE_BYTES = 128 << 20 };

static int has_room(void)
{
    struct rlimit space;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    rlim_t bytes = START_BYTES + (rlim_t)(cores > 0 ? cores : 1) * CORE_BYTES;
    return getrlimit(RLIMIT_AS, &space) < 0 || space.rlim_cur >= bytes; /* no limit is the largest number */
}

/* A function out of the library; ISO C knows no cast from void * to it. */
static int find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static void load(void)
{
    void *library = has_room() ? dlopen(SPH_BLAS, RTLD_NOW | RTLD_LOCAL) : NULL;
    struct blas found;
    atomic_store(&tried, 1);
    if (!library || !find(library, "cblas_sgemm", &found.sgemm) ||
        !find(library, "cblas_dgemm", &found.dgemm))
        return;
#ifndef _OPENMP /* its own threads would fight ours */
    __typeof__(&openblas_set_num_threads) set_threads;
    if (find(library, "openblas_set_num_threads", &set_threads))
        set_threads(1);
#endif
    blas = found;
}

const struct blas *blas_get(void)
{
    pthread_once(&once, load);
    return blas.sgemm ? &blas : NULL;
}

/* Does not load it only to tell. */
int blas_is_lost(void)
{
    return !has_room() || (atomic_load(&tried) && !blas_get());
}

#endif
