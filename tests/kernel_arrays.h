/* SPDX-License-Identifier: MIT
 *
 * What the tests of the kernel tables share. Matrices carry NaN in their padding, which must never reach a
 * real column, and every array lies between guard zones, which must survive. Include it first: it brings
 * cmocka. */
#ifndef SPH_TESTS_KERNEL_ARRAYS_H
#define SPH_TESTS_KERNEL_ARRAYS_H

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
#include "layer.h"

/* ---------------------------------------------------------------- arrays between guards */

enum { GUARD_BYTES = 256, GUARD = 0xA5 };

/* With fences on, an array ends where a page ends that nobody may read: a kernel that only reads too far, and
 * drops what it read, dies there. */
static __attribute__((unused)) int fences;

struct array {
    const struct kernels *k;
    unsigned char *block;
    void *at;
    size_t rows, cols, ld;
    size_t mapped; /* bytes, with fences */
};

/* splitmix64: most of the time goes into filling arrays. */
static __attribute__((unused)) uint64_t dice;

static __attribute__((unused)) double draw(double low, double high)
{
    uint64_t x = dice += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return low + (high - low) * (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static __attribute__((unused)) double get(const struct array *a, size_t i, size_t j)
{
    size_t index = i * a->ld + j;
    return a->k->dtype == SPH_F64 ? ((const double *)a->at)[index] : (double)((const float *)a->at)[index];
}

static __attribute__((unused)) void set(struct array *a, size_t i, size_t j, double value)
{
    size_t index = i * a->ld + j;
    if (a->k->dtype == SPH_F64)
        ((double *)a->at)[index] = value;
    else
        ((float *)a->at)[index] = (float)value;
}

static __attribute__((unused)) struct array reserve(const struct kernels *k, size_t rows, size_t cols,
                                                    size_t ld)
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
static __attribute__((unused)) struct array matrix(const struct kernels *k, size_t rows, size_t cols,
                                                   size_t ld, double low, double high)
{
    struct array a = reserve(k, rows, cols, ld);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < ld; j++)
            set(&a, i, j, j < cols ? draw(low, high) : (double)NAN);
    return a;
}

static __attribute__((unused)) struct array vector(const struct kernels *k, size_t count, double low,
                                                   double high)
{
    return matrix(k, 1, count, count, low, high);
}

static __attribute__((unused)) struct array same_as(const struct array *a)
{
    struct array copy = reserve(a->k, a->rows, a->cols, a->ld);
    memcpy(copy.at, a->at, a->rows * a->ld * a->k->size);
    return copy;
}

static __attribute__((unused)) void drop(struct array *a)
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

static __attribute__((unused)) int differ(double a, double b, double bound)
{
    return !(fabs(a - b) <= bound) && !(isnan(a) && isnan(b));
}

/* Real columns agree to error * (1 + size); then both are freed. */
static __attribute__((unused)) void same(const char *what, struct array *want, struct array *have,
                                         double error)
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

static __attribute__((unused)) const sph_dtype dtypes[] = {SPH_F32, SPH_F64};
enum { PAIRS = 5 };

/* The tables there are, each by the first choice that gives it; AVX-512 has one of f32 alone. */
static __attribute__((unused)) struct pair pair_of(int number)
{
    static const struct {
        sph_dtype dtype;
        enum kernel_choice choice;
    } tables[PAIRS] = {{SPH_F32, KERNELS_FASTEST},
                       {SPH_F32, KERNELS_AVX2},
                       {SPH_F32, KERNELS_BASE},
                       {SPH_F64, KERNELS_FASTEST},
                       {SPH_F64, KERNELS_BASE}};
    sph_dtype dtype = tables[number].dtype;
    return (struct pair){kernels_pick(dtype, KERNELS_PLAIN), kernels_pick(dtype, tables[number].choice),
                         dtype == SPH_F64 ? 0x1p-52 : 0x1p-23};
}

static __attribute__((unused)) void on_all_shapes(compare_fn *compare)
{
    static const size_t row_counts[] = {1, 2, 47, 404}, columns[] = {1, 7, 8, 9, 16, 17, 29, 100, 513};
    size_t turn = 0, step = quick_step(17); /* shares no factor with the counts of rows, columns and extras */
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t r = 0; r < sizeof row_counts / sizeof *row_counts; r++)
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
                for (size_t extra = 0; extra <= KERNEL_PAD; extra += KERNEL_PAD) {
                    if (turn++ % step)
                        continue;
                    dice = 7 + 1000 * (r * 100 + c);
                    compare(&on, row_counts[r], columns[c], extra);
                }
    }
}

/* Elementwise kernels differ from their twins by fused multiply-adds and by functions good to 1 ulp. */
static __attribute__((unused)) double close_to(const struct pair *on)
{
    return 8 * on->eps;
}
/* Sums of count terms of size up to 1 differ by at most count roundings of partial sums, which grow to count;
 * in fact by their square root. */
static __attribute__((unused)) double sum_error(const struct pair *on, size_t count)
{
    return on->eps * (8 + 4 * (double)count);
}

/* Central differences in f64: truncation h^2 and rounding 1e-16 / h meet near h = 1e-5, 1e-10 off. */
static __attribute__((unused)) const double step_size = 1e-5, slope_error = 1e-8;

#endif
