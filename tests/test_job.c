/* SPDX-License-Identifier: MIT
 *
 * Jobs through the public API: the same as their pieces put together by hand, the same whether stopped or
 * not, and better than linear regression with no option set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "failure.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "job/job.h"
#include "spherelu.h"

/* ---------------------------------------------------------------- a folder for each test */

enum { PATH_LENGTH = 128 };
static char home[64], table[PATH_LENGTH], run_dir[PATH_LENGTH], whole[PATH_LENGTH];

/* Words, dollars and missing cells around a function that is not linear. */
static void write_table(const char *path, size_t rows)
{
    static const char *const place[] = {"north", "old town", "south"};
    struct rng rng = rng_stream(3, RNG_NOISE, 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("area,place,taxes,age,price\n", file);
    for (size_t i = 0; i < rows; i++) {
        double area = 30 + 170 * rng_unit(&rng), age = 100 * rng_unit(&rng),
               taxes = 1000 + 1900 * rng_unit(&rng);
        uint32_t where = rng_below(&rng, 3);
        double price = 1000 * area * (where == 1 ? 1.5 : 1) + 2000 * fabs(age - 50) - 10 * taxes +
                       20000 * rng_unit(&rng);
        char cell[32] = "";
        if (i % 11 != 3)
            snprintf(cell, sizeof cell, "%.2f", area);
        fprintf(file, "%s,%s,\"$%d,%03d\",%.1f,\"$%d,%03d\"\n", cell, i % 23 == 5 ? "" : place[where],
                (int)taxes / 1000, (int)taxes % 1000, age, (int)price / 1000, (int)price % 1000);
    }
    assert_int_equal(fclose(file), 0);
}

static void empty_folder(const char *dir)
{
    static const char *const names[] = {"config.yaml",       "metrics.jsonl",
                                        "model.safetensors", "checkpoint.safetensors",
                                        "result.json",       "split.json"};
    char path[PATH_LENGTH + 32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

static int make_home(void **state)
{
    (void)state;
    strcpy(home, "/tmp/spherelu-job-XXXXXX");
    if (!mkdtemp(home))
        return -1;
    snprintf(table, sizeof table, "%s/t.csv", home);
    snprintf(run_dir, sizeof run_dir, "%s/run", home);
    snprintf(whole, sizeof whole, "%s/whole", home);
    return 0;
}

static int remove_home(void **state)
{
    (void)state;
    empty_folder(run_dir);
    empty_folder(whole);
    unlink(table);
    return rmdir(home);
}

/* ---------------------------------------------------------------- jobs */

static sph_job *open_job(const char *data, const char *out)
{
    sph_job *job = NULL;
    assert_int_equal(job_new(&job, 0), 0);
    assert_int_equal(sph_job_set(job, "data", data), 0);
    assert_int_equal(sph_job_set(job, "out", out), 0);
    return job;
}

static void set(sph_job *job, const char *name, const char *value)
{
    if (sph_job_set(job, name, value))
        fail_msg("%s: %s", name, sph_error());
}

/* 60 training rows in batches of 16: four steps in an epoch. */
static sph_job *small_job(const char *out)
{
    sph_job *job = open_job(table, out);
    set(job, "hidden", "6,5");
    set(job, "norm", "bn");
    set(job, "batch", "16");
    set(job, "epochs", "5");
    set(job, "schedule", "step:1,3:0.5");
    set(job, "warmup", "0.75");
    return job;
}

static char *content(const char *dir, const char *name, size_t *length)
{
    char path[PATH_LENGTH + 32], *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (file_read(&bytes, length, path))
        fail_msg("%s", sph_error());
    for (char *at = bytes; strstr(name, ".json") && (at = strstr(at, "\"seconds\":"));) {
        size_t cut = strcspn(at, ",}\n");
        memmove(at, at + cut, strlen(at + cut) + 1);
        *length -= cut;
    }
    return bytes;
}

static void assert_same_run(const char *a, const char *b)
{
    static const char *const names[] = {"split.json", "metrics.jsonl", "model.safetensors", "result.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t la, lb;
        char *ca = content(a, names[i], &la), *cb = content(b, names[i], &lb);
        if (la != lb || memcmp(ca, cb, la) != 0)
            fail_msg("%s differs", names[i]);
        mem_free(ca);
        mem_free(cb);
    }
}

static int has_model(const char *dir)
{
    char path[PATH_LENGTH + 32];
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    return file_exists(path);
}

static double score(const sph_scores *scores, const char *name)
{
    for (size_t i = 0; i < scores->count; i++)
        if (!strcmp(scores->name[i], name))
            return scores->value[i];
    fail_msg("no score %s", name);
    return NAN;
}

/* ---------------------------------------------------------------- stopping */

/* Asks to stop, or fails, at one step. */
struct stopper {
    uint64_t at;
    int answer;
};

static int stop_at(void *self, const sph_view *view)
{
    const struct stopper *stopper = self;
    return view->step == stopper->at ? stopper->answer : 0;
}

/* Runs to the end through a stop or a failure at every step; a failure leaves no checkpoint but the regular
 * ones. */
static void interrupt_at_every_step(int answer, const char *checkpoint_seconds)
{
    sph_result result;
    sph_job *job = small_job(whole);
    assert_int_equal(sph_job_run(job, 0, NULL, 0, &result), 0);
    sph_job_free(job);
    uint64_t steps = result.steps;
    assert_int_equal(steps, 20);
    for (uint64_t at = 1; at <= steps; at++) {
        struct stopper stopper = {at, answer};
        sph_observer observer = {.self = &stopper, .step = stop_at};
        job = small_job(run_dir);
        set(job, "checkpoint-seconds", checkpoint_seconds);
        int err = sph_job_run(job, 1, &observer, 1, &result);
        sph_job_free(job);
        assert_int_equal(err, answer < 0 ? answer : 0);
        if (answer > 0 && at < steps) {
            assert_true(result.stopped);
            assert_int_equal(result.steps, at);
            assert_false(has_model(run_dir));
        }
    }
    job = open_job(table, run_dir); /* everything else comes from the folder */
    assert_int_equal(sph_job_run(job, 1, NULL, 0, &result), 0);
    sph_job_free(job);
    assert_false(result.stopped);
    assert_int_equal(result.steps, steps);
    assert_same_run(whole, run_dir);
}

static void a_run_stopped_at_every_step_ends_with_the_same_bits(void **state)
{
    (void)state;
    write_table(table, 94);
    interrupt_at_every_step(1, "30");
}

static void a_run_that_fails_at_every_step_goes_on_from_its_checkpoints(void **state)
{
    (void)state;
    write_table(table, 94);
    interrupt_at_every_step(SPH_EIO, "1e-9");
}

/* Also between an epoch's last step and its end. */
static void a_run_that_fails_without_checkpoints_begins_again(void **state)
{
    (void)state;
    write_table(table, 94);
    interrupt_at_every_step(SPH_EIO, "30");
}

/* ---------------------------------------------------------------- pieces */

static void a_job_is_its_pieces_put_together(void **state)
{
    (void)state;
    sph_result result, own;
    sph_data *data = NULL;
    sph_split split;
    sph_net *net = NULL;
    sph_run *run = NULL;
    write_table(table, 94);
    sph_job *job = small_job(run_dir);
    set(job, "seed", "4");
    set(job, "dtype", "f64");
    assert_int_equal(sph_job_run(job, 0, NULL, 0, &result), 0);
    assert_string_equal(sph_job_get(job, "loss"), "mse");
    assert_string_equal(sph_job_get(job, "task"), "regression");
    sph_job_free(job);

    sph_data_opts data_opts;
    sph_data_defaults(&data_opts);
    data_opts.missing = SPH_MISSING_MEAN;
    assert_int_equal(sph_data_open(&data, table, &data_opts), 0);
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 4), 0);
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = SPH_F64,
                    .inputs = sph_data_features(data),
                    .outputs = 1,
                    .hidden = (const size_t[]){6, 5},
                    .depth = 2,
                    .param = SPH_PARAM_GMP,
                    .norm = SPH_NORM_BN,
                    .act = SPH_ACT_RELU,
                    .seed = 4};
    assert_int_equal(sph_net_mlp(&net, &spec), 0);
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
    opts.batch = 16;
    opts.epochs = 5;
    opts.schedule = "step:1,3:0.5";
    opts.warmup = 0.75;
    opts.seed = 4;
    assert_int_equal(sph_train(net, data, &split, &opts, NULL, 0, &own), 0);

    assert_int_equal(own.epochs, result.epochs);
    assert_int_equal(own.best_epoch, result.best_epoch);
    assert_memory_equal(own.test.value, result.test.value, own.test.count * sizeof *own.test.value);
    assert_int_equal(own.test.rows, split.test_rows);
    assert_int_equal(sph_run_open(&run, run_dir), 0);
    for (size_t i = 0; i < sph_net_tensors(net); i++) {
        sph_tensor tensor;
        double mine[64], theirs[64];
        assert_int_equal(sph_net_tensor(net, i, &tensor), 0);
        assert_true(tensor.count <= 64);
        assert_int_equal(sph_net_get(net, tensor.name, mine, tensor.count), 0);
        assert_int_equal(sph_net_get(sph_run_net(run), tensor.name, theirs, tensor.count), 0);
        assert_memory_equal(mine, theirs, tensor.count * sizeof *mine);
    }
    sph_run_free(run);
    sph_net_free(net);
    sph_split_free(&split);
    sph_data_free(data);
}

struct first {
    int found, later;
};

/* Whether there is a checkpoint when an observer begins, and at the first step; then it stops. */
static int look_for_checkpoint(void *self, const sph_view *view)
{
    char path[PATH_LENGTH + 32];
    struct first *first = self;
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", run_dir);
    *(view->step ? &first->later : &first->found) = !access(path, F_OK);
    return view->step != 0;
}

/* A signal that comes behind the first checkpoint finds somebody who says how to go on. */
static void observers_begin_before_the_first_checkpoint(void **state)
{
    (void)state;
    write_table(table, 94);
    sph_job *job = small_job(run_dir);
    sph_result result;
    struct first first = {.found = -1};
    const sph_observer observer = {.self = &first, .start = look_for_checkpoint, .step = look_for_checkpoint};
    assert_int_equal(sph_job_run(job, 0, &observer, 1, &result), 0);
    assert_int_equal(first.found, 0);
    assert_int_equal(first.later, 1); /* at the first step it is there */
    assert_true(result.stopped);
    sph_job_free(job);
}

static void a_diverged_job_says_so_and_has_no_scores(void **state)
{
    (void)state;
    sph_result result;
    write_table(table, 94);
    sph_job *job = small_job(run_dir);
    set(job, "norm", "none");
    set(job, "optimizer", "sgd");
    set(job, "lr", "1e20");
    assert_fails(sph_job_run(job, 0, NULL, 0, &result), SPH_EDIVERGED, .key = "layers.1");
    assert_true(result.diverged);
    assert_int_equal(result.train.rows + result.val.rows + result.test.rows, 0);
    assert_false(has_model(run_dir));
    sph_job_free(job);
}

static void without_validation_or_test_rows_their_scores_are_absent(void **state)
{
    (void)state;
    sph_result result;
    size_t length;
    write_table(table, 94);
    sph_job *job = small_job(run_dir);
    set(job, "test", "0");
    set(job, "val", "0");
    assert_int_equal(sph_job_run(job, 0, NULL, 0, &result), 0);
    assert_int_equal(result.train.rows, 94);
    assert_int_equal(result.val.rows + result.test.rows, 0);
    char *text = content(run_dir, "result.json", &length);
    assert_non_null(strstr(text, "\"train\""));
    assert_null(strstr(text, "\"test\""));
    assert_null(strstr(text, "\"val\""));
    mem_free(text);
    text = content(run_dir, "metrics.jsonl", &length);
    assert_null(strstr(text, "val_"));
    mem_free(text);
    sph_job_free(job);
}

/* ---------------------------------------------------------------- linear regression */

/* z (rows, features + 1): columns standardised by the rows `fit`, a missing cell at its column's mean, and
 * a 1. */
static double *design(const sph_data *data, const uint32_t *fit, size_t count)
{
    size_t features = sph_data_features(data), n = features + 1, rows = sph_data_rows(data);
    const double *x = sph_data_x(data);
    double *z = calloc(rows * n, sizeof *z);
    assert_non_null(z);
    for (size_t j = 0; j < features; j++) {
        double sum = 0, squares = 0, seen = 0;
        for (size_t i = 0; i < count; i++) {
            double v = x[fit[i] * features + j];
            if (!isnan(v)) {
                sum += v;
                squares += v * v;
                seen++;
            }
        }
        double mean = sum / seen, variance = squares / seen - mean * mean;
        for (size_t i = 0; i < rows; i++) {
            double v = x[i * features + j];
            z[i * n + j] = isnan(v) ? 0 : (v - mean) / (variance > 1e-12 ? sqrt(variance) : 1);
        }
    }
    for (size_t i = 0; i < rows; i++)
        z[i * n + features] = 1;
    return z;
}

/* w (n) <- solution of a w = w, a (n, n) positive definite, lower half; a becomes its Cholesky factor. */
static void solve(double *a, double *w, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++) {
            for (size_t l = 0; l < k; l++)
                a[j * n + k] -= a[j * n + l] * a[k * n + l];
            a[j * n + k] = j == k ? sqrt(a[j * n + k]) : a[j * n + k] / a[k * n + k];
        }
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            w[j] -= a[j * n + k] * w[k];
        w[j] /= a[j * n + j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t k = j + 1; k < n; k++)
            w[j] -= a[k * n + j] * w[k];
        w[j] /= a[j * n + j];
    }
}

/* Test RMSE of least squares on the rows `fit`, with a ridge that only breaks ties. */
static double linear_rmse(const sph_data *data, const uint32_t *fit, size_t count, const uint32_t *test,
                          size_t tests)
{
    size_t n = sph_data_features(data) + 1;
    const double *y = sph_data_y(data);
    double *z = design(data, fit, count), *a = calloc(n * n, sizeof *a), *w = calloc(n, sizeof *w), sum = 0;
    assert_true(a && w);
    for (size_t i = 0; i < count; i++) {
        const double *row = z + fit[i] * n;
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k <= j; k++)
                a[j * n + k] += row[j] * row[k];
            w[j] += row[j] * y[fit[i]];
        }
    }
    for (size_t j = 0; j < n; j++)
        a[j * n + j] += 1e-8 * (double)count;
    solve(a, w, n);
    for (size_t i = 0; i < tests; i++) {
        double miss = y[test[i]];
        for (size_t j = 0; j < n; j++)
            miss -= w[j] * z[test[i] * n + j];
        sum += miss * miss;
    }
    free(z);
    free(a);
    free(w);
    return sqrt(sum / (double)tests);
}

/* On average over five seeds, with no option set but the seed. */
static void assert_beats_linear_regression(const char *source)
{
    double ours = 0, theirs = 0;
    for (unsigned seed = 0; seed < 5; seed++) {
        char text[16];
        sph_result result;
        sph_data *data = NULL;
        sph_split split;
        snprintf(text, sizeof text, "%u", seed);
        sph_job *job = open_job(source, run_dir);
        set(job, "seed", text);
        if (sph_job_run(job, 0, NULL, 0, &result))
            fail_msg("%s", sph_error());
        sph_data_opts opts;
        sph_data_defaults(&opts);
        opts.missing = SPH_MISSING_MEAN;
        assert_int_equal(sph_data_open(&data, source, &opts), 0);
        assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, seed), 0);

        size_t count = split.train_rows + split.val_rows;
        uint32_t *fit = calloc(count, sizeof *fit);
        assert_non_null(fit);
        memcpy(fit, split.train, split.train_rows * sizeof *fit);
        memcpy(fit + split.train_rows, split.val, split.val_rows * sizeof *fit);
        double linear = linear_rmse(data, fit, count, split.test, split.test_rows);
        double network = score(&result.test, "rmse");
        print_message("    seed %u: rmse %.4f, linear regression %.4f\n", seed, network, linear);
        ours += network / 5;
        theirs += linear / 5;
        free(fit);
        sph_split_free(&split);
        sph_data_free(data);
        sph_job_free(job);
        empty_folder(run_dir);
    }
    print_message("    mean:   rmse %.4f, linear regression %.4f\n", ours, theirs);
    assert_true(ours < theirs);
}

static void the_defaults_beat_linear_regression_on_a_table_with_words_dollars_and_gaps(void **state)
{
    (void)state;
    write_table(table, 700);
    assert_beats_linear_regression(table);
}

static void the_defaults_beat_linear_regression_on_boston(void **state)
{
    (void)state;
    assert_beats_linear_regression("boston");
}

static void the_defaults_beat_linear_regression_on_wine(void **state)
{
    (void)state;
    assert_beats_linear_regression("wine");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_home, remove_home)
    const struct CMUnitTest tests[] = {
        TEST(a_run_stopped_at_every_step_ends_with_the_same_bits),
        TEST(a_run_that_fails_at_every_step_goes_on_from_its_checkpoints),
        TEST(a_run_that_fails_without_checkpoints_begins_again),
        TEST(a_job_is_its_pieces_put_together),
        TEST(observers_begin_before_the_first_checkpoint),
        TEST(a_diverged_job_says_so_and_has_no_scores),
        TEST(without_validation_or_test_rows_their_scores_are_absent),
        TEST(the_defaults_beat_linear_regression_on_a_table_with_words_dollars_and_gaps),
        TEST(the_defaults_beat_linear_regression_on_boston),
        TEST(the_defaults_beat_linear_regression_on_wine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
