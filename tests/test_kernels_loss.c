/* SPDX-License-Identifier: MIT
 *
 * Losses: fast kernels against their plain twins, those against formulas written out anew and
 * central differences. */
#include "kernel_compare.h"

/* ---------------------------------------------------------------- losses */

static void losses_match_twins(void **state)
{
    (void)state;
    on_all_shapes(compare_loss);
}

/* The definitions, naive, in long double. */
static double naive_loss(int loss, const struct array *p, const struct array *t, double smoothing,
                         double delta)
{
    long double sum = 0;
    size_t k = p->cols;
    for (size_t i = 0; i < p->rows; i++) {
        long double all = 0;
        for (size_t j = 0; j < k; j++)
            all += expl((long double)get(p, i, j));
        for (size_t j = 0; j < k; j++) {
            long double at = get(p, i, j), chance = 1 / (1 + expl(-at));
            long double want = loss == SPH_LOSS_CE ? (j == (size_t)get(t, i, 0)) : get(t, i, j);
            if (loss == SPH_LOSS_MAE)
                sum += fabsl(at - want);
            else if (loss == SPH_LOSS_MSE)
                sum += (at - want) * (at - want);
            else if (loss == SPH_LOSS_HUBER)
                sum += fabsl(at - want) < delta ? (at - want) * (at - want) / 2
                                                : delta * (fabsl(at - want) - delta / 2);
            else if (loss == SPH_LOSS_POISSON)
                sum += expl(at) - want * at;
            else if (loss == SPH_LOSS_BCE) {
                want = (1 - smoothing) * want + smoothing / 2;
                sum -= want * logl(chance) + (1 - want) * logl(1 - chance);
            } else
                sum -= ((1 - smoothing) * want + smoothing / (double)k) * logl(expl(at) / all);
        }
    }
    return (double)sum;
}

static void losses_match_definitions_and_differences(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    dice = 8;
    for (int loss = 0; loss < SPH_LOSS_COUNT; loss++)
        for (int smooth = 0; smooth < (loss >= SPH_LOSS_BCE ? 2 : 1); smooth++) {
            enum { ROWS = 4, K = 5, LD = 8 };
            struct array p = matrix(k, ROWS, K, LD, -3, 3), t = targets(k, loss, ROWS, K, K),
                         dp = same_as(&p);
            struct loss_args args = {.rows = ROWS,
                                     .k = K,
                                     .p = p.at,
                                     .ldp = LD,
                                     .t = t.at,
                                     .ldt = K,
                                     .weight = 0.25,
                                     .smoothing = smooth * 0.2,
                                     .delta = 0.7,
                                     .dp = dp.at,
                                     .lddp = LD};
            double value = k->loss[loss](&args);
            assert_false(differ(0.25 * naive_loss(loss, &p, &t, args.smoothing, args.delta), value, 1e-14));
            args.dp = NULL;
            for (size_t i = 0; i < ROWS; i++)
                for (size_t j = 0; j < K; j++) {
                    double at = get(&p, i, j);
                    set(&p, i, j, at + step_size);
                    double up = k->loss[loss](&args);
                    set(&p, i, j, at - step_size);
                    double down = k->loss[loss](&args);
                    set(&p, i, j, at);
                    assert_false(differ((up - down) / (2 * step_size), get(&dp, i, j), slope_error));
                }
            drop(&p), drop(&t), drop(&dp);
        }
}

static void losses_stay_finite_for_huge_logits(void **state)
{
    (void)state;
    for (int n = 0; n < PAIRS; n++) {
        struct pair on = pair_of(n);
        for (const struct kernels *k = on.plain; k; k = k == on.plain ? on.fast : NULL)
            for (size_t width = 2; width < 20; width += 8) {
                struct array p = matrix(k, 1, width, kernel_pad(width), -1e4, -1e4),
                             t = matrix(k, 1, width, width, 0, 0), dp = same_as(&p);
                set(&p, 0, 1, 1e4);
                struct loss_args args = {.rows = 1,
                                         .k = width,
                                         .p = p.at,
                                         .ldp = p.ld,
                                         .t = t.at,
                                         .ldt = width,
                                         .weight = 1,
                                         .dp = dp.at,
                                         .lddp = dp.ld};
                assert_false(differ(1e4, k->loss[SPH_LOSS_BCE](&args), 1e-9));
                assert_true(get(&dp, 0, 0) == 0 && get(&dp, 0, 1) == 1);
                assert_false(differ(2e4, k->loss[SPH_LOSS_CE](&args), 1e-9));
                assert_true(get(&dp, 0, 0) == -1 && get(&dp, 0, 1) == 1);
                drop(&p), drop(&t), drop(&dp);
            }
    }
}

static void mae_gradient_is_zero_at_zero(void **state)
{
    (void)state;
    for (int n = 0; n < PAIRS; n++) {
        struct pair on = pair_of(n);
        struct array p = matrix(on.fast, 3, 1, 8, 0.25, 0.25), dp = same_as(&p);
        struct loss_args args = {
            .rows = 3, .k = 1, .p = p.at, .ldp = 8, .t = p.at, .ldt = 8, .weight = 1, .dp = dp.at, .lddp = 8};
        assert_true(on.plain->loss[SPH_LOSS_MAE](&args) == 0 && get(&dp, 2, 0) == 0);
        set(&dp, 2, 0, 1);
        assert_true(on.fast->loss[SPH_LOSS_MAE](&args) == 0 && get(&dp, 2, 0) == 0);
        drop(&p), drop(&dp);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_match_twins),
        cmocka_unit_test(losses_match_definitions_and_differences),
        cmocka_unit_test(losses_stay_finite_for_huge_logits),
        cmocka_unit_test(mae_gradient_is_zero_at_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
