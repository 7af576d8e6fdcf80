/* SPDX-License-Identifier: MIT
 *
 * The table of an experiment: each format against a file that was read by eye (golden/table), parsed back,
 * and fed with names that try to break out of it. What it says of the methods is test_verdicts.c's matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failure.h"
#include "fault.h"
#include "layer.h"
#include "file/file.h"
#include "table_input.h"

static const char *const extension[] = {"txt", "md", "tex", "csv", "json"};

/* ---------------------------------------------------------------- golden files */

static void each_format_is_its_golden_file(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; format++) {
        char path[1024], *expected = NULL, *found = write_table(&banana, format);
        size_t length = 0;
        snprintf(path, sizeof path, "%s/golden/table/banana.%s", SPH_TESTS_DIR, extension[format]);
        int err = file_read(&expected, &length, path);
        if (err || length != strlen(found) || memcmp(expected, found, length) != 0) {
            char name[64];
            snprintf(name, sizeof name, "banana.%s.found", extension[format]);
            FILE *file = fopen(name, "w");
            assert_non_null(file);
            fputs(found, file);
            fclose(file);
            fail_msg("%s is not what is written now: see %s in the working directory", path, name);
        }
        mem_free(expected);
        mem_free(found);
    }
}

static void every_format_warns_and_names_failures_and_verdicts(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; format++) {
        char *found = write_table(&banana, format);
        assert_non_null(strstr(found, "the test set chose the epoch"));
        assert_non_null(strstr(found, "loss is nan at step 40"));
        assert_non_null(strstr(found, "GmP better than SP on 5 of 5 splits"));
        assert_non_null(strstr(found, "lr 0.03 (4 of 5), 0.1 (1 of 5)"));
        mem_free(found);
    }
}

/* ---------------------------------------------------------------- parsed back */

static const json_t *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_non_null(value);
    return value;
}

static double real_of(const json_t *object, const char *key)
{
    const json_t *value = member(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void json_comes_back_with_all_digits(void **state)
{
    (void)state;
    char *found = write_table(&banana, JSON);
    json_t *table;
    assert_int_equal(json_parse(&table, "table", found, strlen(found)), 0);
    mem_free(found);
    assert_true(json_is_true(member(table, "larger_is_better")));
    assert_string_equal(json_string_value(member(table, "reference")), "GmP");
    assert_string_equal(json_string_value(member(table, "warning")), banana.warning);
    const json_t *methods = member(table, "methods");
    assert_int_equal(json_array_size(methods), 4);
    for (size_t m = 0; m < 4; m++) {
        const json_t *method = json_array_get(methods, m), *values = member(method, "values");
        struct summary s;
        summarize(four[m].value, CASES, &s);
        assert_string_equal(json_string_value(member(method, "name")), four[m].name);
        assert_true(real_of(method, "n") == (double)s.n);
        assert_true(real_of(method, "mean") == s.mean);
        assert_true(real_of(method, "standard_error") == s.error);
        assert_true(real_of(method, "least") == s.least && real_of(method, "most") == s.most);
        assert_true(real_of(method, "failed") == (double)four[m].failed);
        assert_int_equal(json_array_size(values), CASES);
        for (size_t c = 0; c < CASES; c++) {
            const json_t *value = json_array_get(values, c);
            assert_true(isnan(four[m].value[c]) ? json_is_null(value)
                                                : json_number_value(value) == four[m].value[c]);
        }
        const json_t *pair = member(method, "comparison");
        assert_int_equal(json_is_null(pair), m == 3);
        if (m == 3)
            continue;
        struct wilcoxon test;
        struct interval interval;
        assert_int_equal(wilcoxon_test(four[m].value, gmp, CASES, &test), 0);
        assert_int_equal(bootstrap_difference(four[m].value, gmp, CASES, 10000, 0.95, 0, &interval), 0);
        const json_t *wilcoxon = member(pair, "wilcoxon"), *ends = member(pair, "interval");
        assert_true(real_of(wilcoxon, "p") == test.p);
        assert_true(real_of(wilcoxon, "statistic") == test.statistic);
        assert_true(json_is_true(member(wilcoxon, "exact")) == test.exact);
        assert_true(json_number_value(json_array_get(ends, 0)) == interval.low);
        assert_true(json_number_value(json_array_get(ends, 1)) == interval.high);
        assert_true(real_of(pair, "left_out") == (m == 1 ? 2 : 0));
        assert_true(real_of(pair, "reference_better") + real_of(pair, "reference_worse") +
                        real_of(pair, "equal") ==
                    real_of(pair, "pairs"));
    }
    /* differences are method minus reference */
    const json_t *pair = member(json_array_get(methods, 0), "comparison");
    assert_true(fabs(real_of(pair, "difference") - -Q(16)) < 1e-15);
    json_decref(table);
}

/* One cell of a CSV file by RFC 4180 into cell (size 512); returns what follows its separator, *end says
 * whether the record ends. */
static const char *next_cell(const char *p, char *cell, int *end)
{
    size_t length = 0;
    int quoted = *p == '"';
    for (p += quoted; *p; p++) {
        if (quoted && *p == '"') {
            if (p[1] != '"') {
                p++;
                break;
            }
            p++;
        } else if (!quoted && (*p == ',' || *p == '\n'))
            break;
        assert_true(length + 1 < 512);
        cell[length++] = *p;
    }
    cell[length] = '\0';
    assert_true(*p == ',' || *p == '\n');
    *end = *p == '\n';
    return p + 1;
}

enum { CSV_COLUMNS = 38 };

/* Cells of a table with at most 10 rows; returns the rows. */
static size_t read_csv(const char *csv, char cells[10][CSV_COLUMNS][512])
{
    size_t rows = 0;
    while (*csv) {
        int end = 0;
        assert_in_range(rows, 0, 9);
        for (size_t c = 0; c < CSV_COLUMNS; c++) {
            assert_false(end);
            csv = next_cell(csv, cells[rows][c], &end);
        }
        assert_true(end);
        rows++;
    }
    return rows;
}

static size_t column(char cells[10][CSV_COLUMNS][512], const char *name)
{
    for (size_t c = 0; c < CSV_COLUMNS; c++)
        if (!strcmp(cells[0][c], name))
            return c;
    fail_msg("no column %s", name);
    return 0;
}

static void csv_comes_back_with_all_digits(void **state)
{
    (void)state;
    static char cells[10][CSV_COLUMNS][512];
    char *found = write_table(&banana, CSV);
    assert_int_equal(read_csv(found, cells), 5);
    mem_free(found);
    for (size_t m = 0; m < 4; m++) {
        struct summary s;
        summarize(four[m].value, CASES, &s);
        assert_string_equal(cells[m + 1][column(cells, "method")], four[m].name);
        assert_true(strtod(cells[m + 1][column(cells, "mean")], NULL) == s.mean);
        assert_true(strtod(cells[m + 1][column(cells, "standard_error")], NULL) == s.error);
        assert_string_equal(cells[m + 1][column(cells, "warning")], banana.warning);
        assert_string_equal(cells[m + 1][column(cells, "reason")], four[m].reason ? four[m].reason : "");
        assert_string_equal(cells[m + 1][column(cells, "reference")], m == 3 ? "" : "GmP");
        assert_int_equal(*cells[m + 1][column(cells, "verdict")] == '\0', m == 3);
    }
}

/* ---------------------------------------------------------------- names that try to break out */

static const char wild_name[] = "[a|b] & 100% $x_1$ #{\\x} ~^ <i>\"q\", --\n`t` *";

static const struct comparison_method wild[] = {
    {.name = wild_name,
     .value = sp,
     .failed = 1,
     .reason = "a|b \\input{x}\nnext",
     .chosen = "c|d",
     .seconds = NAN},
    {.name = "GmP", .value = gmp, .seconds = NAN},
};

static const struct comparison_input wild_input = {
    .experiment = "one\ntwo",
    .metric = "rmse_%",
    .protocol = "holdout",
    .cases = CASES,
    .methods = wild,
    .count = 2,
    .reference_method = 1,
};

/* Pipes that Markdown takes for cell borders, in the line at p. */
static size_t borders(const char *p)
{
    size_t count = 0;
    for (; *p && *p != '\n'; p++)
        if (*p == '\\' && p[1])
            p++;
        else
            count += *p == '|';
    return count;
}

/* Means of the same counts, added in another order: the scores of two methods are equal, whatever their last bits say. */
static void scores_that_rounding_alone_parts_are_equal(void **state)
{
    (void)state;
    double there[CASES], back[CASES];
    for (size_t i = 0; i < CASES; i++) {
        double part[] = {0.1 * (double)(i + 1), 0.2, 0.3};
        there[i] = part[0] + part[1] + part[2];
        back[i] = part[2] + part[1] + part[0];
    }
    const struct comparison_method two[] = {{.name = "A", .value = there}, {.name = "B", .value = back}};
    struct comparison_input input = banana;
    struct comparison found;
    struct table table = {0};
    struct text html = {0};
    input.methods = two;
    input.count = 2;
    input.warning = NULL;
    for (int larger = 0; larger < 2; larger++)
        for (int reference = COMPARISON_BEST; reference < 2; reference++) {
            input.larger_is_better = larger;
            input.reference_method = reference;
            assert_int_equal(compare_alone(&found, &input), 0);
            const struct comparison_pair *pair = &found.pairs[0];
            assert_true(found.lines[0].summary.mean != found.lines[1].summary.mean);
            assert_int_equal(pair->reference,
                             reference < 0 ? 0 : reference); /* of equals the first is best */
            assert_int_equal(pair->equal, CASES);
            assert_int_equal(pair->better + pair->worse, 0);
            assert_true(pair->difference == 0 && pair->interval.low == 0 && pair->interval.high == 0);
            assert_false(pair->significant);
            assert_null(strstr(pair->verdict.chars, "favours"));
            assert_true(found.lines[0].rank == 1.5 && found.lines[1].rank == 1.5);
            comparison_table(&table, &found); /* both lead */
            assert_int_equal(table_write(&table, TABLE_HTML, &html), 0);
            const char *first = strstr(html.chars, "class=\"n lead\"");
            assert_non_null(first);
            assert_non_null(strstr(first + 1, "class=\"n lead\""));
            html.length = 0;
            table_free(&table);
            table = (struct table){0};
            comparison_free(&found);
        }
    text_free(&html);
}

static void markdown_rows_have_equal_cells_whatever_the_names(void **state)
{
    (void)state;
    char *found = write_table(&wild_input, MARKDOWN);
    size_t rows = 0, first = 0;
    for (char *line = found; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (*line == '|') {
            first = rows++ ? first : borders(line);
            assert_int_equal(borders(line), first);
        }
    assert_int_equal(rows, 5); /* header, rule, two methods, a failure */
    assert_int_equal(first, 9);
    assert_non_null(strstr(
        found, "| \\[a\\|b\\] \\& 100% \\$x\\_1\\$ \\#\\{\\\\x\\} \\~^ \\<i\\>\"q\", -- \\`t\\` \\* |"));
    mem_free(found);
}

static void latex_escapes_everything_special(void **state)
{
    (void)state;
    char *found = write_table(&wild_input, LATEX);
    assert_non_null(strstr(found, "\n{[}a\\textbar{}b] \\& 100\\% \\$x\\_1\\$ \\#\\{\\textbackslash{}x\\} "
                                  "\\textasciitilde{}\\textasciicircum{} "
                                  "\\textless{}i\\textgreater{}\\symbol{34}q\\symbol{34}, -{}- `t` {*} & $"));
    assert_non_null(strstr(found, "a\\textbar{}b \\textbackslash{}input\\{x\\} next} \\\\\n"));
    assert_non_null(strstr(found, " & rmse\\_\\% & "));
    /* outside of the tabular all lines are comments, and no name ends one */
    const char *begin = strstr(found, "\\begin{tabular}"), *end = strstr(found, "\\end{tabular}\n");
    for (const char *line = found; *line; line = strchr(line, '\n') + 1)
        if (line < begin || line > end)
            assert_int_equal(*line, '%');
    /* cells and braces match */
    int depth = 0;
    for (const char *p = begin; p < end; p++) {
        if (*p == '\\' && p[1] != '\n')
            p++;
        else
            depth += (*p == '{') - (*p == '}');
        assert_true(depth >= 0);
    }
    assert_int_equal(depth, 0);
    mem_free(found);
}

static void text_csv_and_json_keep_wild_names_in_place(void **state)
{
    (void)state;
    static char cells[10][CSV_COLUMNS][512];
    char *found = write_table(&wild_input, CSV);
    assert_int_equal(read_csv(found, cells), 3);
    assert_string_equal(cells[1][column(cells, "method")], wild_name);
    assert_string_equal(cells[1][column(cells, "seconds")], "");
    mem_free(found);

    json_t *table;
    found = write_table(&wild_input, JSON);
    assert_int_equal(json_parse(&table, "table", found, strlen(found)), 0);
    const json_t *method = json_array_get(member(table, "methods"), 0);
    assert_string_equal(json_string_value(member(method, "name")), wild_name);
    assert_true(json_is_null(member(method, "seconds")));
    assert_true(json_is_null(member(table, "warning")));
    json_decref(table);
    mem_free(found);

    found = write_table(&wild_input, TEXT);
    assert_non_null(strstr(found, "one two: rmse_% (smaller is better), protocol holdout, 5 splits\n"));
    assert_null(strstr(found, "s/job"));
    mem_free(found);
}

static void json_survives_bytes_that_are_not_utf8(void **state)
{
    (void)state;
    struct comparison_method methods[] = {wild[0], wild[1]};
    methods[0].reason = "row 3: '\xff\xe9t\xe9'";
    struct comparison_input input = wild_input;
    input.methods = methods;
    char *found = write_table(&input, JSON);
    json_t *table;
    assert_int_equal(json_parse(&table, "table", found, strlen(found)), 0);
    const json_t *method = json_array_get(member(table, "methods"), 0);
    assert_string_equal(json_string_value(member(method, "reason")), "row 3: '??t?'");
    json_decref(table);
    mem_free(found);
}

/* ---------------------------------------------------------------- any table */

/* One row of every kind of cell, one of nothing. */
static void fill_any(struct table *out)
{
    static const struct table_column columns[] = {
        {.head = "name", .csv = "name", .json = "name"},
        {.head = "empty"},
        {.head = "ok", .csv = "ok", .json = "inner.ok"},
        {.head = "count", .csv = "count", .json = "inner.count", .number = 1, .wide = 7},
        {.head = "fixed", .csv = "fixed", .json = "inner.deep.fixed", .number = 1, .fixed = 2, .unit = "°"},
        {.head = "tiny", .number = 1, .digits = 3, .least = 0.001},
        {.head = "large", .number = 1, .digits = 3},
        {.csv = "hidden", .json = "list"}};
    *out = (struct table){0};
    table_line(&out->caption, "of phi");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(out, columns[i]);
    table_rows(out, 2);
    table_words(out, 0, 0, "a<b");
    table_flag(out, 0, 2, 1);
    table_count(out, 0, 3, 12);
    table_number(out, 0, 4, 1.0 / 3);
    table_number(out, 0, 5, 1e-9);
    table_number(out, 0, 6, 123456789);
    table_list(out, 0, 7, (double[]){1, NAN}, 2);
    table_mark(out, 0, 3, MARK_LEAD);
    table_words(out, 1, 0, "b");
    table_number(out, 1, 6, NAN);
}

static void a_table_of_every_kind_of_cell_in_every_format(void **state)
{
    static const char *const expected[] = {
        [TABLE_TEXT] = "of phi\n"
                       "name  ok      count  fixed     tiny     large\n"
                       "a<b   true       12   0.33  < 0.001  1.23e+08\n"
                       "b                                           -\n",
        [TABLE_MARKDOWN] = "| name | ok | count | fixed | tiny | large |\n"
                           "| --- | --- | ---: | ---: | ---: | ---: |\n"
                           "| a\\<b | true | 12 | 0.33 | \\< 0.001 | 1.23e+08 |\n"
                           "| b |  |  |  |  | - |\n",
        [TABLE_LATEX] = "% needs \\usepackage{booktabs}\n\\begin{tabular}{llrrrr}\n\\toprule\n"
                        "name & ok & count & fixed & tiny & large \\\\\n\\midrule\n"
                        "a\\textless{}b & true & $12$ & $0.33$ & $< 0.001$ & $1.23 \\times 10^{8}$ \\\\\n"
                        "b &  &  &  &  & -- \\\\\n\\bottomrule\n\\end{tabular}\n",
        [TABLE_HTML] =
            "<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>of φ</caption>\n"
            "<thead><tr><th scope=\"col\">name</th><th scope=\"col\">ok</th><th scope=\"col\" "
            "class=\"n\">count</th><th scope=\"col\" class=\"n\">fixed, °</th><th scope=\"col\" "
            "class=\"n\">tiny</th><th scope=\"col\" class=\"n\">large</th></tr></thead>\n<tbody>\n"
            "<tr><th scope=\"row\">a&lt;b</th><td>true</td><td class=\"n lead\">12</td><td "
            "class=\"n\">0.33</td><td class=\"n\">&lt; 0.001</td><td class=\"n\">1.23e+08</td></tr>\n"
            "<tr><th scope=\"row\">b</th><td></td><td class=\"n\"></td><td class=\"n\"></td><td "
            "class=\"n\"></td><td class=\"n\">-</td></tr>\n</tbody></table></div>\n",
        [TABLE_CSV] = "name,ok,count,fixed,hidden\na<b,true,12,0.3333333333333333,\nb,,,,\n"};
    struct table table;
    (void)state;
    fill_any(&table);
    for (int format = TABLE_TEXT; format <= TABLE_CSV; format++) {
        struct text out = {0};
        assert_int_equal(table_write(&table, (enum table_format)format, &out), 0);
        assert_string_equal(out.chars, expected[format]);
        text_free(&out);
    }
    json_t *rows = table_to_json(&table);
    struct text out = {0};
    assert_int_equal(json_print(&out, rows, 0), 0);
    assert_string_equal(out.chars,
                        "[{\"name\":\"a<b\",\"inner\":{\"ok\":true,\"count\":12,\"deep\":{\"fixed\":"
                        "0.33333333333333331}},\"list\":[1.0,null]},{\"name\":\"b\",\"inner\":null,"
                        "\"list\":null}]");
    text_free(&out);
    json_decref(rows);
    table_free(&table);
}

static void a_table_short_of_memory_fails_when_it_is_written(void **state)
{
    (void)state;
    for (size_t failed = 0;; failed++) {
        struct table table;
        struct text out = {0};
        fault_after(failed);
        fill_any(&table);
        int err = table_write(&table, TABLE_HTML, &out), happened = fault_happened();
        fault_off();
        text_free(&out);
        table_free(&table);
        assert_int_equal(err, happened ? SPH_EMEMORY : 0);
        if (!happened) {
            assert_true(failed > 10);
            return;
        }
    }
}

/* ---------------------------------------------------------------- failures */

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    struct text out = {0};
    struct comparison_input input = banana;
    input.count = 0;
    assert_fails(compare_and_write(&input, TEXT, &out), SPH_EARG, .key = "table");
    input = banana;
    input.cases = 0;
    assert_fails(compare_and_write(&input, TEXT, &out), SPH_EARG, .key = "table");
    input = banana;
    input.reference_method = 4;
    assert_fails(compare_and_write(&input, TEXT, &out), SPH_EARG, .key = "table");
    assert_null(out.chars);
}

static void every_format_short_of_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; format++) {
        struct comparison_input input = banana;
        input.cases = format == TEXT ? CASES : 1; /* of one split no bootstrap: once is enough */
        size_t failed = 0;
        for (;; failed += quick_step(7)) {
            struct text out = {0};
            fault_after(failed);
            int err = compare_and_write(&input, format, &out);
            fault_off();
            text_free(&out);
            if (!fault_happened())
                break;
            assert_int_equal(err, SPH_EMEMORY);
        }
        assert_true(failed > 5);
    }
}

static struct {
    size_t calls, fail;
} jansson;

static void *jansson_get(size_t size)
{
    return jansson.calls++ == jansson.fail ? NULL : malloc(size);
}

static void json_short_of_janssons_memory_says_so(void **state)
{
    (void)state;
    int err;
    struct comparison_input input = banana;
    input.cases = 1;
    json_set_alloc_funcs(jansson_get, free);
    for (jansson.fail = 0;; jansson.fail++) {
        struct text out = {0};
        jansson.calls = 0;
        err = compare_and_write(&input, JSON, &out);
        text_free(&out);
        if (jansson.calls <= jansson.fail)
            break;
        assert_int_equal(err, SPH_EMEMORY);
    }
    json_set_alloc_funcs(malloc, free);
    assert_int_equal(err, 0);
    assert_true(jansson.fail > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_is_its_golden_file),
        cmocka_unit_test(every_format_warns_and_names_failures_and_verdicts),
        cmocka_unit_test(json_comes_back_with_all_digits),
        cmocka_unit_test(csv_comes_back_with_all_digits),
        cmocka_unit_test(scores_that_rounding_alone_parts_are_equal),
        cmocka_unit_test(markdown_rows_have_equal_cells_whatever_the_names),
        cmocka_unit_test(latex_escapes_everything_special),
        cmocka_unit_test(text_csv_and_json_keep_wild_names_in_place),
        cmocka_unit_test(json_survives_bytes_that_are_not_utf8),
        cmocka_unit_test(a_table_of_every_kind_of_cell_in_every_format),
        cmocka_unit_test(a_table_short_of_memory_fails_when_it_is_written),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(every_format_short_of_memory_says_so_and_leaks_nothing),
        cmocka_unit_test(json_short_of_janssons_memory_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
