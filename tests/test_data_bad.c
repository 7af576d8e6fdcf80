/* SPDX-License-Identifier: MIT
 *
 * Broken tables: each file of tests/bad/csv and tests/bad/npy gives the failure that its expect.txt
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
#include "data/open.h"
#include "bad_list.h"
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

static void each_file_gives_its_failure(const char *folder, size_t at_least)
{
    char path[1024];
    struct bad_list list = bad_list(folder);
    for (char *column[6]; bad_list_next(&list, column, 6);) {
        sph_data_opts opts;
        sph_data_defaults(&opts);
        char *save = NULL;
        if (strcmp(column[1], "-") != 0)
            for (char *word = strtok_r(column[1], " ", &save); word; word = strtok_r(NULL, " ", &save))
                set_option(&opts, word);
        snprintf(path, sizeof path, "%s/bad/%s/%s", SPH_TESTS_DIR, folder, column[0]);
        sph_data *data;
        bad_list_check(&list, sph_data_open(&data, path, &opts), column, 6, path);
        assert_null(data);
    }
    bad_list_end(&list, at_least);
}

static void broken_tables_of_text_give_their_failures(void **state)
{
    (void)state;
    each_file_gives_its_failure("csv", 40);
}

static void broken_lines_of_libsvm_give_their_failures(void **state)
{
    (void)state;
    each_file_gives_its_failure("libsvm", 8);
}

static void broken_arrays_give_their_failures(void **state)
{
    (void)state;
    each_file_gives_its_failure("npy", 30);
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
    assert_int_equal(sph_data_from_arrays(&data, x, y, 0, 2, 1, SPH_TASK_REGRESSION, NULL), SPH_EARG);
    assert_fails(sph_data_from_arrays(&data, inf, y, 2, 2, 1, SPH_TASK_REGRESSION, NULL), SPH_EARG,
                 .key = "x");
    assert_fails(sph_data_from_arrays(&data, x, y, 2, 2, 1, SPH_TASK_BINARY, NULL), SPH_EARG, .key = "y");
    assert_fails(sph_data_from_arrays(&data, x, half, 2, 2, 1, SPH_TASK_CLASSES, NULL), SPH_EARG, .key = "y");
    assert_fails(sph_data_from_arrays(&data, x, inf, 2, 1, 2, SPH_TASK_REGRESSION, NULL), SPH_EARG,
                 .key = "y");
    assert_null(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_tables_of_text_give_their_failures),
        cmocka_unit_test(broken_lines_of_libsvm_give_their_failures),
        cmocka_unit_test(broken_arrays_give_their_failures),
        cmocka_unit_test(sources_that_are_no_files_are_named),
        cmocka_unit_test(a_known_set_that_is_not_there_is_named),
        cmocka_unit_test(arrays_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
