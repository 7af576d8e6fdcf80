/* SPDX-License-Identifier: MIT */
#include "layer/norm_rows.h"

static const struct norm_ops norm_none = {.name = "none"};

const struct norm_ops *norm_ops(sph_norm norm)
{
    static const struct norm_ops *const table[SPH_NORM_COUNT] = {
        [SPH_NORM_NONE] = &norm_none, [SPH_NORM_BN] = &norm_bn,   [SPH_NORM_LN] = &norm_ln,
        [SPH_NORM_MBN] = &norm_mbn,   [SPH_NORM_IMN] = &norm_imn, [SPH_NORM_GN] = &norm_gn,
    };
    return table[norm];
}

const struct norm_ops *norm_ops_at(sph_norm norm, sph_imn_place place)
{
    return norm == SPH_NORM_IMN && place == SPH_IMN_AT_OUTPUT ? &norm_imn_output : norm_ops(norm);
}

int sph_norm_is_batch(sph_norm norm)
{
    return norm_ops(norm)->batch;
}

int sph_norm_is_at_input(sph_norm norm)
{
    return norm_ops(norm)->at_input;
}
