/* SPDX-License-Identifier: MIT
 *
 * The pages that reports are: no text becomes markup, no picture brings more than a drawing, the same parts
 * give the same bytes. */
#include "report_files.h"

#include "fault.h"
#include "report/html.h"
#include "report/report.h"
#include "report/page_table.h"

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

/* ---------------------------------------------------------------- SVG */

static char *inlined(const char *svg)
{
    struct text out = {0};
    if (svg_inline(&out, "a.svg", svg, strlen(svg), "p-", "a \"label\"") < 0)
        fail_msg("%s", sph_error());
    return out.chars;
}

static void svg_comes_without_its_file_and_with_own_ids(void **state)
{
    (void)state;
    char *out = inlined(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"x\" \"http://www.w3.org/x.dtd\" [<!ENTITY e 'x'>]>\n"
        "<!-- a comment -->\n<svg width=\"640\" height=\"420\" viewBox=\"0 0 640 420\"\n"
        " xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n"
        "<title>Gnuplot</title><desc>x</desc>\n\n"
        "<defs><circle id='dot' r='1'/></defs><g id=\"g1\" clip-path=\"url(#clip)\" class='note'>"
        "<use xlink:href='#dot' style='fill:url(#dot)'/><text> a &lt; b \xcf\x86</text></g>\n</svg>\n");
    assert_string_equal(
        out,
        "<svg width=\"640\" height=\"420\" viewBox=\"0 0 640 420\" role=\"img\" "
        "aria-label=\"a &quot;label&quot;\">\n\n"
        "<defs><circle id='p-dot' r='1'/></defs><g id=\"p-g1\" clip-path=\"url(#p-clip)\">"
        "<use xlink:href='#p-dot' style='fill:url(#p-dot)'/><text> a &lt; b \xcf\x86</text></g>\n</svg>");
    mem_free(out);
}

static void svg_brings_nothing_but_a_drawing(void **state)
{
    static const char *const gone[] = {
        "<script>alert(1)</script>",
        "<script href='http://x/x.js'/>",
        "<script><![CDATA[ </script> ]]></script>",
        "<style>body { display: none }</style>",
        "<foreignObject><body><img src='http://x/'/></body></foreignObject>",
        "<a href='http://x/'><rect/></a>",
        "<animate attributeName='href' values='javascript:alert(1)'/>",
        "<set attributeName='onclick' to='alert(1)'/>",
        "<feImage href='http://x/'/>",
        "<iframe src='http://x/'></iframe>",
        "<SCRIPT>alert(1)</SCRIPT>",
        "<g:script>alert(1)</g:script>",
    };
    static const char *const bare[] = {
        "<g onclick='alert(1)'></g>",
        "<g ONLOAD=\"alert(1)\"></g>",
        "<g style='fill:url(http://x/)'></g>",
        "<g style='fill:URL( http://x/)'></g>",
        "<g style='fill:&#117;rl(http://x/)'></g>",
        "<g style='fill:\\75 rl(http://x/)'></g>",
        "<g filter='url(//x/y#z)'></g>",
        "<g href='http://x/'></g>",
        "<g xlink:href='javascript:alert(1)'></g>",
        "<g href='data:image/svg+xml;base64,AAAA'></g>",
        "<g href=' #x'></g>",
        "<g class='warning'></g>",
        "<g xmlns='http://x/'></g>",
    };
    (void)state;
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        char svg[512];
        snprintf(svg, sizeof svg, SVG "><path d='M0,0'/>%s<line/></svg>", gone[i]);
        char *out = inlined(svg);
        const char *begin = strchr(out, '>') + 1;
        if (strcmp(begin, "<path d='M0,0'/><line/></svg>") != 0)
            fail_msg("%s became %s", gone[i], begin);
        mem_free(out);
    }
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        char svg[512];
        snprintf(svg, sizeof svg, SVG ">%s</svg>", bare[i]);
        char *out = inlined(svg);
        const char *begin = strchr(out, '>') + 1;
        if (strcmp(begin, "<g></g></svg>") != 0)
            fail_msg("%s became %s", bare[i], begin);
        mem_free(out);
    }
    char *out = inlined(SVG " onload='alert(1)' style='position:fixed' role='x' aria-hidden='true'>"
                            "<image href='data:image/png;base64,AAAA'/></svg>");
    assert_string_equal(
        out, "<svg width=\"40\" height=\"30\" viewBox=\"0 0 40 30\" role=\"img\" "
             "aria-label=\"a &quot;label&quot;\"><image href='data:image/png;base64,AAAA'/></svg>");
    mem_free(out);
}

static void svg_without_a_size_takes_its_view(void **state)
{
    static const char *const cases[][2] = {
        {"<svg viewBox='1, -2 30.5,40'/>", "<svg width=\"30.5\" height=\"40\" viewBox=\"1 -2 30.5 40\" "},
        {"<svg width='100%' height='10' viewBox='0 0 3 4'/>",
         "<svg width=\"3\" height=\"4\" viewBox=\"0 0 3 4\" "},
        {"<svg width='30px' height='40px'></svg>", "<svg width=\"30\" height=\"40\" viewBox=\"0 0 30 40\" "}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out = inlined(cases[i][0]);
        if (strncmp(out, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("%s became %s", cases[i][0], out);
        mem_free(out);
    }
}

static void broken_svg_is_refused_whole(void **state)
{
    static const char *const cases[][2] = {
        {"", "a.svg:1: it ends in the middle"},
        {"text", "a.svg:1: it ends in the middle"},
        {"<html></html>", "a.svg:1: expected one <svg> and nothing beside it"},
        {SVG "/>\n" SVG "/>", "a.svg:2: expected one <svg> and nothing beside it"},
        {SVG ">\n<g>", "a.svg:2: it ends in the middle"},
        {SVG "><g></svg>", "a.svg:1: a closing tag without its opening one"},
        {SVG "></svg></svg>", "a.svg:1: a closing tag without its opening one"},
        {SVG "><g id=x></g></svg>", "a.svg:1: an attribute without quotes"},
        {SVG "><g id></g></svg>", "a.svg:1: an attribute without a value"},
        {SVG "><g id='x></g></svg>", "a.svg:1: an attribute that does not end"},
        {SVG "><g", "a.svg:1: a tag that does not end"},
        {SVG "><g /", "a.svg:1: a tag that does not end"},
        {SVG "></svg", "a.svg:1: a closing tag that does not end"},
        {SVG "><!-- ", "a.svg:1: a comment that does not end"},
        {SVG "><![CDATA[ ", "a.svg:1: CDATA that does not end"},
        {"<?xml ", "a.svg:1: <? that does not end"},
        {"<!DOCTYPE svg [", "a.svg:1: a doctype that does not end"},
        {SVG ">< g/></svg>", "a.svg:1: a < that begins nothing"},
        {"<svg/>", "a.svg:1: no viewBox, nor width and height in pixels"},
        {"<svg viewBox='0 0 0 5'/>", "a.svg:1: a viewBox that is not four numbers"},
        {"<svg viewBox='0 0 5'/>", "a.svg:1: a viewBox that is not four numbers"},
        {"<svg viewBox='0 0 5 5 \"x'/>", "a.svg:1: a viewBox that is not four numbers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        text_add(&out, "before");
        assert_int_equal(svg_inline(&out, "a.svg", cases[i][0], strlen(cases[i][0]), "p", "l"), SPH_EFORMAT);
        assert_string_equal(sph_error(), cases[i][1]);
        assert_string_equal(out.chars, "before");
        text_free(&out);
    }
}

/* Every beginning of a file is refused, and none is read past its end (the copy has no byte to spare). */
static void cut_svg_is_refused(void **state)
{
    static const char svg[] =
        "<?xml version='1.0'?><!DOCTYPE svg><svg viewBox='0 0 1 1'><!-- c --><g id='a' "
        "style='fill:url(#a)'><![CDATA[x]]><text x=\"1\">t</text></g><use href='#a'/></svg>";
    (void)state;
    for (size_t length = 0; length < sizeof svg - 1; length++) {
        char *copy = malloc(length ? length : 1);
        struct text out = {0};
        assert_non_null(copy);
        memcpy(copy, svg, length);
        if (svg_inline(&out, "a.svg", copy, length, "p", "l") != SPH_EFORMAT)
            fail_msg("%zu bytes were enough", length);
        text_free(&out);
        free(copy);
    }
}

static void elements_too_deep_are_refused(void **state)
{
    struct text svg = {0}, out = {0};
    (void)state;
    text_add(&svg, SVG ">");
    for (int i = 0; i < 1000; i++)
        text_add(&svg, "<g>");
    assert_int_equal(svg_inline(&out, "a.svg", svg.chars, svg.length, "p", "l"), SPH_EFORMAT);
    assert_string_equal(sph_error(), "a.svg:1: elements too deep in each other");
    text_free(&svg);
    text_free(&out);
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
    static const char *const header[] = {HOSTILE, "n"}, *const cell[] = {HOSTILE, "1", "b", NULL};
    static const char *const items[] = {HOSTILE, "second"};
    struct report *report;
    struct page_table table;
    int err = report_new(&report, HOSTILE, HOSTILE);
    if (err < 0)
        return err;
    report_warning(report, HOSTILE);
    report_section(report, "One " HOSTILE);
    report_paragraph(report, HOSTILE);
    report_note(report, HOSTILE);
    report_list(report, items, 2);
    report_fold(report, HOSTILE);
    report_table(report, &(struct report_table){.caption = HOSTILE,
                                                .columns = 2,
                                                .rows = 2,
                                                .header = header,
                                                .cell = cell,
                                                .number = (const unsigned char[]){0, 1},
                                                .mark = (const unsigned char[]){REPORT_PLAIN, REPORT_BEST,
                                                                                REPORT_BAD, REPORT_PLAIN}});
    report_section(report, "Two"); /* ends the fold */
    report_code(report, HOSTILE, "\n" HOSTILE "\n");
    report_figure(report, in_home("figures"), "one", HOSTILE);
    report_figure(report, in_home("figures"), "two", "again");
    if (!(err = page_table_new(&table, 2, 3))) {
        page_table_column(&table, 0, "name", 0);
        page_table_column(&table, 1, "nothing", 0);
        page_table_column(&table, 2, "value", 1);
        text_add(page_table_at(&table, 0, 0), "first");
        text_add(page_table_at(&table, 1, 2), "22");
        page_table_mark(&table, 1, 2, REPORT_BEST);
        err = report_page_table(report, &table, NULL);
        page_table_free(&table);
    }
    if (!err)
        err = report_write(report, path);
    report_free(report);
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
    assert_int_equal(count_of(html, ESCAPED), 17);
    assert_holds(html, "<title>" ESCAPED "</title>");
    assert_holds(html, "<a href=\"#part-1\">One " ESCAPED "</a>");
    assert_holds(html, "<section id=\"part-1\">\n<h2>One " ESCAPED "</h2>");
    assert_holds(html, "<th scope=\"row\" class=\"bad\">b</th><td class=\"n\"></td>");
    assert_holds(html, "<td class=\"n best\">1</td>");
    assert_holds(html, "</tbody></table></div>\n</div></details>\n</section>\n\n<section id=\"part-2\">");
    assert_holds(html, "<pre tabindex=\"0\">\n\n&lt;b");
    assert_holds(html, "<g id='f1-g'/><use href='#f1-g'/>");
    assert_holds(html, "<g id='f2-g'/><use href='#f2-g'/>");
    assert_holds(
        html,
        "<div class=\"files\"><a href=\"figures/one.pdf\">PDF</a> · <a href=\"figures/one.svg\">SVG</a> · "
        "<a href=\"figures/one.gp\">gnuplot script</a></div>\n"
        "<div class=\"files\">data: <a href=\"figures/one.PA%20RT.dat\">PA RT</a></div></figcaption>");
    assert_lacks(html, "oneself");
    assert_holds(
        html, "<thead><tr><th scope=\"col\">name</th><th scope=\"col\" class=\"n\">value</th></tr></thead>");
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
    assert_holds(html, "<g id='f1-g'/>");
    assert_lacks(html, "base64");
    mem_free(html);
    write_figure("one.svg", large, REPORT_SVG_MOST + 1);
    html = with_figure();
    assert_holds(html, "<img alt=\"caption\" src=\"data:image/png;base64,iVBORw==\">");
    assert_lacks(html, "<svg");
    mem_free(html);
    write_figure("one.svg", "<svg", 4);
    html = with_figure();
    assert_holds(html, "base64,iVBORw==");
    assert_lacks(html, "<svg");
    mem_free(html);
    remove(in_home("figures/one.png"));
    html = with_figure();
    assert_holds(html, "<code>gnuplot one.gp</code>");
    mem_free(html);
    static const char moving[50] = "\x89PNG\r\n\x1a\n____IHDR_________________"
                                   "____acTL";
    write_figure("one.svg", picture, strlen(picture));
    write_figure("one.png", moving, sizeof moving);
    html = with_figure(); /* in motion, and its last picture behind it */
    assert_holds(html, "<img alt=\"caption\" src=\"data:image/png;base64,");
    assert_holds(html, "\"><svg ");
    mem_free(html);
    free(large);
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
    assert_int_equal(report_write(report, in_home("none/a.html")), SPH_EIO);
    assert_holds(sph_error(), "none/a.html");
    report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped_and_made_utf8),
        cmocka_unit_test(paths_are_no_schemes),
        cmocka_unit_test(base64_is_the_standard_one),
        cmocka_unit_test(svg_comes_without_its_file_and_with_own_ids),
        cmocka_unit_test(svg_brings_nothing_but_a_drawing),
        cmocka_unit_test(svg_without_a_size_takes_its_view),
        cmocka_unit_test(broken_svg_is_refused_whole),
        cmocka_unit_test(cut_svg_is_refused),
        cmocka_unit_test(elements_too_deep_are_refused),
        cmocka_unit_test_setup_teardown(a_report_escapes_and_stands_alone, make_home, remove_home),
        cmocka_unit_test_setup_teardown(
            a_figure_too_large_or_broken_is_a_png_and_without_one_says_how_to_draw_it, make_home,
            remove_home),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_told, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_is_named, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
