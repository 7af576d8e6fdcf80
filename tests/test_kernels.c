/* SPDX-License-Identifier: MIT
 *
 * The kernel tables. Every fast kernel is compared with its plain twin on random, odd shapes; the plain twins
 * are compared with formulas written out anew and with central differences. Matrices carry NaN in their
 * padding, which must never reach a real column, and every array lies between guard zones, which must
 * survive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compute/kernels.h"

/* ---------------------------------------------------------------- arrays between guards */

enum { GUARD_BYTES = 256, GUARD = 0xA5 };

/* With fences on, an array ends where a page ends that nobody may read: a kernel that only reads too far, and
 * drops what it read, dies there. */
static int fences;

struct array {
    const struct kernels *k;
    unsigned char *block;
    void *at;
    size_t rows, cols, ld;
    size_t mapped; /* bytes, with fences */
};

/* splitmix64: most of the time goes into filling arrays. */
static uint64_t dice;

static double draw(double low, double high)
{
    uint64_t x = dice += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return low + (high - low) * (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static double get(const struct array *a, size_t i, size_t j)
{
    size_t index = i * a->ld + j;
    return a->k->dtype == SPH_F64 ? ((const double *)a->at)[index] : (double)((const float *)a->at)[index];
}

static void set(struct array *a, size_t i, size_t j, double value)
{
    size_t index = i * a->ld + j;
    if (a->k->dtype == SPH_F64)
        ((double *)a->at)[index] = value;
    else
        ((float *)a->at)[index] = (float)value;
}

static struct array reserve(const struct kernels *k, size_t rows, size_t cols, size_t ld)
{
    size_t bytes = rows * ld * k->size, page = (size_t)sysconf(_SC_PAGESIZE);
    struct array a = {.k = k, .rows = rows, .cols = cols, .ld = ld};
    if (fences) {
        size_t fence = (GUARD_BYTES + bytes + page - 1) / page * page;
        a.mapped = fence + page;
        a.block = mmap(NULL, a.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(a.block != MAP_FAILED && mprotect(a.block + fence, page, PROT_NONE) == 0);
        a.at = a.block + fence - bytes;
        memset((unsigned char *)a.at - GUARD_BYTES, GUARD, GUARD_BYTES);
    } else {
        a.block = malloc(bytes + 2 * GUARD_BYTES);
        assert_non_null(a.block);
        memset(a.block, GUARD, bytes + 2 * GUARD_BYTES);
        a.at = a.block + GUARD_BYTES;
    }
    return a;
}

/* rows x cols numbers in [low, high), NaN in the padding. */
static struct array matrix(const struct kernels *k, size_t rows, size_t cols, size_t ld, double low,
                           double high)
{
    struct array a = reserve(k, rows, cols, ld);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < ld; j++)
            set(&a, i, j, j < cols ? draw(low, high) : (double)NAN);
    return a;
}

static struct array vector(const struct kernels *k, size_t count, double low, double high)
{
    return matrix(k, 1, count, count, low, high);
}

static struct array same_as(const struct array *a)
{
    struct array copy = reserve(a->k, a->rows, a->cols, a->ld);
    memcpy(copy.at, a->at, a->rows * a->ld * a->k->size);
    return copy;
}

static void drop(struct array *a)
{
    const unsigned char *head = (const unsigned char *)a->at - GUARD_BYTES;
    const unsigned char *tail = (const unsigned char *)a->at + a->rows * a->ld * a->k->size;
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (head[i] != GUARD || (!a->mapped && tail[i] != GUARD))
            fail_msg("%s kernel wrote outside a %zu x %zu array of leading dimension %zu", a->k->name,
                     a->rows, a->cols, a->ld);
    if (a->mapped)
        munmap(a->block, a->mapped);
    else
        free(a->block);
}

static int differ(double a, double b, double bound)
{
    return !(fabs(a - b) <= bound) && !(isnan(a) && isnan(b));
}

/* Real columns agree to error * (1 + size); then both are freed. */
static void same(const char *what, struct array *want, struct array *have, double error)
{
    for (size_t i = 0; i < want->rows; i++)
        for (size_t j = 0; j < want->cols; j++) {
            double a = get(want, i, j), b = get(have, i, j);
            if (differ(a, b, error * (1 + fabs(a))))
                fail_msg("%s, %s, %zu bytes, %zu x %zu: [%zu][%zu] is %.17g, expected %.17g", what,
                         have->k->name, have->k->size, want->rows, want->cols, i, j, b, a);
        }
    drop(want);
    drop(have);
}

/* ---------------------------------------------------------------- the fast tables and the shapes */

struct pair {
    const struct kernels *plain, *fast;
    double eps;
};

typedef void compare_fn(const struct pair *on, size_t rows, size_t m, size_t extra);

static const sph_dtype dtypes[] = {SPH_F32, SPH_F64};
static const enum kernel_choice choices[] = {KERNELS_FASTEST, KERNELS_BASE};

static struct pair pair_of(int number)
{
    sph_dtype dtype = dtypes[number / 2];
    return (struct pair){kernels_pick(dtype, KERNELS_PLAIN), kernels_pick(dtype, choices[number % 2]),
                         dtype == SPH_F64 ? 0x1p-52 : 0x1p-23};
}

enum { PAIRS = 4 };

static void on_all_shapes(compare_fn *compare)
{
    static const size_t row_counts[] = {1, 2, 47, 404}, columns[] = {1, 7, 8, 9, 16, 17, 29, 100, 513};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t r = 0; r < sizeof row_counts / sizeof *row_counts; r++)
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
                for (size_t extra = 0; extra <= KERNEL_PAD; extra += KERNEL_PAD) {
                    dice = 7 + 1000 * (r * 100 + c);
                    compare(&on, row_counts[r], columns[c], extra);
                }
    }
}

/* Elementwise kernels differ from their twins by fused multiply-adds and by functions good to 1 ulp. */
static double close_to(const struct pair *on)
{
    return 8 * on->eps;
}
/* Sums of count terms of size up to 1 differ by at most count roundings of partial sums, which grow to count;
 * in fact by their square root. */
static double sum_error(const struct pair *on, size_t count)
{
    return on->eps * (8 + 4 * (double)count);
}

/* ---------------------------------------------------------------- copies */

static void compare_copies(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    struct array a = matrix(on->plain, rows, m, m + extra, -1, 1);
    size_t count = rows * (m + extra);
    double *wide = calloc(count, sizeof *wide);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = m; j < m + extra; j++)
            set(&a, i, j, 0.5);
    for (const struct kernels *k = on->plain; k; k = k == on->plain ? on->fast : NULL) {
        struct array back = matrix(k, rows, m, m + extra, 0, 0);
        k->to_double(count, a.at, wide);
        k->from_double(count, wide, back.at);
        assert_memory_equal(a.at, back.at, count * k->size);
        assert_true(wide[count - 1] == get(&a, rows - 1, m + extra - 1));
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += wide[i] * wide[i];
        assert_true(fabs(k->sum_squares(count, a.at) - sum) <= 1e-12 * sum);

        struct array y = matrix(k, rows, m, m + extra, -1, 1), before = same_as(&y);
        k->add(rows, m, a.at, m + extra, y.at, m + extra);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < m; j++)
                set(&before, i, j, get(&before, i, j) + get(&a, i, j));
        same("add", &before, &y, 0);
        drop(&back);
    }
    free(wide);
    drop(&a);
}

static void copies_keep_values_and_sums_add_up(void **state)
{
    (void)state;
    on_all_shapes(compare_copies);
}

static void all_finite_sees_one_bad_number_anywhere(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t count = 1; count < 70; count++) {
            struct array a = vector(on.fast, count, -1, 1);
            set(&a, 0, count / 2, on.fast->dtype == SPH_F64 ? 1e308 : 3e38);
            assert_true(on.plain->all_finite(count, a.at) && on.fast->all_finite(count, a.at));
            for (size_t i = 0; i < count; i++) {
                double was = get(&a, 0, i);
                set(&a, 0, i, bad[i % 3]);
                assert_false(on.plain->all_finite(count, a.at) || on.fast->all_finite(count, a.at));
                set(&a, 0, i, was);
            }
            drop(&a);
        }
        assert_true(on.fast->all_finite(0, NULL));
    }
}

/* ---------------------------------------------------------------- products */

static void compare_transpose(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    struct array a = matrix(on->plain, rows, m, m + extra, -1, 1);
    struct array t1 = matrix(on->plain, m, rows, rows + extra, 0, 0), t2 = same_as(&t1);
    on->plain->transpose(rows, m, a.at, a.ld, t1.at, t1.ld);
    on->fast->transpose(rows, m, a.at, a.ld, t2.at, t2.ld);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            assert_true(get(&t1, j, i) == get(&a, i, j));
    same("transpose", &t1, &t2, 0);
    drop(&a);
}

static void transpose_matches_twin(void **state)
{
    (void)state;
    on_all_shapes(compare_transpose);
}

/* by_row: a lies as (rows, inner), otherwise as its transpose. */
static void compare_gemm(const struct pair *on, size_t rows, size_t m, size_t inner, int by_row,
                         int with_bias, int how)
{
    struct array a = by_row ? matrix(on->plain, rows, inner, inner + 3, -1, 1)
                            : matrix(on->plain, inner, rows, rows + 2, -1, 1);
    size_t a_row = by_row ? a.ld : 1, a_step = by_row ? 1 : a.ld, ld = kernel_pad(m);
    struct array b = matrix(on->plain, inner, m, ld + KERNEL_PAD, -1, 1),
                 bias = matrix(on->plain, 1, m, kernel_pad(m), -1, 1);
    struct array c1 = matrix(on->plain, rows, m, ld, -1, 1), c2 = same_as(&c1), c3 = same_as(&c1);
    const void *start = with_bias ? bias.at : NULL;
    on->plain->gemm(rows, m, inner, a.at, a_row, a_step, b.at, b.ld, c1.at, ld, start, how);
    on->fast->gemm(rows, m, inner, a.at, a_row, a_step, b.at, b.ld, c2.at, ld, start, how);
    c2.k = on->fast;
    for (size_t i = 0; i < rows; i += 1 + rows / 3) {
        double sum = (how & GEMM_ADD ? get(&c3, i, m - 1) : 0) + (with_bias ? get(&bias, 0, m - 1) : 0);
        for (size_t p = 0; p < inner; p++)
            sum += (by_row ? get(&a, i, p) : get(&a, p, i)) * get(&b, p, m - 1);
        sum = how & GEMM_RELU && sum < 0 ? 0 : sum;
        assert_false(differ(sum, get(&c1, i, m - 1), sum_error(on, inner)));
    }
    same("gemm", &c1, &c2, sum_error(on, inner));
    drop(&a), drop(&b), drop(&bias), drop(&c3);
}

static void gemm_matches_twin_and_sums(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{1, 1, 1},      {2, 7, 3},      {3, 8, 2},      {5, 9, 17},
                                       {13, 100, 47},  {6, 17, 1},     {47, 24, 9},    {404, 100, 13},
                                       {13, 100, 404}, {2, 513, 4608}, {404, 64, 100}, {1, 3, 0}};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int form = 0; form < 16; form++)
                compare_gemm(&on, shapes[s][0], shapes[s][1], shapes[s][2], form & 1, form & 2, form >> 2);
    }
}

static void compare_dots(const struct pair *on, size_t rows, size_t m, size_t n, int with_bias)
{
    struct array x = matrix(on->plain, rows, n, kernel_pad(n), -1, 1),
                 w = matrix(on->plain, m, n, n + rows % 2, -1, 1);
    struct array z1 = matrix(on->plain, rows, m, kernel_pad(m), 0, 0), z2 = same_as(&z1),
                 bias = vector(on->plain, m, -1, 1);
    const void *start = with_bias ? bias.at : NULL;
    on->plain->dots(rows, m, n, x.at, x.ld, w.at, w.ld, start, z1.at, z1.ld);
    on->fast->dots(rows, m, n, x.at, x.ld, w.at, w.ld, start, z2.at, z2.ld);
    double sum = with_bias ? get(&bias, 0, m - 1) : 0;
    for (size_t i = 0; i < n; i++)
        sum += get(&x, rows - 1, i) * get(&w, m - 1, i);
    assert_false(differ(sum, get(&z1, rows - 1, m - 1), sum_error(on, n)));
    same("dots", &z1, &z2, sum_error(on, n));
    drop(&x), drop(&w), drop(&bias);
}

static void dots_match_twin(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{1, 1, 1},   {2, 1, 7},    {3, 2, 8}, {47, 1, 100},
                                       {404, 3, 9}, {5, 2, 4608}, {6, 1, 3}};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int with_bias = 0; with_bias < 2; with_bias++)
                compare_dots(&on, shapes[s][0], shapes[s][1], shapes[s][2], with_bias);
    }
}

/* ---------------------------------------------------------------- columns */

static void compare_columns(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    size_t odd = m + extra * 3 / 8; /* raw parameters: not padded, the last row ends the array */
    struct array a = matrix(on->plain, rows, m, m, -1, 1), b = matrix(on->plain, rows, m, odd, -1, 1);
    struct array out1 = vector(on->plain, m, 5, 6), out2 = same_as(&out1);
    on->plain->column_dots(rows, m, a.at, m, b.at, odd, out1.at);
    on->fast->column_dots(rows, m, a.at, m, b.at, odd, out2.at);
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += get(&a, i, m - 1) * get(&b, i, m - 1);
    assert_false(differ(sum, get(&out1, 0, m - 1), sum_error(on, rows)));
    same("column_dots", &out1, &out2, sum_error(on, rows));

    struct array alpha = vector(on->plain, m, -1, 1), beta = vector(on->plain, m, -1, 1);
    for (int form = 0; form < 4; form++) {
        const void *first = form & 1 ? alpha.at : NULL, *second = form & 2 ? b.at : NULL;
        struct array y1 = matrix(on->plain, rows, m, m, 0, 0), y2 = same_as(&y1), in_a = same_as(&a),
                     in_b = same_as(&b);
        on->plain->column_combine(rows, m, first, a.at, m, beta.at, second, odd, y1.at, m);
        on->fast->column_combine(rows, m, first, a.at, m, beta.at, second, odd, y2.at, m);
        on->fast->column_combine(rows, m, first, in_a.at, m, beta.at, second, odd, in_a.at, m);
        for (size_t i = 0; i < rows; i++) {
            double want = (first ? get(&alpha, 0, m - 1) : 1) * get(&a, i, m - 1) +
                          (second ? get(&beta, 0, m - 1) * get(&b, i, m - 1) : 0);
            assert_false(differ(want, get(&y1, i, m - 1), close_to(on)));
        }
        struct array again = same_as(&y2), once_more = same_as(&y2);
        same("column_combine onto a", &again, &in_a, 0);
        if (second)
            on->fast->column_combine(rows, m, first, a.at, m, beta.at, in_b.at, odd, in_b.at, odd);
        else
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < m; j++)
                    set(&in_b, i, j, get(&y2, i, j));
        same("column_combine onto b", &once_more, &in_b, 0);
        same("column_combine", &y1, &y2, close_to(on));
    }

    struct array x = matrix(on->plain, rows, m, kernel_pad(m) + extra, -1, 1);
    struct array sum1 = vector(on->plain, m, -1, 1), sum2 = same_as(&sum1), start = same_as(&sum1);
    on->plain->column_sums(rows, m, x.at, x.ld, sum1.at);
    on->fast->column_sums(rows, m, x.at, x.ld, sum2.at);
    sum = get(&start, 0, m - 1);
    for (size_t i = 0; i < rows; i++)
        sum += get(&x, i, m - 1);
    assert_false(differ(sum, get(&sum1, 0, m - 1), sum_error(on, rows)));
    same("column_sums", &sum1, &sum2, sum_error(on, rows));
    drop(&a), drop(&b), drop(&alpha), drop(&beta), drop(&x), drop(&start);
}

static void column_kernels_match_twins_unpadded_and_in_place(void **state)
{
    (void)state;
    on_all_shapes(compare_columns);
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        compare_columns(&on, 4608, 9, 0);
    }
}

/* ---------------------------------------------------------------- angles */

/* The angles of random directions, (n-1, m): drawn independently, their products would vanish for large n. */
static struct array random_angles(const struct kernels *k, size_t n, size_t m)
{
    struct array theta = matrix(k, n - 1, m, m, 0, 0);
    double *u = calloc(n, sizeof *u);
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < n; i++)
            u[i] = draw(-1, 1) + draw(-1, 1) + draw(-1, 1);
        double rest = fabs(u[n - 1]);
        set(&theta, n - 2, j, atan2(u[n - 1], u[n - 2]));
        for (size_t a = n - 2; a-- > 0;) {
            rest = hypot(rest, u[a + 1]);
            set(&theta, a, j, atan2(rest, u[a]));
        }
    }
    free(u);
    return theta;
}

/* A product of n sines is off by sqrt(n) roundings, and its factors by a few ulp. */
static double polar_error(const struct pair *on, size_t n)
{
    return 4 * on->eps * (8 + sqrt((double)n));
}

static void compare_polar(const struct pair *on, size_t n, size_t m)
{
    struct array theta = random_angles(on->plain, n, m), scale = vector(on->plain, m, 0.5, 2);
    if (m > 2 && n > 2)
        set(&theta, 0, 1, 0); /* a pole: all later coordinates of unit 1 are 0 */
    size_t ld = kernel_pad(m);
    struct array w1 = matrix(on->plain, n, m, ld, 0, 0), w2 = same_as(&w1);
    struct array sin1 = matrix(on->plain, n - 1, m, m, 0, 0), cos1 = same_as(&sin1), sin2 = same_as(&sin1),
                 cos2 = same_as(&sin1);
    struct array prefix1 = matrix(on->plain, polar_chunks(n), m, m, 0, 0), prefix2 = same_as(&prefix1);
    on->plain->polar(n, m, theta.at, scale.at, w1.at, ld, sin1.at, cos1.at, prefix1.at);
    on->fast->polar(n, m, theta.at, scale.at, w2.at, ld, sin2.at, cos2.at, prefix2.at);
    for (size_t j = 0; j < m; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += get(&w1, i, j) * get(&w1, i, j);
        assert_false(differ(sqrt(square), get(&scale, 0, j), 2 * polar_error(on, n)));
        assert_false(differ(get(&w1, 0, j), get(&scale, 0, j) * cos(get(&theta, 0, j)), close_to(on)));
    }

    struct array dw = matrix(on->plain, n, m, ld, -1, 1);
    struct array dtheta1 = matrix(on->plain, n - 1, m, m, 9, 9), dtheta2 = same_as(&dtheta1);
    struct array radial1 = vector(on->plain, m, 9, 9), radial2 = same_as(&radial1);
    on->plain->polar_grad(n, m, sin1.at, cos1.at, prefix1.at, dw.at, ld, dtheta1.at, radial1.at);
    on->fast->polar_grad(n, m, sin1.at, cos1.at, prefix1.at, dw.at, ld, dtheta2.at, radial2.at);
    for (size_t j = 0; j < m; j++) {
        double dot = 0;
        for (size_t i = 0; i < n; i++)
            dot += get(&w1, i, j) * get(&dw, i, j) / get(&scale, 0, j);
        assert_false(differ(dot, get(&radial1, 0, j), sqrt((double)n) * polar_error(on, n)));
    }
    same("sine", &sin1, &sin2, 4 * on->eps);
    same("cosine", &cos1, &cos2, 4 * on->eps);
    same("prefix", &prefix1, &prefix2, polar_error(on, n));
    same("polar", &w1, &w2, polar_error(on, n));
    same("polar_grad", &dtheta1, &dtheta2, sqrt((double)n) * polar_error(on, n));
    same("radial", &radial1, &radial2, sqrt((double)n) * polar_error(on, n));
    drop(&theta), drop(&scale), drop(&dw);
}

static void polar_matches_twin_and_keeps_length(void **state)
{
    (void)state;
    static const size_t inputs[] = {2, 3, 17, 100, 4608}, units[] = {1, 7, 8, 9, 100};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
            for (size_t j = 0; j < sizeof units / sizeof *units; j++) {
                dice = 11 + 1000 * (i * 10 + j);
                compare_polar(&on, inputs[i], units[j]);
            }
    }
}

/* Central differences in f64: truncation h^2 and rounding 1e-16 / h meet near h = 1e-5, 1e-10 off. */
static const double step_size = 1e-5, slope_error = 1e-8;

static void polar_gradient_matches_differences_at_zero_sine(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    dice = 3;
    for (size_t n = 2; n <= 6; n++) {
        enum { M = 3 };
        struct array theta = random_angles(k, n, M), scale = vector(k, M, 0.5, 2),
                     dw = matrix(k, n, M, 8, -1, 1);
        struct array w = matrix(k, n, M, 8, 0, 0), sine = matrix(k, n - 1, M, M, 0, 0),
                     cosine = same_as(&sine);
        struct array dtheta = same_as(&sine), radial = vector(k, M, 0, 0), s = same_as(&sine),
                     c = same_as(&sine);
        struct array prefix = matrix(k, polar_chunks(n), M, M, 0, 0), spare = same_as(&prefix);
        set(&theta, 0, 0, 0);
        k->polar(n, M, theta.at, scale.at, w.at, 8, sine.at, cosine.at, prefix.at);
        k->polar_grad(n, M, sine.at, cosine.at, prefix.at, dw.at, 8, dtheta.at, radial.at);
        for (size_t a = 0; a + 1 < n; a++)
            for (size_t j = 0; j < M; j++) {
                double at = get(&theta, a, j), value[2] = {0, 0};
                for (int side = 0; side < 2; side++) {
                    set(&theta, a, j, side ? at + step_size : at - step_size);
                    k->polar(n, M, theta.at, scale.at, w.at, 8, s.at, c.at, spare.at);
                    for (size_t i = 0; i < n; i++)
                        value[side] += get(&w, i, j) * get(&dw, i, j);
                }
                set(&theta, a, j, at);
                assert_false(
                    differ((value[1] - value[0]) / (2 * step_size), get(&dtheta, a, j), slope_error));
            }
        drop(&theta), drop(&scale), drop(&dw), drop(&w), drop(&sine), drop(&cosine), drop(&dtheta),
            drop(&radial);
        drop(&s), drop(&c), drop(&prefix), drop(&spare);
    }
}

/* ---------------------------------------------------------------- activations */

static struct array srelu_shapes(const struct kernels *k, size_t m)
{
    struct array shape = matrix(k, SRELU_SHAPE, m, m, -1, 1);
    for (size_t j = 0; j < m; j++) {
        set(&shape, SRELU_T_RIGHT, j, draw(0.1, 0.8));
        set(&shape, SRELU_T_LEFT, j, draw(-0.8, -0.1));
    }
    return shape;
}

static void compare_activation(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    struct array z = matrix(on->plain, rows, m, kernel_pad(m) + extra, -2, 2),
                 dy = matrix(on->plain, rows, m, kernel_pad(m), -1, 1);
    struct array s = vector(on->plain, m, -1, 1), shape = srelu_shapes(on->plain, m);
    set(&z, rows / 2, m / 2, 0);
    set(&z, rows - 1, m - 1, get(&shape, rows % 2 ? SRELU_T_RIGHT : SRELU_T_LEFT, m - 1)); /* ties */
    for (int act = 0; act < SPH_ACT_COUNT; act++)
        for (int form = 0; form < 5;
             form++) { /* bare, scaled, with ds, scaled with db and ds, bare with db */
            int with_s = form >= 1 && form <= 3, with_ds = form == 2 || form == 3;
            int with_db = form >= 3 && act != SPH_ACT_SRELU;
            struct array db1 = vector(on->plain, m, -1, 1), db2 = same_as(&db1), db3 = same_as(&db1);
            struct array y1 = matrix(on->plain, rows, m, kernel_pad(m), 0, 0), y2 = same_as(&y1);
            struct array dz1 = same_as(&z), dz2 = same_as(&z), dz3 = same_as(&dy), dz4 = same_as(&z);
            struct array ds1 = vector(on->plain, m, -1, 1), ds2 = same_as(&ds1), ds3 = same_as(&ds1);
            struct array dshape1 = matrix(on->plain, SRELU_SHAPE, m, m, -1, 1), dshape2 = same_as(&dshape1),
                         dshape3 = same_as(&dshape1);
            struct act_args args = {.rows = rows,
                                    .m = m,
                                    .z = z.at,
                                    .ldz = z.ld,
                                    .y = y1.at,
                                    .ldy = y1.ld,
                                    .dy = dy.at,
                                    .lddy = dy.ld,
                                    .dz = dz1.at,
                                    .lddz = dz1.ld};
            args.s = with_s ? s.at : NULL;
            args.ds = with_ds ? ds1.at : NULL;
            args.db = with_db ? db1.at : NULL;
            if (act == SPH_ACT_SRELU) {
                args.shape = shape.at;
                args.dshape = dshape1.at;
            }
            struct act_args fast = args, onto_dy = args, onto_z = args;
            fast.y = y2.at, fast.dz = dz2.at, fast.ds = with_ds ? ds2.at : NULL;
            fast.db = with_db ? db2.at : NULL;
            fast.dshape = args.dshape ? dshape2.at : NULL;
            on->plain->act[act](&args);
            on->fast->act[act](&fast);
            on->plain->act_grad[act](&args);
            on->fast->act_grad[act](&fast);

            onto_dy.dy = onto_dy.dz = dz3.at, onto_dy.lddz = dz3.ld, onto_dy.ds = with_ds ? ds3.at : NULL;
            onto_dy.db = with_db ? db3.at : NULL;
            onto_dy.dshape = args.dshape ? dshape3.at : NULL;
            on->fast->act_grad[act](&onto_dy);
            onto_z.z = onto_z.dz = dz4.at, onto_z.ds = with_ds ? ds3.at : NULL;
            onto_z.db = with_db ? db3.at : NULL;
            onto_z.dshape = onto_dy.dshape;
            on->fast->act_grad[act](&onto_z);
            struct array copy1 = same_as(&dz2), copy2 = same_as(&dz2);
            same("act_grad onto dy", &copy1, &dz3, 0);
            same("act_grad onto z", &copy2, &dz4, 0);
            if (act != SPH_ACT_SRELU && !with_s) {
                struct array in_place = same_as(&z), copy3 = same_as(&y2);
                fast.z = fast.y = in_place.at, fast.ldy = in_place.ld;
                on->fast->act[act](&fast);
                same("act in place", &copy3, &in_place, 0);
            }
            same("act", &y1, &y2, close_to(on));
            same("act_grad", &dz1, &dz2, close_to(on));
            same("ds", &ds1, &ds2, sum_error(on, 2 * rows));
            same("db", &db1, &db2, sum_error(on, 2 * rows));
            drop(&db3);
            same("dshape", &dshape1, &dshape2, sum_error(on, 3 * rows));
            drop(&ds3), drop(&dshape3);
        }
    drop(&z), drop(&dy), drop(&s), drop(&shape);
}

/* dy as the product of a column and a row: the same as the product written out. */
static void compare_outer(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    struct array z = matrix(on->plain, rows, m, kernel_pad(m) + extra, -1, 1),
                 s = vector(on->plain, m, -1, 1);
    struct array left = matrix(on->plain, rows, 1, KERNEL_PAD, -1, 1),
                 right = matrix(on->plain, 1, m, kernel_pad(m), -1, 1);
    struct array dy = matrix(on->plain, rows, m, kernel_pad(m), 0, 0);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            set(&dy, i, j, get(&left, i, 0) * get(&right, 0, j));
    static const sph_act acts[] = {SPH_ACT_IDENTITY, SPH_ACT_RELU, SPH_ACT_LEAKY_RELU, SPH_ACT_ELU};
    for (int a = 0; a < 8; a++) {
        struct array dz1 = same_as(&z), dz2 = same_as(&z), dz3 = same_as(&z);
        struct array db1 = vector(on->plain, m, -1, 1), db2 = same_as(&db1), db3 = same_as(&db1);
        struct act_args args = {.rows = rows,
                                .m = m,
                                .z = z.at,
                                .ldz = z.ld,
                                .s = a & 4 ? s.at : NULL,
                                .dy = dy.at,
                                .lddy = dy.ld,
                                .dz = dz1.at,
                                .lddz = dz1.ld,
                                .db = db1.at};
        on->plain->act_grad[acts[a & 3]](&args);
        args.dy = NULL, args.left = left.at, args.ld_left = left.ld, args.right = right.at;
        args.dz = dz2.at, args.db = db2.at;
        on->plain->act_grad[acts[a & 3]](&args);
        args.dz = dz3.at, args.db = db3.at;
        on->fast->act_grad[acts[a & 3]](&args);
        struct array copy = same_as(&dz2), db_copy = same_as(&db2);
        same("outer, plain", &dz1, &dz2, close_to(on));
        same("outer, fast", &copy, &dz3, close_to(on));
        same("db of outer, plain", &db1, &db2, sum_error(on, 2 * rows));
        same("db of outer, fast", &db_copy, &db3, sum_error(on, 2 * rows));
    }
    drop(&z), drop(&s), drop(&left), drop(&right), drop(&dy);
}

static void outer_gradients_match_the_product_written_out(void **state)
{
    (void)state;
    on_all_shapes(compare_outer);
}

static void activations_match_twins_scaled_and_in_place(void **state)
{
    (void)state;
    on_all_shapes(compare_activation);
}

static double act_of_one(const struct kernels *k, int act, double z, double *slope)
{
    enum { T_RIGHT = 1, A_RIGHT = 3, T_LEFT = -1, A_LEFT = 5 };
    struct array in = matrix(k, 1, 1, 8, z, z), out = same_as(&in), one = matrix(k, 1, 1, 8, 1, 1),
                 dz = same_as(&in);
    struct array shape = matrix(k, 4, 1, 1, 0, 0), dshape = same_as(&shape);
    set(&in, 0, 0, z);
    set(&shape, SRELU_T_RIGHT, 0, T_RIGHT), set(&shape, SRELU_A_RIGHT, 0, A_RIGHT);
    set(&shape, SRELU_T_LEFT, 0, T_LEFT), set(&shape, SRELU_A_LEFT, 0, A_LEFT);
    struct act_args args = {.rows = 1,
                            .m = 1,
                            .z = in.at,
                            .ldz = 8,
                            .shape = shape.at,
                            .y = out.at,
                            .ldy = 8,
                            .dy = one.at,
                            .lddy = 8,
                            .dz = dz.at,
                            .lddz = 8,
                            .dshape = dshape.at};
    k->act[act](&args);
    k->act_grad[act](&args);
    double y = get(&out, 0, 0);
    *slope = get(&dz, 0, 0);
    drop(&in), drop(&out), drop(&one), drop(&dz), drop(&shape), drop(&dshape);
    return y;
}

static void activations_have_their_values_slopes_and_ties(void **state)
{
    (void)state;
    static const struct {
        int act;
        double z, y, slope;
    } rows[] = {
        {SPH_ACT_IDENTITY, -3, -3, 1},
        {SPH_ACT_RELU, 2, 2, 1},
        {SPH_ACT_RELU, -2, 0, 0},
        {SPH_ACT_RELU, 0, 0, 0},
        {SPH_ACT_RELU, INFINITY, INFINITY, 1},
        {SPH_ACT_LEAKY_RELU, 2, 2, 1},
        {SPH_ACT_LEAKY_RELU, -2, -0.02, 0.01},
        {SPH_ACT_LEAKY_RELU, 0, 0, 0.01},
        {SPH_ACT_ELU, 2, 2, 1},
        {SPH_ACT_ELU, 1000, 1000, 1},
        {SPH_ACT_ELU, 0, 0, 1},
        {SPH_ACT_ELU, -1, -0.63212055882855767, 0.36787944117144233},
        {SPH_ACT_ELU, -1000, -1, 0},
        {SPH_ACT_SRELU, 0.5, 0.5, 1},
        {SPH_ACT_SRELU, 2, 1 + 3 * 1, 3},
        {SPH_ACT_SRELU, -2, -1 - 5 * 1, 5},
        {SPH_ACT_SRELU, 1, 1, 3},
        {SPH_ACT_SRELU, -1, -1, 5},
    };
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (const struct kernels *k = on.plain; k; k = k == on.plain ? on.fast : NULL)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                double slope, y = act_of_one(k, rows[r].act, rows[r].z, &slope);
                if (!(y == rows[r].y) && differ(rows[r].y, y, 4 * on.eps))
                    fail_msg("%s: act %d of %g is %.17g, expected %.17g", k->name, rows[r].act, rows[r].z, y,
                             rows[r].y);
                if (differ(rows[r].slope, slope, 4 * on.eps))
                    fail_msg("%s: slope %d at %g is %.17g, expected %.17g", k->name, rows[r].act, rows[r].z,
                             slope, rows[r].slope);
            }
    }
}

static void elu_is_accurate_relative_to_its_size_near_zero(void **state)
{
    (void)state;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (double z = -1e-3; z < -1e-12; z /= 7) {
            double rounded = on.fast->dtype == SPH_F32 ? (double)(float)z : z, slope;
            double y = act_of_one(on.fast, SPH_ACT_ELU, z, &slope);
            assert_true(fabs(y / expm1(rounded) - 1) <= 2 * on.eps);
        }
    }
}

static void nan_stays_nan_through_activations_and_losses(void **state)
{
    (void)state;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (const struct kernels *k = on.plain; k; k = k == on.plain ? on.fast : NULL) {
            double slope;
            for (int act = 0; act < SPH_ACT_COUNT; act++)
                assert_true(isnan(act_of_one(k, act, NAN, &slope)));
            for (int loss = 0; loss < SPH_LOSS_COUNT; loss++)
                for (size_t width = 1; width < 20; width++)
                    for (size_t bad = 0; bad < width; bad++) {
                        struct array pred = matrix(k, 2, width, kernel_pad(width), -1, 1),
                                     t = matrix(k, 2, width, width, 0, 0);
                        set(&pred, 1, bad, NAN);
                        struct loss_args args = {.rows = 2,
                                                 .k = width,
                                                 .p = pred.at,
                                                 .ldp = pred.ld,
                                                 .t = t.at,
                                                 .ldt = width,
                                                 .weight = 1};
                        assert_true(isnan(k->loss[loss](&args)));
                        drop(&pred), drop(&t);
                    }
        }
    }
}

/* The sum of c * y as a function of one entry of an array; c is what the gradient kernels get as dy. */
static double act_sum(const struct kernels *k, int act, struct act_args *args, const struct array *y,
                      const struct array *c)
{
    double sum = 0;
    k->act[act](args);
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++)
            sum += get(y, i, j) * get(c, i, j);
    return sum;
}

static void activation_gradients_match_differences(void **state)
{
    (void)state;
    enum { ROWS = 5, M = 7, LD = 8 };
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    dice = 5;
    for (int act = 0; act < SPH_ACT_COUNT; act++) {
        struct array z = matrix(k, ROWS, M, LD, -2, 2), s = vector(k, M, -1, 1), shape = srelu_shapes(k, M);
        struct array y = matrix(k, ROWS, M, LD, 0, 0), dy = matrix(k, ROWS, M, LD, -1, 1), dz = same_as(&y);
        struct array ds = vector(k, M, 0, 0), dshape = matrix(k, SRELU_SHAPE, M, M, 0, 0);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < M; j++) { /* away from the kinks */
                double at = get(&z, i, j), left = get(&shape, SRELU_T_LEFT, j),
                       right = get(&shape, SRELU_T_RIGHT, j);
                if (fabs(at) < 1e-3 || fabs(at - left) < 1e-3 || fabs(at - right) < 1e-3)
                    set(&z, i, j, at + 0.01);
            }
        struct act_args args = {.rows = ROWS,
                                .m = M,
                                .z = z.at,
                                .ldz = LD,
                                .s = s.at,
                                .shape = shape.at,
                                .y = y.at,
                                .ldy = LD,
                                .dy = dy.at,
                                .lddy = LD,
                                .dz = dz.at,
                                .lddz = LD,
                                .ds = ds.at,
                                .dshape = dshape.at};
        k->act_grad[act](&args);
        struct {
            struct array *at, *grad;
        } learned[] = {{&z, &dz}, {&s, &ds}, {&shape, &dshape}};
        for (size_t which = 0; which < (act == SPH_ACT_SRELU ? 3 : 2); which++)
            for (size_t i = 0; i < learned[which].at->rows; i++)
                for (size_t j = 0; j < M; j++) {
                    double at = get(learned[which].at, i, j);
                    set(learned[which].at, i, j, at + step_size);
                    double up = act_sum(k, act, &args, &y, &dy);
                    set(learned[which].at, i, j, at - step_size);
                    double down = act_sum(k, act, &args, &y, &dy);
                    set(learned[which].at, i, j, at);
                    assert_false(
                        differ((up - down) / (2 * step_size), get(learned[which].grad, i, j), slope_error));
                }
        drop(&z), drop(&s), drop(&shape), drop(&y), drop(&dy), drop(&dz), drop(&ds), drop(&dshape);
    }
}

/* ---------------------------------------------------------------- normalizations */

static void compare_normalization(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    const struct kernels *plain = on->plain, *fast = on->fast;
    size_t ld = kernel_pad(m) + extra;
    struct array x = matrix(plain, rows, m, ld, 0, 1), dy = matrix(plain, rows, m, ld, -1, 1);
    struct array mean1 = vector(plain, m, NAN, NAN), mean2 = same_as(&mean1), m2_1 = same_as(&mean1),
                 m2_2 = same_as(&mean1);
    plain->moments(rows, m, x.at, ld, mean1.at, m2_1.at);
    fast->moments(rows, m, x.at, ld, mean2.at, m2_2.at);
    double middle = 0, spread = 0;
    for (size_t i = 0; i < rows; i++)
        middle += get(&x, i, m - 1) / (double)rows;
    for (size_t i = 0; i < rows; i++)
        spread += pow(get(&x, i, m - 1) - middle, 2);
    assert_false(differ(middle, get(&mean1, 0, m - 1), close_to(on)));
    assert_false(differ(spread, get(&m2_1, 0, m - 1), sum_error(on, rows)));
    same("mean", &mean1, &mean2, sum_error(on, rows) / (double)rows + close_to(on));
    same("m2", &m2_1, &m2_2, sum_error(on, rows));

    struct array a = vector(plain, m, 0.5, 1), b = vector(plain, m, 0.5, 1), c = vector(plain, m, -1, 1),
                 d = vector(plain, m, -1, 1);
    struct array y1 = matrix(plain, rows, m, ld, 0, 0), y2 = same_as(&y1), in_place = same_as(&x);
    plain->shift(rows, m, x.at, ld, c.at, y1.at, ld);
    fast->shift(rows, m, x.at, ld, c.at, y2.at, ld);
    fast->shift(rows, m, in_place.at, ld, c.at, in_place.at, ld);
    struct array copy = same_as(&y2);
    same("shift in place", &copy, &in_place, 0);
    same("shift", &y1, &y2, close_to(on));

    struct array z1 = same_as(&x), z2 = same_as(&x);
    y1 = matrix(plain, rows, m, ld, 0, 0), y2 = same_as(&y1);
    plain->normalize(rows, m, z1.at, ld, a.at, b.at, c.at, d.at, y1.at, ld);
    fast->normalize(rows, m, z2.at, ld, a.at, b.at, c.at, d.at, y2.at, ld);
    same("normalize, xhat", &z1, &z2, close_to(on));
    same("normalize, y", &y1, &y2, close_to(on));

    struct array sum1 = vector(plain, m, -1, 1), sum2 = same_as(&sum1), sumx1 = vector(plain, m, -1, 1),
                 sumx2 = same_as(&sumx1);
    plain->normalize_sums(rows, m, dy.at, ld, x.at, ld, sum1.at, sumx1.at);
    fast->normalize_sums(rows, m, dy.at, ld, x.at, ld, sum2.at, sumx2.at);
    same("sum_dy", &sum1, &sum2, sum_error(on, rows));
    same("sum_dyx", &sumx1, &sumx2, sum_error(on, rows));

    struct array dz1 = same_as(&x), dz2 = same_as(&x), onto_dy = same_as(&dy), onto_x = same_as(&x);
    plain->normalize_grad(rows, m, dy.at, ld, x.at, ld, a.at, b.at, c.at, dz1.at, ld);
    fast->normalize_grad(rows, m, dy.at, ld, x.at, ld, a.at, b.at, c.at, dz2.at, ld);
    fast->normalize_grad(rows, m, onto_dy.at, ld, x.at, ld, a.at, b.at, c.at, onto_dy.at, ld);
    fast->normalize_grad(rows, m, dy.at, ld, onto_x.at, ld, a.at, b.at, c.at, onto_x.at, ld);
    struct array copy1 = same_as(&dz2), copy2 = same_as(&dz2);
    same("normalize_grad onto dy", &copy1, &onto_dy, 0);
    same("normalize_grad onto xhat", &copy2, &onto_x, 0);
    same("normalize_grad", &dz1, &dz2, close_to(on));

    /* epsilon 0.1: with one or few columns the variance may be tiny and would magnify roundings without bound
     */
    struct array inv1 = vector(plain, rows, 0, 0), inv2 = same_as(&inv1);
    z1 = same_as(&x), z2 = same_as(&x), y1 = matrix(plain, rows, m, ld, 0, 0), y2 = same_as(&y1);
    plain->layer_norm(rows, m, z1.at, ld, 0.1, a.at, b.at, inv1.at, y1.at, ld);
    fast->layer_norm(rows, m, z2.at, ld, 0.1, a.at, b.at, inv2.at, y2.at, ld);
    same("layer_norm, xhat", &z1, &z2, sum_error(on, m));
    same("layer_norm, y", &y1, &y2, sum_error(on, m));

    struct array dg1 = vector(plain, m, -1, 1), dg2 = same_as(&dg1), db1 = vector(plain, m, -1, 1),
                 db2 = same_as(&db1), scratch = same_as(&db1), scratch2 = same_as(&db1);
    dz1 = same_as(&x), dz2 = same_as(&x), onto_dy = same_as(&dy), onto_x = same_as(&x);
    plain->layer_norm_grad(rows, m, dy.at, ld, x.at, ld, inv1.at, a.at, dg1.at, db1.at, dz1.at, ld);
    fast->layer_norm_grad(rows, m, dy.at, ld, x.at, ld, inv1.at, a.at, dg2.at, db2.at, dz2.at, ld);
    fast->layer_norm_grad(rows, m, onto_dy.at, ld, x.at, ld, inv1.at, a.at, scratch.at, scratch2.at,
                          onto_dy.at, ld);
    fast->layer_norm_grad(rows, m, dy.at, ld, onto_x.at, ld, inv1.at, a.at, scratch.at, scratch2.at,
                          onto_x.at, ld);
    copy1 = same_as(&dz2), copy2 = same_as(&dz2);
    same("layer_norm_grad onto dy", &copy1, &onto_dy, 0);
    same("layer_norm_grad onto xhat", &copy2, &onto_x, 0);
    same("layer_norm_grad", &dz1, &dz2, 4 * sum_error(on, m)); /* inv is up to 3.2 */
    same("dgamma", &dg1, &dg2, sum_error(on, rows));
    same("dbeta", &db1, &db2, sum_error(on, rows));
    same("inv", &inv1, &inv2, sum_error(on, m));
    drop(&x), drop(&dy), drop(&a), drop(&b), drop(&c), drop(&d), drop(&scratch), drop(&scratch2);
}

static void normalizations_match_twins_and_work_in_place(void **state)
{
    (void)state;
    on_all_shapes(compare_normalization);
}

enum { NORM_ROWS = 6, NORM_M = 5, NORM_LD = 8 };

/* sum of c * y for batch or layer normalization of x; keeps xhat, inv when asked to. */
static double norm_sum(const struct kernels *k, int layer, const struct array *x, const struct array *gamma,
                       const struct array *beta, const struct array *c, struct array *xhat, struct array *inv)
{
    struct array z = same_as(x), y = matrix(k, NORM_ROWS, NORM_M, NORM_LD, 0, 0),
                 mean = vector(k, NORM_M, 0, 0);
    struct array scale = vector(k, layer ? NORM_ROWS : NORM_M, 0, 0);
    const double epsilon = 1e-5;
    if (layer) {
        k->layer_norm(NORM_ROWS, NORM_M, z.at, NORM_LD, epsilon, gamma->at, beta->at, scale.at, y.at,
                      NORM_LD);
    } else {
        k->moments(NORM_ROWS, NORM_M, z.at, NORM_LD, mean.at, scale.at);
        for (size_t j = 0; j < NORM_M; j++)
            set(&scale, 0, j, 1 / sqrt(get(&scale, 0, j) / NORM_ROWS + epsilon));
        k->normalize(NORM_ROWS, NORM_M, z.at, NORM_LD, mean.at, scale.at, gamma->at, beta->at, y.at, NORM_LD);
    }
    double sum = 0;
    for (size_t i = 0; i < NORM_ROWS; i++)
        for (size_t j = 0; j < NORM_M; j++)
            sum += get(c, i, j) * get(&y, i, j);
    if (xhat) {
        memcpy(xhat->at, z.at, NORM_ROWS * NORM_LD * k->size);
        memcpy(inv->at, scale.at, scale.cols * k->size);
    }
    drop(&z), drop(&y), drop(&mean), drop(&scale);
    return sum;
}

static void normalization_gradients_match_differences(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    dice = 6;
    for (int layer = 0; layer < 2; layer++) {
        struct array x = matrix(k, NORM_ROWS, NORM_M, NORM_LD, -1, 1),
                     dy = matrix(k, NORM_ROWS, NORM_M, NORM_LD, -1, 1);
        struct array gamma = vector(k, NORM_M, 0.5, 2), beta = vector(k, NORM_M, -1, 1),
                     dgamma = vector(k, NORM_M, 0, 0);
        struct array dbeta = same_as(&dgamma), xhat = same_as(&x), dx = same_as(&x);
        struct array inv = vector(k, layer ? NORM_ROWS : NORM_M, 0, 0);
        norm_sum(k, layer, &x, &gamma, &beta, &dy, &xhat, &inv);
        if (layer) {
            k->layer_norm_grad(NORM_ROWS, NORM_M, dy.at, NORM_LD, xhat.at, NORM_LD, inv.at, gamma.at,
                               dgamma.at, dbeta.at, dx.at, NORM_LD);
        } else {
            struct array mean = vector(k, NORM_M, 0, 0), mean_x = same_as(&mean), factor = same_as(&mean);
            k->normalize_sums(NORM_ROWS, NORM_M, dy.at, NORM_LD, xhat.at, NORM_LD, dbeta.at, dgamma.at);
            for (size_t j = 0; j < NORM_M; j++) {
                set(&mean, 0, j, get(&dbeta, 0, j) / NORM_ROWS);
                set(&mean_x, 0, j, get(&dgamma, 0, j) / NORM_ROWS);
                set(&factor, 0, j, get(&gamma, 0, j) * get(&inv, 0, j));
            }
            k->normalize_grad(NORM_ROWS, NORM_M, dy.at, NORM_LD, xhat.at, NORM_LD, factor.at, mean.at,
                              mean_x.at, dx.at, NORM_LD);
            drop(&mean), drop(&mean_x), drop(&factor);
        }
        struct {
            struct array *at, *grad;
        } learned[] = {{&x, &dx}, {&gamma, &dgamma}, {&beta, &dbeta}};
        for (size_t which = 0; which < 3; which++)
            for (size_t i = 0; i < learned[which].at->rows; i++)
                for (size_t j = 0; j < NORM_M; j++) {
                    double at = get(learned[which].at, i, j);
                    set(learned[which].at, i, j, at + step_size);
                    double up = norm_sum(k, layer, &x, &gamma, &beta, &dy, NULL, NULL);
                    set(learned[which].at, i, j, at - step_size);
                    double down = norm_sum(k, layer, &x, &gamma, &beta, &dy, NULL, NULL);
                    set(learned[which].at, i, j, at);
                    assert_false(
                        differ((up - down) / (2 * step_size), get(learned[which].grad, i, j), slope_error));
                }
        drop(&x), drop(&dy), drop(&gamma), drop(&beta), drop(&dgamma), drop(&dbeta), drop(&xhat), drop(&dx),
            drop(&inv);
    }
}

/* ---------------------------------------------------------------- losses */

static struct array targets(const struct kernels *k, int loss, size_t rows, size_t width, size_t ld)
{
    struct array t = matrix(k, rows, loss == SPH_LOSS_CE ? 1 : width, ld, -1, 1);
    for (size_t i = 0; i < t.rows && loss >= SPH_LOSS_BCE; i++)
        for (size_t j = 0; j < t.cols; j++)
            set(&t, i, j, floor(draw(0, loss == SPH_LOSS_CE ? (double)width : 2)));
    return t;
}

static void compare_loss(const struct pair *on, size_t rows, size_t width, size_t extra)
{
    for (int loss = 0; loss < SPH_LOSS_COUNT; loss++)
        for (int form = 0; form < 3; form++) { /* padded, tight, without gradient */
            size_t ld = form == 1 ? width : kernel_pad(width) + extra;
            struct array p = matrix(on->plain, rows, width, ld, -3, 3);
            struct array t = targets(on->plain, loss, rows, width, form == 1 ? width : width + extra);
            struct array dp1 = matrix(on->plain, rows, width, ld, 0, 0), dp2 = same_as(&dp1);
            set(&p, 0, 0,
                loss == SPH_LOSS_CE ? 1 : get(&t, 0, 0)); /* an exact hit: mae's gradient is 0 there */
            struct loss_args args = {.rows = rows,
                                     .k = width,
                                     .p = p.at,
                                     .ldp = ld,
                                     .t = t.at,
                                     .ldt = t.ld,
                                     .weight = 1.0 / (double)rows,
                                     .smoothing = form ? 0.1 : 0,
                                     .dp = form < 2 ? dp1.at : NULL,
                                     .lddp = ld};
            if (loss < SPH_LOSS_BCE)
                args.smoothing = 0;
            double value = on->plain->loss[loss](&args);
            args.dp = form < 2 ? dp2.at : NULL;
            double other = on->fast->loss[loss](&args);
            /* the fast sums add 256 terms at most before f64, the plain one all terms in a row in f64 */
            double bound = 32 * on->eps + 0x1p-53 * (double)(rows * width);
            if (differ(value, other, bound * (1 + fabs(value))))
                fail_msg("loss %d, %s, %zu x %zu: %.17g, expected %.17g", loss, on->fast->name, rows, width,
                         other, value);
            same("dp", &dp1, &dp2, loss == SPH_LOSS_CE ? sum_error(on, 8) : close_to(on));
            drop(&p), drop(&t);
        }
}

static void losses_match_twins(void **state)
{
    (void)state;
    on_all_shapes(compare_loss);
}

/* The definitions, naive, in long double. */
static double naive_loss(int loss, const struct array *p, const struct array *t, double smoothing)
{
    long double sum = 0;
    size_t k = p->cols;
    for (size_t i = 0; i < p->rows; i++) {
        long double all = 0;
        for (size_t j = 0; j < k; j++)
            all += expl((long double)get(p, i, j));
        for (size_t j = 0; j < k; j++) {
            long double at = get(p, i, j), chance = 1 / (1 + expl(-at));
            long double want = loss == SPH_LOSS_CE ? (j == (size_t)get(t, i, 0)) : get(t, i, j);
            if (loss == SPH_LOSS_MAE)
                sum += fabsl(at - want);
            else if (loss == SPH_LOSS_MSE)
                sum += (at - want) * (at - want);
            else if (loss == SPH_LOSS_BCE) {
                want = (1 - smoothing) * want + smoothing / 2;
                sum -= want * logl(chance) + (1 - want) * logl(1 - chance);
            } else
                sum -= ((1 - smoothing) * want + smoothing / (double)k) * logl(expl(at) / all);
        }
    }
    return (double)sum;
}

static void losses_match_definitions_and_differences(void **state)
{
    (void)state;
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    dice = 8;
    for (int loss = 0; loss < SPH_LOSS_COUNT; loss++)
        for (int smooth = 0; smooth < (loss >= SPH_LOSS_BCE ? 2 : 1); smooth++) {
            enum { ROWS = 4, K = 5, LD = 8 };
            struct array p = matrix(k, ROWS, K, LD, -3, 3), t = targets(k, loss, ROWS, K, K),
                         dp = same_as(&p);
            struct loss_args args = {.rows = ROWS,
                                     .k = K,
                                     .p = p.at,
                                     .ldp = LD,
                                     .t = t.at,
                                     .ldt = K,
                                     .weight = 0.25,
                                     .smoothing = smooth * 0.2,
                                     .dp = dp.at,
                                     .lddp = LD};
            double value = k->loss[loss](&args);
            assert_false(differ(0.25 * naive_loss(loss, &p, &t, args.smoothing), value, 1e-14));
            args.dp = NULL;
            for (size_t i = 0; i < ROWS; i++)
                for (size_t j = 0; j < K; j++) {
                    double at = get(&p, i, j);
                    set(&p, i, j, at + step_size);
                    double up = k->loss[loss](&args);
                    set(&p, i, j, at - step_size);
                    double down = k->loss[loss](&args);
                    set(&p, i, j, at);
                    assert_false(differ((up - down) / (2 * step_size), get(&dp, i, j), slope_error));
                }
            drop(&p), drop(&t), drop(&dp);
        }
}

static void losses_stay_finite_for_huge_logits(void **state)
{
    (void)state;
    for (int n = 0; n < PAIRS; n++) {
        struct pair on = pair_of(n);
        for (const struct kernels *k = on.plain; k; k = k == on.plain ? on.fast : NULL)
            for (size_t width = 2; width < 20; width += 8) {
                struct array p = matrix(k, 1, width, kernel_pad(width), -1e4, -1e4),
                             t = matrix(k, 1, width, width, 0, 0), dp = same_as(&p);
                set(&p, 0, 1, 1e4);
                struct loss_args args = {.rows = 1,
                                         .k = width,
                                         .p = p.at,
                                         .ldp = p.ld,
                                         .t = t.at,
                                         .ldt = width,
                                         .weight = 1,
                                         .dp = dp.at,
                                         .lddp = dp.ld};
                assert_false(differ(1e4, k->loss[SPH_LOSS_BCE](&args), 1e-9));
                assert_true(get(&dp, 0, 0) == 0 && get(&dp, 0, 1) == 1);
                assert_false(differ(2e4, k->loss[SPH_LOSS_CE](&args), 1e-9));
                assert_true(get(&dp, 0, 0) == -1 && get(&dp, 0, 1) == 1);
                drop(&p), drop(&t), drop(&dp);
            }
    }
}

static void mae_gradient_is_zero_at_zero(void **state)
{
    (void)state;
    for (int n = 0; n < PAIRS; n++) {
        struct pair on = pair_of(n);
        struct array p = matrix(on.fast, 3, 1, 8, 0.25, 0.25), dp = same_as(&p);
        struct loss_args args = {
            .rows = 3, .k = 1, .p = p.at, .ldp = 8, .t = p.at, .ldt = 8, .weight = 1, .dp = dp.at, .lddp = 8};
        assert_true(on.plain->loss[SPH_LOSS_MAE](&args) == 0 && get(&dp, 2, 0) == 0);
        set(&dp, 2, 0, 1);
        assert_true(on.fast->loss[SPH_LOSS_MAE](&args) == 0 && get(&dp, 2, 0) == 0);
        drop(&p), drop(&dp);
    }
}

/* ---------------------------------------------------------------- updates */

/* One number, one step, as PyTorch's documentation writes it. slot: m and v, or v. */
static void textbook(int optimizer, const struct update_args *u, double *p, double g, double *slot)
{
    g *= u->grad_scale;
    if (u->decoupled)
        *p -= u->lr * u->decay * *p;
    else
        g += u->decay * *p;
    if (optimizer == SPH_OPTIMIZER_SGD) {
        slot[0] = u->momentum * slot[0] + g;
        *p -= u->lr * (u->nesterov ? g + u->momentum * slot[0] : slot[0]);
        return;
    }
    slot[0] = u->beta1 * slot[0] + (1 - u->beta1) * g;
    slot[1] = u->beta2 * slot[1] + (1 - u->beta2) * g * g;
    *p -= u->lr * (slot[0] / u->correct1) / (sqrt(slot[1] / u->correct2) + u->epsilon);
}

static void updates_match_textbook_for_some_steps(void **state)
{
    (void)state;
    enum { STEPS = 5 };
    for (int n = 0; n < PAIRS; n++)
        for (size_t count = 1; count < 60; count += 1 + count / 4)
            for (int optimizer = 0; optimizer < SPH_OPTIMIZER_COUNT; optimizer++)
                for (int form = 0; form < 8; form++) {
                    struct pair on = pair_of(n);
                    dice = 9 + 1000 * count;
                    struct array p1 = vector(on.plain, count, -1, 1), g = vector(on.plain, count, -1, 1),
                                 p2 = same_as(&p1), want = same_as(&p1);
                    struct array a1 = vector(on.plain, count, 0, 0), b1 = same_as(&a1), a2 = same_as(&a1),
                                 b2 = same_as(&a1);
                    int sgd = optimizer == SPH_OPTIMIZER_SGD, momentum = form & 4;
                    struct update_args u = {.count = count,
                                            .g = g.at,
                                            .lr = 0.01,
                                            .grad_scale = 0.5,
                                            .beta1 = 0.9,
                                            .beta2 = 0.999,
                                            .epsilon = 1e-8,
                                            .momentum = momentum ? 0.9 : 0,
                                            .nesterov = form & 1,
                                            .decay = form & 2 ? 0.1 : 0,
                                            .decoupled = optimizer == SPH_OPTIMIZER_ADAMW};
                    for (int step = 1; step <= STEPS; step++) {
                        u.correct1 = 1 - pow(u.beta1, step), u.correct2 = 1 - pow(u.beta2, step);
                        u.p = p1.at, u.slot[0] = sgd && !momentum ? NULL : a1.at,
                        u.slot[1] = sgd ? NULL : b1.at;
                        on.plain->update[optimizer](&u);
                        u.p = p2.at, u.slot[0] = u.slot[0] ? a2.at : NULL, u.slot[1] = sgd ? NULL : b2.at;
                        on.fast->update[optimizer](&u);
                    }
                    for (size_t i = 0; i < count; i++) {
                        double p = get(&want, 0, i), slot[2] = {0, 0};
                        for (int step = 1; step <= STEPS; step++) {
                            u.correct1 = 1 - pow(u.beta1, step), u.correct2 = 1 - pow(u.beta2, step);
                            textbook(optimizer, &u, &p, get(&g, 0, i), slot);
                        }
                        set(&want, 0, i, p);
                    }
                    struct array copy = same_as(&p1);
                    same("update, plain", &want, &copy, STEPS * close_to(&on));
                    same("update", &p1, &p2, STEPS * close_to(&on));
                    same("slot 0", &a1, &a2, STEPS * close_to(&on));
                    same("slot 1", &b1, &b2, STEPS * close_to(&on));
                    drop(&g);
                }
}

/* ---------------------------------------------------------------- numbers of a unit */

static void radius_and_length_match_their_formulas(void **state)
{
    (void)state;
    enum { M = 9 };
    for (int n = 0; n < PAIRS; n++)
        for (int fold = 0; fold < 2; fold++) {
            struct pair on = pair_of(n);
            const struct kernels *k = on.fast;
            dice = 10;
            struct array r = vector(k, M, -2, 2), lambda = vector(k, M, -1, 1), scale = vector(k, M, 9, 9),
                         b = same_as(&scale), s = same_as(&scale);
            struct array along = vector(k, M, -1, 1), db = vector(k, M, -1, 1), ds = vector(k, M, -1, 1),
                         dr = same_as(&scale), dl = same_as(&scale);
            set(&r, 0, 3, 0), set(&r, 0, 4, -1.5), set(&r, 0, 5, 1);
            assert_true(k->radius(M, fold, r.at, lambda.at, scale.at, b.at, s.at));
            k->radius_grad(M, fold, r.at, lambda.at, along.at, db.at, ds.at, dr.at, dl.at);
            for (size_t j = 0; j < M; j++) {
                double rj = get(&r, 0, j), lj = get(&lambda, 0, j), dbj = get(&db, 0, j);
                int folded = fold && rj != 0;
                assert_false(differ(get(&scale, 0, j), folded ? fabs(rj) : 1, 0));
                assert_false(differ(get(&s, 0, j) * get(&scale, 0, j), rj, 0));
                assert_false(differ(get(&b, 0, j), get(&scale, 0, j) * lj, close_to(&on)));
                double want = folded ? copysign(get(&along, 0, j) + lj * dbj, rj) : get(&ds, 0, j);
                if (folded)
                    want = (rj < 0 ? -1 : 1) * (get(&along, 0, j) + lj * dbj);
                assert_false(differ(get(&dr, 0, j), want, close_to(&on)));
                assert_false(differ(get(&dl, 0, j), get(&scale, 0, j) * dbj, close_to(&on)));
            }
            for (size_t j = 0; j < M; j++)
                set(&r, 0, j, fold ? 0.5 + (double)j : 1);
            assert_false(k->radius(M, fold, r.at, NULL, scale.at, NULL, s.at));

            struct array vv = vector(k, M, 0.5, 2), across = same_as(&scale), dg = same_as(&scale),
                         product = same_as(&scale);
            set(&vv, 0, 2, 0);
            k->length(M, lambda.at, vv.at, scale.at);
            k->length_grad(M, lambda.at, vv.at, along.at, dg.at, across.at);
            k->negative_product(M, lambda.at, along.at, product.at);
            for (size_t j = 0; j < M; j++) {
                double inverse = j == 2 ? 0 : 1 / sqrt(get(&vv, 0, j)), g = get(&lambda, 0, j),
                       v_dw = get(&along, 0, j);
                assert_false(differ(get(&scale, 0, j), g * inverse, close_to(&on)));
                assert_false(differ(get(&dg, 0, j), v_dw * inverse, close_to(&on)));
                assert_false(differ(get(&across, 0, j), -g * v_dw * pow(inverse, 3), close_to(&on)));
                assert_false(differ(get(&product, 0, j), -g * v_dw, close_to(&on)));
            }
            k->length(M, NULL, vv.at, scale.at);
            assert_false(differ(get(&scale, 0, 1), 1 / sqrt(get(&vv, 0, 1)), close_to(&on)));
            drop(&r), drop(&lambda), drop(&scale), drop(&b), drop(&s), drop(&along), drop(&db), drop(&ds),
                drop(&dr), drop(&dl);
            drop(&vv), drop(&across), drop(&dg), drop(&product);
        }
}

static void no_kernel_reads_beyond_an_array(void **state)
{
    (void)state;
    static compare_fn *const all[] = {compare_copies,     compare_transpose,     compare_columns,
                                      compare_activation, compare_normalization, compare_loss};
    static const size_t row_counts[] = {1, 2, 3, 9}, columns[] = {1, 2, 3, 7, 8, 9, 15, 17, 29, 100};
    fences = 1;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t r = 0; r < sizeof row_counts / sizeof *row_counts; r++)
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
                for (size_t f = 0; f < sizeof all / sizeof *all; f++)
                    all[f](&on, row_counts[r], columns[c], 0);
                for (int form = 0; form < 16; form++)
                    compare_gemm(&on, row_counts[r], columns[c], row_counts[3 - r], form & 1, form & 2,
                                 form >> 2);
                compare_dots(&on, row_counts[r], 1 + c % 3, columns[c], 1);
                compare_polar(&on, 1 + row_counts[r], columns[c]);
            }
    }
    fences = 0;
}

static void tables_say_what_they_are(void **state)
{
    (void)state;
    for (int n = 0; n < PAIRS; n++) {
        struct pair on = pair_of(n);
        assert_string_equal(on.plain->name, "plain");
        assert_string_not_equal(on.fast->name, "plain");
        assert_int_equal(on.fast->dtype, dtypes[n / 2]);
        assert_int_equal(on.fast->size, dtypes[n / 2] == SPH_F64 ? 8 : 4);
    }
    assert_string_equal(kernels_pick(SPH_F32, KERNELS_BASE)->name, "base");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_say_what_they_are),
        cmocka_unit_test(copies_keep_values_and_sums_add_up),
        cmocka_unit_test(all_finite_sees_one_bad_number_anywhere),
        cmocka_unit_test(transpose_matches_twin),
        cmocka_unit_test(gemm_matches_twin_and_sums),
        cmocka_unit_test(dots_match_twin),
        cmocka_unit_test(column_kernels_match_twins_unpadded_and_in_place),
        cmocka_unit_test(polar_matches_twin_and_keeps_length),
        cmocka_unit_test(polar_gradient_matches_differences_at_zero_sine),
        cmocka_unit_test(activations_match_twins_scaled_and_in_place),
        cmocka_unit_test(outer_gradients_match_the_product_written_out),
        cmocka_unit_test(activations_have_their_values_slopes_and_ties),
        cmocka_unit_test(elu_is_accurate_relative_to_its_size_near_zero),
        cmocka_unit_test(nan_stays_nan_through_activations_and_losses),
        cmocka_unit_test(activation_gradients_match_differences),
        cmocka_unit_test(normalizations_match_twins_and_work_in_place),
        cmocka_unit_test(normalization_gradients_match_differences),
        cmocka_unit_test(losses_match_twins),
        cmocka_unit_test(losses_match_definitions_and_differences),
        cmocka_unit_test(losses_stay_finite_for_huge_logits),
        cmocka_unit_test(mae_gradient_is_zero_at_zero),
        cmocka_unit_test(updates_match_textbook_for_some_steps),
        cmocka_unit_test(radius_and_length_match_their_formulas),
        cmocka_unit_test(no_kernel_reads_beyond_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
