/* SPDX-License-Identifier: MIT
 *
 * The engine of the playground, compiled natively: it keeps up with the public headers, and every function that the page
 * calls succeeds. What the page shows is tested in a browser (playground/tests), where one is installed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../playground/engine.c"
#include "../playground/lines.c"
#include "../playground/paint.c"
#include "../playground/shake.c"

enum { STEPS = 64, UNITS = 6, SIDE = 20 };

static void begin(const char *data, sph_param param, sph_norm norm, sph_dtype dtype)
{
    const uint32_t hidden[] = {UNITS, 4};
    assert_int_equal(pg_data_synthetic(data, 100, 0.2, 0.2, 1), 0);
    assert_int_equal(pg_options(-1, SPH_OPTIMIZER_ADAM, 0.05, 0, 32, SPH_STANDARDIZE_FEATURES, 1), 0);
    assert_int_equal(
        pg_method_new(0, (int)param, (int)norm, SPH_ACT_RELU, SPH_INIT_DEFAULT, (int)dtype, hidden, 2, 1), 0);
}

static int end(void **state)
{
    (void)state;
    forget();
    return 0;
}

static void steps_are_logged_and_scored(void **state)
{
    (void)state;
    double log[STEPS * LOG_COLUMNS], score[3];
    begin("crescents", SPH_PARAM_GMP, SPH_NORM_NONE, SPH_F64);
    assert_int_equal(pg_steps(0, STEPS, log), STEPS);
    for (int i = 0; i < STEPS; i++) {
        assert_true(log[i * LOG_COLUMNS] > 0 && log[i * LOG_COLUMNS + 1] >= 0);
        assert_true(log[i * LOG_COLUMNS + 2] >= 0 && log[i * LOG_COLUMNS + 2] < 3.2);
    }
    assert_true(log[0] > log[(STEPS - 1) * LOG_COLUMNS]);
    assert_int_equal(pg_score(0, SPH_PART_TEST, score), 0);
    assert_true(score[0] > 0 && score[1] >= 0 && score[1] <= 1 && score[2] > 10);
    assert_int_equal(pg_set_lr(0, 0.01), 0);
    assert_true(pg_dead(0) >= 0 && !pg_diverged(0));
}

/* The same steps in other portions: the log has the same numbers. */
static void portions_do_not_matter(void **state)
{
    (void)state;
    double whole[STEPS * LOG_COLUMNS], part[STEPS * LOG_COLUMNS];
    begin("crescents", SPH_PARAM_GMP, SPH_NORM_BN, SPH_F32);
    assert_int_equal(pg_steps(0, STEPS, whole), STEPS);
    begin("crescents", SPH_PARAM_GMP, SPH_NORM_BN, SPH_F32);
    for (int i = 0; i < STEPS; i += 16)
        assert_int_equal(pg_steps(0, 16, part + i * LOG_COLUMNS), 16);
    assert_memory_equal(whole, part, sizeof whole);
}

static void a_divergence_is_told_apart(void **state)
{
    (void)state;
    double log[STEPS * LOG_COLUMNS];
    begin("crescents", SPH_PARAM_SP, SPH_NORM_NONE, SPH_F32);
    assert_int_equal(pg_options(-1, SPH_OPTIMIZER_SGD, 1e30, 0, 32, SPH_STANDARDIZE_FEATURES, 1), 0);
    const uint32_t hidden[] = {UNITS};
    assert_int_equal(
        pg_method_new(0, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, SPH_INIT_DEFAULT, SPH_F32, hidden, 1, 1),
        0);
    assert_true(pg_steps(0, STEPS, log) < STEPS);
    assert_true(pg_diverged(0));
    assert_int_equal(pg_steps(0, STEPS, log), 0);
}

static void pictures_are_made(void **state)
{
    (void)state;
    static const double window[] = {-2, 3, -2, 2};
    static uint32_t palette[256], out[SIDE * SIDE];
    double lines[UNITS * LINE_COLUMNS];
    for (int i = 0; i < 256; i++)
        palette[i] = 0xff000000u + (uint32_t)i;
    begin("crescents", SPH_PARAM_SPHERE, SPH_NORM_IMN, SPH_F32);
    assert_int_equal(pg_lines(0, 1, lines), UNITS);
    int regions = pg_regions(0, window, 1000);
    assert_true(regions > 1);
    assert_int_equal(pg_regions(0, window, 1), TOO_MANY);
    assert_int_equal(pg_regions(0, window, 1000), regions);
    assert_int_equal(pg_paint_regions(0, window, SIDE, SIDE, palette, 1, -1, 1, out), 0);
    for (int i = 0; i < SIDE * SIDE; i++) /* no seams */
        assert_true(out[i] >> 24 == 0xff);
    assert_int_equal(pg_paint_surface(0, window, SIDE, SIDE, palette, -1, 1, out), 0);
    size_t count = pg_edges(0);
    double *edges = pg_alloc(count * EDGE_COLUMNS * sizeof *edges);
    assert_non_null(edges);
    pg_edges_read(0, edges);
    pg_free(edges);
}

static void shaking_stays_within_the_bound(void **state)
{
    (void)state;
    double lines[UNITS * LINE_COLUMNS], turn[2], figure[5 * 8];
    begin("crescents", SPH_PARAM_GMP, SPH_NORM_NONE, SPH_F64);
    assert_int_equal(pg_shake(0, 0.1, 7, lines, turn), UNITS);
    assert_true(turn[0] > 0 && turn[0] <= turn[1] + 1e-12);
    begin("crescents", SPH_PARAM_SP, SPH_NORM_BN, SPH_F64);
    assert_int_equal(pg_shake(0, 0.1, 0, lines, turn), UNITS);
    assert_true(isnan(turn[1]));
    assert_int_equal(pg_figure1(0.1, 0.1, 1, figure), 5);
}

static void tensors_are_given_away(void **state)
{
    (void)state;
    char name[128];
    double facts[7], values[64];
    begin("levy", SPH_PARAM_WN, SPH_NORM_NONE, SPH_F32);
    assert_true(pg_tensors(0) > 4);
    assert_int_equal(pg_tensor(0, 0, name, facts), 0);
    assert_true(facts[5] <= 64);
    assert_int_equal(pg_tensor_read(0, name, values, (size_t)facts[5]), 0);
    assert_true(pg_tensor(0, 1000, name, facts) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_logged_and_scored),    cmocka_unit_test(portions_do_not_matter),
        cmocka_unit_test(a_divergence_is_told_apart),     cmocka_unit_test(pictures_are_made),
        cmocka_unit_test(shaking_stays_within_the_bound), cmocka_unit_test(tensors_are_given_away),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
