/* SPDX-License-Identifier: MIT
 *
 * Scores against numbers computed by hand. */
#include "train_problem.h"

#include "train/evaluate.h"
#include "train/members.h"

static sph_scores score_weighted(sph_net *net, sph_loss loss, double *y_scale, const double *x,
                                 const double *y, const double *row_weights, size_t rows, size_t batch)
{
    size_t n = sph_net_inputs(net);
    struct memory_table table = {.k = net->k, .n = n, .targets = loss == SPH_LOSS_CE ? 1 : n, .x = x, .y = y};
    struct source source = memory_source(&table, rows);
    struct weights *weights = NULL;
    struct evaluator *evaluator = NULL;
    sph_scores scores;
    assert_int_equal(weights_new(&weights, net, net->k, 0), 0);
    weights_materialize(weights);
    struct evaluator_opts opts = {.loss = loss, .workers = 2};
    net->scaling.y_scale = y_scale;
    assert_int_equal(evaluator_new(&evaluator, weights, &opts, batch), 0);
    assert_int_equal(evaluator_run(evaluator, &source, row_weights, EVALUATOR_EPOCH, &scores), 0);
    assert_int_equal(scores.rows, rows);
    evaluator_free(evaluator);
    weights_free(weights);
    net->scaling.y_scale = NULL;
    return scores;
}

static sph_scores score(sph_net *net, sph_loss loss, double *y_scale, const double *x, const double *y,
                        size_t rows, size_t batch)
{
    return score_weighted(net, loss, y_scale, x, y, NULL, rows, batch);
}

/* One row, six classes: how many of the others score at least as high decides. */
static void top_k_counts_ties_against_the_truth(void **state)
{
    (void)state;
    sph_net *net = mirror(SPH_F64, 7);
    static const struct {
        double p[7], truth;
        int top1, top5;
    } row[] = {
        {{9, 1, 2, 3, 4, 5, 6}, 0, 1, 1},
        {{9, 9, 2, 3, 4, 5, 6}, 0, 0, 1},  /* a tie is no hit               */
        {{5, 6, 7, 8, 9, 1, 1}, 0, 0, 1},  /* four above                    */
        {{5, 6, 7, 8, 9, 5, 1}, 0, 0, 0},  /* four above and a tie: five    */
        {{5, 6, 7, 8, 9, 10, 1}, 0, 0, 0}, /* five above                    */
        {{1, 1, 1, 1, 1, 1, 1}, 3, 0, 0},  /* all equal: nothing was learnt */
        {{0, 0, 0, 0, 0, 0, 1}, 6, 1, 1},
    };
    enum { ROWS = sizeof row / sizeof *row };
    for (size_t i = 0; i < ROWS; i++) {
        sph_scores s = score(net, SPH_LOSS_CE, NULL, row[i].p, &row[i].truth, 1, 4);
        assert_int_equal(s.count, 3);
        assert_string_equal(s.name[0], "loss");
        assert_string_equal(s.name[1], "accuracy");
        assert_string_equal(s.name[2], "top5");
        assert_true(s.value[1] == row[i].top1);
        assert_true(s.value[2] == row[i].top5);
    }
    double x[ROWS * 7], y[ROWS], loss = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;
        memcpy(x + i * 7, row[i].p, sizeof row[i].p);
        y[i] = row[i].truth;
        for (size_t c = 0; c < 7; c++)
            sum += exp(row[i].p[c]);
        loss += (log(sum) - row[i].p[(size_t)y[i]]) / ROWS;
    }
    for (size_t batch = 1; batch <= ROWS + 1; batch++) {
        sph_scores s = score(net, SPH_LOSS_CE, NULL, x, y, ROWS, batch);
        near(s.value[0], loss, 1e-14);
        near(s.value[1], 2.0 / ROWS, 1e-16);
        near(s.value[2], 4.0 / ROWS, 1e-16);
    }
    sph_net_free(net);
}

/* All scores of net, or of its mean with another, on three rows, of which one overflows in the last place of x. */
static sph_scores all_scores(sph_net *const *nets, size_t count, sph_loss loss, const double *y)
{
    size_t n = sph_net_inputs(nets[0]), targets = loss == SPH_LOSS_CE ? 1 : n;
    double *x = numbers(3 * n);
    for (size_t i = 0; i < 3 * n; i++)
        x[i] = i + 1 == 3 * n ? 1e300 : (double)(i % 3);
    struct memory_table table = {.k = nets[0]->k, .n = n, .targets = targets, .x = x, .y = y};
    struct source source = memory_source(&table, 3);
    sph_train_opts opts = {.loss = loss, .huber_delta = 1};
    sph_scores scores;
    assert_int_equal(members_score(nets, count, &opts, &source, NULL, 0, &scores), 0);
    free(x);
    return scores;
}

/* An infinite prediction, which is a class and a sign, and no number all the same. */
static void a_prediction_that_is_no_number_leaves_every_score_undefined(void **state)
{
    (void)state;
    static const sph_loss losses[] = {SPH_LOSS_CE, SPH_LOSS_BCE, SPH_LOSS_MSE, SPH_LOSS_MAE,
                                      SPH_LOSS_POISSON};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        size_t n = losses[i] == SPH_LOSS_CE ? 7 : losses[i] == SPH_LOSS_BCE ? 1 : 2;
        const double y[6] = {0, 1, 1, 0, 1, 1};
        sph_net *net[2] = {mirror(SPH_F64, n), mirror(SPH_F64, n)};
        double *w = numbers(n * n);
        for (size_t j = 0; j < n; j++)
            w[j * n + j] = 1e300;
        for (size_t members = 1; members <= 2; members++) { /* the other one gives numbers */
            if (losses[i] == SPH_LOSS_MAE)                  /* it is these weights that overflow */
                assert_true(isfinite(all_scores(net, members, losses[i], y).value[0]));
            assert_int_equal(sph_net_set(net[0], "layers.0.weight", w, n * n), 0);
            sph_scores s = all_scores(net, members, losses[i], y);
            assert_true(s.count > 3);
            for (size_t k = 0; k < s.count; k++)
                if (!isnan(s.value[k]))
                    fail_msg("%s is %g", s.name[k], s.value[k]);
            sph_net_free(net[0]);
            net[0] = mirror(SPH_F64, n);
        }
        sph_net_free(net[0]);
        sph_net_free(net[1]);
        free(w);
    }
}

/* Over all rows at once, in f64, in the target's own units; whatever the batch and the net's dtype. */
static void errors_are_those_of_all_rows_in_the_targets_units(void **state)
{
    (void)state;
    enum { ROWS = 2500, N = 2 };
    struct rng rng = rng_stream(42, RNG_NOISE, 0);
    double scale[N] = {3, 0.5};
    double *x = numbers(ROWS * N), *y = numbers(ROWS * N), squares = 0, sizes = 0, own_squares = 0,
           own_sizes = 0;
    for (size_t i = 0; i < ROWS * N; i++) {
        x[i] = (double)(float)(1000 + rng_normal(&rng)); /* exact in f32, so that f32 loses nothing either */
        y[i] = (double)(float)(1000 + rng_normal(&rng));
        double error = x[i] - y[i];
        squares += error * error / (ROWS * N);
        sizes += fabs(error) / (ROWS * N);
        own_squares += error * error * scale[i % N] * scale[i % N] / (ROWS * N);
        own_sizes += fabs(error) * scale[i % N] / (ROWS * N);
    }
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
        sph_net *net = mirror((sph_dtype)dtype, N);
        for (size_t batch = 100; batch <= 3000; batch += 900) {
            sph_scores mse = score(net, SPH_LOSS_MSE, scale, x, y, ROWS, batch);
            sph_scores mae = score(net, SPH_LOSS_MAE, NULL, x, y, ROWS, batch);
            assert_int_equal(mse.count, 3);
            assert_string_equal(mse.name[1], "rmse");
            assert_string_equal(mse.name[2], "mae");
            near(mse.value[0], squares, 1e-6);
            near(mse.value[1], sqrt(own_squares), 1e-12);
            near(mse.value[2], own_sizes, 1e-12);
            near(mae.value[0], sizes, 1e-6);
            near(mae.value[1], sqrt(squares), 1e-12);
            near(mae.value[2], sizes, 1e-12);
        }
        sph_net_free(net);
    }
    free(x), free(y);
}

static void binary_accuracy_counts_signs_of_the_logit(void **state)
{
    (void)state;
    sph_net *net = mirror(SPH_F32, 1);
    sph_scores s =
        score(net, SPH_LOSS_BCE, NULL, (double[]){2, -1, 0.5, -3, 0}, (double[]){1, 1, 0, 0, 1}, 5, 2);
    assert_int_equal(s.count, 2);
    near(s.value[1], 2.0 / 5, 1e-16); /* a logit of 0 says no */
    double loss = (log1p(exp(-2)) + log1p(exp(1)) + log1p(exp(0.5)) + log1p(exp(-3)) + log(2)) / 5;
    near(s.value[0], loss, 1e-6);
    sph_net_free(net);
}

/* Errors 1, 2, 4, 8, 16 by hand; whatever the batch. */
static void weights_count_in_the_loss_and_nowhere_else(void **state)
{
    (void)state;
    sph_net *net = mirror(SPH_F64, 1);
    static const double x[] = {1, 2, 4, 8, 16}, y[5] = {0}, weights[] = {0, 2, 0.5, 1.5, 1};
    for (size_t batch = 1; batch <= 6; batch++) {
        sph_scores s = score_weighted(net, SPH_LOSS_MSE, NULL, x, y, weights, 5, batch);
        near(s.value[0], (2 * 4 + 0.5 * 16 + 1.5 * 64 + 256) / 5, 1e-13);
        near(s.value[1], sqrt((1 + 4 + 16 + 64 + 256) / 5.0), 1e-13);
    }
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_k_counts_ties_against_the_truth),
        cmocka_unit_test(a_prediction_that_is_no_number_leaves_every_score_undefined),
        cmocka_unit_test(errors_are_those_of_all_rows_in_the_targets_units),
        cmocka_unit_test(binary_accuracy_counts_signs_of_the_logit),
        cmocka_unit_test(weights_count_in_the_loss_and_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
