/* SPDX-License-Identifier: MIT
 *
 * oneDNN's convolutions against the plain kernels in f64, on odd shapes: values, gradients, accumulation,
 * padding, and that nothing is written where nothing may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compute/onednn.h"
#include "failure.h"
#include "fault.h"

/* Sums of up to 6,370 products, relative to the largest result: f32 loses its rounding times some tens.
 * Winograd's transforms lose more. */
static const double direct_error = 1e-5, winograd_error = 1e-3;

/* ---------------------------------------------------------------- arrays */

static uint64_t dice;

static double draw(void)
{
    uint64_t x = dice += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (double)(float)((double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1);
}

enum { GUARD = 64 };
static const float guard_number = 12345.0f;

/* count floats, NaN each, between guards. */
static float *floats(size_t count)
{
    float *block = mem_get(count + 2 * GUARD, sizeof *block);
    assert_non_null(block);
    for (size_t i = 0; i < count + 2 * GUARD; i++)
        block[i] = i < GUARD || i >= GUARD + count ? guard_number : NAN;
    return block + GUARD;
}

static void drop_floats(float *array, size_t count)
{
    for (size_t i = 0; i < GUARD; i++)
        if (array[(ptrdiff_t)i - GUARD] != guard_number || array[count + i] != guard_number)
            fail_msg("written outside of an array of %zu numbers", count);
    mem_free(array - GUARD);
}

static double *doubles(size_t count)
{
    double *block = mem_get(count, sizeof *block);
    assert_non_null(block);
    return block;
}

/* ---------------------------------------------------------------- one shape */

struct shape {
    struct onednn_conv_spec spec;
    size_t n, ldn, ldw, pixels, out_pixels;
    size_t ldx, ldy;                  /* of the plain images         */
    size_t x_count, y_count, w_count; /* numbers in blocks, weights  */
};

static struct shape shape_of(size_t channels, size_t units, size_t kernel, size_t stride, size_t pad,
                             size_t height, size_t width, size_t images, size_t block)
{
    struct shape s = {.spec = {.window = {.channels = channels,
                                          .height = height,
                                          .width = width,
                                          .kernel_height = kernel,
                                          .kernel_width = kernel,
                                          .stride = stride,
                                          .pad = pad,
                                          .out_height = (height + 2 * pad - kernel) / stride + 1,
                                          .out_width = (width + 2 * pad - kernel) / stride + 1},
                               .units = units,
                               .images = images,
                               .block = block,
                               .direct = 1,
                               .train = 1,
                               .input_grad = 1}};
    s.n = channels * kernel * kernel;
    s.ldn = kernel_pad(s.n);
    s.ldw = kernel_pad(units);
    s.pixels = height * width;
    s.out_pixels = s.spec.window.out_height * s.spec.window.out_width;
    s.ldx = kernel_pad(channels);
    s.ldy = kernel_pad(units);
    s.x_count = images * ((channels + block - 1) / block) * s.pixels * block;
    s.y_count = images * ((units + block - 1) / block) * s.out_pixels * block;
    s.w_count = s.n * s.ldw;
    return s;
}

/* Where channel c of pixel p of an image stands in blocks. */
static size_t place(size_t image, size_t c, size_t p, size_t channels, size_t pixels, size_t block)
{
    size_t blocks = (channels + block - 1) / block;
    return ((image * blocks + c / block) * pixels + p) * block + c % block;
}

/* Plain images (images * pixels, ld) into blocks; what fills the last block is 0. */
static void to_blocks(const double *from, size_t ld, float *to, size_t images, size_t channels, size_t pixels,
                      size_t block)
{
    size_t filled = (channels + block - 1) / block * block;
    for (size_t i = 0; i < images; i++)
        for (size_t c = 0; c < filled; c++)
            for (size_t p = 0; p < pixels; p++)
                to[place(i, c, p, channels, pixels, block)] =
                    c < channels ? (float)from[(i * pixels + p) * ld + c] : 0;
}

static void complain(const char *what, const struct shape *s, double error, double size)
{
    const struct window *w = &s->spec.window;
    fail_msg("%s: error %g where numbers are up to %g; %zu images of %zu x %zu x %zu, %zu units, kernel %zu, "
             "stride %zu, pad %zu, block "
             "%zu%s",
             what, error, size, s->spec.images, w->channels, w->height, w->width, s->spec.units,
             w->kernel_width, w->stride, w->pad, s->spec.block, s->spec.direct ? ", direct" : "");
}

/* The largest error relative to the largest number; a NaN counts as infinite. Where few numbers are compared,
 * all may be small by cancellation: the size is at least what a sum of `terms` products of numbers from
 * [-1, 1) comes to. */
struct gap {
    double error, size;
};

static struct gap gap_of(size_t terms)
{
    return (struct gap){0, sqrt((double)terms) / 3};
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void gap_add(struct gap *gap, double want, double have)
{
    double error = fabs(want - have);
    gap->error = error <= gap->error ? gap->error : isnan(error) ? INFINITY : error;
    gap->size = fmax(gap->size, fabs(want));
}

static void check_gap(const char *what, const struct shape *s, const struct gap *gap, double most)
{
    if (gap->error > most * gap->size)
        complain(what, s, gap->error, gap->size);
}

/* Blocks against plain images; the channels that fill up are exactly 0. */
static void check_blocks(const char *what, const struct shape *s, const double *want, size_t ld,
                         const float *have, size_t channels, size_t pixels, size_t terms, double most)
{
    struct gap gap = gap_of(terms);
    size_t block = s->spec.block, filled = (channels + block - 1) / block * block;
    for (size_t i = 0; i < s->spec.images; i++)
        for (size_t c = 0; c < filled; c++)
            for (size_t p = 0; p < pixels; p++) {
                double number = (double)have[place(i, c, p, channels, pixels, block)];
                double wanted = c < channels ? want[(i * pixels + p) * ld + c] : 0;
                if (c >= channels && number != 0)
                    complain("a channel that fills up a block is not 0", s, number, 0);
                gap_add(&gap, wanted, number);
            }
    check_gap(what, s, &gap, most);
}

/* ---------------------------------------------------------------- the numbers of a shape, plainly, in f64 */

struct numbers {
    double *x, *y, *y_bias, *dy, *dx; /* (images * pixels, ld)       */
    double *w, *dw, *bias;            /* (n, ldw), (n, ldw), (units) */
};

static double *drawn(size_t rows, size_t columns, size_t ld)
{
    double *block = doubles(rows * ld);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            block[i * ld + j] = draw();
    return block;
}

static struct numbers numbers_of(const struct shape *s)
{
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    const struct window *w = &s->spec.window;
    size_t images = s->spec.images, units = s->spec.units, out = s->out_pixels, ldu = kernel_pad(units);
    struct numbers v = {.x = drawn(images * s->pixels, w->channels, s->ldx),
                        .dy = drawn(images * out, units, s->ldy),
                        .w = drawn(s->n, units, s->ldw),
                        .bias = drawn(1, units, ldu),
                        .y = doubles(images * out * s->ldy),
                        .y_bias = doubles(images * out * s->ldy),
                        .dx = doubles(images * s->pixels * s->ldx),
                        .dw = doubles(s->w_count)};
    double *patches = doubles(out * s->ldn), *turned = doubles(units * s->ldn);
    k->transpose(s->n, units, v.w, s->ldw, turned, s->ldn);
    for (size_t i = 0; i < images; i++) {
        double *dy = v.dy + i * out * s->ldy;
        k->patches(w, v.x + i * s->pixels * s->ldx, s->ldx, patches, s->ldn);
        k->gemm(out, units, s->n, patches, s->ldn, 1, v.w, s->ldw, v.y + i * out * s->ldy, s->ldy, NULL, 0);
        k->gemm(out, units, s->n, patches, s->ldn, 1, v.w, s->ldw, v.y_bias + i * out * s->ldy, s->ldy,
                v.bias, 0);
        k->gemm(s->n, units, out, patches, 1, s->ldn, dy, s->ldy, v.dw, s->ldw, NULL, GEMM_ADD);
        k->gemm(out, s->n, units, dy, s->ldy, 1, turned, s->ldn, patches, s->ldn, NULL, 0);
        k->patches_grad(w, patches, s->ldn, v.dx + i * s->pixels * s->ldx, s->ldx);
    }
    mem_free(patches);
    mem_free(turned);
    return v;
}

static void numbers_free(struct numbers *v)
{
    double *const all[] = {v->x, v->y, v->y_bias, v->dy, v->dx, v->w, v->dw, v->bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
}

/* ---------------------------------------------------------------- what is given to oneDNN */

struct given {
    struct onednn_conv *conv;
    float *x, *y, *dy, *dx; /* in blocks */
    float *w, *dw, *bias;
    float *scratch;
    size_t scratch_count;
};

static struct given give(const struct shape *s, const struct numbers *v)
{
    struct given g = {.x = floats(s->x_count),
                      .y = floats(s->y_count),
                      .dy = floats(s->y_count),
                      .dx = floats(s->x_count),
                      .w = floats(s->w_count),
                      .dw = floats(s->w_count),
                      .bias = floats(s->spec.units)};
    assert_int_equal(onednn_conv_new(&g.conv, &s->spec), 0);
    g.scratch_count = (onednn_conv_scratch(g.conv) + sizeof(float) - 1) / sizeof(float);
    g.scratch = floats(g.scratch_count);
    assert_true((uintptr_t)g.scratch % MEM_ALIGN == 0);
    to_blocks(v->x, s->ldx, g.x, s->spec.images, s->spec.window.channels, s->pixels, s->spec.block);
    to_blocks(v->dy, s->ldy, g.dy, s->spec.images, s->spec.units, s->out_pixels, s->spec.block);
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->spec.units; j++) {
            g.w[i * s->ldw + j] = (float)v->w[i * s->ldw + j];
            g.dw[i * s->ldw + j] = 0;
        }
    for (size_t j = 0; j < s->spec.units; j++)
        g.bias[j] = (float)v->bias[j];
    return g;
}

static void given_free(const struct shape *s, struct given *g)
{
    onednn_conv_free(g->conv);
    drop_floats(g->x, s->x_count);
    drop_floats(g->y, s->y_count);
    drop_floats(g->dy, s->y_count);
    drop_floats(g->dx, s->x_count);
    drop_floats(g->w, s->w_count);
    drop_floats(g->dw, s->w_count);
    drop_floats(g->bias, s->spec.units);
    drop_floats(g->scratch, g->scratch_count);
}

/* ---------------------------------------------------------------- comparisons */

static void compare(const struct shape *s)
{
    struct numbers v = numbers_of(s);
    struct given g = give(s, &v);
    size_t units = s->spec.units, channels = s->spec.window.channels;
    const struct window *w = &s->spec.window;
    size_t y_terms = channels * smaller(w->kernel_height, w->height) * smaller(w->kernel_width, w->width);
    size_t x_terms =
        units * smaller(w->kernel_height, w->out_height) * smaller(w->kernel_width, w->out_width);
    size_t w_terms = s->spec.images * smaller(w->out_height, w->height) * smaller(w->out_width, w->width);
    double most = s->spec.direct || !onednn_conv_is_winograd(g.conv) ? direct_error : winograd_error;

    for (int with_bias = 0; with_bias < 2; with_bias++) {
        onednn_conv_forward(g.conv, g.x, g.w, s->ldw, with_bias ? g.bias : NULL, g.y, g.scratch);
        check_blocks("forward", s, with_bias ? v.y_bias : v.y, s->ldy, g.y, units, s->out_pixels, y_terms,
                     most);
    }

    onednn_conv_backward_data(g.conv, g.dy, g.w, s->ldw, g.dx, g.scratch);
    check_blocks("input gradient", s, v.dx, s->ldx, g.dx, channels, s->pixels, x_terms, most);

    for (int times = 1; times <= 2; times++) {
        struct gap gap = gap_of(w_terms);
        onednn_conv_backward_weights(g.conv, g.x, g.dy, g.dw, s->ldw, g.scratch);
        for (size_t i = 0; i < s->n; i++)
            for (size_t j = 0; j < s->ldw; j++)
                if (j < units)
                    gap_add(&gap, times * v.dw[i * s->ldw + j], (double)g.dw[i * s->ldw + j]);
                else if (!isnan(g.dw[i * s->ldw + j]))
                    complain("the padding of a weight gradient was written", s, 0, 0);
        check_gap("weight gradient", s, &gap, most);
    }
    given_free(s, &g);
    numbers_free(&v);
}

static const size_t widths[] = {1, 3, 17, 130}, unit_counts[] = {1, 8, 17, 130},
                    kernel_sizes[] = {1, 3, 5, 7};
static const size_t sizes[][2] = {{1, 1}, {5, 9}, {7, 7}, {9, 5}, {2, 3}, {11, 4}, {1, 6}};
enum { WIDTHS = 4, UNIT_COUNTS = 4, KERNEL_SIZES = 4, SIZES = sizeof sizes / sizeof *sizes };

/* The first shape from `turn` on that leaves an output and little to do (oneDNN is slow at a block it does
 * not like), or the one with the least to do. */
static struct shape some_shape(size_t turn, size_t channels, size_t units, size_t kernel, size_t stride,
                               size_t pad, size_t block)
{
    struct shape best = {.n = 0};
    size_t least = SIZE_MAX, enough = block == onednn_block() ? 300000 : 30000;
    for (size_t i = 0; i < SIZES && least > enough; i++) {
        const size_t *size = sizes[(turn + i) % SIZES];
        if (size[0] + 2 * pad < kernel || size[1] + 2 * pad < kernel)
            continue;
        struct shape s =
            shape_of(channels, units, kernel, stride, pad, size[0], size[1], (turn + i) % 3 ? 1 : 3, block);
        size_t work = s.n * units * s.out_pixels * s.spec.images;
        if (work < least) {
            least = work;
            best = s;
        }
    }
    return best;
}

/* Channels x units x kernels x strides x pads: all at the processor's block, each fifth at the other one and
 * of the largest. Sizes and numbers of images take turns. */
static void compare_all(size_t block)
{
    size_t turn = 0;
    for (size_t c = 0; c < WIDTHS; c++)
        for (size_t u = 0; u < UNIT_COUNTS; u++)
            for (size_t k = 0; k < KERNEL_SIZES; k++)
                for (size_t stride = 1; stride <= 2; stride++)
                    for (size_t pad = 0; pad <= 3; pad++) {
                        struct shape s = some_shape(dice = ++turn, widths[c], unit_counts[u], kernel_sizes[k],
                                                    stride, pad, block);
                        if (turn % 5 == 0 || (block == onednn_block() && s.n * unit_counts[u] < 300000))
                            compare(&s);
                    }
}

static void blocks_of_8_agree_with_plain_kernels(void **state)
{
    (void)state;
    compare_all(8);
}

static void blocks_of_16_agree_with_plain_kernels(void **state)
{
    (void)state;
    compare_all(16);
}

/* Where oneDNN may choose Winograd it wants 3 x 3 kernels and many images. */
static void any_algorithm_agrees_with_plain_kernels(void **state)
{
    (void)state;
    const size_t shapes[][4] = {{3, 17, 5, 9}, {17, 130, 7, 7}, {16, 32, 12, 12}, {130, 17, 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t images = 3; images <= 12; images += 9) {
            struct shape s = shape_of(shapes[i][0], shapes[i][1], 3, 1, 1, shapes[i][2], shapes[i][3], images,
                                      onednn_block());
            struct onednn_conv *conv = NULL;
            s.spec.direct = 0;
            dice = i;
            compare(&s);
            assert_int_equal(onednn_conv_new(&conv, &s.spec), 0);
            print_message("%zu images, %zu -> %zu channels: %s\n", images, shapes[i][0], shapes[i][1],
                          onednn_conv_is_winograd(conv) ? "Winograd" : "direct");
            onednn_conv_free(conv);
        }
}

static void windows_that_leave_rows_over_agree_with_plain_kernels(void **state)
{
    (void)state;
    struct shape s = shape_of(9, 24, 3, 3, 1, 13, 6, 2, onednn_block());
    compare(&s);
    s = shape_of(8, 8, 2, 2, 0, 7, 5, 2, onednn_block());
    compare(&s);
    s.spec.window.kernel_width = 3; /* 2 x 3 */
    s.n = 8 * 2 * 3;
    s.ldn = kernel_pad(s.n);
    s.w_count = s.n * s.ldw;
    s.spec.window.out_width = (5 - 3) / 2 + 1;
    s.out_pixels = s.spec.window.out_height * s.spec.window.out_width;
    s.y_count = 2 * s.out_pixels * ((8 + s.spec.block - 1) / s.spec.block * s.spec.block);
    compare(&s);
}

/* ---------------------------------------------------------------- beyond numbers */

static void forward_alone_needs_no_training(void **state)
{
    (void)state;
    struct shape s = shape_of(17, 9, 3, 1, 1, 6, 5, 2, onednn_block());
    s.spec.train = s.spec.input_grad = 0;
    struct numbers v = numbers_of(&s);
    struct given g = give(&s, &v);
    onednn_conv_forward(g.conv, g.x, g.w, s.ldw, g.bias, g.y, g.scratch);
    check_blocks("forward", &s, v.y_bias, s.ldy, g.y, 9, s.out_pixels, s.n, direct_error);
    given_free(&s, &g);
    numbers_free(&v);
}

static size_t threads_of_process(void)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t count = 0;
    if (!tasks)
        return 0;
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

struct job {
    const struct shape *s;
    struct given g;
    size_t threads; /* seen at the end of the work */
};

static void *work(void *self)
{
    struct job *job = self;
    struct given *g = &job->g;
    for (int i = 0; i < 20; i++) {
        onednn_conv_forward(g->conv, g->x, g->w, job->s->ldw, g->bias, g->y, g->scratch);
        onednn_conv_backward_data(g->conv, g->dy, g->w, job->s->ldw, g->dx, g->scratch);
        onednn_conv_backward_weights(g->conv, g->x, g->dy, g->dw, job->s->ldw, g->scratch);
    }
    job->threads = threads_of_process();
    return NULL;
}

static void *idle(void *self)
{
    return self;
}

/* The first test of all: a team, once started, stays. So does the thread that the thread sanitizer adds for
 * itself to the first one made: it is counted from the beginning. */
static void objects_side_by_side_give_the_same_bits_and_start_no_threads(void **state)
{
    (void)state;
    struct shape s = shape_of(32, 64, 3, 1, 1, 16, 16, 4, onednn_block());
    struct numbers v = numbers_of(&s);
    pthread_t thread[3];
    assert_int_equal(pthread_create(&thread[0], NULL, idle, NULL), 0);
    assert_int_equal(pthread_join(thread[0], NULL), 0);
    size_t threads = threads_of_process();
    struct job job[3] = {{&s, give(&s, &v), 0}, {&s, give(&s, &v), 0}, {&s, give(&s, &v), 0}};
    work(&job[0]);
    assert_true(job[0].threads <= threads);
    for (int i = 1; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &job[i]), 0);
    for (int i = 1; i < 3; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 1; i < 3; i++) {
        assert_true(job[i].threads <= threads + 2);
        assert_memory_equal(job[0].g.y, job[i].g.y, s.y_count * sizeof(float));
        assert_memory_equal(job[0].g.dx, job[i].g.dx, s.x_count * sizeof(float));
        assert_memory_equal(job[0].g.dw, job[i].g.dw, s.w_count * sizeof(float));
    }
    for (int i = 0; i < 3; i++)
        given_free(&s, &job[i].g);
    numbers_free(&v);
}

static void time_is_that_of_the_wanted_passes(void **state)
{
    (void)state;
    struct shape s = shape_of(3, 16, 3, 1, 1, 8, 8, 2, onednn_block());
    double all = 0, forward = 0;
    assert_int_equal(onednn_conv_time(&s.spec, 5, &all), 0);
    s.spec.train = 0;
    assert_int_equal(onednn_conv_time(&s.spec, 5, &forward), 0);
    assert_true(forward > 0 && all > 0 && all < 1);
}

static void failures_of_memory_are_reported_and_leave_nothing(void **state)
{
    (void)state;
    struct shape s = shape_of(3, 16, 3, 1, 1, 8, 8, 2, onednn_block());
    struct onednn_conv *conv = NULL;
    double seconds;
    for (size_t n = 0;; n++) {
        fault_after(n);
        int err = onednn_conv_new(&conv, &s.spec);
        fault_off();
        assert_int_equal(err, fault_happened() ? SPH_EMEMORY : 0);
        onednn_conv_free(conv);
        if (!err) {
            assert_true(n >= 2);
            break;
        }
        assert_null(conv);
    }
    for (size_t n = 0;; n++) {
        fault_after(n);
        int err = onednn_conv_time(&s.spec, 1, &seconds);
        fault_off();
        assert_int_equal(err, fault_happened() ? SPH_EMEMORY : 0);
        if (!err)
            break;
    }
}

static void a_shape_that_cannot_be_is_refused(void **state)
{
    (void)state;
    struct shape s = shape_of(3, 16, 3, 1, 1, 8, 8, 2, onednn_block());
    struct onednn_conv *conv = NULL;
    s.spec.window.out_height = 20;
    assert_fails(onednn_conv_new(&conv, &s.spec), SPH_EARG);
    assert_null(conv);
}

static void blocks_hold_8_or_16_channels(void **state)
{
    (void)state;
    assert_true(onednn_block() == 8 || onednn_block() == 16);
}

static void a_build_without_onednn_says_so(void **state)
{
    (void)state;
    struct onednn_conv *conv = NULL;
    struct onednn_conv_spec spec = {.images = 1};
    double seconds;
    assert_int_equal(onednn_block(), 0);
    assert_int_equal(onednn_conv_new(&conv, &spec), SPH_EARG);
    assert_null(conv);
    assert_int_equal(onednn_conv_time(&spec, 1, &seconds), SPH_EARG);
    onednn_conv_free(NULL);
}

int main(void)
{
    const struct CMUnitTest without[] = {cmocka_unit_test(a_build_without_onednn_says_so)};
    const struct CMUnitTest with[] = {
        cmocka_unit_test(blocks_hold_8_or_16_channels),
        cmocka_unit_test(objects_side_by_side_give_the_same_bits_and_start_no_threads),
        cmocka_unit_test(blocks_of_8_agree_with_plain_kernels),
        cmocka_unit_test(blocks_of_16_agree_with_plain_kernels),
        cmocka_unit_test(any_algorithm_agrees_with_plain_kernels),
        cmocka_unit_test(windows_that_leave_rows_over_agree_with_plain_kernels),
        cmocka_unit_test(forward_alone_needs_no_training),
        cmocka_unit_test(time_is_that_of_the_wanted_passes),
        cmocka_unit_test(failures_of_memory_are_reported_and_leave_nothing),
        cmocka_unit_test(a_shape_that_cannot_be_is_refused),
    };
    if (onednn_version())
        return cmocka_run_group_tests(with, NULL, NULL);
    int failed = cmocka_run_group_tests(without, NULL, NULL);
    print_message("skipped: built without oneDNN\n");
    return failed ? failed : 77; /* skipped */
}
