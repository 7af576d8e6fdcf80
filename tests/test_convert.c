/* SPDX-License-Identifier: MIT
 *
 * A converted net is the same function. */
#include "same_function.h"

#include "fault.h"
#include "net/net.h"

static size_t tried, done;

static void there_and_back(const struct random_spec *spec, sph_param to, int flags)
{
    sph_net *net = random_net(spec), *there = NULL;
    tried++;
    if (!convertible(spec->param, spec->norm, spec->act, to, flags)) {
        refuses(net, to, flags, "layers.0 unit ");
        sph_net_free(net);
        return;
    }
    there = converted_with(net, to, flags);
    done++;
    sph_norm norm = folds(spec->norm, to, flags) ? SPH_NORM_NONE : spec->norm;
    for (size_t l = 0; l + 1 < sph_net_layers(there); l++) {
        assert_int_equal(sph_net_layer(there, l, NULL)->param, to);
        assert_int_equal(sph_net_layer(there, l, NULL)->norm, norm);
    }
    assert_int_equal(sph_net_layer(there, sph_net_layers(there) - 1, NULL)->param, SPH_PARAM_SP);
    check_same(net, there);
    /* gmp -> sp -> gmp of an elu net has lengths again: only what elu allows comes back */
    if (convertible(to, norm, spec->act, spec->param, flags)) {
        sph_net *back = converted_with(there, spec->param, flags);
        assert_int_equal(sph_net_layer(back, 0, NULL)->param, spec->param);
        check_same(net, back);
        sph_net_free(back);
    }
    sph_net_free(there);
    sph_net_free(net);
}

static void sweep(sph_dtype dtype, int residual, int zeros)
{
    tried = done = 0;
    uint64_t seed = 0;
    for (int from = 0; from < SPH_PARAM_COUNT; from++)
        for (int to = 0; to < SPH_PARAM_COUNT; to++)
            for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
                for (int act = 0; act < SPH_ACT_COUNT; act++)
                    for (size_t depth = 1; depth <= 3; depth++) {
                        static const size_t inputs[] = {1, 2, 3, 17};
                        seed++;
                        struct random_spec spec = {.seed = seed,
                                                   .dtype = dtype,
                                                   .param = (sph_param)from,
                                                   .norm = (sph_norm)norm,
                                                   .act = (sph_act)act,
                                                   .inputs = inputs[seed % 4],
                                                   .depth = depth,
                                                   .residual = residual,
                                                   .zeros = zeros};
                        int keep = norm == SPH_NORM_BN && seed % 2 ? SPH_CONVERT_KEEP_BN : 0;
                        if (zeros && !convertible(spec.param, spec.norm, spec.act, (sph_param)to, keep))
                            continue; /* which unit is refused first is another test's matter */
                        there_and_back(&spec, (sph_param)to, keep);
                    }
    assert_true(done > 900);
}

static void f64_nets_keep_their_function_in_every_pair(void **state)
{
    (void)state;
    sweep(SPH_F64, 0, 0);
}

static void f32_nets_keep_their_function_in_every_pair(void **state)
{
    (void)state;
    sweep(SPH_F32, 0, 0);
}

static void residual_nets_keep_their_function(void **state)
{
    (void)state;
    sweep(SPH_F64, 1, 0);
    sweep(SPH_F32, 1, 0);
}

static void zero_rows_and_zero_scales_keep_their_function(void **state)
{
    (void)state;
    sweep(SPH_F64, 0, 1);
    sweep(SPH_F32, 0, 1);
}

/* ---------------------------------------------------------------- single cases */

static sph_net *small(sph_param param, sph_norm norm, sph_act act)
{
    return random_net(&(struct random_spec){
        .seed = 11, .dtype = SPH_F64, .param = param, .norm = norm, .act = act, .inputs = 3, .depth = 2});
}

static void same_param_is_a_copy(void **state)
{
    (void)state;
    for (int p = 0; p < SPH_PARAM_COUNT; p++) {
        sph_net *net = small((sph_param)p, SPH_NORM_BN, SPH_ACT_SRELU),
                *copy = converted_with(net, (sph_param)p, SPH_CONVERT_KEEP_BN);
        assert_int_equal(copy->learned, net->learned);
        assert_memory_equal(copy->params, net->params, net->learned * sizeof(double));
        assert_memory_equal(copy->state, net->state, net->state_len * sizeof(double));
        sph_net_free(copy);
        sph_net_free(net);
    }
}

static void sphere_and_gmp_keep_r_as_it_is(void **state)
{
    (void)state;
    sph_net *net = small(SPH_PARAM_GMP, SPH_NORM_LN, SPH_ACT_ELU), *sphere = converted(net, SPH_PARAM_SPHERE);
    size_t m = sph_net_layer(net, 0, NULL)->units;
    double a[8], b[8];
    assert_true(m <= 8);
    assert_int_equal(sph_net_get(net, "layers.0.r", a, m), 0);
    assert_int_equal(sph_net_get(sphere, "layers.0.r", b, m), 0);
    assert_memory_equal(a, b, m * sizeof *a);
    sph_net_free(sphere);
    sph_net_free(net);
}

static void scaling_goes_along(void **state)
{
    (void)state;
    sph_net *net = small(SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    net->scaling = (struct scaling){.features = 3, .targets = 2};
    assert_int_equal(scaling_copy(&net->scaling, &(struct scaling){.features = 3,
                                                                   .targets = 2,
                                                                   .x_mean = (double[]){1, 2, 3},
                                                                   .y_mean = (double[]){4, 5},
                                                                   .y_scale = (double[]){10, 20}}),
                     0);
    sph_net *gmp = converted(net, SPH_PARAM_GMP);
    assert_non_null(gmp->scaling.x_mean);
    check_same(net, gmp);
    sph_net_free(gmp);
    sph_net_free(net);
}

static void wn_zero_row_has_length_zero(void **state)
{
    (void)state;
    sph_net *net = small(SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    double w[32] = {0}, g[8];
    size_t m = sph_net_layer(net, 0, NULL)->units;
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 3 * m), 0);
    sph_net *wn = converted(net, SPH_PARAM_WN);
    assert_int_equal(sph_net_get(wn, "layers.0.g", g, m), 0);
    for (size_t j = 0; j < m; j++)
        assert_true(g[j] == 0);
    check_same(net, wn);
    sph_net_free(wn);
    sph_net_free(net);
}

/* x -> relu(gmp) -> + x -> output; a second branch without activation ends in the output sum. */
static sph_net *branches(sph_param param, sph_act act, int sum_at_end)
{
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, SPH_F64), 0);
    int x = sph_net_input(net, 3);
    int a = sph_net_dense(net, x,
                          &(sph_layer){.size = sizeof(sph_layer), .units = 3, .param = param, .act = act});
    int sum = sph_net_add(net, x, a);
    int b = sph_net_dense(
        net, sum, &(sph_layer){.size = sizeof(sph_layer), .units = 3, .param = param, .act = SPH_ACT_RELU});
    int c = sph_net_dense(net, b, &(sph_layer){.size = sizeof(sph_layer), .units = 3});
    int last = sum_at_end ? sph_net_add(net, sum, c) : c;
    assert_int_equal(sph_net_ready(net, last, 3), 0);
    randomize(net, 3, 0);
    return net;
}

static void a_sign_that_cannot_pass_an_addition_stays(void **state)
{
    (void)state;
    double r[3] = {2, -0.5, -3}, kept[3];
    sph_net *net = branches(SPH_PARAM_GMP, SPH_ACT_RELU, 1);
    assert_int_equal(sph_net_set(net, "layers.0.r", r, 3), 0);
    assert_int_equal(sph_net_set(net, "layers.1.r", r, 3), 0);
    sph_net *sp = converted(net, SPH_PARAM_SP);
    assert_true(sph_net_layer(sp, 0, NULL)->signs);
    assert_false(sph_net_layer(sp, 1, NULL)->signs);
    assert_int_equal(sph_net_get(sp, "layers.0.r", kept, 3), 0);
    assert_true(kept[0] == 1 && kept[1] == -1 && kept[2] == -1);
    check_same(net, sp);
    refuses(net, SPH_PARAM_SP, 1, "layers.0 unit 1");
    /* and on: the signs become r again, wn keeps them, strict refuses even to copy them */
    sph_net *gmp = converted(sp, SPH_PARAM_GMP), *wn = converted(sp, SPH_PARAM_WN);
    check_same(net, gmp);
    assert_false(sph_net_layer(gmp, 0, NULL)->signs);
    check_same(net, wn);
    assert_true(sph_net_layer(wn, 0, NULL)->signs);
    refuses(sp, SPH_PARAM_SP, 1, "layers.0 unit 1");
    sph_net_free(gmp);
    sph_net_free(wn);
    sph_net_free(sp);
    sph_net_free(net);
}

static void without_activation_a_sign_goes_into_the_unit(void **state)
{
    (void)state;
    double r[3] = {2, -0.5, -3};
    sph_net *net = branches(SPH_PARAM_GMP, SPH_ACT_IDENTITY, 1), *sp = NULL;
    assert_int_equal(sph_net_set(net, "layers.0.r", r, 3), 0);
    assert_int_equal(sph_net_convert(&sp, net, SPH_PARAM_SP, 1), 0);
    assert_false(sph_net_layer(sp, 0, NULL)->signs);
    check_same(net, sp);
    sph_net_free(sp);
    sph_net_free(net);
}

/* PATH.r of a plain layer is +-1 in files, yet a program may set it to anything. */
static void scales_of_plain_layers_fold_like_r(void **state)
{
    (void)state;
    const double r[3] = {0.5, -1, -3};
    for (int act = 0; act < 2; act++)
        for (int p = SPH_PARAM_SP; p <= SPH_PARAM_WN; p++) {
            sph_net *net = NULL, *out = NULL;
            assert_int_equal(sph_net_new(&net, SPH_F64), 0);
            int x = sph_net_input(net, 3);
            sph_layer spec = {.size = sizeof(sph_layer),
                              .units = 3,
                              .param = (sph_param)p,
                              .act = act ? SPH_ACT_RELU : SPH_ACT_IDENTITY,
                              .signs = 1};
            int a = sph_net_dense(net, x, &spec),
                b = sph_net_dense(net, a, &(sph_layer){.size = sizeof(sph_layer), .units = 2});
            assert_int_equal(sph_net_ready(net, b, 3), 0);
            randomize(net, 21, 0);
            assert_int_equal(sph_net_set(net, "layers.0.r", r, 3), 0);
            for (int to = 0; to < SPH_PARAM_COUNT; to++) {
                assert_int_equal(sph_net_convert(&out, net, (sph_param)to, 1), 0);
                assert_false(sph_net_layer(out, 0, NULL)->signs);
                check_same(net, out);
                sph_net_free(out);
            }
            sph_net_free(net);
        }
}

static void what_makes_the_output_stays_plain(void **state)
{
    (void)state;
    for (int sum = 0; sum < 2; sum++) {
        sph_net *net = branches(SPH_PARAM_SP, SPH_ACT_RELU, sum), *gmp = converted(net, SPH_PARAM_GMP);
        assert_int_equal(sph_net_layer(gmp, 0, NULL)->param, SPH_PARAM_GMP);
        assert_int_equal(sph_net_layer(gmp, 1, NULL)->param, SPH_PARAM_GMP);
        assert_int_equal(sph_net_layer(gmp, 2, NULL)->param, SPH_PARAM_SP);
        check_same(net, gmp);
        sph_net_free(gmp);
        sph_net_free(net);
    }
}

static void an_output_layer_with_a_radius_follows(void **state)
{
    (void)state;
    for (int act = 0; act < 2; act++) {
        sph_net *net = NULL;
        double r[2] = {-2, 3};
        assert_int_equal(sph_net_new(&net, SPH_F64), 0);
        int x = sph_net_input(net, 3);
        sph_layer spec = {.size = sizeof(sph_layer),
                          .units = 2,
                          .param = SPH_PARAM_GMP,
                          .act = act ? SPH_ACT_RELU : SPH_ACT_IDENTITY};
        assert_int_equal(sph_net_ready(net, sph_net_dense(net, x, &spec), 3), 0);
        randomize(net, 8, 0);
        assert_int_equal(sph_net_set(net, "layers.0.r", r, 2), 0);
        sph_net *sp = converted(net, SPH_PARAM_SP), *sphere = converted(net, SPH_PARAM_SPHERE),
                *wn = converted(net, SPH_PARAM_WN);
        assert_int_equal(sph_net_layer(sp, 0, NULL)->signs, act);
        assert_int_equal(sph_net_layer(wn, 0, NULL)->param, SPH_PARAM_SP);
        check_same(net, sp);
        check_same(net, wn);
        check_same(net, sphere);
        if (act)
            refuses(net, SPH_PARAM_SP, 1, "layers.0 unit 0");
        sph_net_free(sp);
        sph_net_free(sphere);
        sph_net_free(wn);
        sph_net_free(net);
    }
}

/* A unit of the first hidden layer without weights, with a bias: a constant that others must take. */
static void constants_move_into_every_kind_of_reader(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (int p = 0; p < SPH_PARAM_COUNT; p++) {
            sph_net *net = NULL;
            assert_int_equal(sph_net_new(&net, SPH_F64), 0);
            int x = sph_net_input(net, 3);
            int a = sph_net_dense(net, x,
                                  &(sph_layer){.size = sizeof(sph_layer), .units = 4, .act = SPH_ACT_RELU});
            int b = sph_net_dense(net, a,
                                  &(sph_layer){.size = sizeof(sph_layer),
                                               .units = 5,
                                               .param = (sph_param)p,
                                               .norm = (sph_norm)norm,
                                               .act = SPH_ACT_RELU});
            assert_int_equal(sph_net_ready(net, b, 3), 0); /* reader and output: it stays what it is */
            randomize(net, (uint64_t)(10 * norm + p), 0);
            double w[12], bias[4] = {1, 0.7, -2, 3}, r[4];
            assert_int_equal(sph_net_get(net, "layers.0.weight", w, 12), 0);
            memset(w + 3, 0, 6 * sizeof *w);
            assert_int_equal(sph_net_set(net, "layers.0.weight", w, 12), 0);
            assert_int_equal(sph_net_set(net, "layers.0.bias", bias, 4), 0);
            sph_net *gmp = converted(net, SPH_PARAM_GMP);
            assert_int_equal(sph_net_get(gmp, "layers.0.r", r, 4), 0);
            assert_true(r[0] != 0 && r[1] == 0 && r[2] == 0 && r[3] != 0);
            check_same(net, gmp);
            sph_net_free(gmp);
            sph_net_free(net);
        }
}

static void a_constant_that_cannot_move_is_refused(void **state)
{
    (void)state;
    sph_net *net = branches(SPH_PARAM_SP, SPH_ACT_RELU, 0);
    double w[9], bias[3] = {1, 2, 0.5};
    assert_int_equal(sph_net_get(net, "layers.0.weight", w, 9), 0);
    memset(w + 6, 0, 3 * sizeof *w);
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 9), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", bias, 3), 0);
    refuses(net, SPH_PARAM_GMP, 0, "layers.0 unit 2");
    bias[2] = -0.5; /* relu makes it 0 */
    assert_int_equal(sph_net_set(net, "layers.0.bias", bias, 3), 0);
    sph_net *gmp = converted(net, SPH_PARAM_GMP);
    check_same(net, gmp);
    sph_net_free(gmp);
    sph_net_free(net);
}

static void what_has_no_equal_is_refused(void **state)
{
    (void)state;
    sph_net *elu = small(SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_ELU);
    refuses(elu, SPH_PARAM_GMP, 0, "layers.0 unit ");
    sph_net_free(elu);
    sph_net *ln = small(SPH_PARAM_WN, SPH_NORM_LN, SPH_ACT_RELU);
    refuses(ln, SPH_PARAM_SPHERE, 0, "layers.0 unit ");
    sph_net_free(ln);
    sph_net *back = small(SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_ELU);
    refuses(back, SPH_PARAM_SP, 0, "layers.0 unit ");
    sph_net_free(back);

    sph_net *bn = small(SPH_PARAM_SP, SPH_NORM_BN, SPH_ACT_RELU);
    size_t m = sph_net_layer(bn, 0, NULL)->units;
    double var[8], w[24];
    assert_int_equal(sph_net_get(bn, "layers.0.norm.var", var, m), 0);
    assert_int_equal(sph_net_get(bn, "layers.0.weight", w, 3 * m), 0);
    var[1] = 0;
    w[3] = 5;
    assert_int_equal(sph_net_set(bn, "layers.0.norm.var", var, m), 0);
    assert_int_equal(sph_net_set(bn, "layers.0.weight", w, 3 * m), 0);
    refuses(bn, SPH_PARAM_GMP, SPH_CONVERT_KEEP_BN, "layers.0 unit 1");
    sph_net *folded = converted(bn, SPH_PARAM_GMP); /* a fold has no such trouble */
    check_same(bn, folded);
    sph_net_free(folded);
    sph_net_free(bn);
    refuses((bn = small(SPH_PARAM_SP, SPH_NORM_BN, SPH_ACT_ELU)), SPH_PARAM_SPHERE, 0, "layers.0 unit ");
    sph_net_free(bn);
    sph_net *none = NULL;
    assert_int_equal(
        sph_net_convert(&none, bn = small(SPH_PARAM_SP, SPH_NORM_BN, SPH_ACT_ELU), SPH_PARAM_SP, 4),
        SPH_EARG);
    sph_net_free(bn);
}

/* r * (w x gamma / sigma + beta - gamma mean / sigma), w of length 5. */
static void folded_bn_is_a_weight_and_an_offset(void **state)
{
    (void)state;
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, SPH_F64), 0);
    int x = sph_net_input(net, 2);
    x = sph_net_dense(
        net, x,
        &(sph_layer){.size = sizeof(sph_layer), .units = 1, .norm = SPH_NORM_BN, .act = SPH_ACT_RELU});
    assert_int_equal(
        sph_net_ready(net, sph_net_dense(net, x, &(sph_layer){.size = sizeof(sph_layer), .units = 1}), 1), 0);
    const double w[] = {3, 4}, scale = -2, shift = 7, mean = 0.5, var = 0.25 - 1e-5;
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 2), 0);
    assert_int_equal(sph_net_set(net, "layers.0.norm.scale", &scale, 1), 0);
    assert_int_equal(sph_net_set(net, "layers.0.norm.shift", &shift, 1), 0);
    assert_int_equal(sph_net_set(net, "layers.0.norm.mean", &mean, 1), 0);
    assert_int_equal(sph_net_set(net, "layers.0.norm.var", &var, 1), 0);
    sph_net *sphere = converted(net, SPH_PARAM_SPHERE);
    double u[2], lambda, r;
    assert_int_equal(sph_net_get(sphere, "layers.0.u", u, 2), 0);
    assert_int_equal(sph_net_get(sphere, "layers.0.lambda", &lambda, 1), 0);
    assert_int_equal(sph_net_get(sphere, "layers.0.r", &r, 1), 0);
    assert_true(fabs(u[0] + 0.6) < 1e-15 && fabs(u[1] + 0.8) < 1e-15);
    assert_true(fabs(r - 20) < 1e-13);            /* 5 * |-2| / 0.5 */
    assert_true(fabs(lambda - 9.0 / 20) < 1e-15); /* 7 + 2 * 0.5 / 0.5 */
    assert_null(net_find_tensor(sphere, "layers.0.norm.mean"));
    assert_int_equal(sph_net_layer(sphere, 0, NULL)->norm, SPH_NORM_NONE);
    sph_net_free(sphere);
    sph_net_free(net);
}

/* A scale of 0 leaves the shift alone: the next bias takes it, an addition cannot. */
static void a_unit_that_bn_switches_off_is_a_constant(void **state)
{
    (void)state;
    for (int sum = 0; sum < 2; sum++) {
        sph_net *net = NULL;
        assert_int_equal(sph_net_new(&net, SPH_F64), 0);
        int x = sph_net_input(net, 3);
        int a = sph_net_dense(
            net, x,
            &(sph_layer){.size = sizeof(sph_layer), .units = 3, .norm = SPH_NORM_BN, .act = SPH_ACT_RELU});
        if (sum)
            a = sph_net_add(net, a, x);
        a = sph_net_dense(
            net, a,
            &(sph_layer){.size = sizeof(sph_layer), .units = 4, .norm = SPH_NORM_BN, .act = SPH_ACT_RELU});
        assert_int_equal(
            sph_net_ready(net, sph_net_dense(net, a, &(sph_layer){.size = sizeof(sph_layer), .units = 2}), 1),
            0);
        randomize(net, 4, 0);
        assert_int_equal(sph_net_set(net, "layers.0.norm.scale", (double[]){1, -1, 0}, 3), 0);
        assert_int_equal(sph_net_set(net, "layers.0.norm.shift", (double[]){1, 1, 0.5}, 3), 0);
        if (sum)
            refuses(net, SPH_PARAM_GMP, 0, "layers.0 unit 2");
        sph_net *gmp = converted_with(net, SPH_PARAM_GMP, sum ? SPH_CONVERT_KEEP_BN : 0);
        check_same(net, gmp);
        sph_net_free(gmp);
        sph_net_free(net);
    }
}

static void numbers_beyond_the_dtype_are_refused(void **state)
{
    (void)state;
    sph_net *net = random_net(&(struct random_spec){
        .seed = 10, .dtype = SPH_F32, .param = SPH_PARAM_SP, .act = SPH_ACT_RELU, .inputs = 2, .depth = 1});
    double w[10], b[5] = {1, 1, 1, 1e10, 1};
    for (int i = 0; i < 10; i++)
        w[i] = i / 2 == 3 ? 1e-32 : 1;
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 10), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", b, 5), 0);
    refuses(net, SPH_PARAM_GMP, 0, "layers.0 unit 3");
    w[0] = NAN;
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 10), 0);
    refuses(net, SPH_PARAM_GMP, 0, "layers.0 unit 0");
    sph_net_free(net);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sph_net *net = small(SPH_PARAM_GMP, SPH_NORM_IMN, SPH_ACT_SRELU), *out = NULL;
    size_t failures = 0;
    int err;
    for (;; failures++) {
        fault_after(failures);
        err = sph_net_convert(&out, net, SPH_PARAM_SP, 0);
        fault_off();
        if (!fault_happened())
            break;
        assert_int_equal(err, SPH_EMEMORY);
        assert_null(out);
    }
    assert_int_equal(err, 0);
    assert_true(failures > 20);
    sph_net_free(out);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f64_nets_keep_their_function_in_every_pair),
        cmocka_unit_test(f32_nets_keep_their_function_in_every_pair),
        cmocka_unit_test(residual_nets_keep_their_function),
        cmocka_unit_test(zero_rows_and_zero_scales_keep_their_function),
        cmocka_unit_test(same_param_is_a_copy),
        cmocka_unit_test(sphere_and_gmp_keep_r_as_it_is),
        cmocka_unit_test(scaling_goes_along),
        cmocka_unit_test(wn_zero_row_has_length_zero),
        cmocka_unit_test(a_sign_that_cannot_pass_an_addition_stays),
        cmocka_unit_test(without_activation_a_sign_goes_into_the_unit),
        cmocka_unit_test(scales_of_plain_layers_fold_like_r),
        cmocka_unit_test(what_makes_the_output_stays_plain),
        cmocka_unit_test(an_output_layer_with_a_radius_follows),
        cmocka_unit_test(constants_move_into_every_kind_of_reader),
        cmocka_unit_test(a_constant_that_cannot_move_is_refused),
        cmocka_unit_test(what_has_no_equal_is_refused),
        cmocka_unit_test(folded_bn_is_a_weight_and_an_offset),
        cmocka_unit_test(a_unit_that_bn_switches_off_is_a_constant),
        cmocka_unit_test(numbers_beyond_the_dtype_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
