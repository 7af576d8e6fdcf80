/* SPDX-License-Identifier: MIT
 *
 * Words and numbers: strict parsing, near words, strings that grow. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/tool.h"
#include "failure.h"
#include "base/error.h"
#include "base/text.h"
#include "base/words.h"
#include "short_memory.h"
#include "skip.h"

static void a_number_is_the_whole_text_or_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},           {"1.5", 1.5},   {"-2e3", -2000},
                {"+7", 7},          {".5", 0.5},    {"5.", 5},
                {"1e-320", 1e-320}, {"0.1", 0.1},   {"1E5", 1e5},
                {"00012", 12},      {"-0.0", -0.0}, {"123456789012345678", 123456789012345678.0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = 42;
        assert_true(text_to_double(good[i].text, &value));
        assert_memory_equal(&value, &good[i].value, sizeof value);
    }
    static const char *const bad[] = {"",      " ",   " 1",  "1 ",  "1,5", "1.5.2", "0x10",
                                      "0X1p3", "abc", "1e",  "1e+", "--1", "$12",   "12%",
                                      "1_000", "\t1", "1\n", "-",   "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 42;
        if (text_to_double(bad[i], &value))
            fail_msg("\"%s\" was taken for %g", bad[i], value);
        assert_true(value == 42);
    }
}

static void nan_and_infinity_are_numbers_for_callers_to_judge(void **state)
{
    (void)state;
    double value = 0;
    assert_true(text_to_double("nan", &value) && isnan(value));
    assert_true(text_to_double("NaN", &value) && isnan(value));
    assert_true(text_to_double("inf", &value) && isinf(value) && value > 0);
    assert_true(text_to_double("-Infinity", &value) && isinf(value) && value < 0);
    assert_true(text_to_double("1e999", &value) && isinf(value));
    assert_false(text_to_double("nanx", &value));
    assert_false(text_to_double("infinit", &value));
}

static void the_decimal_point_is_a_point_in_every_locale(void **state)
{
    (void)state;
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char *set = NULL;
    for (size_t i = 0; i < 4 && !set; i++)
        set = setlocale(LC_NUMERIC, with_comma[i]);
    if (!set)
        skip_because("no locale with a decimal comma is installed");
    double value = 0;
    int point = text_to_double("1.5", &value), comma = text_to_double("1,5", &(double){0});
    setlocale(LC_NUMERIC, "C");
    assert_true(point && value == 1.5);
    assert_false(comma);
}

static void whole_numbers_have_no_sign_no_blank_and_no_overflow(void **state)
{
    (void)state;
    uint64_t value = 0;
    size_t size = 0;
    assert_true(text_to_u64("0", &value) && value == 0);
    assert_true(text_to_u64("18446744073709551615", &value) && value == UINT64_MAX);
    assert_true(text_to_size("1024", &size) && size == 1024);
    static const char *const bad[] = {"",    "-1",    "+1",
                                      " 1",  "1 ",    "1.0",
                                      "1e3", "0x10",  "18446744073709551616",
                                      "ten", "1,000", "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        value = 42;
        size = 42;
        assert_false(text_to_u64(bad[i], &value));
        assert_false(text_to_size(bad[i], &size));
        assert_true(value == 42 && size == 42);
    }
}

static const char *const words[] = {"lr", "epochs", "batch", "learning-rate", "patience", "param", "seed"};
enum { WORDS = sizeof words / sizeof *words };

static void find_takes_exact_words_only(void **state)
{
    (void)state;
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(text_find(words[i], words, WORDS), i);
    assert_int_equal(text_find("LR", words, WORDS), -1);
    assert_int_equal(text_find("epoch", words, WORDS), -1);
    assert_int_equal(text_find("", words, WORDS), -1);
    assert_int_equal(text_find("lr", words, 0), -1);
}

static void nearest_suggests_a_slip_and_nothing_far(void **state)
{
    (void)state;
    static const char *const slips[][2] = {
        {"epoch", "epochs"},      {"bacth", "batch"}, {"larning-rate", "learning-rate"},
        {"Patience", "patience"}, {"sed", "seed"},    {"parm", "param"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const char *found = text_nearest(slips[i][0], words, WORDS);
        assert_non_null(found);
        assert_string_equal(found, slips[i][1]);
    }
    assert_null(text_nearest("foo", words, WORDS));
    assert_null(text_nearest("momentum-of-the-thing", words, WORDS));
    assert_null(text_nearest("x", words, WORDS));
    char huge[5000];
    memset(huge, 'a', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_null(text_nearest(huge, words, WORDS));
    assert_null(text_nearest("epoch", words, 0));
}

static void text_grows_by_pieces_of_any_length(void **state)
{
    (void)state;
    struct text text = {0};
    char *expected = calloc(1, 1100 * 1100), piece[1200];
    size_t length = 0;
    for (size_t n = 0; n < 1100; n += 7) { /* past the 511 bytes that fit on the stack */
        memset(piece, (int)('a' + n % 26), n);
        piece[n] = '\0';
        text_add(&text, "%s", piece);
        memcpy(expected + length, piece, n);
        length += n;
    }
    for (size_t n = 508; n < 516; n++) {
        memset(piece, 'x', n);
        piece[n] = '\0';
        text_add(&text, "%s%d", piece, 7);
        memset(expected + length, 'x', n);
        expected[length + n] = '7';
        length += n + 1;
    }
    text_add_bytes(&text, "a\0b", 3);
    memcpy(expected + length, "a\0b", 3);
    length += 3;
    assert_false(text.failed);
    assert_int_equal(text.length, length);
    assert_memory_equal(text.chars, expected, length + 1);
    text_free(&text);
    assert_null(text.chars);
    text_free(&text);
    free(expected);
}

static void a_failed_append_is_remembered_and_leaves_the_text_whole(void **state)
{
    (void)state;
    struct text text = {0};
    char piece[700];
    memset(piece, 'p', sizeof piece - 1);
    piece[sizeof piece - 1] = '\0';
    text_add(&text, "start");
    short_memory.calls = 0;
    short_memory.fail = 1;
    text_add(&text, "%s", piece);
    short_memory.fail = 0;
    assert_true(text.failed);
    assert_int_equal(sph_failure()->code, SPH_EMEMORY);
    text_add(&text, "more");
    text_add(&text, "%s", piece);
    text_add_bytes(&text, "more", 4);
    assert_int_equal(text.length, 5);
    assert_string_equal(text.chars, "start");
    text_free(&text);
    assert_false(text.failed);
    short_memory.calls = 0;
    short_memory.fail = 1;
    text_add_bytes(&text, "x", 1);
    short_memory.fail = 0;
    assert_true(text.failed && !text.chars);
    text_free(&text);
}

static void utf8_is_what_the_standard_calls_so(void **state)
{
    (void)state;
    static const char *const good[] = {"",
                                       "a",
                                       "\xc3\xa9",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x98\x80",
                                       "\xc2\x80",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xff",
                                      "\xc3",
                                      "\xc3(",
                                      "\xc0\xaf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "a\xe2\x82"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(text_is_utf8(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_is_utf8(bad[i]));
    assert_int_equal(text_utf8("\xe2\x82\xac", 3), 3);
    assert_int_equal(text_utf8("\xe2\x82\xac", 2), 0);
    assert_int_equal(text_utf8("", 1), 1); /* a NUL among bytes */
    assert_int_equal(text_utf8("x", 0), 0);
}

static void a_cell_of_csv_has_quotes_where_it_needs_them(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"", ""},
                                           {"a b", "a b"},
                                           {"a,b", "\"a,b\""},
                                           {"say \"no\"", "\"say \"\"no\"\"\""},
                                           {"two\nlines", "\"two\nlines\""},
                                           {"\r", "\"\r\""},
                                           {" blank", "\" blank\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text = {0};
        text_add_csv(&text, cases[i][0]);
        assert_string_equal(text.chars, cases[i][1]);
        text_free(&text);
    }
}

static void plain_text_gives_a_terminal_no_orders(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a plain\n\tline", "a plain\n\tline"},
        {"\x1b[31mred\x7f", "?[31mred?"},
        {"\xc2\x9b"
         "31m \xc2\x80 \xc2\xa0",
         "??31m ?? \xc2\xa0"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\x9b lone, cut \xe2\x82", "? lone, cut ??"},
        {"\xc1\x9b too long, \xed\xa0\x80 half", "?? too long, ??? half"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        strcpy(text, cases[i][0]);
        size_t changed = sph_plain(text, strlen(text));
        assert_string_equal(text, cases[i][1]);
        assert_int_equal(changed != 0, strcmp(cases[i][0], cases[i][1]) != 0);
        assert_int_equal(text_has_control(cases[i][0]), changed || strchr(text, '\n'));
    }
    sph_fail_at(SPH_EIO, "a\x1b[2J", "\xc2\x9b\nb");
    assert_string_equal(sph_error(), "a [2J: ?? b");
}

static void a_failure_that_gets_more_words_keeps_its_place(void **state)
{
    (void)state;
    assert_fails(sph_fail_of(SPH_EFORMAT, "f.csv", 7, "b", "wrong"), SPH_EFORMAT, .key = "b", .path = "f.csv",
                 .line = 7);
    assert_fails(sph_fail_in(SPH_EFORMAT, "set"), SPH_EFORMAT, .key = "b", .path = "f.csv", .line = 7);
    assert_fails(sph_fail_more(SPH_EFORMAT, "; more"), SPH_EFORMAT, .key = "b", .path = "f.csv", .line = 7);
    assert_fails(sph_fail_about(SPH_EARG, "c", "about"), SPH_EARG, .key = "c", .path = "f.csv", .line = 7);
    assert_fails(sph_fail_move(SPH_EIO, "g.csv", 3, 0), SPH_EIO, .key = "c", .path = "g.csv", .line = 3);
    assert_string_equal(sph_failure()->what, "about: set: wrong; more");
    assert_fails(sph_fail_move(SPH_EIO, "", 0, 1), SPH_EIO, .key = "c", .path = "");
}

static void every_list_of_words_is_reached_by_its_kind(void **state)
{
    (void)state;
    for (int k = 0; k < SPH_WORD_KIND_COUNT; k++) {
        sph_word_kind kind = (sph_word_kind)k;
        const sph_word_row *row;
        int count = 0;
        for (; (row = sph_word(kind, count)); count++) {
            assert_int_equal(sph_word_find(kind, row->word), count); /* and no word twice */
            assert_true(*row->help);
            assert_ptr_equal(row, sph_word(kind, 0) + count);
        }
        assert_true(count >= 2);
        assert_null(sph_word(kind, -1));
        assert_null(sph_word(kind, 0)[count].word);
        assert_int_equal(sph_word_find(kind, "no such word"), -1);
        assert_null(sph_word_nearest(kind, "no such word"));
    }
    assert_string_equal(sph_word(SPH_WORDS_PARAM, SPH_PARAM_GMP)->word, "gmp");
    assert_int_equal(sph_word_find(SPH_WORDS_UNIT_STATE, "dead"), SPH_UNIT_DEAD);
    assert_string_equal(sph_word_nearest(SPH_WORDS_ACT, "leaky-relu"), "leaky_relu");
    assert_string_equal(sph_word_nearest(SPH_WORDS_ACT, "rrelu"), "relu"); /* the first of the nearest */
}

static void what_rounds_to_nothing_has_no_sign(void **state)
{
    (void)state;
    struct text text = {0};
    const double values[] = {-1e-9, -0.004, -0.006, 0.004, -12};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        text_add_fixed(&text, 2, values[i]);
        text_add(&text, " ");
    }
    text_add_fixed(&text, 0, -0.2);
    assert_string_equal(text.chars, "0.00 0.00 -0.01 0.00 -12.00 0");
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_what_the_standard_calls_so),
        cmocka_unit_test(a_cell_of_csv_has_quotes_where_it_needs_them),

        cmocka_unit_test(plain_text_gives_a_terminal_no_orders),
        cmocka_unit_test(a_failure_that_gets_more_words_keeps_its_place),
        cmocka_unit_test(every_list_of_words_is_reached_by_its_kind),
        cmocka_unit_test(a_number_is_the_whole_text_or_none),
        cmocka_unit_test(nan_and_infinity_are_numbers_for_callers_to_judge),
        cmocka_unit_test(the_decimal_point_is_a_point_in_every_locale),
        cmocka_unit_test(whole_numbers_have_no_sign_no_blank_and_no_overflow),
        cmocka_unit_test(find_takes_exact_words_only),
        cmocka_unit_test(nearest_suggests_a_slip_and_nothing_far),
        cmocka_unit_test(text_grows_by_pieces_of_any_length),
        cmocka_unit_test(a_failed_append_is_remembered_and_leaves_the_text_whole),
        cmocka_unit_test(what_rounds_to_nothing_has_no_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
