/* SPDX-License-Identifier: MIT
 *
 * Image nodes compute what they say: convolutions, pools and normalizations against direct loops. Nets of several of
 * them are test_conv_nets.c's matter, gradients test_conv_gradients.c's, conversions test_conv_convert.c's. */
#include "conv_values.h"

struct shape {
    size_t channels, height, width, units, kernel, stride, pad;
};

static const struct shape shapes[] = {
    {1, 1, 1, 3, 1, 1, 0}, {3, 7, 5, 2, 3, 1, 0},  {3, 7, 5, 9, 3, 2, 1},   {17, 4, 3, 5, 3, 2, 2},
    {1, 3, 8, 1, 3, 1, 2}, {3, 9, 4, 2, 7, 2, 3},  {17, 2, 3, 17, 1, 2, 0}, {8, 6, 6, 8, 2, 2, 0},
    {1, 1, 1, 2, 7, 1, 3}, {2, 10, 9, 4, 3, 3, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static sph_layer layer_of(const struct shape *s, sph_norm norm)
{
    return (sph_layer){.size = sizeof(sph_layer),
                       .units = s->units,
                       .norm = norm,
                       .kernel = s->kernel,
                       .stride = s->stride,
                       .pad = s->pad};
}

/* ---------------------------------------------------------------- direct loops */

static size_t slid(size_t size, const struct shape *s)
{
    return (size + 2 * s->pad - s->kernel) / s->stride + 1;
}

/* x[row][channel] at a place that may lie outside, where it is `outside` */
static double pixel(const struct shape *s, const double *x, size_t row, size_t channel, size_t y, size_t at_x,
                    double outside)
{
    if (y < s->pad || at_x < s->pad || y - s->pad >= s->height || at_x - s->pad >= s->width)
        return outside;
    return x[((row * s->channels + channel) * s->height + (y - s->pad)) * s->width + (at_x - s->pad)];
}

/* w (units, channels, kernel, kernel) */
static double *direct_conv(const struct shape *s, const double *x, const double *w, const double *b)
{
    size_t oh = slid(s->height, s), ow = slid(s->width, s), at = 0;
    double *out = numbers(ROWS * s->units * oh * ow);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < s->units; j++)
            for (size_t y = 0; y < oh; y++)
                for (size_t z = 0; z < ow; z++, at++) {
                    out[at] = b ? b[j] : 0;
                    for (size_t c = 0; c < s->channels; c++)
                        for (size_t p = 0; p < s->kernel; p++)
                            for (size_t q = 0; q < s->kernel; q++)
                                out[at] += w[((j * s->channels + c) * s->kernel + p) * s->kernel + q] *
                                           pixel(s, x, i, c, y * s->stride + p, z * s->stride + q, 0);
                }
    return out;
}

static double *direct_pool(const struct shape *s, const double *x, int max)
{
    size_t oh = slid(s->height, s), ow = slid(s->width, s), at = 0;
    double *out = numbers(ROWS * s->channels * oh * ow), area = (double)(s->kernel * s->kernel);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < s->channels; c++)
            for (size_t y = 0; y < oh; y++)
                for (size_t z = 0; z < ow; z++, at++) {
                    out[at] = max ? -INFINITY : 0;
                    for (size_t p = 0; p < s->kernel; p++)
                        for (size_t q = 0; q < s->kernel; q++) {
                            double v =
                                pixel(s, x, i, c, y * s->stride + p, z * s->stride + q, max ? -INFINITY : 0);
                            out[at] = max ? fmax(out[at], v) : out[at] + v / area;
                        }
                }
    return out;
}

static sph_net *one_conv(const struct shape *s, sph_dtype dtype, enum kernel_choice choice, sph_norm norm)
{
    sph_net *net = open_net(dtype, choice);
    int x = sph_net_image(net, s->channels, s->height, s->width);
    sph_layer layer = layer_of(s, norm);
    ready_image(net, sph_net_conv(net, x, &layer));
    return net;
}

static void a_conv_is_the_direct_sum(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (int choice = KERNELS_FASTEST; choice <= KERNELS_BASE; choice++)
            for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
                const struct shape *s = &shapes[i];
                sph_net *net = one_conv(s, (sph_dtype)dtype, (enum kernel_choice)choice, SPH_NORM_NONE);
                size_t n = s->channels * s->kernel * s->kernel,
                       count = ROWS * node_features(&net->nodes[net->output]);
                double *x = draw(ROWS * sph_net_inputs(net), i), *w = draw(s->units * n, i + 50),
                       *b = draw(s->units, i + 90);
                assert_int_equal(sph_net_set(net, "layers.0.weight", w, s->units * n), 0);
                assert_int_equal(sph_net_set(net, "layers.0.bias", b, s->units), 0);
                double *ours = values_of(net, x, PLAN_EVALUATE, 1), *right = direct_conv(s, x, w, b);
                near(ours, right, count, dtype == SPH_F64 ? 1e-13 : 2e-5);
                free(x), free(w), free(b), free(ours), free(right);
                sph_net_free(net);
            }
}

static void pools_are_direct_loops(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (int max = 0; max < 2; max++) {
            const struct shape *s = &shapes[i];
            sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
            int x = sph_net_image(net, s->channels, s->height, s->width);
            ready_image(net,
                        (max ? sph_net_max_pool : sph_net_avg_pool)(net, x, s->kernel, s->stride, s->pad));
            double *data = draw(ROWS * sph_net_inputs(net), i),
                   *ours = values_of(net, data, PLAN_EVALUATE, 1), *right = direct_pool(s, data, max);
            near(ours, right, ROWS * node_features(&net->nodes[net->output]), 1e-14);
            free(data), free(ours), free(right);
            sph_net_free(net);
        }
}

static void the_global_pool_is_the_mean_of_an_image_of_any_shape(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    ready_image(net, sph_net_global_pool(net, sph_net_image(net, 3, 5, 2)));
    double *x = draw(ROWS * 30, 1), *ours = values_of(net, x, PLAN_EVALUATE, 1);
    for (size_t i = 0; i < ROWS * 3; i++) {
        double mean = 0;
        for (size_t p = 0; p < 10; p++)
            mean += x[i * 10 + p] / 10;
        assert_true(fabs(mean - ours[i]) < 1e-15);
    }
    free(x), free(ours);
    sph_net_free(net);
}

static void in_a_max_pool_the_first_of_equals_and_any_nan_win(void **state)
{
    (void)state;
    const struct window w = {.channels = 1,
                             .height = 1,
                             .width = 4,
                             .kernel_height = 1,
                             .kernel_width = 2,
                             .stride = 2,
                             .out_height = 1,
                             .out_width = 2};
    const double x[4] = {2, 2, 5, NAN};
    double y[2], dx[4] = {0};
    uint32_t index[2];
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_FASTEST);
    k->max_pool(&w, x, 1, y, 1, index);
    assert_true(y[0] == 2 && index[0] == 0 && isnan(y[1]) && index[1] == 3);
    k->max_pool_grad(&w, (const double[]){7, 8}, 1, index, dx, 1);
    assert_true(dx[0] == 7 && dx[1] == 0 && dx[2] == 0 && dx[3] == 8);
    k->max_pool(&w, (const double[]){NAN, 1, 1, 2}, 1, y, 1, index); /* a NaN that comes first stays */
    assert_true(isnan(y[0]) && index[0] == 0 && y[1] == 2);
}

/* ---------------------------------------------------------------- normalizations */

/* Mean and biased variance of channel c over rows and pixels. */
static void channel_moments(const double *z, size_t channels, size_t pixels, size_t c, double *mean,
                            double *var)
{
    double count = (double)(ROWS * pixels);
    *mean = *var = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < ROWS; i++)
            for (size_t p = 0; p < pixels; p++) {
                double v = z[(i * channels + c) * pixels + p];
                if (pass)
                    *var += (v - *mean) * (v - *mean) / count;
                else
                    *mean += v / count;
            }
}

static void bn_and_mbn_have_statistics_per_channel(void **state)
{
    (void)state;
    const struct shape *s = &shapes[2];
    size_t pixels = slid(s->height, s) * slid(s->width, s), n = s->channels * 9, m = s->units;
    double *x = draw(ROWS * s->channels * s->height * s->width, 4), *w = draw(m * n, 5), *b = draw(m, 6),
           *gamma = draw(m, 7), *z = direct_conv(s, x, w, NULL), *right = numbers(ROWS * m * pixels),
           *means = numbers(m), *vars = numbers(m), *got = numbers(m);
    for (int mbn = 0; mbn < 2; mbn++) {
        sph_net *net = one_conv(s, SPH_F64, KERNELS_FASTEST, mbn ? SPH_NORM_MBN : SPH_NORM_BN);
        assert_int_equal(sph_net_set(net, "layers.0.weight", w, m * n), 0);
        assert_int_equal(sph_net_set(net, mbn ? "layers.0.bias" : "layers.0.norm.shift", b, m), 0);
        if (!mbn)
            assert_int_equal(sph_net_set(net, "layers.0.norm.scale", gamma, m), 0);
        double *ours = values_of(net, x, PLAN_TRAIN, 1), count = (double)(ROWS * pixels);
        for (size_t c = 0; c < m; c++) {
            double mean, var;
            channel_moments(z, m, pixels, c, &mean, &var);
            means[c] = 0.25 * mean;
            vars[c] = 0.75 + 0.25 * var * count / (count - 1);
            for (size_t i = 0; i < ROWS; i++)
                for (size_t p = 0; p < pixels; p++) {
                    size_t at = (i * m + c) * pixels + p;
                    right[at] =
                        mbn ? z[at] - mean + b[c] : (z[at] - mean) / sqrt(var + 1e-5) * gamma[c] + b[c];
                }
        }
        near(ours, right, ROWS * m * pixels, 1e-12);
        assert_int_equal(sph_net_get(net, "layers.0.norm.mean", got, m), 0);
        near(got, means, m, 1e-13);
        if (!mbn) {
            assert_int_equal(sph_net_get(net, "layers.0.norm.var", got, m), 0);
            near(got, vars, m, 1e-13);
        }
        free(ours);

        ours = values_of(net, x, PLAN_EVALUATE, 1); /* running statistics */
        for (size_t at = 0; at < ROWS * m * pixels; at++) {
            size_t c = at / pixels % m;
            double off = z[at] - means[c];
            right[at] = mbn ? off + b[c] : off / sqrt(vars[c] + 1e-5) * gamma[c] + b[c];
        }
        near(ours, right, ROWS * m * pixels, 1e-12);
        free(ours);
        sph_net_free(net);
    }
    free(x), free(w), free(b), free(gamma), free(z), free(right), free(means), free(vars), free(got);
}

static void imn_is_subtracted_before_zero_padding(void **state)
{
    (void)state;
    const struct shape *s = &shapes[3]; /* pad 2, 17 channels */
    size_t pixels = s->height * s->width, n = s->channels * 9, m = s->units, c = s->channels;
    size_t count = ROWS * m * slid(s->height, s) * slid(s->width, s);
    double *x = draw(ROWS * c * pixels, 8), *centred = draw(ROWS * c * pixels, 8), *w = draw(m * n, 9),
           *b = draw(m, 1), *mean = numbers(c), *got = numbers(c), var;
    for (size_t i = 0; i < ROWS * c * pixels; i++)
        x[i] += 3;
    sph_net *net = one_conv(s, SPH_F64, KERNELS_FASTEST, SPH_NORM_IMN);
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, m * n), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", b, m), 0);
    for (int evaluate = 0; evaluate < 2; evaluate++) {
        for (size_t ch = 0; ch < c; ch++) {
            channel_moments(x, c, pixels, ch, &mean[ch], &var);
            mean[ch] *= evaluate ? 0.25 : 1;
        }
        for (size_t at = 0; at < ROWS * c * pixels; at++)
            centred[at] = x[at] - mean[at / pixels % c];
        double *ours = values_of(net, x, evaluate ? PLAN_EVALUATE : PLAN_TRAIN, 1),
               *right = direct_conv(s, centred, w, b);
        near(ours, right, count, 1e-12);
        free(ours), free(right);
    }
    sph_tensor t = net_find_tensor(net, "layers.0.norm.mean")->view;
    assert_int_equal(t.count, c);
    assert_int_equal(sph_net_get(net, "layers.0.norm.mean", got, c), 0);
    near(got, mean, c, 1e-13);
    free(x), free(centred), free(w), free(b), free(mean), free(got);
    sph_net_free(net);
}

static void ln_of_an_image_is_group_norm_of_one_group(void **state)
{
    (void)state;
    const struct shape *s = &shapes[2];
    size_t pixels = slid(s->height, s) * slid(s->width, s), n = s->channels * 9, m = s->units;
    double *x = draw(ROWS * s->channels * s->height * s->width, 4), *w = draw(m * n, 5), *b = draw(m, 6),
           *gamma = draw(m, 7), *beta = draw(m, 8), *z = direct_conv(s, x, w, b);
    sph_net *net = one_conv(s, SPH_F64, KERNELS_FASTEST, SPH_NORM_LN);
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, m * n), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", b, m), 0);
    assert_int_equal(sph_net_set(net, "layers.0.norm.scale", gamma, m), 0);
    assert_int_equal(sph_net_set(net, "layers.0.norm.shift", beta, m), 0);
    for (size_t i = 0; i < ROWS; i++) {
        double mean = 0, var = 0, *image = z + i * m * pixels, count = (double)(m * pixels);
        for (size_t at = 0; at < m * pixels; at++)
            mean += image[at] / count;
        for (size_t at = 0; at < m * pixels; at++)
            var += (image[at] - mean) * (image[at] - mean) / count;
        for (size_t at = 0; at < m * pixels; at++)
            image[at] = (image[at] - mean) / sqrt(var + 1e-5) * gamma[at / pixels] + beta[at / pixels];
    }
    double *ours = values_of(net, x, PLAN_EVALUATE, 1);
    near(ours, z, ROWS * m * pixels, 1e-12);
    free(x), free(w), free(b), free(gamma), free(beta), free(z), free(ours);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conv_is_the_direct_sum),
        cmocka_unit_test(pools_are_direct_loops),
        cmocka_unit_test(the_global_pool_is_the_mean_of_an_image_of_any_shape),
        cmocka_unit_test(in_a_max_pool_the_first_of_equals_and_any_nan_win),
        cmocka_unit_test(bn_and_mbn_have_statistics_per_channel),
        cmocka_unit_test(imn_is_subtracted_before_zero_padding),
        cmocka_unit_test(ln_of_an_image_is_group_norm_of_one_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
