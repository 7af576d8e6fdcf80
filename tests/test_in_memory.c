/* SPDX-License-Identifier: MIT
 *
 * What programs of other languages stand on: a training without files, models as bytes, directions by themselves. */
#include "job/job.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "param/rows.h"
#include "rows/data.h"
#include "spherelu.h"

enum { ROWS = 60, FEATURES = 3 };

static sph_data *some_data(sph_task task)
{
    static double x[ROWS * FEATURES], y[ROWS];
    sph_data *data = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < FEATURES; j++)
            x[i * FEATURES + j] = sin((double)(7 * i + 3 * j));
        y[i] = task == SPH_TASK_REGRESSION ? x[i * FEATURES] + 0.5 * x[i * FEATURES + 1] : i % 3 == 0;
    }
    assert_int_equal(sph_data_from_arrays(&data, x, y, ROWS, FEATURES, 1, task, NULL), 0);
    return data;
}

static sph_job *some_job(const char *const *options)
{
    sph_job *job = NULL;
    assert_int_equal(job_new(&job, 0), 0);
    for (; *options; options += 2)
        assert_int_equal(sph_job_set(job, options[0], options[1]), 0);
    return job;
}

#define JOB(...) some_job((const char *const[]){__VA_ARGS__, NULL})

static sph_net *trained(sph_job *job, const sph_data *data, const sph_net *start, sph_result *result)
{
    sph_net *net = NULL;
    const sph_start from = {.size = sizeof(sph_start), .nets = &start};
    assert_int_equal(sph_job_train(&net, job, data, start ? &from : NULL, NULL, 0, result, NULL, NULL), 0);
    assert_non_null(net);
    return net;
}

/* What a net makes of the data's rows. */
static void outputs_of(sph_net *net, const sph_data *data, double out[ROWS])
{
    assert_int_equal(sph_net_forward(net, sph_data_x(data), ROWS, out), 0);
}

static void training_in_memory_is_the_training_of_its_options(void **state)
{
    (void)state;
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    sph_job *job = JOB("hidden", "5", "epochs", "20", "dtype", "f64", "seed", "3", "patience", "0");
    sph_result result;
    sph_net *net = trained(job, data, NULL, &result);

    /* by hand, from the same options */
    sph_net *own = NULL;
    sph_split split = {0};
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
    opts.epochs = 20;
    opts.seed = 3;
    opts.patience = 0;
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 3), 0);
    assert_int_equal(sph_net_mlp(&own, &(sph_mlp){.size = sizeof(sph_mlp),
                                                  .dtype = SPH_F64,
                                                  .inputs = FEATURES,
                                                  .outputs = 1,
                                                  .hidden = (size_t[]){5},
                                                  .depth = 1,
                                                  .param = SPH_PARAM_GMP,
                                                  .act = SPH_ACT_RELU,
                                                  .seed = 3}),
                     0);
    assert_int_equal(sph_train(own, data, &split, &opts, NULL, 0, NULL), 0);
    double a[ROWS], b[ROWS];
    assert_int_equal(sph_net_forward(net, sph_data_x(data), ROWS, a), 0);
    assert_int_equal(sph_net_forward(own, sph_data_x(data), ROWS, b), 0);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(result.epochs, 20);
    assert_string_equal(sph_job_get(job, "loss"), "mse");
    assert_string_not_equal(sph_net_note(net), "");
    sph_split_free(&split);
    sph_net_free(own);
    sph_net_free(net);
    sph_job_free(job);
    sph_data_free(data);
}

static void training_goes_on_from_a_net(void **state)
{
    (void)state;
    sph_data *data = some_data(SPH_TASK_BINARY);
    sph_job *job = JOB("hidden", "5", "epochs", "1", "lr", "1e-12", "val", "0", "test", "0");
    sph_result result;
    sph_net *first = trained(job, data, NULL, NULL);
    sph_job *other = JOB("hidden", "5", "epochs", "1", "lr", "1e-12", "val", "0", "test", "0", "seed", "9");
    sph_net *second = trained(other, data, first, &result);
    double a[ROWS], b[ROWS];
    assert_int_equal(sph_net_forward(first, sph_data_x(data), ROWS, a), 0);
    assert_int_equal(sph_net_forward(second, sph_data_x(data), ROWS, b), 0);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs(a[i] - b[i]) < 1e-5); /* a step of 1e-12, in f32 */
    sph_net *third = NULL;
    sph_job *wider = JOB("hidden", "6", "epochs", "1");
    const sph_net *nets[] = {first};
    assert_int_equal(sph_job_train(&third, wider, data, &(sph_start){.size = sizeof(sph_start), .nets = nets},
                                   NULL, 0, NULL, NULL, NULL),
                     SPH_EARG);
    assert_null(third);
    sph_job_free(wider);
    sph_net_free(second);
    sph_net_free(first);
    sph_job_free(other);
    sph_job_free(job);
    sph_data_free(data);
}

/* The same rows moved and stretched: a net that goes on with them keeps the standardisation it began with. */
static void going_on_keeps_the_standardisation(void **state)
{
    (void)state;
    static double x[ROWS * FEATURES], y[ROWS];
    sph_data *data = some_data(SPH_TASK_REGRESSION), *moved = NULL;
    for (size_t i = 0; i < ROWS * FEATURES; i++)
        x[i] = 5 * sph_data_x(data)[i] + 2;
    for (size_t i = 0; i < ROWS; i++)
        y[i] = 3 * sph_data_y(data)[i] - 1;
    assert_int_equal(sph_data_from_arrays(&moved, x, y, ROWS, FEATURES, 1, SPH_TASK_REGRESSION, NULL), 0);
    sph_job *job = JOB("hidden", "5", "epochs", "5", "val", "0", "test", "0", "dtype", "f64");
    sph_job *still =
        JOB("hidden", "5", "epochs", "1", "lr", "1e-300", "val", "0", "test", "0", "dtype", "f64");
    sph_net *first = trained(job, data, NULL, NULL), *second = trained(still, moved, first, NULL);
    double a[ROWS], b[ROWS];
    outputs_of(first, data, a);
    outputs_of(second, data, b);
    assert_memory_equal(a, b, sizeof a);
    sph_net_free(second);
    sph_net_free(first);
    sph_job_free(still);
    sph_job_free(job);
    sph_data_free(moved);
    sph_data_free(data);
}

static void the_state_of_the_optimizer_makes_two_trainings_one(void **state)
{
    (void)state;
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    sph_job *half = JOB("hidden", "5", "epochs", "4", "val", "0", "test", "0", "batch", "full", "dtype",
                        "f64", "patience", "0");
    sph_job *whole = JOB("hidden", "5", "epochs", "8", "val", "0", "test", "0", "batch", "full", "dtype",
                         "f64", "patience", "0");
    sph_net *once = trained(whole, data, NULL, NULL), *first = NULL, *second = NULL;
    void *state_of_first, *state_of_second;
    size_t size, more;
    assert_int_equal(sph_job_train(&first, half, data, NULL, NULL, 0, NULL, &state_of_first, &size), 0);
    const sph_net *nets[] = {first};
    sph_start start = {.size = sizeof(sph_start), .nets = nets, .state = state_of_first, .state_size = size};
    assert_int_equal(sph_job_train(&second, half, data, &start, NULL, 0, NULL, &state_of_second, &more), 0);
    assert_int_equal(more, size);
    double a[ROWS], b[ROWS];
    outputs_of(once, data, a);
    outputs_of(second, data, b);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs(a[i] - b[i]) < 1e-9); /* the order of a sum over all rows is another one */
    sph_net_free(second);
    start.state = NULL;
    assert_int_equal(sph_job_train(&second, half, data, &start, NULL, 0, NULL, NULL, NULL), 0);
    outputs_of(second, data, b);
    double apart = 0;
    for (size_t i = 0; i < ROWS; i++)
        apart = fmax(apart, fabs(a[i] - b[i]));
    assert_true(apart > 1e-6);
    sph_net_free(second);
    sph_job *other = JOB("hidden", "5", "epochs", "4", "optimizer", "sgd", "momentum", "0");
    start.state = state_of_first;
    assert_int_equal(sph_job_train(&second, other, data, &start, NULL, 0, NULL, NULL, NULL), SPH_EFORMAT);
    assert_string_equal(sph_failure()->key, "state");
    assert_null(second);
    sph_bytes_free(state_of_second);
    sph_bytes_free(state_of_first);
    sph_job_free(other);
    sph_net_free(first);
    sph_net_free(once);
    sph_job_free(whole);
    sph_job_free(half);
    sph_data_free(data);
}

static void an_ensemble_in_memory_is_that_of_its_seeds(void **state)
{
    (void)state;
    enum { MEMBERS = 3 };
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    sph_job *alone = JOB("hidden", "5", "epochs", "20", "seed", "3");
    sph_net *single = trained(alone, data, NULL, NULL), *nets[MEMBERS], *again[MEMBERS];
    sph_result result;
    double a[ROWS], b[ROWS], c[ROWS];
    outputs_of(single, data, a);
    sph_job *job = JOB("hidden", "5", "epochs", "20", "seed", "3", "ensemble", "3");
    assert_int_equal(sph_job_train(nets, job, data, NULL, NULL, 0, &result, NULL, NULL), 0);
    outputs_of(nets[0], data, b);
    outputs_of(nets[1], data, c);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
    assert_true(result.test.rows > 0);
    sph_job *threads = JOB("hidden", "5", "epochs", "20", "seed", "3", "ensemble", "3", "threads", "2");
    assert_int_equal(sph_job_train(again, threads, data, NULL, NULL, 0, NULL, NULL, NULL), 0);
    outputs_of(again[1], data, b);
    assert_memory_equal(b, c, sizeof b);
    for (size_t k = 0; k < MEMBERS; k++) {
        sph_net_free(nets[k]);
        sph_net_free(again[k]);
    }
    sph_job *refit = JOB("hidden", "5", "epochs", "20", "seed", "3", "refit", "true");
    sph_net *both = trained(refit, data, NULL, &result);
    outputs_of(both, data, b);
    assert_memory_not_equal(a, b, sizeof a);
    assert_int_equal(result.train.rows, 48); /* training and validation part */
    sph_net_free(both);
    sph_net_free(single);
    sph_job_free(refit);
    sph_job_free(threads);
    sph_job_free(job);
    sph_job_free(alone);
    sph_data_free(data);
}

/* Rows of class 1 that count nothing are not learnt; a class that no row holds has an output all the same. */
static void rows_have_weights_and_classes_a_number(void **state)
{
    (void)state;
    sph_data *data = some_data(SPH_TASK_BINARY);
    double weights[ROWS], a[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        weights[i] = sph_data_y(data)[i] == 0;
    assert_int_equal(data_set_weights(data, weights), 0);
    sph_job *job = JOB("hidden", "5", "epochs", "100", "val", "0", "test", "0", "lr", "0.1");
    sph_net *net = trained(job, data, NULL, NULL);
    outputs_of(net, data, a);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(a[i] < 0);
    static const double bad[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weights[3] = bad[i];
        assert_int_equal(data_set_weights(data, weights), SPH_EARG);
        assert_string_equal(sph_failure()->key, "weights");
    }
    assert_int_equal(data_set_classes(data, 3), SPH_EARG);
    sph_net_free(net);
    sph_data_free(data);
    data = some_data(SPH_TASK_CLASSES);
    assert_int_equal(sph_data_outputs(data), 2);
    assert_int_equal(data_set_classes(data, 1), SPH_EARG);
    assert_string_equal(sph_failure()->key, "classes");
    assert_int_equal(data_set_classes(data, 4), 0);
    assert_int_equal(sph_data_outputs(data), 4);
    assert_string_equal(sph_data_class(data, 3), "3");
    sph_data_free(data);
    data = some_data(SPH_TASK_REGRESSION);
    assert_int_equal(data_set_classes(data, 4), SPH_EARG);
    sph_data_free(data);
    sph_job_free(job);
}

/* The last rows choose the epoch, in every member of an ensemble, and are not trained on. */
static void a_given_validation_part_is_not_trained_on(void **state)
{
    (void)state;
    enum { OWN = 10 };
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    assert_int_equal(data_set_val(data, ROWS), SPH_EARG);
    assert_string_equal(sph_failure()->key, "val");
    assert_int_equal(data_set_val(data, OWN), 0);
    sph_split split;
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 1), 0);
    assert_int_equal(split.val_rows, OWN);
    assert_int_equal(split.train_rows + split.test_rows, ROWS - OWN);
    for (size_t i = 0; i < OWN; i++)
        assert_int_equal(split.val[i], ROWS - OWN + i);
    for (size_t i = 0; i < split.train_rows; i++)
        assert_true(split.train[i] < ROWS - OWN);
    sph_split_free(&split);
    sph_job *job = JOB("hidden", "5", "epochs", "5", "test", "0", "ensemble", "2");
    sph_net *nets[2];
    sph_result result;
    assert_int_equal(sph_job_train(nets, job, data, NULL, NULL, 0, &result, NULL, NULL), 0);
    assert_int_equal(result.val.rows, OWN);
    assert_int_equal(result.train.rows, ROWS - OWN);
    sph_net_free(nets[0]);
    sph_net_free(nets[1]);
    sph_job *folds = JOB("ensemble", "2", "ensemble_val", "folds");
    assert_int_equal(sph_job_train(nets, folds, data, NULL, NULL, 0, NULL, NULL, NULL), SPH_EARG);
    assert_string_equal(sph_failure()->key, "ensemble_val");
    sph_job_free(folds);
    sph_job_free(job);
    sph_data_free(data);
}

/* Row i is there i % 3 times, or counts that much: the standardisation and every full step are the same. */
static void rows_that_count_twice_are_as_if_there_twice(void **state)
{
    (void)state;
    sph_data *data = some_data(SPH_TASK_REGRESSION), *repeated = NULL;
    double weights[ROWS], x[2 * ROWS * FEATURES], y[2 * ROWS], a[ROWS], b[ROWS];
    size_t rows = 0;
    for (size_t i = 0; i < ROWS; i++) {
        weights[i] = (double)(i % 3);
        for (size_t k = 0; k < i % 3; k++, rows++) {
            memcpy(x + rows * FEATURES, sph_data_x(data) + i * FEATURES, FEATURES * sizeof *x);
            y[rows] = sph_data_y(data)[i];
        }
    }
    assert_int_equal(sph_data_from_arrays(&repeated, x, y, rows, FEATURES, 1, SPH_TASK_REGRESSION, NULL), 0);
    assert_int_equal(data_set_weights(data, weights), 0);
    sph_job *job =
        JOB("hidden", "5", "epochs", "50", "val", "0", "test", "0", "batch", "full", "dtype", "f64");
    sph_net *counted = trained(job, data, NULL, NULL), *there = trained(job, repeated, NULL, NULL);
    outputs_of(counted, data, a);
    outputs_of(there, data, b);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs(a[i] - b[i]) < 1e-10); /* sums in another order, 50 steps */
    sph_net_free(counted);
    sph_net_free(there);
    sph_job_free(job);
    sph_data_free(repeated);
    sph_data_free(data);
}

/* scikit-learn's "balanced": what all rows count over the number of classes times what those of the class do. Bit by
 * bit the same as such weights, with a validation part and rows that have weights too. */
static void balanced_classes_are_those_weights_of_classes(void **state)
{
    (void)state;
    for (int weighted = 0; weighted < 2; weighted++) {
        sph_data *data = some_data(SPH_TASK_BINARY);
        double rows[ROWS], count[2] = {0}, a[ROWS], b[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            rows[i] = weighted ? (double)(1 + i % 3) : 1;
            count[(size_t)sph_data_y(data)[i]] += rows[i];
        }
        assert_int_equal(data_set_weights(data, rows), 0);
        sph_job *job = JOB("hidden", "5", "epochs", "20", "val", "0.3", "test", "0");
        sph_job *balanced =
            JOB("hidden", "5", "epochs", "20", "val", "0.3", "test", "0", "class-weight", "balanced");
        sph_net *one = trained(balanced, data, NULL, NULL);
        const double weights[2] = {(count[0] + count[1]) / (2 * count[0]),
                                   (count[0] + count[1]) / (2 * count[1])};
        assert_int_equal(data_set_class_weights(data, weights), 0);
        sph_net *two = trained(job, data, NULL, NULL);
        outputs_of(one, data, a);
        outputs_of(two, data, b);
        assert_memory_equal(a, b, sizeof a);
        sph_net *none = NULL;
        assert_fails(sph_job_train(&none, balanced, data, NULL, NULL, 0, NULL, NULL, NULL), SPH_EARG,
                     .key = "class_weight");
        assert_fails(data_set_class_weights(data, (double[]){1, -1}), SPH_EARG, .key = "class_weight");
        sph_net_free(one);
        sph_net_free(two);
        sph_job_free(job);
        sph_job_free(balanced);
        sph_data_free(data);
    }
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    assert_fails(data_set_class_weights(data, (double[]){1, 1}), SPH_EARG, .key = "class_weight");
    sph_data_free(data);
}

/* Class 1 counts nearly nothing: what is best for the rows that validate, too, is class 0. */
static void the_rows_that_choose_the_epoch_count_as_in_training(void **state)
{
    (void)state;
    sph_data *data = some_data(SPH_TASK_BINARY);
    double weights[ROWS], a[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        weights[i] = sph_data_y(data)[i] == 0 ? 1 : 1e-6;
    assert_int_equal(data_set_weights(data, weights), 0);
    sph_job *job = JOB("hidden", "5", "epochs", "100", "val", "0.3", "test", "0", "patience", "0");
    sph_result result;
    sph_net *net = trained(job, data, NULL, &result);
    assert_true(result.best_epoch > 50);
    outputs_of(net, data, a);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(a[i] < 0);
    sph_net_free(net);
    for (size_t i = 0; i < ROWS; i++)
        weights[i] = 0;
    assert_int_equal(data_set_weights(data, weights), 0);
    assert_int_equal(sph_job_train(&net, job, data, NULL, NULL, 0, NULL, NULL, NULL), SPH_EARG);
    assert_string_equal(sph_failure()->key, "weights");
    sph_job_free(job);
    sph_data_free(data);
}

static void a_job_that_chooses_by_the_data_says_how_many_nets_it_trains(void **state)
{
    (void)state;
    enum { MEMBERS = 5 };
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    sph_job *job = JOB("test", "0", "threads", "1");
    sph_net *nets[MEMBERS] = {0};
    job->request.recommends = 1;
    assert_int_equal(sph_job_train(nets, job, data, NULL, NULL, 0, NULL, NULL, NULL), SPH_EARG);
    assert_string_equal(sph_failure()->key, "ensemble");
    assert_null(nets[0]);
    assert_int_equal(sph_job_settle(job, data), 0);
    assert_string_equal(sph_job_get(job, "ensemble"), "5");
    assert_string_equal(sph_job_get(job, "param"), "sphere");
    assert_int_equal(sph_job_train(nets, job, data, NULL, NULL, 0, NULL, NULL, NULL), 0);
    for (size_t k = 0; k < MEMBERS; k++) {
        assert_non_null(nets[k]);
        sph_net_free(nets[k]);
    }
    sph_job_free(job);
    job = JOB("epochs", "2", "out", "nowhere");
    assert_int_equal(sph_job_settle(job, data), SPH_EARG);
    assert_string_equal(sph_failure()->key, "out");
    sph_job_free(job);
    sph_data_free(data);
}

static void options_of_files_are_refused_by_name(void **state)
{
    (void)state;
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    const sph_option *rows;
    size_t count = sph_options(&rows), elsewhere = 0;
    for (size_t i = 0; i < count; i++)
        elsewhere += !sph_option_in_memory(i);
    assert_true(elsewhere > 0 && elsewhere < count);
    assert_int_equal(sph_option_in_memory(count), 0);
    static const char *const given[][2] = {
        {"out", "x"},  {"record", "boundaries"}, {"task", "binary"}, {"net", "vgg6"},
        {"tune", "2"}, {"weights", "a"},         {"group", "a"},     {"time", "a"}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        sph_job *job = JOB(given[i][0], given[i][1]);
        sph_net *net = NULL;
        assert_int_equal(sph_job_train(&net, job, data, NULL, NULL, 0, NULL, NULL, NULL), SPH_EARG);
        assert_string_equal(sph_failure()->key, given[i][0]);
        assert_null(net);
        sph_job_free(job);
    }
    sph_data_free(data);
}

static void a_flag_stops_a_training(void **state)
{
    (void)state;
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    sph_job *job = JOB("epochs", "100000", "patience", "0", "hidden", "5");
    volatile int flag = 1;
    sph_observer observer;
    sph_stop_observer(&flag, &observer);
    sph_net *net = NULL;
    sph_result result;
    assert_int_equal(sph_job_train(&net, job, data, NULL, &observer, 1, &result, NULL, NULL), 0);
    assert_int_equal(result.stopped, 1);
    assert_int_equal(result.steps, 1);
    sph_net_free(net);
    sph_job_free(job);
    sph_data_free(data);
}

/* ---------------------------------------------------------------- bytes */

struct bytes {
    char *at;
    size_t length, most;
};

static int take(void *self, const void *bytes, size_t length)
{
    struct bytes *to = self;
    if (to->length + length > to->most)
        return SPH_EIO;
    memcpy(to->at + to->length, bytes, length);
    to->length += length;
    return 0;
}

static void a_net_comes_back_from_its_bytes(void **state)
{
    (void)state;
    enum { MOST = 1 << 16 };
    sph_data *data = some_data(SPH_TASK_REGRESSION);
    sph_job *job = JOB("hidden", "5,4", "epochs", "5", "norm", "bn");
    sph_net *net = trained(job, data, NULL, NULL), *back = NULL;
    struct bytes bytes = {.at = malloc(MOST), .most = MOST};
    assert_int_equal(sph_net_write(net, &(sph_sink){&bytes, take}), 0);
    assert_int_equal(sph_net_read(&back, bytes.at, bytes.length), 0);
    double a[ROWS], b[ROWS];
    assert_int_equal(sph_net_forward(net, sph_data_x(data), ROWS, a), 0);
    assert_int_equal(sph_net_forward(back, sph_data_x(data), ROWS, b), 0);
    assert_memory_equal(a, b, sizeof a);
    assert_string_equal(sph_net_note(net), sph_net_note(back));

    /* a file of the same net has the same bytes */
    const char *path = "test_in_memory.safetensors";
    char *file = malloc(MOST);
    assert_int_equal(sph_net_save(net, path), 0);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_int_equal(fread(file, 1, MOST, in), bytes.length);
    assert_memory_equal(file, bytes.at, bytes.length);
    fclose(in);
    remove(path);

    /* cut short anywhere it is refused, and so is what a sink does not take */
    for (size_t length = 0; length < bytes.length; length += 1 + length / 7) {
        sph_net *none = NULL;
        assert_int_equal(sph_net_read(&none, bytes.at, length), SPH_EFORMAT);
        assert_null(none);
    }
    struct bytes small = {.at = file, .most = 100};
    assert_int_equal(sph_net_write(net, &(sph_sink){&small, take}), SPH_EIO);
    free(file);
    free(bytes.at);
    sph_net_free(back);
    sph_net_free(net);
    sph_job_free(job);
    sph_data_free(data);
}

/* ---------------------------------------------------------------- directions */

static void directions_and_gradients_are_those_of_the_scans(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 2}, {3, 3}, {16, 17}, {17, 2}, {40, 300}, {3, 513}, {18, 1026}};
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        size_t m = shapes[shape][0], n = shapes[shape][1];
        double *theta = calloc(m * n, sizeof(double)), *du = calloc(m * n, sizeof(double));
        double *u = calloc(m * n, sizeof(double)), *dtheta = calloc(m * n, sizeof(double));
        double *back = calloc(m * n, sizeof(double)), *length = calloc(m, sizeof(double));
        double *kept = calloc(m, sph_directions_kept(n) * sizeof(double));
        for (size_t i = 0; i < m * (n - 1); i++)
            theta[i] = i % 61 == 4 ? 0 : 1.57 + 0.3 * sin((double)i * 1.7); /* poles too */
        for (size_t i = 0; i < m * n; i++)
            du[i] = cos((double)i);
        for (int threads = 1; threads <= 2; threads++) {
            const sph_weights_grads of = {
                .first = theta, .kept = threads == 1 ? NULL : kept, .dw = du, .dfirst = dtheta};
            assert_int_equal(sph_weights(SPH_F64, SPH_PARAM_GMP, m, n, theta, NULL, u, kept, threads), 0);
            assert_int_equal(sph_weights_grad(SPH_F64, SPH_PARAM_GMP, m, n, &of, threads), 0);
            for (size_t j = 0; j < m; j++) { /* DESIGN 2.1, as it stands there */
                const double *t = theta + j * (n - 1), *g = du + j * n;
                double p = 1, s = g[n - 1];
                double *prefix = calloc(n, sizeof(double));
                for (size_t i = 0; i + 1 < n; i++) {
                    prefix[i] = p;
                    assert_true(fabs(u[j * n + i] - p * cos(t[i])) < 1e-14);
                    p *= sin(t[i]);
                }
                assert_true(fabs(u[j * n + n - 1] - p) < 1e-14);
                for (size_t a = n - 1; a-- > 0;) {
                    double want = prefix[a] * (-sin(t[a]) * g[a] + cos(t[a]) * s);
                    assert_true(fabs(dtheta[j * (n - 1) + a] - want) < 1e-12);
                    s = cos(t[a]) * g[a] + sin(t[a]) * s;
                }
                free(prefix);
            }
        }
        assert_int_equal(sph_directions_of(SPH_F64, m, n, du, theta, length), 0);
        assert_int_equal(sph_weights(SPH_F64, SPH_PARAM_GMP, m, n, theta, NULL, back, NULL, 1), 0);
        for (size_t i = 0; i < m * n; i++)
            assert_true(fabs(back[i] * length[i / n] - du[i]) < 1e-12);
        free(theta), free(du), free(u), free(dtheta), free(back), free(length), free(kept);
    }
    double none[2] = {0}, one = 1;
    assert_int_equal(sph_weights(SPH_F64, SPH_PARAM_GMP, 1, 1, &one, NULL, none, NULL, 1), SPH_EARG);
    assert_int_equal(sph_directions_of(SPH_F64, 1, 2, none, &one, &one), 0);
    assert_true(one == 0); /* a row of zeroes has length 0 */
}

/* w = length direction(first), and its gradients by central differences of <dw, w>. */
static void check_weights(sph_param param, size_t m, size_t n, double size)
{
    size_t width = param == SPH_PARAM_GMP ? n - 1 : n;
    double *first = calloc(m * width, sizeof(double)), *length = calloc(m, sizeof(double));
    double *dw = calloc(m * n, sizeof(double)), *w = calloc(m * n, sizeof(double));
    double *dfirst = calloc(m * width, sizeof(double)), *dlength = calloc(m, sizeof(double));
    double *kept = calloc(m, (sph_directions_kept(n) + 1) * sizeof(double));
    for (size_t i = 0; i < m * width; i++)
        first[i] = size * (1.3 + sin((double)i * 1.7));
    for (size_t j = 0; j < m; j++)
        length[j] = j % 3 == 1 ? 0 : 0.5 + (double)j;
    for (size_t i = 0; i < m * n; i++)
        dw[i] = cos((double)i);
    const sph_weights_grads of = {first, length, kept, dw, dfirst, dlength};
    assert_int_equal(sph_weights(SPH_F64, param, m, n, first, length, w, kept, 2), 0);
    assert_int_equal(sph_weights_grad(SPH_F64, param, m, n, &of, 2), 0);
    for (size_t j = 0; j < m; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += w[j * n + i] * w[j * n + i];
        assert_true(fabs(sqrt(square) - length[j]) < 1e-12 * (1 + length[j]));
    }
    for (size_t i = 0; i < m * width + m; i += 1 + i % 7) {
        double *at = i < m * width ? first + i : length + (i - m * width);
        double got = i < m * width ? dfirst[i] : dlength[i - m * width],
               step = i < m * width ? 1e-6 * size : 1e-6;
        double before = *at, product[2] = {0};
        for (int side = 0; side < 2; side++) {
            *at = before + (side ? step : -step);
            assert_int_equal(sph_weights(SPH_F64, param, m, n, first, length, w, NULL, 1), 0);
            for (size_t k = 0; k < m * n; k++)
                product[side] += dw[k] * w[k];
        }
        *at = before;
        assert_true(fabs((product[1] - product[0]) / (2 * step) - got) < 1e-6 * (1 + fabs(got)));
    }
    /* without lengths: those of 1, to the bit */
    double *alone = calloc(m * n, sizeof(double)), *dalone = calloc(m * width, sizeof(double));
    const sph_weights_grads none = {.first = first, .dw = dw, .dfirst = dalone};
    const sph_weights_grads ones = {first, length, NULL, dw, dfirst, dlength};
    for (size_t j = 0; j < m; j++)
        length[j] = 1;
    assert_int_equal(sph_weights(SPH_F64, param, m, n, first, length, w, NULL, 1), 0);
    assert_int_equal(sph_weights_grad(SPH_F64, param, m, n, &ones, 1), 0);
    assert_int_equal(sph_weights(SPH_F64, param, m, n, first, NULL, alone, NULL, 1), 0);
    assert_int_equal(sph_weights_grad(SPH_F64, param, m, n, &none, 1), 0);
    assert_memory_equal(alone, w, m * n * sizeof *w);
    assert_memory_equal(dalone, dfirst, m * width * sizeof *w);
    free(first), free(length), free(dw), free(w), free(dfirst), free(dlength), free(kept);
    free(alone), free(dalone);
}

static void weights_have_the_gradients_of_differences(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 2}, {3, 3}, {5, 17}, {4, 300}, {2, 530}};
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        check_weights(SPH_PARAM_GMP, shapes[shape][0], shapes[shape][1], 1);
        check_weights(SPH_PARAM_SPHERE, shapes[shape][0], shapes[shape][1], 1);
        check_weights(SPH_PARAM_SPHERE, shapes[shape][0], shapes[shape][1], 1e-15); /* in f64, row by row */
    }
    double zero[3] = {0}, one = 1, w[3] = {7, 7, 7}, d[3] = {1, 1, 1}, du[3] = {7, 7, 7}, dlength = 7;
    const sph_weights_grads of = {zero, &one, NULL, d, du, &dlength};
    assert_int_equal(sph_weights(SPH_F64, SPH_PARAM_SPHERE, 1, 3, zero, &one, w, NULL, 1), 0);
    assert_int_equal(sph_weights_grad(SPH_F64, SPH_PARAM_SPHERE, 1, 3, &of, 1), 0);
    assert_true(w[0] == 0 && w[2] == 0 && du[0] == 0 && du[2] == 0 && dlength == 0);
    assert_int_equal(sph_weights(SPH_F64, SPH_PARAM_SP, 1, 3, zero, &one, w, NULL, 1), SPH_EARG);
    assert_int_equal(sph_weights(SPH_F64, SPH_PARAM_SPHERE, 1, 0, zero, &one, w, NULL, 1), SPH_EARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_in_memory_is_the_training_of_its_options),
        cmocka_unit_test(training_goes_on_from_a_net),
        cmocka_unit_test(going_on_keeps_the_standardisation),
        cmocka_unit_test(the_state_of_the_optimizer_makes_two_trainings_one),
        cmocka_unit_test(an_ensemble_in_memory_is_that_of_its_seeds),
        cmocka_unit_test(rows_have_weights_and_classes_a_number),
        cmocka_unit_test(a_given_validation_part_is_not_trained_on),
        cmocka_unit_test(rows_that_count_twice_are_as_if_there_twice),
        cmocka_unit_test(balanced_classes_are_those_weights_of_classes),
        cmocka_unit_test(the_rows_that_choose_the_epoch_count_as_in_training),
        cmocka_unit_test(a_job_that_chooses_by_the_data_says_how_many_nets_it_trains),
        cmocka_unit_test(options_of_files_are_refused_by_name),
        cmocka_unit_test(a_flag_stops_a_training),
        cmocka_unit_test(a_net_comes_back_from_its_bytes),
        cmocka_unit_test(directions_and_gradients_are_those_of_the_scans),
        cmocka_unit_test(weights_have_the_gradients_of_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
