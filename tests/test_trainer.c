/* SPDX-License-Identifier: MIT
 *
 * The public trainer: steps in any portions are the training that sph_train does, bit for bit; its state goes through bytes;
 * its rate can be changed on the way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failure.h"
#include "spherelu.h"
#include "train/fit.h"

enum { ROWS = 300, BATCH = 32, EPOCHS = 6 };

static sph_data *data;
static sph_split split;

static int make_data(void **state)
{
    (void)state;
    return sph_data_synthetic(&data, "crescents", ROWS, 0.2, 1) < 0 ||
           sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 3) < 0;
}

static int free_data(void **state)
{
    (void)state;
    sph_split_free(&split);
    sph_data_free(data);
    return 0;
}

static sph_net *net_with(sph_dtype dtype, sph_norm norm)
{
    static const size_t hidden[] = {12};
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = dtype,
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = hidden,
                    .depth = 1,
                    .param = SPH_PARAM_GMP,
                    .norm = norm,
                    .act = SPH_ACT_RELU,
                    .seed = 5};
    sph_net *net = NULL;
    assert_int_equal(sph_net_mlp(&net, &spec), 0);
    return net;
}

static sph_net *new_net(sph_dtype dtype)
{
    return net_with(dtype, SPH_NORM_BN);
}

static sph_train_opts options(void)
{
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_BINARY);
    opts.batch = BATCH;
    opts.epochs = EPOCHS;
    opts.schedule = "cosine";
    opts.patience = 0;
    opts.threads = 1;
    return opts;
}

static sph_trainer *new_trainer(sph_net *net)
{
    sph_train_opts opts = options();
    sph_trainer *trainer = NULL;
    if (sph_trainer_new(&trainer, net, data, &split, &opts) < 0)
        fail_msg("%s", sph_error());
    return trainer;
}

static void assert_same_nets(const sph_net *a, const sph_net *b)
{
    for (size_t i = 0; i < sph_net_tensors(a); i++) {
        sph_tensor tensor;
        sph_net_tensor(a, i, &tensor);
        double *x = malloc(tensor.count * sizeof *x), *y = malloc(tensor.count * sizeof *y);
        assert_int_equal(sph_net_get(a, tensor.name, x, tensor.count), 0);
        assert_int_equal(sph_net_get(b, tensor.name, y, tensor.count), 0);
        assert_memory_equal(x, y, tensor.count * sizeof *x);
        free(x);
        free(y);
    }
}

static sph_view view_of(sph_trainer *trainer)
{
    sph_view view;
    assert_int_equal(sph_trainer_view(trainer, &view), 0);
    return view;
}

static void steps_in_any_portions_are_the_training_of_sph_train(void **state)
{
    (void)state;
    static const size_t portions[] = {1, 2, 3, 5, 7, 1000};
    sph_train_opts opts = options();
    for (size_t p = 0; p < sizeof portions / sizeof *portions; p++) {
        sph_net *whole = new_net(SPH_F64), *parts = new_net(SPH_F64);
        sph_result result, same;
        assert_int_equal(sph_train(whole, data, &split, &opts, NULL, 0, &result), 0);
        sph_trainer *trainer = new_trainer(parts);
        while (!sph_trainer_finished(trainer))
            assert_int_equal(sph_trainer_step(trainer, portions[p]), 0);
        assert_int_equal(view_of(trainer).step, result.steps);
        assert_int_equal(view_of(trainer).epoch, EPOCHS);
        assert_int_equal(sph_trainer_run(trainer, NULL, 0, &same),
                         0); /* only the best weights are left to take */
        assert_same_nets(whole, parts);
        assert_int_equal(same.best_epoch, result.best_epoch);
        assert_true(same.test.value[0] == result.test.value[0]);
        sph_trainer_free(trainer);
        sph_net_free(whole);
        sph_net_free(parts);
    }
}

struct seen {
    uint64_t steps, epochs, until; /* until: stops after this step */
    double loss;
};

static int see_step(void *self, const sph_view *view)
{
    struct seen *seen = self;
    assert_int_equal(view->step, ++seen->steps);
    seen->loss = view->loss;
    return view->step == seen->until;
}

static int see_epoch(void *self, const sph_view *view)
{
    struct seen *seen = self;
    assert_int_equal(view->epoch, ++seen->epochs);
    return 0;
}

static int never(void *self, const sph_view *view)
{
    (void)self;
    (void)view;
    fail();
    return 0;
}

static void observed_steps_are_the_same_and_can_be_stopped(void **state)
{
    (void)state;
    sph_net *plain = new_net(SPH_F64), *observed = new_net(SPH_F64);
    sph_trainer *alone = new_trainer(plain), *trainer = new_trainer(observed);
    struct seen seen = {.until = 20};
    sph_observer observer = {
        .self = &seen, .start = never, .step = see_step, .epoch = see_epoch, .end = never};
    assert_int_equal(sph_trainer_observe(trainer, 3, &observer, 1), 0);
    assert_int_equal(seen.steps, 3);
    assert_int_equal(sph_trainer_observe(trainer, 100, &observer, 1), 0);
    assert_int_equal(seen.steps, 20); /* stopped */
    assert_int_equal(sph_trainer_observe(trainer, 2, &observer, 1), 0);
    assert_int_equal(seen.steps, 22); /* and continued */
    assert_int_equal(view_of(trainer).step, 22);
    assert_int_equal(seen.epochs, view_of(trainer).epoch);
    assert_true(seen.epochs > 1 && seen.loss == view_of(trainer).loss);
    assert_int_equal(sph_trainer_step(alone, 22), 0);
    assert_same_nets(plain, observed);
    assert_fails(sph_trainer_observe(trainer, 1, NULL, 1), SPH_EARG, .key = "observers");
    sph_trainer_free(alone);
    sph_trainer_free(trainer);
    sph_net_free(plain);
    sph_net_free(observed);
}

static void an_epoch_is_the_rest_of_the_one_at_work(void **state)
{
    (void)state;
    sph_net *net = new_net(SPH_F32);
    sph_trainer *trainer = new_trainer(net);
    assert_int_equal(view_of(trainer).values, 0); /* no epoch has ended */
    assert_int_equal(sph_trainer_step(trainer, 2), 0);
    assert_int_equal(sph_trainer_epoch(trainer), 0);
    sph_view view = view_of(trainer);
    assert_int_equal(view.epoch, 1);
    assert_int_equal(view.step, view.steps / EPOCHS);
    assert_string_equal(view.names[0], "train_loss");
    assert_true(view.value[0] > 0);
    assert_int_equal(sph_trainer_epoch(trainer), 0);
    assert_int_equal(view_of(trainer).epoch, 2);
    sph_scores scores;
    assert_int_equal(sph_trainer_score(trainer, SPH_PART_TEST, &scores), 0);
    assert_int_equal(scores.rows, split.test_rows);
    sph_trainer_free(trainer);
    sph_net_free(net);
}

static void a_state_goes_through_bytes(void **state)
{
    (void)state;
    static const sph_dtype dtypes[] = {SPH_F32, SPH_F64};
    for (int d = 0; d < 4; d++) {
        sph_norm norm =
            d / 2 ? SPH_NORM_NONE : SPH_NORM_BN; /* without a norm there are no statistics to keep */
        sph_net *whole = net_with(dtypes[d % 2], norm), *rest = net_with(dtypes[d % 2], norm);
        sph_trainer *first = new_trainer(whole), *second = new_trainer(rest);
        void *bytes = NULL;
        size_t size = 0;
        assert_int_equal(sph_trainer_step(first, 9), 0); /* in the middle of an epoch */
        assert_int_equal(sph_trainer_set_lr(first, 0.003), 0);
        assert_int_equal(sph_trainer_save_state(first, &bytes, &size), 0);
        assert_int_equal(sph_trainer_step(first, 11), 0);
        sph_scores before, after;
        assert_int_equal(sph_trainer_step(second, 4), 0);
        assert_int_equal(sph_trainer_load_state(second, bytes, size), 0);
        assert_int_equal(sph_trainer_load_state(first, bytes, size), 0); /* back, and once more */
        assert_int_equal(sph_trainer_score(first, SPH_PART_VAL, &before), 0);
        assert_int_equal(sph_trainer_score(second, SPH_PART_VAL, &after), 0);
        assert_true(before.value[0] == after.value[0]);
        assert_int_equal(sph_trainer_step(first, 11), 0);
        assert_int_equal(sph_trainer_step(second, 11), 0);
        assert_same_nets(whole, rest);
        assert_true(view_of(first).loss == view_of(second).loss);
        assert_true(view_of(first).lr == view_of(second).lr);
        sph_bytes_free(bytes);
        sph_trainer_free(first);
        sph_trainer_free(second);
        sph_net_free(whole);
        sph_net_free(rest);
    }
}

static void a_state_that_does_not_fit_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    sph_net *net = new_net(SPH_F64), *other = new_net(SPH_F32), *same = new_net(SPH_F64);
    sph_trainer *trainer = new_trainer(net), *foreign = new_trainer(other);
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(sph_trainer_save_state(foreign, &bytes, &size), 0);
    assert_fails(sph_trainer_load_state(trainer, bytes, size), SPH_EFORMAT);
    sph_bytes_free(bytes);
    assert_int_equal(sph_trainer_save_state(trainer, &bytes, &size), 0);
    assert_fails(sph_trainer_load_state(trainer, bytes, size - 1), SPH_EFORMAT);
    assert_fails(sph_trainer_load_state(trainer, bytes, 3), SPH_EFORMAT);
    ((char *)bytes)[0] ^= 1;
    assert_fails(sph_trainer_load_state(trainer, bytes, size), SPH_EFORMAT);
    assert_same_nets(net, same);
    assert_int_equal(view_of(trainer).step, 0);
    sph_bytes_free(bytes);
    sph_trainer_free(trainer);
    sph_trainer_free(foreign);
    sph_net_free(net);
    sph_net_free(other);
    sph_net_free(same);
}

/* With all rows in one step, two trainings of which the second has the optimizer's memory of the first are one. */
static void an_optimizer_goes_on_in_another_training(void **state)
{
    (void)state;
    sph_train_opts opts = options();
    opts.batch = 0;
    opts.schedule = "none";
    opts.standardize = SPH_STANDARDIZE_OFF;
    sph_split all = {.train = split.train, .train_rows = split.train_rows};
    sph_net *once = net_with(SPH_F64, SPH_NORM_NONE), *twice = net_with(SPH_F64, SPH_NORM_NONE);
    sph_trainer *whole = NULL, *half[2] = {NULL};
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(sph_trainer_new(&whole, once, data, &all, &opts), 0);
    assert_int_equal(sph_trainer_step(whole, 6), 0);
    assert_int_equal(sph_trainer_new(&half[0], twice, data, &split, &opts), 0); /* with a validation part */
    assert_int_equal(sph_trainer_step(half[0], 3), 0);
    assert_int_equal(sph_trainer_save_state(half[0], &bytes, &size), 0);
    assert_int_equal(sph_trainer_new(&half[1], twice, data, &all, &opts), 0);
    assert_fails(sph_trainer_load_state(half[1], bytes, size), SPH_EFORMAT);
    assert_int_equal(trainer_load_optimizer(half[1], bytes, size), 0);
    assert_int_equal(view_of(half[1]).step, 3);
    assert_int_equal(sph_trainer_step(half[1], 3), 0);
    double a[2 * 12], b[2 * 12];
    assert_int_equal(sph_net_weight(once, 0, a, NULL, NULL), 0);
    assert_int_equal(sph_net_weight(twice, 0, b, NULL, NULL), 0);
    for (size_t i = 0; i < 2 * 12; i++)
        assert_true(fabs(a[i] - b[i]) < 1e-12); /* the order of a sum over all rows is another one */
    memset((char *)bytes + size - 8, 0x7f, 8);
    memset((char *)bytes + size / 2, 0xff, size / 4);
    assert_fails(trainer_load_optimizer(half[1], bytes, size), SPH_EFORMAT);
    sph_bytes_free(bytes);
    sph_trainer_free(whole);
    sph_trainer_free(half[0]);
    sph_trainer_free(half[1]);
    sph_net_free(once);
    sph_net_free(twice);
}

static void the_rate_can_be_changed_on_the_way(void **state)
{
    (void)state;
    sph_net *net = new_net(SPH_F64);
    sph_train_opts opts = options();
    opts.schedule = "none";
    sph_trainer *trainer = NULL;
    assert_int_equal(sph_trainer_new(&trainer, net, data, &split, &opts), 0);
    assert_int_equal(sph_trainer_step(trainer, 1), 0);
    assert_true(view_of(trainer).lr == opts.lr);
    assert_int_equal(sph_trainer_set_lr(trainer, 0.5), 0);
    assert_int_equal(sph_trainer_step(trainer, 1), 0);
    assert_true(view_of(trainer).lr == 0.5);
    assert_fails(sph_trainer_set_lr(trainer, 0), SPH_EARG, .key = "lr");
    assert_fails(sph_trainer_set_lr(trainer, (double)NAN), SPH_EARG, .key = "lr");
    sph_trainer_free(trainer);
    sph_net_free(net);
}

static void a_training_that_diverged_says_so_again(void **state)
{
    (void)state;
    sph_net *net = new_net(SPH_F32);
    sph_train_opts opts = options();
    opts.optimizer = SPH_OPTIMIZER_SGD;
    opts.lr = 1e30;
    sph_trainer *trainer = NULL;
    assert_int_equal(sph_trainer_new(&trainer, net, data, &split, &opts), 0);
    assert_fails(sph_trainer_step(trainer, 1000), SPH_EDIVERGED, .key = "layers.0");
    assert_fails(sph_trainer_step(trainer, 1), SPH_EDIVERGED);
    sph_trainer_free(trainer);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_in_any_portions_are_the_training_of_sph_train),
        cmocka_unit_test(observed_steps_are_the_same_and_can_be_stopped),
        cmocka_unit_test(an_epoch_is_the_rest_of_the_one_at_work),
        cmocka_unit_test(a_state_goes_through_bytes),
        cmocka_unit_test(a_state_that_does_not_fit_is_refused_and_changes_nothing),
        cmocka_unit_test(an_optimizer_goes_on_in_another_training),
        cmocka_unit_test(the_rate_can_be_changed_on_the_way),
        cmocka_unit_test(a_training_that_diverged_says_so_again),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
