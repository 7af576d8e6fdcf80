/* SPDX-License-Identifier: MIT */
#include "compute/threads.h"

#include "compute/denormals.h"
#include "spherelu/base.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef _OPENMP

size_t threads_limit(void)
{
    return 1024;
}

void threads_run(size_t workers, void (*work)(void *context, size_t worker), void *context)
{
    if (workers <= 1) {
        if (omp_get_max_threads() != 1 && !omp_in_parallel())
            omp_set_num_threads(1); /* this thread's setting only: BLAS reads it */
        work(context, 0);
        return;
    }
    unsigned mode = denormals_mode();
#pragma omp parallel num_threads((int)workers)
    {
        unsigned own = denormals_mode();
        denormals_mode_set(mode);
        /* The runtime may give fewer threads than asked for: the rest is done in turn. */
        size_t team = (size_t)omp_get_num_threads();
        for (size_t worker = (size_t)omp_get_thread_num(); worker < workers; worker += team)
            work(context, worker);
        denormals_mode_set(own);
    }
}

int threads_setting(void)
{
    return omp_get_max_threads();
}

void threads_set_back(int setting)
{
    if (omp_get_max_threads() != setting)
        omp_set_num_threads(setting);
}

size_t sph_processors(void)
{
    int may = omp_get_max_threads(), are = omp_get_num_procs();
    return (size_t)(may < are ? may : are);
}

#else

/* Without OpenMP: threads for each call. They cost more than a small step is worth, and give the same
 * numbers. Where there are none, as in a browser, the caller does all the work. */
#include <pthread.h>
#include <unistd.h>

enum { WORKERS_MOST = 64 };

size_t threads_limit(void)
{
    return WORKERS_MOST;
}

struct share {
    void (*work)(void *context, size_t worker);
    void *context;
    size_t worker;
    unsigned mode;
};

static void *run_share(void *self)
{
    struct share *share = self;
    denormals_mode_set(share->mode);
    share->work(share->context, share->worker);
    return NULL;
}

void threads_run(size_t workers, void (*work)(void *context, size_t worker), void *context)
{
    struct share share[WORKERS_MOST];
    pthread_t thread[WORKERS_MOST];
    size_t started = 1;
    for (; started < workers; started++) {
        share[started] = (struct share){work, context, started, denormals_mode()};
        if (pthread_create(&thread[started], NULL, run_share, &share[started]))
            break;
    }
    work(context, 0);
    for (size_t worker = started; worker < workers; worker++) /* no thread was to be had: in turn */
        work(context, worker);
    for (size_t worker = 1; worker < started; worker++)
        pthread_join(thread[worker], NULL);
}

int threads_setting(void)
{
    return 1;
}

void threads_set_back(int setting)
{
    (void)setting;
}

size_t sph_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}

#endif
