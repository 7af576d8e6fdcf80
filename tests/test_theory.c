/* SPDX-License-Identifier: MIT
 *
 * The checks of the theory, and the theory itself once more by other means: units of real networks, one pair
 * at a time, numbers worked out by hand. */
#include "support.h"

#include "boundary/hyperplane.h"
#include "boundary/theory.h"
#include "boundary/tool.h"
#include "boundary/turns.h"
#include "fault.h"
#include "param/param.h"

static const size_t dims[] = {2, 3, 17, 4608};
enum { DIMS = sizeof dims / sizeof *dims };

static const double pi = 3.1415926535897932384626433832795;

static sph_theory_result theory(uint64_t seed, size_t samples, int threads)
{
    sph_theory_opts opts;
    sph_theory_defaults(&opts);
    sph_theory_result result;
    opts.seed = seed;
    opts.samples = samples;
    opts.threads = threads;
    assert_int_equal(sph_theory(&result, &opts), 0);
    return result;
}

/* ---------------------------------------------------------------- the table */

static void every_check_passes_with_any_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 103; seed++) {
        sph_theory_result result = theory(seed, 10000, 1);
        size_t pairs = 0, flips = 0, wrong_sums = 0;
        for (size_t i = 0; i < result.count; i++) {
            const sph_theory_row *row = &result.row[i];
            if (!row->passed)
                print_message("seed %d: %s, n %zu: %s\n", (int)seed, row->check, row->inputs, row->measured);
            assert_true(row->passed);
            assert_true(row->tries > 0 && *row->check && *row->measured && *row->expected);
            assert_true(strlen(row->measured) + 1 < sizeof row->measured); /* nothing was cut */
            assert_true(strlen(row->expected) + 1 < sizeof row->expected);
            flips += !strncmp(row->check, "flip", 4);
            wrong_sums += !strncmp(row->check, "metric by sums", 14) && row->value > 0.1;
            pairs += strcmp(row->check, "turn > |eps|") ? 0 : row->tries;
        }
        assert_int_equal(result.failed, 0);
        assert_int_equal(result.stopped, 0);
        assert_int_equal(flips, 5);
        assert_int_equal(wrong_sums, 5); /* all but n = 2 and 3 */
        assert_true(pairs >= 10000);
    }
}

static void a_million_samples_are_the_default_and_no_fewer_are_tried(void **state)
{
    (void)state;
    sph_theory_opts usual;
    sph_theory_defaults(&usual);
    assert_true(usual.samples >= 1000000);
    /* what the pairs of each dimension add up to, without the time it takes */
    sph_theory_result result = theory(0, 1, 1);
    size_t least = 0;
    for (size_t i = 0; i < result.count; i++)
        if (!strcmp(result.row[i].check, "largest turn / |eps|"))
            least += result.row[i].tries;
        else if (!strcmp(result.row[i].check, "turn > |eps|"))
            assert_int_equal(result.row[i].tries, least);
    assert_true(least > 0);
}

static void threads_change_no_number_and_seeds_do(void **state)
{
    (void)state;
    sph_theory_result one = theory(7, 1000, 1), three = theory(7, 1000, 3), other = theory(8, 1000, 1);
    size_t differ = 0;
    assert_int_equal(one.count, three.count);
    for (size_t i = 0; i < one.count; i++) {
        assert_memory_equal(&one.row[i].value, &three.row[i].value, sizeof one.row[i].value);
        assert_string_equal(one.row[i].measured, three.row[i].measured);
        differ += strcmp(one.row[i].measured, other.row[i].measured) != 0;
    }
    assert_true(differ > 15);
}

static void a_row_passes_inside_its_limits_and_nowhere_else(void **state)
{
    (void)state;
    sph_theory_result result = {0};
    struct theory of = {NULL, &result};
    assert_true(theory_row(&of, 2, 1, 1, 0, 1)->passed);
    assert_true(theory_row(&of, 2, 1, 5, 0.1, INFINITY)->passed);
    assert_int_equal(result.failed, 0);
    assert_false(theory_row(&of, 2, 1, 1.0000001, 0, 1)->passed);
    assert_false(theory_row(&of, 2, 1, -1e-9, 0, 1)->passed);
    assert_false(theory_row(&of, 2, 1, NAN, 0, INFINITY)->passed);
    assert_int_equal(result.failed, 3);
    assert_int_equal(result.count, 5);
}

static void what_is_not_a_number_is_never_forgotten(void **state)
{
    (void)state;
    assert_true(theory_larger(1, 2) == 2 && theory_larger(2, 1) == 2);
    assert_true(isnan(theory_larger(NAN, 1)) && isnan(theory_larger(1, NAN)));
}

static void counts_are_written_in_groups_of_three(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        const char *text;
    } cases[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {1003968, "1,003,968"}, {12345678, "12,345,678"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        theory_count(text, cases[i].count);
        assert_string_equal(text, cases[i].text);
    }
}

/* ---------------------------------------------------------------- progress, wrong options, no memory */

struct course {
    double last;
    size_t calls, stop_at;
};

static int follow(void *self, const sph_progress *progress)
{
    double share = progress->share;
    struct course *course = self;
    assert_true(share > course->last && share <= 1 + 1e-12);
    course->last = share;
    return ++course->calls == course->stop_at;
}

static void progress_rises_to_one_and_can_stop(void **state)
{
    (void)state;
    struct course course = {0};
    sph_theory_opts opts;
    sph_theory_defaults(&opts);
    static sph_theory_result whole, part;
    opts.samples = 2000;
    opts.self = &course;
    opts.progress = follow;
    assert_int_equal(sph_theory(&whole, &opts), 0);
    assert_true(fabs(course.last - 1) < 1e-12 && course.calls >= 6);
    course = (struct course){.stop_at = 4};
    assert_int_equal(sph_theory(&part, &opts), 0);
    assert_int_equal(course.calls, 4);
    assert_true(part.stopped && part.count < whole.count && !part.failed);
}

static void options_that_cannot_be_meant_are_refused(void **state)
{
    (void)state;
    sph_theory_opts opts;
    sph_theory_defaults(&opts);
    static sph_theory_result result;
    opts.threads = 0;
    assert_fails(sph_theory(&result, &opts), SPH_EARG, .key = "threads");
    sph_theory_defaults(&opts);
    opts.samples = 0;
    assert_fails(sph_theory(&result, &opts), SPH_EARG, .key = "samples");
}

static size_t fail_each(int (*check)(struct theory *), size_t stride)
{
    static sph_theory_result result;
    sph_theory_opts opts;
    sph_theory_defaults(&opts);
    struct theory of = {&opts, &result};
    opts.samples = 1;
    opts.threads = 2;
    for (size_t n = 0;; n += stride) {
        result.count = 0;
        fault_after(n);
        int err = check(&of), happened = fault_happened();
        fault_off();
        if (!happened) {
            assert_int_equal(err, 0);
            return n;
        }
        assert_int_equal(err, SPH_EMEMORY);
    }
}

static void short_memory_is_a_failure_and_leaks_nothing(void **state)
{
    (void)state;
    assert_true(fail_each(theory_flips, 9) > 90); /* two in every batch: some of them */
    assert_true(fail_each(theory_norms, 1) >= 30);
    assert_true(fail_each(theory_metric, 1) >= 21);
    assert_true(fail_each(theory_small, 1) >= 8);
    assert_true(fail_each(theory_bound, 1) >= 24);
}

/* ---------------------------------------------------------------- pairs side by side */

static void normal_numbers_have_the_moments_of_a_normal(void **state)
{
    (void)state;
    enum { COUNT = 200001 };
    double *x = numbers(COUNT), moment[5] = {0};
    struct rng rng = rng_stream(1, RNG_THEORY, 0);
    turns_normals(kernels_pick(SPH_F64, KERNELS_FASTEST), &rng, COUNT, x);
    for (size_t i = 0; i < COUNT; i++)
        for (int p = 1; p <= 4; p++)
            moment[p] += pow(x[i], p) / COUNT;
    /* four deviations of each mean */
    assert_true(fabs(moment[1]) < 0.009 && fabs(moment[2] - 1) < 0.013);
    assert_true(fabs(moment[3]) < 0.035 && fabs(moment[4] - 3) < 0.09);
    free(x);
}

/* Coordinates of a uniform direction: mean 0, mean square 1/n, mean fourth power 3 / (n (n + 2)). */
static void drawn_angles_are_those_of_uniform_directions(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    for (size_t d = 0; d < 3; d++) {
        struct turns turns;
        size_t n = dims[d];
        struct rng rng = rng_stream(3, RNG_THEORY, (uint32_t)d);
        assert_int_equal(turns_new(&turns, n, COUNT), 0);
        turns_draw_theta(&turns, &rng);
        turns_draw_eps(&turns, &rng);
        turns_measure(&turns);
        for (size_t i = 0; i < n; i++) {
            double mean = 0, square = 0, fourth = 0, size = (double)n;
            for (size_t j = 0; j < COUNT; j++) {
                double u = turns.u[i * COUNT + j];
                mean += u / COUNT;
                square += u * u / COUNT;
                fourth += u * u * u * u / COUNT;
            }
            assert_true(fabs(mean) < 0.025 / sqrt(size));
            assert_true(fabs(square * size - 1) < 0.04);
            assert_true(fabs(fourth * size * (size + 2) / 3 - 1) < 0.1);
        }
        for (size_t j = 0; j < COUNT; j++)
            assert_true(fabs(turns.length[j] - 1) < 1e-12);
        turns_free(&turns);
    }
}

/* One pair at a time, by the row that converts and the turn that trackers use. */
static void turns_side_by_side_are_the_turns_of_single_units(void **state)
{
    (void)state;
    enum { PAIRS = 16 };
    for (size_t d = 0; d < DIMS; d++) {
        struct turns turns;
        size_t n = dims[d];
        struct rng rng = rng_stream(5, RNG_THEORY, (uint32_t)d);
        double *theta = numbers(n), *u = numbers(n), *v = numbers(n), zero = 0, one = 1, b, s, scale[PAIRS];
        assert_int_equal(turns_new(&turns, n, PAIRS), 0);
        for (size_t j = 0; j < PAIRS; j++)
            scale[j] = pow(10, between(&rng, -4, 1));
        turns_draw_theta(&turns, &rng);
        turns_draw_eps(&turns, &rng);
        turns_scale_eps(&turns, scale);
        turns_measure(&turns);
        for (size_t j = 0; j < PAIRS; j++) {
            const double *const unit[PARAM_TENSORS] = {theta, &zero, &one};
            for (size_t a = 0; a + 1 < n; a++)
                theta[a] = turns.theta[a * PAIRS + j];
            param_ops(SPH_PARAM_GMP)->to_unit(n, unit, NULL, u, &b, &s);
            for (size_t a = 0; a + 1 < n; a++)
                theta[a] += turns.eps[a * PAIRS + j];
            param_ops(SPH_PARAM_GMP)->to_unit(n, unit, NULL, v, &b, &s);
            assert_true(fabs(plane_turn(n, u, v) - turns.turn[j]) < 1e-13);
            assert_true(fabs(turns.length[j] / scale[j] - 1) < 1e-10);
        }
        turns_free(&turns);
        free(theta), free(u), free(v);
    }
}

static void metrics_are_the_products_and_the_sums(void **state)
{
    (void)state;
    static const double theta[] = {0.7, 2.1, -1.3}, eps[] = {1e-3, -2e-3, 3e-3};
    double s1 = sin(0.7) * sin(0.7), s2 = sin(2.1) * sin(2.1);
    struct turns turns;
    assert_int_equal(turns_new(&turns, 4, 8), 0);
    for (size_t a = 0; a < 3; a++)
        for (size_t j = 0; j < 8; j++) {
            turns.theta[a * 8 + j] = theta[a];
            turns.eps[a * 8 + j] = eps[a];
        }
    turns_measure(&turns);
    turns_metric(&turns, 0, 0);
    assert_true(fabs(turns.metric[5] - 1e-3 * sqrt(1 + 4 * s1 + 9 * s1 * s2)) < 1e-15);
    assert_true(fabs(turns.turn[5] / turns.metric[5] - 1) < 2e-3);
    turns_metric(&turns, 0, 1);
    assert_true(fabs(turns.metric[5] - 1e-3 * sqrt(1 + 4 * s1 + 9 * (s1 + s2))) < 1e-15);
    assert_true(turns.metric[5] > 1.2 * turns.turn[5]); /* and the sums are wrong */
    turns_free(&turns);
}

/* ---------------------------------------------------------------- the theorem, one pair at a time */

struct direction {
    size_t n;
    double *theta, *moved, *u, *v;
};

static struct direction direction_new(size_t n)
{
    return (struct direction){n, numbers(n), numbers(n), numbers(n), numbers(n)};
}

static void direction_free(struct direction *d)
{
    free(d->theta), free(d->moved), free(d->u), free(d->v);
}

static void draw_direction(struct direction *d, struct rng *rng)
{
    double b = 0, r;
    double *const unit[PARAM_TENSORS] = {d->theta, &b, &r};
    for (size_t i = 0; i < d->n; i++)
        d->u[i] = rng_normal(rng);
    param_ops(SPH_PARAM_GMP)->from_unit(d->n, d->u, 0, (double **)unit, NULL);
}

static double turn_of(struct direction *d)
{
    double b = 0, r = 1, s;
    const double *const here[PARAM_TENSORS] = {d->theta, &b, &r}, *const there[PARAM_TENSORS] = {d->moved, &b,
                                                                                                 &r};
    param_ops(SPH_PARAM_GMP)->to_unit(d->n, here, NULL, d->u, &b, &s);
    param_ops(SPH_PARAM_GMP)->to_unit(d->n, there, NULL, d->v, &b, &s);
    return plane_turn(d->n, d->u, d->v);
}

static void no_step_of_the_angles_turns_further_than_its_length(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        size_t n = dims[d], pairs = n > 100 ? 40 : 4000;
        struct direction at = direction_new(n);
        struct rng rng = rng_stream(17, RNG_NOISE, (uint32_t)d);
        for (size_t p = 0; p < pairs; p++) {
            double square = 0, size = pow(10, between(&rng, -6, 1)) / sqrt((double)n);
            draw_direction(&at, &rng);
            for (size_t a = 0; a + 1 < n; a++) {
                at.moved[a] = at.theta[a] + size * rng_normal(&rng);
                square += (at.moved[a] - at.theta[a]) * (at.moved[a] - at.theta[a]);
            }
            assert_true(turn_of(&at) <= sqrt(square) + 1e-13);
        }
        direction_free(&at);
    }
}

static void a_step_of_the_first_angle_turns_by_its_length_up_to_pi(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        size_t n = dims[d];
        struct direction at = direction_new(n);
        struct rng rng = rng_stream(19, RNG_NOISE, (uint32_t)d);
        for (size_t p = 0; p < 40; p++) {
            double step = between(&rng, -6, 6), fold = fabs(step) <= pi ? fabs(step) : 2 * pi - fabs(step);
            draw_direction(&at, &rng);
            memcpy(at.moved, at.theta, (n - 1) * sizeof *at.moved);
            at.moved[0] += step;
            assert_true(fabs(turn_of(&at) - fold) < 1e-12);
        }
        direction_free(&at);
    }
}

/* ---------------------------------------------------------------- flips of real units */

/* eps = -1.001 w (LN, GN: of what it sees) turns relu(w x) round: whatever x, one of the two is active. */
static void units_of_real_networks_flip(void **state)
{
    (void)state;
    enum { N = 9, UNITS = 6, POINTS = 200 };
    static const struct {
        sph_param param;
        sph_norm norm;
        const char *tensor;
    } methods[] = {{SPH_PARAM_SP, SPH_NORM_NONE, "layers.0.weight"},
                   {SPH_PARAM_WN, SPH_NORM_NONE, "layers.0.v"},
                   {SPH_PARAM_SP, SPH_NORM_BN, "layers.0.weight"},
                   {SPH_PARAM_SP, SPH_NORM_LN, "layers.0.weight"},
                   {SPH_PARAM_SP, SPH_NORM_GN, "layers.0.weight"}};
    struct rng rng = rng_stream(23, RNG_NOISE, 0);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        size_t seen = methods[k].norm == SPH_NORM_LN ? UNITS : methods[k].norm == SPH_NORM_GN ? UNITS / 2 : 1;
        sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
        int node = sph_net_dense(net, sph_net_input(net, N),
                                 &(sph_layer){.size = sizeof(sph_layer),
                                              .units = UNITS,
                                              .param = methods[k].param,
                                              .norm = methods[k].norm,
                                              .act = SPH_ACT_RELU,
                                              .norm_groups = methods[k].norm == SPH_NORM_GN ? 2 : 0});
        ready(net, node, k);
        double w[UNITS * N], x[N], before[POINTS][UNITS], after[POINTS][UNITS], points[POINTS][N];
        assert_int_equal(sph_net_get(net, methods[k].tensor, w, UNITS * N), 0);
        for (size_t p = 0; p < POINTS; p++)
            for (size_t i = 0; i < N; i++)
                points[p][i] = rng_normal(&rng);
        for (size_t p = 0; p < POINTS; p++) {
            memcpy(x, points[p], sizeof x);
            assert_int_equal(sph_net_forward(net, x, 1, before[p]), 0);
        }
        for (size_t i = 0; i < N; i++) {
            double mean = 0;
            for (size_t j = 1; j < seen; j++)
                mean += w[j * N + i] / (double)(seen - 1);
            w[i] -= 1.001 * (w[i] - mean);
        }
        assert_int_equal(sph_net_set(net, methods[k].tensor, w, UNITS * N), 0);
        for (size_t p = 0; p < POINTS; p++) {
            assert_int_equal(sph_net_forward(net, points[p], 1, after[p]), 0);
            assert_true((before[p][0] > 0) != (after[p][0] > 0));
        }
        sph_net_free(net);
    }
}

/* ---------------------------------------------------------------- Eq. 9 in real units */

/* A unit of BN and one of WN whose length is gamma |w| / |w|_S: the same loss over a training batch of mean 0, in whose
 * statistics BN sees it. The inputs are correlated; S is their covariance and 1e-5 bn's epsilon. */
static void bn_is_wn_in_the_norm_of_the_covariance(void **state)
{
    (void)state;
    enum { N = 5, ROWS = 40 };
    struct rng rng = rng_stream(29, RNG_NOISE, 0);
    double x[ROWS][N], w[N], gamma = 1.7, beta = -0.4, square = 0, diagonal = 0, length = 0, loss[2];
    for (size_t i = 0; i < N; i++) {
        double mean = 0;
        w[i] = rng_normal(&rng);
        length += w[i] * w[i];
        for (size_t row = 0; row < ROWS; row++)
            mean += (x[row][i] = rng_normal(&rng) + (i ? 0.8 * x[row][i - 1] : 0)) / ROWS;
        for (size_t row = 0; row < ROWS; row++)
            x[row][i] -= mean;
    }
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++)
            for (size_t row = 0; row < ROWS; row++) {
                square += w[a] * w[b] * x[row][a] * x[row][b] / ROWS;
                diagonal += a == b ? w[a] * w[b] * x[row][a] * x[row][b] / ROWS : 0;
            }
    double g = gamma * sqrt(length / (square + 1e-5));
    for (int wn = 0; wn < 2; wn++) {
        sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
        struct probe probe;
        ready(net,
              dense(net, sph_net_input(net, N), 1, wn ? SPH_PARAM_WN : SPH_PARAM_SP,
                    wn ? SPH_NORM_NONE : SPH_NORM_BN, SPH_ACT_RELU),
              1);
        assert_int_equal(sph_net_set(net, wn ? "layers.0.v" : "layers.0.weight", w, N), 0);
        assert_int_equal(sph_net_set(net, wn ? "layers.0.g" : "layers.0.norm.scale", wn ? &g : &gamma, 1), 0);
        assert_int_equal(sph_net_set(net, wn ? "layers.0.bias" : "layers.0.norm.shift", &beta, 1), 0);
        struct rng targets = rng_stream(31, RNG_NOISE, 0);
        probe_open(&probe, net, SPH_LOSS_MSE, ROWS, 1, &targets);
        for (size_t row = 0; row < ROWS; row++)
            net_arrange(net, x[row], (char *)probe.x + row * probe.ldx * net->k->size);
        loss[wn] = probe_loss(&probe);
        probe_close(&probe);
        sph_net_free(net);
    }
    assert_true(fabs(loss[0] - loss[1]) < 1e-12 && loss[0] > 0.1);
    assert_true(fabs(square / length - 1) > 0.1); /* with S = I it would be WN's own norm */
    assert_true(fabs(diagonal / square - 1) >
                0.1); /* nor does BN see the diagonal alone, as 2023's section 2.3 has it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_check_passes_with_any_seed),
        cmocka_unit_test(a_million_samples_are_the_default_and_no_fewer_are_tried),
        cmocka_unit_test(threads_change_no_number_and_seeds_do),
        cmocka_unit_test(a_row_passes_inside_its_limits_and_nowhere_else),
        cmocka_unit_test(what_is_not_a_number_is_never_forgotten),
        cmocka_unit_test(counts_are_written_in_groups_of_three),
        cmocka_unit_test(progress_rises_to_one_and_can_stop),
        cmocka_unit_test(options_that_cannot_be_meant_are_refused),
        cmocka_unit_test(short_memory_is_a_failure_and_leaks_nothing),
        cmocka_unit_test(normal_numbers_have_the_moments_of_a_normal),
        cmocka_unit_test(drawn_angles_are_those_of_uniform_directions),
        cmocka_unit_test(turns_side_by_side_are_the_turns_of_single_units),
        cmocka_unit_test(metrics_are_the_products_and_the_sums),
        cmocka_unit_test(no_step_of_the_angles_turns_further_than_its_length),
        cmocka_unit_test(a_step_of_the_first_angle_turns_by_its_length_up_to_pi),
        cmocka_unit_test(units_of_real_networks_flip),
        cmocka_unit_test(bn_is_wn_in_the_norm_of_the_covariance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
