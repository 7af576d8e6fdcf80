/* SPDX-License-Identifier: MIT
 *
 * Worker threads. The library, OpenBLAS and oneDNN share one team, that of OpenMP. Builds without OpenMP
 * (clang) create threads, or run without threads if the system has none. */
#ifndef SPH_COMPUTE_THREADS_H
#define SPH_COMPUTE_THREADS_H

#include <stddef.h>

/* The most workers a call can have. */
size_t threads_limit(void);

/* work(context, worker) for worker = 0 .. workers-1, all at once; returns when all are done. Workers take
 * the caller's floating-point mode (denormals.h). Inside, and after this call on the calling thread, BLAS uses
 * no threads of its own beyond `workers`. */
void threads_run(size_t workers, void (*work)(void *context, size_t worker), void *context);

/* OpenMP's setting of the calling thread, which threads_run changes. Public calls that compute put it back before they
 * return: it is the caller's. */
int threads_setting(void);
void threads_set_back(int setting);

#endif
