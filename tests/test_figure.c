/* SPDX-License-Identifier: MIT
 *
 * A figure: what its files hold, what gnuplot makes of them, and what happens where there is no gnuplot, no
 * memory, or a script that is wrong. */
#include "figure_files.h"

#include <dirent.h>

#include "base/error.h"
#include "fault.h"
#include "fault_system.h" /* no syncs: thousands of them would take long */
#include "report/figure.h"
#include "report/scripts.h"
#include "failure.h"

/* A script of our own instead of one that is built in. */
static void use_script(const char *name, const char *text)
{
    char file[64];
    snprintf(file, sizeof file, "scripts/%s.gp", name);
    assert_int_equal(file_make_directory(at_home("scripts")), 0);
    write_home(file, text);
    setenv("SPHERELU_FIGURES", at_home("scripts"), 1);
}

static struct figure *new_figure(const char *name, const char *script)
{
    struct figure *figure = NULL;
    assert_int_equal(figure_new(&figure, home, name, script), 0);
    return figure;
}

static size_t files_like(const char *part)
{
    size_t count = 0;
    DIR *dir = opendir(home);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += strstr(entry->d_name, part) != NULL;
    closedir(dir);
    return count;
}

/* ---------------------------------------------------------------- data and script */

static void data_files_hold_what_was_added(void **state)
{
    (void)state;
    struct figure *figure = new_figure("data", "boundary");
    figure_columns(figure, "curve", "x y");
    figure_row(figure, (double[]){1, -0.5}, 2);
    figure_row(figure, (double[]){(double)NAN, (double)INFINITY}, 2);
    figure_gap(figure, 1);
    figure_row(figure, (double[]){1e-300, 123456789}, 2);
    figure_gap(figure, 2);
    figure_row(figure, (double[]){7}, 1);
    figure_columns(figure, "empty", NULL);
    (void)figure_draw(figure); /* the script needs other data */
    figure_free(figure);
    char *text = read_home("data.curve.dat", NULL), *empty = read_home("data.empty.dat", NULL);
    assert_string_equal(text, "# x y\n1 -0.5\nNaN NaN\n\n1e-300 123456789\n\n\n7\n");
    assert_string_equal(empty, "");
    mem_free(text);
    mem_free(empty);
}

/* The script prints a variable into what should be the picture: it comes back byte by byte, nothing in it is
 * run. */
static void words_reach_the_script_as_they_are(void **state)
{
    (void)state;
    NEEDS_GNUPLOT();
    static const char words[] = "it's `touch ran` \"$HOME\" \\n \xcf\x86 %s {/Symbol f}";
    use_script("words", "set print output\nprint words, number\n");
    struct figure *figure = new_figure("words", "words");
    figure_text(figure, "words", words);
    figure_number(figure, "number", 0.1);
    assert_int_equal(figure_draw(figure), 0);
    figure_free(figure);
    char *text = read_home("words.png", NULL);
    assert_memory_equal(text, words, strlen(words));
    assert_string_equal(text + strlen(words), " 0.1\n");
    mem_free(text);
    assert_int_equal(files_like("ran"), 0);
}

static void a_name_with_a_slash_is_refused(void **state)
{
    (void)state;
    struct figure *figure = NULL;
    assert_fails(figure_new(&figure, home, "../x", "boundary"), SPH_EARG, .key = "../x");
    assert_null(figure);
}

static void an_unknown_script_is_refused(void **state)
{
    (void)state;
    struct figure *figure = new_figure("x", "no-such");
    setenv("SPHERELU_FIGURES", at_home("scripts"), 1);
    assert_fails(figure_draw(figure), SPH_EIO, .key = "SPHERELU_FIGURES");
    assert_int_equal(file_make_directory(at_home("scripts")), 0);
    assert_fails(figure_draw(figure), SPH_EARG, .key = "no-such");
    figure_free(figure);
}

static void scripts_are_those_of_the_folder(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct figure_script *script = figure_scripts; script->name; script++, count++) {
        char path[512], *text = NULL;
        snprintf(path, sizeof path, "%s/../figures/%s%s", SPH_TESTS_DIR, script->name,
                 strchr(script->name, '.') ? "" : ".gp"); /* the report's style sheet travels with them */
        const char *embedded = (const char *)script->chars;
        if (!strcmp(script->name, "uplot.css")) /* uPlot's own */
            continue;
        assert_int_equal(file_read(&text, NULL, path), 0);
        if (!strcmp(script->name, "charts.js")) /* stands behind uPlot */
            embedded += strlen(embedded) - strlen(text);
        assert_string_equal(text, embedded);
        mem_free(text);
    }
    assert_true(count >= 7);
}

/* ---------------------------------------------------------------- gnuplot */

static const char simple[] =
    "eval page(6, 4)\nplot part('d') using 1:2 with linespoints linestyle style('GmP', 1)\n";

static struct figure *simple_figure(const char *name)
{
    use_script("simple", simple);
    struct figure *figure = new_figure(name, "simple");
    figure_columns(figure, "d", "x y");
    for (int i = 0; i < 5; i++)
        figure_row(figure, (double[]){i, i * i}, 2);
    return figure;
}

static void three_pictures_are_made_and_nothing_else(void **state)
{
    (void)state;
    NEEDS_GNUPLOT();
    struct figure *figure = simple_figure("simple");
    assert_int_equal(figure_draw(figure), FIGURE_DRAWN);
    figure_free(figure);
    check_pictures("simple");
    assert_int_equal(files_like("simple."), 5); /* gp, dat and the three */
}

/* What lies beside a picture makes the same picture again, by gnuplot alone. */
static void the_script_stands_alone(void **state)
{
    (void)state;
    NEEDS_GNUPLOT();
    struct figure *figure = simple_figure("alone");
    assert_int_equal(figure_draw(figure), 0);
    figure_free(figure);
    char command[256];
    snprintf(command, sizeof command, "cd %s && mv alone.png first.png && gnuplot alone.gp", home);
    assert_int_equal(system(command), 0);
    assert_true(same_files("first.png", "alone.png"));
}

static void without_gnuplot_data_and_script_are_there(void **state)
{
    (void)state;
    char *path = mem_text(getenv("PATH"));
    struct figure *figure = simple_figure("bare");
    setenv("PATH", at_home("scripts"), 1);
    int err = figure_draw(figure);
    setenv("PATH", path, 1);
    mem_free(path);
    assert_fails(err, FIGURE_NO_GNUPLOT, .key = "gnuplot");
    figure_free(figure);
    assert_true(file_exists(at_home("bare.gp")) && file_exists(at_home("bare.d.dat")));
    assert_int_equal(files_like("bare."), 2);
}

static void a_wrong_script_is_one_line_and_leaves_the_old_pictures(void **state)
{
    (void)state;
    NEEDS_GNUPLOT();
    struct figure *figure = simple_figure("wrong");
    assert_int_equal(figure_draw(figure), 0);
    figure_free(figure);
    assert_int_equal(rename(at_home("wrong.png"), at_home("kept.png")), 0);
    char *bytes;
    size_t length;
    bytes = read_home("kept.png", &length);
    assert_int_equal(file_replace_with(at_home("wrong.png"), bytes, length), 0);
    mem_free(bytes);

    use_script("simple", "eval page(6, 4)\nplot nowhere\n");
    figure = new_figure("wrong", "simple");
    assert_fails(figure_draw(figure), SPH_EIO, .path = at_home("wrong.gp"));
    figure_free(figure);
    assert_true(same_files("kept.png", "wrong.png"));
    assert_int_equal(files_like(".part."), 0);

    use_script("simple", "# draws nothing\n");
    figure = new_figure("wrong", "simple");
    assert_fails(figure_draw(figure), SPH_EIO, .path = at_home("wrong.gp"));
    figure_free(figure);
}

/* A user's start-up file has no say in our pictures. */
static void the_users_settings_do_not_matter(void **state)
{
    (void)state;
    NEEDS_GNUPLOT();
    write_home(".gnuplot", "undefined_command\n");
    char *before = getenv("HOME") ? mem_text(getenv("HOME")) : NULL;
    setenv("HOME", home, 1);
    struct figure *figure = simple_figure("mine");
    int err = figure_draw(figure);
    if (before)
        setenv("HOME", before, 1);
    mem_free(before);
    assert_int_equal(err, 0);
    figure_free(figure);
}

/* ---------------------------------------------------------------- svg */

/* It stands in pages as it is: no script, no font that a browser might lack. */
static void gnuplots_svg_needs_nothing_else(void **state)
{
    (void)state;
    NEEDS_GNUPLOT();
    use_script("italic", "eval page(6, 4)\nset title '{/:Italic x} φ'\nplot x\n");
    struct figure *figure = new_figure("alone", "italic");
    assert_int_equal(figure_draw(figure), 0);
    figure_free(figure);
    char *svg = read_home("alone.svg", NULL);
    size_t fonts = 0;
    for (const char *at = svg; (at = strstr(at, "font-family=\"")); fonts++) {
        at += strlen("font-family=\"");
        assert_memory_equal(at, "sans-serif\"", strlen("sans-serif\""));
    }
    assert_true(fonts > 5);
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "href='http"));
    mem_free(svg);
}

/* ---------------------------------------------------------------- animations */

static const char moving[] = "eval page(6, 4)\n"
                             "do for [k = 1:frames] { if (shown(k)) { plot k * x } }\n";

/* Every frame of a GIF begins with a graphic control extension: 21 f9 04, flags, delay, transparent, 0. */
static size_t count_frames(const char *gif, size_t length, unsigned delay)
{
    const unsigned char *b = (const unsigned char *)gif;
    size_t frames = 0;
    for (size_t i = 0; i + 8 <= length; i++)
        frames += b[i] == 0x21 && b[i + 1] == 0xf9 && b[i + 2] == 4 && b[i + 7] == 0 &&
                  (b[i + 4] | (unsigned)b[i + 5] << 8) == delay;
    return frames;
}

static void an_animation_has_every_frame(void **state)
{
    (void)state;
    NEEDS_GNUPLOT();
    use_script("moving", moving);
    struct figure *figure = new_figure("moving", "moving");
    assert_int_equal(figure_animate(figure, 4, 0.25), 0);
    figure_free(figure);
    check_pictures("moving");
    assert_int_equal(files_like("moving."), 5);
    size_t length;
    char *gif = read_home("moving.gif", &length);
    assert_memory_equal(gif, "GIF89a", 6);
    assert_int_equal(count_frames(gif, length, 25), 4);
    mem_free(gif);
}

/* ---------------------------------------------------------------- no memory */

static int make_and_draw(int animate)
{
    struct figure *figure = NULL;
    int err = figure_new(&figure, home, "short", animate ? "moving" : "simple");
    if (err)
        return err;
    figure_text(figure, "words", "some");
    figure_columns(figure, "d", "x y");
    figure_row(figure, (double[]){0, 1}, 2);
    figure_row(figure, (double[]){1, 3}, 2);
    err = animate ? figure_animate(figure, 2, 0.1) : figure_draw(figure);
    figure_free(figure);
    return err;
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    NEEDS_GNUPLOT();
    use_script("simple", simple);
    use_script("moving", moving);
    for (int animate = 0; animate < 2; animate++) {
        size_t failed = 0;
        for (;; failed++) {
            fault_after(failed);
            int err = make_and_draw(animate);
            int happened = fault_happened();
            fault_off();
            assert_int_equal(err, happened ? SPH_EMEMORY : 0);
            if (!happened)
                break;
            assert_int_equal(files_like(".part."), 0);
            assert_int_equal(files_like(".tmp"), 0);
            assert_int_equal(files_like(".frame"), 0);
        }
        assert_true(failed > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(data_files_hold_what_was_added, make_home, remove_home),
        cmocka_unit_test_setup_teardown(words_reach_the_script_as_they_are, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_name_with_a_slash_is_refused, make_home, remove_home),
        cmocka_unit_test_setup_teardown(an_unknown_script_is_refused, make_home, remove_home),
        cmocka_unit_test(scripts_are_those_of_the_folder),
        cmocka_unit_test_setup_teardown(three_pictures_are_made_and_nothing_else, make_home, remove_home),
        cmocka_unit_test_setup_teardown(the_script_stands_alone, make_home, remove_home),
        cmocka_unit_test_setup_teardown(without_gnuplot_data_and_script_are_there, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_wrong_script_is_one_line_and_leaves_the_old_pictures, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(the_users_settings_do_not_matter, make_home, remove_home),
        cmocka_unit_test_setup_teardown(gnuplots_svg_needs_nothing_else, make_home, remove_home),
        cmocka_unit_test_setup_teardown(an_animation_has_every_frame, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_failed_allocation_is_reported, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
