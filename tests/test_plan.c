/* SPDX-License-Identifier: MIT
 *
 * Plans: the same bits again and again, the same numbers whatever the tiles, workers and kernels; what each
 * mode does with batch statistics; who is to blame for a number that is none; and what a wrong graph is told.
 */
#include "layer_by_hand.h"

#include "train/optimizer.h"

/* ---------------------------------------------------------------- a net written as loops */

/* Evaluation of one dense layer, from the materialised W, b, s and the running statistics. */
static double *loop_layer(const sph_net *net, size_t l, const double *x, size_t rows)
{
    size_t n, m = sph_net_layer(net, l, &n)->units;
    double *w = numbers(m * n), *b = numbers(m), *s = numbers(m), *y = numbers(rows * m);
    struct norm_by_hand norm = norm_by_hand(net, l);
    assert_int_equal(sph_net_weight(net, l, w, b, s), 0);
    for (size_t i = 0; i < rows; i++) {
        double *z = y + i * m;
        for (size_t j = 0; j < m; j++) {
            double sum = 0;
            for (size_t a = 0; a < n; a++)
                sum += w[j * n + a] * (x[i * n + a] - input_mean(&norm, a));
            z[j] = sum + b[j];
        }
        normalize_by_hand(&norm, z);
        for (size_t j = 0; j < m; j++)
            z[j] = s[j] * act_by_hand(&norm, net->layers[l].spec.act, z[j], j);
    }
    free(w), free(b), free(s);
    norm_by_hand_free(&norm);
    return y;
}

/* Mixed signs, zero scales, sensible running statistics. */
static void stir_for_evaluation(sph_net *net, struct rng *rng)
{
    stir(net, rng);
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        const char *name = strrchr(tensor->view.name, '.');
        double *values = numbers(tensor->view.count);
        net_read_tensor(net, tensor, values);
        for (size_t e = 0; e < tensor->view.count; e++) {
            if (!strcmp(name, ".mean"))
                values[e] = between(rng, -1, 1);
            if (!strcmp(name, ".var"))
                values[e] = between(rng, 0.3, 3);
            if (tensor->view.learned && (!strcmp(name, ".r") || !strcmp(name, ".g")))
                values[e] = e == 2 ? 0 : between(rng, -1.5, 1.5);
        }
        net_write_tensor(net, tensor, values);
        free(values);
    }
}

static double *normal_rows(struct rng *rng, size_t count)
{
    double *x = numbers(count);
    for (size_t i = 0; i < count; i++)
        x[i] = rng_normal(rng);
    return x;
}

static void forward_equals_plain_loops(void **state)
{
    (void)state;
    static const size_t row_counts[] = {1, 2, 300}; /* 300: more than one batch of the public call */
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (int act = 0; act < SPH_ACT_COUNT; act++)
                for (int c = 0; c < 3; c++) {
                    size_t rows = row_counts[c];
                    struct rng rng =
                        rng_stream(21, RNG_NOISE, (uint32_t)(param * 1000 + norm * 100 + act * 10 + c));
                    sph_net *net = stack(SPH_F64, act % 2 ? KERNELS_PLAIN : KERNELS_FASTEST, 5, 7, 2, 3,
                                         (sph_param)param, (sph_norm)norm, (sph_act)act, 1);
                    stir_for_evaluation(net, &rng);
                    double *x = normal_rows(&rng, rows * 5), *y = numbers(rows * 3);
                    double *want = loop_layer(net, 0, x, rows);
                    for (size_t l = 1; l < 3; l++) {
                        double *next = loop_layer(net, l, want, rows);
                        free(want);
                        want = next;
                    }
                    assert_int_equal(sph_net_forward(net, x, rows, y), 0);
                    for (size_t i = 0; i < rows * 3; i++)
                        if (!(fabs(y[i] - want[i]) < 1e-12 * (1 + fabs(want[i]))))
                            fail_msg("%s %s %s: %.15g, loops say %.15g", param_word[param], norm_word[norm],
                                     act_word[act], y[i], want[i]);
                    free(x), free(y), free(want);
                    sph_net_free(net);
                }
}

static void forward_adds_residuals(void **state)
{
    (void)state;
    struct rng rng = rng_stream(22, RNG_NOISE, 0);
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int x = sph_net_input(net, 4), a = dense(net, x, 4, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU);
    int b = sph_net_add(net, a, x), c = dense(net, b, 4, SPH_PARAM_SP, SPH_NORM_LN, SPH_ACT_ELU);
    ready(net, sph_net_add(net, sph_net_add(net, c, b), a), 1);
    stir_for_evaluation(net, &rng);
    double *in = normal_rows(&rng, 40), out[40], sum[40];
    double *ya = loop_layer(net, 0, in, 10);
    for (size_t i = 0; i < 40; i++)
        sum[i] = ya[i] + in[i];
    double *yc = loop_layer(net, 1, sum, 10);
    assert_int_equal(sph_net_forward(net, in, 10, out), 0);
    for (size_t i = 0; i < 40; i++)
        assert_true(fabs(out[i] - (yc[i] + sum[i] + ya[i])) < 1e-13 * (1 + fabs(out[i])));
    free(in), free(ya), free(yc);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- sameness */

static double relative(size_t count, const double *a, const double *b)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        difference = fmax(difference, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return difference / size;
}

/* Loss and gradient of a probe, as f64. */
static double *gradient_of(struct probe *p, double *loss)
{
    double *gradient = numbers(p->net->learned);
    *loss = probe_gradient(p);
    p->net->k->to_double(p->net->learned, p->weights->learned_grad, gradient);
    return gradient;
}

static void runs_repeat_bit_for_bit_and_workers_agree(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
            double loss[2], again, *gradient[2];
            size_t learned = 0;
            for (size_t workers = 1; workers <= 2; workers++) {
                struct rng rng = rng_stream(23, RNG_NOISE, (uint32_t)norm);
                sph_net *net = stack((sph_dtype)dtype, KERNELS_FASTEST, 9, 41, 2, 2, SPH_PARAM_GMP,
                                     (sph_norm)norm, SPH_ACT_RELU, 4);
                struct probe p;
                probe_open(&p, net, SPH_LOSS_MSE, 333, workers, &rng);
                learned = net->learned;
                gradient[workers - 1] = gradient_of(&p, &loss[workers - 1]);
                for (int round = 0; round < 5; round++) {
                    double *more = gradient_of(&p, &again);
                    assert_true(again == loss[workers - 1]);
                    assert_memory_equal(more, gradient[workers - 1], learned * sizeof *more);
                    free(more);
                }
                probe_close(&p);
                sph_net_free(net);
            }
            double bar = dtype == SPH_F64 ? 1e-12 : 1e-4; /* sums of 333 rows in another order */
            assert_true(fabs(loss[0] - loss[1]) <= bar * fabs(loss[0]));
            assert_true(relative(learned, gradient[0], gradient[1]) < bar);
            free(gradient[0]), free(gradient[1]);
        }
}

static void fast_kernels_follow_plain_ones_through_training(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (int act = 0; act < SPH_ACT_COUNT; act++) {
                static const enum kernel_choice choices[] = {KERNELS_PLAIN, KERNELS_BASE, KERNELS_FASTEST};
                double *numbers_after[3], losses[3];
                size_t learned = 0;
                for (int c = 0; c < 3; c++) {
                    struct rng rng = rng_stream(24, RNG_NOISE, (uint32_t)(param * 100 + norm * 10 + act));
                    sph_net *net = stack(SPH_F64, choices[c], 6, 11, 2, 2, (sph_param)param, (sph_norm)norm,
                                         (sph_act)act, 4);
                    stir(net, &rng);
                    struct probe p;
                    probe_open(&p, net, SPH_LOSS_MSE, 77, 1, &rng);
                    sph_train_opts opts = {.optimizer = SPH_OPTIMIZER_SGD,
                                           .momentum = 0.9,
                                           .lr_theta = 1,
                                           .lr_lambda = 1,
                                           .lr_r = 1};
                    struct optimizer optimizer;
                    assert_int_equal(optimizer_new(&optimizer, p.weights, &opts), 0);
                    for (uint64_t step = 1; step <= 10; step++) {
                        losses[c] = probe_gradient(&p);
                        optimizer_step(&optimizer, p.weights, 0.02, step);
                        weights_after_step(p.weights);
                    }
                    learned = net->learned;
                    numbers_after[c] = numbers(learned);
                    memcpy(numbers_after[c], net->params, learned * sizeof(double));
                    optimizer_free(&optimizer);
                    probe_close(&p);
                    sph_net_free(net);
                }
                for (int c = 1; c < 3; c++) {
                    assert_true(fabs(losses[c] / losses[0] - 1) < 1e-10);
                    assert_true(relative(learned, numbers_after[c], numbers_after[0]) < 1e-10);
                }
                for (int c = 0; c < 3; c++)
                    free(numbers_after[c]);
            }
}

static void micro_batches_add_up_to_the_batch(void **state)
{
    (void)state;
    static const size_t micros[] = {1, 7, 50, 99};
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (int loss = 0; loss < SPH_LOSS_COUNT && !norm_ops((sph_norm)norm)->batch; loss++) {
            struct rng rng = rng_stream(25, RNG_NOISE, (uint32_t)loss);
            sph_net *net =
                stack(SPH_F64, KERNELS_FASTEST, 6, 11, 2, 3, SPH_PARAM_GMP, (sph_norm)norm, SPH_ACT_RELU, 4);
            struct probe p;
            double whole;
            probe_open(&p, net, (sph_loss)loss, 100, 1, &rng);
            double *want = gradient_of(&p, &whole), *parts = numbers(net->learned);
            for (size_t i = 0; i < sizeof micros / sizeof *micros; i++) {
                double sum = probe_loss_in(&p, micros[i]);
                weights_pull(p.weights);
                memcpy(parts, p.weights->learned_grad, net->learned * sizeof *parts);
                assert_true(fabs(sum - whole) < 1e-14 * fabs(whole) * 10);
                assert_true(relative(net->learned, parts, want) < 1e-13);
            }
            free(want), free(parts);
            probe_close(&p);
            sph_net_free(net);
        }
}

/* Rows of a batch are the same rows however many there are: the loss of a batch is the mean of its rows'
 * losses, around every multiple of a tile. The tile is 12 rows for a net this wide. */
static void tiles_cut_no_row_off(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 11, 12, 13, 23, 24, 25, 36, 37, 1000};
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            size_t rows = counts[c];
            struct rng rng = rng_stream(26, RNG_NOISE, (uint32_t)rows);
            sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 5, 90, 2, 2, SPH_PARAM_SPHERE, (sph_norm)norm,
                                 SPH_ACT_RELU, 4);
            struct rng stirring = rng_stream(27, RNG_NOISE, 0);
            stir_for_evaluation(net, &stirring);
            double *x = normal_rows(&rng, rows * 5), *all = numbers(rows * 2), *each = numbers(rows * 2);
            assert_int_equal(sph_net_forward(net, x, rows, all), 0);
            for (size_t i = 0; i < rows; i++)
                assert_int_equal(sph_net_forward(net, x + i * 5, 1, each + i * 2), 0);
            assert_true(relative(rows * 2, all, each) < 1e-13);
            free(x), free(all), free(each);
            /* training: one tile of plain kernels against many tiles */
            struct probe p[2];
            double loss[2], *gradient[2];
            sph_net *nets[2] = {net, NULL};
            assert_int_equal(sph_net_copy(&nets[1], net), 0);
            nets[1]->k = kernels_pick(SPH_F64, KERNELS_PLAIN);
            for (int i = 0; i < 2; i++) {
                struct rng same = rng_stream(28, RNG_NOISE, (uint32_t)rows);
                probe_open(&p[i], nets[i], SPH_LOSS_MSE, rows, i == 0 ? 2 : 1, &same);
                gradient[i] = gradient_of(&p[i], &loss[i]);
                probe_close(&p[i]);
            }
            assert_true(fabs(loss[0] - loss[1]) <= 1e-12 * fabs(loss[1]));
            assert_true(relative(net->learned, gradient[0], gradient[1]) < 1e-11);
            free(gradient[0]), free(gradient[1]);
            sph_net_free(nets[0]), sph_net_free(nets[1]);
        }
}

/* A plan made for many rows runs fewer. */
static void a_plan_runs_fewer_rows_than_it_was_made_for(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
        struct rng rng = rng_stream(29, RNG_NOISE, 0);
        sph_net *net =
            stack(SPH_F64, KERNELS_FASTEST, 5, 90, 1, 2, SPH_PARAM_GMP, (sph_norm)norm, SPH_ACT_RELU, 4);
        struct probe p, small;
        double loss, *gradient, *want, want_loss;
        probe_open(&p, net, SPH_LOSS_MSE, 200, 2, &rng);
        probe_loss(&p);
        p.rows = 31;
        gradient = gradient_of(&p, &loss);
        small = p; /* the same 31 rows */
        assert_int_equal(
            plan_new(&small.plan, small.weights, 31, PLAN_TRAIN, 2, &(struct plan_running){.momentum = 0.1}),
            0);
        want = gradient_of(&small, &want_loss);
        assert_true(fabs(loss - want_loss) <= 1e-13 * want_loss);
        assert_true(relative(net->learned, gradient, want) < 1e-12);
        plan_free(small.plan);
        probe_close(&p);
        sph_net_free(net);
        free(gradient), free(want);
    }
}

/* ---------------------------------------------------------------- statistics */

/* One training run moves each running statistic by a tenth towards the batch's: mean, and variance over rows
 * - 1. */
static void running_statistics_take_a_tenth_of_the_batch(void **state)
{
    (void)state;
    enum { ROWS = 57, N = 4, M = 6 };
    static const sph_norm norms[] = {SPH_NORM_BN, SPH_NORM_MBN, SPH_NORM_IMN};
    for (int c = 0; c < 3; c++)
        for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
            struct rng rng = rng_stream(30, RNG_NOISE, 0);
            size_t width = norms[c] == SPH_NORM_IMN ? N : M;
            double bar = dtype == SPH_F64 ? 1e-14 : 1e-6;
            sph_net *net =
                stack((sph_dtype)dtype, KERNELS_FASTEST, N, M, 1, 1, SPH_PARAM_SP, norms[c], SPH_ACT_RELU, 4);
            double old_mean[M] = {0.5, -0.25, 1, 2, -1, 4}, old_var[M] = {0.5, 1, 2, 3, 4, 5}, mean[M],
                   var[M], w[N * M];
            assert_int_equal(sph_net_set(net, "layers.0.norm.mean", old_mean, width), 0);
            if (norms[c] == SPH_NORM_BN)
                assert_int_equal(sph_net_set(net, "layers.0.norm.var", old_var, M), 0);
            if (norms[c] == SPH_NORM_MBN) /* the bias comes behind the mean: the statistic must not see it */
                assert_int_equal(sph_net_set(net, "layers.0.bias", (double[]){9, 9, 9, 9, 9, 9}, M), 0);
            struct probe p;
            probe_open(&p, net, SPH_LOSS_MSE, ROWS, 1, &rng);
            probe_loss(&p);
            assert_int_equal(sph_net_weight(net, 0, w, NULL, NULL), 0);
            assert_int_equal(sph_net_get(net, "layers.0.norm.mean", mean, width), 0);
            if (norms[c] == SPH_NORM_BN)
                assert_int_equal(sph_net_get(net, "layers.0.norm.var", var, M), 0);
            for (size_t j = 0; j < width; j++) {
                double z[ROWS], average = 0, square = 0;
                for (size_t i = 0; i < ROWS; i++) {
                    z[i] = norms[c] == SPH_NORM_IMN ? get_number(net->k, p.x, i * p.ldx + j) : 0;
                    for (size_t a = 0; a < N && norms[c] != SPH_NORM_IMN; a++)
                        z[i] += w[j * N + a] * get_number(net->k, p.x, i * p.ldx + a);
                    average += z[i] / ROWS;
                }
                for (size_t i = 0; i < ROWS; i++)
                    square += (z[i] - average) * (z[i] - average);
                assert_true(fabs(mean[j] - (0.9 * old_mean[j] + 0.1 * average)) < bar);
                if (norms[c] == SPH_NORM_BN)
                    assert_true(fabs(var[j] - (0.9 * old_var[j] + 0.1 * square / (ROWS - 1))) < bar * 5);
            }
            probe_close(&p);
            sph_net_free(net);
        }
}

/* Evaluation leaves running statistics alone and a training batch is normalized by its own. */
static void modes_use_their_own_statistics(void **state)
{
    (void)state;
    enum { ROWS = 40, M = 5 };
    struct rng rng = rng_stream(31, RNG_NOISE, 0);
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    ready(net, dense(net, sph_net_input(net, 3), M, SPH_PARAM_SP, SPH_NORM_BN, SPH_ACT_IDENTITY), 4);
    stir_for_evaluation(net, &rng);
    struct probe p;
    probe_open(&p, net, SPH_LOSS_MSE, ROWS, 1, &rng);
    double mean[M], after[M], gamma[M], beta[M], w[M * 3], loss = 0, x[3] = {1, 2, 3}, y[M];
    assert_int_equal(sph_net_get(net, "layers.0.norm.mean", mean, M), 0);
    assert_int_equal(sph_net_forward(net, x, 1, y), 0);
    assert_int_equal(sph_net_get(net, "layers.0.norm.mean", after, M), 0);
    assert_memory_equal(mean, after, sizeof mean);
    assert_int_equal(sph_net_get(net, "layers.0.norm.scale", gamma, M), 0);
    assert_int_equal(sph_net_get(net, "layers.0.norm.shift", beta, M), 0);
    assert_int_equal(sph_net_weight(net, 0, w, NULL, NULL), 0);
    const double *rows = p.x, *targets = p.y;
    for (size_t j = 0; j < M; j++) {
        double z[ROWS], average = 0, variance = 0;
        for (size_t i = 0; i < ROWS; i++) {
            z[i] = 0;
            for (size_t a = 0; a < 3; a++)
                z[i] += w[j * 3 + a] * rows[i * p.ldx + a];
            average += z[i] / ROWS;
        }
        for (size_t i = 0; i < ROWS; i++)
            variance += (z[i] - average) * (z[i] - average) / ROWS; /* biased */
        for (size_t i = 0; i < ROWS; i++) {
            double out = gamma[j] * (z[i] - average) / sqrt(variance + 1e-5) + beta[j];
            loss += (out - targets[i * p.ldy + j]) * (out - targets[i * p.ldy + j]) / (ROWS * M);
        }
    }
    assert_true(fabs(probe_loss(&p) - loss) < 1e-13 * loss);
    probe_close(&p);
    sph_net_free(net);
}

/* A shift of the data changes nothing under IMN, first layer included. */
static void imn_on_the_first_layer_ignores_a_shift_of_the_data(void **state)
{
    (void)state;
    struct rng rng = rng_stream(32, RNG_NOISE, 0);
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 3, 5, 1, 2, SPH_PARAM_GMP, SPH_NORM_IMN, SPH_ACT_RELU, 4);
    stir(net, &rng);
    struct probe p;
    probe_open(&p, net, SPH_LOSS_MSE, 33, 1, &rng);
    double before, after, *gradient = gradient_of(&p, &before), *x = p.x;
    for (size_t i = 0; i < 33; i++)
        for (size_t j = 0; j < 3; j++)
            x[i * p.ldx + j] += 3 + (double)j;
    double *shifted = gradient_of(&p, &after);
    assert_true(fabs(before - after) < 1e-13 * before);
    assert_true(relative(net->learned, shifted, gradient) < 1e-12);
    free(gradient), free(shifted);
    probe_close(&p);
    sph_net_free(net);
}

/* Under LN a row knows nothing of the others: training and evaluation are the same function. */
static void ln_treats_each_row_alone(void **state)
{
    (void)state;
    struct rng rng = rng_stream(33, RNG_NOISE, 0);
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 3, 5, 2, 1, SPH_PARAM_WN, SPH_NORM_LN, SPH_ACT_ELU, 4);
    stir(net, &rng);
    struct probe p;
    probe_open(&p, net, SPH_LOSS_MSE, 33, 1, &rng);
    double loss = 0, y;
    const double *x = p.x, *t = p.y;
    for (size_t i = 0; i < 33; i++) {
        assert_int_equal(sph_net_forward(net, x + i * p.ldx, 1, &y), 0);
        loss += (y - t[i * p.ldy]) * (y - t[i * p.ldy]) / 33;
    }
    assert_true(fabs(probe_loss(&p) - loss) < 1e-13 * loss);
    probe_close(&p);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- blame */

static void blame_names_the_layer(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (int overflow = 0; overflow < 2; overflow++) {
            struct rng rng = rng_stream(34, RNG_NOISE, 0);
            sph_net *net = stack(SPH_F32, KERNELS_FASTEST, 4, 60, 3, 1, SPH_PARAM_SP, (sph_norm)norm,
                                 SPH_ACT_LEAKY_RELU, 4);
            struct probe p;
            probe_open(&p, net, SPH_LOSS_MSE, 60, 2, &rng);
            assert_true(isfinite(probe_loss(&p)));
            assert_int_equal(plan_blame(p.plan, p.x, p.ldx, 60), 4); /* nobody */
            const struct net_tensor *tensor = net_find_tensor(net, "layers.1.weight");
            double *values = numbers(tensor->view.count);
            for (size_t i = 0; i < tensor->view.count; i++)
                values[i] = overflow ? 3e38 : i == 17 ? NAN : 0.1; /* finite in f32, its products are not */
            net_write_tensor(net, tensor, values);
            free(values);
            probe_loss(&p);
            assert_int_equal(plan_blame(p.plan, p.x, p.ldx, 60), 1);
            probe_close(&p);
            sph_net_free(net);
        }
}

/* ---------------------------------------------------------------- a wrong graph */

static void expect_refusal(int answer, const char *key)
{
    assert_fails(answer, SPH_EARG, .key = key);
}

static void wrong_graphs_are_refused_by_name(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
    expect_refusal(sph_net_dense(net, 0, &(sph_layer){.size = sizeof(sph_layer), .units = 3}), "layers.0");
    expect_refusal(sph_net_input(net, 0), "input");
    int x = sph_net_input(net, 4);
    assert_int_equal(x, 0);
    expect_refusal(sph_net_input(net, 4), "input");
    expect_refusal(
        sph_net_dense(net, x, &(sph_layer){.size = sizeof(sph_layer), .path = "body.a", .units = 0}),
        "body.a");
    expect_refusal(
        sph_net_dense(net, 7, &(sph_layer){.size = sizeof(sph_layer), .path = "body.a", .units = 2}),
        "body.a");
    expect_refusal(
        sph_net_dense(net, -1, &(sph_layer){.size = sizeof(sph_layer), .path = "body.a", .units = 2}),
        "body.a");
    expect_refusal(
        sph_net_dense(
            net, x,
            &(sph_layer){.size = sizeof(sph_layer), .path = "body.a", .units = 2, .act = (sph_act)99}),
        "body.a");
    expect_refusal(
        sph_net_dense(
            net, x,
            &(sph_layer){
                .size = sizeof(sph_layer), .path = "body.a", .units = 2, .param = SPH_PARAM_GMP, .signs = 1}),
        "body.a");
    expect_refusal(sph_net_ready(net, x, 1), "net");
    int a = sph_net_dense(net, x, &(sph_layer){.size = sizeof(sph_layer), .path = "body.a", .units = 3});
    assert_int_equal(a, 1);
    expect_refusal(
        sph_net_dense(net, x, &(sph_layer){.size = sizeof(sph_layer), .path = "body.a", .units = 2}),
        "body.a");
    expect_refusal(sph_net_add(net, a, x), "add");
    expect_refusal(sph_net_add(net, a, 9), "add");
    int b = sph_net_dense(net, a, &(sph_layer){.size = sizeof(sph_layer), .units = 2});
    assert_int_equal(b, 2);
    assert_string_equal(sph_net_layer(net, 1, NULL)->path, "layers.1");
    expect_refusal(sph_net_ready(net, a, 1), "output");
    expect_refusal(sph_net_forward(net, (double[4]){0}, 1, (double[2]){0}), "net");
    ready(net, b, 1);
    expect_refusal(sph_net_ready(net, b, 1), "net");
    expect_refusal(sph_net_dense(net, b, &(sph_layer){.size = sizeof(sph_layer), .units = 2}), "net");
    sph_net_free(net);
    sph_net_free(NULL);
    expect_refusal(sph_net_new(&net, (sph_dtype)5), "dtype");
}

static void tensors_are_found_by_name_and_checked_for_size(void **state)
{
    (void)state;
    sph_net *net = stack(SPH_F32, KERNELS_FASTEST, 3, 2, 1, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 1);
    double theta[4] = {0.25, 0.5, 1, 2}, back[4];
    assert_int_equal(sph_net_set(net, "layers.0.theta", theta, 4), 0);
    assert_int_equal(sph_net_get(net, "layers.0.theta", back, 4), 0);
    assert_memory_equal(theta, back, sizeof theta);
    /* (units, angles) at the interface, angle by angle in memory */
    assert_true(((float *)net->params)[0] == 0.25f && ((float *)net->params)[1] == 1.0f);
    expect_refusal(sph_net_get(net, "layers.0.theta", back, 3), "layers.0.theta");
    expect_refusal(sph_net_get(net, "layers.0.weight", back, 3), "layers.0.weight");
    assert_int_equal(sph_net_tensors(net), 5);
    sph_tensor tensor;
    assert_int_equal(sph_net_tensor(net, 0, &tensor), 0);
    assert_string_equal(tensor.name, "layers.0.theta");
    assert_int_equal(tensor.shape[0], 2);
    assert_int_equal(tensor.shape[1], 2);
    expect_refusal(sph_net_tensor(net, 5, &tensor), "tensor");
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_equals_plain_loops),
        cmocka_unit_test(forward_adds_residuals),
        cmocka_unit_test(runs_repeat_bit_for_bit_and_workers_agree),
        cmocka_unit_test(fast_kernels_follow_plain_ones_through_training),
        cmocka_unit_test(micro_batches_add_up_to_the_batch),
        cmocka_unit_test(tiles_cut_no_row_off),
        cmocka_unit_test(a_plan_runs_fewer_rows_than_it_was_made_for),
        cmocka_unit_test(running_statistics_take_a_tenth_of_the_batch),
        cmocka_unit_test(modes_use_their_own_statistics),
        cmocka_unit_test(imn_on_the_first_layer_ignores_a_shift_of_the_data),
        cmocka_unit_test(ln_treats_each_row_alone),
        cmocka_unit_test(blame_names_the_layer),
        cmocka_unit_test(wrong_graphs_are_refused_by_name),
        cmocka_unit_test(tensors_are_found_by_name_and_checked_for_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
