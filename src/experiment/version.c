/* SPDX-License-Identifier: MIT
 *
 * What this library is, what it was built with and what it runs on. */
#include <archive.h>
#include <csv.h>
#include <jansson.h>
#ifdef SPH_BLAS
#include <openblas_config.h>
#endif
#ifdef SPH_SLEEF
#include <sleef.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "compute/kernels.h"
#include "spherelu.h"

#ifndef SPH_VERSION
#define SPH_VERSION "0.1.0"
#endif

#define TEXT_OF(x)   #x
#define TEXT(x)      TEXT_OF(x)
#define DOTTED(a, b) TEXT(a) "." TEXT(b)

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef _OPENMP
#define THREADS "OpenMP " TEXT(_OPENMP)
#else
#define THREADS "POSIX, one set per call"
#endif

#ifdef SPH_ONEDNN
#define CONVOLUTIONS "oneDNN " SPH_ONEDNN
#else
#define CONVOLUTIONS "plain"
#endif

#ifdef SPH_SLEEF
#define SINES "SLEEF " DOTTED(SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR)
#else
#define SINES "libm"
#endif

#ifdef SPH_BLAS
#define MATRICES OPENBLAS_VERSION "(cblas)" /* begins and ends with a blank */
#else
#define MATRICES " built in"
#endif

/* One constant text per kernel table, so that nothing has to be built or kept. */
/* clang-format off */
#define FEATURES(kernels)                                                  \
    "kernels: " kernels "\n"                                               \
    "threads: " THREADS "\n"                                               \
    "convolutions: " CONVOLUTIONS "\n"                                     \
    "sines: " SINES "\n"                                                   \
    "matrices:" MATRICES "\n"                                              \
    "csv: libcsv " DOTTED(CSV_MAJOR, CSV_MINOR) "\n"                       \
    "archives: " ARCHIVE_VERSION_STRING "\n"                               \
    "json: jansson " JANSSON_VERSION "\n"                                  \
    "yaml: libyaml\n"                                                      \
    "figures: gnuplot, looked for when one is drawn\n"                     \
    "compiler: " COMPILER "\n"
/* clang-format on */

const char *sph_version(void)
{
    return SPH_VERSION;
}

const char *sph_features(void)
{
    const char *kernels = kernels_pick(SPH_F32, KERNELS_FASTEST)->name;
    return strcmp(kernels, "avx2") ? FEATURES("base") : FEATURES("avx2");
}

/* Per thread, as sph_error() is: the name has to be put together somewhere. */
const char *sph_cpu(void)
{
    static _Thread_local char name[sizeof(struct utsname) + 1];
#if defined(__x86_64__) || defined(__i386__)
    unsigned part[12];
    int known = 1;
    for (unsigned i = 0; i < 3; i++)
        known &=
            __get_cpuid(0x80000002u + i, &part[4 * i], &part[4 * i + 1], &part[4 * i + 2], &part[4 * i + 3]);
    if (known) {
        char brand[sizeof part + 1] = "";
        memcpy(brand, part, sizeof part);
        char *to = name;
        for (const char *from = brand; *from; from++) /* the brand is padded with blanks */
            if (*from != ' ' || (to > name && to[-1] != ' '))
                *to++ = *from;
        if (to > name && to[-1] == ' ')
            to--;
        *to = '\0';
        if (*name)
            return name;
    }
#endif
    struct utsname system;
    snprintf(name, sizeof name, "%s", uname(&system) ? "unknown" : system.machine);
    return name;
}
