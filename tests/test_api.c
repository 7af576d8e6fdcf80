/* SPDX-License-Identifier: MIT
 *
 * Wrong use of the C API is refused with a line, never followed; and what sph_train promises about the net it
 * leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "failure.h"
#include "spherelu.h"
#include "api_world.h"

static void refused(struct world *w, const char *key)
{
    sph_result result = {.epochs = 77};
    assert_fails(sph_train(w->net, w->data, &w->split, &w->opts, NULL, 0, &result), SPH_EARG, .key = key);
    assert_int_equal(result.epochs, 0);
}

static void options_out_of_range_are_refused(void **state)
{
    struct world *w = *state;
    sph_train_opts good = w->opts;
    w->opts.loss = (sph_loss)99;
    refused(w, "loss");
    w->opts = good, w->opts.optimizer = (sph_optimizer)77;
    refused(w, "optimizer");
    w->opts = good, w->opts.standardize = (sph_standardize)9;
    refused(w, "standardize");
    w->opts = good, w->opts.scale = (sph_scale)2;
    refused(w, "scale");
    w->opts = good, w->opts.indicators = (sph_indicators)-1;
    refused(w, "indicators");
    w->opts = good, w->opts.beta2 = 1;
    refused(w, "beta2");
    w->opts = good, w->opts.epsilon = NAN;
    refused(w, "epsilon");
    w->opts = good, w->opts.lr_r = -1;
    refused(w, "lr_r");
    w->opts = good, w->opts.threads = 0;
    refused(w, "threads");
    w->opts = good, w->opts.lr = 0;
    refused(w, "lr");
}

static void rows_beyond_the_data_are_refused(void **state)
{
    struct world *w = *state;
    w->rows[3] = ROWS;
    refused(w, "split");
    w->split = (sph_split){.train = w->rows, .train_rows = 3, .test = w->rows + 3, .test_rows = 1};
    refused(w, "split");
}

static int answer(void *self, const sph_view *view)
{
    (void)view;
    return *(int *)self;
}

static void an_observer_goes_on_stops_or_fails(void **state)
{
    struct world *w = *state;
    sph_result result;
    for (int say = -1; say <= 1; say++) {
        sph_observer observer = {.self = &say, .epoch = answer};
        int err = sph_train(w->net, w->data, &w->split, &w->opts, &observer, 1, &result);
        assert_int_equal(err, say < 0 ? say : 0);
        assert_int_equal(result.stopped, say > 0);
        assert_int_equal(result.epochs, say ? 1 : 5);
        assert_true(say >= 0 || *sph_error());
    }
    assert_int_equal(sph_train(w->net, w->data, &w->split, &w->opts, NULL, 0, NULL), 0);
}

static int keep_last(void *self, const sph_view *view)
{
    if (view->improved)
        sph_net_get(view->net, "layers.0.theta", self, 8);
    return 0;
}

/* What is kept of the best epoch are the weights at its end, as an observer sees them there: in batches of any size. Of a
 * single epoch that is the trained net, and not the start. */
static void the_best_weights_are_those_at_the_end_of_the_best_epoch(void **state)
{
    struct world *w = *state;
    static const size_t batches[] = {0, ROWS, 7};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
        for (size_t epochs = 1; epochs <= 61; epochs += 20) {
            double start[8], best[8], got[8];
            sph_observer observer = {.self = best, .epoch = keep_last};
            sph_result result;
            close_world(state);
            open_world(state);
            w->opts.batch = batches[i];
            w->opts.lr = 0.5; /* jumps about */
            w->opts.epochs = epochs;
            w->opts.patience = 100;
            assert_int_equal(sph_net_get(w->net, "layers.0.theta", start, 8), 0);
            assert_int_equal(sph_train(w->net, w->data, &w->split, &w->opts, &observer, 1, &result), 0);
            assert_int_equal(sph_net_get(w->net, "layers.0.theta", got, 8), 0);
            assert_memory_equal(got, best, sizeof got);
            assert_memory_not_equal(got, start, sizeof got);
        }
}

/* Nothing is chosen: the last weights stay, and the result says so. */
static void without_a_choice_the_last_epoch_counts_as_the_best(void **state)
{
    struct world *w = *state;
    sph_result result;
    w->opts.lr = 0.5;
    w->opts.epochs = 60;
    w->opts.patience = 0;
    assert_int_equal(sph_train(w->net, w->data, &w->split, &w->opts, NULL, 0, &result), 0);
    assert_int_equal(result.best_epoch, 60);
}

static void a_diverged_net_keeps_its_best_weights(void **state)
{
    struct world *w = *state;
    sph_result result;
    double y[ROWS];
    w->opts.optimizer = SPH_OPTIMIZER_SGD;
    w->opts.lr = 1e12;
    w->opts.schedule = "step:1:1e30";
    assert_int_equal(sph_train(w->net, w->data, &w->split, &w->opts, NULL, 0, &result), SPH_EDIVERGED);
    assert_true(result.diverged);
    if (!result.best_epoch)
        return; /* nothing was ever measured */
    assert_int_equal(sph_net_forward(w->net, sph_data_x(w->data), ROWS, y), 0);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(isfinite(y[i]));
}

/* ---------------------------------------------------------------- structs of options begin with their size */

static void a_size_that_no_version_has_is_refused(void **state)
{
    struct world *w = *state;
    sph_net *net = NULL;
    sph_regions *regions = NULL;
    sph_perturb_result turned;
    static const size_t sizes[] = {0, sizeof(size_t), 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        w->opts.size = size;
        refused(w, "size");
        assert_fails(sph_net_mlp(&net, &(sph_mlp){.size = size, .inputs = 2, .outputs = 1}), SPH_EARG,
                     .key = "size");
        assert_fails(sph_net_zoo(&net, SPH_NET_VGG6, &(sph_image_net){.size = size}), SPH_EARG,
                     .key = "size");
        assert_fails(sph_regions_new(&regions, w->net, &(sph_regions_opts){.size = size}), SPH_EARG,
                     .key = "size");
        assert_fails(sph_perturb(&turned, &(sph_perturb_opts){.size = size}), SPH_EARG, .key = "size");
        assert_int_equal(sph_net_new(&net, SPH_F32), 0);
        int input = sph_net_input(net, 2);
        assert_fails(sph_net_dense(net, input, &(sph_layer){.size = size, .units = 1}), SPH_EARG,
                     .key = "size");
        sph_net_free(net);
        net = NULL;
    }
    assert_fails(
        sph_net_zoo(&net, SPH_NET_MLP, &(sph_image_net){.size = sizeof(sph_image_net), .channels = 1}),
        SPH_EARG, .key = "kind");
}

/* What a program has that was built with the header of a version whose struct ended before `seed`. */
static void fields_that_an_older_struct_lacks_have_their_defaults(void **state)
{
    struct world *w = *state;
    double whole[8], part[8];
    const size_t older = offsetof(sph_train_opts, seed);
    w->opts.batch = 7;
    assert_int_equal(sph_train(w->net, w->data, &w->split, &w->opts, NULL, 0, NULL), 0);
    assert_int_equal(sph_net_get(w->net, "layers.0.theta", whole, 8), 0);
    close_world(state);
    open_world(state);
    w->opts.batch = 7;
    w->opts.seed = 77; /* lies behind the end of the older struct */
    w->opts.threads = -1;
    w->opts.size = older;
    assert_int_equal(sph_train(w->net, w->data, &w->split, &w->opts, NULL, 0, NULL), 0);
    assert_int_equal(sph_net_get(w->net, "layers.0.theta", part, 8), 0);
    assert_memory_equal(whole, part, sizeof whole);

    sph_train_opts opts;
    memset(&opts, 0x55, sizeof opts);
    sph_train_defaults_sized(&opts, older, SPH_TASK_REGRESSION);
    assert_int_equal(opts.size, older);
    assert_int_equal(opts.epochs, 1000);
    const unsigned char *behind = (const unsigned char *)&opts;
    for (size_t i = older; i < sizeof opts; i++)
        assert_int_equal(behind[i], 0x55);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(options_out_of_range_are_refused),
        TEST(rows_beyond_the_data_are_refused),
        TEST(an_observer_goes_on_stops_or_fails),
        TEST(the_best_weights_are_those_at_the_end_of_the_best_epoch),
        TEST(without_a_choice_the_last_epoch_counts_as_the_best),
        TEST(a_diverged_net_keeps_its_best_weights),
        TEST(a_size_that_no_version_has_is_refused),
        TEST(fields_that_an_older_struct_lacks_have_their_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
