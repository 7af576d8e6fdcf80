/* SPDX-License-Identifier: MIT
 *
 * Numbers are strtod's to the last bit, and what is kept of a table is what its text holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "data/csv.h"
#include "data/number.h"
#include "data_files.h"
#include "layer.h"
#include "sheet_twice.h"

/* ---------------------------------------------------------------- numbers */

/* [-]digits[.digits], 1 to most digits in all. */
static size_t write_number(char *text, struct rng *rng, int most)
{
    size_t length = 0;
    int digits = 1 + (int)rng_below(rng, (uint32_t)most), point = (int)rng_below(rng, (uint32_t)digits + 2);
    if (rng_below(rng, 2))
        text[length++] = '-';
    for (int i = 0; i < digits; i++) {
        if (i == point)
            text[length++] = '.';
        text[length++] = (char)('0' + rng_below(rng, rng_below(rng, 4) ? 10 : 1));
    }
    text[length] = '\0';
    return length;
}

static void numbers_are_those_of_strtod(void **state)
{
    (void)state;
    struct rng rng = rng_stream(12, RNG_DATA, 0);
    size_t tries = 3000000 / quick_step(20), here = 0;
    for (size_t i = 0; i < tries; i++) {
        char text[64 + NUMBER_AHEAD], exponent[16];
        memset(text, '7', sizeof text);
        size_t length = write_number(text, &rng, i % 3 ? NUMBER_DIGITS : 7);
        double expected = strtod(text, NULL), value = 0, slow = 0;
        text[length] = ',';
        const char *behind = number_read(text, text + sizeof text, &value),
                   *behind_slow = number_read_long(text, text + sizeof text, &slow);
        assert_true(behind == text + length && behind_slow == behind);
        assert_memory_equal(&value, &expected, sizeof value);
        assert_memory_equal(&slow, &expected, sizeof value);
        /* with an exponent, and with more digits than 64 bits hold */
        struct cell cell;
        snprintf(exponent, sizeof exponent, "e%d", (int)rng_below(&rng, 60) - 30);
        length += (size_t)snprintf(text + length, 32, "%s%s", i % 5 ? "" : "1234567890", exponent);
        cell_read(&cell, text);
        expected = strtod(text, NULL);
        here += cell.kind == CELL_NUMBER;
        assert_memory_equal(&cell.value, &expected, sizeof expected);
    }
    assert_true(here == tries);
}

/* Quotients that lie half way between two doubles, or next to it: m / 5^k scaled. */
static void halves_are_rounded_to_even(void **state)
{
    (void)state;
    static const char *const text[] = {"9007199254740993",     "9007199254740993.0",   "9007199254740992.5",
                                       "9007199254740993.5",   "4503599627370496.5",   "4503599627370497.5",
                                       "4503599627370496.51",  "4503599627370496.49",  "0.500000000000000027",
                                       "1.000000000000000111", "1.000000000000000112", "18014398509481985",
                                       "9999999999999999999",  "0.999999999999999999", "0.000000000000000001",
                                       "1.000000000000000110", "2251799813685248.25",  "2251799813685248.75"};
    double value = 0;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        double expected = strtod(text[i], NULL);
        assert_non_null(number_read_long(text[i], text[i] + strlen(text[i]), &value));
        assert_memory_equal(&value, &expected, sizeof value);
    }
    static const char *const wrong[] = {"-", ".", "-.", "", "e5", "+1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(number_read_long(wrong[i], wrong[i] + strlen(wrong[i]), &value));
}

/* ---------------------------------------------------------------- lines */

static int add_up(void *user, size_t line, const struct csv_field *fields, size_t count)
{
    size_t *bytes = user;
    (void)line;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < fields[i].length; at++)
            *bytes += (unsigned char)fields[i].text[at] != 0;
    return 0;
}

/* A text up to each of its bytes: under the sanitizers none behind the end is read. */
static void no_byte_behind_the_end_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "1234567.1234567,\"a word of more than eight bytes\",12345678901234567\n"
        "1,\"a \"\"b\"\" c\" ,-1.5e-3\r\n\"x\" y\",Z\xFCrich,12345678901234567890123456789012345678\n";
    for (size_t length = 0; length < sizeof text; length++) {
        size_t bytes = 0;
        char *copy = malloc(length ? length : 1);
        assert_non_null(copy);
        memcpy(copy, text, length);
        int err = csv_read("t", copy, length, ',', add_up, &bytes);
        assert_true(err == 0 || err == SPH_EFORMAT); /* a quote is left open */
        free(copy);
    }
}

static size_t write_cell(char *text, struct rng *rng, size_t column)
{
    static const char *const odd[] = {
        "",    "NA",         "  ",       " 1.5 ",         "+5",        ".5",     "5.",     "1e-3",  "-2E+4",
        "$12", "12%",        "n/a",      "\"\"",          "\"1.25\"",  "\"NA\"", "\"x \"", "x ",    "a\"b",
        "-",   "\"a\"\"b\"", "\"c\nd\"", "Z\xC3\xBCrich", "Z\xFCrich", "0x10",   "- 5",    "1 000", "\"x\" ",
        "1_0", "--1",        "1.2.3"};
    static const char *const word[] = {"red", "green", "a longer word", "\"New York, NY\"", "x", "eightbyt"};
    uint32_t kind = rng_below(rng, 40);
    if (kind == 0)
        return (size_t)sprintf(text, "%s", odd[rng_below(rng, (uint32_t)(sizeof odd / sizeof *odd))]);
    if (kind == 1)
        return (size_t)sprintf(text, "%s", rng_below(rng, 3) ? "1,190" : rng_below(rng, 2) ? "0,5" : "inf");
    if (column % 3 == 2 || kind == 2)
        return (size_t)sprintf(text, "%s", word[rng_below(rng, (uint32_t)(sizeof word / sizeof *word))]);
    return write_number(text, rng, rng_below(rng, 4) ? 7 : NUMBER_DIGITS);
}

static void random_tables_are_what_a_careful_reading_finds(void **state)
{
    (void)state;
    struct rng rng = rng_stream(21, RNG_DATA, 0);
    size_t kept = 0, tables = 1500 / quick_step(15), opened = 0;
    for (size_t table = 0; table < tables; table++) {
        char text[16384];
        char delimiter = ",;\t|"[rng_below(&rng, 4)];
        size_t columns = 1 + rng_below(&rng, 6), rows = 2 + rng_below(&rng, 60), length = 0;
        const char *feed = rng_below(&rng, 3) ? "\n" : "\r\n";
        for (size_t i = 0; i <= rows; i++) {
            for (size_t j = 0; j < columns; j++) {
                if (j)
                    text[length++] = delimiter;
                length +=
                    i ? write_cell(text + length, &rng, j) : (size_t)sprintf(text + length, "name%zu", j);
            }
            length += (size_t)sprintf(text + length, "%s%s", feed, rng_below(&rng, 30) ? "" : feed);
        }
        const char *path = file_with(".csv", text, length);
        struct sheet sheet;
        sph_data_opts opts;
        sph_data_defaults(&opts);
        opts.delimiter = delimiter;
        if (sheet_open(&sheet, path, &opts, &(struct sheet_hints){.need_targets = 1}) == 0) {
            opened++;
            kept += sheet.parsed != NULL;
            assert_int_equal(sheet_twice(&sheet), 0);
            sheet_free(&sheet);
        }
        unlink(path);
    }
    assert_true(kept > tables / 20 && opened > tables / 8); /* an odd cell may hold the delimiter */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_strtod),
        cmocka_unit_test(halves_are_rounded_to_even),
        cmocka_unit_test(no_byte_behind_the_end_is_read),
        cmocka_unit_test(random_tables_are_what_a_careful_reading_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
