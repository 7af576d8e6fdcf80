/* SPDX-License-Identifier: MIT
 *
 * The kernels of images: pools and layer normalization against their plain twins, and all per-channel kernels
 * on one block of an image's channels, tall and a vector or two wide. */
#include "kernel_compare.h"

static const size_t panel_rows[] = {1, 2, 49, 1000}, panel_columns[] = {1, 3, 8, 13, 16},
                    panel_blocks[] = {KERNEL_PAD, 2 * KERNEL_PAD};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void on_all_panels(compare_fn *compare)
{
    size_t turn = 0;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t r = 0; r < COUNT(panel_rows); r++)
            for (size_t c = 0; c < COUNT(panel_columns); c++)
                for (size_t b = 0; b < COUNT(panel_blocks); b++)
                    if (panel_columns[c] <= panel_blocks[b] && turn++ % quick_step(7) == 0)
                        compare(&on, panel_rows[r], panel_columns[c],
                                panel_blocks[b] - kernel_pad(panel_columns[c]));
    }
}

static void per_channel_kernels_match_twins_on_panels(void **state)
{
    (void)state;
    static compare_fn *const all[] = {compare_copies, compare_sum, compare_columns, compare_normalization,
                                      compare_activation};
    for (size_t f = 0; f < COUNT(all); f++)
        on_all_panels(all[f]);
}

static void sums_of_matrices_match_their_formula(void **state)
{
    (void)state;
    on_all_shapes(compare_sum);
}

/* ---------------------------------------------------------------- padding */

static void zero_padding(struct array *a)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = a->cols; j < a->ld; j++)
            set(a, i, j, 0);
}

static struct array panel(const struct kernels *k, size_t rows, size_t m, size_t ld)
{
    struct array a = matrix(k, rows, m, ld, -1, 1);
    zero_padding(&a);
    return a;
}

static void padded_with_zeros(const char *what, const struct array *a)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = a->cols; j < a->ld; j++)
            if (get(a, i, j) != 0)
                fail_msg("%s, %s, %zu bytes, %zu x %zu: padding [%zu][%zu] became %g", what, a->k->name,
                         a->k->size, a->rows, a->cols, i, j, get(a, i, j));
}

static void check_padding(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    size_t ld = kernel_pad(m) + extra;
    for (const struct kernels *k = on->plain; k; k = k == on->plain ? on->fast : NULL) {
        struct array x = panel(k, rows, m, ld), y = panel(k, rows, m, ld), dy = panel(k, rows, m, ld);
        struct array a = vector(k, m, 0.5, 1), b = vector(k, m, 0.5, 1), c = vector(k, m, 0.5, 1);
        k->shift(rows, m, x.at, ld, a.at, y.at, ld);
        padded_with_zeros("shift", &y);
        k->column_combine(rows, m, a.at, x.at, ld, b.at, dy.at, ld, y.at, ld);
        padded_with_zeros("column_combine", &y);
        k->add(rows, m, x.at, ld, y.at, ld);
        padded_with_zeros("add", &y);
        for (int relu = 0; relu < 2; relu++) {
            k->normalize(rows, m, x.at, ld, a.at, b.at, c.at, relu, y.at, ld);
            padded_with_zeros("normalize", &y);
            k->normalize_grad(rows, m, dy.at, ld, x.at, ld, a.at, b.at, c.at, relu, c.at, b.at, a.at, y.at,
                              ld);
            padded_with_zeros("normalize_grad", &y);
            k->sum(rows, m, x.at, ld, dy.at, ld, relu, y.at, ld);
            padded_with_zeros("sum", &y);
            k->sum_grad(rows, m, relu ? x.at : NULL, ld, dy.at, ld, y.at, ld, relu, NULL, 0, 0);
            padded_with_zeros("sum_grad", &y);
        }
        struct act_args args = {.rows = rows,
                                .m = m,
                                .z = x.at,
                                .ldz = ld,
                                .s = a.at,
                                .y = y.at,
                                .ldy = ld,
                                .dy = dy.at,
                                .lddy = ld,
                                .dz = y.at,
                                .lddz = ld,
                                .db = b.at};
        for (int act = 0; act < SPH_ACT_SRELU; act++) {
            k->act[act](&args);
            padded_with_zeros("act", &y);
            k->act_grad[act](&args);
            padded_with_zeros("act_grad", &y);
        }
        drop(&x), drop(&y), drop(&dy), drop(&a), drop(&b), drop(&c);
    }
}

static void zeros_that_fill_up_a_block_stay_zeros(void **state)
{
    (void)state;
    on_all_panels(check_padding);
}

/* ---------------------------------------------------------------- pools */

static struct window window_of(size_t channels, size_t height, size_t width, size_t kernel, size_t stride,
                               size_t pad)
{
    return (struct window){.channels = channels,
                           .height = height,
                           .width = width,
                           .kernel_height = kernel ? kernel : height, /* 0: the whole image */
                           .kernel_width = kernel ? kernel : width,
                           .stride = stride,
                           .pad = pad,
                           .out_height = kernel ? (height + 2 * pad - kernel) / stride + 1 : 1,
                           .out_width = kernel ? (width + 2 * pad - kernel) / stride + 1 : 1};
}

/* Few levels, so that many are equal, and a NaN here and there. */
static struct array levels(const struct kernels *k, size_t rows, size_t m, size_t ld, int zeros)
{
    struct array x = matrix(k, rows, m, ld, -3, 3);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            set(&x, i, j, draw(0, 1) < 0.02 ? (double)NAN : floor(get(&x, i, j)));
    if (zeros)
        zero_padding(&x);
    return x;
}

static void same_numbers(const char *what, struct array *want, struct array *have)
{
    if (memcmp(want->at, have->at, want->rows * want->ld * want->k->size) != 0)
        fail_msg("%s: other pixels won than in the plain twin", what);
    drop(want);
    drop(have);
}

static void compare_pools(const struct pair *on, const struct window *w, size_t ldx, size_t ldy)
{
    const struct kernels *plain = on->plain, *fast = on->fast;
    size_t in = w->height * w->width, out = w->out_height * w->out_width,
           area = w->kernel_height * w->kernel_width;
    int zeros = ldx % KERNEL_PAD == 0;
    struct array x = levels(plain, in, w->channels, ldx, zeros),
                 dy = matrix(plain, out, w->channels, ldy, -1, 1);
    struct array y1 = matrix(plain, out, w->channels, ldy, 9, 9);
    zero_padding(&y1);
    struct array y2 = same_as(&y1), y3 = same_as(&y1), y4 = same_as(&y1);
    /* exactly as many numbers as there are channels, whatever the leading dimension of the images */
    struct array index1 = matrix(kernels_pick(SPH_F32, KERNELS_PLAIN), out, w->channels, w->channels, 9, 9),
                 index2 = same_as(&index1);
    plain->max_pool(w, x.at, ldx, y1.at, ldy, index1.at);
    fast->max_pool(w, x.at, ldx, y2.at, ldy, index2.at);
    fast->max_pool(w, x.at, ldx, y3.at, ldy, NULL);
    plain->max_pool(w, x.at, ldx, y4.at, ldy, NULL);
    if (zeros)
        padded_with_zeros("max_pool", &y2);
    struct array copy = same_as(&y1), copy2 = same_as(&y1);
    same("max_pool", &y1, &y2, 0);
    same("max_pool without winners", &copy, &y3, 0);
    same("plain max_pool without winners", &copy2, &y4, 0);

    zero_padding(&dy);
    struct array dx1 = matrix(plain, in, w->channels, ldx, -1, 1);
    zero_padding(&dx1);
    struct array dx2 = same_as(&dx1);
    plain->max_pool_grad(w, dy.at, ldy, index1.at, dx1.at, ldx);
    fast->max_pool_grad(w, dy.at, ldy, index1.at, dx2.at, ldx);
    padded_with_zeros("max_pool_grad", &dx2);
    same("max_pool_grad", &dx1, &dx2, 0);
    same_numbers("max_pool", &index1, &index2);

    drop(&x);
    x = matrix(plain, in, w->channels, ldx, -1, 1);
    zero_padding(&x);
    y1 = matrix(plain, out, w->channels, ldy, 9, 9);
    zero_padding(&y1);
    y2 = same_as(&y1);
    plain->avg_pool(w, x.at, ldx, y1.at, ldy);
    fast->avg_pool(w, x.at, ldx, y2.at, ldy);
    padded_with_zeros("avg_pool", &y2);
    same("avg_pool", &y1, &y2, sum_error(on, area) / (double)area + close_to(on));
    dx1 = matrix(plain, in, w->channels, ldx, -1, 1);
    zero_padding(&dx1);
    dx2 = same_as(&dx1);
    plain->avg_pool_grad(w, dy.at, ldy, dx1.at, ldx);
    fast->avg_pool_grad(w, dy.at, ldy, dx2.at, ldx);
    padded_with_zeros("avg_pool_grad", &dx2);
    same("avg_pool_grad", &dx1, &dx2, close_to(on));
    drop(&x), drop(&dy);
}

static void pools_match_twins(void **state)
{
    (void)state;
    static const size_t windows[][5] = {/* height, width, kernel, stride, pad */
                                        {4, 4, 2, 2, 0}, {5, 7, 2, 2, 0}, {7, 5, 3, 2, 1}, {14, 14, 3, 2, 1},
                                        {1, 4, 2, 1, 1}, {3, 3, 3, 3, 2}, {6, 5, 3, 1, 1}, {9, 8, 5, 3, 2},
                                        {7, 7, 0, 1, 0}, {3, 2, 0, 1, 0}, {1, 1, 1, 1, 0}, {2, 9, 2, 3, 1}};
    static const size_t channels[] = {1, 3, 8, 13, 16, 29};
    size_t turn = 0;
    for (fences = 0; fences < 2; fences++)
        for (int p = 0; p < PAIRS; p++) {
            struct pair on = pair_of(p);
            for (size_t n = 0; n < COUNT(windows); n++)
                for (size_t c = 0; c < COUNT(channels); c++)
                    for (int form = 0; form < 3; form++) { /* padded, a vector more, not padded at all */
                        if (turn++ % quick_step(7))
                            continue;
                        size_t ld = form == 2 ? channels[c] : kernel_pad(channels[c]);
                        const size_t *at = windows[n];
                        struct window w = window_of(channels[c], at[0], at[1], at[2], at[3], at[4]);
                        dice = 100 * n + c;
                        compare_pools(&on, &w, form == 1 ? ld + 8 : ld, ld);
                    }
        }
    fences = 0;
}

/* ---------------------------------------------------------------- layer normalization of an image */

/* (blocks, pixels, ld); numbers in [low, high), fill in what is no channel. */
static struct array image(const struct kernels *k, size_t pixels, size_t channels, size_t ld, double low,
                          double high, double fill)
{
    size_t blocks = (channels + ld - 1) / ld;
    struct array a = matrix(k, blocks * pixels, ld, ld, low, high);
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = channels; c < blocks * ld; c++)
            set(&a, c / ld * pixels + p, c % ld, fill);
    return a;
}

static void same_images(const char *what, size_t pixels, size_t channels, struct array *want,
                        struct array *have, double error)
{
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            double a = get(want, c / want->ld * pixels + p, c % want->ld),
                   b = get(have, c / have->ld * pixels + p, c % have->ld);
            if (differ(a, b, error * (1 + fabs(a))))
                fail_msg("%s, %s, %zu bytes, %zu pixels: [%zu][%zu] is %.17g, expected %.17g", what,
                         have->k->name, have->k->size, pixels, p, c, b, a);
        }
    drop(want);
    drop(have);
}

static void image_padding(const char *what, const struct array *a, size_t pixels, size_t channels)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->ld; j++)
            if (i / pixels * a->ld + j >= channels && get(a, i, j) != 0)
                fail_msg("%s, %s: padding became %g", what, a->k->name, get(a, i, j));
}

/* A tile of at most 256 pixels adds at most 32 numbers in a row before its sums go on in f64. */
static double image_error(const struct pair *on)
{
    return sum_error(on, 32);
}

static void compare_image_norm(const struct pair *on, size_t pixels, size_t channels, size_t ld, double fill)
{
    const struct kernels *plain = on->plain, *fast = on->fast;
    const double epsilon = 0.1; /* as in compare_normalization */
    struct array z1 = image(plain, pixels, channels, ld, 0, 1, fill), z2 = same_as(&z1), x = same_as(&z1),
                 dy = image(plain, pixels, channels, ld, -1, 1, fill);
    struct array y1 = image(plain, pixels, channels, ld, 9, 9, 0), y2 = same_as(&y1);
    struct array gamma = vector(plain, channels, 0.5, 1), beta = vector(plain, channels, -1, 1),
                 inv1 = vector(plain, 1, 9, 9), inv2 = same_as(&inv1);
    plain->image_norm(pixels, channels, z1.at, ld, epsilon, gamma.at, beta.at, inv1.at, y1.at, ld);
    fast->image_norm(pixels, channels, z2.at, ld, epsilon, gamma.at, beta.at, inv2.at, y2.at, ld);
    z2.k = y2.k = fast;
    if (fill == 0) {
        image_padding("image_norm, xhat", &z2, pixels, channels);
        image_padding("image_norm", &y2, pixels, channels);
    }

    /* one block of all channels: nothing but the places changes */
    size_t flat_ld = kernel_pad(channels);
    struct array flat = matrix(plain, pixels, channels, flat_ld, 9, 9), flat_y = same_as(&flat),
                 flat_inv = same_as(&inv1);
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++)
            set(&flat, p, c, get(&x, c / ld * pixels + p, c % ld));
    plain->image_norm(pixels, channels, flat.at, flat_ld, epsilon, gamma.at, beta.at, flat_inv.at, flat_y.at,
                      flat_ld);
    struct array blocked_xhat = same_as(&z1), blocked_y = same_as(&y1);
    same_images("image_norm in blocks, xhat", pixels, channels, &flat, &blocked_xhat, 0);
    same_images("image_norm in blocks", pixels, channels, &flat_y, &blocked_y, 0);
    drop(&flat_inv);

    struct array dg1 = vector(plain, channels, -1, 1), dg2 = same_as(&dg1),
                 db1 = vector(plain, channels, -1, 1), db2 = same_as(&db1), spare1 = same_as(&db1),
                 spare2 = same_as(&db1);
    struct array dz1 = image(plain, pixels, channels, ld, 9, 9, 0), dz2 = same_as(&dz1),
                 onto_dy = same_as(&dy), onto_x = same_as(&z1);
    plain->image_norm_grad(pixels, channels, dy.at, ld, z1.at, ld, inv1.at, gamma.at, dg1.at, db1.at, dz1.at,
                           ld);
    fast->image_norm_grad(pixels, channels, dy.at, ld, z1.at, ld, inv1.at, gamma.at, dg2.at, db2.at, dz2.at,
                          ld);
    fast->image_norm_grad(pixels, channels, onto_dy.at, ld, z1.at, ld, inv1.at, gamma.at, spare1.at,
                          spare2.at, onto_dy.at, ld);
    fast->image_norm_grad(pixels, channels, dy.at, ld, onto_x.at, ld, inv1.at, gamma.at, spare1.at, spare2.at,
                          onto_x.at, ld);
    if (fill == 0)
        image_padding("image_norm_grad", &dz2, pixels, channels);
    struct array copy1 = same_as(&dz2), copy2 = same_as(&dz2);
    same_images("image_norm_grad onto dy", pixels, channels, &copy1, &onto_dy, 0);
    same_images("image_norm_grad onto xhat", pixels, channels, &copy2, &onto_x, 0);
    same_images("image_norm_grad", pixels, channels, &dz1, &dz2, 4 * image_error(on)); /* inv is up to 3.2 */
    same("image_norm, dgamma", &dg1, &dg2, 2 * sum_error(on, pixels));                 /* xhat is up to 2 */
    same("image_norm, dbeta", &db1, &db2, sum_error(on, pixels));
    same_images("image_norm, xhat", pixels, channels, &z1, &z2, 4 * image_error(on));
    same_images("image_norm", pixels, channels, &y1, &y2, 4 * image_error(on));
    same("image_norm, inv", &inv1, &inv2, image_error(on));
    drop(&x), drop(&dy), drop(&gamma), drop(&beta), drop(&spare1), drop(&spare2);
}

static void image_norms_match_twins_in_blocks(void **state)
{
    (void)state;
    static const size_t channels[] = {1, 3, 8, 13, 16, 29, 64}, blocks[] = {8, 16, 32, 64};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t r = 0; r < COUNT(panel_rows); r++)
            for (size_t c = 0; c < COUNT(channels); c++)
                for (size_t b = (r + c) % quick_step(4); b < COUNT(blocks); b += quick_step(4)) {
                    dice = 100 * r + c;
                    fences = panel_rows[r] < 49;
                    compare_image_norm(&on, panel_rows[r], channels[c], blocks[b], 0);
                    compare_image_norm(&on, panel_rows[r], channels[c], blocks[b], (double)NAN);
                }
    }
    fences = 0;
}

static void no_kernel_reads_beyond_a_panel(void **state)
{
    (void)state;
    fences = 1;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t rows = 1; rows < 12; rows += 5)
            for (size_t m = 1; m < 40; m += 3 * quick_step(3)) {
                compare_sum(&on, rows, m, 0);
                check_padding(&on, rows, m, 0);
            }
    }
    fences = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(per_channel_kernels_match_twins_on_panels),
        cmocka_unit_test(sums_of_matrices_match_their_formula),
        cmocka_unit_test(zeros_that_fill_up_a_block_stay_zeros),
        cmocka_unit_test(pools_match_twins),
        cmocka_unit_test(image_norms_match_twins_in_blocks),
        cmocka_unit_test(no_kernel_reads_beyond_a_panel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
