/* SPDX-License-Identifier: MIT
 *
 * The authors' constants, each an option of its own: what protocol reference sets, and that each does what it says
 * (that together they are the authors' code is what test_golden_keras.c shows). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "failure.h"
#include "job/job.h"
#include "net/net.h"
#include "boundary/piecewise.h"
#include "net/zoo.h"

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- what the protocol sets */

/* A job of "key", "value", ..., NULL, settled on the data. */
static sph_job *settled(const sph_data *data, ...)
{
    sph_job *job = NULL;
    va_list args;
    assert_int_equal(job_new(&job, 0), 0);
    va_start(args, data);
    for (const char *key; (key = va_arg(args, const char *));)
        assert_int_equal(sph_job_set(job, key, va_arg(args, const char *)), 0);
    va_end(args);
    if (job_resolve_for(job, data) < 0)
        fail_msg("%s", sph_error());
    return job;
}

static void assert_option(const sph_job *job, const char *name, const char *expected)
{
    const char *found = sph_job_get(job, name);
    if (strcmp(found, expected) != 0)
        fail_msg("--%s is '%s', expected '%s'", name, found, expected);
}

static sph_data *levy(void)
{
    sph_data *data = NULL;
    assert_int_equal(sph_data_synthetic(&data, "levy", 0, (double)NAN, 1), 0);
    return data;
}

static void reference_sets_the_constants_of_the_authors_code(void **state)
{
    (void)state;
    static const struct {
        const char *param, *norm, *option, *value;
    } set[] = {
        {"sp", "none", "adam-form", "keras"},
        {"sp", "none", "epsilon", "1e-07"},
        {"sp", "none", "dtype", "f64"},
        {"sp", "none", "monitor", "val_mse"},
        {"sp", "none", "loss", "mae"},
        {"sp", "none", "schedule", "plateau:50:0.1:0.0001"},
        {"sp", "none", "init", "authors"},
        {"sp", "none", "standardize", "features"},
        {"sp", "none", "lr", "0.01"},
        {"gmp", "none", "lr", "0.1"},
        {"sp", "none", "wn-output", ""},
        {"wn", "none", "wn-output", "true"},
        {"sp", "none", "norm-epsilon", ""},
        {"sp", "bn", "norm-epsilon", "0.001"},
        {"sp", "none", "norm-momentum", "0.1"},
        {"sp", "bn", "norm-momentum", "0.01"},
        {"sp", "bn", "norm-variance", "biased"},
        {"gmp", "imn", "imn-at", "output"},
        {"wn", "mbn", "mbn-bias", "none"},
        {"gmp", "none", "angle-order", ""},
    };
    sph_data *data = levy();
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        sph_job *job =
            settled(data, "protocol", "reference", "param", set[i].param, "norm", set[i].norm, NULL);
        assert_option(job, set[i].option, set[i].value);
        sph_job_free(job);
    }
    sph_data_free(data);
}

static void other_protocols_set_none_of_them(void **state)
{
    (void)state;
    static const char *const unset[] = {"adam-form", "norm-epsilon", "norm-variance", "imn-at", "mbn-bias",
                                        "wn-output", "angle-order",  "fan-out",       "draw",   "monitor"};
    sph_data *data = levy();
    sph_job *job = settled(data, "norm", "bn", NULL);
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        assert_option(job, unset[i], "");
    assert_option(job, "dtype", "f32");
    assert_option(job, "epsilon", "1e-08");
    assert_option(job, "norm-momentum", "0.1");
    assert_option(job, "init", "paper");
    sph_job_free(job);
    sph_data_free(data);
}

static void what_is_given_stays_under_reference(void **state)
{
    (void)state;
    sph_data *data = levy();
    sph_job *job =
        settled(data, "protocol", "reference", "param", "wn", "norm", "bn", "adam-form", "torch", "epsilon",
                "1e-8", "norm-epsilon", "1e-5", "norm-momentum", "0.1", "norm-variance", "unbiased",
                "wn-output", "false", "dtype", "f32", "init", "glorot", "monitor", "train_loss", NULL);
    sph_train_opts opts = job_train_opts(&job->spec);
    assert_int_equal(opts.adam_form, SPH_ADAM_TORCH);
    assert_true(opts.epsilon == 1e-8 && opts.norm_momentum == 0.1);
    assert_int_equal(opts.norm_variance, SPH_VARIANCE_UNBIASED);
    assert_string_equal(opts.monitor, "train_loss");
    sph_net *net = NULL;
    assert_int_equal(job_make_net(&job->spec, data, &net), 0);
    assert_int_equal(sph_net_dtype(net), SPH_F32);
    assert_int_equal(sph_net_layer(net, 1, NULL)->param, SPH_PARAM_SP);
    assert_true(net->layers[0].norm_epsilon == 1e-5);
    sph_net_free(net);
    sph_job_free(job);
    sph_data_free(data);
}

static void an_option_that_nothing_reads_is_refused(void **state)
{
    (void)state;
    sph_data *data = levy();
    sph_job *job = NULL;
    assert_int_equal(job_new(&job, 0), 0);
    assert_int_equal(sph_job_set(job, "optimizer", "sgd"), 0);
    assert_int_equal(sph_job_set(job, "adam-form", "keras"), 0);
    assert_int_equal(job_resolve_for(job, data), SPH_EARG);
    assert_string_equal(sph_failure()->key, "adam_form");
    assert_int_equal(sph_job_set(job, "draw", "theirs"), SPH_EARG);
    assert_string_equal(sph_failure()->key, "draw");
    sph_job_free(job);
    sph_data_free(data);
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.by_numpy = 1;
    assert_int_equal(sph_data_open(&data, "crescents", &opts), SPH_EARG);
    assert_string_equal(sph_failure()->key, "draw");
}

/* ---------------------------------------------------------------- levy as the notebook draws it */

/* numpy 1.26: np.random.seed(0); x = np.random.uniform(-10, 10, [50, 1]); np.random.normal(0, 0.1, [50, 1]) */
static void levy_is_the_authors_to_the_last_digits(void **state)
{
    (void)state;
    static const struct {
        size_t row;
        double x, error;
    } drawn[] = {
        {0, 0.97627007854649506, -0.17062701906250127},   {1, 4.30378732744839, 0.19507753952317897},
        {2, 2.0552675214328779, -0.050965218175165354},   {3, 0.89766365993793684, -0.043807430161118641},
        {48, -3.6914329815163232, -0.040317694697317968}, {49, -2.7257845811475478, 0.12224450703824274}};
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.by_numpy = 1;
    opts.seed = 77; /* whatever the seed */
    sph_data *data = NULL;
    assert_int_equal(sph_data_open(&data, "levy", &opts), 0);
    assert_int_equal(sph_data_rows(data), 251);
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        double x = sph_data_x(data)[drawn[i].row], w = 1 + (x - 1) / 4, a = sin(pi * w), b = sin(2 * pi * w);
        assert_true(fabs(x - drawn[i].x) <= 1e-14);
        double clean = a * a + (w - 1) * (w - 1) * (1 + b * b);
        assert_true(fabs(sph_data_y(data)[drawn[i].row] - clean - drawn[i].error) <= 1e-13);
    }
    sph_data_free(data);
}

/* ---------------------------------------------------------------- starts */

static sph_net *vgg(sph_param param, sph_norm norm, sph_init init, sph_details details)
{
    sph_net *net = NULL;
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .dtype = SPH_F64,
                          .channels = 3,
                          .height = 8,
                          .width = 8,
                          .classes = 4,
                          .scale = 1.0 / 16,
                          .param = param,
                          .norm = norm,
                          .act = SPH_ACT_RELU,
                          .init = init,
                          .seed = 3,
                          .details = details};
    if (sph_net_vgg6(&net, &spec) < 0)
        fail_msg("%s", sph_error());
    return net;
}

/* The largest weight of a layer over Glorot's limit with this fan out. */
static double share_of_limit(const sph_net *net, size_t layer, double fan_out)
{
    const struct net_layer *l = &net->layers[layer];
    size_t m = l->shape.m, n = l->shape.n;
    double *w = calloc(m * n, sizeof *w), *s = calloc(m, sizeof *s), most = 0;
    assert_int_equal(sph_net_weight(net, layer, w, NULL, s), 0);
    for (size_t i = 0; i < m * n; i++)
        most = fmax(most, fabs(w[i] * s[i / n]));
    free(w);
    free(s);
    return most / sqrt(6.0 / ((double)n + fan_out));
}

static void glorots_fan_out_of_a_conv_counts_the_area_or_filters_alone(void **state)
{
    (void)state;
    static const struct {
        sph_param param;
        sph_init init;
        sph_fan_out fan_out;
        double area;
    } cases[] = {{SPH_PARAM_SP, SPH_INIT_GLOROT, SPH_FAN_OUT_AREA, 9},
                 {SPH_PARAM_SP, SPH_INIT_GLOROT, SPH_FAN_OUT_FILTERS, 1},
                 {SPH_PARAM_SP, SPH_INIT_AUTHORS, SPH_FAN_OUT_AREA, 9}, /* Keras' own layer */
                 {SPH_PARAM_WN, SPH_INIT_AUTHORS, SPH_FAN_OUT_AREA, 1},
                 {SPH_PARAM_GMP, SPH_INIT_AUTHORS, SPH_FAN_OUT_AREA, 1},
                 {SPH_PARAM_GMP, SPH_INIT_GLOROT, SPH_FAN_OUT_AREA, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sph_net *net =
            vgg(cases[i].param, SPH_NORM_NONE, cases[i].init, (sph_details){.fan_out = cases[i].fan_out});
        double share = share_of_limit(net, 5, 32 * cases[i].area);
        assert_true(share > 0.99 && share <= 1 + 1e-12); /* of 9,216 draws the largest is near the limit */
        sph_net_free(net);
    }
}

static void authors_start_is_half_a_sphere(void **state)
{
    (void)state;
    for (int authors = 0; authors < 2; authors++) {
        sph_net *net =
            vgg(SPH_PARAM_GMP, SPH_NORM_NONE, authors ? SPH_INIT_AUTHORS : SPH_INIT_GLOROT, (sph_details){0});
        struct param_values values;
        assert_int_equal(net_layer_values(net, 5, &values), 0);
        size_t n = net->layers[5].shape.n, below = 0;
        for (size_t j = 0; j < 32; j++) {
            double last = values.raw[0][j * (n - 1) + n - 2];
            below += last < 0;
            assert_true(last <= pi);
        }
        assert_true(authors ? below == 0 : below > 4 && below < 28);
        net_values_free(&values);
        sph_net_free(net);
    }
}

/* ---------------------------------------------------------------- the same function */

static double apart(sph_net *a, sph_net *b)
{
    enum { ROWS = 6 };
    size_t n = sph_net_inputs(a), m = sph_net_outputs(a);
    double *x = calloc(ROWS * n, sizeof *x), *ya = calloc(ROWS * m, sizeof *ya),
           *yb = calloc(ROWS * m, sizeof *yb);
    double off = 0, size = 0;
    struct rng rng = rng_stream(5, RNG_NOISE, 9);
    for (size_t i = 0; i < ROWS * n; i++)
        x[i] = rng_normal(&rng);
    assert_int_equal(sph_net_forward(a, x, ROWS, ya), 0);
    assert_int_equal(sph_net_forward(b, x, ROWS, yb), 0);
    for (size_t i = 0; i < ROWS * m; i++) {
        off = fmax(off, fabs(ya[i] - yb[i]));
        size = fmax(size, fabs(ya[i]));
    }
    free(x);
    free(ya);
    free(yb);
    assert_true(size > 0);
    return off / size;
}

/* Learned numbers and statistics such that each matters. */
static void stir(sph_net *net)
{
    struct rng rng = rng_stream(8, RNG_NOISE, 1);
    for (size_t i = 0; i < sph_net_tensors(net); i++) {
        sph_tensor tensor;
        assert_int_equal(sph_net_tensor(net, i, &tensor), 0);
        double *values = calloc(tensor.count, sizeof *values);
        assert_int_equal(sph_net_get(net, tensor.name, values, tensor.count), 0);
        int variance = strstr(tensor.name, "norm.var") != NULL;
        for (size_t j = 0; j < tensor.count; j++)
            values[j] = variance ? 1e-3 * (1 + rng_unit(&rng)) : values[j] + 0.2 * rng_normal(&rng);
        assert_int_equal(sph_net_set(net, tensor.name, values, tensor.count), 0);
        free(values);
    }
}

static const struct detailed {
    const char *name, *key; /* what the file says */
    sph_param param;
    sph_norm norm;
    sph_details details;
} detailed[] = {
    {"angles hwc", "\"angle_order\":\"hwc\"", SPH_PARAM_GMP, SPH_NORM_NONE, {.angle_order = SPH_ANGLES_HWC}},
    {"epsilon", "\"norm_epsilon\":0.001", SPH_PARAM_SP, SPH_NORM_BN, {.norm_epsilon = 1e-3}},
    {"epsilon of gn", "\"norm_epsilon\":0.001", SPH_PARAM_SP, SPH_NORM_GN, {.norm_epsilon = 1e-3}},
    {"imn behind", "\"norm_at\":\"output\"", SPH_PARAM_GMP, SPH_NORM_IMN, {.imn_at = SPH_IMN_AT_OUTPUT}},
    {"no bias", "\"bias\":\"none\"", SPH_PARAM_WN, SPH_NORM_MBN, {.mbn_bias = SPH_MBN_BIAS_NONE}},
};

static int file_says(const char *path, const char *text)
{
    static char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    char escaped[128], *to = escaped; /* JSON in a JSON string */
    for (const char *at = text; *at; at++) {
        if (*at == '"')
            *to++ = '\\';
        *to++ = *at;
    }
    *to = '\0';
    for (size_t i = 0; i + (size_t)(to - escaped) < length; i++)
        if (!memcmp(bytes + i, escaped, (size_t)(to - escaped)))
            return 1;
    return 0;
}

static void files_keep_the_details_and_conversions_the_function(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof detailed / sizeof *detailed; i++) {
        const struct detailed *with = &detailed[i];
        sph_net *net = vgg(with->param, with->norm, SPH_INIT_DEFAULT, with->details), *read = NULL,
                *other = NULL;
        sph_net *usual = vgg(with->param, with->norm, SPH_INIT_DEFAULT, (sph_details){0});
        stir(net);
        stir(usual);
        assert_int_equal(sph_net_save(net, "details.safetensors"), 0);
        assert_true(file_says("details.safetensors", with->key));
        assert_int_equal(sph_net_open(&read, "details.safetensors"), 0);
        assert_true(apart(net, read) == 0);
        assert_int_equal(sph_net_save(usual, "usual.safetensors"), 0);
        assert_false(file_says("usual.safetensors", with->key));
        for (int to = 0; to < SPH_PARAM_COUNT; to++) {
            if (sph_net_convert(&other, net, (sph_param)to, 0) < 0) {
                assert_int_equal(with->norm, SPH_NORM_GN); /* which joins the units */
                continue;
            }
            if (!(apart(net, other) < 1e-11))
                fail_msg("%s to %d: %.1e apart", with->name, to, apart(net, other));
            sph_net_free(other);
        }
        sph_net_free(net);
        sph_net_free(read);
        sph_net_free(usual);
    }
    unlink("details.safetensors");
    unlink("usual.safetensors");
}

static void angles_of_another_order_are_another_function_and_no_start(void **state)
{
    (void)state;
    sph_net *hwc =
        vgg(SPH_PARAM_GMP, SPH_NORM_NONE, SPH_INIT_DEFAULT, (sph_details){.angle_order = SPH_ANGLES_HWC});
    sph_net *chw = vgg(SPH_PARAM_GMP, SPH_NORM_NONE, SPH_INIT_DEFAULT, (sph_details){0}), *plain = NULL,
            *back = NULL;
    assert_true(apart(hwc, chw) < 1e-12); /* drawn alike: the same weights, other angles */
    stir(hwc);
    stir(chw);
    assert_true(apart(hwc, chw) > 1e-3); /* the same angles, other weights */
    assert_int_equal(sph_net_save(hwc, "hwc.safetensors"), 0);
    assert_int_equal(sph_net_load_tensors(chw, "hwc.safetensors"), SPH_EARG);
    assert_string_equal(sph_failure()->key, "layers.0");
    assert_int_equal(sph_net_convert(&plain, hwc, SPH_PARAM_SP, 0), 0);
    assert_int_equal(sph_net_convert(&back, plain, SPH_PARAM_GMP, 0), 0);
    assert_true(apart(hwc, back) < 1e-11);
    unlink("hwc.safetensors");
    sph_net_free(hwc);
    sph_net_free(chw);
    sph_net_free(plain);
    sph_net_free(back);
}

static void regions_see_imn_behind_activations(void **state)
{
    (void)state;
    sph_net *net = NULL;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = SPH_F64,
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = (size_t[]){7, 5},
                    .depth = 2,
                    .param = SPH_PARAM_GMP,
                    .norm = SPH_NORM_IMN,
                    .act = SPH_ACT_RELU,
                    .seed = 4,
                    .details = {.imn_at = SPH_IMN_AT_OUTPUT}};
    assert_int_equal(sph_net_mlp(&net, &spec), 0);
    stir(net);
    sph_regions_opts opts = {.size = sizeof opts};
    struct piecewise lines;
    double window[] = {-2, 2, -2, 2};
    memcpy(opts.window, window, sizeof window);
    if (piecewise_new(&lines, net, &opts) < 0)
        fail_msg("%s", sph_error());
    for (int i = 0; i < 25; i++) {
        double place[2] = {-2 + i % 5, -2 + i / 5}, unit[2], y;
        for (int axis = 0; axis < 2; axis++)
            unit[axis] = (place[axis] - lines.middle[axis]) / lines.half[axis];
        assert_int_equal(sph_net_forward(net, place, 1, &y), 0);
        assert_true(fabs(*piecewise_at(&lines, unit) - y) < 1e-12);
    }
    piecewise_free(&lines);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_sets_the_constants_of_the_authors_code),
        cmocka_unit_test(other_protocols_set_none_of_them),
        cmocka_unit_test(what_is_given_stays_under_reference),
        cmocka_unit_test(an_option_that_nothing_reads_is_refused),
        cmocka_unit_test(levy_is_the_authors_to_the_last_digits),
        cmocka_unit_test(glorots_fan_out_of_a_conv_counts_the_area_or_filters_alone),
        cmocka_unit_test(authors_start_is_half_a_sphere),
        cmocka_unit_test(files_keep_the_details_and_conversions_the_function),
        cmocka_unit_test(angles_of_another_order_are_another_function_and_no_start),
        cmocka_unit_test(regions_see_imn_behind_activations),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
