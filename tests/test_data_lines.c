/* SPDX-License-Identifier: MIT
 *
 * A text's rows: in which line each begins, where a quote is left open, and the same fields as libcsv's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#ifdef SPH_TEST_CSV
#include <csv.h>
#endif

#include "base/memory.h"
#include "base/random.h"
#include "data/csv.h"
#include "failure.h"
#include "skip.h"

struct lines {
    size_t line[16], fields[16], count;
};

static int note_line(void *user, size_t line, const struct csv_field *fields, size_t count)
{
    struct lines *lines = user;
    (void)fields;
    assert_true(lines->count < 16);
    lines->line[lines->count] = line;
    lines->fields[lines->count++] = count;
    return 0;
}

static void rows_know_their_lines_past_empty_lines_and_quoted_line_ends(void **state)
{
    (void)state;
    static const char text[] = "a,b\r\n\r\n1,2\n\n\n\"x\ny\r\nz\",4\n5,6\r7,8";
    struct lines lines = {0};
    assert_int_equal(csv_read("t", text, sizeof text - 1, ',', note_line, &lines), 0);
    const size_t expected[] = {1, 3, 6, 9, 10};
    assert_int_equal(lines.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(lines.line[i], expected[i]);
        assert_int_equal(lines.fields[i], 2);
    }
}

static void a_quote_left_open_in_a_long_file_is_found_early(void **state)
{
    (void)state;
    size_t length = 3 << 20;
    char *text = mem_get(length, 1);
    memset(text, 'x', length);
    memcpy(text, "a,b\n1,\"", 7);
    struct lines lines = {0};
    assert_fails(csv_read("t", text, length, ',', note_line, &lines), SPH_EFORMAT, .path = "t", .line = 2);
    mem_free(text);
}

/* ---------------------------------------------------------------- our lines and libcsv's */

struct rows_read {
    char text[4096]; /* line, fields, a mark after each */
    size_t used;
};

static void put(struct rows_read *rows, const char *bytes, size_t length, char mark)
{
    assert_true(rows->used + length + 1 < sizeof rows->text);
    memcpy(rows->text + rows->used, bytes, length);
    rows->used += length;
    rows->text[rows->used++] = mark;
}

static int ours(void *user, size_t line, const struct csv_field *fields, size_t count)
{
    (void)line;
    for (size_t i = 0; i < count; i++)
        put(user, fields[i].text, fields[i].length, '|');
    put(user, "", 0, '/');
    return 0;
}

#ifdef LIBCSV_H__

static void their_field(void *bytes, size_t length, void *user)
{
    put(user, bytes ? bytes : "", length, '|');
}

static void their_row(int terminator, void *user)
{
    struct rows_read *rows = user;
    (void)terminator;
    if (rows->used && rows->text[rows->used - 1] != '/') /* an empty line is no row */
        put(rows, "", 0, '/');
}

static void lines_are_parted_as_libcsv_parts_them(void **state)
{
    (void)state;
    static const char signs[] = "a1 \t,,,;\r\n\n\n\"";
    static struct rows_read here, there;
    struct rng rng = rng_stream(5, RNG_NOISE, 0);
    size_t compared = 0;
    for (int turn = 0; turn < 100000; turn++) {
        char text[64], delimiter = ",;\t"[rng_below(&rng, 3)];
        size_t length = rng_below(&rng, sizeof text), kinds = sizeof signs - 1 - rng_below(&rng, 2);
        for (size_t i = 0; i < length; i++)
            text[i] = signs[rng_below(&rng, (uint32_t)kinds)];
        struct csv_parser parser;
        here.used = there.used = 0;
        int err = csv_read("t", text, length, delimiter, ours, &here);
        assert_int_equal(csv_init(&parser, CSV_APPEND_NULL | CSV_REPALL_NL), 0);
        csv_set_delim(&parser, (unsigned char)delimiter);
        csv_parse(&parser, text, length, their_field, their_row, &there);
        csv_set_opts(&parser, CSV_APPEND_NULL | CSV_REPALL_NL | CSV_STRICT | CSV_STRICT_FINI);
        int theirs = csv_fini(&parser, their_field, their_row, &there);
        csv_free(&parser);
        assert_int_equal(err < 0, theirs != 0);
        if (err < 0)
            continue;
        compared++;
        if (here.used != there.used || memcmp(here.text, there.text, here.used) != 0)
            fail_msg("%.*s\nours   %.*s\nlibcsv %.*s", (int)length, text, (int)here.used, here.text,
                     (int)there.used, there.text);
    }
    assert_true(compared > 50000);
}

#else
static void lines_are_parted_as_libcsv_parts_them(void **state)
{
    (void)state, (void)ours;
    skip_because("libcsv was not there when the build was configured");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_know_their_lines_past_empty_lines_and_quoted_line_ends),
        cmocka_unit_test(a_quote_left_open_in_a_long_file_is_found_early),
        cmocka_unit_test(lines_are_parted_as_libcsv_parts_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
