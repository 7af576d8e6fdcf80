/* SPDX-License-Identifier: MIT
 *
 * Broken tables: each file of tests/bad/csv and tests/bad/npy gives exactly the message that its expect.txt
 * says. Sources that are no files, and arrays, are refused. */
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
#include "failure.h"
#include "spherelu.h"

static void set_option(sph_data_opts *opts, char *word)
{
    char *value = strchr(word, '=');
    assert_non_null(value);
    *value++ = '\0';
    if (!strcmp(word, "target"))
        opts->target = value;
    else if (!strcmp(word, "drop"))
        opts->drop = value;
    else if (!strcmp(word, "group"))
        opts->group = value;
    else if (!strcmp(word, "time"))
        opts->time = value;
    else if (!strcmp(word, "weights"))
        opts->weights = value;
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

static void each_file_gives_its_message(const char *folder, size_t at_least)
{
    char line[1024], path[1024];
    snprintf(path, sizeof path, "%sexpect.txt", folder);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
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
        snprintf(path, sizeof path, "%s%s", folder, file);
        sph_data *data;
        int err = sph_data_open(&data, path, &opts);
        const char *message = sph_error();
        if (err >= 0 || strncmp(message, folder, strlen(folder)) != 0 ||
            strcmp(message + strlen(folder), expected) != 0) {
            print_error("%s: %s\n  expected %s\n", file, err < 0 ? message : "no error", expected);
            wrong++;
        }
        assert_null(data);
        cases++;
    }
    fclose(list);
    assert_int_equal(wrong, 0);
    assert_true(cases >= at_least);
}

static void broken_tables_of_text_give_their_messages(void **state)
{
    (void)state;
    each_file_gives_its_message(SPH_TESTS_DIR "/bad/csv/", 40);
}

static void broken_lines_of_libsvm_give_their_messages(void **state)
{
    (void)state;
    each_file_gives_its_message(SPH_TESTS_DIR "/bad/libsvm/", 8);
}

static void broken_arrays_give_their_messages(void **state)
{
    (void)state;
    each_file_gives_its_message(SPH_TESTS_DIR "/bad/npy/", 30);
}

static void fails(const char *source, int code, const char *key)
{
    sph_data *data;
    assert_fails(sph_data_open(&data, source, NULL), code, .key = key, .path = key ? "" : source);
    assert_null(data);
}

static void sources_that_are_no_files_are_named(void **state)
{
    (void)state;
    fails("no-such.csv", SPH_EIO, NULL);
    fails("bananas", SPH_EIO, NULL);
    fails(SPH_TESTS_DIR "/cli", SPH_EFORMAT, NULL); /* a folder without folders */
    fails("", SPH_EARG, "data");
}

static void a_known_set_that_is_not_there_is_named(void **state)
{
    (void)state;
    char *held = getenv("SPHERELU_DATA") ? strdup(getenv("SPHERELU_DATA")) : NULL;
    setenv("SPHERELU_DATA", "/nowhere/a:/nowhere/b:", 1);
    setenv("SPHERELU_CACHE", "/nowhere/cache", 1);
    fails("cifar10", SPH_EIO, NULL); /* wine comes with the program */
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
    assert_fails(sph_data_from_arrays(&data, inf, y, 2, 2, 1, SPH_TASK_REGRESSION), SPH_EARG, .key = "x");
    assert_fails(sph_data_from_arrays(&data, x, y, 2, 2, 1, SPH_TASK_BINARY), SPH_EARG, .key = "y");
    assert_fails(sph_data_from_arrays(&data, x, half, 2, 2, 1, SPH_TASK_CLASSES), SPH_EARG, .key = "y");
    assert_fails(sph_data_from_arrays(&data, x, inf, 2, 1, 2, SPH_TASK_REGRESSION), SPH_EARG, .key = "y");
    assert_null(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_tables_of_text_give_their_messages),
        cmocka_unit_test(broken_lines_of_libsvm_give_their_messages),
        cmocka_unit_test(broken_arrays_give_their_messages),
        cmocka_unit_test(sources_that_are_no_files_are_named),
        cmocka_unit_test(a_known_set_that_is_not_there_is_named),
        cmocka_unit_test(arrays_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
