/* SPDX-License-Identifier: MIT
 *
 * Analytic gradients against differences of the loss, in f64, for every learned number.
 *
 * A number's difference quotient is the four-point one, (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h: its
 * error is O(h^4), so that h can be large enough for rounding (1e-16 / h) not to matter. It is tried for
 * three h, because a kink of relu, srelu or mae may lie within the reach of the larger ones, and rounding
 * spoils the smaller ones; a wrong gradient agrees with none of them. Numbers that sit on a kink so closely
 * that the slopes to their left and right differ at the smallest h are left out and counted: at most 1 % of
 * all. */
#include "support.h"

enum { STEPS = 3 };
static const double step_size[STEPS] = {1e-4, 1e-5, 1e-6};

static const double bar = 1e-6;

static struct {
    size_t entries, skipped, alive; /* alive: gradient clearly not 0 */
    double worst;
} count;

/* ---------------------------------------------------------------- one unit of one tensor */

static double quotient(struct probe *p, double *number, double h)
{
    double at = *number, f[4];
    static const double way[4] = {-2, -1, 1, 2};
    for (int i = 0; i < 4; i++) {
        *number = at + way[i] * h;
        f[i] = probe_loss(p);
    }
    *number = at;
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}

static int on_kink(struct probe *p, double *number, double scale)
{
    double h = step_size[STEPS - 1], at = *number, here = probe_loss(p);
    *number = at + h;
    double right = (probe_loss(p) - here) / h;
    *number = at - h;
    double left = (here - probe_loss(p)) / h;
    *number = at;
    return fabs(right - left) > 1e-3 * scale;
}

/* sphere: what the step may use of a gradient at u is its part in the tangent plane. */
static void project(size_t n, const double *u, size_t stride, double *gradient)
{
    double along = 0;
    for (size_t i = 0; i < n; i++)
        along += gradient[i] * u[i * stride];
    for (size_t i = 0; i < n; i++)
        gradient[i] -= along * u[i * stride];
}

/* Below `floor` a difference counts as if the gradient were that large: the tensor's typical size / 1000, and
 * never less than the loss / 100,000, of which the quotient's own rounding error (a few 1e-16 of the loss /
 * h) is a small part. */
static void check_unit(struct probe *p, const struct net_tensor *tensor, size_t unit, const double *analytic,
                       double floor, const char *what)
{
    size_t n = tensor->per_unit, units = tensor->units;
    double *number = (double *)p->net->params + tensor->at + unit;
    double *numeric = numbers(n), *error = numbers(n), *best = numbers(n);
    int is_u = !strcmp(strrchr(tensor->view.name, '.'), ".u"), good = 0;
    for (size_t i = 0; i < n; i++)
        best[i] = INFINITY;
    for (int s = 0; s < STEPS && !good; s++) {
        for (size_t i = 0; i < n; i++)
            numeric[i] = quotient(p, number + i * units, step_size[s]);
        if (is_u)
            project(n, number, units, numeric);
        good = 1;
        for (size_t i = 0; i < n; i++) {
            double a = analytic[i * units + unit], size = fabs(a) + fabs(numeric[i]);
            error[i] = fabs(a - numeric[i]) / (size > floor ? size : floor);
            if (!(error[i] >= best[i]))
                best[i] = error[i];
            good = good && best[i] < bar;
        }
    }
    int kinks = 0;
    for (size_t i = 0; i < n && !good && is_u; i++)
        kinks |= on_kink(p, number + i * units, floor);
    for (size_t i = 0; i < n; i++) {
        double a = analytic[i * units + unit];
        count.entries++;
        count.alive += fabs(a) > 1e-5;
        if (best[i] < bar) {
            if (best[i] > count.worst)
                count.worst = best[i];
        } else if (kinks || on_kink(p, number + i * units, floor)) {
            count.skipped++;
        } else {
            fail_msg("%s: %s unit %zu number %zu: gradient %.12g, differences say %.12g (error %.1e)", what,
                     tensor->view.name, unit, i, a, numeric[i], best[i]);
        }
    }
    free(numeric);
    free(error);
    free(best);
}

/* The gradient that `analytic_probe` gives against differences of p's loss, for every `stride`-th unit of
 * every tensor. */
static void check_gradient(struct probe *analytic_probe, struct probe *p, size_t stride, const char *what)
{
    size_t learned = sph_net_learned(p->net);
    double *analytic = numbers(learned), loss = probe_gradient(analytic_probe);
    assert_true(isfinite(loss));
    memcpy(analytic, analytic_probe->weights->learned_grad, learned * sizeof *analytic);
    for (size_t i = 0; i < p->net->tensor_count; i++) {
        const struct net_tensor *tensor = &p->net->tensors[i];
        if (!tensor->view.learned)
            continue;
        double square = 0;
        for (size_t e = 0; e < tensor->view.count; e++)
            square += analytic[tensor->at + e] * analytic[tensor->at + e];
        double floor = fmax(1e-5 * fmax(1, loss), 1e-3 * sqrt(square / (double)tensor->view.count));
        for (size_t unit = 0; unit < tensor->units; unit += stride)
            check_unit(p, tensor, unit, analytic + tensor->at, floor, what);
    }
    free(analytic);
}

static void check_net(struct probe *p, const char *what)
{
    check_gradient(p, p, 1, what);
}

static void begin_count(void)
{
    memset(&count, 0, sizeof count);
}

static void end_count(void)
{
    printf("    %zu numbers, worst error %.1e, %zu on a kink (%.3f %%), %zu with a gradient above 1e-5\n",
           count.entries, count.worst, count.skipped, 100.0 * (double)count.skipped / (double)count.entries,
           count.alive);
    assert_true(count.entries > 0);
    assert_true(count.skipped * 100 <= count.entries);
    assert_true(count.alive * 3 > count.entries); /* else the check proves little */
}

/* ---------------------------------------------------------------- where the raw parameters stand */

/* DRAWN: as initialisation leaves them (r = 1 for gmp: the scale is seen by nobody, and still has a
 * gradient). POSITIVE: all scales folded away. MIXED: scales of both signs and exactly 0, sines exactly 0. */
enum mood { DRAWN, POSITIVE, MIXED, MOODS };
static const char *const mood_word[MOODS] = {"drawn", "positive", "mixed"};

static void set_mood(sph_net *net, enum mood mood, struct rng *rng)
{
    stir(net, rng);
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        double *number = (double *)net->params + tensor->at;
        sph_group group = tensor->view.group;
        if (!tensor->view.learned)
            continue;
        if (group == SPH_GROUP_R || group == SPH_GROUP_G)
            for (size_t j = 0; j < tensor->units; j++) {
                if (mood == DRAWN && group == SPH_GROUP_R)
                    number[j] = 1;
                if (mood != DRAWN)
                    number[j] = between(rng, 0.5, 1.5);
                if (mood == MIXED && j % 3 == 1)
                    number[j] = -number[j];
                if (mood == MIXED && j % 3 == 2)
                    number[j] = 0;
            }
        if (group == SPH_GROUP_THETA && mood == MIXED && !strcmp(strrchr(tensor->view.name, '.'), ".theta"))
            for (size_t a = 0; a < tensor->per_unit; a++)
                for (size_t j = 0; j < tensor->units; j++)
                    if ((a + j) % 4 == 0)
                        number[a * tensor->units + j] = 0;
    }
}

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
                    for (int mood = 0; mood < MOODS; mood++)
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
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
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
            node = sph_net_dense(net, node, &(sph_layer){.units = 5, .act = (sph_act)act, .signs = 1});
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
        cmocka_unit_test(gradients_match_differences_through_residual_additions),
        cmocka_unit_test(gradients_match_differences_with_an_addition_at_the_end),
        cmocka_unit_test(gradients_match_differences_over_many_tiles_with_one_and_two_workers),
        cmocka_unit_test(gradients_match_differences_under_output_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
