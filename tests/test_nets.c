/* SPDX-License-Identifier: MIT
 *
 * Functions that take several nets, and the policy on NULL of the whole library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "failure.h"
#include "job/tool.h"
#include "spherelu.h"
#include "api_world.h"
#include "store/tool.h"

/* The policy of base.h: NULL is refused by the name of the argument, or is an empty handle. */
static void null_is_refused_by_name(void **state)
{
    struct world *w = *state;
    sph_net *copy = NULL;
    double y[ROWS];
    assert_fails(sph_net_export(NULL, "x.onnx", NULL), SPH_EARG, .key = "net");
    assert_fails(sph_net_export(w->net, NULL, NULL), SPH_EARG, .key = "path");
    assert_fails(sph_run_export(NULL, "x.onnx", NULL), SPH_EARG, .key = "run");
    assert_fails(sph_net_copy(NULL, w->net), SPH_EARG, .key = "out");
    assert_fails(sph_net_copy(&copy, NULL), SPH_EARG, .key = "net");
    assert_fails(sph_net_forward(w->net, NULL, ROWS, y), SPH_EARG, .key = "x");
    assert_fails(sph_net_forward(w->net, y, ROWS, NULL), SPH_EARG, .key = "y");
    assert_int_equal(sph_net_forward(w->net, NULL, 0, NULL), 0);
    assert_fails(sph_net_write(w->net, &(sph_sink){0}), SPH_EARG, .key = "to->write");
    assert_fails(sph_train(w->net, w->data, NULL, &w->opts, NULL, 0, NULL), SPH_EARG, .key = "split");
    assert_fails(sph_train(w->net, w->data, &w->split, &w->opts, NULL, 1, NULL), SPH_EARG,
                 .key = "observers");
    assert_fails(sph_nets_predict(&w->net, 0, SPH_LOSS_MSE, y, 1, y, NULL), SPH_EARG, .key = "count");
    assert_int_equal(sph_net_inputs(NULL), 0);
    assert_string_equal(sph_net_note(NULL), "");
    assert_null(sph_run_net(NULL));
    assert_null(sph_word((sph_word_kind)999, 0));
    sph_train_defaults_sized(NULL, sizeof(sph_train_opts), SPH_TASK_REGRESSION);
}

/* sph_nets_predict: means of counts for poisson, their spread by an independent formula. */
static void nets_predict_what_their_loss_says(void **state)
{
    struct world *w = *state;
    sph_net *two[2] = {w->net, NULL};
    double x[4] = {1, 2, -1, 0.5}, one[2], other[2], mean[2], spread[2], bias = 0.25;
    assert_int_equal(sph_net_copy(&two[1], w->net), 0);
    assert_int_equal(sph_net_set(two[1], "layers.1.bias", &bias, 1), 0);
    assert_int_equal(sph_net_forward(two[0], x, 2, one), 0);
    assert_int_equal(sph_net_forward(two[1], x, 2, other), 0);
    assert_int_equal(sph_nets_predict(two, 2, SPH_LOSS_POISSON, x, 2, mean, spread), 0);
    for (int i = 0; i < 2; i++) {
        double a = exp(one[i]), b = exp(other[i]);
        assert_true(fabs(mean[i] - (a + b) / 2) <= 1e-14 * (a + b));
        assert_true(fabs(spread[i] - fabs(a - b) / sqrt(2)) <= 1e-12 * (a + b));
    }
    assert_int_equal(sph_nets_predict(two, 2, SPH_LOSS_MSE, x, 2, mean, NULL), 0);
    assert_true(mean[0] == (one[0] + other[0]) / 2);
    sph_net_free(two[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(null_is_refused_by_name),
        TEST(nets_predict_what_their_loss_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
