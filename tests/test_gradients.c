/* SPDX-License-Identifier: MIT
 *
 * Analytic gradients against differences of the loss, in f64, for every learned number of dense nets. How the
 * two are compared stands in gradient_check.h. */
#include "gradient_check.h"

static void try_stack(sph_param param, sph_norm norm, sph_act act, sph_loss loss, size_t n, size_t m,
                      size_t depth, enum mood mood, enum kernel_choice choice)
{
    size_t outputs = loss == SPH_LOSS_CE ? 3 : 1 + (n + m) % 3;
    struct rng rng =
        rng_stream(7, RNG_NOISE, (uint32_t)(((param * 8 + norm) * 8 + act) * 4096 + loss * 512 + n * 9 + m));
    sph_net *net = stack(SPH_F64, choice, n, m, depth, outputs, param, norm, act, rng_u32(&rng));
    set_mood(net, mood, &rng);
    char what[160];
    snprintf(what, sizeof what, "%s %s %s %s n=%zu m=%zu depth=%zu %s %s", param_word[param], norm_word[norm],
             act_word[act], loss_word[loss], n, m, depth, mood_word[mood], net->k->name);
    struct probe p;
    probe_open(&p, net, loss, 6, 1, &rng);
    check_net(&p, what);
    probe_close(&p);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- tests */

static void every_combination(enum kernel_choice choice)
{
    static const size_t inputs[] = {3, 5, 2}, units[] = {4, 5, 3};
    begin_count();
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (int act = 0; act < SPH_ACT_COUNT; act++)
                for (int loss = 0; loss < SPH_LOSS_COUNT; loss++)
                    for (size_t mood = (size_t)(param + norm + act + loss + (int)choice) % quick_step(MOODS);
                         mood < MOODS; mood += quick_step(MOODS))
                        try_stack((sph_param)param, (sph_norm)norm, (sph_act)act, (sph_loss)loss,
                                  inputs[mood], units[mood], 2, (enum mood)mood, choice);
    end_count();
}

static void gradients_match_differences_for_every_combination_plain(void **state)
{
    (void)state;
    every_combination(KERNELS_PLAIN);
}

static void gradients_match_differences_for_every_combination_fast(void **state)
{
    (void)state;
    every_combination(KERNELS_FASTEST);
}

static void gradients_match_differences_in_every_shape(void **state)
{
    (void)state;
    static const size_t inputs[] = {1, 2, 3, 50}, units[] = {1, 2, 5, 8, 9};
    begin_count();
    int turn = 0;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t j = 0; j < sizeof units / sizeof *units; j++)
            for (int param = 0; param < SPH_PARAM_COUNT; param++)
                for (int norm = 0; norm < SPH_NORM_COUNT; norm++, turn++)
                    try_stack((sph_param)param, (sph_norm)norm, (sph_act)(turn / 5 % SPH_ACT_COUNT),
                              (sph_loss)(turn / 7 % SPH_LOSS_COUNT), inputs[i], units[j],
                              1 + (size_t)(inputs[i] < 50) * (size_t)(turn % 3), (enum mood)(turn % MOODS),
                              KERNELS_FASTEST);
    end_count();
}

/* Widths of groups that are and are not multiples of a vector. */
static void gradients_match_differences_for_every_number_of_groups(void **state)
{
    (void)state;
    static const size_t units[] = {12, 12, 12, 12, 12, 16, 32}, groups[] = {1, 2, 3, 4, 6, 2, 2};
    begin_count();
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int act = 0; act < SPH_ACT_COUNT; act++)
            for (size_t i = (size_t)(param + act) % quick_step(7); i < sizeof units / sizeof *units;
                 i += quick_step(7)) {
                struct rng rng = rng_stream(16, RNG_NOISE, (uint32_t)(param * 100 + act * 10 + (int)i));
                sph_net *net = open_net(SPH_F64, (param + act) % 2 ? KERNELS_FASTEST : KERNELS_PLAIN);
                int node = sph_net_input(net, 4);
                for (int d = 0; d < 2; d++)
                    node = sph_net_dense(net, node,
                                         &(sph_layer){.size = sizeof(sph_layer),
                                                      .units = units[i],
                                                      .param = (sph_param)param,
                                                      .norm = SPH_NORM_GN,
                                                      .act = (sph_act)act,
                                                      .norm_groups = groups[i]});
                assert_true(node > 0);
                ready(net, dense(net, node, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), rng_u32(&rng));
                set_mood(net, (enum mood)((param + act) % MOODS), &rng);
                char what[96];
                snprintf(what, sizeof what, "%s %s %zu groups of %zu", param_word[param], act_word[act],
                         groups[i], units[i] / groups[i]);
                struct probe p;
                probe_open(&p, net, SPH_LOSS_MSE, 6, 1, &rng);
                check_net(&p, what);
                probe_close(&p);
                sph_net_free(net);
            }
    end_count();
}

/* x -> a; b = a + x; c = f(b); d = b + c + c; e = f(d); g = e + a; out = h(g). A node used twice, an addition
 * of an addition, an addition of the data, a node added to itself. */
static sph_net *residual_net(sph_param param, sph_norm norm, sph_act act, enum kernel_choice choice,
                             uint64_t seed)
{
    sph_net *net = open_net(SPH_F64, choice);
    int x = sph_net_input(net, 5), a = dense(net, x, 5, param, norm, act), b = sph_net_add(net, a, x);
    int c = dense(net, b, 5, param, norm, act), d = sph_net_add(net, b, sph_net_add(net, c, c));
    int e = dense(net, d, 5, param, norm, act), g = sph_net_add(net, e, a);
    assert_true(g > 0);
    ready(net, dense(net, g, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), seed);
    return net;
}

static void gradients_match_differences_through_residual_additions(void **state)
{
    (void)state;
    begin_count();
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (int act = 0; act < SPH_ACT_COUNT; act++) {
                struct rng rng = rng_stream(11, RNG_NOISE, (uint32_t)(param * 100 + norm * 10 + act));
                sph_net *net = residual_net((sph_param)param, (sph_norm)norm, (sph_act)act,
                                            act % 2 ? KERNELS_FASTEST : KERNELS_PLAIN, rng_u32(&rng));
                set_mood(net, (enum mood)((param + norm + act) % MOODS), &rng);
                char what[96];
                snprintf(what, sizeof what, "residual %s %s %s", param_word[param], norm_word[norm],
                         act_word[act]);
                struct probe p;
                probe_open(&p, net, SPH_LOSS_MSE, 6, 1, &rng);
                check_net(&p, what);
                probe_close(&p);
                sph_net_free(net);
            }
    end_count();
}

/* The output node may be an addition, and may be the only place where a layer's values go. */
static void gradients_match_differences_with_an_addition_at_the_end(void **state)
{
    (void)state;
    begin_count();
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
        struct rng rng = rng_stream(12, RNG_NOISE, (uint32_t)norm);
        sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
        int x = sph_net_input(net, 3), a = dense(net, x, 3, SPH_PARAM_GMP, (sph_norm)norm, SPH_ACT_ELU);
        int b = dense(net, a, 3, SPH_PARAM_SPHERE, (sph_norm)norm, SPH_ACT_RELU);
        ready(net, sph_net_add(net, sph_net_add(net, b, a), x), 1);
        set_mood(net, MIXED, &rng);
        struct probe p;
        probe_open(&p, net, SPH_LOSS_MSE, 6, 1, &rng);
        check_net(&p, norm_word[norm]);
        probe_close(&p);
        sph_net_free(net);
    }
    end_count();
}

/* Five tiles. The differences are taken with one worker: handing over work 100,000 times takes its time. */
static void gradients_match_differences_over_many_tiles_with_one_and_two_workers(void **state)
{
    (void)state;
    begin_count();
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = param % (int)quick_step(4); norm < SPH_NORM_COUNT; norm += (int)quick_step(4)) {
            uint32_t lane = (uint32_t)(param * 10 + norm);
            struct rng rng = rng_stream(13, RNG_NOISE, lane);
            sph_act act = (sph_act)((param + norm) % SPH_ACT_COUNT);
            sph_net *net =
                stack(SPH_F64, KERNELS_FASTEST, 9, 41, 2, 2, (sph_param)param, (sph_norm)norm, act, 3);
            set_mood(net, (enum mood)((param + norm) % MOODS), &rng);
            struct probe p[2];
            for (size_t workers = 1; workers <= 2; workers++) {
                struct rng rows = rng_stream(15, RNG_NOISE, lane);
                probe_open(&p[workers - 1], net, SPH_LOSS_MSE, 50, workers, &rows);
            }
            for (size_t workers = 1; workers <= 2; workers++) {
                char what[96];
                snprintf(what, sizeof what, "%zu workers %s %s %s", workers, param_word[param],
                         norm_word[norm], act_word[act]);
                check_gradient(&p[workers - 1], &p[0], 10, what);
            }
            probe_close(&p[0]);
            probe_close(&p[1]);
            sph_net_free(net);
        }
    end_count();
}

/* Output signs of converted layers are constants: they turn values and gradients. */
static void gradients_match_differences_under_output_signs(void **state)
{
    (void)state;
    begin_count();
    for (int act = 0; act < SPH_ACT_COUNT; act++) {
        struct rng rng = rng_stream(14, RNG_NOISE, (uint32_t)act);
        sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
        int node = sph_net_input(net, 3);
        for (int d = 0; d < 2; d++)
            node = sph_net_dense(
                net, node,
                &(sph_layer){.size = sizeof(sph_layer), .units = 5, .act = (sph_act)act, .signs = 1});
        ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 5);
        set_mood(net, DRAWN, &rng);
        assert_int_equal(sph_net_set(net, "layers.0.r", (double[]){1, -1, -1, 1, -1}, 5), 0);
        assert_int_equal(sph_net_set(net, "layers.1.r", (double[]){-1, 1, -1, -1, 1}, 5), 0);
        struct probe p;
        probe_open(&p, net, SPH_LOSS_MSE, 6, 1, &rng);
        check_net(&p, act_word[act]);
        probe_close(&p);
        sph_net_free(net);
    }
    end_count();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_differences_for_every_combination_plain),
        cmocka_unit_test(gradients_match_differences_for_every_combination_fast),
        cmocka_unit_test(gradients_match_differences_in_every_shape),
        cmocka_unit_test(gradients_match_differences_for_every_number_of_groups),
        cmocka_unit_test(gradients_match_differences_through_residual_additions),
        cmocka_unit_test(gradients_match_differences_with_an_addition_at_the_end),
        cmocka_unit_test(gradients_match_differences_over_many_tiles_with_one_and_two_workers),
        cmocka_unit_test(gradients_match_differences_under_output_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
