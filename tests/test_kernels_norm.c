/* SPDX-License-Identifier: MIT
 *
 * The normalizations: fast kernels against their plain twins, those against central differences. */
#include "kernel_compare.h"

static void normalizations_match_twins_and_work_in_place(void **state)
{
    (void)state;
    on_all_shapes(compare_normalization);
}

enum { NORM_ROWS = 6, NORM_M = 10, NORM_LD = 16, NORM_GROUPS = 2 };

/* sum of c * y for batch or group normalization of x, the former with relu; keeps xhat (group) or the mean
 * (batch), and inv, when asked to. */
static double norm_sum(const struct kernels *k, int group, const struct array *x, const struct array *gamma,
                       const struct array *beta, const struct array *c, struct array *xhat, struct array *inv)
{
    struct array z = same_as(x), y = matrix(k, NORM_ROWS, NORM_M, NORM_LD, 0, 0),
                 mean = vector(k, NORM_M, 0, 0);
    struct array scale = vector(k, group ? NORM_ROWS * NORM_GROUPS : NORM_M, 0, 0);
    const double epsilon = 1e-5;
    if (group) {
        k->group_norm(NORM_ROWS, NORM_M, NORM_GROUPS, z.at, NORM_LD, epsilon, gamma->at, beta->at, scale.at,
                      NULL, y.at, NORM_LD);
    } else {
        k->moments(NORM_ROWS, NORM_M, z.at, NORM_LD, mean.at, scale.at);
        for (size_t j = 0; j < NORM_M; j++)
            set(&scale, 0, j, 1 / sqrt(get(&scale, 0, j) / NORM_ROWS + epsilon));
        struct array factor = same_as(&scale);
        for (size_t j = 0; j < NORM_M; j++)
            set(&factor, 0, j, get(&scale, 0, j) * get(gamma, 0, j));
        k->normalize(NORM_ROWS, NORM_M, z.at, NORM_LD, mean.at, factor.at, beta->at, 1, y.at, NORM_LD);
        drop(&factor);
    }
    double sum = 0;
    for (size_t i = 0; i < NORM_ROWS; i++)
        for (size_t j = 0; j < NORM_M; j++)
            sum += get(c, i, j) * get(&y, i, j);
    if (xhat) {
        if (group)
            memcpy(xhat->at, z.at, NORM_ROWS * NORM_LD * k->size);
        else
            memcpy(xhat->at, mean.at, NORM_M * k->size);
        memcpy(inv->at, scale.at, scale.cols * k->size);
    }
    drop(&z), drop(&y), drop(&mean), drop(&scale);
    return sum;
}

static void normalization_gradients_match_differences(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    dice = 6;
    for (int group = 0; group < 2; group++) {
        struct array x = matrix(k, NORM_ROWS, NORM_M, NORM_LD, -1, 1),
                     dy = matrix(k, NORM_ROWS, NORM_M, NORM_LD, -1, 1);
        struct array gamma = vector(k, NORM_M, 0.5, 2), beta = vector(k, NORM_M, -1, 1),
                     dgamma = vector(k, NORM_M, 0, 0);
        struct array dbeta = same_as(&dgamma), xhat = same_as(&x), dx = same_as(&x);
        struct array inv = vector(k, group ? NORM_ROWS * NORM_GROUPS : NORM_M, 0, 0);
        norm_sum(k, group, &x, &gamma, &beta, &dy, &xhat, &inv);
        if (group) {
            k->group_norm_grad(NORM_ROWS, NORM_M, NORM_GROUPS, dy.at, NORM_LD, xhat.at, NORM_LD, inv.at,
                               gamma.at, dgamma.at, dbeta.at, NULL, dx.at, NORM_LD);
        } else {
            struct array scale = vector(k, NORM_M, 0, 0), across = same_as(&scale), offset = same_as(&scale);
            for (size_t j = 0; j < NORM_M; j++)
                set(&scale, 0, j, get(&gamma, 0, j) * get(&inv, 0, j));
            k->normalize_sums(NORM_ROWS, NORM_M, dy.at, NORM_LD, x.at, NORM_LD, xhat.at, scale.at, beta.at, 1,
                              dbeta.at, dgamma.at);
            for (size_t j = 0; j < NORM_M; j++) {
                double sum_dyz = get(&dgamma, 0, j), over = get(&scale, 0, j) / NORM_ROWS;
                set(&across, 0, j, -over * pow(get(&inv, 0, j), 2) * sum_dyz);
                set(&offset, 0, j, -over * get(&dbeta, 0, j));
                set(&dgamma, 0, j, sum_dyz * get(&inv, 0, j));
            }
            k->normalize_grad(NORM_ROWS, NORM_M, dy.at, NORM_LD, x.at, NORM_LD, xhat.at, scale.at, beta.at, 1,
                              scale.at, across.at, offset.at, dx.at, NORM_LD);
            drop(&scale), drop(&across), drop(&offset);
        }
        struct {
            struct array *at, *grad;
        } learned[] = {{&x, &dx}, {&gamma, &dgamma}, {&beta, &dbeta}};
        for (size_t which = 0; which < 3; which++)
            for (size_t i = 0; i < learned[which].at->rows; i++)
                for (size_t j = 0; j < NORM_M; j++) {
                    double at = get(learned[which].at, i, j);
                    set(learned[which].at, i, j, at + step_size);
                    double up = norm_sum(k, group, &x, &gamma, &beta, &dy, NULL, NULL);
                    set(learned[which].at, i, j, at - step_size);
                    double down = norm_sum(k, group, &x, &gamma, &beta, &dy, NULL, NULL);
                    set(learned[which].at, i, j, at);
                    assert_false(
                        differ((up - down) / (2 * step_size), get(learned[which].grad, i, j), slope_error));
                }
        drop(&x), drop(&dy), drop(&gamma), drop(&beta), drop(&dgamma), drop(&dbeta), drop(&xhat), drop(&dx),
            drop(&inv);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalizations_match_twins_and_work_in_place),
        cmocka_unit_test(normalization_gradients_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
