/* SPDX-License-Identifier: MIT
 *
 * Parameterizations: u(theta) and its inverse, the geometry of Theorem 3.7, first values, the manifold of
 * sphere, and what f32 loses. */
#include "support.h"

static const size_t dimensions[] = {1, 2, 3, 17, 4608};
enum { DIMENSIONS = sizeof dimensions / sizeof *dimensions };

/* ---------------------------------------------------------------- helpers */

static double norm_of(size_t n, const double *w)
{
    double length = 0;
    for (size_t i = 0; i < n; i++)
        length = hypot(length, w[i]);
    return length;
}

/* Accurate near 0 and near pi. */
static double angle_between(size_t n, const double *u, const double *v)
{
    double minus = 0, plus = 0;
    for (size_t i = 0; i < n; i++) {
        minus += (u[i] - v[i]) * (u[i] - v[i]);
        plus += (u[i] + v[i]) * (u[i] + v[i]);
    }
    return 2 * atan2(sqrt(minus), sqrt(plus));
}

static sph_net *one_layer(sph_dtype dtype, sph_param param, sph_init init, sph_act act, size_t n, size_t m,
                          uint64_t seed)
{
    sph_net *net = open_net(dtype, KERNELS_FASTEST);
    int node = sph_net_dense(
        net, sph_net_input(net, n),
        &(sph_layer){.size = sizeof(sph_layer), .units = m, .param = param, .init = init, .act = act});
    assert_true(node >= 0);
    ready(net, node, seed);
    return net;
}

static void set_all(sph_net *net, const char *name, double value)
{
    const struct net_tensor *tensor = net_find_tensor(net, name);
    assert_non_null(tensor);
    double *values = numbers(tensor->view.count);
    for (size_t i = 0; i < tensor->view.count; i++)
        values[i] = value;
    net_write_tensor(net, tensor, values);
    free(values);
}

static double *get_all(const sph_net *net, const char *name, size_t count)
{
    double *values = numbers(count);
    assert_int_equal(sph_net_get(net, name, values, count), 0);
    return values;
}

/* u (n) of angles (n-1), through the library's own path. */
struct polar {
    sph_net *net;
    size_t n;
};

static struct polar polar_open(size_t n)
{
    struct polar polar = {one_layer(SPH_F64, SPH_PARAM_GMP, SPH_INIT_PAPER, SPH_ACT_RELU, n, 1, 1), n};
    return polar;
}

static void polar_at(const struct polar *polar, const double *theta, double *u)
{
    assert_int_equal(sph_net_set(polar->net, "layers.0.theta", theta, polar->n - 1), 0);
    assert_int_equal(sph_net_weight(polar->net, 0, u, NULL, NULL), 0);
}

static void random_direction(struct rng *rng, size_t n, double *u)
{
    for (size_t i = 0; i < n; i++)
        u[i] = rng_normal(rng);
    double length = norm_of(n, u);
    for (size_t i = 0; i < n; i++)
        u[i] /= length;
}

/* ---------------------------------------------------------------- angles and directions */

static void u_of_theta_has_length_one(void **state)
{
    (void)state;
    struct rng rng = rng_stream(1, RNG_NOISE, 0);
    for (size_t d = 1; d < DIMENSIONS; d++) {
        size_t n = dimensions[d];
        struct polar polar = polar_open(n);
        double *theta = numbers(n), *u = numbers(n);
        for (int round = 0; round < 20; round++) {
            for (size_t i = 0; i + 1 < n; i++)
                theta[i] = round == 0 ? 0 : between(&rng, -7, 7);
            polar_at(&polar, theta, u);
            /* n products of sines and cosines, each rounded */
            assert_true(fabs(norm_of(n, u) - 1) < 1e-15 * (double)(n + 2));
        }
        sph_net_free(polar.net);
        free(theta);
        free(u);
    }
}

/* The formula of DESIGN 2.1, written out. */
static void u_of_theta_is_the_formula(void **state)
{
    (void)state;
    struct polar polar = polar_open(5);
    double theta[4] = {0.3, 2.5, -1.1, 4.0}, u[5], prefix = 1;
    polar_at(&polar, theta, u);
    for (size_t i = 0; i < 5; i++) {
        double want = i < 4 ? prefix * cos(theta[i]) : prefix;
        assert_true(fabs(u[i] - want) < 1e-15);
        if (i < 4)
            prefix *= sin(theta[i]);
    }
    sph_net_free(polar.net);
}

/* Rows worth trying: 0 random, 1 last coordinate negative, 2 zero, 3 an axis, 4 minus an axis, 5 huge, 6
 * tiny, 7 zeros at the end */
enum { ROW_KINDS = 8 };

static void make_row(struct rng *rng, int kind, size_t n, double *w)
{
    random_direction(rng, n, w);
    for (size_t i = 0; i < n; i++)
        w[i] *= 2.5;
    size_t axis = rng_below(rng, (uint32_t)n);
    if (kind == 1)
        w[n - 1] = -fabs(w[n - 1]);
    for (size_t i = 0; i < n; i++) {
        if (kind == 2)
            w[i] = 0;
        if (kind == 3 || kind == 4)
            w[i] = i == axis ? (kind == 3 ? 1.5 : -1.5) : 0;
        if (kind == 5 || kind == 6)
            w[i] *= kind == 5 ? 1e200 : 1e-200;
        if (kind == 7 && i > 0)
            w[i] = 0;
    }
}

static void weights_survive_the_way_there_and_back(void **state)
{
    (void)state;
    struct rng rng = rng_stream(2, RNG_NOISE, 0);
    for (size_t d = 0; d < DIMENSIONS; d++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++) {
            size_t n = dimensions[d], m = ROW_KINDS;
            sph_net *net = one_layer(SPH_F64, (sph_param)param, SPH_INIT_DEFAULT, SPH_ACT_RELU, n, m, 1);
            double *w = numbers(m * n), *b = numbers(m), *w2 = numbers(m * n), *b2 = numbers(m),
                   *s2 = numbers(m);
            for (size_t j = 0; j < m; j++) {
                make_row(&rng, (int)j, n, w + j * n);
                b[j] = between(&rng, -1, 1) * norm_of(n, w + j * n);
            }
            if (param == SPH_PARAM_WN) /* |v|^2 must be a number: a limit of the row, not of conversion */
                for (size_t i = 0; i < n; i++)
                    w[5 * n + i] *= 1e-100, w[6 * n + i] *= 1e100;
            struct param_values values;
            assert_int_equal(net_values_new(net->layers[0].ops, &net->layers[0].shape, &values), 0);
            param_from_weight(net->layers[0].ops, &net->layers[0].shape, w, b, &values);
            net_set_layer_values(net, 0, &values);
            net_values_free(&values);
            assert_int_equal(sph_net_weight(net, 0, w2, b2, s2), 0);
            for (size_t j = 0; j < m; j++) {
                double length = norm_of(n, w + j * n), error = 0;
                int zero = length == 0;
                if (zero && (param == SPH_PARAM_GMP || param == SPH_PARAM_SPHERE)) {
                    assert_true(s2[j] == 0); /* a direction of its own, and no output */
                    assert_true(fabs(norm_of(n, w2 + j * n) - 1) < 1e-15);
                    continue;
                }
                assert_true(s2[j] == 1);
                for (size_t i = 0; i < n; i++)
                    error = fmax(error, fabs(w2[j * n + i] - w[j * n + i]));
                assert_true(error <= 1e-15 * (double)(n + 4) * length);
                assert_true(fabs(b2[j] - b[j]) <= 4e-16 * (double)(n + 4) * (zero ? 1 : fabs(b[j])));
            }
            /* no half-sphere folding: the sign of the last coordinate is kept */
            assert_true(signbit(w2[1 * n + n - 1]));
            sph_net_free(net);
            free(w), free(b), free(w2), free(b2), free(s2);
        }
}

/* The metric of u(theta), J^T J by central differences, is diag(1, sin^2 th_1, sin^2 th_1 sin^2 th_2, ...).
 */
static void metric_is_the_product_of_squared_sines(void **state)
{
    (void)state;
    struct rng rng = rng_stream(3, RNG_NOISE, 0);
    for (size_t n = 2; n <= 9; n++) {
        struct polar polar = polar_open(n);
        double theta[8], plus[9], minus[9], jacobian[8][9], h = 1e-5;
        for (size_t a = 0; a + 1 < n; a++)
            theta[a] = between(&rng, 0.2, 2.9);
        for (size_t a = 0; a + 1 < n; a++) {
            double at = theta[a];
            theta[a] = at + h;
            polar_at(&polar, theta, plus);
            theta[a] = at - h;
            polar_at(&polar, theta, minus);
            theta[a] = at;
            for (size_t i = 0; i < n; i++)
                jacobian[a][i] = (plus[i] - minus[i]) / (2 * h);
        }
        double want = 1;
        for (size_t a = 0; a + 1 < n; a++) {
            for (size_t c = 0; c + 1 < n; c++) {
                double metric = 0;
                for (size_t i = 0; i < n; i++)
                    metric += jacobian[a][i] * jacobian[c][i];
                assert_true(fabs(metric - (a == c ? want : 0)) < 1e-8); /* h^2 and 1e-16 / h */
            }
            want *= sin(theta[a]) * sin(theta[a]);
        }
        sph_net_free(polar.net);
    }
}

static void turn_is_at_most_the_length_of_the_perturbation(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 3, 4, 10, 64, 500, 4608};
    struct rng rng = rng_stream(4, RNG_NOISE, 0);
    for (size_t d = 0; d < sizeof sizes / sizeof *sizes; d++) {
        size_t n = sizes[d];
        struct polar polar = polar_open(n);
        double *theta = numbers(n), *moved = numbers(n), *eps = numbers(n), *u = numbers(n), *v = numbers(n);
        double slack = 1e-14 * (double)n, closest = 0;
        for (int round = 0; round < 60; round++) {
            double length = pow(10, between(&rng, -6, 0.5)); /* finite ones too, up to pi */
            struct param_values first = {{moved, &(double){0}, &(double){0}}, NULL};
            random_direction(&rng, n, u);
            param_ops(SPH_PARAM_GMP)->from_unit(n, u, 0, first.raw, NULL); /* angles of a uniform direction */
            memcpy(theta, moved, (n - 1) * sizeof *theta);
            random_direction(&rng, n - 1, eps);
            int along_first = round % 4 == 0;
            for (size_t a = 0; a + 1 < n; a++) {
                if (along_first)
                    eps[a] = a == 0;
                moved[a] = theta[a] + length * eps[a];
            }
            polar_at(&polar, theta, u);
            polar_at(&polar, moved, v);
            double turn = angle_between(n, u, v);
            assert_true(turn <= length + slack);
            if (along_first && length < 3.14) {
                assert_true(fabs(turn - length) <= slack); /* tight along the first axis */
                closest = fmax(closest, turn / length);
            }
        }
        assert_true(closest > 0.99);
        sph_net_free(polar.net);
        free(theta), free(moved), free(eps), free(u), free(v);
    }
}

/* ---------------------------------------------------------------- first values */

static void paper_init_draws_uniform_directions_of_length_one(void **state)
{
    (void)state;
    enum { N = 6, M = 4000 };
    for (int param = SPH_PARAM_GMP; param <= SPH_PARAM_SPHERE; param++) {
        sph_net *net = one_layer(SPH_F64, (sph_param)param, SPH_INIT_PAPER, SPH_ACT_RELU, N, M, 9);
        double *w = numbers(N * M), *r = get_all(net, "layers.0.r", M),
               *lambda = get_all(net, "layers.0.lambda", M);
        assert_int_equal(sph_net_weight(net, 0, w, NULL, NULL), 0);
        for (size_t j = 0; j < M; j++) {
            assert_true(fabs(norm_of(N, w + j * N) - 1) < 1e-14);
            assert_true(fabs(r[j] - 1) < 1e-15);
            assert_true(lambda[j] == 0);
        }
        /* 4,000 draws: a mean has deviation sqrt(1/6/4000) = 0.0065, a variance 1/6 about 0.0034; five of
         * each */
        for (size_t i = 0; i < N; i++) {
            double mean = 0, square = 0, across = 0;
            for (size_t j = 0; j < M; j++) {
                mean += w[j * N + i] / M;
                square += w[j * N + i] * w[j * N + i] / M;
                across += w[j * N + i] * w[j * N + (i + 1) % N] / M;
            }
            assert_true(fabs(mean) < 0.033);
            assert_true(fabs(square - 1.0 / N) < 0.017);
            assert_true(fabs(across) < 0.017);
        }
        sph_net_free(net);
        free(w), free(r), free(lambda);
    }
}

/* The length is exactly 1 in the paper's init, so that the first scales are the same for all units. */
static void paper_init_sets_r_to_exactly_one(void **state)
{
    (void)state;
    sph_net *net = one_layer(SPH_F32, SPH_PARAM_GMP, SPH_INIT_DEFAULT, SPH_ACT_RELU, 13, 500, 3);
    double *r = get_all(net, "layers.0.r", 500);
    for (size_t j = 0; j < 500; j++)
        assert_true(r[j] == 1);
    sph_net_free(net);
    free(r);
    net = one_layer(SPH_F64, SPH_PARAM_GMP, SPH_INIT_DEFAULT, SPH_ACT_RELU, 13, 500, 3);
    r = get_all(net, "layers.0.r", 500);
    for (size_t j = 0; j < 500; j++)
        assert_true(r[j] == 1);
    sph_net_free(net);
    free(r);
}

static void glorot_and_he_have_their_spread(void **state)
{
    (void)state;
    enum { N = 20, M = 300 };
    double limit = sqrt(6.0 / (N + M));
    for (int param = 0; param < SPH_PARAM_COUNT; param++) {
        for (int init = SPH_INIT_GLOROT; init <= SPH_INIT_HE; init++) {
            sph_net *net = one_layer(SPH_F64, (sph_param)param, (sph_init)init, SPH_ACT_RELU, N, M, 4);
            double *w = numbers(N * M), *b = numbers(M), square = 0, largest = 0, mean = 0;
            assert_int_equal(sph_net_weight(net, 0, w, b, NULL), 0);
            for (size_t i = 0; i < N * M; i++) {
                mean += w[i] / (N * M);
                square += w[i] * w[i] / (N * M);
                largest = fmax(largest, fabs(w[i]));
            }
            double variance = init == SPH_INIT_GLOROT ? limit * limit / 3 : 2.0 / N;
            assert_true(fabs(square / variance - 1) <
                        0.1); /* 6,000 draws: five deviations of a normal's square */
            assert_true(fabs(mean) < 5 * sqrt(variance / (N * M)));
            if (init == SPH_INIT_GLOROT) {
                assert_true(largest <= limit * (1 + 1e-14));
                assert_true(largest > 0.99 * limit);
            } else {
                assert_true(largest > limit);
            }
            for (size_t j = 0; j < M; j++)
                assert_true(b[j] == 0);
            const char *length = param == SPH_PARAM_WN ? "layers.0.g" : "layers.0.r";
            if (net_find_tensor(net, length)) {
                double *r = get_all(net, length, M);
                for (size_t j = 0; j < M; j++)
                    assert_true(fabs(r[j] / norm_of(N, w + j * N) - 1) < 1e-14);
                free(r);
            }
            sph_net_free(net);
            free(w), free(b);
        }
    }
}

static void defaults_are_paper_for_gmp_and_glorot_for_the_others(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++) {
        sph_net *a = one_layer(SPH_F64, (sph_param)param, SPH_INIT_DEFAULT, SPH_ACT_RELU, 7, 9, 4);
        sph_net *b =
            one_layer(SPH_F64, (sph_param)param, param == SPH_PARAM_GMP ? SPH_INIT_PAPER : SPH_INIT_GLOROT,
                      SPH_ACT_RELU, 7, 9, 4);
        assert_memory_equal(a->params, b->params, a->learned * sizeof(double));
        sph_net_free(a);
        sph_net_free(b);
    }
}

static void same_seed_same_numbers_other_seed_others(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++) {
        sph_net *a =
            stack(SPH_F64, KERNELS_FASTEST, 1, 8, 2, 1, (sph_param)param, SPH_NORM_NONE, SPH_ACT_RELU, 5);
        sph_net *b =
            stack(SPH_F64, KERNELS_FASTEST, 1, 8, 2, 1, (sph_param)param, SPH_NORM_NONE, SPH_ACT_RELU, 5);
        sph_net *c =
            stack(SPH_F64, KERNELS_FASTEST, 1, 8, 2, 1, (sph_param)param, SPH_NORM_NONE, SPH_ACT_RELU, 6);
        assert_memory_equal(a->params, b->params, a->learned * sizeof(double));
        if (a->state_len)
            assert_memory_equal(a->state, b->state, a->state_len * sizeof(double));
        double *w[3] = {numbers(64), numbers(64), numbers(64)};
        assert_int_equal(sph_net_weight(a, 1, w[0], NULL, NULL), 0);
        assert_int_equal(sph_net_weight(c, 1, w[1], NULL, NULL), 0);
        size_t same = 0;
        for (size_t i = 0; i < 64; i++)
            same += w[0][i] == w[1][i];
        assert_int_equal(same, 0);
        sph_net_free(a), sph_net_free(b), sph_net_free(c);
        free(w[0]), free(w[1]), free(w[2]);
    }
}

static void one_input_units_get_both_signs_and_keep_them(void **state)
{
    (void)state;
    sph_net *net = one_layer(SPH_F64, SPH_PARAM_GMP, SPH_INIT_PAPER, SPH_ACT_RELU, 1, 100, 2);
    double *sign = get_all(net, "layers.0.sign", 100), *w = numbers(100);
    int up = 0;
    assert_int_equal(sph_net_weight(net, 0, w, NULL, NULL), 0);
    for (size_t j = 0; j < 100; j++) {
        assert_true(sign[j] == 1 || sign[j] == -1);
        assert_true(w[j] == sign[j]);
        up += sign[j] > 0;
    }
    assert_in_range(up, 25, 75);
    assert_null(net_find_tensor(net, "layers.0.theta"));
    assert_int_equal(sph_net_learned(net), 200); /* lambda and r */
    sph_net_free(net);
    free(sign), free(w);
}

static void paper_init_is_refused_without_a_radius(void **state)
{
    (void)state;
    for (int param = SPH_PARAM_SP; param <= SPH_PARAM_WN; param++) {
        sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
        int err = sph_net_dense(net, sph_net_input(net, 3),
                                &(sph_layer){.size = sizeof(sph_layer),
                                             .path = "first",
                                             .units = 2,
                                             .param = (sph_param)param,
                                             .init = SPH_INIT_PAPER});
        assert_fails(err, SPH_EARG, .key = "first");
        sph_net_free(net);
    }
}

/* ---------------------------------------------------------------- the manifold */

static void sphere_is_back_on_the_sphere_after_a_step(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
        enum { N = 31, M = 7 };
        sph_net *net = one_layer((sph_dtype)dtype, SPH_PARAM_SPHERE, SPH_INIT_GLOROT, SPH_ACT_RELU, N, M, 1);
        struct rng rng = rng_stream(5, RNG_NOISE, 0);
        struct weights *weights = NULL;
        assert_int_equal(weights_new(&weights, net, net->k, 1), 0);
        double *before = get_all(net, "layers.0.u", N * M);
        double *r = get_all(net, "layers.0.r", M);
        for (size_t i = 0; i < N * M; i++)
            before[i] += between(&rng, -2, 2);
        net_write_tensor(net, net_find_tensor(net, "layers.0.u"), before);
        weights_after_step(weights);
        double *after = get_all(net, "layers.0.u", N * M), *r2 = get_all(net, "layers.0.r", M);
        for (size_t j = 0; j < M; j++) {
            assert_true(fabs(norm_of(N, after + j * N) - 1) < (dtype == SPH_F64 ? 1e-15 : 3e-7));
            assert_true(angle_between(N, after + j * N, before + j * N) < 3); /* not turned round */
            double length = norm_of(N, before + j * N);
            for (size_t i = 0; i < N; i++)
                assert_true(fabs(after[j * N + i] - before[j * N + i] / length) <
                            (dtype == SPH_F64 ? 1e-15 : 3e-7));
            assert_true(r[j] == r2[j]);
        }
        weights_free(weights);
        sph_net_free(net);
        free(before), free(after), free(r), free(r2);
    }
}

static void zero_directions_give_numbers_never_nan(void **state)
{
    (void)state;
    for (int param = SPH_PARAM_WN; param <= SPH_PARAM_SPHERE; param += SPH_PARAM_SPHERE - SPH_PARAM_WN) {
        struct rng rng = rng_stream(6, RNG_NOISE, 0);
        sph_net *net =
            stack(SPH_F64, KERNELS_FASTEST, 4, 5, 1, 1, (sph_param)param, SPH_NORM_NONE, SPH_ACT_RELU, 1);
        set_all(net, param == SPH_PARAM_WN ? "layers.0.v" : "layers.0.u", 0);
        set_all(net, param == SPH_PARAM_WN ? "layers.0.bias" : "layers.0.lambda", 1);
        struct probe p;
        probe_open(&p, net, SPH_LOSS_MSE, 5, 1, &rng);
        assert_true(isfinite(probe_gradient(&p)));
        weights_after_step(p.weights);
        assert_true(net->k->all_finite(net->learned, p.weights->learned_grad));
        assert_true(net->k->all_finite(net->learned, net->params));
        probe_close(&p);
        sph_net_free(net);
    }
}

/* w, dg and dv of one wn unit by the formulas, with lengths by hypot: (n), 1 and (n) numbers into out. */
static void wn_by_formula(size_t n, const double *v, double g, const double *dw, double *out)
{
    double length = norm_of(n, v), along = 0;
    for (size_t i = 0; i < n; i++)
        along += v[i] / length * dw[i];
    for (size_t i = 0; i < n; i++) {
        out[i] = g * (v[i] / length);
        out[n + 1 + i] = g * (dw[i] - along * (v[i] / length)) / length;
    }
    out[n] = along;
}

/* The same from the library: out (m, 2 n + 1). */
static void wn_by_library(sph_net *net, size_t n, size_t m, const double *dw, double *out)
{
    struct weights *weights = NULL;
    assert_int_equal(weights_new(&weights, net, net->k, 1), 0);
    weights_materialize(weights);
    weights_clear(weights);
    const struct layer_weights *layer = &weights->layer[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            out[j * (2 * n + 1) + i] = get_number(net->k, layer->w, i * layer->ldw + j);
            set_number(net->k, weights->grads[0].dw, i * layer->ldw + j, dw[j * n + i]);
        }
    weights_pull(weights);
    size_t v_at = net->layers[0].raw[0], g_at = net->layers[0].raw[1];
    for (size_t j = 0; j < m; j++) {
        out[j * (2 * n + 1) + n] = get_number(net->k, weights->learned_grad, g_at + j);
        for (size_t i = 0; i < n; i++)
            out[j * (2 * n + 1) + n + 1 + i] = get_number(net->k, weights->learned_grad, v_at + i * m + j);
    }
    weights_free(weights);
}

/* Every other unit has a v whose square is no number of the dtype; its neighbours keep every bit. */
static void wn_directions_of_any_length_have_a_weight_and_a_gradient(void **state)
{
    (void)state;
    enum { N = 31, M = 21, ALL = 2 * N + 1 };
    static const double sizes[SPH_DTYPE_COUNT][4] = {
        [SPH_F32] = {1e20, 1e37, 1e-23, 1e-34}, [SPH_F64] = {1e160, 1e300, 1e-170, 1e-300}};
    static const enum kernel_choice choices[] = {KERNELS_PLAIN, KERNELS_BASE, KERNELS_FASTEST};
    double v[N * M], g[M], dw[N * M], before[M * ALL], found[M * ALL], expected[ALL];
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++)
            for (int s = 0; s < 4; s++) {
                struct rng rng = rng_stream(9, RNG_NOISE, (uint32_t)s);
                sph_net *net = open_net((sph_dtype)dtype, choices[c]);
                ready(net,
                      sph_net_dense(net, sph_net_input(net, N),
                                    &(sph_layer){.size = sizeof(sph_layer),
                                                 .units = M,
                                                 .param = SPH_PARAM_WN,
                                                 .act = SPH_ACT_RELU}),
                      1);
                for (size_t i = 0; i < N * M; i++) {
                    v[i] = (double)(float)rng_normal(&rng);
                    dw[i] = (double)(float)rng_normal(&rng);
                }
                for (size_t j = 0; j < M; j++)
                    g[j] = (double)(float)between(&rng, 0.5, 2);
                assert_int_equal(sph_net_set(net, "layers.0.v", v, N * M), 0);
                assert_int_equal(sph_net_set(net, "layers.0.g", g, M), 0);
                wn_by_library(net, N, M, dw, before);
                for (size_t i = 0; i < N * M; i++)
                    if (i / N % 2)
                        v[i] *= sizes[dtype][s];
                assert_int_equal(sph_net_set(net, "layers.0.v", v, N * M), 0);
                assert_int_equal(sph_net_get(net, "layers.0.v", v, N * M), 0); /* as rounded */
                wn_by_library(net, N, M, dw, found);
                for (size_t j = 0; j < M; j++) {
                    const double *here = found + j * ALL;
                    if (j % 2 == 0) {
                        assert_memory_equal(here, before + j * ALL, ALL * sizeof *here);
                        continue;
                    }
                    wn_by_formula(N, v + j * N, g[j], dw + j * N, expected);
                    double eps = dtype == SPH_F32 ? 2e-6 : 5e-15; /* sums of 31 terms */
                    double step = fabs(expected[N + 1]);
                    for (size_t i = 0; i < N; i++)
                        step = fmax(step, fabs(expected[N + 1 + i]));
                    for (size_t i = 0; i <= N; i++)
                        assert_true(fabs(here[i] - expected[i]) <= eps * fmax(1, fabs(expected[N])));
                    for (size_t i = N + 1; i < ALL && step > (dtype == SPH_F32 ? 1e-36 : 1e-306); i++)
                        assert_true(fabs(here[i] - expected[i]) <= eps * step);
                }
                sph_net_free(net);
            }
}

/* A step that goes too far to square its place. */
static void sphere_comes_back_from_any_distance(void **state)
{
    (void)state;
    enum { N = 31, M = 7 };
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int far = 0; far < 2; far++) {
            sph_net *net =
                one_layer((sph_dtype)dtype, SPH_PARAM_SPHERE, SPH_INIT_GLOROT, SPH_ACT_RELU, N, M, 1);
            double *u = get_all(net, "layers.0.u", N * M), *there = numbers(N * M);
            for (size_t i = 0; i < N * M; i++)
                there[i] = u[i] * (dtype == SPH_F32 ? (far ? 1e25 : 1e-25) : (far ? 1e200 : 1e-200));
            net_write_tensor(net, net_find_tensor(net, "layers.0.u"), there);
            struct weights *weights = NULL;
            assert_int_equal(weights_new(&weights, net, net->k, 1), 0);
            weights_after_step(weights);
            double *after = get_all(net, "layers.0.u", N * M);
            for (size_t i = 0; i < N * M; i++)
                assert_true(fabs(after[i] - u[i]) < (dtype == SPH_F64 ? 1e-15 : 3e-7));
            weights_free(weights);
            sph_net_free(net);
            free(u), free(there), free(after);
        }
}

/* ---------------------------------------------------------------- what f32 loses */

/* The same angles, exact in both, and the same dL/dW; u and dtheta of f32 against f64's. Errors are lengths
 * of differences over lengths, per unit. */
static void f32_is_enough_at_4608_inputs(void **state)
{
    (void)state;
    enum { N = 4608, M = 16 };
    struct rng rng = rng_stream(8, RNG_NOISE, 0);
    sph_net *source = one_layer(SPH_F32, SPH_PARAM_GMP, SPH_INIT_PAPER, SPH_ACT_RELU, N, M, 77);
    double *theta = get_all(source, "layers.0.theta", (size_t)(N - 1) * M), *dw = numbers((size_t)N * M);
    double *u[2], *gradient[2];
    for (size_t i = 0; i < (size_t)N * M; i++)
        dw[i] = (double)(float)rng_normal(&rng);
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
        sph_net *net = one_layer((sph_dtype)dtype, SPH_PARAM_GMP, SPH_INIT_PAPER, SPH_ACT_RELU, N, M, 1);
        assert_int_equal(sph_net_set(net, "layers.0.theta", theta, (size_t)(N - 1) * M), 0);
        struct weights *weights = NULL;
        assert_int_equal(weights_new(&weights, net, net->k, 1), 0);
        weights_materialize(weights);
        weights_clear(weights);
        u[dtype] = numbers((size_t)N * M);
        gradient[dtype] = numbers((size_t)N * M);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < M; j++) {
                u[dtype][j * N + i] = get_number(net->k, weights->layer[0].w, i * weights->layer[0].ldw + j);
                set_number(net->k, weights->grads[0].dw, i * weights->layer[0].ldw + j, dw[i * M + j]);
            }
        weights_pull(weights);
        for (size_t i = 0; i + 1 < N; i++)
            for (size_t j = 0; j < M; j++)
                gradient[dtype][j * N + i] = get_number(net->k, weights->learned_grad, i * M + j);
        weights_free(weights);
        sph_net_free(net);
    }
    double worst_u = 0, worst_gradient = 0;
    for (size_t j = 0; j < M; j++) {
        double du[2] = {0}, dg[2] = {0};
        for (size_t i = j * N; i < (j + 1) * N; i++) {
            du[0] += (u[0][i] - u[1][i]) * (u[0][i] - u[1][i]);
            du[1] += u[1][i] * u[1][i];
            dg[0] += (gradient[0][i] - gradient[1][i]) * (gradient[0][i] - gradient[1][i]);
            dg[1] += gradient[1][i] * gradient[1][i];
        }
        worst_u = fmax(worst_u, sqrt(du[0] / du[1]));
        worst_gradient = fmax(worst_gradient, sqrt(dg[0] / dg[1]));
    }
    printf("    f32 at n = 4608: u off by %.1e, its gradient by %.1e\n", worst_u, worst_gradient);
    assert_true(worst_u < 5e-6);
    assert_true(worst_gradient < 5e-6);
    assert_true(worst_u > 0); /* f32 it was */
    sph_net_free(source);
    free(theta), free(dw);
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        free(u[dtype]), free(gradient[dtype]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u_of_theta_has_length_one),
        cmocka_unit_test(u_of_theta_is_the_formula),
        cmocka_unit_test(weights_survive_the_way_there_and_back),
        cmocka_unit_test(metric_is_the_product_of_squared_sines),
        cmocka_unit_test(turn_is_at_most_the_length_of_the_perturbation),
        cmocka_unit_test(paper_init_draws_uniform_directions_of_length_one),
        cmocka_unit_test(paper_init_sets_r_to_exactly_one),
        cmocka_unit_test(glorot_and_he_have_their_spread),
        cmocka_unit_test(defaults_are_paper_for_gmp_and_glorot_for_the_others),
        cmocka_unit_test(same_seed_same_numbers_other_seed_others),
        cmocka_unit_test(one_input_units_get_both_signs_and_keep_them),
        cmocka_unit_test(paper_init_is_refused_without_a_radius),
        cmocka_unit_test(sphere_is_back_on_the_sphere_after_a_step),
        cmocka_unit_test(zero_directions_give_numbers_never_nan),
        cmocka_unit_test(wn_directions_of_any_length_have_a_weight_and_a_gradient),
        cmocka_unit_test(sphere_comes_back_from_any_distance),
        cmocka_unit_test(f32_is_enough_at_4608_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
