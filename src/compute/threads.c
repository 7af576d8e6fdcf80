/* SPDX-License-Identifier: MIT */
#include "compute/threads.h"

#include <sched.h>

#ifdef _OPENMP
#include <omp.h>
#endif

size_t threads_available(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
    return 1;
}

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
#pragma omp parallel num_threads((int)workers)
    {
        /* The runtime may give fewer threads than asked for: the rest is done in turn. */
        size_t team = (size_t)omp_get_num_threads();
        for (size_t worker = (size_t)omp_get_thread_num(); worker < workers; worker += team)
            work(context, worker);
    }
}

#else

size_t threads_limit(void)
{
    return 1;
}

void threads_run(size_t workers, void (*work)(void *context, size_t worker), void *context)
{
    for (size_t worker = 0; worker < workers; worker++)
        work(context, worker);
}

#endif
