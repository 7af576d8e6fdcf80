/* SPDX-License-Identifier: MIT
 *
 * Winograd's convolutions against the sum they stand for, in f64: odd shapes, both ways, weights' gradient,
 * every fast table, blocks of 8 and 16. The scratch ends at a guard, padding channels are written 0. */
#include <math.h>

#include "support.h"

#include "compute/conv_way.h"
#include "skip.h"

enum { TAPS = 9, GUARD = 64 };

static const struct shape {
    size_t images, channels, height, width, units, pad;
} shapes[] = {
    {1, 1, 1, 1, 1, 1},    {2, 3, 5, 9, 17, 1},    {1, 17, 8, 8, 3, 1},    {3, 16, 7, 7, 16, 1},
    {2, 130, 4, 6, 17, 1}, {1, 17, 13, 2, 130, 1}, {2, 24, 6, 3, 40, 0},   {1, 8, 3, 3, 8, 0},
    {2, 20, 1, 5, 33, 2},  {1, 33, 10, 11, 20, 2}, {5, 16, 33, 29, 16, 1}, {1, 130, 2, 2, 130, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct images {
    size_t count, channels, height, width, block, blocks;
    float *data;
};

static struct images new_images(size_t count, size_t channels, size_t height, size_t width, size_t block)
{
    size_t blocks = (channels + block - 1) / block;
    struct images out = {count, channels, height, width, block, blocks, NULL};
    out.data = mem_get(count * blocks * block * height * width, sizeof(float));
    assert_non_null(out.data);
    return out;
}

static float *at(const struct images *x, size_t i, size_t c, size_t row, size_t column)
{
    size_t pixel = row * x->width + column;
    return &x->data[((i * x->blocks + c / x->block) * x->height * x->width + pixel) * x->block +
                    c % x->block];
}

static void draw_images(struct images *x, struct rng *rng)
{
    for (size_t i = 0; i < x->count; i++)
        for (size_t c = 0; c < x->channels; c++)
            for (size_t p = 0; p < x->height * x->width; p++)
                *at(x, i, c, p / x->width, p % x->width) = (float)rng_normal(rng);
}

/* What the passes must give, in f64. */
struct truth {
    double *y, *dx, *dw; /* indexed as the images, and (channels * TAPS, ldw) */
};

static void sum_up(const struct shape *s, const struct images *x, const struct images *dy, const float *w,
                   size_t ldw, const float *bias, struct truth *out)
{
    for (size_t i = 0; i < s->images; i++)
        for (size_t o = 0; o < s->units; o++)
            for (size_t r = 0; r < dy->height; r++)
                for (size_t q = 0; q < dy->width; q++) {
                    size_t place = (size_t)(at(dy, i, o, r, q) - dy->data);
                    double sum = bias ? (double)bias[o] : 0, pull = (double)dy->data[place];
                    for (size_t c = 0; c < s->channels; c++)
                        for (size_t t = 0; t < TAPS; t++) {
                            size_t y = r + t / 3, z = q + t % 3, from = (c * TAPS + t) * ldw + o;
                            if (y < s->pad || z < s->pad || y - s->pad >= s->height || z - s->pad >= s->width)
                                continue;
                            size_t pixel = (size_t)(at(x, i, c, y - s->pad, z - s->pad) - x->data);
                            sum += (double)w[from] * (double)x->data[pixel];
                            out->dx[pixel] += (double)w[from] * pull;
                            out->dw[from] += (double)x->data[pixel] * pull;
                        }
                    out->y[place] = sum;
                }
}

/* Largest difference over the largest number; every number counts, padding channels are 0 in both. A single
 * sum may cancel: sizes below what such a sum usually has count as that. */
static double distance(const float *got, const double *want, size_t count, double usual)
{
    double most = usual, off = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(want[i]));
        off = isfinite(got[i]) ? fmax(off, fabs((double)got[i] - want[i])) : INFINITY;
    }
    return off / most;
}

static size_t length(const struct images *x)
{
    return x->count * x->blocks * x->block * x->height * x->width;
}

/* A block of exactly the bytes asked for, with a mark behind it. */
static char *new_scratch(size_t bytes)
{
    char *block = mem_get(bytes + GUARD, 1);
    assert_non_null(block);
    memset(block, 0xff, bytes + GUARD); /* NaN: nothing may rest on what was there */
    return block;
}

static void free_scratch(char *block, size_t bytes)
{
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal((unsigned char)block[bytes + i], 0xff);
    mem_free(block);
}

static double check(const struct kernels *k, const struct shape *s, size_t block)
{
    struct rng rng = rng_stream(s->channels, RNG_NOISE, (uint32_t)s->units);
    size_t oh = s->height + 2 * s->pad - 2, ow = s->width + 2 * s->pad - 2, ldw = kernel_pad(s->units);
    struct images x = new_images(s->images, s->channels, s->height, s->width, block),
                  y = new_images(s->images, s->units, oh, ow, block),
                  dy = new_images(s->images, s->units, oh, ow, block),
                  dx = new_images(s->images, s->channels, s->height, s->width, block);
    float *w = mem_get(s->channels * TAPS * ldw, sizeof *w),
          *dw = mem_get(s->channels * TAPS * ldw, sizeof *dw), *bias = mem_get(s->units, sizeof *bias);
    struct truth right = {numbers(length(&y)), numbers(length(&dx)), numbers(s->channels * TAPS * ldw)};
    draw_images(&x, &rng);
    draw_images(&dy, &rng);
    for (size_t i = 0; i < s->channels * TAPS; i++)
        for (size_t o = 0; o < s->units; o++)
            w[i * ldw + o] = (float)rng_normal(&rng);
    for (size_t o = 0; o < s->units; o++)
        bias[o] = (float)rng_normal(&rng);
    for (size_t i = 0; i < length(&y); i++)
        y.data[i] = NAN; /* every number is written, padding channels too */
    sum_up(s, &x, &dy, w, ldw, bias, &right);

    struct winograd_args forward = {.images = s->images,
                                    .block = block,
                                    .channels = s->channels,
                                    .height = s->height,
                                    .width = s->width,
                                    .units = s->units,
                                    .out_height = oh,
                                    .out_width = ow,
                                    .pad = s->pad,
                                    .w = w,
                                    .ldw = ldw,
                                    .x = x.data,
                                    .bias = bias,
                                    .y = y.data};
    size_t bytes = k->winograd_scratch(&forward, 0);
    forward.scratch = new_scratch(bytes);
    k->winograd(&forward);
    free_scratch(forward.scratch, bytes);
    double usual = sqrt((double)(TAPS * s->channels)), worst = distance(y.data, right.y, length(&y), usual);

    struct winograd_args backward = {.images = s->images,
                                     .block = block,
                                     .channels = s->units,
                                     .height = oh,
                                     .width = ow,
                                     .units = s->channels,
                                     .out_height = s->height,
                                     .out_width = s->width,
                                     .pad = 2 - s->pad,
                                     .w = w,
                                     .ldw = ldw,
                                     .transposed = 1,
                                     .x = dy.data,
                                     .y = dx.data,
                                     .add = 1};
    for (size_t i = 0; i < s->images; i++) /* add: what is there stays */
        for (size_t c = 0; c < s->channels; c++)
            for (size_t p = 0; p < s->height * s->width; p++) {
                float *to = at(&dx, i, c, p / s->width, p % s->width);
                *to = (float)rng_normal(&rng);
                right.dx[to - dx.data] += (double)*to;
            }
    bytes = k->winograd_scratch(&backward, 0);
    backward.scratch = new_scratch(bytes);
    k->winograd(&backward);
    free_scratch(backward.scratch, bytes);
    worst = fmax(worst, distance(dx.data, right.dx, length(&dx), sqrt((double)(TAPS * s->units))));

    forward.dy = dy.data;
    forward.dw = dw;
    bytes = k->winograd_scratch(&forward, 1);
    forward.scratch = new_scratch(bytes);
    k->winograd_weights(&forward); /* twice: it adds */
    k->winograd_weights(&forward);
    free_scratch(forward.scratch, bytes);
    for (size_t i = 0; i < s->channels * TAPS * ldw; i++)
        right.dw[i] *= 2;
    worst = fmax(worst,
                 distance(dw, right.dw, s->channels * TAPS * ldw, 2 * sqrt((double)(s->images * oh * ow))));
    mem_free(x.data), mem_free(y.data), mem_free(dy.data), mem_free(dx.data);
    mem_free(w), mem_free(dw), mem_free(bias);
    free(right.y), free(right.dx), free(right.dw);
    return worst;
}

static void winograd_gives_the_sums_it_stands_for(void **state)
{
    (void)state;
    static const enum kernel_choice choices[] = {KERNELS_FASTEST, KERNELS_AVX2, KERNELS_BASE};
    double worst = 0;
    for (size_t n = 0; n < sizeof choices / sizeof *choices; n++)
        for (size_t block = 8; block <= 16; block += 8)
            for (size_t i = 0; i < SHAPES; i++) {
                const struct kernels *k = kernels_pick(SPH_F32, choices[n]);
                if (k->lanes > block)
                    continue;
                double off = check(k, &shapes[i], block);
                worst = fmax(worst, off);
                if (!(off < 1e-4)) /* asked for: 1e-3 */
                    fail_msg("shape %zu, block %zu: off by %.1e", i, block, off);
            }
    print_message("    worst %.1e of the largest number\n", worst);
}

static void only_fast_f32_tables_have_it(void **state)
{
    (void)state;
    assert_null(kernels_pick(SPH_F64, KERNELS_FASTEST)->winograd);
    assert_null(kernels_pick(SPH_F32, KERNELS_PLAIN)->winograd);
    assert_non_null(kernels_pick(SPH_F32, KERNELS_FASTEST)->winograd);
}

/* relu with a NaN among the inputs: a NaN stays one. */
static void relu_keeps_what_is_no_number(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F32, KERNELS_FASTEST);
    enum { SIDE = 8, CHANNELS = 16 };
    struct images x = new_images(1, CHANNELS, SIDE, SIDE, 8), y = new_images(1, CHANNELS, SIDE, SIDE, 8);
    float *w = mem_get(CHANNELS * TAPS * CHANNELS, sizeof *w);
    struct rng rng = rng_stream(1, RNG_NOISE, 1);
    draw_images(&x, &rng);
    for (size_t i = 0; i < CHANNELS * TAPS * CHANNELS; i++)
        w[i] = (float)rng_normal(&rng);
    *at(&x, 0, 3, 1, 1) = NAN;
    struct winograd_args args = {.images = 1,
                                 .block = 8,
                                 .channels = CHANNELS,
                                 .height = SIDE,
                                 .width = SIDE,
                                 .units = CHANNELS,
                                 .out_height = SIDE,
                                 .out_width = SIDE,
                                 .pad = 1,
                                 .w = w,
                                 .ldw = CHANNELS,
                                 .x = x.data,
                                 .y = y.data,
                                 .relu = 1};
    args.scratch = mem_get(k->winograd_scratch(&args, 0), 1);
    k->winograd(&args);
    int nans = 0, below = 0;
    for (size_t i = 0; i < length(&y); i++) {
        nans += isnan(y.data[i]) != 0;
        below += y.data[i] < 0;
    }
    assert_true(nans > 0);
    assert_int_equal(below, 0);
    assert_true(isnan(*at(&y, 0, 5, 1, 1)));
    mem_free(args.scratch);
    mem_free(x.data), mem_free(y.data), mem_free(w);
}

/* The choice: auto takes Winograd for 3x3 convs of stride 1 with enough channels, direct never. */
static void auto_chooses_winograd_where_it_pays(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F32, KERNELS_FASTEST);
    size_t block = conv_block(k);
    if (!block)
        skip_because("built without oneDNN: there are no blocked images");
    static const struct {
        size_t channels, units, kernel, stride, size;
        int winograd;
    } cases[] = {{64, 64, 3, 1, 28, 1}, {64, 64, 3, 2, 28, 0}, {3, 64, 3, 1, 32, 0}, {64, 8, 3, 1, 32, 0},
                 {64, 64, 1, 1, 28, 0}, {64, 64, 5, 1, 28, 0}, {64, 64, 3, 1, 2, 0}, {64, 64, 3, 1, 7, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int way = 0; way < SPH_CONV_COUNT; way++) {
            size_t pad = cases[i].kernel / 2, out = (cases[i].size - 1) / cases[i].stride + 1;
            struct conv_spec spec = {.k = k,
                                     .window = {cases[i].channels, cases[i].size, cases[i].size,
                                                cases[i].kernel, cases[i].kernel, cases[i].stride, pad, out,
                                                out},
                                     .units = cases[i].units,
                                     .images = 2,
                                     .groups = 1,
                                     .block = block,
                                     .way = (sph_conv)way,
                                     .train = 1,
                                     .input_grad = 1};
            struct conv *conv = NULL;
            assert_int_equal(conv_new(&conv, &spec), 0);
            int theirs = !strcmp(conv_way_name(conv), "onednn") && conv_onednn_is_winograd(&spec) == 1,
                ours = !strcmp(conv_way_name(conv), "winograd");
            assert_int_equal(ours || theirs, cases[i].winograd && way == SPH_CONV_AUTO);
            conv_free(conv);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winograd_gives_the_sums_it_stands_for),
        cmocka_unit_test(only_fast_f32_tables_have_it),
        cmocka_unit_test(relu_keeps_what_is_no_number),
        cmocka_unit_test(auto_chooses_winograd_where_it_pays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
