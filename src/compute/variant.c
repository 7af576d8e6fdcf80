/* SPDX-License-Identifier: MIT
 *
 * One variant of the kernel table; see real.h for what the build defines. */
#include "compute/real.h"

#include "compute/copy.c"
#include "compute/matrix.c"
#include "compute/unit_columns.c"
#include "compute/angles.c"
#include "compute/arcs.c"
#include "compute/units.c"
#include "compute/moves.c"
#include "compute/activation.c"
#include "compute/normalize.c"
#include "compute/group_norm.c"
#include "compute/image.c"
#include "compute/depthwise.c"
#include "compute/winograd.c"
#include "compute/loss.c"
#include "compute/update.c"

#ifdef KERNELS_FAST
#define PICK(name) fast_##name
#define PICK_LANES LANES
#if defined(__AVX512F__)
#define VARIANT "avx512"
#elif defined(__AVX2__)
#define VARIANT "avx2"
#else
#define VARIANT "base"
#endif
#else
#define PICK(name) plain_##name
#define PICK_LANES 1
#define VARIANT    "plain"
#endif

extern const struct kernels KERNELS_TABLE;

const struct kernels KERNELS_TABLE = {
    .name = VARIANT,
    .dtype = REAL_DTYPE,
    .size = sizeof(real),
    .lanes = PICK_LANES,
    .to_double = plain_to_double,
    .from_double = plain_from_double,
    .transpose = PICK(transpose),
    .add = PICK(add),
    .sum = PICK(sum),
    .sum_grad = PICK(sum_grad),
    .sum_squares = PICK(sum_squares),
    .all_finite = PICK(all_finite),
    .gemm = PICK(gemm),
    .dots = PICK(dots),
    .column_dots = PICK(column_dots),
    .column_combine = PICK(column_combine),
    .column_sums = PICK(column_sums),
    .polar = PICK(polar),
    .polar_grad = PICK(polar_grad),
    .polar_natural = PICK(polar_natural),
    .arcs = PICK(arcs),
    .sincos = PICK(sincos),
    .radius = plain_radius,
    .radius_grad = plain_radius_grad,
    .negative_product = plain_negative_product,
    .lift = plain_lift,
    .length = plain_length,
    .length_grad = plain_length_grad,
    .moves = PICK(moves),
    .spread = PICK(spread),
    .largest = PICK(largest),
    .act = {PICK(identity), PICK(relu), PICK(leaky_relu), PICK(elu), PICK(srelu)},
    .act_grad = {PICK(identity_grad), PICK(relu_grad), PICK(leaky_relu_grad), PICK(elu_grad),
                 PICK(srelu_grad)},
    .moments = PICK(moments),
    .shift = PICK(shift),
    .normalize = PICK(normalize),
    .normalize_sums = PICK(normalize_sums),
    .normalize_grad = PICK(normalize_grad),
    .group_norm = PICK(group_norm),
    .group_norm_grad = PICK(group_norm_grad),
    .patches = plain_patches,
    .patches_grad = plain_patches_grad,
    .max_pool = PICK(max_pool),
    .max_pool_grad = plain_max_pool_grad,
    .avg_pool = PICK(avg_pool),
    .avg_pool_grad = PICK(avg_pool_grad),
    .image_norm = PICK(image_norm),
    .image_norm_grad = PICK(image_norm_grad),
    .depthwise = PICK(depthwise),
    .depthwise_data = PICK(depthwise_data),
    .depthwise_weights = PICK(depthwise_weights),
#if defined(KERNELS_FAST) && REAL_BITS == 32
    .winograd_scratch = fast_winograd_scratch,
    .winograd = fast_winograd,
    .winograd_weights = fast_winograd_weights,
#endif
    .loss = {[SPH_LOSS_MAE] = PICK(mae),
             [SPH_LOSS_MSE] = PICK(mse),
             [SPH_LOSS_HUBER] = PICK(huber),
             [SPH_LOSS_POISSON] = PICK(poisson),
             [SPH_LOSS_BCE] = PICK(bce),
             [SPH_LOSS_CE] = PICK(ce)},
    .update = {[UPDATE_ADAM] = PICK(adam),
               [UPDATE_SGD] = PICK(sgd),
               [UPDATE_RMSPROP] = PICK(rmsprop),
               [UPDATE_LION] = PICK(lion)},
};
