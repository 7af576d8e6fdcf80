/* SPDX-License-Identifier: MIT
 *
 * The pages that reports are: no text becomes markup, pictures stand in them as images, the same parts give the
 * same bytes. */
#include <math.h>

#include "report_files.h"

#include "fault.h"
#include "report/html.h"
#include "report/report.h"
#include "failure.h"

#define HOSTILE "<b onclick='x()'>&amp; \"q\"</b>"
#define ESCAPED "&lt;b onclick=&#39;x()&#39;&gt;&amp;amp; &quot;q&quot;&lt;/b&gt;"

/* ---------------------------------------------------------------- text */

static void assert_text(const char *text, const char *expected)
{
    struct text out = {0};
    html_add_text(&out, text);
    assert_string_equal(out.chars, expected);
    text_free(&out);
}

static void text_is_escaped_and_made_utf8(void **state)
{
    (void)state;
    assert_text("", "");
    assert_text(HOSTILE, ESCAPED);
    assert_text("a\tb\nc\rd\x01\x7f", "a\tb\nc d  ");
    assert_text("\xcf\x86 \xe2\x82\xac \xf0\x9d\x9c\x83", "\xcf\x86 \xe2\x82\xac \xf0\x9d\x9c\x83");
#define BAD "\xef\xbf\xbd"
    assert_text("\xff<", BAD "&lt;");
    assert_text("\xc0\xaf", BAD BAD);                 /* overlong */
    assert_text("\xed\xa0\x80", BAD BAD BAD);         /* a surrogate */
    assert_text("\xf4\x90\x80\x80", BAD BAD BAD BAD); /* beyond Unicode */
    assert_text("\xcf", BAD);                         /* cut */
    assert_text("\xe2\x82<", BAD BAD "&lt;");         /* cut by a tag */
}

static void paths_are_no_schemes(void **state)
{
    static const char *const cases[][2] = {{"figures/a.svg", "figures/a.svg"},
                                           {"javascript:x", "./javascript:x"},
                                           {"a b\"'<>&?#%.dat", "a%20b%22%27%3C%3E%26%3F%23%25.dat"},
                                           {"\xcf\x86.gp", "%CF%86.gp"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        html_add_path(&out, cases[i][0]);
        assert_string_equal(out.chars, cases[i][1]);
        text_free(&out);
    }
}

/* RFC 4648, section 10, and bytes that are no text. */
static void base64_is_the_standard_one(void **state)
{
    static const char *const cases[][2] = {
        {"f", "Zg=="},         {"fo", "Zm8="},         {"foo", "Zm9v"},         {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}, {"\xff\xfe\xfb", "//77"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        html_add_base64(&out, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(out.chars, cases[i][1]);
        text_free(&out);
    }
}

static void words_of_terminals_become_letters(void **state)
{
    static const char *const cases[][2] = {{"0.1 +- 0.2", "0.1 ± 0.2"},
                                           {"|dphi| over all steps", "|Δφ| over all steps"},
                                           {"phi, eps & graphics", "φ, ε &amp; graphics"},
                                           {"alphi", "alphi"},
                                           {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        html_add_typeset(&out, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(out.chars ? out.chars : "", cases[i][1]);
        text_free(&out);
    }
}

/* ---------------------------------------------------------------- a report */

static void write_figure(const char *name, const char *bytes, size_t length)
{
    char path[128];
    assert_int_equal(file_make_directory(in_home("figures")), 0);
    snprintf(path, sizeof path, "figures/%s", name);
    assert_int_equal(file_replace_with(in_home(path), bytes, length), 0);
}

/* One of everything, with hostile words everywhere; 0 or the failure. */
static int write_report(const char *path)
{
    struct report *report;
    struct text lines = {0};
    struct table table = {0};
    int err = report_new(&report, HOSTILE, HOSTILE);
    if (err < 0)
        return err;
    table_line(&lines, HOSTILE);
    table_line(&lines, "second");
    table_line(&table.caption, HOSTILE);
    table_column(&table, (struct table_column){.head = HOSTILE});
    table_column(&table, (struct table_column){.head = "nothing"});
    table_column(&table, (struct table_column){.head = "n", .number = 1});
    table_rows(&table, 2);
    table_words(&table, 0, 0, HOSTILE);
    table_count(&table, 0, 2, 1);
    table_words(&table, 1, 0, "b");
    table_mark(&table, 0, 2, MARK_BEST);
    table_mark(&table, 1, 0, MARK_BAD);
    report_warning(report, "%s", HOSTILE);
    report_section(report, "One %s", HOSTILE);
    report_paragraph(report, "%s", HOSTILE);
    report_note(report, "%s", HOSTILE);
    report_list(report, &lines);
    report_notes(report, &lines);
    report_fold(report, "%s", HOSTILE);
    report_table(report, &table);
    report_section(report, "Two"); /* ends the fold */
    report_code(report, HOSTILE, "\n" HOSTILE "\n");
    report_figure(report, in_home("figures"), "one", HOSTILE);
    report_figure(report, in_home("figures"), "two", "again");
    if (!err)
        err = lines.failed ? SPH_EMEMORY : report_write(report, path);
    report_free(report);
    table_free(&table);
    text_free(&lines);
    return err;
}

static void a_report_escapes_and_stands_alone(void **state)
{
    char *html, *again;
    (void)state;
    write_figure("one.svg", picture, strlen(picture));
    write_figure("one.PA RT.dat", "1", 1);
    write_figure("one.gp", "1", 1);
    write_figure("one.pdf", "1", 1);
    write_figure("oneself.pdf", "1", 1);
    write_figure("two.svg", picture, strlen(picture));
    assert_int_equal(write_report(in_home("a.html")), 0);
    assert_int_equal(write_report(in_home("b.html")), 0);
    assert_int_equal(file_read(&html, NULL, in_home("a.html")), 0);
    assert_int_equal(file_read(&again, NULL, in_home("b.html")), 0);
    assert_string_equal(html, again);

    assert_lacks(html, "<b onclick");
    assert_lacks(html, "http:");
    assert_lacks(html, "https:");
    assert_lacks(html, "<script");
    assert_int_equal(count_of(html, ESCAPED), 18);
    assert_holds(html, "<title>" ESCAPED "</title>");
    assert_holds(html, "<a href=\"#part-1\">One " ESCAPED "</a>");
    assert_holds(html, "<section id=\"part-1\">\n<h2>One " ESCAPED "</h2>");
    assert_holds(html, "<th scope=\"row\" class=\"bad\">b</th><td class=\"n\"></td>");
    assert_holds(html, "<td class=\"n best\">1</td>");
    assert_holds(html, "</tbody></table></div>\n</div></details>\n</section>\n\n<section id=\"part-2\">");
    assert_holds(html, "<pre tabindex=\"0\">\n\n&lt;b");
    assert_holds(html, "<p class=\"note\">" ESCAPED " second</p>");
    assert_int_equal(count_of(html, "src=\"data:image/svg+xml;base64,PHN2ZyB3aWR0aD0nNDAn"), 2);
    assert_holds(
        html,
        "<div class=\"files\"><a href=\"figures/one.pdf\">PDF</a> · <a href=\"figures/one.svg\">SVG</a> · "
        "<a href=\"figures/one.gp\">gnuplot script</a></div>\n"
        "<div class=\"files\">data: <a href=\"figures/one.PA%20RT.dat\">PA RT</a></div></figcaption>");
    assert_lacks(html, "oneself");
    assert_holds(html, ESCAPED "</th><th scope=\"col\" class=\"n\">n</th></tr></thead>");
    assert_holds(html, "prefers-color-scheme: dark");
    mem_free(html);
    mem_free(again);
}

static char *with_figure(void)
{
    struct report *report;
    char *html;
    assert_int_equal(report_new(&report, "t", NULL), 0);
    report_figure(report, in_home("figures"), "one", "caption");
    if (report_write(report, in_home("a.html")) < 0)
        fail_msg("%s", sph_error());
    report_free(report);
    assert_int_equal(file_read(&html, NULL, in_home("a.html")), 0);
    return html;
}

static void a_figure_too_large_or_broken_is_a_png_and_without_one_says_how_to_draw_it(void **state)
{
    char *large = malloc(REPORT_SVG_MOST + 1), *html;
    (void)state;
    assert_non_null(large);
    memset(large, ' ', REPORT_SVG_MOST + 1);
    memcpy(large, picture, strlen(picture));
    write_figure("one.png", "\x89PNG", 4);
    write_figure("one.svg", large, REPORT_SVG_MOST);
    html = with_figure();
    assert_holds(html, "<img alt=\"caption\" src=\"data:image/svg+xml;base64,");
    assert_lacks(html, "image/png");
    mem_free(html);
    write_figure("one.svg", large, REPORT_SVG_MOST + 1);
    html = with_figure();
    assert_holds(html, "<img alt=\"caption\" src=\"data:image/png;base64,iVBORw==\">");
    assert_lacks(html, "svg+xml");
    mem_free(html);
    write_figure("one.svg", picture, strlen(picture) - 1); /* cut short */
    html = with_figure();
    assert_holds(html, "base64,iVBORw==");
    assert_lacks(html, "svg+xml");
    mem_free(html);
    remove(in_home("figures/one.png"));
    html = with_figure();
    assert_holds(html, "<code>gnuplot one.gp</code>");
    mem_free(html);
    write_figure("one.svg", picture, strlen(picture));
    write_figure("one.gif", "GIF89a", 6);
    html = with_figure(); /* in motion, and its last picture behind it */
    assert_holds(html, "<img alt=\"caption\" src=\"data:image/gif;base64,R0lGODlh\">"
                       "<img alt=\"caption\" src=\"data:image/svg+xml;base64,");
    mem_free(html);
    free(large);
}

static int write_chart(const char *path)
{
    static const double x[] = {1, 2, 3}, y[] = {0.5, 0.25, (double)NAN};
    struct report *report;
    struct table table = {0};
    int err = report_new(&report, "t", NULL);
    if (err < 0)
        return err;
    table_column(&table, (struct table_column){.head = "epoch"});
    table_rows(&table, 1);
    table_number(&table, 0, 0, 1);
    report_chart(report, &(struct chart){.caption = "losses",
                                         .x_name = "epoch",
                                         .y_name = "</script><!--",
                                         .series = &(struct chart_series){HOSTILE, x, y, 3, 0},
                                         .count = 1,
                                         .mark = 2,
                                         .marked = "kept",
                                         .table = &table});
    err = report_write(report, path);
    report_free(report);
    return err;
}

/* With uPlot in the build the page has one script, which its policy names by its content; without, a table. */
static void a_chart_is_json_for_the_one_script_of_the_page(void **state)
{
    char *html;
    (void)state;
    assert_int_equal(write_chart(in_home("a.html")), 0);
    assert_int_equal(file_read(&html, NULL, in_home("a.html")), 0);
    assert_holds(html, "losses</figcaption>");
    assert_holds(html, "<th scope=\"row\">1</th>");
    assert_int_equal(count_of(html, "<script>"), charts_drawn());
    assert_int_equal(count_of(html, "script-src 'sha256-"), charts_drawn());
    assert_lacks(html, "<!--");
    assert_lacks(html, "<b onclick");
    if (charts_drawn()) {
        assert_holds(html, "\"y\":\"\\u003c/script>\\u003c!--\"");
        assert_holds(html, "\"x\":[1.0,2.0,3.0],\"y\":[0.5,0.25,null]");
        assert_int_equal(count_of(html, "Permission is hereby granted"), 1);
    }
    mem_free(html);
    for (size_t n = 0;; n++) {
        fault_after(n);
        int err = write_chart(in_home("b.html")), happened = fault_happened();
        fault_off();
        if (!happened)
            break;
        assert_int_equal(err, SPH_EMEMORY);
    }
}

static void every_failed_allocation_is_told(void **state)
{
    char *whole, *html;
    (void)state;
    write_figure("one.svg", picture, strlen(picture));
    assert_int_equal(write_report(in_home("a.html")), 0);
    assert_int_equal(file_read(&whole, NULL, in_home("a.html")), 0);
    for (size_t n = 0;; n++) {
        remove(in_home("b.html"));
        fault_after(n);
        int err = write_report(in_home("b.html")), happened = fault_happened();
        fault_off();
        if (!happened)
            break;
        if (err != SPH_EMEMORY)
            fail_msg("allocation %zu: %d", n, err);
        assert_false(file_exists(in_home("b.html")));
    }
    assert_int_equal(file_read(&html, NULL, in_home("b.html")), 0);
    assert_string_equal(whole, html);
    mem_free(whole);
    mem_free(html);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    struct report *report;
    (void)state;
    assert_int_equal(report_new(&report, "t", NULL), 0);
    assert_fails(report_write(report, in_home("none/a.html")), SPH_EIO, .path = "none/a.html");
    report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped_and_made_utf8),
        cmocka_unit_test(paths_are_no_schemes),
        cmocka_unit_test(base64_is_the_standard_one),
        cmocka_unit_test(words_of_terminals_become_letters),
        cmocka_unit_test_setup_teardown(a_report_escapes_and_stands_alone, make_home, remove_home),
        cmocka_unit_test_setup_teardown(
            a_figure_too_large_or_broken_is_a_png_and_without_one_says_how_to_draw_it, make_home,
            remove_home),
        cmocka_unit_test_setup_teardown(a_chart_is_json_for_the_one_script_of_the_page, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_told, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_is_named, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
