/* SPDX-License-Identifier: MIT
 *
 * Gradients of image nets against differences of the loss (gradient_check.h): convolutions under every
 * parameterization, normalization and activation, in many shapes; pools; additions and activations of images.
 */
#include "gradient_check.h"

struct shape {
    size_t channels, height, width, units, kernel, stride, pad, groups;
};

static int conv(sph_net *net, int from, const struct shape *s, sph_param param, sph_norm norm, sph_act act)
{
    int node = sph_net_conv(net, from,
                            &(sph_layer){.size = sizeof(sph_layer),
                                         .units = s->units,
                                         .param = param,
                                         .norm = norm,
                                         .act = act,
                                         .kernel = s->kernel,
                                         .stride = s->stride,
                                         .pad = s->pad,
                                         .groups = s->groups});
    if (node < 0)
        fail_msg("%s", sph_error());
    return node;
}

/* The mean of all pixels, a plain layer of two units. */
static void end_net(sph_net *net, int node, uint64_t seed)
{
    node = sph_net_global_pool(net, node);
    assert_true(node > 0);
    ready(net, dense(net, node, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), seed);
}

static void check(sph_net *net, enum mood mood, size_t rows, struct rng *rng, const char *what)
{
    set_mood(net, mood, rng);
    struct probe p;
    probe_open(&p, net, SPH_LOSS_MSE, rows, 1, rng);
    check_net(&p, what);
    probe_close(&p);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- everything with everything */

static void gradients_match_differences_for_every_combination(void **state)
{
    (void)state;
    static const struct shape first[] = {
        {2, 5, 4, 3, 3, 1, 1, 1}, {1, 4, 5, 4, 3, 2, 0, 1}, {3, 3, 4, 3, 2, 1, 1, 1}};
    begin_count();
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (int act = 0; act < SPH_ACT_COUNT; act++)
                for (size_t mood = (size_t)(param + norm + act) % quick_step(MOODS); mood < MOODS;
                     mood += quick_step(MOODS)) {
                    const struct shape *s = &first[mood];
                    int turn = ((param * SPH_NORM_COUNT + norm) * SPH_ACT_COUNT + act) * MOODS + (int)mood;
                    struct rng rng = rng_stream(31, RNG_NOISE, (uint32_t)turn);
                    sph_net *net = open_net(SPH_F64, turn % 2 ? KERNELS_FASTEST : KERNELS_PLAIN);
                    int node = sph_net_image(net, s->channels, s->height, s->width);
                    node = conv(net, node, s, (sph_param)param, (sph_norm)norm, (sph_act)act);
                    node = conv(net, node, &(struct shape){.units = 3, .kernel = 2, .stride = 1, .pad = 1},
                                (sph_param)param, (sph_norm)norm, (sph_act)act);
                    end_net(net, node, rng_u32(&rng));
                    char what[96];
                    snprintf(what, sizeof what, "%s %s %s %s", param_word[param], norm_word[norm],
                             act_word[act], mood_word[mood]);
                    check(net, (enum mood)mood, 4, &rng, what);
                }
    end_count();
}

static void gradients_match_differences_in_every_shape(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {1, 1, 1, 3, 1, 1, 0, 1},  {1, 5, 3, 2, 1, 2, 0, 1},  {17, 3, 2, 3, 1, 1, 0, 1},
        {3, 7, 5, 2, 3, 1, 0, 1},  {3, 7, 5, 2, 3, 2, 1, 1},  {1, 3, 6, 5, 3, 1, 2, 1},
        {17, 4, 3, 2, 3, 2, 2, 1}, {1, 7, 7, 2, 7, 1, 0, 1},  {3, 5, 7, 2, 7, 2, 1, 1},
        {1, 6, 5, 3, 7, 1, 2, 1},  {3, 9, 4, 2, 7, 2, 3, 1},  {1, 1, 1, 2, 7, 1, 3, 1},
        {17, 2, 3, 9, 1, 2, 0, 1}, {2, 4, 4, 17, 2, 2, 0, 1},
    };
    begin_count();
    int turn = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++, turn++) {
            const struct shape *s = &shapes[i];
            struct rng rng = rng_stream(22, RNG_NOISE, (uint32_t)turn);
            sph_norm norm = (sph_norm)((i + (size_t)param) % SPH_NORM_COUNT);
            sph_act act = (sph_act)(turn / 3 % SPH_ACT_COUNT);
            sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
            int node = sph_net_image(net, s->channels, s->height, s->width);
            node =
                conv(net, node, &(struct shape){.units = s->channels, .kernel = 1, .stride = 1}, SPH_PARAM_SP,
                     SPH_NORM_NONE, SPH_ACT_LEAKY_RELU); /* so that the conv's input has a gradient */
            node = conv(net, node, s, (sph_param)param, norm, act);
            end_net(net, node, rng_u32(&rng));
            char what[128];
            snprintf(what, sizeof what, "%zux%zux%zu kernel %zu stride %zu pad %zu %s %s %s", s->channels,
                     s->height, s->width, s->kernel, s->stride, s->pad, param_word[param], norm_word[norm],
                     act_word[act]);
            check(net, (enum mood)(turn % 2), 4, &rng, what);
        }
    end_count();
}

/* Grouped, depthwise (a unit of nine numbers; of one, whose direction gmp keeps as a sign), several units
 * to a channel, several channels to a unit; the first of two such convs reads the data. */
static void gradients_match_differences_in_groups(void **state)
{
    (void)state;
    static const struct shape shapes[] = {{4, 5, 4, 6, 3, 1, 1, 2}, {3, 5, 5, 3, 3, 1, 1, 3},
                                          {4, 4, 5, 4, 3, 2, 1, 4}, {3, 3, 4, 3, 1, 1, 0, 3},
                                          {3, 4, 4, 9, 2, 1, 0, 3}, {6, 4, 3, 3, 3, 1, 1, 3},
                                          {9, 3, 3, 9, 3, 1, 1, 9}, {4, 3, 4, 2, 1, 2, 0, 2}};
    begin_count();
    int turn = 0;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (size_t i = (size_t)(norm % 2 + 2 * param) % (2 * quick_step(4));
                 i < sizeof shapes / sizeof *shapes; i += 2 * quick_step(4), turn++) {
                const struct shape *s = &shapes[i];
                struct rng rng = rng_stream(41, RNG_NOISE, (uint32_t)turn);
                sph_act act = (sph_act)(turn % SPH_ACT_COUNT);
                sph_net *net = open_net(SPH_F64, turn % 2 ? KERNELS_FASTEST : KERNELS_PLAIN);
                int node = sph_net_image(net, s->channels, s->height, s->width);
                node = conv(net, node, s, (sph_param)param, (sph_norm)norm, act);
                node =
                    conv(net, node,
                         &(struct shape){.units = 2 * s->units, .kernel = 1, .stride = 1, .groups = s->units},
                         (sph_param)param, (sph_norm)norm, act);
                node = conv(
                    net, node,
                    &(struct shape){
                        .units = 2 * s->units, .kernel = 3, .stride = 1, .pad = 1, .groups = 2 * s->units},
                    (sph_param)param, (sph_norm)norm, act);
                end_net(net, node, rng_u32(&rng));
                char what[128];
                snprintf(what, sizeof what, "%zu channels, %zu units in %zu groups, kernel %zu, %s %s %s",
                         s->channels, s->units, s->groups, s->kernel, param_word[param], norm_word[norm],
                         act_word[act]);
                check(net, (enum mood)(turn % MOODS), 4, &rng, what);
            }
    end_count();
}

/* One group, several, and as many as units: instance normalization. */
static void gradients_match_differences_for_every_number_of_groups(void **state)
{
    (void)state;
    static const size_t units[] = {6, 6, 6, 6, 16}, groups[] = {1, 2, 3, 6, 2};
    begin_count();
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int act = 0; act < SPH_ACT_COUNT; act++)
            for (size_t i = (size_t)(param + act) % quick_step(5); i < sizeof units / sizeof *units;
                 i += quick_step(5)) {
                struct rng rng = rng_stream(36, RNG_NOISE, (uint32_t)(param * 100 + act * 10 + (int)i));
                sph_net *net = open_net(SPH_F64, (param + act) % 2 ? KERNELS_FASTEST : KERNELS_PLAIN);
                int node = sph_net_image(net, 2, 4, 3);
                for (int d = 0; d < 2; d++)
                    node = sph_net_conv(net, node,
                                        &(sph_layer){.size = sizeof(sph_layer),
                                                     .units = units[i],
                                                     .param = (sph_param)param,
                                                     .norm = SPH_NORM_GN,
                                                     .act = (sph_act)act,
                                                     .norm_groups = groups[i],
                                                     .kernel = d ? 1 : 2,
                                                     .stride = 1});
                assert_true(node > 0);
                end_net(net, node, rng_u32(&rng));
                char what[96];
                snprintf(what, sizeof what, "%s %s %zu groups of %zu", param_word[param], act_word[act],
                         groups[i], units[i] / groups[i]);
                /* not MIXED: of a single unit without weights 1 / sigma is 316, which differences cannot stand */
                check(net, (enum mood)((param + act) % MIXED), 3, &rng, what);
            }
    end_count();
}

/* ---------------------------------------------------------------- other nodes */

static void gradients_match_differences_through_pools(void **state)
{
    (void)state;
    begin_count();
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (int param = norm % (int)quick_step(2); param < SPH_PARAM_COUNT; param += (int)quick_step(2)) {
            struct rng rng = rng_stream(23, RNG_NOISE, (uint32_t)(norm * 8 + param));
            const struct shape s = {.units = 3, .kernel = 3, .stride = 1, .pad = 1};
            sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
            int x = sph_net_image(net, 2, 9, 7),
                node = sph_net_avg_pool(net, x, 2, 1, 0); /* 8 x 6, of the data */
            node = conv(net, node, &s, (sph_param)param, (sph_norm)norm, SPH_ACT_ELU);
            int pooled = sph_net_max_pool(net, node, 3, 2, 1); /* 4 x 3, overlapping */
            /* two more readers of it, before the conv and so after it on the way back: 3 x 2 and 3 x 2 */
            int again = sph_net_max_pool(net, pooled, 2, 2, 1), mean = sph_net_avg_pool(net, pooled, 2, 1, 0);
            assert_true(again > 0 && mean > 0);
            node = conv(net, pooled, &s, (sph_param)param, (sph_norm)norm, SPH_ACT_LEAKY_RELU);
            node = sph_net_avg_pool(net, node, 2, 1, 1); /* 5 x 4 */
            node = conv(net, node, &s, (sph_param)param, (sph_norm)norm, SPH_ACT_ELU);
            node = sph_net_max_pool(net, node, 2, 2, 0); /* 2 x 2: a row stays out */
            node = sph_net_add(net, sph_net_global_pool(net, node), sph_net_global_pool(net, again));
            node = sph_net_add(net, node, sph_net_global_pool(net, mean));
            assert_true(node > 0);
            ready(net, dense(net, node, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 1);
            char what[64];
            snprintf(what, sizeof what, "pools %s %s", param_word[param], norm_word[norm]);
            check(net, POSITIVE, 3, &rng, what);
        }
    end_count();
}

/* A block of a residual net: its input is read by a conv and by the conv that brings it to shape; the sum has
 * an activation by itself. Then a sum that its activation, a conv and another sum read; a sum with the data.
 */
static sph_net *residual(sph_param param, sph_norm norm, sph_act act, uint64_t seed)
{
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    const struct shape narrow = {.units = 2, .kernel = 3, .stride = 1, .pad = 1},
                       half = {.units = 3, .kernel = 3, .stride = 2, .pad = 1},
                       wide = {.units = 3, .kernel = 3, .stride = 1, .pad = 1},
                       shrink = {.units = 3, .kernel = 1, .stride = 2};
    sph_act alone = act == SPH_ACT_SRELU ? SPH_ACT_RELU : act;
    int x = sph_net_image(net, 2, 5, 4);
    int in = conv(net, x, &narrow, param, norm == SPH_NORM_IMN ? SPH_NORM_NONE : norm, act);
    in = sph_net_act(net, sph_net_add(net, in, sph_net_act(net, x, SPH_ACT_LEAKY_RELU)), alone);
    assert_true(in > 0);
    int branch = conv(net, conv(net, in, &half, param, norm, act), &wide, param, norm, SPH_ACT_IDENTITY);
    int sum = sph_net_add(net, branch, conv(net, in, &shrink, param, norm, SPH_ACT_IDENTITY));
    int after = sph_net_act(net, sum, alone), other = conv(net, sum, &wide, param, norm, act);
    sum = sph_net_add(net, sph_net_add(net, after, other), sum);
    assert_true(sum > 0);
    end_net(net, sum, seed);
    return net;
}

static void gradients_match_differences_through_additions_and_activations_of_images(void **state)
{
    (void)state;
    begin_count();
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (int act = (param + norm) % (int)quick_step(4); act < SPH_ACT_COUNT;
                 act += (int)quick_step(4)) {
                struct rng rng = rng_stream(24, RNG_NOISE, (uint32_t)(param * 100 + norm * 10 + act));
                sph_net *net = residual((sph_param)param, (sph_norm)norm, (sph_act)act, rng_u32(&rng));
                char what[64];
                snprintf(what, sizeof what, "residual %s %s %s", param_word[param], norm_word[norm],
                         act_word[act]);
                check(net, (enum mood)((param + norm + act) % MOODS), 3, &rng, what);
            }
    end_count();
}

/* Activations by themselves work on vectors too. */
static void gradients_match_differences_through_activations_of_vectors(void **state)
{
    (void)state;
    begin_count();
    for (int act = 0; act < SPH_ACT_SRELU; act++) {
        struct rng rng = rng_stream(25, RNG_NOISE, (uint32_t)act);
        sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
        int x = sph_net_input(net, 3), a = dense(net, x, 5, SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_IDENTITY);
        int b = sph_net_add(net, sph_net_act(net, a, (sph_act)act), a);
        ready(net,
              sph_net_act(net, dense(net, b, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), (sph_act)act),
              3);
        check(net, POSITIVE, 6, &rng, act_word[act]);
    }
    end_count();
}

static void gradients_over_many_tiles_are_the_same_with_one_and_two_workers(void **state)
{
    (void)state;
    begin_count();
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
        struct rng rng = rng_stream(26, RNG_NOISE, (uint32_t)norm);
        sph_net *net = residual(SPH_PARAM_GMP, (sph_norm)norm, SPH_ACT_LEAKY_RELU, 5);
        set_mood(net, POSITIVE, &rng);
        struct probe p[2];
        for (size_t workers = 1; workers <= 2; workers++) {
            struct rng rows = rng_stream(27, RNG_NOISE, (uint32_t)norm);
            probe_open(&p[workers - 1], net, SPH_LOSS_MSE, 11, workers, &rows);
        }
        check_gradient(&p[1], &p[0], 2, norm_word[norm]);
        double one = probe_gradient(&p[0]), two = probe_gradient(&p[1]);
        assert_true(fabs(one - two) <= 1e-14 * fabs(one));
        for (size_t i = 0; i < net->learned; i++) {
            double a = ((double *)p[0].weights->learned_grad)[i],
                   b = ((double *)p[1].weights->learned_grad)[i];
            assert_true(fabs(a - b) <= 1e-13 * (fabs(a) + 1));
        }
        probe_close(&p[0]);
        probe_close(&p[1]);
        sph_net_free(net);
    }
    end_count();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_differences_for_every_combination),
        cmocka_unit_test(gradients_match_differences_in_every_shape),
        cmocka_unit_test(gradients_match_differences_in_groups),
        cmocka_unit_test(gradients_match_differences_for_every_number_of_groups),
        cmocka_unit_test(gradients_match_differences_through_pools),
        cmocka_unit_test(gradients_match_differences_through_additions_and_activations_of_images),
        cmocka_unit_test(gradients_match_differences_through_activations_of_vectors),
        cmocka_unit_test(gradients_over_many_tiles_are_the_same_with_one_and_two_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
