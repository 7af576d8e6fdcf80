/* SPDX-License-Identifier: MIT
 *
 * Figures 1, 5 and 6: their numbers are those of the units they claim to show, and their pictures are made.
 */
#include "figure_files.h"

#include <inttypes.h>

#include "base/text.h"
#include "boundary/tool.h"
#include "fault.h"
#include "fault_system.h" /* no syncs */
#include "report/figures.h"

enum { COLUMNS = 8, ROWS = 256 };

/* Numbers of a data file; set counts data sets (two blank lines). */
struct columns {
    double value[ROWS][COLUMNS];
    size_t set[ROWS], rows;
};

static void read_columns(struct columns *out, const char *name)
{
    char file[64];
    snprintf(file, sizeof file, "figures/%s", name);
    char *text = read_home(file, NULL);
    size_t blank = 0, set = 0;
    out->rows = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        if (*line == '#')
            continue;
        if (!*line) {
            set += ++blank == 2;
            continue;
        }
        blank = 0;
        assert_true(out->rows < ROWS);
        size_t column = 0;
        for (char *word; (word = strsep(&line, " "));) {
            assert_true(column < COLUMNS);
            double value = (double)NAN;
            assert_true(!strcmp(word, "NaN") || text_to_double(word, &value));
            out->value[out->rows][column++] = value;
        }
        out->set[out->rows++] = set;
    }
    mem_free(text);
}

/* Data files are written with and without gnuplot. */
static void drawn(int err, const char *name)
{
    char path[64];
    assert_int_equal(err, gnuplot_found() ? FIGURE_DRAWN : FIGURE_NO_GNUPLOT);
    snprintf(path, sizeof path, "figures/%s", name);
    if (gnuplot_found())
        check_pictures(path);
}

static int fails;       /* an allocation while the figure is drawn, */
static size_t fails_at; /* this one */

/* A figure of an experiment that trains nothing. */
static int draw(const char *name, uint64_t seed, size_t inputs)
{
    char text[128];
    unsigned char wanted[FIGURE_COUNT] = {0};
    sph_experiment *e = NULL;
    snprintf(text, sizeof text, "name: still\nseeds: [%" PRIu64 "]\nperturb: {dim: %zu}\n", seed, inputs);
    write_home("experiment.yaml", text);
    assert_int_equal(sph_experiment_open(&e, at_home("experiment.yaml")), 0);
    wanted[text_find(name, figure_names, FIGURE_COUNT)] = 1;
    struct results results;
    assert_int_equal(results_read(&results, e, home), 0);
    if (fails)
        fault_after(fails_at);
    int err = figures_draw(&results, home, wanted, NULL, NULL, NULL);
    results_free(&results);
    sph_experiment_free(e);
    return err;
}

/* What nine digits leave of a number near 1. */
static const double digits = 2e-8;

static void check_planes(const char *name, size_t units)
{
    static struct columns unit, line, arrow;
    char file[64];
    snprintf(file, sizeof file, "%s.unit.dat", name);
    read_columns(&unit, file);
    snprintf(file, sizeof file, "%s.line.dat", name);
    read_columns(&line, file);
    snprintf(file, sizeof file, "%s.arrow.dat", name);
    read_columns(&arrow, file);
    assert_int_equal(unit.rows, units);
    assert_int_equal(line.rows, 2 * units);
    assert_int_equal(arrow.rows, 8 * units);
    for (size_t i = 0; i < units; i++) { /* phi is on the boundary, and nearest to the origin there */
        const double *v = unit.value[i], theta = v[0] * acos(-1) / 180;
        assert_true(fabs(v[2] - cos(theta)) < digits && fabs(v[3] - sin(theta)) < digits);
        assert_true(fabs(v[2] * v[4] + v[3] * v[5] + v[1]) < digits);
        assert_true(fabs(v[2] * v[5] - v[3] * v[4]) < digits);
    }
    for (size_t i = 0; i < line.rows; i++) {
        const double *v = unit.value[line.set[i]], *x = line.value[i];
        assert_true(fabs(v[2] * x[0] + v[3] * x[1] + v[1]) < digits);
    }
    for (size_t i = 0; i < arrow.rows; i++) { /* from the boundary to the side that it names */
        const double *v = unit.value[arrow.set[i]], *a = arrow.value[i];
        double from = v[2] * a[0] + v[3] * a[1] + v[1];
        double to = v[2] * (a[0] + a[2]) + v[3] * (a[1] + a[3]) + v[1];
        assert_true(fabs(from) < digits && to * a[4] > 0.1);
    }
}

static void lines_and_arrows_belong_to_their_units(void **state)
{
    (void)state;
    drawn(draw("boundary", 0, 2), "boundary");
    check_planes("boundary", 1);
    drawn(draw("lines", 0, 2), "lines");
    check_planes("lines", 8);
}

static void units_on_the_line_break_at_phi(void **state)
{
    static struct columns unit, response;
    (void)state;
    drawn(draw("points", 0, 2), "points");
    read_columns(&unit, "points.unit.dat");
    read_columns(&response, "points.response.dat");
    assert_int_equal(unit.rows, 4);
    assert_int_equal(response.rows, 12);
    for (size_t i = 0; i < response.rows; i++) {
        const double *v = unit.value[response.set[i]], x = response.value[i][0], z = response.value[i][1];
        double u = v[0] > 90 ? -1 : 1;
        assert_true(u == v[2] && v[3] == -v[1] * u);
        assert_true(fabs(z - fmax(0, u * x + v[1])) < digits);
        if (i % 3 == 1)
            assert_true(x == v[3] && z == 0);
    }
}

static size_t usual_eps(void)
{
    sph_perturb_opts opts;
    sph_perturb_defaults(&opts);
    return opts.count;
}

static void perturbed_boundaries_are_those_of_the_methods(void **state)
{
    static struct columns phi, line;
    (void)state;
    drawn(draw("perturbation", 7, 2), "perturbation");
    read_columns(&phi, "perturbation.phi.dat");
    read_columns(&line, "perturbation.boundary.dat");
    size_t planes = phi.rows / SPH_PERTURB_METHODS;
    assert_int_equal(planes, usual_eps() + 1);
    assert_int_equal(line.rows, 2 * phi.rows);
    double turn[SPH_PERTURB_METHODS] = {0};
    for (size_t i = 0; i < phi.rows; i++) {
        const double *v = phi.value[i];
        assert_int_equal(phi.set[i], i / planes);
        if (i % planes == 0) { /* all begin with the same boundary */
            for (int k = 0; k < 7; k++)
                assert_true(fabs(v[k] - phi.value[0][k]) < digits);
        }
        turn[i / planes] = fmax(turn[i / planes], fabs(v[5]));
        for (size_t end = 2 * i; end < 2 * i + 2; end++) { /* both points lie on it; they are far away */
            const double *x = line.value[end];
            assert_int_equal(line.set[end], i);
            assert_true(fabs(v[3] * (x[0] - v[1]) + v[4] * (x[1] - v[2])) < 100 * digits);
        }
    }
    for (size_t m = 0; m + 1 < SPH_PERTURB_METHODS; m++)
        assert_true(turn[m] > turn[SPH_PERTURB_METHODS - 1]); /* GmP is the last one */
}

/* The letters of the papers, a key for what is drawn, and delta, not eps. */
static void figures_have_letters_and_keys(void **state)
{
    static const struct {
        const char *name, *letters, *key;
    } figures[] = {{"boundary", "letters = 'a'\n", "k_off = 'inactive'"},
                   {"perturbation", "letters = 'bcde'\n", "'δ = %s'"},
                   {"points", "letters = 'abcd'\n", "k_z = 'output z of the unit'"},
                   {"lines", "letters = 'abcdefgh'\n", "k_u = 'direction u'"}};
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        char file[64];
        drawn(draw(figures[i].name, 0, 2), figures[i].name);
        snprintf(file, sizeof file, "figures/%s.gp", figures[i].name);
        char *script = read_home(file, NULL);
        assert_non_null(strstr(script, figures[i].letters));
        assert_non_null(strstr(script, figures[i].key));
        assert_non_null(strstr(script, "eval key_draw("));
        mem_free(script);
    }
}

static void another_seed_is_another_picture(void **state)
{
    (void)state;
    drawn(draw("perturbation", 1, 2), "perturbation");
    const char *files[] = {"figures/perturbation.phi.dat", "figures/perturbation.png"};
    for (int i = 0; i < 1 + gnuplot_found(); i++) {
        char copy[64];
        snprintf(copy, sizeof copy, "first%d", i);
        assert_int_equal(rename(at_home(files[i]), at_home(copy)), 0);
    }
    drawn(draw("perturbation", 2, 2), "perturbation");
    for (int i = 0; i < 1 + gnuplot_found(); i++) {
        char copy[64];
        snprintf(copy, sizeof copy, "first%d", i);
        assert_false(same_files(copy, files[i]));
    }
}

static void many_inputs_are_shown_by_their_turns(void **state)
{
    static struct columns turn;
    (void)state;
    drawn(draw("perturbation", 0, 17), "perturbation");
    read_columns(&turn, "perturbation.turn.dat");
    assert_int_equal(turn.rows, SPH_PERTURB_METHODS * usual_eps());
    for (size_t i = 0; i < turn.rows; i++)
        assert_true(turn.value[i][1] >= 0 && turn.value[i][1] <= 180);
}

static void a_failed_allocation_is_reported(void **state)
{
    static const char *const names[] = {"boundary", "points", "perturbation"};
    (void)state;
    char *path = mem_text(getenv("PATH"));
    setenv("PATH", "/nowhere", 1); /* what gnuplot takes is test_figure's */
    fails = 1;
    for (size_t i = 0; i < 3; i++)
        for (fails_at = 0;; fails_at++) {
            int err = draw(names[i], 0, 2), happened = fault_happened();
            fault_off();
            if (!happened)
                break;
            assert_int_equal(err, SPH_EMEMORY);
        }
    fails = 0;
    setenv("PATH", path, 1);
    mem_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_arrows_belong_to_their_units),
        cmocka_unit_test(units_on_the_line_break_at_phi),
        cmocka_unit_test(perturbed_boundaries_are_those_of_the_methods),
        cmocka_unit_test(figures_have_letters_and_keys),
        cmocka_unit_test(another_seed_is_another_picture),
        cmocka_unit_test(many_inputs_are_shown_by_their_turns),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
