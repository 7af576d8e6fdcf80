/* SPDX-License-Identifier: MIT
 *
 * OpenBLAS, loaded at the first large product. If it were linked, it would start before main, where it
 * takes hundreds of megabytes and does not return if a limit (ulimit -v) is lower. */
#ifndef SPH_COMPUTE_BLAS_H
#define SPH_COMPUTE_BLAS_H

struct blas; /* in a build without it, all that there is */

#ifdef SPH_BLAS
#include <cblas.h>

struct blas {
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&cblas_dgemm) dgemm;
};

/* NULL: it is not to be had, and never will be in this process. */
const struct blas *blas_get(void);

/* 1: the build knows it, and this process has to do without: its large products are other sums. */
int blas_is_lost(void);
#else
static inline int blas_is_lost(void)
{
    return 0;
}
#endif

#endif
