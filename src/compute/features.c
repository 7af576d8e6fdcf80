/* SPDX-License-Identifier: MIT */
#include "compute/features.h"

#include <string.h>

#include "compute/kernels.h"
#include "spherelu/core.h"

/* One constant text per kernel table, so that nothing has to be built or kept. */
const char *sph_core_features(void)
{
    const char *kernels = kernels_pick(SPH_F32, KERNELS_FASTEST)->name;
    return strcmp(kernels, "avx2") ? FEATURES_BEGIN("base") FEATURES_END
                                   : FEATURES_BEGIN("avx2") FEATURES_END;
}
