/* SPDX-License-Identifier: MIT
 *
 * Every way to compute a convolution against the sum it stands for, in f64: with groups and without, images
 * in rows of pixels and in blocks, odd shapes, bias, relu, gradients that are added to, fewer images than
 * there is room for. What fills up blocks is written 0, scratch holds NaN before and ends at a guard. */
#include <math.h>

#include "layer.h"
#include "support.h"

#include "compute/conv_way.h"
#include "compute/onednn.h"
#include "skip.h"

enum { GUARD = 64 };

enum { DEPTHWISE, TAPS, WINOGRAD, ONEDNN, TAPS_ANY, PATCHES, WAYS };
static const struct conv_way *const ways[WAYS] = {&conv_depthwise, &conv_taps,     &conv_winograd,
                                                  &conv_onednn,    &conv_taps_any, &conv_patches};

static const struct shape {
    size_t channels, units, groups, kernel, stride, pad, height, width, images;
} shapes[] = {
    {1, 1, 1, 1, 1, 0, 1, 1, 1},    {3, 5, 1, 3, 1, 1, 5, 4, 2},    {17, 9, 1, 3, 2, 1, 7, 6, 3},
    {16, 16, 1, 3, 1, 1, 8, 8, 2},  {4, 6, 2, 3, 1, 1, 5, 4, 3},    {6, 4, 2, 2, 2, 0, 6, 7, 2},
    {9, 3, 3, 1, 1, 0, 3, 5, 2},    {9, 18, 9, 3, 1, 1, 4, 4, 2},   {5, 5, 5, 3, 1, 1, 6, 5, 3},
    {24, 24, 24, 3, 2, 1, 9, 8, 2}, {40, 40, 40, 1, 1, 0, 3, 3, 2}, {13, 13, 13, 5, 2, 2, 7, 9, 2},
    {16, 32, 2, 3, 1, 1, 6, 6, 2},  {32, 64, 4, 1, 1, 0, 5, 3, 3},  {32, 32, 2, 3, 2, 1, 7, 7, 2},
    {64, 32, 2, 5, 1, 2, 6, 5, 2},  {12, 20, 4, 3, 1, 2, 4, 3, 2},  {24, 36, 12, 3, 2, 1, 5, 5, 1},
    {34, 34, 2, 3, 1, 1, 4, 4, 2},  {16, 16, 16, 3, 1, 1, 1, 1, 2}, {24, 24, 24, 3, 1, 0, 3, 3, 4},
    {20, 30, 10, 1, 2, 0, 4, 5, 2}, {64, 32, 1, 3, 1, 1, 1, 1, 9},  {32, 48, 1, 3, 2, 1, 4, 4, 10},
    {20, 17, 1, 3, 1, 1, 2, 2, 21}, {16, 24, 1, 5, 3, 2, 7, 8, 9},  {17, 16, 1, 1, 2, 0, 7, 5, 85},
    {16, 7, 1, 3, 4, 1, 2, 2, 8},   {8, 8, 1, 2, 1, 0, 64, 65, 9},  {16, 18, 1, 3, 1, 1, 4, 4, 25},
    {24, 40, 1, 1, 1, 0, 4, 4, 9},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---------------------------------------------------------------- images in f64, however they lie */

struct images {
    const struct kernels *k;
    size_t count, channels, pixels, ld, blocks, length;
    double *value; /* (count, blocks, pixels, ld) */
    char *data;    /* the same, in the kernels' dtype */
};

static size_t place(const struct images *x, size_t i, size_t c, size_t p)
{
    size_t block = x->blocks > 1 || c < x->ld ? c / x->ld : 0;
    return ((i * x->blocks + block) * x->pixels + p) * x->ld + c % x->ld;
}

/* Numbers where there are channels, `fill` elsewhere. */
static struct images new_images(const struct kernels *k, size_t count, size_t channels, size_t pixels,
                                size_t block, struct rng *rng, double fill)
{
    struct images x = {.k = k, .count = count, .channels = channels, .pixels = pixels};
    x.ld = block ? block : kernel_pad(channels);
    x.blocks = (channels + x.ld - 1) / x.ld;
    x.length = count * x.blocks * pixels * x.ld;
    x.value = numbers(x.length);
    x.data = mem_get(x.length, k->size);
    assert_non_null(x.data);
    for (size_t i = 0; i < x.length; i++)
        x.value[i] = fill;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; rng && c < channels; c++)
            for (size_t p = 0; p < pixels; p++)
                x.value[place(&x, i, c, p)] = (double)(float)rng_normal(rng);
    k->from_double(x.length, x.value, x.data);
    return x;
}

static void free_images(struct images *x)
{
    free(x->value);
    mem_free(x->data);
}

/* What the shape's passes must give; w (n, ldw), in f64. */
struct truth {
    struct images x, dy, y, dx, before; /* before: what dx holds when it is added to */
    double *w, *bias, *dw;
    size_t n, ldw;
};

static void sum_up(const struct shape *s, const struct window *v, struct truth *t)
{
    size_t per_group = s->units / s->groups, channels = s->channels / s->groups, area = s->kernel * s->kernel;
    for (size_t i = 0; i < s->images; i++)
        for (size_t o = 0; o < s->units; o++)
            for (size_t p = 0; p < t->y.pixels; p++) {
                double sum = t->bias[o], pull = t->dy.value[place(&t->dy, i, o, p)];
                for (size_t q = 0; q < t->n; q++) {
                    size_t row = p / v->out_width * s->stride + q % area / s->kernel,
                           column = p % v->out_width * s->stride + q % s->kernel;
                    if (row < s->pad || column < s->pad || row - s->pad >= s->height ||
                        column - s->pad >= s->width)
                        continue;
                    size_t at = place(&t->x, i, o / per_group * channels + q / area,
                                      (row - s->pad) * s->width + column - s->pad);
                    sum += t->w[q * t->ldw + o] * t->x.value[at];
                    t->dx.value[at] += t->w[q * t->ldw + o] * pull;
                    t->dw[q * t->ldw + o] += t->x.value[at] * pull;
                }
                t->y.value[place(&t->y, i, o, p)] = sum < 0 ? 0 : sum;
            }
}

/* Largest difference over the largest number or, where sums may cancel, over what they usually come to. */
static double distance(const struct images *want, double usual)
{
    double most = usual, off = 0, *have = numbers(want->length);
    want->k->to_double(want->length, want->data, have);
    for (size_t i = 0; i < want->length; i++) {
        if (isnan(want->value[i]))
            continue;
        most = fmax(most, fabs(want->value[i]));
        off = isfinite(have[i]) ? fmax(off, fabs(have[i] - want->value[i])) : INFINITY;
    }
    free(have);
    return off / most;
}

/* ---------------------------------------------------------------- one way on one shape */

struct place_in_memory {
    char *block;
    size_t bytes;
};

static struct place_in_memory new_scratch(const struct conv *conv)
{
    struct place_in_memory room = {.bytes = conv_scratch(conv)};
    room.block = mem_get(room.bytes + GUARD, 1);
    assert_non_null(room.block);
    memset(room.block, 0xff, room.bytes + GUARD);
    return room;
}

static void free_scratch(struct place_in_memory *room)
{
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal((unsigned char)room->block[room->bytes + i], 0xff);
    mem_free(room->block);
}

static double run(struct conv *conv, const struct shape *s, size_t block)
{
    const struct kernels *k = conv->spec.k;
    const struct window *v = &conv->spec.window;
    struct rng rng = rng_stream(s->channels, RNG_NOISE, (uint32_t)s->units);
    size_t in = s->height * s->width, out = v->out_height * v->out_width;
    double fill =
        block ? 0 : (double)NAN; /* blocks are filled up with 0; beside rows of pixels anything lies */
    struct truth t = {.n = s->channels / s->groups * s->kernel * s->kernel, .ldw = kernel_pad(s->units)};
    t.x = new_images(k, s->images, s->channels, in, block, &rng, fill);
    t.dy = new_images(k, s->images, s->units, out, block, &rng, fill);
    t.before = new_images(k, s->images, s->channels, in, block, &rng, 0);
    t.y = new_images(k, s->images, s->units, out, block, NULL, fill);
    t.dx = new_images(k, s->images, s->channels, in, block, NULL, 0);
    t.w = numbers(t.n * t.ldw), t.dw = numbers(t.n * t.ldw), t.bias = numbers(t.ldw);
    for (size_t i = 0; i < t.n; i++)
        for (size_t o = 0; o < s->units; o++)
            t.w[i * t.ldw + o] = (double)(float)rng_normal(&rng);
    for (size_t o = 0; o < s->units; o++)
        t.bias[o] = (double)(float)rng_normal(&rng);
    sum_up(s, v, &t);

    struct images w = new_images(k, 1, s->units, t.n, 0, NULL, 0),
                  dw = new_images(k, 1, s->units, t.n, 0, NULL, 0),
                  bias = new_images(k, 1, s->units, 1, 0, NULL, 0);
    size_t ldwt = kernel_pad(t.n);
    char *wt = mem_get(s->units * ldwt, k->size);
    k->from_double(t.n * t.ldw, t.w, w.data);
    k->from_double(t.ldw, t.bias, bias.data);
    k->transpose(t.n, s->units, w.data, t.ldw, wt, ldwt);
    struct place_in_memory scratch = new_scratch(conv);
    struct conv_call call = {.images = s->images,
                             .x = t.x.data,
                             .ldx = t.x.ld,
                             .w = w.data,
                             .ldw = t.ldw,
                             .wt = block ? NULL : wt,
                             .ldwt = ldwt,
                             .scratch = scratch.block,
                             .bias = bias.data,
                             .relu = 1,
                             .y = t.y.data,
                             .ldy = t.y.ld,
                             .dy = t.dy.data,
                             .lddy = t.dy.ld,
                             .dx = t.dx.data,
                             .lddx = t.dx.ld,
                             .dw = dw.data};
    memset(t.y.data, 0xff, t.y.length * k->size);
    conv_forward(conv, &call);
    double worst = distance(&t.y, sqrt((double)t.n));
    memset(t.dx.data, 0xff, t.dx.length * k->size);
    conv_backward_data(conv, &call);
    double usual = sqrt((double)(s->units / s->groups * s->kernel * s->kernel));
    worst = fmax(worst, distance(&t.dx, usual));
    memcpy(t.dx.data, t.before.data, t.dx.length * k->size);
    for (size_t i = 0; i < t.dx.length; i++)
        t.dx.value[i] += t.before.value[i];
    call.add = 1;
    conv_backward_data(conv, &call);
    worst = fmax(worst, distance(&t.dx, usual));
    conv_backward_weights(conv, &call); /* twice: it adds */
    conv_backward_weights(conv, &call);
    for (size_t i = 0; i < t.n * t.ldw; i++)
        dw.value[i] = i % t.ldw < s->units ? 2 * t.dw[i] : (double)NAN;
    worst = fmax(worst, distance(&dw, 2 * sqrt((double)(s->images * out))));

    free_scratch(&scratch);
    struct images *all[] = {&t.x, &t.dy, &t.y, &t.dx, &t.before, &w, &dw, &bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free_images(all[i]);
    free(t.w), free(t.dw), free(t.bias);
    mem_free(wt);
    return worst;
}

/* room: images that the object is made for, at least the shape's */
static struct conv_spec spec_of(const struct kernels *k, const struct shape *s, size_t block, size_t room)
{
    return (struct conv_spec){.k = k,
                              .window = {.channels = s->channels,
                                         .height = s->height,
                                         .width = s->width,
                                         .kernel_height = s->kernel,
                                         .kernel_width = s->kernel,
                                         .stride = s->stride,
                                         .pad = s->pad,
                                         .out_height = (s->height + 2 * s->pad - s->kernel) / s->stride + 1,
                                         .out_width = (s->width + 2 * s->pad - s->kernel) / s->stride + 1},
                              .units = s->units,
                              .images = room,
                              .groups = s->groups,
                              .block = block,
                              .train = 1,
                              .input_grad = 1};
}

/* Returns how many shapes the way took. */
static size_t try_way(const struct conv_way *way, const struct kernels *k, size_t block, double most)
{
    size_t took = 0;
    for (size_t i = 0; i < SHAPES; i++)
        for (size_t room = shapes[i].images + i % sample_step(2); room <= shapes[i].images + 1;
             room += sample_step(2)) {
            struct conv conv = {.spec = spec_of(k, &shapes[i], block, room), .way = way};
            int made = way->make(&conv);
            if (made < 0)
                fail_msg("%s, shape %zu, block %zu: %s", way->name, i, block, sph_error());
            double off = made ? run(&conv, &shapes[i], block) : 0;
            if (!(off <= most))
                fail_msg("%s, %s %zu bytes, shape %zu, block %zu, %zu images of %zu: off by %.1e", way->name,
                         k->name, k->size, i, block, shapes[i].images, room, off);
            took += (size_t)made;
            if (made && way->drop)
                way->drop(&conv);
        }
    return took;
}

/* Sums of up to 40,000 products in f32; Winograd's transforms lose more. */
static double error_of(const struct kernels *k, const struct conv_way *way)
{
    return k->dtype == SPH_F64 ? 1e-13 : way == &conv_winograd || way == &conv_onednn ? 1e-4 : 1e-5;
}

static void every_way_gives_the_sum_on_rows_of_pixels(void **state)
{
    (void)state;
    static const enum kernel_choice choices[] = {KERNELS_PLAIN, KERNELS_BASE, KERNELS_FASTEST};
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (size_t c = 0; c < 3; c++) {
            const struct kernels *k = kernels_pick((sph_dtype)dtype, choices[c]);
            size_t took[WAYS];
            for (size_t n = 0; n < WAYS; n++)
                took[n] = try_way(ways[n], k, 0, error_of(k, ways[n]));
            assert_true(took[DEPTHWISE] > 0 && took[DEPTHWISE] < took[PATCHES]);
            assert_int_equal(took[TAPS] + took[WINOGRAD] + took[ONEDNN] + took[TAPS_ANY], 0); /* for blocks */
            assert_int_equal(took[PATCHES], 2 * SHAPES / sample_step(2));
        }
}

static void every_way_gives_the_sum_on_blocks(void **state)
{
    (void)state;
    if (!onednn_block())
        skip_because("built without oneDNN: there are no blocked images");
    static const enum kernel_choice choices[] = {KERNELS_BASE, KERNELS_AVX2, KERNELS_FASTEST};
    for (size_t block = 8; block <= 16; block += 8)
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
            const struct kernels *k = kernels_pick(SPH_F32, choices[c]);
            size_t took[WAYS];
            if (k->lanes > block)
                continue;
            for (size_t n = 0; n < WAYS; n++)
                took[n] = try_way(ways[n], k, block, error_of(k, ways[n]));
            assert_true(took[DEPTHWISE] > 0 && took[TAPS] > 0 &&
                        (took[ONEDNN] > 0 || block != onednn_block()) && took[TAPS_ANY] > took[TAPS]);
            assert_int_equal(took[PATCHES], 2 * SHAPES / sample_step(2));
        }
}

/* ---------------------------------------------------------------- the choice */

static const char *chosen(const struct kernels *k, const struct shape *s, size_t block)
{
    struct conv_spec spec = spec_of(k, s, block, s->images);
    struct conv *conv = NULL;
    assert_int_equal(conv_new(&conv, &spec), 0);
    const char *name = conv_way_name(conv);
    conv_free(conv);
    return name;
}

static void depthwise_has_kernels_of_its_own_and_nothing_runs_reference_code(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F32, KERNELS_FASTEST);
    size_t block = conv_block(k);
    for (size_t i = 0; i < SHAPES; i++) {
        const struct shape *s = &shapes[i];
        int depthwise = s->groups > 1 && s->groups == s->channels && s->groups == s->units;
        for (size_t b = 0; b <= block; b += block ? block : 1) {
            const char *way = chosen(k, s, b);
            if (depthwise)
                assert_string_equal(way, "depthwise");
            else if (!b)
                assert_string_equal(way, "patches");
            if (strcmp(way, "onednn"))
                continue;
            struct conv_spec spec = spec_of(k, s, b, s->images);
            struct onednn_conv *theirs = NULL;
            struct onednn_conv_spec want = {.window = spec.window,
                                            .units = spec.units,
                                            .groups = spec.groups,
                                            .images = spec.images,
                                            .block = b,
                                            .train = 1,
                                            .input_grad = 1};
            assert_int_equal(onednn_conv_new(&theirs, &want), 0);
            assert_false(onednn_conv_is_reference(theirs));
            onednn_conv_free(theirs);
        }
    }
}

/* As measured with AVX2: conv_taps.c says why. */
static void small_maps_go_to_whoever_is_quickest_there(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F32, KERNELS_AVX2);
    if (onednn_block() != 8 || !k->winograd)
        skip_because("oneDNN's blocks are not those of AVX2 here");
    static const struct {
        struct shape shape;
        const char *way;
    } cases[] = {
        {{64, 64, 1, 3, 1, 1, 4, 4, 32}, "winograd"}, /* full tiles, enough of them */
        {{64, 64, 1, 3, 1, 1, 4, 4, 8}, "taps"},      /* few */
        {{64, 64, 1, 3, 1, 1, 2, 2, 32}, "taps"},     /* mostly edge */
        {{64, 64, 1, 3, 2, 1, 8, 8, 32}, "taps"},     {{64, 64, 1, 1, 1, 0, 4, 4, 32}, "onednn"},
        {{64, 64, 1, 1, 1, 0, 2, 2, 32}, "taps"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(chosen(k, &cases[i].shape, 8), cases[i].way);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_gives_the_sum_on_rows_of_pixels),
        cmocka_unit_test(every_way_gives_the_sum_on_blocks),
        cmocka_unit_test(depthwise_has_kernels_of_its_own_and_nothing_runs_reference_code),
        cmocka_unit_test(small_maps_go_to_whoever_is_quickest_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
