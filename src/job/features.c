/* SPDX-License-Identifier: MIT
 *
 * What the whole library was built with. */
#include <archive.h>
#include <csv.h>
#include <jansson.h>
#include <string.h>

#include "compute/features.h"
#include "compute/kernels.h"
#include "spherelu.h"

#ifdef SPH_DOWNLOADS
#define FEATURES_DOWNLOADS "downloads: libcurl, loaded when one is asked for\n"
#else
#define FEATURES_DOWNLOADS "downloads: none\n"
#endif

#define FEATURES_FILES                                                                                       \
    "csv: libcsv " FEATURES_DOTTED(CSV_MAJOR, CSV_MINOR) "\n"                                                \
                                                         "archives: " ARCHIVE_VERSION_STRING                 \
                                                         "\n" FEATURES_DOWNLOADS                             \
                                                         "json: jansson " JANSSON_VERSION "\n"               \
                                                         "yaml: libyaml\n"                                   \
                                                         "figures: gnuplot, looked for when one is drawn\n"

#define FEATURES(kernels) FEATURES_BEGIN(kernels) FEATURES_FILES FEATURES_END

const char *sph_features(void)
{
    const char *kernels = kernels_pick(SPH_F32, KERNELS_FASTEST)->name;
    return strcmp(kernels, "avx2") ? FEATURES("base") : FEATURES("avx2");
}
