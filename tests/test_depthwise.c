/* SPDX-License-Identifier: MIT
 *
 * Depthwise convolutions: the plain twins against an ordinary convolution whose other weights are 0, the
 * fast ones against the plain, on odd shapes, with NaN in the padding and a page nobody may read behind
 * each array. */
#include "kernel_arrays.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* height, width, kernel height, kernel width, stride, pad */
static const size_t windows[][6] = {
    {1, 1, 1, 1, 1, 0}, {1, 1, 3, 3, 1, 1},  {2, 2, 3, 3, 1, 1},   {4, 4, 3, 3, 2, 1},   {7, 7, 3, 3, 1, 1},
    {9, 6, 3, 3, 2, 1}, {5, 13, 3, 3, 1, 0}, {14, 14, 3, 3, 1, 1}, {12, 21, 3, 3, 2, 1}, {3, 4, 1, 1, 2, 0},
    {6, 5, 5, 5, 1, 2}, {8, 7, 5, 5, 3, 4},  {4, 11, 2, 2, 2, 0},  {5, 9, 2, 3, 1, 1},   {6, 9, 3, 7, 2, 2},
    {3, 3, 3, 3, 1, 2}, {5, 5, 2, 2, 3, 1},  {11, 2, 7, 7, 2, 6}};
static const size_t channels[] = {1, 3, 8, 13, 16, 29, 40};

static struct window window_of(const size_t *at, size_t depth)
{
    return (struct window){.channels = depth,
                           .height = at[0],
                           .width = at[1],
                           .kernel_height = at[2],
                           .kernel_width = at[3],
                           .stride = at[4],
                           .pad = at[5],
                           .out_height = (at[0] + 2 * at[5] - at[2]) / at[4] + 1,
                           .out_width = (at[1] + 2 * at[5] - at[3]) / at[4] + 1};
}

/* ---------------------------------------------------------------- the plain twins */

/* Weights of all channels, 0 but for the unit's own. */
static struct array spread_out(const struct array *w, size_t depth, size_t area)
{
    struct array full = matrix(w->k, depth * area, depth, kernel_pad(depth), 0, 0);
    for (size_t c = 0; c < depth; c++)
        for (size_t at = 0; at < area; at++)
            set(&full, c * area + at, c, get(w, at, c));
    return full;
}

static void compare_with_ordinary(const struct window *w)
{
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    size_t depth = w->channels, area = w->kernel_height * w->kernel_width, n = depth * area,
           ld = kernel_pad(depth);
    size_t in = w->height * w->width, out = w->out_height * w->out_width, ldn = kernel_pad(n);
    double error = 1e-14 * (double)n;
    struct array x = matrix(k, in, depth, ld, -1, 1), dy = matrix(k, out, depth, ld, -1, 1),
                 taps = matrix(k, area, depth, ld, -1, 1), bias = matrix(k, 1, depth, ld, -1, 1);
    struct array full = spread_out(&taps, depth, area), patches = matrix(k, out, n, ldn, 9, 9),
                 turned = matrix(k, depth, n, ldn, 9, 9);
    k->transpose(n, depth, full.at, ld, turned.at, ldn);

    struct array y1 = matrix(k, out, depth, ld, 9, 9), y2 = same_as(&y1);
    k->patches(w, x.at, ld, patches.at, ldn);
    k->gemm(out, depth, n, patches.at, ldn, 1, full.at, ld, y1.at, ld, bias.at, GEMM_RELU);
    k->depthwise(w, x.at, ld, taps.at, ld, bias.at, 1, y2.at, ld);
    same("depthwise", &y1, &y2, error);

    struct array dfull = matrix(k, n, depth, ld, 0, 0), want = matrix(k, area, depth, ld, -1, 1),
                 dw = same_as(&want);
    k->gemm(n, depth, out, patches.at, 1, ldn, dy.at, ld, dfull.at, ld, NULL, GEMM_SET);
    for (size_t c = 0; c < depth; c++)
        for (size_t at = 0; at < area; at++)
            set(&want, at, c, get(&want, at, c) + get(&dfull, c * area + at, c));
    k->depthwise_weights(w, x.at, ld, dy.at, ld, dw.at, ld);
    same("depthwise_weights", &want, &dw, 1e-14 * (double)(out + 1));

    struct array dx1 = matrix(k, in, depth, ld, -1, 1), dx2 = same_as(&dx1);
    k->gemm(out, n, depth, dy.at, ld, 1, turned.at, ldn, patches.at, ldn, NULL, GEMM_SET);
    k->patches_grad(w, patches.at, ldn, dx1.at, ld);
    k->depthwise_data(w, dy.at, ld, taps.at, ld, 1, dx2.at, ld);
    same("depthwise_data", &dx1, &dx2, error);
    drop(&x), drop(&dy), drop(&taps), drop(&bias), drop(&full), drop(&patches), drop(&turned), drop(&dfull);
}

static void a_depthwise_convolution_is_one_whose_other_weights_are_0(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT(windows); n++)
        for (size_t c = 0; c < 4; c++) {
            struct window w = window_of(windows[n], channels[c]);
            dice = 100 * n + c;
            compare_with_ordinary(&w);
        }
}

/* ---------------------------------------------------------------- the fast twins */

static void filled_with_zeros(const char *what, const struct array *a)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = a->cols; j < a->ld; j++)
            if (get(a, i, j) != 0)
                fail_msg("%s, %s, %zu x %zu: [%zu][%zu] fills up a row and is %g", what, a->k->name, a->rows,
                         a->cols, i, j, get(a, i, j));
}

static void compare(const struct pair *on, const struct window *w, size_t ldx, size_t ldy)
{
    const struct kernels *plain = on->plain, *fast = on->fast;
    size_t depth = w->channels, area = w->kernel_height * w->kernel_width, ldw = kernel_pad(depth) + 8;
    size_t in = w->height * w->width, out = w->out_height * w->out_width;
    struct array x = matrix(plain, in, depth, ldx, -1, 1), dy = matrix(plain, out, depth, ldy, -1, 1),
                 taps = matrix(plain, area, depth, ldw, -1, 1), bias = vector(plain, depth, -1, 1);
    for (int form = 0; form < 3; form++) { /* bare, with bias, with relu too */
        struct array y1 = matrix(plain, out, depth, ldy, 9, 9), y2 = same_as(&y1);
        plain->depthwise(w, x.at, ldx, taps.at, ldw, form ? bias.at : NULL, form == 2, y1.at, ldy);
        fast->depthwise(w, x.at, ldx, taps.at, ldw, form ? bias.at : NULL, form == 2, y2.at, ldy);
        y2.k = fast;
        filled_with_zeros("depthwise", &y1);
        filled_with_zeros("depthwise", &y2);
        same("depthwise", &y1, &y2, sum_error(on, area));
    }
    for (int add = 0; add < 2; add++) {
        struct array dx1 = matrix(plain, in, depth, ldx, -1, 1);
        for (size_t i = 0; i < in && add; i++) /* what is added to has zeros there, and keeps them */
            for (size_t j = depth; j < ldx; j++)
                set(&dx1, i, j, 0);
        struct array dx2 = same_as(&dx1);
        plain->depthwise_data(w, dy.at, ldy, taps.at, ldw, add, dx1.at, ldx);
        fast->depthwise_data(w, dy.at, ldy, taps.at, ldw, add, dx2.at, ldx);
        dx2.k = fast;
        filled_with_zeros("depthwise_data", &dx1);
        filled_with_zeros("depthwise_data", &dx2);
        same("depthwise_data", &dx1, &dx2, sum_error(on, area));
    }
    struct array dw1 = matrix(plain, area, depth, ldw, -1, 1), dw2 = same_as(&dw1);
    plain->depthwise_weights(w, x.at, ldx, dy.at, ldy, dw1.at, ldw);
    fast->depthwise_weights(w, x.at, ldx, dy.at, ldy, dw2.at, ldw);
    dw2.k = fast;
    same("depthwise_weights", &dw1, &dw2, sum_error(on, out));
    drop(&x), drop(&dy), drop(&taps), drop(&bias);
}

static void depthwise_convolutions_match_twins(void **state)
{
    (void)state;
    size_t turn = 0;
    for (fences = 0; fences < 2; fences++)
        for (int p = 0; p < PAIRS; p++) {
            struct pair on = pair_of(p);
            for (size_t n = 0; n < COUNT(windows); n++)
                for (size_t c = 0; c < COUNT(channels); c++)
                    for (int form = 0; form < 3; form++) { /* padded, a vector more, the image not padded */
                        if (turn++ % quick_step(7))
                            continue;
                        size_t ld = kernel_pad(channels[c]) + (form == 1 ? 8 : 0);
                        struct window w = window_of(windows[n], channels[c]);
                        dice = 100 * n + c;
                        compare(&on, &w, form == 2 ? channels[c] : ld, ld);
                    }
        }
    fences = 0;
}

/* Training notices divergence by a NaN: relu lets it through. */
static void relu_keeps_what_is_no_number(void **state)
{
    (void)state;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        struct window w = window_of((const size_t[]){6, 7, 3, 3, 1, 1}, 8);
        struct array x = matrix(on.fast, 42, 8, 8, -1, 1), taps = matrix(on.fast, 9, 8, 8, -1, 1),
                     y = matrix(on.fast, 42, 8, 8, 9, 9);
        set(&x, 3 * 7 + 4, 5, (double)NAN);
        on.fast->depthwise(&w, x.at, 8, taps.at, 8, NULL, 1, y.at, 8);
        for (size_t o = 0; o < 42; o++)
            for (size_t c = 0; c < 8; c++) {
                int near = c == 5 && o / 7 >= 2 && o / 7 <= 4 && o % 7 >= 3 && o % 7 <= 5;
                assert_int_equal(isnan(get(&y, o, c)) != 0, near);
                assert_true(near || get(&y, o, c) >= 0);
            }
        drop(&x), drop(&taps), drop(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_depthwise_convolution_is_one_whose_other_weights_are_0),
        cmocka_unit_test(depthwise_convolutions_match_twins),
        cmocka_unit_test(relu_keeps_what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
