/* SPDX-License-Identifier: MIT
 *
 * A perturbed unit: its boundary is where real networks switch, all methods begin with the same one, and
 * turns are what the formulas say. */
#include "support.h"

#include "boundary/perturb.h"
#include "boundary/tool.h"
#include "fault.h"

static const size_t dims[] = {2, 3, 17, 4608};
enum { DIMS = sizeof dims / sizeof *dims };

static const double degree = 57.295779513082320876798154814105;

static sph_perturb_result perturb(const sph_perturb_opts *opts)
{
    sph_perturb_result result;
    assert_int_equal(sph_perturb(&result, opts), 0);
    return result;
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void every_method_begins_with_the_boundary_asked_for(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            sph_perturb_opts opts;
            sph_perturb_defaults(&opts);
            opts.inputs = dims[d];
            opts.seed = seed;
            opts.distance = seed == 2 ? -0.3 : 1.5;
            opts.rows = 32;
            sph_perturb_result result = perturb(&opts);
            const double *w = result.method[PERTURB_SP].tensor[SP_W].value;
            double length = sqrt(dot(dims[d], w, w));
            assert_true(fabs(length - 1e-3) < 1e-15);
            for (size_t m = 0; m < SPH_PERTURB_METHODS; m++) {
                const sph_perturb_plane *base = &result.method[m].base;
                assert_true(base->turn == 0 && base->shift == 0 && base->eps == 0);
                for (size_t i = 0; i < dims[d]; i++)
                    assert_true(fabs(base->phi[i] + opts.distance * w[i] / length) < 1e-12);
                assert_true(dot(dims[d], base->w, w) > 0); /* active on the same side */
            }
            sph_perturb_free(&result);
        }
}

static void phi_lies_on_its_boundary_before_and_after(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        sph_perturb_opts opts;
        sph_perturb_defaults(&opts);
        opts.inputs = dims[d];
        opts.seed = 5 + d;
        opts.rows = 32;
        sph_perturb_result result = perturb(&opts);
        assert_int_equal(result.count, 4);
        for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
            for (size_t e = 0; e <= result.count; e++) {
                const sph_perturb_plane *plane = e ? &result.method[m].after[e - 1] : &result.method[m].base;
                double length = sqrt(dot(dims[d], plane->w, plane->w));
                assert_true(fabs(dot(dims[d], plane->w, plane->phi) + plane->b) < 1e-12 * length);
            }
        sph_perturb_free(&result);
    }
}

/* ---------------------------------------------------------------- the real thing */

/* A layer of `units` under the method, unit 0 with the numbers of tensor[] + eps; the output is unit 0. */
static sph_net *real_net(enum perturb_method id, const sph_perturb_method *method,
                         const sph_perturb_opts *opts, double eps)
{
    static const sph_param param[] = {SPH_PARAM_SP, SPH_PARAM_WN, SPH_PARAM_SP, SPH_PARAM_SP, SPH_PARAM_GMP};
    static const char *const name[][3] = {{"weight", "bias"},
                                          {"v", "g", "bias"},
                                          {"weight", "norm.scale", "norm.shift"},
                                          {"weight", "bias", "norm.scale"},
                                          {"theta", "lambda", "r"}};
    sph_norm norm = id == PERTURB_BN ? SPH_NORM_BN : id == PERTURB_LN ? SPH_NORM_LN : SPH_NORM_NONE;
    size_t n = opts->inputs, units = id == PERTURB_LN ? opts->units : 1;
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = sph_net_input(net, n);
    node = dense(net, node, units, param[id], norm, SPH_ACT_RELU);
    node = dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY);
    ready(net, node, 1);
    for (size_t t = 0; t < 3 && name[id][t]; t++) {
        char path[64];
        size_t per_unit = method->tensor[t].count, count = units * per_unit;
        double *values = numbers(count);
        snprintf(path, sizeof path, "layers.0.%s", name[id][t]);
        if (id == PERTURB_LN && t == LN_W)
            memcpy(values + n, method->tensor[LN_OTHERS].value, (count - n) * sizeof *values);
        else if (id == PERTURB_LN && t == LN_GAMMA)
            for (size_t i = 1; i < units; i++)
                values[i] = 1;
        for (size_t i = 0; i < per_unit; i++)
            values[i] = method->tensor[t].value[i] + (method->tensor[t].perturbed ? eps : 0);
        assert_int_equal(sph_net_set(net, path, values, count), 0);
        if (id == PERTURB_BN && t == BN_W) {
            double mean, variance;
            assert_int_equal(perturb_batch(n, values, opts->rows, opts->seed, &mean, &variance), 0);
            assert_int_equal(sph_net_set(net, "layers.0.norm.mean", &mean, 1), 0);
            assert_int_equal(sph_net_set(net, "layers.0.norm.var", &variance, 1), 0);
        }
        free(values);
    }
    double *pick = numbers(units), zero = 0;
    pick[0] = 1;
    assert_int_equal(sph_net_set(net, "layers.1.weight", pick, units), 0);
    assert_int_equal(sph_net_set(net, "layers.1.bias", &zero, 1), 0);
    free(pick);
    return net;
}

/* Points of the boundary, a little to either side. */
static void real_networks_switch_at_the_boundary_of_every_method(void **state)
{
    (void)state;
    enum { POINTS = 20 };
    size_t crossed = 0;
    for (size_t d = 0; d < 3; d++) {
        struct rng rng = rng_stream(d, RNG_NOISE, 0);
        sph_perturb_opts opts;
        sph_perturb_defaults(&opts);
        size_t n = opts.inputs = dims[d];
        opts.seed = 11 + d;
        opts.rows = 64;
        sph_perturb_result result = perturb(&opts);
        double *x = numbers(n);
        for (int m = 0; m < SPH_PERTURB_METHODS; m++)
            for (size_t e = 0; e <= result.count; e++) {
                const sph_perturb_method *method = &result.method[m];
                const sph_perturb_plane *plane = e ? &method->after[e - 1] : &method->base;
                double length = sqrt(dot(n, plane->w, plane->w));
                sph_net *net = real_net((enum perturb_method)m, method, &opts, plane->eps);
                for (size_t p = 0; p < 2 * POINTS; p++) {
                    double side = p % 2 ? 1e-7 : -1e-7, y;
                    for (size_t i = 0; i < n; i++)
                        x[i] = rng_normal(&rng);
                    double off = (dot(n, plane->w, x) + plane->b) / length;
                    for (size_t i = 0; i < n; i++)
                        x[i] += (side - off) * plane->w[i] / length;
                    assert_int_equal(sph_net_forward(net, x, 1, &y), 0);
                    assert_int_equal(y > 0, side > 0);
                    crossed++;
                }
                sph_net_free(net);
            }
        free(x);
        sph_perturb_free(&result);
    }
    assert_int_equal(crossed, 3 * 5 * 5 * 2 * POINTS);
}

/* The batch is a real one: its moments are those of bn in training mode. */
static void batch_moments_are_those_of_rows(void **state)
{
    (void)state;
    enum { N = 5, ROWS = 40 };
    double w[N] = {0.3, -1, 2, 0, 0.7}, x[N], sum = 0, square = 0, mean, variance;
    for (size_t row = 0; row < ROWS; row++) {
        perturb_batch_row(N, 9, row, x);
        sum += dot(N, w, x);
        square += dot(N, w, x) * dot(N, w, x);
    }
    assert_int_equal(perturb_batch(N, w, ROWS, 9, &mean, &variance), 0);
    assert_true(fabs(mean - sum / ROWS) < 1e-13);
    assert_true(fabs(variance - (square / ROWS - mean * mean)) < 1e-12);
    assert_true(variance > 1 && variance < 20); /* w.w is 5.6 */
}

/* ---------------------------------------------------------------- turns */

static void a_plane_angle_turns_by_eps_and_the_offset_moves_by_eps(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const double eps[] = {1e-9, 1e-3, 0.1, -0.1, 3};
        sph_perturb_opts opts;
        sph_perturb_defaults(&opts);
        opts.seed = seed;
        opts.eps = eps;
        opts.count = 5;
        sph_perturb_result result = perturb(&opts);
        for (size_t e = 0; e < 5; e++) {
            const sph_perturb_plane *after = &result.method[PERTURB_GMP].after[e];
            assert_true(fabs(after->turn - degree * eps[e]) < 1e-13 * degree);
            /* phi = -lambda u: the chord between points of circles of radius 1 and 1 + eps */
            double radius = 1 + eps[e], chord = 1 + radius * radius - 2 * radius * cos(eps[e]);
            assert_true(fabs(after->shift - sqrt(chord)) < 1e-7);
        }
        sph_perturb_free(&result);
    }
}

static void in_any_dimension_gmp_turns_less_than_eps_and_the_others_as_a_vector_does(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        sph_perturb_opts opts;
        sph_perturb_defaults(&opts);
        size_t n = opts.inputs = dims[d];
        opts.seed = 3 + d;
        opts.rows = 16;
        sph_perturb_result result = perturb(&opts);
        const double *w = result.method[PERTURB_SP].tensor[SP_W].value;
        double *moved = numbers(n);
        for (size_t e = 0; e < result.count; e++) {
            double eps = opts.eps[e];
            assert_true(fabs(result.method[PERTURB_GMP].after[e].turn) <=
                        degree * eps * sqrt((double)(n - 1)) * (1 + 1e-9));
            for (size_t i = 0; i < n; i++)
                moved[i] = w[i] + eps;
            double cosine = dot(n, w, moved) / sqrt(dot(n, w, w) * dot(n, moved, moved));
            for (size_t m = 0; m < PERTURB_GMP; m++)
                assert_true(fabs(cos(result.method[m].after[e].turn / degree) - cosine) < 1e-9);
        }
        free(moved);
        sph_perturb_free(&result);
    }
}

/* (1, 0) becomes (2, 1), (0, 1) becomes (1, 2); however short or long they are, the sign stays. */
static void a_turn_in_the_plane_has_a_sign(void **state)
{
    (void)state;
    const double lengths[] = {1e-3, 1e-170, 1e-300, 1e150};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const double right[] = {lengths[l], 0}, up[] = {0, lengths[l]};
        sph_perturb_opts opts;
        sph_perturb_defaults(&opts);
        opts.eps = lengths + l;
        opts.count = 1;
        for (int sign = 1; sign >= -1; sign -= 2) {
            opts.w = sign > 0 ? right : up;
            sph_perturb_result result = perturb(&opts);
            for (size_t m = 0; m < SPH_PERTURB_METHODS; m++) {
                const sph_perturb_plane *after = &result.method[m].after[0];
                if (m <= PERTURB_WN)
                    assert_true(fabs(after->turn - sign * degree * atan2(1, 2)) < 1e-12);
                assert_true(isfinite(after->turn) && isfinite(after->shift));
            }
            sph_perturb_free(&result);
        }
    }
}

static void a_weight_that_vanishes_has_no_boundary_and_no_number(void **state)
{
    (void)state;
    const double w[] = {-1e-3, -1e-3}, eps[] = {1e-3};
    sph_perturb_opts opts;
    sph_perturb_defaults(&opts);
    opts.eps = eps;
    opts.count = 1;
    opts.w = w;
    sph_perturb_result result = perturb(&opts);
    for (size_t m = 0; m <= PERTURB_BN; m++) {
        assert_true(isnan(result.method[m].after[0].turn));
        assert_true(isnan(result.method[m].after[0].shift));
        assert_true(isnan(result.method[m].after[0].phi[0]));
    }
    assert_true(isfinite(result.method[PERTURB_GMP].after[0].turn));
    sph_perturb_free(&result);
}

/* ---------------------------------------------------------------- what cannot be meant, and no memory */

static void refused(const sph_perturb_opts *opts, const char *key)
{
    sph_perturb_result result;
    assert_fails(sph_perturb(&result, opts), SPH_EARG, .key = key);
    assert_null(result.memory);
}

static void options_that_cannot_be_meant_are_refused(void **state)
{
    (void)state;
    const double zero[] = {0, 0}, bad[] = {1, NAN};
    sph_perturb_opts right;
    sph_perturb_defaults(&right);
    sph_perturb_opts opts = right;
    opts.inputs = 1;
    refused(&opts, "inputs");
    opts = right, opts.count = 0;
    refused(&opts, "eps");
    opts = right, opts.rows = 1;
    refused(&opts, "rows");
    opts = right, opts.units = 1;
    refused(&opts, "units");
    opts = right, opts.length = 0;
    refused(&opts, "length");
    opts = right, opts.distance = INFINITY;
    refused(&opts, "distance");
    opts = right, opts.eps = bad, opts.count = 2;
    refused(&opts, "eps");
    opts = right, opts.w = bad;
    refused(&opts, "weight");
    opts = right, opts.w = zero;
    refused(&opts, "weight");

    const double large[] = {1e308, 1e308}, steps[] = {1e-3, -1e200};
    opts = right, opts.w = large;
    refused(&opts, "length");
    opts = right, opts.length = 1e151;
    refused(&opts, "length");
    opts = right, opts.distance = -1e300;
    refused(&opts, "distance");
    opts = right, opts.eps = steps, opts.count = 2;
    refused(&opts, "eps");
}

static void short_memory_is_a_failure_and_leaks_nothing(void **state)
{
    (void)state;
    sph_perturb_opts opts;
    sph_perturb_defaults(&opts);
    sph_perturb_result result;
    size_t failures = 0;
    for (;; failures++) {
        fault_after(failures);
        int err = sph_perturb(&result, &opts), happened = fault_happened();
        fault_off();
        if (!happened) {
            assert_int_equal(err, 0);
            sph_perturb_free(&result);
            break;
        }
        assert_int_equal(err, SPH_EMEMORY);
        assert_null(result.memory);
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_begins_with_the_boundary_asked_for),
        cmocka_unit_test(phi_lies_on_its_boundary_before_and_after),
        cmocka_unit_test(real_networks_switch_at_the_boundary_of_every_method),
        cmocka_unit_test(batch_moments_are_those_of_rows),
        cmocka_unit_test(a_plane_angle_turns_by_eps_and_the_offset_moves_by_eps),
        cmocka_unit_test(in_any_dimension_gmp_turns_less_than_eps_and_the_others_as_a_vector_does),
        cmocka_unit_test(a_turn_in_the_plane_has_a_sign),
        cmocka_unit_test(a_weight_that_vanishes_has_no_boundary_and_no_number),
        cmocka_unit_test(options_that_cannot_be_meant_are_refused),
        cmocka_unit_test(short_memory_is_a_failure_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
