/* SPDX-License-Identifier: MIT
 *
 * Promise: when an allocation, a write, a sync or a rename of a training fails, or the process is killed before or after one of
 * the latter, it reports the failure, leaks nothing, and leaves a folder that a resume finishes with the same bits. Each of
 * them fails in turn. (cli_faults: all system calls of all commands. cli_kills: all commands, at random moments.) */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "file/file.h"
#include "file/file_sys.h"
#include "base/memory.h"
#include "fault.h"
#include "fault_system.h"
#include "job/job.h"
#include "layer.h"
#include "sinks.h"
#include "temporaries.h"
#include "spherelu.h"

/* ---------------------------------------------------------------- jansson, made to fail */

static long json_left = -1; /* allocations still to succeed; negative: off */
static int json_failed;

static void *json_get(size_t size)
{
    if (json_left >= 0 && json_left-- == 0) {
        json_failed = 1;
        return NULL;
    }
    return malloc(size);
}

/* ---------------------------------------------------------------- a folder for each test */

static char home[64], table[96], words[96], run_dir[96], whole[96];

static void in_home(char out[96], const char *name)
{
    snprintf(out, 96, "%s/%s", home, name);
}

static void empty_folder(const char *dir)
{
    static const char *const names[] = {"config.yaml",
                                        "metrics.jsonl",
                                        "refit.jsonl",
                                        "tune.json",
                                        "model.safetensors",
                                        "checkpoint.safetensors",
                                        "result.json",
                                        "split.json",
                                        "boundaries.npz",
                                        "boundaries.moves.part",
                                        "boundaries.frames.part",
                                        "boundaries.patterns.part",
                                        "boundaries.gradients.part"};
    char path[160];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    temporaries_in(dir, "", 1);
    rmdir(dir);
}

static int make_home(void **state)
{
    (void)state;
    strcpy(home, "/tmp/spherelu-faults-XXXXXX");
    if (!mkdtemp(home))
        return -1;
    in_home(table, "t.csv");
    in_home(words, "w.csv");
    in_home(run_dir, "run");
    in_home(whole, "whole");
    FILE *numbers = fopen(table, "w"), *classes = fopen(words, "w");
    if (!numbers || !classes)
        return -1;
    fputs("a,colour,price,y\n", numbers);
    fputs("u,v,kind\n", classes);
    for (int i = 0; i < 30; i++) {
        char a[16];
        snprintf(a, sizeof a, "%d", i);
        fprintf(numbers, "%s,%s,\"$1,%03d\",%d\n", i == 7 ? "" : a, i % 3 ? "red" : "dark blue", i * 7,
                i * i % 11);
        fprintf(classes, "%d,%d,%s\n", i % 5, i % 7, i % 3 == 0 ? "one" : i % 3 == 1 ? "two" : "three");
    }
    return fclose(numbers) | fclose(classes);
}

static int remove_home(void **state)
{
    (void)state;
    sys_plan(0, FAIL);
    fault_off();
    json_left = -1;
    empty_folder(run_dir);
    empty_folder(whole);
    unlink(table);
    unlink(words);
    return rmdir(home);
}

/* ---------------------------------------------------------------- jobs */

struct setting {
    const char *name, *value;
};

/* Two ways through the code: text, missing cells, BN, mini-batches, a plateau and a record; classes in f64
 * under sphere. */
static const struct setting regression[] = {{"hidden", "5"},
                                            {"epochs", "3"},
                                            {"norm", "bn"},
                                            {"batch", "8"},
                                            {"patience", "2"},
                                            {"schedule", "plateau:1:0.5:0.1"},
                                            {"target", "y"},
                                            {"checkpoint-seconds", "0"},
                                            {"record", "boundaries+patterns:0,4+gradients:0,4"},
                                            {NULL, NULL}};
static const struct setting several_classes[] = {{"hidden", "5,4"},
                                                 {"epochs", "3"},
                                                 {"param", "sphere"},
                                                 {"norm", "imn"},
                                                 {"dtype", "f64"},
                                                 {"batch", "full"},
                                                 {"threads", "2"},
                                                 {"optimizer", "sgd"},
                                                 {"activation", "srelu"},
                                                 {"checkpoint-seconds", "0"},
                                                 {NULL, NULL}};

/* Two nets, trained twice. */
static const struct setting members[] = {
    {"hidden", "4"},   {"epochs", "3"}, {"batch", "16"}, {"ensemble", "2"},
    {"refit", "true"}, {"target", "y"}, {"norm", "bn"},  {"checkpoint-seconds", "0"},
    {NULL, NULL}};

/* Two networks of which the better one is trained. */
static const struct setting tuned[] = {
    {"hidden", "4"}, {"epochs", "3"}, {"tune", "2"}, {"target", "y"}, {"checkpoint-seconds", "0"},
    {NULL, NULL}};

static int run_job(const struct setting *settings, const char *data, const char *out, int resume)
{
    sph_job *job = NULL;
    sph_result result;
    int err = job_new(&job, 0);
    if (!err)
        err = sph_job_set(job, "data", data);
    if (!err)
        err = sph_job_set(job, "out", out);
    for (; !err && settings->name; settings++)
        err = sph_job_set(job, settings->name, settings->value);
    if (!err)
        err = sph_job_run(job, resume, NULL, 0, &result);
    sph_job_free(job);
    return err;
}

/* A file of a folder; *length as stored, but for `seconds`, which are cut out. Caller frees with mem_free. */
static char *content(const char *dir, const char *name, size_t *length)
{
    char path[160], *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(file_read(&bytes, length, path), 0);
    if (!strstr(name, ".json"))
        return bytes;
    for (char *at = bytes; (at = strstr(at, "\"seconds\":"));) {
        size_t cut = strcspn(at, ",}\n");
        memmove(at, at + cut, strlen(at + cut) + 1);
        *length -= cut;
    }
    return bytes;
}

static int has(const char *dir, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return file_exists(path);
}

static void assert_same_run(const char *a, const char *b)
{
    static const char *const names[] = {"config.yaml", "split.json",     "metrics.jsonl", "model.safetensors",
                                        "result.json", "boundaries.npz", "refit.jsonl",   "tune.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t la, lb;
        if (!has(a, names[i]) && !has(b, names[i])) /* one that records nothing */
            continue;
        char *ca = content(a, names[i], &la), *cb = content(b, names[i], &lb);
        if (la != lb || memcmp(ca, cb, la) != 0)
            fail_msg("%s differs", names[i]);
        mem_free(ca);
        mem_free(cb);
    }
}

/* After a failure nothing is half-written, and a resume ends as if it had not been. */
static void assert_usable(const struct setting *settings, const char *data)
{
    if (temporaries_in(run_dir, "", 0))
        fail_msg("a temporary was left behind");
    int err = run_job(settings, data, run_dir, 1);
    if (err)
        fail_msg("resume: %d %s", err, sph_error());
    assert_same_run(whole, run_dir);
    assert_false(has(run_dir, "boundaries.moves.part") || has(run_dir, "boundaries.frames.part") ||
                 has(run_dir, "boundaries.patterns.part") || has(run_dir, "boundaries.gradients.part"));
    empty_folder(run_dir);
}

/* ---------------------------------------------------------------- memory */

static void fail_each_allocation(const struct setting *settings, const char *data)
{
    assert_int_equal(run_job(settings, data, whole, 0), 0);
    size_t n = 0;
    for (;; n += sample_step(23)) {
        fault_after(n);
        int err = run_job(settings, data, run_dir, 0);
        int happened = fault_happened();
        fault_off();
        if (!happened) {
            assert_int_equal(err, 0);
            break;
        }
        if (err != SPH_EMEMORY || sph_failure()->code != err)
            fail_msg("allocation %zu failed: %d %s", n, err, err ? sph_error() : "");
        assert_usable(settings, data);
    }
    print_message("    %zu allocations\n", n);
    assert_true(n > 100);
}

static int use_run(const char *dir, const char *data, FILE *csv, sph_scores *scores)
{
    sph_run *run = NULL;
    int err = sph_run_open(&run, dir);
    if (!err)
        err = sph_run_eval(run, data, scores);
    if (!err)
        err = sph_run_predict(run, data, STREAM_SINK(csv));
    sph_run_free(run);
    return err;
}

/* What predict wrote; caller frees with free. */
static char *use_whole(const char *data, sph_scores *scores, int *err)
{
    char *text = NULL;
    size_t length;
    FILE *csv = open_memstream(&text, &length);
    assert_non_null(csv);
    *err = use_run(whole, data, csv, scores);
    fclose(csv);
    return text;
}

static void fail_each_use(const struct setting *settings, const char *data)
{
    sph_scores expected, scores;
    int err;
    assert_int_equal(run_job(settings, data, whole, 0), 0);
    char *first = use_whole(data, &expected, &err);
    assert_int_equal(err, 0);
    size_t n = 0;
    for (int happened = 1; happened; n += sample_step(23)) {
        fault_after(n);
        char *text = use_whole(data, &scores, &err);
        happened = fault_happened();
        fault_off();
        if (happened && err != SPH_EMEMORY)
            fail_msg("allocation %zu failed: %d %s", n, err, err ? sph_error() : "");
        if (!happened) {
            assert_int_equal(err, 0);
            assert_string_equal(text, first);
            assert_memory_equal(scores.value, expected.value, expected.count * sizeof *expected.value);
        }
        free(text);
    }
    free(first);
    print_message("    %zu allocations\n", n - 1);
    assert_true(n > 50);
}

static void each_allocation_of_a_training_fails_once(void **state)
{
    (void)state;
    fail_each_allocation(regression, table);
}

static void each_allocation_of_a_training_on_classes_fails_once(void **state)
{
    (void)state;
    fail_each_allocation(several_classes, words);
}

static void each_allocation_of_an_ensemble_fails_once(void **state)
{
    (void)state;
    fail_each_use(members, table);
    empty_folder(whole);
    fail_each_allocation(members, table);
}

static void each_allocation_of_a_resume_fails_once(void **state)
{
    (void)state;
    assert_int_equal(run_job(regression, table, whole, 0), 0);
    assert_int_equal(run_job(regression, table, run_dir, 0), 0);
    size_t n = 0;
    for (;; n += sample_step(23)) {
        fault_after(n);
        int err = run_job(regression, table, run_dir, 1);
        int happened = fault_happened();
        fault_off();
        assert_same_run(whole, run_dir); /* a finished run stays whole whatever happens */
        if (!happened)
            break;
        if (err != SPH_EMEMORY)
            fail_msg("allocation %zu failed: %d %s", n, err, err ? sph_error() : "");
    }
    assert_true(n > 100);
}

static void fail_each_json(const struct setting *settings)
{
    assert_int_equal(run_job(settings, table, whole, 0), 0);
    json_set_alloc_funcs(json_get, free);
    long n = 0;
    for (int happened = 1; happened; n += (long)sample_step(23)) {
        json_failed = 0;
        json_left = n;
        int err = run_job(settings, table, run_dir, 0);
        json_left = -1;
        happened = json_failed;
        if (happened && err != SPH_EMEMORY)
            fail_msg("json allocation %ld failed: %d %s", n, err, err ? sph_error() : "");
        if (happened)
            assert_usable(settings, table);
        else
            assert_int_equal(err, 0);
    }
    json_set_alloc_funcs(malloc, free);
    print_message("    %ld allocations\n", n - 1);
    assert_true(n > 100);
}

static void each_allocation_for_json_fails_once(void **state)
{
    (void)state;
    fail_each_json(regression);
    empty_folder(whole);
    empty_folder(run_dir);
    fail_each_json(members);
}

static void each_allocation_of_eval_and_predict_fails_once(void **state)
{
    (void)state;
    fail_each_use(regression, table);
    empty_folder(whole);
    fail_each_use(several_classes, words);
}

/* ---------------------------------------------------------------- files */

static void each_write_sync_and_rename_of_a_training_fails_once(void **state)
{
    (void)state;
    int at = 1;
    assert_int_equal(run_job(regression, table, whole, 0), 0);
    for (;; at += (int)sample_step(2)) {
        sys_plan(at, FAIL);
        int err = run_job(regression, table, run_dir, 0);
        int happened = sys.calls >= at;
        sys_plan(0, FAIL);
        if (!happened) {
            assert_int_equal(err, 0);
            break;
        }
        const struct sph_failure *failure = sph_failure();
        if (err != SPH_EIO || strncmp(failure->path, run_dir, strlen(run_dir)) != 0 ||
            strchr(failure->text, '\n'))
            fail_msg("call %d failed: %d %s", at, err, err ? sph_error() : "");
        assert_usable(regression, table);
    }
    print_message("    %d calls\n", at - 1);
    assert_true(at > 30);
}

static void each_write_sync_and_rename_of_a_resume_fails_once(void **state)
{
    (void)state;
    assert_int_equal(run_job(regression, table, whole, 0), 0);
    assert_int_equal(run_job(regression, table, run_dir, 0), 0);
    for (int at = 1, happened = 1; happened; at++) {
        sys_plan(at, FAIL);
        int err = run_job(regression, table, run_dir, 1);
        happened = sys.calls >= at;
        sys_plan(0, FAIL);
        assert_int_equal(err, happened ? SPH_EIO : 0);
        assert_same_run(whole, run_dir);
    }
}

/* Every moment at which what is on the disk has changed. */
static void kill_at_each_call(const struct setting *settings)
{
    int calls = 0;
    assert_int_equal(run_job(settings, table, whole, 0), 0);
    for (int action = KILL_BEFORE; action <= KILL_AFTER; action++)
        for (int at = 1, killed = 1, step = (int)sample_step(5); killed; at += step, calls += step) {
            pid_t child = fork();
            assert_true(child >= 0);
            if (!child) {
                sys_plan(at, (enum action)action);
                _exit(run_job(settings, table, run_dir, 0) ? 1 : 0);
            }
            int status;
            assert_int_equal(waitpid(child, &status, 0), child);
            killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
            assert_true(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
            int err = run_job(settings, table, run_dir, 1);
            if (err)
                fail_msg("resume after a kill at call %d: %d %s", at, err, sph_error());
            assert_same_run(whole, run_dir);
            empty_folder(run_dir);
        }
    print_message("    %d calls\n", calls - 2);
    assert_true(calls > 60);
    empty_folder(whole);
}

static void a_run_killed_at_each_write_sync_and_rename_resumes_to_the_same_bits(void **state)
{
    (void)state;
    kill_at_each_call(regression);
    kill_at_each_call(members);
    kill_at_each_call(tuned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_allocation_of_a_training_fails_once, make_home, remove_home),
        cmocka_unit_test_setup_teardown(each_allocation_of_a_training_on_classes_fails_once, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(each_allocation_of_an_ensemble_fails_once, make_home, remove_home),
        cmocka_unit_test_setup_teardown(each_allocation_of_a_resume_fails_once, make_home, remove_home),
        cmocka_unit_test_setup_teardown(each_allocation_for_json_fails_once, make_home, remove_home),
        cmocka_unit_test_setup_teardown(each_allocation_of_eval_and_predict_fails_once, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(each_write_sync_and_rename_of_a_training_fails_once, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(each_write_sync_and_rename_of_a_resume_fails_once, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(a_run_killed_at_each_write_sync_and_rename_resumes_to_the_same_bits,
                                        make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
