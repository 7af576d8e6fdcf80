/* SPDX-License-Identifier: MIT
 *
 * Broken tables: each file of tests/bad/csv gives exactly the message that expect.txt says, as do sources
 * that are no files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "data/data.h"
#include "spherelu.h"

#define FOLDER SPH_TESTS_DIR "/bad/csv/"

static void set_option(sph_data_opts *opts, char *word)
{
    char *value = strchr(word, '=');
    assert_non_null(value);
    *value++ = '\0';
    if (!strcmp(word, "target"))
        opts->target = value;
    else if (!strcmp(word, "drop"))
        opts->drop = value;
    else if (!strcmp(word, "task"))
        opts->task = sph_word_find(SPH_WORDS_TASK, value);
    else if (!strcmp(word, "missing"))
        opts->missing = (sph_missing)sph_word_find(SPH_WORDS_MISSING, value);
    else if (!strcmp(word, "rows"))
        opts->rows = strtoul(value, NULL, 10);
    else if (!strcmp(word, "delimiter"))
        opts->delimiter = *value;
    else
        fail_msg("expect.txt: unknown option %s", word);
}

static void every_broken_file_gives_its_message(void **state)
{
    (void)state;
    FILE *list = fopen(FOLDER "expect.txt", "r");
    assert_non_null(list);
    char line[1024];
    size_t cases = 0, wrong = 0;
    while (fgets(line, sizeof line, list)) {
        if (*line == '#')
            continue;
        char *save, *file = strtok_r(line, "\t", &save), *options = strtok_r(NULL, "\t", &save);
        char *expected = strtok_r(NULL, "\n", &save);
        assert_non_null(expected);
        sph_data_opts opts;
        sph_data_defaults(&opts);
        if (strcmp(options, "-") != 0)
            for (char *word = strtok_r(options, " ", &save); word; word = strtok_r(NULL, " ", &save))
                set_option(&opts, word);
        char path[1024];
        snprintf(path, sizeof path, FOLDER "%s", file);
        sph_data *data;
        int err = sph_data_open(&data, path, &opts);
        const char *message = sph_error();
        if (err >= 0 || strncmp(message, FOLDER, strlen(FOLDER)) != 0 ||
            strcmp(message + strlen(FOLDER), expected) != 0) {
            print_error("%s: %s\n  expected %s\n", file, err < 0 ? message : "no error", expected);
            wrong++;
        }
        assert_null(data);
        cases++;
    }
    fclose(list);
    assert_int_equal(wrong, 0);
    assert_true(cases >= 40);
}

static void fails(const char *source, int code, const char *message)
{
    sph_data *data;
    assert_int_equal(sph_data_open(&data, source, NULL), code);
    assert_string_equal(sph_error(), message);
    assert_null(data);
}

#define KNOWN                                                                                                \
    "crescents, levy, banana, boston, concrete, energy, naval, power, wine, yacht, cifar10, cifar100, "      \
    "mnist, "                                                                                                \
    "fashion-mnist, imagenet32"

static void sources_that_are_no_files_are_named(void **state)
{
    (void)state;
    fails("no-such.csv", SPH_EIO, "no-such.csv: no such file, nor a known set (" KNOWN ")");
    fails("bananas", SPH_EIO, "bananas: no such file, nor a known set (" KNOWN "); do you mean banana?");
    fails("/", SPH_EIO, "/: cannot read: it is a directory");
    fails("", SPH_EARG, "data: no file or set is named");
}

static void a_known_set_that_is_not_there_says_where_it_was_looked_for(void **state)
{
    (void)state;
    char *held = getenv("SPHERELU_DATA") ? strdup(getenv("SPHERELU_DATA")) : NULL;
    setenv("SPHERELU_DATA", "/nowhere/a:/nowhere/b:", 1);
    setenv("SPHERELU_CACHE", "/nowhere/cache", 1);
    fails("wine", SPH_EIO,
          "wine: uci/wine.txt was not found in /nowhere/a, /nowhere/b, /nowhere/cache; SPHERELU_DATA may "
          "name folders "
          "to look in");
    unsetenv("SPHERELU_CACHE");
    if (held)
        setenv("SPHERELU_DATA", held, 1);
    else
        unsetenv("SPHERELU_DATA");
    free(held);
}

static void arrays_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    sph_data *data;
    double x[] = {1, 2, 3, 4}, inf[] = {1, 2, HUGE_VAL, 4}, y[] = {0, 2}, half[] = {0, 0.5};
    assert_int_equal(sph_data_from_arrays(&data, x, y, 0, 2, 1, SPH_TASK_REGRESSION), SPH_EARG);
    assert_int_equal(sph_data_from_arrays(&data, inf, y, 2, 2, 1, SPH_TASK_REGRESSION), SPH_EARG);
    assert_string_equal(sph_error(), "x: row 1, column 0 is infinite");
    assert_int_equal(sph_data_from_arrays(&data, x, y, 2, 2, 1, SPH_TASK_BINARY), SPH_EARG);
    assert_string_equal(sph_error(), "y: row 1 is 2, expected a class number 0 or 1");
    assert_int_equal(sph_data_from_arrays(&data, x, half, 2, 2, 1, SPH_TASK_CLASSES), SPH_EARG);
    assert_string_equal(sph_error(), "y: row 1 is 0.5, expected a class number from 0");
    assert_int_equal(sph_data_from_arrays(&data, x, inf, 2, 1, 2, SPH_TASK_REGRESSION), SPH_EARG);
    assert_string_equal(sph_error(), "y: row 1, column 0 is not a finite number");
    assert_null(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_file_gives_its_message),
        cmocka_unit_test(sources_that_are_no_files_are_named),
        cmocka_unit_test(a_known_set_that_is_not_there_says_where_it_was_looked_for),
        cmocka_unit_test(arrays_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
