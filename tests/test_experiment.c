/* SPDX-License-Identifier: MIT
 *
 * Small experiments, run: jobs, protocols, choices and tables; what goes wrong; what a resume repeats. Their files are
 * test_experiment_read.c's matter. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <jansson.h>

#include "compare/experiment.h"
#include "experiment_small.h"
#include "failure.h"
#include "file/claims.h"
#include "rows/split.h"
#include "spherelu.h"
#include "store/runfolder.h"

static json_t *json_of(const char *path)
{
    json_error_t error;
    json_t *value = json_load_file(path, 0, &error);
    if (!value)
        fail_msg("%s: %s", path, error.text);
    return value;
}

static double real_at(const json_t *object, const char *a, const char *b)
{
    const json_t *value = json_object_get(object, a);
    return json_number_value(b ? json_object_get(value, b) : value);
}

static void results_do_not_depend_on_the_number_of_workers(void **state)
{
    (void)state;
    static const char *const protocols[] = {"holdout", "reference", "cv"};
    for (int i = 0; i < 3; i++) {
        sph_experiment *e = opened(small);
        assert_int_equal(sph_experiment_set(e, "protocol", protocols[i]), 0);
        assert_int_equal(sph_experiment_set(e, "grid.lr", "[0.01, 0.1]"), 0);
        char *text = written(e);
        sph_experiment_free(e);
        write_file("file.yaml", text);
        mem_free(text);
        static const char *const outs[] = {"here", "one", "two"};
        for (size_t workers = 0; workers < 3; workers++) {
            sph_experiment_result result;
            if (run_file(outs[workers], 0, workers, &result) < 0)
                fail_msg("%s", sph_error());
            assert_int_equal(result.jobs, i == 2 ? 2 * 2 * 2 * 5 + 4 : 8);
            assert_int_equal(result.repeated, result.jobs);
            assert_int_equal(result.failed + result.diverged, 0);
        }
        assert_same_tree(in_home("here"), in_home("one"));
        assert_same_tree(in_home("here"), in_home("two"));
        for (size_t workers = 0; workers < 3; workers++)
            remove_tree(in_home(outs[workers]));
    }
}

static int forks;

static void count_fork(void)
{
    forks++;
}

/* A program with threads of its own takes workers 0. */
static void without_workers_no_process_is_forked(void **state)
{
    (void)state;
    sph_experiment_result result;
    write_file("file.yaml", small);
    assert_int_equal(pthread_atfork(count_fork, NULL, NULL), 0);
    for (size_t workers = 0; workers < 2; workers++) {
        forks = 0;
        if (run_file("forks", 0, workers, &result) < 0)
            fail_msg("%s", sph_error());
        assert_true(result.jobs > 1 && !result.failed);
        assert_true(workers ? forks >= (int)result.jobs : !forks);
        remove_tree(in_home("forks"));
    }
}

static void a_resumed_experiment_repeats_nothing_that_finished(void **state)
{
    (void)state;
    sph_experiment_result result;
    struct stat before, after;
    write_file("file.yaml", small);
    assert_int_equal(run_file("whole", 0, 1, &result), 0);
    assert_fails(run_file("whole", 0, 1, &result), SPH_EARG, .key = "resume", .path = in_home("whole"));
    assert_int_equal(run_file("cut", 0, 1, &result), 0);
    remove_tree(in_home("cut/jobs/SP/seed-3"));
    unlink(in_home("cut/jobs/GmP__fast/seed-0/result.json"));
    unlink(in_home("cut/table.txt"));
    assert_int_equal(stat(in_home("cut/jobs/SP/seed-0/model.safetensors"), &before), 0);
    assert_int_equal(run_file("cut", 1, 1, &result), 0);
    assert_int_equal(result.repeated, 2);
    assert_int_equal(stat(in_home("cut/jobs/SP/seed-0/model.safetensors"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_same_tree(in_home("whole"), in_home("cut"));
}

static void the_folder_of_another_experiment_is_refused(void **state)
{
    (void)state;
    sph_experiment_result result;
    write_file("file.yaml", small);
    assert_int_equal(run_file("out", 0, 1, &result), 0);
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {
        .size = sizeof(sph_experiment_opts), .out = in_home("out"), .resume = 1, .workers = 1};
    assert_int_equal(sph_experiment_set(e, "epochs", "5"), 0);
    assert_fails(sph_experiment_run(e, &opts, &result), SPH_EARG, .key = "out", .path = opts.out);
    sph_experiment_free(e);

    e = opened(small);
    opts.out = in_home("out/jobs/SP/seed-0");
    assert_fails(sph_experiment_run(e, &opts, &result), SPH_EARG, .key = "out", .path = opts.out);
    sph_experiment_free(e);
}

static void data_that_changed_are_noticed(void **state)
{
    (void)state;
    char text[1024];
    sph_experiment_result result;
    struct text table = {0};
    for (int changed = 0; changed < 2; changed++) {
        text_add(&table, "a,b,y\n");
        for (int i = 0; i < 40; i++)
            text_add(&table, "%d,%d,%d\n", i % 7, i % 5, i == 11 ? changed : i % 3);
        write_file("t.csv", table.chars);
        text_free(&table);
        table = (struct text){0};
        snprintf(text, sizeof text,
                 "name: n\ndata: {name: %s, task: regression}\ntrain: {epochs: 2}\n"
                 "methods: [{name: SP, param: sp}]\n",
                 in_home("t.csv"));
        write_file("file.yaml", text);
        if (changed)
            assert_fails(run_file("out", 1, 1, &result), SPH_EARG, .key = "out", .path = in_home("out"));
        else
            assert_int_equal(run_file("out", 0, 1, &result), 0);
    }
    /* the resolved file knows its data, too */
    sph_experiment *e;
    sph_experiment_opts opts = {.size = sizeof(sph_experiment_opts), .out = in_home("again"), .workers = 1};
    assert_int_equal(sph_experiment_open(&e, in_home("out/experiment.yaml")), 0);
    assert_fails(sph_experiment_run(e, &opts, &result), SPH_EFORMAT, .key = "content",
                 .path = in_home("out/experiment.yaml"));
    sph_experiment_free(e);
}

/* ---------------------------------------------------------------- protocols */

static void cv_takes_the_folds_of_scikit_learn_and_refits_for_their_mean_best_epoch(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.size = sizeof(sph_experiment_opts), .out = in_home("cv"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "protocol", "cv"), 0);
    assert_int_equal(sph_experiment_set(e, "folds", "3"), 0);
    assert_int_equal(sph_experiment_set(e, "grid.lr", "[0.3, 0.001]"), 0);
    assert_int_equal(sph_experiment_set(e, "epochs", "9"), 0);
    if (sph_experiment_run(e, &opts, &result) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(result.jobs, 2 * 2 * 2 * 3 + 2 * 2);
    sph_experiment_free(e);

    sph_split refit, part, fold;
    const char *points[] = {"lr-0.3", "lr-0.001"};
    double score[2], epochs[2];
    char path[128];
    for (int p = 0; p < 2; p++) {
        score[p] = epochs[p] = 0;
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "cv/jobs/SP/%s/seed-3/fold-%d/result.json", points[p], k);
            json_t *json = json_of(in_home(path));
            score[p] += real_at(json, "val", "accuracy") / 3;
            epochs[p] += real_at(json, "best_epoch", NULL) / 3;
            json_decref(json);
        }
    }
    assert_true(score[0] != score[1]); /* else this test says nothing */
    int best = score[1] > score[0];
    snprintf(path, sizeof path, "cv/jobs/SP/%s/seed-3/refit", points[!best]);
    assert_false(file_exists(in_home(path)));
    snprintf(path, sizeof path, "cv/jobs/SP/%s/seed-3/refit", points[best]);
    assert_int_equal(runfolder_read_split(&refit, in_home(path), 80), 0);
    assert_int_equal(refit.val_rows, 0);
    assert_int_equal(refit.test_rows, 16);
    snprintf(path, sizeof path, "cv/jobs/SP/%s/seed-3/refit/result.json", points[best]);
    json_t *json = json_of(in_home(path));
    assert_true(real_at(json, "epochs", NULL) == floor(epochs[best] + 0.5));
    double accuracy = real_at(json, "test", "accuracy");
    json_decref(json);
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "cv/jobs/SP/lr-0.3/seed-3/fold-%d", k);
        assert_int_equal(runfolder_read_split(&part, in_home(path), 80), 0);
        assert_int_equal(split_kfold(&fold, refit.train, refit.train_rows, 3, (size_t)k, 3), 0);
        assert_int_equal(part.val_rows, fold.val_rows);
        assert_memory_equal(part.val, fold.val, fold.val_rows * sizeof *fold.val);
        assert_memory_equal(part.train, fold.train, fold.train_rows * sizeof *fold.train);
        assert_memory_equal(part.test, refit.test, refit.test_rows * sizeof *refit.test);
        sph_split_free(&part);
        sph_split_free(&fold);
    }
    sph_split_free(&refit);
    json = json_of(in_home("cv/table.json"));
    const json_t *method = json_array_get(json_object_get(json, "methods"), 0);
    assert_true(json_number_value(json_array_get(json_object_get(method, "values"), 1)) == accuracy);
    json_decref(json);
}

static void holdout_chooses_by_validation_and_reports_the_test(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.size = sizeof(sph_experiment_opts), .out = in_home("holdout"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "grid", "{lr: [0.0001, 0.03, 1e30]}"), 0);
    assert_int_equal(sph_experiment_set(e, "epochs", "20"), 0);
    if (sph_experiment_run(e, &opts, &result) < 0)
        fail_msg("%s", sph_error());
    assert_true(result.diverged >= 2); /* and are never chosen */
    assert_int_equal(result.failed, 0);
    sph_experiment_free(e);
    json_t *table = json_of(in_home("holdout/table.json"));
    static const char *const points[] = {"lr-0.0001", "lr-0.03"};
    for (size_t s = 0; s < 2; s++) {
        double val[2], test[2];
        for (int p = 0; p < 2; p++) {
            char path[128];
            snprintf(path, sizeof path, "holdout/jobs/SP/%s/seed-%d/result.json", points[p], s ? 3 : 0);
            json_t *json = json_of(in_home(path));
            val[p] = real_at(json, "val", "accuracy");
            test[p] = real_at(json, "test", "accuracy");
            json_decref(json);
        }
        assert_true(val[0] != val[1]);
        const json_t *method = json_array_get(json_object_get(table, "methods"), 0);
        double reported = json_number_value(json_array_get(json_object_get(method, "values"), s));
        assert_true(reported == test[val[1] > val[0]]);
    }
    json_decref(table);
}

static void reference_is_called_a_leak_in_every_output(void **state)
{
    (void)state;
    sph_experiment_result result;
    static const char *const files[] = {"table.txt",
                                        "table.md",
                                        "table.tex",
                                        "table.csv",
                                        "table.json",
                                        "results.json",
                                        "jobs/SP/seed-0/result.json"};
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {
        .size = sizeof(sph_experiment_opts), .out = in_home("reference"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "protocol", "reference"), 0);
    assert_int_equal(sph_experiment_set(e, "train.monitor", "val_loss"), 0);
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    sph_experiment_free(e);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t length;
        char *text = content(in_home("reference"), files[i], &length);
        if (!strstr(text, "protocol reference"))
            fail_msg("%s says nothing of the leak", files[i]);
        mem_free(text);
    }
    /* its epochs are chosen by the test part: the best of the log is the one reported */
    size_t length;
    double best = (double)INFINITY, loss;
    char *log = content(in_home("reference"), "jobs/SP/seed-0/metrics.jsonl", &length);
    for (char *at = log; (at = strstr(at, "\"val_loss\":"));) {
        loss = strtod(at += 11, NULL);
        best = loss < best ? loss : best;
    }
    mem_free(log);
    json_t *json = json_of(in_home("reference/jobs/SP/seed-0/result.json"));
    assert_true(fabs(real_at(json, "test", "loss") - best) < 1e-9);
    assert_null(json_object_get(json, "val"));
    json_decref(json);
}

/* ---------------------------------------------------------------- what goes wrong */

static void jobs_that_diverge_or_fail_are_lines_of_the_table(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.size = sizeof(sph_experiment_opts), .out = in_home("bad"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "methods.SP.lr", "1e30"), 0);
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    assert_int_equal(result.failed, 0);
    /* in the way of one job: a file where its folder should be */
    remove_tree(in_home("bad/jobs/GmP__fast/seed-3"));
    write_file("bad/jobs/GmP__fast/seed-3", "in the way");
    opts.resume = 1;
    if (sph_experiment_run(e, &opts, &result) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(result.diverged, 2);
    assert_int_equal(result.failed, 1);
    size_t length;
    char *text = content(in_home("bad"), "table.txt", &length);
    assert_non_null(strstr(text, "diverged: "));
    assert_non_null(strstr(text, "GmP__fast/seed-3: "));
    mem_free(text);
    /* the obstacle gone, resume runs that job and leaves the divergence alone */
    assert_int_equal(unlink(in_home("bad/jobs/GmP__fast/seed-3")), 0);
    opts.resume = 1;
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    assert_int_equal(result.repeated, 1);
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.diverged, 2);
    sph_experiment_free(e);
}

static void every_point_of_the_grid_may_be_a_line(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    sph_experiment_opts opts = {.size = sizeof(sph_experiment_opts), .out = in_home("all"), .workers = 2};
    assert_int_equal(sph_experiment_set(e, "table", "all"), 0);
    assert_int_equal(sph_experiment_set(e, "grid", "{hidden: [2, 5], init_scale: [0.1, 1]}"), 0);
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    sph_experiment_free(e);
    json_t *table = json_of(in_home("all/table.json"));
    const json_t *methods = json_object_get(table, "methods");
    assert_int_equal(json_array_size(methods), 8);
    assert_string_equal(json_string_value(json_object_get(json_array_get(methods, 1), "name")),
                        "SP, hidden 2, init_scale 1");
    json_decref(table);
}

static void a_second_process_is_refused_and_a_dead_one_is_no_hindrance(void **state)
{
    (void)state;
    sph_experiment_result result;
    struct claims claims;
    int ready[2];
    char byte = 0;
    write_file("file.yaml", small);
    assert_int_equal(file_make_directory(in_home("out")), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        (void)!claims_begin(&claims, in_home("out"), CLAIMS_ALONE, NULL);
        (void)!write(ready[1], &byte, 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_fails(run_file("out", 0, 1, &result), SPH_EIO, .path = in_home("out"));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(run_file("out", 0, 1, &result), 0);
    close(ready[0]);
    close(ready[1]);
}

static int stop_at_once(void *self, const sph_progress *view)
{
    int *calls = self;
    assert_true(view->share >= 0 && view->share <= 1);
    return ++*calls > 1;
}

static void an_experiment_that_is_stopped_goes_on_to_the_same_end(void **state)
{
    (void)state;
    sph_experiment_result result;
    sph_experiment *e = opened(small);
    int calls = 0;
    assert_int_equal(sph_experiment_set(e, "epochs", "3000"), 0);
    assert_int_equal(sph_experiment_set(e, "patience", "0"), 0);
    sph_experiment_opts opts = {.size = sizeof(sph_experiment_opts), .out = in_home("whole"), .workers = 2};
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    opts.out = in_home("stopped");
    opts.progress = stop_at_once;
    opts.self = &calls;
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    assert_true(result.stopped);
    assert_false(file_exists(in_home("stopped/table.txt")));
    opts.resume = 1;
    opts.progress = NULL;
    assert_int_equal(sph_experiment_run(e, &opts, &result), 0);
    assert_false(result.stopped);
    assert_same_tree(in_home("whole"), in_home("stopped"));
    sph_experiment_free(e);
}

#define IN_A_HOME(name) cmocka_unit_test_setup_teardown(name, make_home, remove_home)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_HOME(results_do_not_depend_on_the_number_of_workers),
        IN_A_HOME(without_workers_no_process_is_forked),
        IN_A_HOME(a_resumed_experiment_repeats_nothing_that_finished),
        IN_A_HOME(the_folder_of_another_experiment_is_refused),
        IN_A_HOME(data_that_changed_are_noticed),
        IN_A_HOME(cv_takes_the_folds_of_scikit_learn_and_refits_for_their_mean_best_epoch),
        IN_A_HOME(holdout_chooses_by_validation_and_reports_the_test),
        IN_A_HOME(reference_is_called_a_leak_in_every_output),
        IN_A_HOME(jobs_that_diverge_or_fail_are_lines_of_the_table),
        IN_A_HOME(every_point_of_the_grid_may_be_a_line),
        IN_A_HOME(a_second_process_is_refused_and_a_dead_one_is_no_hindrance),
        IN_A_HOME(an_experiment_that_is_stopped_goes_on_to_the_same_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
