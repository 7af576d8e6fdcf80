/* SPDX-License-Identifier: MIT
 *
 * What the core was built with and can use on this machine, as constant texts with one "name: value" per
 * line. A larger library adds its lines between FEATURES_BEGIN and FEATURES_END. */
#ifndef SPH_COMPUTE_FEATURES_H
#define SPH_COMPUTE_FEATURES_H

#include "compute/blas.h"
#include "compute/kernels.h"

#ifdef SPH_BLAS
#include <openblas_config.h>
#endif
#ifdef SPH_SLEEF
#include <sleef.h>
#endif

#define FEATURES_TEXT_OF(x)   #x
#define FEATURES_TEXT(x)      FEATURES_TEXT_OF(x)
#define FEATURES_DOTTED(a, b) FEATURES_TEXT(a) "." FEATURES_TEXT(b)

#ifdef __clang__
#define FEATURES_COMPILER "clang " __clang_version__
#else
#define FEATURES_COMPILER "gcc " __VERSION__
#endif

#ifdef _OPENMP
#define FEATURES_THREADS "OpenMP " FEATURES_TEXT(_OPENMP)
#else
#define FEATURES_THREADS "POSIX, one set per call"
#endif

#ifdef SPH_ONEDNN
#define FEATURES_CONVOLUTIONS "oneDNN " SPH_ONEDNN
#else
#define FEATURES_CONVOLUTIONS "plain"
#endif

#ifdef SPH_SLEEF
#define FEATURES_SINES "SLEEF " FEATURES_DOTTED(SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR)
#else
#define FEATURES_SINES "libm"
#endif

#ifdef SPH_BLAS
#define FEATURES_MATRICES "matrices:" OPENBLAS_VERSION "(cblas)\n"
#define FEATURES_NO_BLAS                                                                                     \
    "matrices: built in; not enough memory for" OPENBLAS_VERSION "here, large products have other last "     \
    "bits\n"
#define FEATURES_LACK                                                                                        \
    "not enough memory for" OPENBLAS_VERSION                                                                 \
    "under this limit of the address space (ulimit -v): large layers have other last bits"
#else
#define FEATURES_MATRICES "matrices: built in\n"
#define FEATURES_NO_BLAS  FEATURES_MATRICES
#define FEATURES_LACK     ""
#endif

/* Of these texts the one that is true of this process: FEATURES(kernels, matrices). */
#define FEATURES_OF(FEATURES, kernels)                                                                       \
    (blas_is_lost() ? FEATURES(kernels, FEATURES_NO_BLAS) : FEATURES(kernels, FEATURES_MATRICES))
#define FEATURES_CHOOSE(FEATURES)                                                                            \
    (!strcmp(kernels_pick(SPH_F32, KERNELS_FASTEST)->name, "avx512") ? FEATURES_OF(FEATURES, "avx512")       \
     : !strcmp(kernels_pick(SPH_F32, KERNELS_FASTEST)->name, "avx2") ? FEATURES_OF(FEATURES, "avx2")         \
                                                                     : FEATURES_OF(FEATURES, "base"))

#define FEATURES_BEGIN(kernels, matrices)                                                                    \
    "kernels: " kernels "\n"                                                                                 \
    "threads: " FEATURES_THREADS "\n"                                                                        \
    "convolutions: " FEATURES_CONVOLUTIONS "\n"                                                              \
    "sines: " FEATURES_SINES "\n" matrices

#define FEATURES_END "compiler: " FEATURES_COMPILER "\n"

#endif
