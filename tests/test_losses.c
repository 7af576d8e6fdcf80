/* SPDX-License-Identifier: MIT
 *
 * The table of losses: which task and which targets each takes, and that scores are of what is predicted. */
#include "train_problem.h"

#include "rows/data.h"
#include "train/evaluate.h"
#include "train/fit.h"
#include "train/losses.h"

static void every_task_has_one_first_loss(void **state)
{
    (void)state;
    for (int task = 0; task < SPH_TASK_COUNT; task++) {
        size_t first = 0;
        for (int loss = 0; loss < SPH_LOSS_COUNT; loss++)
            first += loss_row((sph_loss)loss)->task == (sph_task)task && loss_row((sph_loss)loss)->first;
        assert_int_equal(first, 1);
        sph_train_opts opts;
        sph_train_defaults(&opts, (sph_task)task);
        assert_int_equal(opts.loss, loss_first((sph_task)task));
    }
    assert_int_equal(loss_first(SPH_TASK_REGRESSION), SPH_LOSS_MSE);
    assert_int_equal(loss_first(SPH_TASK_BINARY), SPH_LOSS_BCE);
    assert_int_equal(loss_first(SPH_TASK_CLASSES), SPH_LOSS_CE);
    assert_int_equal(loss_targets(SPH_LOSS_CE, 7), 1);
    assert_int_equal(loss_targets(SPH_LOSS_MSE, 7), 7);
}

static void probabilities_and_means_come_of_outputs(void **state)
{
    (void)state;
    double logit[] = {0, 2}, classes[] = {1000, 1000, 999}, log_mean[] = {0, -1};
    loss_predict(loss_row(SPH_LOSS_BCE)->link, 2, logit);
    near(logit[0], 0.5, 0);
    near(logit[1], 1 / (1 + exp(-2)), 0);
    loss_predict(loss_row(SPH_LOSS_CE)->link, 3, classes);
    near(classes[0], 1 / (2 + exp(-1)), 1e-15);
    near(classes[0] + classes[1] + classes[2], 1, 1e-15);
    loss_predict(loss_row(SPH_LOSS_POISSON)->link, 2, log_mean);
    near(log_mean[0], 1, 0);
    near(log_mean[1], exp(-1), 0);
    assert_int_equal(loss_row(SPH_LOSS_HUBER)->link, LOSS_AS_IT_IS);
}

/* Whatever the link: what joined outputs predict is the mean of what each predicts. */
static void joined_outputs_predict_the_mean_of_predictions(void **state)
{
    (void)state;
    enum { MEMBERS = 5, OUTPUTS = 3 };
    static const enum loss_link links[] = {LOSS_AS_IT_IS, LOSS_EXP, LOSS_LOGISTIC, LOSS_SOFTMAX};
    struct rng rng = rng_stream(8, RNG_NOISE, 0);
    for (size_t i = 0; i < 4 * 50; i++) {
        double each[MEMBERS][OUTPUTS], joined[OUTPUTS], mean[OUTPUTS] = {0};
        for (size_t k = 0; k < MEMBERS; k++)
            for (size_t j = 0; j < OUTPUTS; j++)
                each[k][j] = 3 * rng_normal(&rng);
        loss_join(links[i % 4], OUTPUTS, MEMBERS, each[0], OUTPUTS, joined);
        for (size_t k = 0; k < MEMBERS; k++) {
            loss_predict(links[i % 4], OUTPUTS, each[k]);
            for (size_t j = 0; j < OUTPUTS; j++)
                mean[j] += each[k][j] / MEMBERS;
        }
        loss_predict(links[i % 4], OUTPUTS, joined);
        for (size_t j = 0; j < OUTPUTS; j++)
            near(joined[j], mean[j], 1e-13 * (1 + fabs(mean[j])));
    }
    /* a probability near 1 keeps what its complement is */
    double sure[2] = {40, 50}, joined;
    loss_join(LOSS_LOGISTIC, 1, 2, sure, 1, &joined);
    near(exp(-joined), (exp(-40) + exp(-50)) / 2, 1e-30);
}

/* One layer, two features, targets 0..: trained through the public API. */
static int train(const double *y, sph_task task, sph_loss loss, sph_standardize standardize, sph_net **net,
                 sph_result *result)
{
    enum { ROWS = 40 };
    double x[ROWS * 2];
    uint32_t rows[ROWS];
    struct rng rng = rng_stream(5, RNG_NOISE, 0);
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = rng_normal(&rng);
        x[2 * i + 1] = y[i] + rng_normal(&rng);
        rows[i] = (uint32_t)i;
    }
    sph_data *data = NULL;
    assert_int_equal(sph_data_from_arrays(&data, x, y, ROWS, 2, 1, task, NULL), 0);
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = SPH_F64,
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = (size_t[]){8},
                    .depth = 1,
                    .param = SPH_PARAM_GMP};
    spec.act = SPH_ACT_RELU;
    assert_int_equal(sph_net_mlp(net, &spec), 0);
    sph_split split = {.train = rows, .train_rows = 30, .test = rows + 30, .test_rows = 10};
    sph_train_opts opts;
    sph_train_defaults(&opts, task);
    opts.loss = loss;
    opts.standardize = standardize;
    opts.epochs = 30;
    int err = sph_train(*net, data, &split, &opts, NULL, 0, result);
    if (!err) { /* scores of the test part, from its outputs */
        double out[10], squares = 0;
        assert_int_equal(sph_net_forward(*net, x + 60, 10, out), 0);
        for (size_t i = 0; i < 10; i++) {
            loss_predict(loss_row(loss)->link, 1, &out[i]);
            squares += (out[i] - y[30 + i]) * (out[i] - y[30 + i]) / 10;
        }
        assert_string_equal(result->test.name[1], "rmse");
        near(result->test.value[1], sqrt(squares), 1e-12);
    }
    sph_data_free(data);
    return err;
}

static void targets_of_counts_keep_their_units(void **state)
{
    (void)state;
    double counts[40], below[40];
    for (size_t i = 0; i < 40; i++)
        below[i] = counts[i] = (double)(i * 7 % 11);
    below[35] = -1; /* of the test part: no part may have one */
    sph_net *net = NULL;
    sph_result result;
    assert_int_equal(
        train(counts, SPH_TASK_REGRESSION, SPH_LOSS_POISSON, SPH_STANDARDIZE_AUTO, &net, &result), 0);
    assert_null(net->scaling.y_scale);
    assert_non_null(net->scaling.x_scale);
    sph_net_free(net);
    assert_int_equal(train(counts, SPH_TASK_REGRESSION, SPH_LOSS_HUBER, SPH_STANDARDIZE_AUTO, &net, &result),
                     0);
    assert_non_null(net->scaling.y_scale);
    sph_net_free(net);
    assert_int_equal(train(counts, SPH_TASK_REGRESSION, SPH_LOSS_POISSON, SPH_STANDARDIZE_OFF, &net, &result),
                     0);
    sph_net_free(net);
    assert_int_equal(
        train(counts, SPH_TASK_REGRESSION, SPH_LOSS_POISSON, SPH_STANDARDIZE_BOTH, &net, &result), SPH_EARG);
    assert_string_equal(sph_failure()->key, "standardize");
    sph_net_free(net);
    assert_int_equal(train(below, SPH_TASK_REGRESSION, SPH_LOSS_POISSON, SPH_STANDARDIZE_AUTO, &net, &result),
                     SPH_EARG);
    assert_string_equal(sph_failure()->key, "loss");
    sph_net_free(net);
    assert_int_equal(train(below, SPH_TASK_REGRESSION, SPH_LOSS_HUBER, SPH_STANDARDIZE_AUTO, &net, &result),
                     0);
    sph_net_free(net);
}

static void a_loss_of_another_task_is_refused(void **state)
{
    (void)state;
    double classes[40];
    sph_net *net = NULL;
    for (size_t i = 0; i < 40; i++)
        classes[i] = (double)(i % 2);
    for (int loss = 0; loss < SPH_LOSS_COUNT; loss++) {
        if (loss_row((sph_loss)loss)->task == SPH_TASK_BINARY)
            continue;
        sph_result result;
        assert_int_equal(train(classes, SPH_TASK_BINARY, (sph_loss)loss, SPH_STANDARDIZE_AUTO, &net, &result),
                         SPH_EARG);
        assert_string_equal(sph_failure()->key, "loss");
        sph_net_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_has_one_first_loss),
        cmocka_unit_test(probabilities_and_means_come_of_outputs),
        cmocka_unit_test(joined_outputs_predict_the_mean_of_predictions),
        cmocka_unit_test(targets_of_counts_keep_their_units),
        cmocka_unit_test(a_loss_of_another_task_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
