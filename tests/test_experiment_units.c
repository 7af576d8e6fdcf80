/* SPDX-License-Identifier: MIT
 *
 * What became of the units is counted after the jobs, in processes of their own. One that dies, and a model that is there and
 * cannot be read, fail the command: a table without the counts would look whole. A training that failed is told by its own
 * reason. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment_files.h"
#include "failure.h"
#include "fault_system.h"

static const char two_jobs[] = "name: two\n"
                               "data: {name: crescents, rows: 80}\n"
                               "net: {hidden: [4]}\n"
                               "train: {epochs: 2, batch: 16}\n"
                               "methods: [{name: SP, param: sp}]\n"
                               "seeds: [0, 3]\n";

/* Whoever opens a model dies. */
static void die_of_models(const char *path)
{
    if (strstr(path, "model.safetensors"))
        raise(SIGKILL);
}

static void put_folder_for_model(void)
{
    const char *path = in_home("out/jobs/SP/seed-3/model.safetensors");
    assert_int_equal(remove(path), 0);
    assert_int_equal(file_make_directory(path), 0);
}

static void begin(sph_experiment_result *result)
{
    remove_tree(in_home("out"));
    write_file("file.yaml", two_jobs);
    if (run_file("out", 0, 2, result) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(result->failed, 0);
}

static void a_process_that_dies_while_units_are_counted_fails_the_command(void **state)
{
    (void)state;
    sph_experiment_result result;
    begin(&result);
    sys.opens = die_of_models;
    int err = run_file("out", 1, 2, &result);
    sys.opens = NULL;
    assert_int_equal(err, SPH_EIO);
    assert_int_equal(run_file("out", 1, 2, &result), 0);
}

static void a_model_that_is_there_and_cannot_be_read_fails_the_command(void **state)
{
    (void)state;
    sph_experiment_result result;
    begin(&result);
    put_folder_for_model();
    assert_fails(run_file("out", 1, 2, &result), SPH_EIO, .path = "model.safetensors");
}

static void a_training_that_failed_is_told_by_its_own_reason(void **state)
{
    (void)state;
    sph_experiment_result result;
    begin(&result);
    assert_int_equal(remove(in_home("out/jobs/SP/seed-3/result.json")), 0);
    put_folder_for_model(); /* the training cannot put its model there */
    if (run_file("out", 1, 2, &result) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(result.failed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_dies_while_units_are_counted_fails_the_command),
        cmocka_unit_test(a_model_that_is_there_and_cannot_be_read_fails_the_command),
        cmocka_unit_test(a_training_that_failed_is_told_by_its_own_reason),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
