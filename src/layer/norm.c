/* SPDX-License-Identifier: MIT */
#include "layer/norm_rows.h"
#include "layer/tool.h"

const struct norm_ops norm_NONE = {.name = "none"};

const struct norm_ops *norm_ops(sph_norm norm)
{
#define NORM_AT(id, word, help) [SPH_NORM_##id] = &norm_##id,
    static const struct norm_ops *const table[] = {SPH_NORMS(NORM_AT)};
    return table[norm];
}

const struct norm_ops *norm_ops_at(sph_norm norm, sph_imn_place place)
{
    return norm == SPH_NORM_IMN && place == SPH_IMN_AT_OUTPUT ? &norm_imn_output : norm_ops(norm);
}

int sph_norm_is_batch(sph_norm norm)
{
    return (unsigned)norm < SPH_NORM_COUNT && norm_ops(norm)->batch;
}

int sph_norm_is_at_input(sph_norm norm)
{
    return (unsigned)norm < SPH_NORM_COUNT && norm_ops(norm)->at_input;
}
