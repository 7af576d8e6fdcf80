/* SPDX-License-Identifier: MIT
 *
 * How far hyperplanes move: the fast kernel against its twin, both against the definition, and order
 * statistics against a sort. */
#include "kernel_compare.h"

/* ---------------------------------------------------------------- moves */

enum {
    NO_NORM,
    BATCH_NORM,
    BATCH_MEAN,
    INPUT_MEAN,
    GROUP_MEANS,
    THRESHOLD,
    BATCH_NORM_THRESHOLD,
    NO_BIAS,
    FORMS
};

struct layer {
    struct array w, b, mean, var, gamma, beta, threshold, centre, u, offset, moved, turned;
    struct moves_args args;
};

static struct layer layer_of(const struct kernels *k, int form, size_t n, size_t m, size_t extra, size_t area)
{
    size_t ld = kernel_pad(m) + extra, padded = kernel_pad(m);
    size_t groups = form != GROUP_MEANS ? 1 : m % 3 ? m : m / 3;
    struct layer l = {
        .w = matrix(k, n, m, ld, -1, 1),
        .b = vector(k, m, -1, 1),
        .mean = vector(k, m, -1, 1),
        .var = vector(k, m, 0.5, 2),
        .gamma = vector(k, m, -2, 2),
        .beta = vector(k, m, -1, 1),
        .threshold = vector(k, m, -1, 1),
        .centre = vector(k, groups * (n / area), -1, 1),
        .u = matrix(k, n, m, padded, NAN, NAN), /* nothing before */
        .offset = vector(k, m, NAN, NAN),
        .moved = vector(k, padded, 9, 9),
        .turned = vector(k, padded, 9, 9),
    };
    int bn = form == BATCH_NORM || form == BATCH_NORM_THRESHOLD;
    l.args = (struct moves_args){
        .n = n,
        .m = m,
        .w = l.w.at,
        .ldw = ld,
        .b = form == NO_BIAS || bn ? NULL : l.b.at,
        .mean = bn || form == BATCH_MEAN ? l.mean.at : NULL,
        .var = bn ? l.var.at : NULL,
        .gamma = bn ? l.gamma.at : NULL,
        .beta = bn ? l.beta.at : NULL,
        .threshold = form == THRESHOLD || form == BATCH_NORM_THRESHOLD ? l.threshold.at : NULL,
        .input_mean = form == INPUT_MEAN || form == GROUP_MEANS ? l.centre.at : NULL,
        .area = area,
        .groups = groups,
        .epsilon = 1e-5,
        .u = l.u.at,
        .ldu = padded,
        .offset = l.offset.at,
        .moved = l.moved.at,
        .turned = l.turned.at,
    };
    return l;
}

static struct layer twin_of(const struct layer *from)
{
    struct layer l = *from;
    l.u = same_as(&from->u), l.offset = same_as(&from->offset), l.moved = same_as(&from->moved),
    l.turned = same_as(&from->turned);
    l.args.u = l.u.at, l.args.offset = l.offset.at, l.args.moved = l.moved.at, l.args.turned = l.turned.at;
    return l;
}

static void drop_kept(struct layer *l)
{
    drop(&l->u), drop(&l->offset), drop(&l->moved), drop(&l->turned);
}

static void drop_given(struct layer *l)
{
    drop(&l->w), drop(&l->b), drop(&l->mean), drop(&l->var), drop(&l->gamma), drop(&l->beta),
        drop(&l->threshold), drop(&l->centre);
}

/* The effective weight and bias of a unit, from the formulas of the folding. */
static double effective(const struct layer *l, size_t j, double *w)
{
    const struct moves_args *a = &l->args;
    double factor = a->var ? get(&l->gamma, 0, j) / sqrt(get(&l->var, 0, j) + 1e-5) : 1;
    double b = (a->b ? get(&l->b, 0, j) : 0) - (a->mean ? get(&l->mean, 0, j) : 0);
    size_t group = j / (a->m / a->groups);
    for (size_t i = 0; i < a->n; i++) {
        w[i] = factor * get(&l->w, i, j);
        b -=
            a->input_mean ? get(&l->w, i, j) * get(&l->centre, 0, group * (a->n / a->area) + i / a->area) : 0;
    }
    return factor * b + (a->beta ? get(&l->beta, 0, j) : 0) - (a->threshold ? get(&l->threshold, 0, j) : 0);
}

static double half_turn(double turned)
{
    return atan(sqrt(turned));
}

/* Weights wander, some units vanish and come back. */
static void wander(struct layer *l, int step, double by)
{
    for (size_t j = 0; j < l->args.m; j++) {
        for (size_t i = 0; i < l->args.n; i++) {
            double next = get(&l->w, i, j) + draw(-by, by);
            if (j % 7 == 3 && step == 2)
                next = 0;
            if (j % 7 == 4 && step == 2)
                next = -get(&l->w, i, j); /* turns by 180 degrees */
            if (j % 7 == 5 && step == 2)
                next = get(&l->w, i, j);
            set(&l->w, i, j, next);
        }
        if (j % 7 == 5 && step == 2)
            continue;
        set(&l->b, 0, j, get(&l->b, 0, j) + draw(-by, by));
        set(&l->mean, 0, j, get(&l->mean, 0, j) + draw(-by, by));
    }
    if (step == 3)
        set(&l->gamma, 0, 0, 0);
}

static void compare_unit(const struct pair *on, const struct layer *want, const struct layer *have, size_t j)
{
    size_t n = want->args.n;
    double eps = on->eps * (4 + sqrt((double)n)), size = 1 + fabs(get(&want->offset, 0, j));
    /* the bias of a centred input is a sum of n terms, and divided by the length */
    double *w = calloc(n, sizeof *w), length = 0;
    effective(want, j, w);
    for (size_t i = 0; i < n; i++)
        length = hypot(length, w[i]);
    free(w);
    double offset_error = eps * size + (length > 0 ? eps * (double)n / length : 0) * 8;
    if (differ(get(&want->offset, 0, j), get(&have->offset, 0, j), offset_error))
        fail_msg("offset of unit %zu of %zu x %zu: %.17g, expected %.17g", j, n, want->args.m,
                 get(&have->offset, 0, j), get(&want->offset, 0, j));
    for (size_t i = 0; i < n; i++)
        assert_false(differ(get(&want->u, i, j), get(&have->u, i, j), eps));
    double a = get(&want->moved, 0, j), b = get(&have->moved, 0, j);
    assert_true((a < 0) == (b < 0) && (a >= 0 || a == -1) && (b >= 0 || b == -1));
    if (a >= 0 && differ(sqrt(a), sqrt(b), 8 * offset_error + 16 * eps * sqrt(a)))
        fail_msg("unit %zu of %zu x %zu moved by %.17g, expected %.17g", j, n, want->args.m, sqrt(b),
                 sqrt(a));
    a = get(&want->turned, 0, j), b = get(&have->turned, 0, j);
    assert_true((a < 0) == (b < 0));
    if (a >= 0 && differ(half_turn(a), half_turn(b), 8 * eps))
        fail_msg("unit %zu of %zu x %zu turned by %.17g, expected %.17g", j, n, want->args.m, half_turn(b),
                 half_turn(a));
}

static void compare_moves(const struct pair *on, int form, size_t n, size_t m, size_t extra, size_t area)
{
    struct layer want = layer_of(on->plain, form, n, m, extra, area), have = twin_of(&want);
    for (int step = 0; step < 5; step++) {
        on->plain->moves(&want.args);
        on->fast->moves(&have.args);
        for (size_t j = 0; j < m; j++) {
            compare_unit(on, &want, &have, j);
            if (step == 0)
                assert_true(get(&want.moved, 0, j) == -1 && get(&want.turned, 0, j) == -1);
        }
        for (size_t j = m; j < kernel_pad(m); j++)
            assert_true(get(&want.moved, 0, j) == -1 && get(&have.moved, 0, j) == -1 &&
                        get(&want.turned, 0, j) == -1 && get(&have.turned, 0, j) == -1);
        wander(&want, step + 1, step == 1 ? 1e-3 : 0.5);
        for (size_t j = 0; j < m; j++) /* both go on from the same */
            for (size_t i = 0; i < n; i++)
                set(&have.u, i, j, get(&want.u, i, j));
        for (size_t j = 0; j < m; j++)
            set(&have.offset, 0, j, get(&want.offset, 0, j));
    }
    drop_kept(&want), drop_kept(&have), drop_given(&want);
}

static void fast_moves_are_the_plain_ones(void **state)
{
    (void)state;
    static const size_t inputs[] = {1, 2, 3, 13, 18, 100}, units[] = {1, 3, 8, 9, 17, 29, 100};
    for (int fence = 0; fence < 2; fence++)
        for (int p = 0; p < PAIRS; p++)
            for (int form = 0; form < FORMS; form++)
                for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
                    for (size_t c = (i + (size_t)form) % quick_step(4); c < sizeof units / sizeof *units;
                         c += quick_step(4)) {
                        struct pair on = pair_of(p);
                        dice = 5 + 100 * i + c;
                        fences = fence;
                        compare_moves(&on, form, inputs[i], units[c], c % 2 ? KERNEL_PAD : 0,
                                      inputs[i] == 18 ? 9 : 1);
                    }
    fences = 0;
}

/* phi and the turn from weights alone, in f64. */
static void plain_moves_are_the_definition(void **state)
{
    (void)state;
    enum { N = 13, M = 29 };
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    for (int form = 0; form < FORMS; form++) {
        dice = 31;
        struct layer l = layer_of(k, form, N, M, 0, 1);
        double phi[M][N] = {{0}}, u[M][N] = {{0}};
        for (int step = 0; step < 4; step++) {
            k->moves(&l.args);
            for (size_t j = 0; j < M; j++) {
                double w[N], ww = 0, move = 0, cosine = 0, b = effective(&l, j, w), old[N];
                memcpy(old, phi[j], sizeof old);
                for (size_t i = 0; i < N; i++)
                    ww += w[i] * w[i];
                for (size_t i = 0; i < N; i++) {
                    phi[j][i] = -b * w[i] / ww;
                    move += (phi[j][i] - old[i]) * (phi[j][i] - old[i]);
                    cosine += u[j][i] * w[i] / sqrt(ww);
                    u[j][i] = w[i] / sqrt(ww);
                    assert_false(differ(get(&l.u, i, j), u[j][i], 1e-14));
                    double kept = -get(&l.offset, 0, j) * get(&l.u, i, j);
                    assert_false(differ(kept, phi[j][i], 1e-13 * (1 + fabs(kept))));
                }
                if (!step)
                    continue;
                int defined = ww > 0 && get(&l.moved, 0, j) >= 0;
                assert_int_equal(get(&l.moved, 0, j) >= 0, !isnan(move));
                if (defined)
                    assert_false(differ(sqrt(get(&l.moved, 0, j)), sqrt(move), 1e-12 * (1 + sqrt(move))));
                if (defined && fabs(cosine) < 0.99) /* acos is good away from 0 and pi */
                    assert_false(differ(2 * half_turn(get(&l.turned, 0, j)), acos(cosine), 1e-13));
                if (step == 2 && j % 7 == 4 && form == NO_NORM)
                    assert_true(2 * half_turn(get(&l.turned, 0, j)) > 3.14159265358979);
                if (step == 2 && j % 7 == 5 && form == NO_NORM)
                    assert_true(get(&l.turned, 0, j) == 0 && get(&l.moved, 0, j) == 0);
            }
            wander(&l, step + 1, 0.5);
        }
        drop_kept(&l), drop_given(&l);
    }
}

/* Squares of such weights leave the range of f32, and of f64. */
static void lengths_near_the_ends_of_the_range_have_directions(void **state)
{
    (void)state;
    enum { N = 5, M = 11 };
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        int wide = on.plain->dtype == SPH_F64;
        const double scales[] = {wide ? 1e-300 : 1e-36, wide ? 1e-200 : 1e-25, wide ? 1e200 : 1e25,
                                 wide ? 1e290 : 1e36};
        for (size_t s = 0; s < 4; s++) {
            dice = 3 + s;
            struct layer want = layer_of(on.plain, NO_NORM, N, M, 0, 1);
            for (size_t j = 0; j < M; j++) {
                for (size_t i = 0; i < N; i++)
                    set(&want.w, i, j, (get(&want.w, i, j) + 1.5) * (j % 3 == 1 ? scales[s] : 1));
                if (j % 3 == 1)
                    set(&want.b, 0, j, get(&want.b, 0, j) * scales[s]);
                if (j == 8)
                    for (size_t i = 0; i < N; i++)
                        set(&want.w, i, j, 0);
            }
            struct layer have = twin_of(&want);
            on.plain->moves(&want.args);
            on.fast->moves(&have.args);
            for (size_t j = 0; j < M; j++) {
                double length = 0;
                for (size_t i = 0; i < N; i++) {
                    assert_false(differ(get(&want.u, i, j), get(&have.u, i, j), 8 * on.eps));
                    length = hypot(length, get(&have.u, i, j));
                }
                assert_int_equal(isnan(length), j == 8);
                if (j != 8)
                    assert_false(differ(length, 1, 8 * on.eps));
                assert_false(differ(get(&want.offset, 0, j), get(&have.offset, 0, j), 32 * on.eps));
            }
            drop_kept(&want), drop_kept(&have), drop_given(&want);
        }
    }
}

/* A step far smaller than the numbers themselves: the differences stay accurate. */
static void a_tiny_turn_is_seen(void **state)
{
    (void)state;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        double tiny = on.plain->dtype == SPH_F64 ? 1e-9 : 1e-4;
        struct layer l = layer_of(on.plain, NO_NORM, 2, 1, 0, 1);
        for (double sign = 1; sign >= -1; sign -= 2) {
            set(&l.w, 0, 0, 1), set(&l.w, 1, 0, 0), set(&l.b, 0, 0, -2);
            on.fast->moves(&l.args);
            set(&l.w, 0, 0, sign * cos(tiny)), set(&l.w, 1, 0, sign * sin(tiny)), set(&l.b, 0, 0, -2 * sign);
            on.fast->moves(&l.args);
            double turn = 2 * half_turn(get(&l.turned, 0, 0));
            double want = sign > 0 ? tiny : 3.14159265358979323846 - tiny;
            assert_false(differ(turn, want, 4 * on.eps));
            /* the boundary itself is the same either way */
            assert_false(differ(sqrt(get(&l.moved, 0, 0)), 2 * tiny, 16 * on.eps));
        }
        drop_kept(&l), drop_given(&l);
    }
}

/* Not even by a rounding, whatever becomes of its neighbours. */
static void a_unit_that_stays_does_not_move(void **state)
{
    (void)state;
    enum { N = 13, M = 45 };
    for (int p = 0; p < PAIRS; p++)
        for (int form = 0; form < FORMS; form++)
            for (size_t odd = 0; odd < M; odd += 3)
                for (int huge = 0; huge < 2; huge++) {
                    struct pair on = pair_of(p);
                    int wide = on.plain->dtype == SPH_F64;
                    dice = 40 + odd;
                    struct layer l = layer_of(on.plain, form, N, M, 0, 1);
                    set(&l.b, 0, 1, wide ? 1e200 : 1e25); /* far away: its square leaves the range */
                    on.fast->moves(&l.args);
                    for (size_t i = 0; i < N; i++)
                        set(&l.w, i, odd,
                            get(&l.w, i, odd) * (huge   ? wide ? 1e200 : 1e25
                                                 : wide ? 1e-200
                                                        : 1e-25));
                    on.fast->moves(&l.args);
                    for (size_t j = 0; j < M; j++)
                        if (j != odd && (get(&l.moved, 0, j) != 0 || get(&l.turned, 0, j) != 0))
                            fail_msg(
                                "%s, f%d, form %d: unit %zu moved by %g, turned by %g as unit %zu changed",
                                on.fast->name, wide ? 64 : 32, form, j, sqrt(get(&l.moved, 0, j)),
                                2 * half_turn(get(&l.turned, 0, j)), odd);
                    assert_true(get(&l.turned, 0, odd) >= 0);
                    drop_kept(&l), drop_given(&l);
                }
}

/* Its normal is 1 or -1 and nothing near it: it turns by 0 or by 180 degrees. */
static void a_unit_of_one_input_cannot_turn(void **state)
{
    (void)state;
    enum { M = 45, STEPS = 20 };
    for (int p = 0; p < PAIRS; p++)
        for (int form = 0; form < FORMS; form++)
            for (int plain = 0; plain < 2; plain++) {
                struct pair on = pair_of(p);
                dice = 50;
                struct layer l = layer_of(on.plain, form, 1, M, 0, 1);
                for (int step = 0; step < STEPS; step++) {
                    for (size_t j = 0; j < M; j++)
                        set(&l.w, 0, j, draw(-1, 1) * (j == 7 ? 1e-30 : 1));
                    struct array before = same_as(&l.u);
                    (plain ? on.plain : on.fast)->moves(&l.args);
                    for (size_t j = 0; j < M; j++) {
                        double u = get(&l.u, 0, j), old = get(&before, 0, j), turned = get(&l.turned, 0, j);
                        assert_true(u == 1 || u == -1);
                        assert_true(turned == (step == 0 ? -1 : u == old ? 0 : (double)INFINITY));
                    }
                    drop(&before);
                }
                drop_kept(&l), drop_given(&l);
            }
}

/* ---------------------------------------------------------------- order statistics */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double draw_value(int kind, size_t j)
{
    switch (kind) {
    case 0:
        return draw(0, 1);
    case 1:
        return pow(10, draw(-12, 6)); /* over many orders */
    case 2:
        return draw(0, 1) < 0.6 ? 0 : draw(0, 1e-6); /* most at rest */
    case 3:
        return floor(draw(0, 4)); /* many equal */
    case 4:
        return draw(0, 1) < 0.3 ? -1 : draw(1, 1.0001); /* some undefined */
    case 5:
        return 0.25;
    case 6:
        return j == 0 ? INFINITY : draw(0, 1e-30);
    case 7:
        return j % 5 == 1 ? 0.5 : -1;
    case 8:
        return j ? pow(2, -(double)(j % 140)) : 1e30; /* guesses by counts are bad */
    default:
        return -1;
    }
}

static void check_spread(const struct spread *have, const struct kernels *k, int kind, size_t count,
                         const double *sorted)
{
    static const double share[] = {0.5, 0.9};
    assert_int_equal(have->count, count);
    if (!count) {
        assert_true(isnan(have->most) && isnan(have->around[0][0]) && isnan(have->around[0][1]) &&
                    isnan(have->around[1][0]) && isnan(have->around[1][1]));
        return;
    }
    assert_true(have->most == sorted[count - 1]);
    for (int i = 0; i < 2; i++) {
        size_t at = (size_t)floor(share[i] * (double)(count - 1));
        double above = sorted[at + 1 < count ? at + 1 : at];
        if (have->around[i][0] != sorted[at] || have->around[i][1] != above)
            fail_msg("%s, kind %d, %zu values: %g and %g around %g, expected %g and %g", k->name, kind, count,
                     have->around[i][0], have->around[i][1], share[i], sorted[at], above);
    }
}

static void spread_is_that_of_a_sort(void **state)
{
    (void)state;
    enum { KINDS = 10, MOST = 1200 };
    static const size_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 16, 17, 31, 100, 101, 513, 1200};
    double sorted[MOST];
    struct spread both[2];
    for (int p = 0; p < PAIRS; p++)
        for (int plain = 0; plain < 2; plain++)
            for (int kind = 0; kind < KINDS; kind++)
                for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                    for (int again = 0; again < 5; again++) {
                        const struct kernels *k = plain ? pair_of(p).plain : pair_of(p).fast;
                        size_t m = counts[c], count = 0;
                        if (plain && m > 200)
                            continue;
                        dice = 77 + 1000 * c + (uint64_t)again;
                        fences = again % 2;
                        struct array x = matrix(k, 2, kernel_pad(m), kernel_pad(m), -1, -1);
                        int which = again % 2; /* the other array is another kind's */
                        for (size_t j = 0; j < m; j++) {
                            set(&x, (size_t)which, j, draw_value(kind, j));
                            set(&x, (size_t)!which, j, draw_value((kind + 1) % KINDS, j));
                            if (get(&x, (size_t)which, j) >= 0)
                                sorted[count++] = get(&x, (size_t)which, j);
                        }
                        qsort(sorted, count, sizeof *sorted, by_size);
                        k->spread(m, x.at, kernel_pad(m), both);
                        check_spread(&both[which], k, kind, count, sorted);
                        double largest[2];
                        k->largest(m, x.at, kernel_pad(m), largest);
                        assert_true(count ? largest[which] == sorted[count - 1] : largest[which] < 0);
                        drop(&x);
                    }
    fences = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_moves_are_the_definition),
        cmocka_unit_test(fast_moves_are_the_plain_ones),
        cmocka_unit_test(lengths_near_the_ends_of_the_range_have_directions),
        cmocka_unit_test(a_tiny_turn_is_seen),
        cmocka_unit_test(a_unit_that_stays_does_not_move),
        cmocka_unit_test(a_unit_of_one_input_cannot_turn),
        cmocka_unit_test(spread_is_that_of_a_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
