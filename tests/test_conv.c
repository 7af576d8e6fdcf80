/* SPDX-License-Identifier: MIT
 *
 * Image nodes compute what they say: convolutions, pools and normalizations against direct loops, shapes and
 * their errors, files. Gradients are test_conv_gradients.c's matter, conversions test_conv_convert.c's. */
#include "support.h"
#include "spherelu.h"

#include <unistd.h>

struct shape {
    size_t channels, height, width, units, kernel, stride, pad;
};

static const struct shape shapes[] = {
    {1, 1, 1, 3, 1, 1, 0}, {3, 7, 5, 2, 3, 1, 0},  {3, 7, 5, 9, 3, 2, 1},   {17, 4, 3, 5, 3, 2, 2},
    {1, 3, 8, 1, 3, 1, 2}, {3, 9, 4, 2, 7, 2, 3},  {17, 2, 3, 17, 1, 2, 0}, {8, 6, 6, 8, 2, 2, 0},
    {1, 1, 1, 2, 7, 1, 3}, {2, 10, 9, 4, 3, 3, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, ROWS = 5 };

/* ---------------------------------------------------------------- nets that end in an image, their values */

static void ready_image(sph_net *net, int output)
{
    assert_true(output > 0);
    net->output = output;
    assert_int_equal(net_lay_out(net), 0);
    net->ready = 1;
    assert_int_equal(net_draw(net, 3), 0);
}

struct catch
{
    const struct kernels *k;
    const struct net_node *node;
    size_t block; /* of channels, or 0 */
    double *y;    /* (rows, channels, height, width) */
};

static double catch_tile(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy,
                         size_t lddy)
{
    struct catch *c = self;
    size_t pixels = node_pixels(c->node), channels = c->node->channels;
    size_t block = c->block && pixels > 1 ? c->block : ldy, blocks = (channels + block - 1) / block;
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t p = 0; p < pixels; p++)
            for (size_t ch = 0; ch < channels; ch++)
                c->y[((tile->row + i) * channels + ch) * pixels + p] =
                    get_number(c->k, y, ((i * blocks + ch / block) * pixels + p) * block + ch % block);
    if (dy)
        memset(dy, 0, tile->rows * blocks * pixels * lddy * c->k->size);
    return 0;
}

/* Values of the output node, of the caller to free; x (ROWS, channels, height, width). */
static double *values_of(sph_net *net, const double *x, enum plan_mode mode, size_t workers)
{
    struct weights *weights = NULL;
    struct plan *plan = NULL;
    const struct net_node *node = &net->nodes[net->output];
    size_t n = sph_net_inputs(net), ld = net_row_length(net);
    char *in = padded_rows(net->k, ROWS, ld);
    for (size_t i = 0; i < ROWS; i++)
        net_arrange(net, x + i * n, in + i * ld * net->k->size);
    assert_int_equal(weights_new(&weights, net, net->k, mode == PLAN_TRAIN ? workers : 0), 0);
    assert_int_equal(plan_new(&plan, weights, ROWS, mode, workers, 0.25), 0);
    weights_materialize(weights);
    struct catch c = {net->k, node, plan_block(net, net->k), numbers(ROWS * node_features(node))};
    plan_run(plan, in, ld, ROWS, &(struct plan_head){&c, catch_tile});
    plan_free(plan);
    weights_free(weights);
    mem_free(in);
    return c.y;
}

static double *draw(size_t count, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 2);
    double *x = numbers(count);
    for (size_t i = 0; i < count; i++)
        x[i] = rng_normal(&rng);
    return x;
}

static void near(const double *a, const double *b, size_t count, double bar)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= bar * (1 + fabs(b[i]))))
            fail_msg("number %zu is %.17g, expected %.17g", i, a[i], b[i]);
}

static sph_layer layer_of(const struct shape *s, sph_norm norm)
{
    return (sph_layer){
        .units = s->units, .norm = norm, .kernel = s->kernel, .stride = s->stride, .pad = s->pad};
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

/* ---------------------------------------------------------------- nets of several nodes */

static const struct net_plan {
    sph_param param;
    sph_norm norm;
} methods[] = {{SPH_PARAM_SP, SPH_NORM_NONE},  {SPH_PARAM_SP, SPH_NORM_BN},
               {SPH_PARAM_GMP, SPH_NORM_NONE}, {SPH_PARAM_GMP, SPH_NORM_IMN},
               {SPH_PARAM_WN, SPH_NORM_MBN},   {SPH_PARAM_SPHERE, SPH_NORM_LN},
               {SPH_PARAM_WN, SPH_NORM_BN},    {SPH_PARAM_SPHERE, SPH_NORM_IMN}};
enum { METHODS = sizeof methods / sizeof *methods };

/* Every kind of node; 3 x 9 x 7 in, 4 out. */
static sph_net *every_node(sph_dtype dtype, const struct net_plan *plan)
{
    sph_net *net = open_net(dtype, KERNELS_FASTEST);
    sph_layer layer = {.units = 5,
                       .param = plan->param,
                       .norm = plan->norm,
                       .act = SPH_ACT_RELU,
                       .kernel = 3,
                       .stride = 1,
                       .pad = 1};
    int x = sph_net_image(net, 3, 9, 7);
    layer.norm = plan->norm == SPH_NORM_IMN ? SPH_NORM_NONE : plan->norm;
    int in = sph_net_max_pool(net, sph_net_conv(net, x, &layer), 3, 2, 1); /* 5 x 4 */
    layer.norm = plan->norm;
    layer.stride = 2;
    layer.act = SPH_ACT_SRELU;
    int branch = sph_net_conv(net, in, &layer); /* 3 x 2 */
    layer.act = SPH_ACT_IDENTITY;
    layer.kernel = 1;
    layer.pad = 0;
    int sum = sph_net_act(net, sph_net_add(net, branch, sph_net_conv(net, in, &layer)), SPH_ACT_RELU);
    int node = sph_net_avg_pool(net, sum, 2, 1, 0);
    assert_true(node > 0);
    ready(net, dense(net, sph_net_global_pool(net, node), 4, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY),
          6);
    return net;
}

static void stir_for_evaluation(sph_net *net, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 1);
    stir(net, &rng);
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *t = &net->tensors[i];
        double values[16];
        for (size_t e = 0; e < t->view.count && !t->view.learned; e++)
            values[e] = between(&rng, 0.5, 1);
        if (!t->view.learned)
            net_write_tensor(net, t, values);
    }
}

static void f32_and_f64_agree(void **state)
{
    (void)state;
    double *x = draw(ROWS * 189, 2), wide[ROWS * 4], narrow[ROWS * 4];
    for (size_t i = 0; i < METHODS; i++) {
        sph_net *a = every_node(SPH_F64, &methods[i]), *b = every_node(SPH_F32, &methods[i]);
        stir_for_evaluation(a, i);
        stir_for_evaluation(b, i);
        assert_int_equal(sph_net_forward(a, x, ROWS, wide), 0);
        assert_int_equal(sph_net_forward(b, x, ROWS, narrow), 0);
        near(narrow, wide, ROWS * 4, 2e-5);
        sph_net_free(a);
        sph_net_free(b);
    }
    free(x);
}

static void workers_change_no_value(void **state)
{
    (void)state;
    double *x = draw(ROWS * 189, 2);
    for (size_t i = 0; i < METHODS; i++)
        for (int mode = PLAN_EVALUATE; mode <= PLAN_TRAIN; mode++) {
            sph_net *net = every_node(SPH_F64, &methods[i]);
            double *one = values_of(net, x, (enum plan_mode)mode, 1);
            sph_net_free(net);
            net = every_node(SPH_F64, &methods[i]);
            double *two = values_of(net, x, (enum plan_mode)mode, 2);
            assert_memory_equal(one, two, ROWS * 4 * sizeof *one);
            free(one), free(two);
            sph_net_free(net);
        }
    free(x);
}

static void forward_of_many_rows_is_forward_of_each(void **state)
{
    (void)state;
    enum { MANY = 300 };
    sph_net *net = every_node(SPH_F64, &methods[3]);
    stir_for_evaluation(net, 1);
    double *x = draw(MANY * 189, 3), *y = numbers(MANY * 4), one[4];
    assert_int_equal(sph_net_forward(net, x, MANY, y), 0);
    for (size_t i = 0; i < MANY; i += 13) {
        assert_int_equal(sph_net_forward(net, x + i * 189, 1, one), 0);
        near(one, y + i * 4, 4, 1e-14);
    }
    free(x), free(y);
    sph_net_free(net);
}

/* Finite weights, one image with a huge pixel, not the first: the conv that overflows is named, not who reads
 * it. */
static void a_pixel_that_overflows_is_blamed_on_its_layer(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
    int x = sph_net_image(net, 1, 3, 3);
    sph_layer layer = {.units = 1, .kernel = 1, .stride = 1};
    int node = sph_net_conv(net, sph_net_conv(net, x, &layer), &layer);
    ready(net, dense(net, sph_net_global_pool(net, node), 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY),
          1);
    assert_int_equal(sph_net_set(net, "layers.0.weight", (double[]){1e10}, 1), 0);
    struct rng rng = rng_stream(1, RNG_NOISE, 1);
    struct probe p;
    probe_open(&p, net, SPH_LOSS_MSE, 2, 1, &rng);
    set_number(net->k, p.x, p.ldx + 7 * kernel_pad(1), 1e30);
    assert_true(!isfinite(probe_loss(&p)));
    assert_int_equal(plan_blame(p.plan, p.x, p.ldx, 2), 0);
    probe_close(&p);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- errors */

static void refused(int err, const char *key)
{
    assert_fails(err, SPH_EARG, .key = key);
}

static void shape_errors_name_the_layer(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
    refused(sph_net_image(net, 3, 0, 4), "input");
    int x = sph_net_image(net, 3, 5, 4);
    assert_int_equal(x, 0);
    sph_layer layer = {.path = "layer2.0.conv1", .units = 2, .kernel = 7, .stride = 1, .pad = 1};
    refused(sph_net_conv(net, x, &layer), "layer2.0.conv1");
    layer = (sph_layer){.units = 2, .kernel = 3, .stride = 0};
    refused(sph_net_conv(net, x, &layer), "layers.0");
    layer = (sph_layer){.units = 2, .kernel = 3, .stride = 1, .pad = 3};
    refused(sph_net_conv(net, x, &layer), "layers.0");
    refused(sph_net_conv(net, 9, &layer), "layers.0");
    refused(sph_net_dense(net, x, &(sph_layer){.path = "fc", .units = 2}), "fc");
    refused(sph_net_dense(net, x, &(sph_layer){.path = "fc", .units = 2, .kernel = 3}), "fc");
    refused(sph_net_max_pool(net, x, 5, 2, 0), "max pool");
    refused(sph_net_avg_pool(net, x, 0, 2, 0), "average pool");
    refused(sph_net_global_pool(net, 4), "global pool");
    layer = (sph_layer){.units = 3, .kernel = 1, .stride = 2};
    int small = sph_net_conv(net, x, &layer);
    refused(sph_net_add(net, x, small), "add");
    layer = (sph_layer){.units = 20, .kernel = 3, .stride = 3, .pad = 1}; /* 20 x 2 x 2; 10 x 4 x 2 below */
    int wide = sph_net_conv(net, x, &layer);
    layer = (sph_layer){.units = 10, .kernel = 2, .stride = 1, .pad = 0};
    int other = sph_net_max_pool(net, sph_net_conv(net, x, &layer), 2, 1, 0);
    assert_int_equal(net->nodes[other].height * net->nodes[other].width, 6);
    refused(sph_net_act(net, x, SPH_ACT_SRELU), "activation");
    refused(sph_net_act(net, x, (sph_act)17), "activation");
    refused(sph_net_act(net, 77, SPH_ACT_RELU), "activation");
    refused(sph_net_ready(net, other, 1), "output");
    assert_true(wide > 0);
    sph_net_free(net);

    net = open_net(SPH_F32, KERNELS_FASTEST); /* as many numbers in another shape */
    x = sph_net_image(net, 1, 2, 3);
    layer = (sph_layer){.units = 6, .kernel = 2, .stride = 2};
    int a = sph_net_conv(net, x, &layer); /* 6 x 1 x 1 */
    assert_int_equal(node_features(&net->nodes[a]), 6);
    refused(sph_net_add(net, a, x), "add");
    sph_net_free(net);
}

/* ---------------------------------------------------------------- files */

static void image_nets_come_back_from_their_files(void **state)
{
    (void)state;
    char path[] = "/tmp/test_conv_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    double *x = draw(ROWS * 189, 2), before[ROWS * 4], after[ROWS * 4];
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (size_t i = 0; i < METHODS; i++) {
            sph_net *net = every_node((sph_dtype)dtype, &methods[i]), *back = NULL;
            stir_for_evaluation(net, i);
            assert_int_equal(sph_net_save(net, path), 0);
            if (sph_net_open(&back, path) < 0)
                fail_msg("%s", sph_error());
            assert_int_equal(back->node_count, net->node_count);
            assert_int_equal(back->nodes[6].act, net->nodes[6].act);
            assert_int_equal(sph_net_forward(net, x, ROWS, before), 0);
            assert_int_equal(sph_net_forward(back, x, ROWS, after), 0);
            assert_memory_equal(before, after, sizeof before);
            sph_net *copy = NULL;
            assert_int_equal(sph_net_copy(&copy, net), 0);
            assert_int_equal(sph_net_forward(copy, x, ROWS, after), 0);
            assert_memory_equal(before, after, sizeof before);
            sph_net_free(copy);
            sph_net_free(back);
            sph_net_free(net);
        }
    unlink(path);
    free(x);
}

static void tensors_of_a_conv_have_four_axes_and_angles_two(void **state)
{
    (void)state;
    sph_net *net = every_node(SPH_F32, &methods[0]), *gmp = every_node(SPH_F32, &methods[2]);
    sph_tensor t = net_find_tensor(net, "layers.0.weight")->view;
    assert_int_equal(t.ndim, 4);
    assert_true(t.shape[0] == 5 && t.shape[1] == 3 && t.shape[2] == 3 && t.shape[3] == 3 && t.count == 135);
    t = net_find_tensor(gmp, "layers.0.theta")->view;
    assert_int_equal(t.ndim, 2);
    assert_true(t.shape[0] == 5 && t.shape[1] == 26);
    t = net_find_tensor(net, "layers.3.weight")->view;
    assert_int_equal(t.ndim, 2);
    sph_net_free(net);
    sph_net_free(gmp);
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
        cmocka_unit_test(f32_and_f64_agree),
        cmocka_unit_test(workers_change_no_value),
        cmocka_unit_test(forward_of_many_rows_is_forward_of_each),
        cmocka_unit_test(a_pixel_that_overflows_is_blamed_on_its_layer),
        cmocka_unit_test(shape_errors_name_the_layer),
        cmocka_unit_test(image_nets_come_back_from_their_files),
        cmocka_unit_test(tensors_of_a_conv_have_four_axes_and_angles_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
