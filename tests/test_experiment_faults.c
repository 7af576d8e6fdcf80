/* SPDX-License-Identifier: MIT
 *
 * Promise: when an allocation, a write, a sync or a rename of an experiment fails, or it is killed before or after one of the
 * latter, finished jobs stay, no file is half-written, and a resume ends with the same bits as an experiment to which nothing
 * happened. Each of them fails in turn. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <jansson.h>

#include "file/file_sys.h"
#include "experiment_files.h"
#include "fault.h"
#include "fault_system.h"
#include "layer.h"
#include "spherelu.h"

static long json_left = -1; /* jansson's allocations still to succeed; negative: off */
static int json_failed;

static void *json_get(size_t size)
{
    if (json_left >= 0 && json_left-- == 0) {
        json_failed = 1;
        return NULL;
    }
    return malloc(size);
}

/* ---------------------------------------------------------------- small experiments */

/* A choice among a grid, with a job that diverges; and one with folds and refits. */
static const char *const texts[] = {
    "name: grid\n"
    "data: {name: crescents, rows: 20, noise: 0.3}\n"
    "net: {hidden: [2]}\n"
    "train: {epochs: 2, checkpoint_seconds: 0}\n"
    "methods: [{name: SP, param: sp}, {name: GmP, norm: bn}]\n"
    "grid: {lr: [0.1, 1e30]}\n",
    "name: folds\n"
    "data: {name: levy, rows: 8}\n"
    "net: {hidden: [2]}\n"
    "train: {epochs: 2, loss: mae}\n"
    "methods: [{name: SP, param: sp}]\n"
    "protocol: cv\n"
    "folds: 2\n",
};

static int no_temporary(const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
    (void)info;
    (void)kind;
    (void)ftw;
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".tmp");
}

static void assert_nothing_half_written(void)
{
    if (file_exists(in_home("out")) && nftw(in_home("out"), no_temporary, 16, FTW_PHYS))
        fail_msg("a temporary file was left behind");
}

static void begin(size_t i)
{
    sph_experiment_result result;
    write_file("file.yaml", texts[i]);
    if (run_file("whole", 0, 0, &result) < 0)
        fail_msg("%s", sph_error());
}

/* A resume ends as if nothing had been. */
static void assert_usable(const char *what, long n)
{
    sph_experiment_result result;
    if (run_file("out", 1, 0, &result) < 0)
        fail_msg("%s %ld: resume: %s", what, n, sph_error());
    if (result.failed)
        fail_msg("%s %ld: resume: %zu jobs failed", what, n, result.failed);
    assert_same_tree(in_home("whole"), in_home("out"));
    remove_tree(in_home("out"));
}

/* A failure is one of the experiment, or of one job and in its table. */
static void assert_told(const char *what, long n, int err, const sph_experiment_result *result)
{
    if (!err && result->failed != 1)
        fail_msg("%s %ld failed, and nobody says so", what, n);
    if (err && !*sph_error())
        fail_msg("%s %ld: %d without a word", what, n, err);
}

static void each_allocation_fails_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t n = i;
        begin(i);
        for (;; n += sample_step(41)) {
            sph_experiment_result result;
            fault_after(n);
            int err = run_file("out", 0, 0, &result), happened = fault_happened();
            fault_off();
            if (!happened) {
                assert_int_equal(err, 0);
                remove_tree(in_home("out"));
                break;
            }
            if (err && err != SPH_EMEMORY)
                fail_msg("allocation %zu: %d %s", n, err, sph_error());
            assert_told("allocation", (long)n, err, &result);
            assert_nothing_half_written();
            assert_usable("allocation", (long)n);
        }
        print_message("    %zu allocations\n", n);
        assert_true(n > 300);
        remove_tree(in_home("whole"));
    }
}

static void each_allocation_for_json_fails_once(void **state)
{
    (void)state;
    begin(1);
    json_set_alloc_funcs(json_get, free);
    long n = 0;
    for (;; n += (long)sample_step(41)) {
        sph_experiment_result result;
        json_failed = 0;
        json_left = n;
        int err = run_file("out", 0, 0, &result);
        json_left = -1;
        if (!json_failed) {
            assert_int_equal(err, 0);
            break;
        }
        assert_told("allocation for JSON", n, err, &result);
        assert_nothing_half_written();
        assert_usable("allocation for JSON", n);
    }
    json_set_alloc_funcs(malloc, free);
    print_message("    %ld allocations\n", n);
    assert_true(n > 100);
}

static void each_write_sync_and_rename_fails_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        int n = 1;
        begin(i);
        for (;; n += (int)sample_step(5)) {
            sph_experiment_result result;
            sys_plan(n, FAIL);
            int err = run_file("out", 0, 0, &result), happened = sys.calls >= n;
            sys_plan(0, FAIL);
            if (!happened) {
                assert_int_equal(err, 0);
                remove_tree(in_home("out"));
                break;
            }
            assert_told("call", n, err, &result);
            assert_nothing_half_written();
            assert_usable("call", n);
        }
        print_message("    %d calls\n", n - 1);
        assert_true(n > 60);
        remove_tree(in_home("whole"));
    }
}

static void killed_before_and_after_each_call_it_goes_on_to_the_same_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        begin(i);
        int killed = 1, n = 1;
        for (; killed; n += (int)sample_step(7))
            for (enum action action = KILL_BEFORE; action <= KILL_AFTER && killed; action++) {
                pid_t pid = fork();
                assert_true(pid >= 0);
                if (!pid) {
                    sph_experiment_result result;
                    sys_plan(n, action);
                    _exit(run_file("out", 0, 0, &result) < 0);
                }
                int status;
                waitpid(pid, &status, 0);
                killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
                if (!killed)
                    assert_int_equal(status, 0);
                assert_usable("kill", n);
            }
        print_message("    %d calls\n", n - 2);
        assert_true(n > 60);
        remove_tree(in_home("whole"));
    }
}

static int end_of_test(void **state)
{
    sys_plan(0, FAIL);
    fault_off();
    json_left = -1;
    json_set_alloc_funcs(malloc, free);
    return remove_home(state);
}

#define IN_A_HOME(name) cmocka_unit_test_setup_teardown(name, make_home, end_of_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_HOME(each_allocation_fails_once),
        IN_A_HOME(each_allocation_for_json_fails_once),
        IN_A_HOME(each_write_sync_and_rename_fails_once),
        IN_A_HOME(killed_before_and_after_each_call_it_goes_on_to_the_same_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
