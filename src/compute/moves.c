/* SPDX-License-Identifier: MIT
 *
 * How far boundaries move in a step, and three numbers that say it of a whole layer. A unit's hyperplane is
 * its unit normal u and its offset d: u x + d = 0, phi = -d u. */
#include "compute/real.h"
#include "compute/simd.h"

/* ---------------------------------------------------------------- the plain twins */

/* The factor and the bias that fold everything before the activation into w: factor (w x) + bias. */
static inline void plain_fold(const struct moves_args *a, size_t j, double *factor, double *bias)
{
    const real *w = a->w, *b = a->b, *mean = a->mean, *var = a->var, *gamma = a->gamma, *beta = a->beta,
               *centre = a->input_mean, *threshold = a->threshold;
    *factor = 1;
    *bias = (b ? (double)b[j] : 0) - (mean ? (double)mean[j] : 0);
    for (size_t i = 0; centre && i < a->n; i++)
        *bias -= (double)w[i * a->ldw + j] * (double)centre[(j / (a->m / a->groups) * a->n + i) / a->area];
    if (var) {
        *factor = (double)gamma[j] / sqrt((double)var[j] + a->epsilon);
        *bias = *factor * *bias + (double)beta[j];
    }
    if (threshold)
        *bias -= (double)threshold[j];
}

KERNEL void plain_moves(const struct moves_args *a)
{
    const real *w = a->w;
    real *u = a->u, *offset = a->offset, *moved = a->moved, *turned = a->turned;
    for (size_t j = 0; j < kernel_pad(a->m); j++)
        moved[j] = turned[j] = -1;
    for (size_t j = 0; j < a->m; j++) {
        double factor, bias, length = 0, apart = 0, together = 0, move = 0, before = (double)offset[j];
        plain_fold(a, j, &factor, &bias);
        for (size_t i = 0; i < a->n; i++)
            length = hypot(length, factor * (double)w[i * a->ldw + j]);
        double d = (double)(real)(length > 0 ? bias / length : (double)NAN);
        for (size_t i = 0; i < a->n; i++) {
            double now = length > 0 ? factor * (double)w[i * a->ldw + j] / length : (double)NAN;
            double old = (double)u[i * a->ldu + j];
            now = (double)(real)now; /* as it is kept: a unit that stays does not move */
            apart += (now - old) * (now - old);
            together += (now + old) * (now + old);
            move += (d * now - before * old) * (d * now - before * old);
            u[i * a->ldu + j] = (real)now;
        }
        offset[j] = (real)d;
        if (!isnan(move))
            moved[j] = (real)move;
        if (!isnan(apart))
            turned[j] = (real)(apart / together);
    }
}

/* The value that `below` others, none of them larger, stand before in order. */
static inline real plain_ordered(size_t count, const real *x, size_t below)
{
    for (size_t i = 0; i < count; i++) {
        size_t less = 0, equal = 0;
        for (size_t j = 0; j < count; j++) {
            less += x[j] < x[i];
            equal += x[j] == x[i];
        }
        if (less <= below && below < less + equal)
            return x[i];
    }
    return (real)NAN;
}

static inline struct spread plain_spread_of(size_t m, const real *x)
{
    struct spread out = {0, (double)NAN, {{(double)NAN, (double)NAN}, {(double)NAN, (double)NAN}}};
    for (size_t j = 0; j < m; j++)
        out.count += x[j] >= 0;
    for (int i = 0; out.count && i < SPREAD_SHARES; i++) {
        size_t below = spread_below(i, out.count), next = below + 1 < out.count ? below + 1 : below;
        out.around[i][0] = (double)plain_ordered(m, x, m - out.count + below);
        out.around[i][1] = (double)plain_ordered(m, x, m - out.count + next);
    }
    if (out.count)
        out.most = (double)plain_ordered(m, x, m - 1);
    return out;
}

KERNEL void plain_spread(size_t m, const void *values, size_t ld, struct spread out[2])
{
    for (int i = 0; i < 2; i++)
        out[i] = plain_spread_of(m, (const real *)values + (size_t)i * ld);
}

KERNEL void plain_largest(size_t m, const void *values, size_t ld, double out[2])
{
    for (size_t i = 0; i < 2; i++) {
        const real *x = (const real *)values + i * ld;
        out[i] = -1;
        for (size_t j = 0; j < m; j++)
            out[i] = (double)x[j] > out[i] ? (double)x[j] : out[i];
    }
}

/* ---------------------------------------------------------------- the fast ones */

#ifdef KERNELS_FAST
/* Sums of squares in between these were made without overflow, and with nothing lost by underflow. */
#if REAL_BITS == 64
static const real squares_least = 0x1p-960, squares_most = 0x1p960;
#else
static const real squares_least = 0x1p-100f, squares_most = 0x1p100f;
#endif

KERNEL_INLINE vec vec_sqrt(vec v)
{
#if VEC_BYTES == 32 && REAL_BITS == 64
    return (vec)_mm256_sqrt_pd((__m256d)v);
#elif VEC_BYTES == 32
    return (vec)_mm256_sqrt_ps((__m256)v);
#else
    for (int i = 0; i < LANES; i++)
        v[i] = real_sqrt(v[i]);
    return v;
#endif
}

KERNEL_INLINE int mask_any(vec_mask mask)
{
    int any = 0;
#if VEC_BYTES == 32
    any = !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    for (int i = 0; i < LANES; i++)
        any |= mask[i] != 0;
#endif
    return any;
}

/* Lengths of columns whose squares leave the range: those of the columns divided by their largest number. */
static __attribute__((noinline)) vec lengths_carefully(size_t n, const real *w, size_t ldw)
{
    vec most = vec_all(0), sum = vec_all(0);
    for (size_t i = 0; i < n; i++) {
        vec size = vec_abs(vec_load(w + i * ldw));
        most = vec_select(size > most, size, most);
    }
    vec divisor = vec_select(most > 0, most, vec_all(1));
    for (size_t i = 0; i < n; i++) {
        vec share = vec_load(w + i * ldw) / divisor;
        sum += share * share;
    }
    return most * vec_sqrt(sum);
}

/* Lanes of columns that are there. */
KERNEL_INLINE vec_mask columns_mask(size_t j, size_t m)
{
    return j + LANES <= m ? (vec_mask)(vec_all(0) == 0) : vec_lanes(m - j);
}

/* The means that number i of units j ... takes off: one for all of them, or one for each group. */
KERNEL_INLINE void moves_means(const struct moves_args *a, size_t i, size_t j, vec *means, int vecs)
{
    const real *centre = (const real *)a->input_mean + i / a->area;
    size_t per_group = a->m / a->groups;
    for (int v = 0; v < vecs; v++) {
        means[v] = vec_all(*centre);
        for (size_t lane = 0; a->groups > 1 && lane < LANES; lane++) {
            size_t unit = smaller(j + (size_t)v * LANES + lane, a->m - 1);
            means[v][lane] = centre[unit / per_group * (a->n / a->area)];
        }
    }
}

/* squares <- w . w and, with input means, shift <- w . mean of `vecs` vectors of units from j on. */
KERNEL_INLINE void moves_lengths(const struct moves_args *a, size_t j, int centred, vec *squares, vec *shift,
                                 int vecs)
{
    const real *w = (const real *)a->w + j;
    vec sum[4], dot[4], means[4];
    for (int v = 0; v < vecs; v++)
        sum[v] = dot[v] = vec_all(0);
    for (size_t i = 0, left = 0; i < a->n; i++, left--, w += a->ldw) {
        if (centred && left == 0) {
            left = a->area;
            moves_means(a, i, j, means, vecs);
        }
        for (int v = 0; v < vecs; v++) {
            vec here = vec_load(w + v * LANES);
            sum[v] = vec_fused(here, here, sum[v]);
            if (centred)
                dot[v] = vec_fused(here, means[v], dot[v]);
        }
    }
    for (int v = 0; v < vecs; v++) {
        squares[v] = sum[v];
        shift[v] = dot[v];
    }
}

/* The new hyperplanes of one vector of units: u = w * scale = w / length. Returns the units for which it has
 * to be the second: those whose length has no inverse to speak of, and those of one input, whose u is 1 or -1
 * only then. It is up to the unit alone, so that no neighbour's fate changes a rounding of it. */
KERNEL_INLINE vec_mask moves_planes(const struct moves_args *a, size_t j, vec squares, vec shift, vec *offset,
                                    vec *scale, vec *length)
{
    vec_mask units = columns_mask(j, a->m);
    vec_mask fine = (vec_mask)(squares > squares_least) & (vec_mask)(squares < squares_most);
    vec size = vec_sqrt(squares), sign = vec_all(1), nowhere = vec_all((real)NAN);
    vec_mask divide = a->n == 1 ? units : units & ~fine;
    if (__builtin_expect(mask_any(units & ~fine), 0))
        size = vec_select(fine, size, lengths_carefully(a->n, (const real *)a->w + j, a->ldw));
    vec bias = (a->b ? columns_load(a->b, j, a->m) : vec_all(0)) - shift;
    vec level = a->beta ? columns_load(a->beta, j, a->m) : vec_all(0);
    vec_mask defined = (vec_mask)(size > 0);
    if (a->mean)
        bias -= columns_load(a->mean, j, a->m);
    if (a->threshold)
        level -= columns_load(a->threshold, j, a->m);
    if (a->var) { /* (factor bias + level) / |factor| */
        vec gamma = columns_load(a->gamma, j, a->m);
        vec sigma = vec_sqrt(columns_load(a->var, j, a->m) + (real)a->epsilon);
        sign = vec_select((vec_mask)(gamma < 0), vec_all(-1), vec_all(1));
        level = level * sigma / vec_abs(gamma);
        bias *= sign;
        defined &= (vec_mask)(gamma != 0);
    }
    vec inverse = 1 / size;
    vec distance = (bias + level) * inverse;
    if (mask_any(divide))
        distance = vec_select(divide, (bias + level) / size, distance);
    *offset = vec_select(defined, distance, nowhere);
    *scale = vec_select(defined, sign * inverse, nowhere);
    *length = vec_select(defined, sign * size, nowhere);
    return divide & defined;
}

/* u <- w * scale or, where divide says so, w / length; how far apart the new ones lie from the old ones and
 * from their opposites. */
KERNEL_INLINE void moves_turn(size_t n, const real *w, size_t ldw, real *u, size_t ldu, const vec *scale,
                              const vec *length, const vec_mask *divide, vec *apart, vec *together, int vecs)
{
    vec minus[4], plus[4], factor[4];
    for (int v = 0; v < vecs; v++) {
        minus[v] = plus[v] = vec_all(0);
        factor[v] = scale[v];
    }
    for (size_t i = 0; i < n; i++, w += ldw, u += ldu)
        for (int v = 0; v < vecs; v++) {
            vec old = vec_load(u + v * LANES), weight = vec_load(w + v * LANES);
            vec now = weight * factor[v];
            if (divide)
                now = vec_select(divide[v], weight / length[v], now);
            vec difference = now - old, sum = now + old;
            minus[v] = vec_fused(difference, difference, minus[v]);
            plus[v] = vec_fused(sum, sum, plus[v]);
            vec_store(u + v * LANES, now);
        }
    for (int v = 0; v < vecs; v++) {
        apart[v] = minus[v];
        together[v] = plus[v];
    }
}

/* Units j .. j + vecs * LANES - 1. */
KERNEL_INLINE void moves_stripe(const struct moves_args *a, size_t j, int vecs)
{
    const real *w = (const real *)a->w + j;
    real *u = (real *)a->u + j;
    vec squares[4], shift[4], offset[4], scale[4], length[4], apart[4], together[4];
    vec_mask divide[4], any = (vec_mask)vec_all(0);
    if (a->input_mean)
        moves_lengths(a, j, 1, squares, shift, vecs);
    else
        moves_lengths(a, j, 0, squares, shift, vecs);
    for (int v = 0; v < vecs; v++) {
        divide[v] =
            moves_planes(a, j + (size_t)v * LANES, squares[v], shift[v], &offset[v], &scale[v], &length[v]);
        any |= divide[v];
    }
    if (__builtin_expect(mask_any(any), 0))
        moves_turn(a->n, w, a->ldw, u, a->ldu, scale, length, divide, apart, together, vecs);
    else
        moves_turn(a->n, w, a->ldw, u, a->ldu, scale, NULL, NULL, apart, together, vecs);
    /* |d u - d' u'|^2 of unit vectors is (|d| - |d'|)^2 + |d| |u -+ u'|^2 |d'|, the sign as that of d d':
     * nothing that could cancel, and nothing too large unless it is. */
    for (int v = 0; v < vecs; v++) {
        size_t at = j + (size_t)v * LANES;
        vec old = columns_load(a->offset, at, a->m);
        vec near = vec_abs(offset[v]), before = vec_abs(old), gap = near - before;
        vec direction = vec_select((vec_mask)(offset[v] * old < 0), together[v], apart[v]);
        vec move = vec_fused(gap, gap, near * direction * before), turn = apart[v] / together[v];
        vec_mask units = columns_mask(at, a->m);
        columns_store(a->offset, at, a->m, offset[v]);
        vec_store((real *)a->moved + at, vec_select(units & (vec_mask)(move >= 0), move, vec_all(-1)));
        vec_store((real *)a->turned + at, vec_select(units & (vec_mask)(turn >= 0), turn, vec_all(-1)));
    }
}

KERNEL void fast_moves(const struct moves_args *a)
{
    for (size_t j = 0; j < a->m;) {
        int vecs = columns_at_once(j, a->m);
        if (vecs == 4)
            moves_stripe(a, j, 4);
        else if (vecs == 2)
            moves_stripe(a, j, 2);
        else
            moves_stripe(a, j, 1);
        j += (size_t)vecs * LANES;
    }
    for (size_t j = columns_padded(a->m); j < kernel_pad(a->m); j++)
        ((real *)a->moved)[j] = ((real *)a->turned)[j] = -1;
}

/* ---- order statistics: thresholds are guessed until the right number of values lies below one. Four
 * searches go on side by side, a guess of each in turn: none depends on another, and each spends its time
 * waiting. */

typedef union {
    real value;
#if REAL_BITS == 64
    uint64_t order;
#else
    uint32_t order;
#endif
} ordered; /* numbers from 0 on are in the order of their bits */

struct search {
    const real *x;      /* (padded) */
    size_t wanted;      /* values below the threshold that is looked for */
    ordered low, high;  /* the wanted-th value is from low to high   */
    size_t below, upto; /* values below low, values up to high       */
    ordered threshold;
    int open, found;
};

KERNEL_INLINE size_t mask_count(vec_mask where)
{
#if VEC_BYTES == 32 && REAL_BITS == 64
    return (size_t)__builtin_popcount((unsigned)_mm256_movemask_pd((__m256d)where));
#elif VEC_BYTES == 32
    return (size_t)__builtin_popcount((unsigned)_mm256_movemask_ps((__m256)where));
#else
    size_t count = 0;
    for (int i = 0; i < LANES; i++)
        count += where[i] != 0;
    return count;
#endif
}

KERNEL_INLINE size_t count_below(size_t padded, const real *x, real threshold)
{
    vec t = vec_all(threshold);
    size_t count = 0;
#pragma GCC unroll 4
    for (size_t j = 0; j < padded; j += LANES)
        count += mask_count((vec_mask)(vec_load(x + j) < t));
    return count;
}

KERNEL_INLINE vec vec_least(vec a, vec b)
{
    return vec_select((vec_mask)(a < b), a, b);
}

KERNEL_INLINE vec vec_most(vec a, vec b)
{
    return vec_select((vec_mask)(a > b), a, b);
}

KERNEL_INLINE real lanes_least(vec v)
{
    real least = v[0];
    for (int i = 1; i < LANES; i++)
        least = v[i] < least ? v[i] : least;
    return least;
}

KERNEL_INLINE real lanes_most(vec v)
{
    real most = v[0];
    for (int i = 1; i < LANES; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

/* The largest value below the threshold, and the least from it on; inf where there is none. */
KERNEL_INLINE void neighbours(size_t padded, const real *x, real threshold, real *below, real *from)
{
    vec t = vec_all(threshold), most = vec_all(-1), least = vec_all((real)INFINITY);
    for (size_t j = 0; j < padded; j += LANES) {
        vec here = vec_load(x + j);
        vec_mask less = (vec_mask)(here < t);
        most = vec_most(vec_select(less, here, vec_all(-1)), most);
        least = vec_least(vec_select(less, vec_all((real)INFINITY), here), least);
    }
    *below = lanes_most(most);
    *from = lanes_least(least);
}

KERNEL void fast_largest(size_t m, const void *values, size_t ld, double out[2])
{
    for (size_t i = 0; i < 2; i++) {
        const real *x = (const real *)values + i * ld;
        vec most = vec_all(-1);
        for (size_t j = 0; j < columns_padded(m); j += LANES)
            most = vec_most(vec_load(x + j), most);
        out[i] = (double)lanes_most(most);
    }
}

/* A threshold above low, at most high. Moves are spread over orders of magnitude as often as not: the first
 * guess goes by the logarithm (the bits), the next by the value, and every fourth halves what is left, so
 * that none can creep. */
KERNEL_INLINE ordered next_guess(const struct search *s, int round)
{
    double share = (double)(int64_t)(s->wanted - s->below) / (double)(int64_t)(s->upto - s->below);
    ordered guess = s->low;
    if (round % 4 == 0)
        share = 0.5;
    if (round % 2)
        guess.value = (real)((double)s->low.value + share * ((double)s->high.value - (double)s->low.value));
    else
        guess.order +=
            (__typeof__(guess.order))(int64_t)(share * (double)(int64_t)(s->high.order - s->low.order));
    guess.order = guess.order > s->low.order ? guess.order : s->low.order + 1;
    guess.order = guess.order < s->high.order ? guess.order : s->high.order; /* inf or NaN: likewise */
    return guess;
}

KERNEL_INLINE void search_step(struct search *s, size_t padded, int round)
{
    ordered t = next_guess(s, round), before = t;
    before.order--;
    size_t count = count_below(padded, s->x, t.value);
    int less = count < s->wanted; /* which is anybody's guess: no branches */
    s->found = count == s->wanted;
    s->threshold = t;
    s->low.order = less ? t.order : s->low.order;
    s->below = less ? count : s->below;
    s->high.order = less ? s->high.order : before.order;
    s->upto = less ? s->upto : count;
}

/* Equal values are noticed once the bracket closes on values that are there. */
static __attribute__((noinline)) void search_close(struct search *s, size_t padded)
{
    real none;
    ordered above = s->high;
    neighbours(padded, s->x, s->low.value, &none, &s->low.value);
    if (s->high.value < (real)INFINITY) {
        above.order++;
        neighbours(padded, s->x, above.value, &s->high.value, &none);
    }
}

/* What there is to search: the searches for the shares of one array, and what is found on the way. */
KERNEL_INLINE void spread_begin(size_t padded, const real *x, struct search *search, struct spread *out)
{
    vec most = vec_all(-1), least = vec_all((real)INFINITY);
    size_t left_out = 0;
    for (size_t j = 0; j < padded; j += LANES) {
        vec here = vec_load(x + j);
        vec_mask negative = (vec_mask)(here < 0);
        left_out += mask_count(negative);
        most = vec_most(here, most);
        least = vec_least(vec_select(negative, vec_all((real)INFINITY), here), least);
    }
    ordered low = {.value = lanes_least(least)}, high = {.value = lanes_most(most)};
    out->count = padded - left_out;
    out->most = out->count ? (double)high.value : (double)NAN;
    for (int i = 0; i < SPREAD_SHARES; i++) {
        size_t rank = out->count ? left_out + spread_below(i, out->count) : 0;
        search[i] = (struct search){.x = x,
                                    .wanted = rank + 1,
                                    .low = low,
                                    .high = high,
                                    .below = left_out,
                                    .upto = padded,
                                    .open = out->count && low.order < high.order};
    }
}

KERNEL void fast_spread(size_t m, const void *values, size_t ld, struct spread out[2])
{
    enum { SEARCHES = 2 * SPREAD_SHARES };
    struct search search[SEARCHES];
    size_t padded = columns_padded(m);
    for (int i = 0; i < 2; i++)
        spread_begin(padded, (const real *)values + (size_t)i * ld, search + i * SPREAD_SHARES, &out[i]);
    for (int round = 2, open = 1; open; round++) {
        open = 0;
        for (int i = 0; i < SEARCHES; i++) {
            struct search *s = &search[i];
            if (!s->open)
                continue;
            search_step(s, padded, round);
            if (round % 4 == 0 && !s->found)
                search_close(s, padded);
            s->open = !s->found && s->low.order < s->high.order;
            open |= s->open;
        }
    }
    for (int i = 0; i < SEARCHES; i++) {
        real first = search[i].low.value, second = first;
        double *around = out[i / SPREAD_SHARES].around[i % SPREAD_SHARES];
        if (search[i].found)
            neighbours(padded, search[i].x, search[i].threshold.value, &first, &second);
        around[0] = out[i / SPREAD_SHARES].count ? (double)first : (double)NAN;
        around[1] = out[i / SPREAD_SHARES].count ? (double)second : (double)NAN;
    }
}
#endif
