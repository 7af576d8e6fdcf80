/* SPDX-License-Identifier: MIT
 *
 * The kernels from angles to directions and back: against their plain twins, which are compared with central
 * differences. */
#include "kernel_compare.h"

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
        k->polar_grad(n, M, NULL, sine.at, cosine.at, prefix.at, dw.at, 8, dtheta.at, radial.at);
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

/* Every quadrant near and far, the steps between them, and what is no angle. */
static void sines_and_cosines_are_right_at_any_angle(void **state)
{
    (void)state;
    static const double angles[] = {0,        -0.0,     1e-30,  0.785398, 0.785399, 1.570796, 1.570797,
                                    3.141592, 3.141593, 4.7,    6.2831,   -0.5,     -1.6,     -3.2,
                                    -4.8,     100.5,    -255.9, 256,      256.1,    -300,     1000.7,
                                    12345.6,  -1e5,     1e-3,   2.5,      -7.7};
    enum { COUNT = sizeof angles / sizeof *angles };
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        struct array theta = matrix(on.plain, 1, COUNT, COUNT, 0, 0), scale = vector(on.plain, COUNT, 1, 1);
        struct array w = matrix(on.plain, 2, COUNT, kernel_pad(COUNT), 0, 0), sine = same_as(&theta),
                     cosine = same_as(&theta), prefix = same_as(&theta);
        for (size_t j = 0; j < COUNT; j++)
            set(&theta, 0, j, angles[j]);
        on.fast->polar(2, COUNT, theta.at, scale.at, w.at, w.ld, sine.at, cosine.at, prefix.at);
        for (size_t j = 0; j < COUNT; j++) { /* of the angle as the dtype holds it */
            double angle = get(&theta, 0, j);
            assert_true(fabs(get(&sine, 0, j) - sin(angle)) <= 2 * on.eps);
            assert_true(fabs(get(&cosine, 0, j) - cos(angle)) <= 2 * on.eps);
        }
        set(&theta, 0, 3, NAN);
        set(&theta, 0, 5, INFINITY);
        on.fast->polar(2, COUNT, theta.at, scale.at, w.at, w.ld, sine.at, cosine.at, prefix.at);
        assert_true(isnan(get(&sine, 0, 3)) && isnan(get(&cosine, 0, 5)));
        assert_true(fabs(get(&sine, 0, 4) - sin(get(&theta, 0, 4))) <= 2 * on.eps);
        drop(&theta), drop(&scale), drop(&w), drop(&sine), drop(&cosine), drop(&prefix);
    }
}

/* Legs of every quadrant and size; counts that no vector divides; in place, as conversions do it. */
static void arcs_and_sines_of_arrays_are_right(void **state)
{
    (void)state;
    static const double legs[] = {0, -0.0, 1, -1, 0.3, -2.5, 1e-30, -1e-30, 1e30, 7};
    enum { LEGS = sizeof legs / sizeof *legs, COUNT = LEGS * LEGS };
    for (int p = 0; p < PAIRS; p++)
        for (size_t count = 1; count <= COUNT; count += count < 20 ? 1 : 79) {
            struct pair on = pair_of(p);
            struct array y = vector(on.fast, count, 0, 0), x = same_as(&y), angle, sine = same_as(&y),
                         cosine = same_as(&y);
            for (size_t i = 0; i < count; i++) {
                set(&y, 0, i, legs[i / LEGS]);
                set(&x, 0, i, legs[i % LEGS]);
            }
            angle = same_as(&y);
            on.fast->arcs(count, angle.at, x.at, angle.at);
            on.fast->sincos(count, angle.at, sine.at, cosine.at);
            for (size_t i = 0; i < count; i++) {
                double expected = atan2(get(&y, 0, i), get(&x, 0, i)), found = get(&angle, 0, i);
                assert_true(fabs(found - expected) <=
                            2 * on.eps * fabs(expected) + 1e-37); /* f32 ends there */
                assert_int_equal(signbit(found) != 0, signbit(expected) != 0);
                assert_true(fabs(get(&sine, 0, i) - sin(found)) <= 2 * on.eps);
                assert_true(fabs(get(&cosine, 0, i) - cos(found)) <= 2 * on.eps);
            }
            drop(&y), drop(&x), drop(&angle), drop(&sine), drop(&cosine);
        }
}

/* Whole blocks near pi/2 go a shorter way: to the same bits as beside an angle elsewhere, or, but for its own vector, beside
 * one that only the library can serve. A gradient that computes sines again relies on it. */
static void sines_do_not_depend_on_what_is_computed_beside_them(void **state)
{
    (void)state;
    enum { UNITS = 64, MOST_LANES = 16 };
    static const double beside[] = {0.3, -3, 100, 1e4};
    for (int p = 0; p < PAIRS; p++)
        for (size_t b = 0; b < sizeof beside / sizeof *beside; b++) {
            struct pair on = pair_of(p);
            struct array theta = matrix(on.fast, 1, UNITS, UNITS, 1.06, 2.09),
                         ones = vector(on.fast, UNITS, 1, 1);
            struct array w = matrix(on.fast, 2, UNITS, UNITS, 0, 0), sine1 = same_as(&theta),
                         cosine1 = same_as(&theta), sine2 = same_as(&theta), cosine2 = same_as(&theta),
                         prefix = same_as(&theta);
            on.fast->polar(2, UNITS, theta.at, ones.at, w.at, UNITS, sine1.at, cosine1.at, prefix.at);
            set(&theta, 0, 1, beside[b]);
            on.fast->polar(2, UNITS, theta.at, ones.at, w.at, UNITS, sine2.at, cosine2.at, prefix.at);
            for (size_t j = beside[b] > 256 ? MOST_LANES : 2; j < UNITS; j++) {
                assert_true(get(&sine1, 0, j) == get(&sine2, 0, j));
                assert_true(get(&cosine1, 0, j) == get(&cosine2, 0, j));
            }
            assert_true(fabs(get(&sine2, 0, 1) - sin(get(&theta, 0, 1))) <= 4 * on.eps);
            assert_true(fabs(get(&cosine2, 0, 1) - cos(get(&theta, 0, 1))) <= 4 * on.eps);
            drop(&theta), drop(&ones), drop(&w), drop(&sine1), drop(&cosine1), drop(&sine2), drop(&cosine2),
                drop(&prefix);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polar_matches_twin_and_keeps_length),
        cmocka_unit_test(polar_gradient_matches_differences_at_zero_sine),
        cmocka_unit_test(sines_and_cosines_are_right_at_any_angle),
        cmocka_unit_test(arcs_and_sines_of_arrays_are_right),
        cmocka_unit_test(sines_do_not_depend_on_what_is_computed_beside_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
