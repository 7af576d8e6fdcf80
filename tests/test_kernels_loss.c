/* SPDX-License-Identifier: MIT
 *
 * Losses and updates: fast kernels against their plain twins, those against formulas written out anew and
 * central differences. */
#include "kernel_compare.h"

/* ---------------------------------------------------------------- losses */

static void losses_match_twins(void **state)
{
    (void)state;
    on_all_shapes(compare_loss);
}

/* The definitions, naive, in long double. */
static double naive_loss(int loss, const struct array *p, const struct array *t, double smoothing)
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
                                     .dp = dp.at,
                                     .lddp = LD};
            double value = k->loss[loss](&args);
            assert_false(differ(0.25 * naive_loss(loss, &p, &t, args.smoothing), value, 1e-14));
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

/* ---------------------------------------------------------------- updates */

/* One number, one step, as PyTorch's documentation writes it. slot: m and v, or v. */
static void textbook(int optimizer, const struct update_args *u, double *p, double g, double *slot)
{
    g *= u->grad_scale;
    if (u->decoupled)
        *p -= u->lr * u->decay * *p;
    else
        g += u->decay * *p;
    if (optimizer == SPH_OPTIMIZER_SGD) {
        slot[0] = u->momentum * slot[0] + g;
        *p -= u->lr * (u->nesterov ? g + u->momentum * slot[0] : slot[0]);
        return;
    }
    slot[0] = u->beta1 * slot[0] + (1 - u->beta1) * g;
    slot[1] = u->beta2 * slot[1] + (1 - u->beta2) * g * g;
    *p -= u->lr * (slot[0] / u->correct1) / (sqrt(slot[1] / u->correct2) + u->epsilon);
}

static void updates_match_textbook_for_some_steps(void **state)
{
    (void)state;
    enum { STEPS = 5 };
    for (int n = 0; n < PAIRS; n++)
        for (size_t count = 1; count < 60; count += 1 + count / 4)
            for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
                for (int form = 0; form < 8; form++) {
                    struct pair on = pair_of(n);
                    dice = 9 + 1000 * count;
                    struct array p1 = vector(on.plain, count, -1, 1), g = vector(on.plain, count, -1, 1),
                                 p2 = same_as(&p1), want = same_as(&p1);
                    struct array a1 = vector(on.plain, count, 0, 0), b1 = same_as(&a1), a2 = same_as(&a1),
                                 b2 = same_as(&a1);
                    int sgd = optimizer == SPH_OPTIMIZER_SGD, momentum = form & 4;
                    struct update_args u = {.count = count,
                                            .g = g.at,
                                            .lr = 0.01,
                                            .grad_scale = 0.5,
                                            .beta1 = 0.9,
                                            .beta2 = 0.999,
                                            .epsilon = 1e-8,
                                            .momentum = momentum ? 0.9 : 0,
                                            .nesterov = form & 1,
                                            .decay = form & 2 ? 0.1 : 0,
                                            .decoupled = optimizer == SPH_OPTIMIZER_ADAMW};
                    for (int step = 1; step <= STEPS; step++) {
                        u.correct1 = 1 - pow(u.beta1, step), u.correct2 = 1 - pow(u.beta2, step);
                        u.p = p1.at, u.slot[0] = sgd && !momentum ? NULL : a1.at,
                        u.slot[1] = sgd ? NULL : b1.at;
                        on.plain->update[optimizer](&u);
                        u.p = p2.at, u.slot[0] = u.slot[0] ? a2.at : NULL, u.slot[1] = sgd ? NULL : b2.at;
                        on.fast->update[optimizer](&u);
                    }
                    for (size_t i = 0; i < count; i++) {
                        double p = get(&want, 0, i), slot[2] = {0, 0};
                        for (int step = 1; step <= STEPS; step++) {
                            u.correct1 = 1 - pow(u.beta1, step), u.correct2 = 1 - pow(u.beta2, step);
                            textbook(optimizer, &u, &p, get(&g, 0, i), slot);
                        }
                        set(&want, 0, i, p);
                    }
                    struct array copy = same_as(&p1);
                    same("update, plain", &want, &copy, STEPS * close_to(&on));
                    same("update", &p1, &p2, STEPS * close_to(&on));
                    same("slot 0", &a1, &a2, STEPS * close_to(&on));
                    same("slot 1", &b1, &b2, STEPS * close_to(&on));
                    drop(&g);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_match_twins),
        cmocka_unit_test(losses_match_definitions_and_differences),
        cmocka_unit_test(losses_stay_finite_for_huge_logits),
        cmocka_unit_test(mae_gradient_is_zero_at_zero),
        cmocka_unit_test(updates_match_textbook_for_some_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
