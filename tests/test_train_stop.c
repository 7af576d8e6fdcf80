/* SPDX-License-Identifier: MIT
 *
 * Where the loop ends, and what it refuses: stopping, divergence, batches and options. */
#include "train_problem.h"

/* ---------------------------------------------------------------- stopping */

static void early_stopping_waits_and_gives_back_the_best_weights(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F64, SPH_PARAM_SP, SPH_NORM_BN);
    struct problem p;
    problem_open(&p, net, 30, 60); /* few rows: it overfits soon */
    sph_train_opts opts = few_epochs(200);
    opts.patience = 15;
    opts.lr = 0.02;
    struct trainer *trainer = trainer_for(net, &opts, &p, 1);
    struct diary diary = {.watch = "val_loss"};
    sph_observer observer = diary_observer(&diary);
    assert_int_equal(trainer_run(trainer, &observer, 1), 0);
    assert_true(diary.epochs < 200);
    assert_int_equal(diary.epochs, diary.best + 15);
    assert_true(trainer_place(trainer)->best_epoch == diary.best);
    assert_true(trainer_place(trainer)->best == diary.lowest);
    assert_true(trainer_place(trainer)->finished == 1);
    assert_false(trainer_stopped(trainer));
    assert_true(diary.improved >= 1 && diary.improved <= diary.best);
    sph_scores last, best;
    assert_int_equal(trainer_score(trainer, &p.val, &last), 0);
    assert_true(last.value[0] == diary.value[diary.epochs - 1]);
    trainer_take_best(trainer);
    assert_int_equal(trainer_score(trainer, &p.val, &best), 0);
    assert_true(best.value[0] == diary.lowest); /* running statistics came along, or this would not hold */
    assert_true(best.value[0] < last.value[0]);
    trainer_free(trainer);
    problem_close(&p);
    sph_net_free(net);
}

static void accuracy_is_monitored_upwards(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F64, SPH_PARAM_SP, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 60, 60);
    for (size_t i = 0; i < 120; i++)
        p.y[i] = p.y[i] > 0;
    sph_train_opts opts = few_epochs(50);
    opts.loss = SPH_LOSS_BCE;
    opts.monitor = "val_accuracy";
    opts.patience = 10;
    struct trainer *trainer = trainer_for(net, &opts, &p, 1);
    struct diary diary = {.watch = "val_accuracy"};
    sph_observer observer = diary_observer(&diary);
    assert_int_equal(trainer_run(trainer, &observer, 1), 0);
    double highest = 0;
    size_t at = 0;
    for (size_t e = 0; e < diary.epochs; e++)
        if (diary.value[e] > highest) {
            highest = diary.value[e];
            at = e + 1;
        }
    assert_true(trainer_place(trainer)->best_epoch == at);
    assert_true(trainer_place(trainer)->best == -highest);
    trainer_free(trainer);
    opts.monitor = "val_acuracy";
    struct trainer_setup setup = {.net = net, .opts = &opts, .train = &p.train, .val = &p.val};
    assert_fails(trainer_new(&trainer, &setup), SPH_EARG, .key = "monitor");
    problem_close(&p);
    sph_net_free(net);
}

/* Asked to stop in the middle of an epoch, the loop goes on later as if nothing had happened. */
static void a_stopped_run_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    double last[2];
    for (int stops = 0; stops < 2; stops++) {
        sph_net *net = learner(SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN);
        struct problem p;
        problem_open(&p, net, 100, 20);
        sph_train_opts opts = few_epochs(6);
        opts.batch = 30;
        struct trainer *trainer = trainer_for(net, &opts, &p, 1);
        struct diary diary = {.stop_at = stops ? 7 : 0};
        sph_observer observer = diary_observer(&diary);
        assert_int_equal(trainer_run(trainer, &observer, 1), 0);
        assert_int_equal(trainer_stopped(trainer), stops);
        if (stops) {
            assert_int_equal(diary.steps, 7);
            /* a checkpoint is the spans: carry them over to a new trainer */
            sph_net *other = learner(SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN);
            struct trainer *heir = trainer_for(other, &opts, &p, 1);
            struct trainer_span from[TRAINER_SPANS], to[TRAINER_SPANS];
            size_t count = trainer_spans(trainer, from);
            assert_int_equal(trainer_spans(heir, to), count);
            for (size_t i = 0; i < count; i++)
                memcpy(to[i].data, from[i].data, from[i].count * (from[i].is_f64 ? 8 : 4));
            trainer_restored(heir);
            diary.stop_at = 0;
            trainer_free(trainer);
            sph_net_free(net);
            trainer = heir;
            net = other;
            assert_int_equal(trainer_run(trainer, &observer, 1), 0);
            assert_false(trainer_stopped(trainer));
        }
        assert_int_equal(diary.steps, 24);
        assert_int_equal(diary.epochs, 6);
        last[stops] = diary.last;
        trainer_free(trainer);
        problem_close(&p);
        sph_net_free(net);
    }
    assert_true(last[0] == last[1]);
}

/* ---------------------------------------------------------------- divergence */

static void a_huge_rate_ends_as_diverged_and_says_where(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < 2; norm++)
            for (int micro = 0; micro < 2; micro++) {
                sph_net *net = learner(SPH_F32, (sph_param)param, (sph_norm)norm);
                struct problem p;
                problem_open(&p, net, 100, 0);
                sph_train_opts opts = few_epochs(50);
                opts.optimizer = SPH_OPTIMIZER_SGD;
                opts.lr = 1e30;
                opts.batch = 40;
                opts.micro = micro ? 8 : 0;
                struct trainer *trainer = trainer_for(net, &opts, &p, 0);
                struct diary diary = {0};
                sph_observer observer = diary_observer(&diary);
                assert_int_equal(trainer_run(trainer, &observer, 1), SPH_EDIVERGED);
                assert_memory_equal(sph_failure()->key, "layers.", 7); /* where it was first seen */
                assert_true(trainer_place(trainer)->step == diary.steps);
                assert_true(trainer_place(trainer)->finished == 0);
                assert_false(trainer_stopped(trainer));
                trainer_free(trainer);
                problem_close(&p);
                sph_net_free(net);
            }
}

/* No observer ever sees, and so no checkpoint ever holds, weights that are not finite. */
static int weights_are_finite(void *self, const sph_view *view)
{
    (void)self;
    assert_true(view->net->k->all_finite(view->net->learned, view->net->params));
    return 0;
}

static void observers_see_finite_weights_only(void **state)
{
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (double lr = 1e4; lr < 1e37; lr *= 10) {
            sph_net *net = learner(SPH_F32, (sph_param)param, SPH_NORM_NONE);
            struct problem p;
            problem_open(&p, net, 30, 0);
            sph_train_opts opts = few_epochs(20);
            opts.optimizer = SPH_OPTIMIZER_SGD;
            opts.lr = lr;
            struct trainer *trainer = trainer_for(net, &opts, &p, 0);
            sph_observer observer = {NULL, weights_are_finite, weights_are_finite, weights_are_finite,
                                     weights_are_finite};
            int err = trainer_run(trainer, &observer, 1);
            assert_true(err == 0 || err == SPH_EDIVERGED);
            trainer_free(trainer);
            problem_close(&p);
            sph_net_free(net);
        }
}

/* ---------------------------------------------------------------- batches */

static void a_last_row_joins_the_batch_before_under_batch_statistics(void **state)
{
    (void)state;
    static const struct {
        sph_norm norm;
        size_t rows, batch, steps, least;
    } want[] = {
        {SPH_NORM_BN, 21, 10, 2, 10},  {SPH_NORM_MBN, 21, 10, 2, 10}, {SPH_NORM_IMN, 21, 10, 2, 10},
        {SPH_NORM_NONE, 21, 10, 3, 1}, {SPH_NORM_LN, 21, 10, 3, 1},   {SPH_NORM_BN, 22, 10, 3, 2},
        {SPH_NORM_BN, 11, 10, 1, 11},  {SPH_NORM_BN, 10, 100, 1, 10}, {SPH_NORM_BN, 3, 2, 1, 3},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        sph_net *net = learner(SPH_F32, SPH_PARAM_GMP, want[i].norm);
        struct problem p;
        problem_open(&p, net, want[i].rows, 0);
        sph_train_opts opts = few_epochs(1);
        opts.batch = want[i].batch;
        struct trainer *trainer = trainer_for(net, &opts, &p, 0);
        struct diary diary = {0};
        sph_observer observer = diary_observer(&diary);
        assert_int_equal(trainer_run(trainer, &observer, 1), 0);
        assert_int_equal(diary.steps, want[i].steps);
        assert_int_equal(p.table.least, want[i].least);
        trainer_free(trainer);
        problem_close(&p);
        sph_net_free(net);
    }
}

static void single_rows_are_refused_under_batch_statistics(void **state)
{
    (void)state;
    static const struct {
        size_t rows, batch, micro;
        int refused;
    } want[] = {
        {20, 1, 0, 1},  {1, 0, 0, 1},   {20, 10, 1, 1},
        {20, 10, 3, 1}, {20, 10, 5, 0}, {23, 10, 2, 1}, /* a last batch of 3 rows, two at a time */
        {21, 10, 5, 1},                                 /* a last batch of 11 */
        {24, 10, 2, 0}, {1, 1, 1, 1},
    };
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            sph_net *net = learner(SPH_F32, SPH_PARAM_GMP, (sph_norm)norm);
            struct problem p;
            problem_open(&p, net, want[i].rows, 0);
            sph_train_opts opts = few_epochs(1);
            opts.batch = want[i].batch;
            opts.micro = want[i].micro;
            struct trainer *trainer = NULL;
            struct trainer_setup setup = {.net = net, .opts = &opts, .train = &p.train};
            int refuse = want[i].refused && norm_ops((sph_norm)norm)->batch;
            assert_int_equal(trainer_new(&trainer, &setup), refuse ? SPH_EARG : 0);
            if (refuse)
                assert_true(!strcmp(sph_failure()->key, "batch") || !strcmp(sph_failure()->key, "micro"));
            trainer_free(trainer);
            problem_close(&p);
            sph_net_free(net);
        }
}

static void wrong_options_are_refused_by_name(void **state)
{
    (void)state;
    sph_net *net = learner(SPH_F32, SPH_PARAM_SP, SPH_NORM_NONE);
    struct problem p;
    problem_open(&p, net, 10, 0);
    sph_train_opts good = few_epochs(1);
    struct {
        const char *key;
        sph_train_opts opts;
    } wrong[] = {
        {"lr", good},      {"lr", good},           {"epochs", good},        {"momentum", good},
        {"clip", good},    {"weight_decay", good}, {"norm_momentum", good}, {"label_smoothing", good},
        {"threads", good}, {"schedule", good},     {"monitor", good},       {"loss", good}};
    wrong[0].opts.lr = 0;
    wrong[1].opts.lr = NAN;
    wrong[2].opts.epochs = 0;
    wrong[3].opts.momentum = 1;
    wrong[4].opts.clip = -1;
    wrong[5].opts.weight_decay = -0.1;
    wrong[6].opts.norm_momentum = 0;
    wrong[7].opts.label_smoothing = 1;
    wrong[8].opts.threads = 0;
    wrong[9].opts.schedule = "steep";
    wrong[10].opts.monitor = "val_loss";
    wrong[11].opts.loss = SPH_LOSS_CE;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct trainer *trainer = NULL;
        struct trainer_setup setup = {.net = net, .opts = &wrong[i].opts, .train = &p.train};
        assert_fails(trainer_new(&trainer, &setup), SPH_EARG, .key = wrong[i].key);
    }
    struct source nothing = memory_source(&p.table, 0);
    struct trainer *trainer = NULL;
    struct trainer_setup setup = {.net = net, .opts = &good, .train = &nothing};
    assert_fails(trainer_new(&trainer, &setup), SPH_EARG, .key = "train");
    problem_close(&p);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(early_stopping_waits_and_gives_back_the_best_weights),
        cmocka_unit_test(accuracy_is_monitored_upwards),
        cmocka_unit_test(a_stopped_run_goes_on_with_the_same_bits),
        cmocka_unit_test(a_huge_rate_ends_as_diverged_and_says_where),
        cmocka_unit_test(observers_see_finite_weights_only),
        cmocka_unit_test(a_last_row_joins_the_batch_before_under_batch_statistics),
        cmocka_unit_test(single_rows_are_refused_under_batch_statistics),
        cmocka_unit_test(wrong_options_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
