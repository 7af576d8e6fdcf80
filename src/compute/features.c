/* SPDX-License-Identifier: MIT */
#include "compute/features.h"

#include <string.h>

#include "base/tool.h"
#include "spherelu/core.h"

const char *sph_core_lacks(void)
{
    return blas_is_lost() ? FEATURES_LACK : "";
}
