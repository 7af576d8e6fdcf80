/* SPDX-License-Identifier: MIT */
#include "layer/act.h"

#include "compute/kernels.h"
#include "layer/tool.h"

static const struct act_ops act_identity = {
    .name = "identity",
    .identity = 1,
    .homogeneous = 1,
    .rescales = 1,
    .shows_slope = 1,
    .two_lines = 1,
    .below = 1,
};

/* max(0, z), slope 0 at 0 */
static const struct act_ops act_relu = {
    .name = "relu",
    .break_at = {ACT_AT_ZERO},
    .breaks = 1,
    .homogeneous = 1,
    .rescales = 1,
    .shows_slope = 1,
    .sums_bias = 1,
    .is_relu = 1,
    .two_lines = 1,
    .below = 0,
};

/* z above 0, 0.01 z elsewhere */
static const struct act_ops act_leaky_relu = {
    .name = "leaky_relu",
    .break_at = {ACT_AT_ZERO},
    .breaks = 1,
    .homogeneous = 1,
    .rescales = 1,
    .shows_slope = 1,
    .sums_bias = 1,
    .two_lines = 1,
    .below = LEAKY_SLOPE,
};

/* z above 0, exp(z) - 1 elsewhere: what jumps at 0 is the curvature, and that is its boundary */
static const struct act_ops act_elu = {
    .name = "elu",
    .break_at = {ACT_AT_ZERO},
    .breaks = 1,
    .sums_bias = 1,
};

/* t_right + a_right (z - t_right) from t_right on, t_left + a_left (z - t_left) up to t_left, z between. It
 * starts as a relu. */
static const struct act_ops act_srelu = {
    .name = "srelu",
    .shape = {[SRELU_T_RIGHT] = {"act.t_right", .first = 1, .scales = 1},
              [SRELU_A_RIGHT] = {"act.a_right", .first = 1},
              [SRELU_T_LEFT] = {"act.t_left", .first = 0, .scales = 1},
              [SRELU_A_LEFT] = {"act.a_left", .first = 0}},
    .shapes = SRELU_SHAPE,
    .break_at = {SRELU_T_LEFT, SRELU_T_RIGHT},
    .breaks = 2,
    .rescales = 1,
};

const struct act_ops *act_ops(sph_act act)
{
    static const struct act_ops *const table[SPH_ACT_COUNT] = {
        [SPH_ACT_IDENTITY] = &act_identity,     [SPH_ACT_RELU] = &act_relu,
        [SPH_ACT_LEAKY_RELU] = &act_leaky_relu, [SPH_ACT_ELU] = &act_elu,
        [SPH_ACT_SRELU] = &act_srelu,
    };
    return table[act];
}

int sph_act_breaks(sph_act act)
{
    return (unsigned)act < SPH_ACT_COUNT ? (int)act_ops(act)->breaks : 0;
}
