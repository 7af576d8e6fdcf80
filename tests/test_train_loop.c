/* SPDX-License-Identifier: MIT
 *
 * The loop: it learns, by the steps and the rates it should take, with the same bits from the same seed. */
#include "train_problem.h"

#include <float.h>

#include "skip.h"

static void training_lowers_the_loss_under_every_method(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++)
            for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
                sph_net *net = learner((sph_dtype)dtype, (sph_param)param, (sph_norm)norm);
                struct problem p;
                problem_open(&p, net, 200, 0);
                sph_train_opts opts = few_epochs(60);
                opts.batch = 64;
                struct trainer *trainer = trainer_for(net, &opts, &p, 0);
                struct diary diary = {0};
                assert_int_equal(trainer_run(trainer, &(sph_observer){0}, 0), 0);
                trainer_free(trainer);
                sph_net_free(net);
                net = learner((sph_dtype)dtype, (sph_param)param, (sph_norm)norm);
                trainer = trainer_for(net, &opts, &p, 0);
                sph_observer observer = diary_observer(&diary);
                assert_int_equal(trainer_run(trainer, &observer, 1), 0);
                assert_int_equal(diary.starts, 1);
                assert_int_equal(diary.ends, 1);
                assert_int_equal(diary.epochs, 60);
                assert_int_equal(diary.steps, 60 * 4);
                if (!(diary.value[59] < 0.5 * diary.value[0]))
                    fail_msg("%s %s: %g after the first epoch, %g after the last", param_word[param],
                             norm_word[norm], diary.value[0], diary.value[59]);
                if (param == SPH_PARAM_SPHERE) { /* it stayed where it belongs */
                    double u[48];
                    assert_int_equal(sph_net_get(net, "layers.0.u", u, 48), 0);
                    for (size_t j = 0; j < 16; j++)
                        near(u[3 * j] * u[3 * j] + u[3 * j + 1] * u[3 * j + 1] + u[3 * j + 2] * u[3 * j + 2],
                             1, dtype == SPH_F64 ? 1e-14 : 1e-6);
                }
                trainer_free(trainer);
                problem_close(&p);
                sph_net_free(net);
            }
}

/* One epoch of full-batch SGD is p -= lr * gradient, with the gradient of a bare plan. */
static void one_step_is_the_gradient_times_the_rate(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F64, SPH_PARAM_GMP, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 50, 0);
    struct rng rng = rng_stream(1, RNG_NOISE, 0);
    struct probe probe;
    probe_open(&probe, net, SPH_LOSS_MSE, 50, 1, &rng);
    for (uint32_t i = 0; i < 50; i++)
        memory_fetch(&p.table, &i, 1, (double *)probe.x + i * probe.ldx, probe.ldx,
                     (double *)probe.y + i * probe.ldy, probe.ldy);
    double loss = probe_gradient(&probe), *want = numbers(net->learned);
    for (size_t i = 0; i < net->learned; i++)
        want[i] = ((double *)net->params)[i] - 0.3 * ((double *)probe.weights->learned_grad)[i];
    sph_train_opts opts = few_epochs(1);
    opts.optimizer = SPH_OPTIMIZER_SGD;
    opts.lr = 0.3;
    opts.batch = 0;
    struct trainer *trainer = trainer_for(net, &opts, &p, 0);
    struct diary diary = {0};
    sph_observer observer = diary_observer(&diary);
    assert_int_equal(trainer_run(trainer, &observer, 1), 0);
    assert_int_equal(diary.steps, 1);
    near(diary.first, loss, 1e-15);
    for (size_t i = 0; i < net->learned; i++)
        near(((double *)net->params)[i], want[i], 1e-15);
    free(want);
    trainer_free(trainer);
    probe_close(&probe);
    problem_close(&p);
    sph_net_free(net);
}

static void rates_follow_the_schedule_step_by_step(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F32, SPH_PARAM_SP, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 40, 0);
    sph_train_opts opts = few_epochs(6);
    opts.batch = 10;
    opts.schedule = "step:2,4:0.1";
    opts.warmup = 1;
    struct trainer *trainer = trainer_for(net, &opts, &p, 0);
    struct diary diary = {0};
    sph_observer observer = diary_observer(&diary);
    assert_int_equal(trainer_run(trainer, &observer, 1), 0);
    assert_int_equal(diary.steps, 24);
    for (size_t s = 0; s < 24; s++)
        near(diary.rate[s], 0.01 * (s < 4 ? 0.25 * (double)(s + 1) : s < 8 ? 1 : s < 16 ? 0.1 : 0.01), 1e-17);
    trainer_free(trainer);
    problem_close(&p);
    sph_net_free(net);
}

static void same_seed_same_bits_other_seed_others(void **state)
{
    (void)state;
    double last[3][2]; /* runs with seeds 5, 5, 6; workers 1, 2 */
    for (int threads = 1; threads <= 2; threads++)
        for (int run = 0; run < 3; run++) {
            sph_net *net = learner(SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN);
            struct problem p;
            problem_open(&p, net, 500, 0);
            sph_train_opts opts = few_epochs(3);
            opts.batch = 200;
            opts.seed = run == 2 ? 6 : 5;
            opts.threads = threads;
            struct trainer *trainer = trainer_for(net, &opts, &p, 0);
            struct diary diary = {0};
            sph_observer observer = diary_observer(&diary);
            assert_int_equal(trainer_run(trainer, &observer, 1), 0);
            last[run][threads - 1] = diary.last;
            trainer_free(trainer);
            problem_close(&p);
            sph_net_free(net);
        }
    for (int threads = 0; threads < 2; threads++) {
        assert_true(last[0][threads] == last[1][threads]);
        assert_true(last[0][threads] != last[2][threads]);
    }
    near(last[0][0], last[0][1], 1e-3 * last[0][0]);
}

/* Gradient accumulation is the batch, where rows do not know of each other. */
static void micro_batches_train_like_batches(void **state)
{
    (void)state;
    double *after[2];
    size_t learned = 0;
    for (int i = 0; i < 2; i++) {
        sph_net *net = learner(SPH_F64, SPH_PARAM_GMP, SPH_NORM_LN);
        struct problem p;
        problem_open(&p, net, 103, 0);
        sph_train_opts opts = few_epochs(5);
        opts.batch = 50;
        opts.micro = i ? 7 : 0;
        struct trainer *trainer = trainer_for(net, &opts, &p, 0);
        assert_int_equal(trainer_run(trainer, NULL, 0), 0);
        learned = net->learned;
        after[i] = numbers(learned);
        memcpy(after[i], net->params, learned * sizeof(double));
        trainer_free(trainer);
        problem_close(&p);
        sph_net_free(net);
    }
    for (size_t i = 0; i < learned; i++)
        near(after[0][i], after[1][i], 1e-9); /* adam divides small numbers */
    free(after[0]), free(after[1]);
}

/* Adam's mean of a unit that is never on falls by a tenth a step: to 0, not to numbers so small that some processors take
 * a hundred times as long for them. Observers are called in the caller's floating-point mode, where such numbers are
 * numbers. */
static int observe_mode(void *self, const sph_view *view)
{
    (void)view;
    volatile float least = FLT_MIN;
    *(size_t *)self += least * 0.5F != 0;
    return 0;
}

/* At a rate that moves nothing, train_loss is the loss of all samples, however the batches part them. */
static void the_loss_of_an_epoch_counts_every_sample_once(void **state)
{
    (void)state;
    static const size_t batches[] = {41, 40, 16, 7}, micros[] = {0, 3};
    double weights[41], whole = 0;
    for (size_t i = 0; i < 41; i++)
        weights[i] = (double)(i + 1) / 21; /* of mean 1 */
    for (int weighted = 0; weighted < 2; weighted++)
        for (size_t k = 0; k < 8; k++) {
            sph_net *net = learner(SPH_F64, SPH_PARAM_SP, SPH_NORM_NONE);
            struct problem problem;
            problem_open(&problem, net, 41, 0);
            sph_train_opts opts = few_epochs(2);
            opts.lr = 1e-30;
            opts.batch = batches[k / 2];
            opts.micro = micros[k % 2];
            struct trainer *trainer = NULL;
            struct trainer_setup setup = {
                .net = net, .opts = &opts, .train = &problem.train, .row_weights = weighted ? weights : NULL};
            assert_int_equal(trainer_new(&trainer, &setup), 0);
            struct diary diary = {0};
            sph_observer observer = diary_observer(&diary);
            assert_int_equal(trainer_run(trainer, &observer, 1), 0);
            whole = k ? whole : diary.value[0];
            for (size_t epoch = 0; epoch < 2; epoch++)
                if (!(fabs(diary.value[epoch] - whole) <= 1e-13 * whole)) /* sums in another order */
                    fail_msg("batch %zu, micro %zu: %.17g, expected %.17g", opts.batch, opts.micro,
                             diary.value[epoch], whole);
            trainer_free(trainer);
            problem_close(&problem);
            sph_net_free(net);
        }
}

static void means_of_dead_units_end_at_zero(void **state)
{
    (void)state;
#ifndef __x86_64__
    skip_because("denormal numbers are as quick as others here, or nothing is known of them");
#endif
    enum { STEPS = 60 }; /* 1e-36 falls below the smallest normal number in 43 steps, to nothing in 190 */
    for (int threads = 1; threads <= 2; threads++) {
        sph_net *net = learner(SPH_F32, SPH_PARAM_SP, SPH_NORM_NONE);
        double bias[16];
        for (size_t i = 0; i < 16; i++)
            bias[i] = -1000;
        assert_int_equal(sph_net_set(net, "layers.0.bias", bias, 16), 0);
        struct problem p;
        problem_open(&p, net, 200, 0);
        sph_train_opts opts = few_epochs(STEPS);
        opts.batch = 0;
        opts.threads = threads;
        struct trainer *trainer = trainer_for(net, &opts, &p, 0);
        struct trainer_span span[TRAINER_SPANS];
        size_t spans = trainer_spans(trainer, span), mean = 0, zeros = 0, own = 0;
        while (mean < spans && strcmp(span[mean].name, "optimizer.0"))
            mean++;
        assert_true(mean < spans);
        float *m = span[mean].data;
        for (size_t i = 0; i < span[mean].count; i++)
            m[i] = 1e-36F;
        sph_observer observer = {.self = &own, .step = observe_mode};
        assert_int_equal(trainer_run(trainer, &observer, 1), 0);
        assert_int_equal(own, STEPS);
        for (size_t i = 0; i < span[mean].count; i++) {
            assert_true(m[i] == 0 || fabsf(m[i]) >= FLT_MIN);
            zeros += m[i] == 0;
        }
        assert_true(zeros >= 3 * 16); /* the first layer's weights at least */
        trainer_free(trainer);
        problem_close(&p);
        sph_net_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_lowers_the_loss_under_every_method),
        cmocka_unit_test(one_step_is_the_gradient_times_the_rate),
        cmocka_unit_test(rates_follow_the_schedule_step_by_step),
        cmocka_unit_test(same_seed_same_bits_other_seed_others),
        cmocka_unit_test(micro_batches_train_like_batches),
        cmocka_unit_test(the_loss_of_an_epoch_counts_every_sample_once),
        cmocka_unit_test(means_of_dead_units_end_at_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
