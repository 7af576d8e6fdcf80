/* SPDX-License-Identifier: MIT */
#include "compute/features.h"

#include <string.h>

#include "base/tool.h"
#include "spherelu/core.h"

#define FEATURES(kernels, matrices) FEATURES_BEGIN(kernels, matrices) FEATURES_END

/* One constant text per case, so that nothing has to be built or kept. */
const char *sph_core_features(void)
{
    return FEATURES_CHOOSE(FEATURES);
}

const char *sph_core_lacks(void)
{
    return blas_is_lost() ? FEATURES_LACK : "";
}
