/* SPDX-License-Identifier: MIT
 *
 * Figures and the table of motion, of trainings whose record was made up: what is drawn is what is in the
 * record, nothing is lost where lines are thinned, and what is missing is said in one line. */
#include <math.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/figures.h"
#include "report/tables.h"
#include "job/run.h"
#include "experiment_files.h"
#include "failure.h"
#include "fault.h"
#include "report/panels.h"
#include "report/tool.h"
#include "spherelu.h"

/* ---------------------------------------------------------------- made-up records */

enum { STEPS = 5000, UNITS = 4 };

/* Unit j walks along its own direction by a thousandth a step; at step `jump` unit 1 leaps by `leap` and at
 * the next step it is back. features 1 or 2. */
struct made {
    size_t features, jump;
    double leap, turn; /* turn: of that step, radians */
};

static double where(const struct made *m, size_t step, size_t unit, size_t axis)
{
    double at = 0.001 * (double)step * (axis ? 0.3 : 1) * (unit % 2 ? 1 : -1) * (double)(unit + 1) / UNITS;
    return at + (unit == 1 && step == m->jump && axis == 0 ? m->leap : 0);
}

static void put(struct npz_writer **writer, const char *name, const double *values, const size_t *shape,
                size_t ndim)
{
    struct npz_array array = {.type = "<f8", .ndim = ndim, .bytes = values};
    snprintf(array.name, sizeof array.name, "%s", name);
    size_t count = 1;
    for (size_t i = 0; i < ndim; i++)
        count *= array.shape[i] = shape[i];
    assert_int_equal(npz_writer_array(writer, &array), 0);
    assert_int_equal(npz_writer_data(writer, values, count * sizeof *values), 0);
}

static void write_record(const char *folder, const struct made *m)
{
    static double step[STEPS], frame[STEPS + 1], moves[STEPS * 3], turns[STEPS * 3],
        phi[(STEPS + 1) * UNITS * 2];
    struct npz_writer *writer = NULL;
    char path[400];
    size_t n = m->features;
    for (size_t t = 0; t <= STEPS; t++) {
        frame[t] = (double)t;
        for (size_t j = 0; j < UNITS; j++)
            for (size_t i = 0; i < n; i++)
                phi[(t * UNITS + j) * n + i] = where(m, t, j, i);
    }
    for (size_t t = 0; t < STEPS; t++) {
        step[t] = (double)(t + 1);
        int leaps = t + 1 == m->jump || t == m->jump;
        moves[t * 3] = leaps ? fabs(m->leap) : 0.001;
        moves[t * 3 + 1] = moves[t * 3 + 2] = 0.0005;
        turns[t * 3] = leaps ? m->turn : 0.01;
        turns[t * 3 + 1] = turns[t * 3 + 2] = 0.001;
    }
    snprintf(path, sizeof path, "%s/boundaries.npz", folder);
    assert_int_equal(npz_writer_begin(&writer, path), 0);
    put(&writer, "step", step, (size_t[]){STEPS}, 1);
    put(&writer, "layers.0.move", moves, (size_t[]){STEPS, 3}, 2);
    put(&writer, "layers.0.turn", turns, (size_t[]){STEPS, 3}, 2);
    put(&writer, "frame_step", frame, (size_t[]){STEPS + 1}, 1);
    put(&writer, "layers.0.phi", phi, (size_t[]){STEPS + 1, UNITS, n}, 3);
    assert_int_equal(npz_writer_commit(&writer), 0);
}

/* ---------------------------------------------------------------- a small experiment */

static const char on_plane[] =
    "name: plane\n"
    "data: {name: crescents, rows: 60, standardize: off}\n"
    "net: {hidden: [4]}\n"
    "train: {epochs: 3, batch: 16}\n"
    "methods:\n"
    "  - {name: SP, param: sp}\n"
    "  - {name: GmP, param: gmp}\n"
    "grid: {lr: [0.1, 0.01]}\n"
    "table: all\n"
    "seeds: 2\n"
    "papers: {max_move: {GmP: \"below \\\"1\\\"\"}, accuracy: {SP: \"0.9\", lr 0.01: {GmP: \"0.8\"}}}\n";

static const char on_line[] = "name: line\n"
                              "data: {name: levy, val: 0, standardize: off}\n"
                              "net: {hidden: [4]}\n"
                              "train: {epochs: 3, batch: full}\n"
                              "methods:\n"
                              "  - {name: SP, param: sp}\n"
                              "  - {name: GmP, param: gmp}\n"
                              "seeds: 1\n";

static void run_it(const char *text, const char *out)
{
    sph_experiment_result result;
    write_file("file.yaml", text);
    assert_int_equal(run_file(out, 0, 0, &result), 0);
    assert_string_equal(result.figures_note, "");
}

static char *text_in(const char *path)
{
    char *text = NULL;
    if (file_read(&text, NULL, path) < 0)
        fail_msg("%s", sph_error());
    return text;
}

static void is_there(const char *dir, const char *name, const char *ending)
{
    char path[400];
    struct stat info;
    snprintf(path, sizeof path, "%s/figures/%s%s", in_home(dir), name, ending);
    if (stat(path, &info) || info.st_size < 40)
        fail_msg("%s is missing or empty", path);
}

static void drawn(const char *dir, const char *const *names, size_t count)
{
    static const uint64_t first = 0;
    int got = sph_figures(in_home(dir), &(sph_figures_opts){.names = names, .count = count, .seed = &first},
                          NULL, NULL);
    if (got < 0)
        fail_msg("%s", sph_error());
    for (size_t i = 0; i < count; i++) {
        is_there(dir, names[i], ".gp");
        if (got == 1) /* no gnuplot here */
            continue;
        is_there(dir, names[i], ".png");
        is_there(dir, names[i], ".svg");
        is_there(dir, names[i], ".pdf");
    }
}

/* One figure of a folder, all of it. */
static int draw(const char *dir, const char *name)
{
    return sph_figures(in_home(dir), &(sph_figures_opts){.names = &name, .count = name ? 1 : 0}, NULL, NULL);
}

/* Some row of a data file has these first two columns. */
static int has_row(const char *text, double a, double b)
{
    double x, y;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (sscanf(line, "%lf %lf", &x, &y) == 2 && fabs(x - a) < 1e-6 && fabs(y - b) < 1e-6)
            return 1;
    return 0;
}

/* ---------------------------------------------------------------- tests */

static void figures_on_a_plane_are_drawn_and_no_jump_is_lost(void **state)
{
    (void)state;
    static const char *const names[] = {"trajectories", "turns",       "moves",
                                        "decision",     "convergence", "sensitivity"};
    static const char *const folders[] = {"plane/jobs/SP/lr-0.1/seed-", "plane/jobs/SP/lr-0.01/seed-",
                                          "plane/jobs/GmP/lr-0.1/seed-", "plane/jobs/GmP/lr-0.01/seed-"};
    run_it(on_plane, "plane");
    for (size_t i = 0; i < 4; i++)
        for (int seed = 0; seed < 2; seed++) {
            char folder[200];
            snprintf(folder, sizeof folder, "%s%d", folders[i], seed);
            write_record(in_home(folder),
                         &(struct made){2, 1234 + 2 * i, i < 2 ? 400.0 + seed : 0.002, i < 2 ? 3 : 0.02});
        }
    drawn("plane", names, sizeof names / sizeof *names);

    /* rows are points of the grid, columns methods: SP lr 0.1, GmP lr 0.1, SP lr 0.01, GmP lr 0.01 */
    struct made leap = {2, 1234, 400, 3};
    char *text = text_in(in_home("plane/figures/trajectories.p0.dat"));
    assert_true(has_row(text, where(&leap, 1234, 1, 0), where(&leap, 1234, 1, 1)));
    assert_true(strlen(text) < 60000); /* of 20,000 points a reader would see */
    mem_free(text);
    text = text_in(in_home("plane/figures/turns.p0.dat"));
    double step, turn, most = 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (sscanf(line, "%lf %lf", &step, &turn) == 2 && turn > most)
            most = turn;
    assert_true(fabs(most - 3 * 180 / 3.14159265358979323846) < 1e-6);
    mem_free(text);
    text = text_in(in_home("plane/figures/trajectories.gp"));
    assert_non_null(strstr(text, "title_0 = 'SP, lr 0.1'\n"));
    assert_non_null(strstr(text, "title_3 = 'GmP, lr 0.01'\n"));
    assert_non_null(strstr(text, "units_3 = 4\n"));
    mem_free(text);
    text = text_in(in_home("plane/figures/sensitivity.p0.dat")); /* by lr, whatever the file's order */
    assert_true(strstr(text, "\n0.01 ") < strstr(text, "\n0.1 "));
    mem_free(text);
}

static void papers_of_a_point_that_is_not_there_are_refused_unless_the_grid_was_changed(void **state)
{
    (void)state;
    sph_experiment *e = NULL;
    write_file("file.yaml", on_plane);
    assert_int_equal(sph_experiment_open(&e, in_home("file.yaml")), 0);
    assert_int_equal(sph_experiment_set(e, "papers", "{accuracy: {lr 0.02: {GmP: \"0.8\"}}}"), 0);
    assert_int_equal(experiment_check_papers(e), SPH_EFORMAT);
    assert_non_null(strstr(sph_error(), "papers: accuracy: no dataset or grid point 'lr 0.02'"));
    assert_int_equal(sph_experiment_set(e, "grid.lr", "[0.1]"), 0);
    assert_int_equal(experiment_check_papers(e), 0);
    sph_experiment_free(e);
}

static void motion_is_of_all_seeds_and_stands_beside_the_papers(void **state)
{
    (void)state;
    char folder[320];
    struct results results;
    struct tables tables;
    sph_experiment *e = NULL;
    snprintf(folder, sizeof folder, "%s", in_home("plane"));
    assert_int_equal(sph_experiment_open(&e, in_home("plane/experiment.yaml")), 0);
    assert_int_equal(sph_experiment_set(e, "record", "boundaries:every"), 0);
    assert_int_equal(results_read(&results, e, folder), 0);
    motion_free(&results.motion);
    assert_int_equal(motion_read(&results.motion, &results), 0);
    struct motion *motion = &results.motion;
    assert_int_equal(motion->count, 4); /* methods first */
    const struct motion_row *sp = &motion->rows[0], *gmp = &motion->rows[3];
    assert_string_equal(sp->method, "SP");
    assert_string_equal(sp->point, "lr 0.1");
    assert_string_equal(gmp->method, "GmP");
    assert_string_equal(gmp->point, "lr 0.01");
    assert_int_equal(sp->runs, 2);
    assert_int_equal(sp->steps, 2 * STEPS);
    assert_true(sp->value[MOTION_MAX_MOVE] == 401); /* the second seed's */
    assert_true(sp->value[MOTION_MEDIAN_MOVE] == 0.001);
    assert_true(fabs(sp->value[MOTION_MAX_TURN] - 171.88733853924697) < 1e-9);
    assert_true(fabs(sp->value[MOTION_TURN_99] - 0.57295779513082321) < 1e-12);
    assert_true(gmp->value[MOTION_MAX_MOVE] == 0.002);
    assert_int_equal(motion->paper_count, 5);
    assert_string_equal(motion->papers[0].text, "below \"1\"");
    assert_true(motion->papers[0].ours == 0.002);
    assert_true(motion->papers[2].ours > 0 && motion->papers[2].ours <= 1);
    assert_true(isnan(motion->papers[0].median)); /* a number of motion is no score */
    assert_true(motion->papers[2].least <= motion->papers[2].median &&
                motion->papers[2].median <= motion->papers[2].most && motion->papers[2].least > 0);
    assert_string_equal(motion->papers[4].method, "GmP"); /* said of one point */
    assert_string_equal(motion->papers[4].point, "lr 0.01");
    assert_string_equal(motion->papers[4].text, "0.8");
    motion->rows[3].value[MOTION_MAX_TURN] = 1e-5; /* what rounding does, and no turn at all */
    motion->rows[3].value[MOTION_TURN_99] = 0;
    assert_int_equal(tables_make(&tables, &results), 0);
    assert_int_equal(tables_write(&tables, &results), 0);
    tables_free(&tables);
    results_free(&results);
    assert_int_equal(results_read(&results, e, folder), 0); /* what was written is read again */
    assert_int_equal(motion->count, 4);
    assert_int_equal(motion->layers, 1);
    assert_int_equal(motion->unit, MOTION_IN_FEATURES);
    assert_string_equal(motion->rows[0].point, "lr 0.1");
    assert_int_equal(motion->rows[0].steps, 2 * STEPS);
    assert_true(motion->rows[0].value[MOTION_MAX_MOVE] == 401);
    assert_true(motion->papers[0].ours == 0.002);
    results_free(&results);
    sph_experiment_free(e);

    char *text = text_in(in_home("plane/motion.txt"));
    assert_non_null(strstr(text, "       < 0.001             0\n"));
    mem_free(text);
    text = text_in(in_home("plane/motion.csv"));
    assert_non_null(strstr(text, "\nSP,lr 0.1,layers.0,2,10000,401,0.001,171.88733853924697,"));
    assert_non_null(strstr(text, ",\"below \"\"1\"\"\","));
    mem_free(text);
    json_error_t error;
    json_t *object = json_load_file(in_home("plane/motion.json"), 0, &error);
    const json_t *row = json_array_get(json_object_get(object, "rows"), 0);
    assert_true(json_real_value(json_object_get(row, "max_move")) == 401 ||
                json_integer_value(json_object_get(row, "max_move")) == 401);
    json_decref(object);
}

static void figures_on_a_line_are_drawn_in_the_datas_units(void **state)
{
    (void)state;
    static const char *const names[] = {"predictions", "spectrum", "moves", "trajectories"};
    run_it(on_line, "line");
    write_record(in_home("line/jobs/SP/seed-0"), &(struct made){1, 17, 5000, 0});
    write_record(in_home("line/jobs/GmP/seed-0"), &(struct made){1, 17, 0.5, 0});
    drawn("line", names, 4);
    struct made walk = {1, 17, 0.5, 0};
    char *text = text_in(in_home("line/figures/spectrum.p1spectrum.dat"));
    assert_true(has_row(text, where(&walk, 5000, 3, 0), 10)); /* phi, the last bar */
    assert_true(has_row(text, where(&walk, 0, 3, 0), 0));
    mem_free(text);
    text = text_in(in_home("line/figures/predictions.gp"));
    assert_non_null(strstr(text, "is_function = 1\n"));
    assert_non_null(strstr(text, "spectrum = 1\n"));
    assert_non_null(strstr(text, "score_0 = 'test rmse "));
    mem_free(text);
    text = text_in(in_home("line/figures/moves.p0.dat")); /* bins keep the largest */
    assert_non_null(strstr(text, " 5000 "));
    mem_free(text);
}

static void one_run_is_drawn_or_says_what_is_missing(void **state)
{
    (void)state;
    const char *name = "line/jobs/GmP/seed-0";
    assert_int_equal(sph_figures(in_home(name), NULL, NULL, NULL) < 0, 0);
    is_there(name, "trajectories", ".gp");
    is_there(name, "predictions", ".gp");
    is_there(name, "convergence", ".gp");
    assert_fails(draw(name, "decision"), SPH_EARG, .key = "decision", .path = name);
    assert_fails(draw(name, "flips"), SPH_EFORMAT, .key = "record", .path = name);
    assert_fails(draw(name, "sensitivity"), SPH_EARG, .key = "sensitivity", .path = name);
    char path[400];
    snprintf(path, sizeof path, "%s/boundaries.npz", in_home(name));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sph_figures(in_home(name), NULL, NULL, NULL) < 0, 0); /* what needs no record */
    assert_fails(draw(name, "turns"), SPH_EFORMAT, .key = "record", .path = name);
    assert_fails(draw("line", "turns"), SPH_EFORMAT, .key = "record", .path = name);
    assert_fails(draw("line", NULL), SPH_EARG, .key = "figures", .path = "line/experiment.yaml");
    assert_fails(draw("line", "turn"), SPH_EARG, .key = "turn");
    assert_fails(draw("nowhere", NULL), SPH_EIO, .path = "nowhere");
    assert_fails(draw("line/jobs", NULL), SPH_EFORMAT, .path = "line/jobs");
}

static void a_record_of_another_shape_is_refused(void **state)
{
    (void)state;
    const char *name = "line/jobs/SP/seed-0";
    write_record(in_home(name), &(struct made){2, 17, 1, 0});
    assert_fails(draw(name, "trajectories"), SPH_EFORMAT, .key = "layers.0.phi", .path = name);
    assert_fails(draw(name, "spectrum"), SPH_EFORMAT, .key = "layers.0.phi", .path = name);
    char path[400];
    snprintf(path, sizeof path, "%s/boundaries.npz", in_home(name));
    FILE *file = fopen(path, "w");
    fputs("PK", file);
    fclose(file);
    assert_fails(draw(name, "trajectories"), SPH_EFORMAT, .path = "boundaries.npz");
}

/* The data are gone, then the record of one method: what needs neither is drawn all the same. */
static void a_figure_opens_no_more_than_it_needs(void **state)
{
    (void)state;
    static const char *const names[] = {"turns", "moves", "convergence"};
    char text[600], csv[400];
    FILE *file = fopen(in_home("own.csv"), "w");
    fputs("a,b,class\n", file);
    for (int i = 0; i < 60; i++)
        fprintf(file, "%d,%d,%s\n", i % 7, i % 5, i % 2 ? "x" : "y");
    fclose(file);
    snprintf(csv, sizeof csv, "%s", in_home("own.csv"));
    snprintf(
        text, sizeof text,
        "name: own\ndata: {name: %s}\nnet: {hidden: [3]}\ntrain: {epochs: 2}\nrecord: {boundaries: epoch}\n"
        "methods: [{name: SP, param: sp}, {name: GmP}]\n",
        csv);
    run_it(text, "own");
    assert_int_equal(unlink(csv), 0);
    drawn("own", names, 3);
    assert_fails(draw("own", "decision"), SPH_EIO, .path = "own.csv");
    assert_int_equal(unlink(in_home("own/jobs/GmP/seed-0/boundaries.npz")), 0);
    drawn("own", names + 2, 1);
    assert_fails(draw("own", "moves"), SPH_EFORMAT, .key = "record", .path = "GmP/seed-0");
}

/* Results read, motion measured, tables written. */
static int write_again(const sph_experiment *e, const char *folder)
{
    struct results results;
    struct tables tables = {0};
    int err = results_read(&results, e, folder);
    motion_free(&results.motion);
    if (!err)
        err = motion_read(&results.motion, &results);
    if (!err && !(err = tables_make(&tables, &results)))
        err = tables_write(&tables, &results);
    tables_free(&tables);
    results_free(&results);
    return err;
}

/* Each allocation in turn, more and more sparsely: without gnuplot, which has its own. */
static void memory_that_runs_out_is_said_and_nothing_is_lost(void **state)
{
    (void)state;
    static const char *const plane[] = {"trajectories", "turns", "decision", "convergence", "sensitivity"};
    static const char *const line[] = {"predictions", "spectrum", "moves"};
    char *path = mem_text(getenv("PATH")), folder[320];
    sph_experiment *e = NULL;
    snprintf(folder, sizeof folder, "%s", in_home("plane"));
    write_record(in_home("line/jobs/SP/seed-0"), &(struct made){1, 17, 5000, 0});
    write_record(in_home("line/jobs/GmP/seed-0"), &(struct made){1, 17, 0.5, 0});
    assert_int_equal(sph_experiment_open(&e, in_home("plane/experiment.yaml")), 0);
    assert_int_equal(options_put(e->base, OPTION_RECORD, "boundaries:every", ORIGIN_FILE), 0);
    setenv("PATH", "/nowhere", 1);
    for (int what = 0; what < 3; what++) {
        int err = -1;
        size_t failures = 0;
        for (size_t n = 0; err < 0; n += 1 + n / 25, failures++) {
            fault_after(n);
            if (what == 0)
                err = write_again(e, folder);
            else
                err = what == 1 ? sph_figures(in_home("plane"),
                                              &(sph_figures_opts){.names = plane, .count = 5}, NULL, NULL)
                                : sph_figures(in_home("line"), &(sph_figures_opts){.names = line, .count = 3},
                                              NULL, NULL);
            int happened = fault_happened();
            fault_off();
            if (err < 0 && err != SPH_EMEMORY)
                fail_msg("%d: allocation %zu: code %d, %s", what, n, err, sph_error());
            assert_int_equal(err < 0, happened);
        }
        assert_true(failures > 20);
    }
    setenv("PATH", path, 1);
    mem_free(path);
    sph_experiment_free(e);
}

/* ---------------------------------------------------------------- which seed */

static size_t median_of(size_t methods, size_t seeds, const double *score)
{
    static struct experiment_outcome outcomes[32];
    static size_t final[32];
    struct sph_experiment e = {.method_count = methods, .seed_count = seeds};
    struct results results = {
        .experiment = &e, .outcomes = outcomes, .final = final, .facts = {.metric = "accuracy"}};
    for (size_t i = 0; i < methods * seeds; i++) {
        final[i] = i;
        outcomes[i].result = isnan(score[i]) ? json_pack("{s:{}}", "test")
                                             : json_pack("{s:{s:f}}", "test", "accuracy", score[i]);
        assert_non_null(outcomes[i].result);
    }
    size_t seed = results_median_seed(&results);
    for (size_t i = 0; i < methods * seeds; i++)
        json_decref(outcomes[i].result);
    return seed;
}

static void the_median_seed_ranks_nearest_to_the_middle(void **state)
{
    (void)state;
    const double no = (double)NAN;
    assert_int_equal(median_of(1, 1, (double[]){0.5}), 0);
    assert_int_equal(median_of(1, 5, (double[]){0.9, 0.1, 0.5, 0.4, 0.6}), 2);
    assert_int_equal(median_of(1, 4, (double[]){0.9, 0.4, 0.1, 0.5}), 1); /* of two in the middle the first */
    assert_int_equal(median_of(1, 5, (double[]){0.1, 0.5, 0.5, 0.5, 0.9}), 1);
    assert_int_equal(median_of(1, 3, (double[]){no, 0.2, 0.7}), 2); /* what has no number is last */
    assert_int_equal(median_of(1, 3, (double[]){no, no, no}), 0);
    /* seed 0 is in the middle of the one method and last of the other; seed 1 is nearer over both */
    assert_int_equal(median_of(2, 5, (double[]){3, 2, 1, 4, 5, 1, 3, 2, 4, 5}), 1);
}

static void letters_of_the_file_are_those_of_the_panels(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, "%sfigures: [decision]\nletters: {decision: jk-m, turns: \"-i\"}\n",
             on_plane);
    run_it(text, "letters");
    char *script = text_in(in_home("letters/figures/decision.gp"));
    assert_non_null(strstr(script, "letters = 'jk-m'\n"));
    mem_free(script);
    script = text_in(in_home("letters/experiment.yaml"));
    assert_non_null(strstr(script, "letters: {turns: \"-i\", decision: \"jk-m\"}"));
    mem_free(script);
    snprintf(text, sizeof text, "%sletters: {decision: j1}\n", on_plane);
    write_file("file.yaml", text);
    sph_experiment *e = NULL;
    assert_fails(sph_experiment_open(&e, in_home("file.yaml")), SPH_EFORMAT, .key = "letters",
                 .path = "file.yaml", .line = 12);
    snprintf(text, sizeof text, "%sletters: {decisions: j}\n", on_plane);
    write_file("file.yaml", text);
    assert_fails(sph_experiment_open(&e, in_home("file.yaml")), SPH_EFORMAT, .key = "letters",
                 .path = "file.yaml", .line = 12);
}

static char *drawn_with(const char *dir, const uint64_t *seed, const char *file)
{
    const char *name = "decision";
    char path[400];
    if (sph_figures(in_home(dir), &(sph_figures_opts){.names = &name, .count = 1, .seed = seed}, NULL, NULL) <
        0)
        fail_msg("%s", sph_error());
    snprintf(path, sizeof path, "%s/figures/%s", in_home(dir), file);
    return text_in(path);
}

static void a_seed_is_shown_that_was_asked_for(void **state)
{
    const uint64_t seed[] = {0, 1, 7};
    (void)state;
    run_it(on_plane, "seeds");
    for (size_t s = 0; s < 2; s++) {
        char wanted[64];
        char *script = drawn_with("seeds", &seed[s], "decision.gp");
        snprintf(wanted, sizeof wanted, "foot_seed = 'seed %d'", (int)seed[s]);
        assert_non_null(strstr(script, wanted));
        mem_free(script);
    }
    char *zero = drawn_with("seeds", &seed[0], "decision.p0data.dat");
    char *one = drawn_with("seeds", &seed[1], "decision.p0data.dat");
    assert_string_not_equal(zero, one); /* another split, other rows */
    char *script = drawn_with("seeds", NULL, "decision.gp"),
         *median = drawn_with("seeds", NULL, "decision.p0data.dat");
    char *caption = drawn_with("seeds", NULL, "decision.caption");
    int is_zero = strstr(script, "foot_seed = 'seed 0, closest to the median scores of 2 seeds'") != NULL;
    assert_true(is_zero || strstr(script, "foot_seed = 'seed 1, closest to the median scores of 2 seeds'"));
    assert_string_equal(median, is_zero ? zero : one);
    assert_string_equal(caption, is_zero ? "Shown: seed 0, closest to the median scores of 2 seeds."
                                         : "Shown: seed 1, closest to the median scores of 2 seeds.");
    const char *name = "decision";
    assert_fails(sph_figures(in_home("seeds"),
                             &(sph_figures_opts){.names = &name, .count = 1, .seed = &seed[2]}, NULL, NULL),
                 SPH_EARG, .key = "seed", .path = "seeds/experiment.yaml");
    mem_free(zero);
    mem_free(one);
    mem_free(script);
    mem_free(median);
    mem_free(caption);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_on_a_plane_are_drawn_and_no_jump_is_lost),
        cmocka_unit_test(motion_is_of_all_seeds_and_stands_beside_the_papers),
        cmocka_unit_test(papers_of_a_point_that_is_not_there_are_refused_unless_the_grid_was_changed),
        cmocka_unit_test(figures_on_a_line_are_drawn_in_the_datas_units),
        cmocka_unit_test(one_run_is_drawn_or_says_what_is_missing),
        cmocka_unit_test(a_record_of_another_shape_is_refused),
        cmocka_unit_test(the_median_seed_ranks_nearest_to_the_middle),
        cmocka_unit_test(a_seed_is_shown_that_was_asked_for),
        cmocka_unit_test(letters_of_the_file_are_those_of_the_panels),
        cmocka_unit_test(a_figure_opens_no_more_than_it_needs),
        cmocka_unit_test(memory_that_runs_out_is_said_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
