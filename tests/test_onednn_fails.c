/* SPDX-License-Identifier: MIT
 *
 * A convolution that oneDNN refuses to compute ends what asked for it with a failure, in builds without assertions too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "compute/onednn.h"
#include "failure.h"
#include "net/zoo.h"
#include "skip.h"
#include "spherelu.h"

/* ---------------------------------------------------------------- oneDNN, which refuses from the n-th call on */

enum { DNNL_OUT_OF_MEMORY = 1, DNNL_RUNTIME_ERROR = 5 };

static int calls, refused_from = -1, refusal;

/* weak: a build without oneDNN has none */
int __real_dnnl_primitive_execute(const void *primitive, void *stream, int count, const void *args)
    __attribute__((weak));
int __wrap_dnnl_primitive_execute(const void *primitive, void *stream, int count, const void *args);

int __wrap_dnnl_primitive_execute(const void *primitive, void *stream, int count, const void *args)
{
    return calls++ == refused_from ? refusal : __real_dnnl_primitive_execute(primitive, stream, count, args);
}

static void refuse(int from, int status)
{
    calls = 0;
    refused_from = from;
    refusal = status;
}

/* ---------------------------------------------------------------- a net that has convolutions of oneDNN's */

enum { ROWS = 8, SIDE = 32, PIXELS = 3 * SIDE * SIDE };

static double x[ROWS * PIXELS], y[ROWS];

static sph_net *new_net(void)
{
    sph_net *net = NULL;
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .channels = 3,
                          .height = SIDE,
                          .width = SIDE,
                          .classes = 1,
                          .scale = 0.125,
                          .stem = SPH_STEM_LARGE};
    assert_int_equal(sph_net_resnet18(&net, &spec), 0);
    for (size_t i = 0; i < ROWS * PIXELS; i++)
        x[i] = sin((double)i);
    for (size_t i = 0; i < ROWS; i++)
        y[i] = (double)(i % 2);
    return net;
}

static void check_there(void)
{
    if (!onednn_block())
        skip_because("this build has no oneDNN");
}

static void a_forward_pass_that_failed_gives_nothing(void **state)
{
    (void)state;
    check_there();
    static double out[ROWS];
    sph_net *net = new_net();
    refuse(-1, 0);
    assert_int_equal(sph_net_forward(net, x, ROWS, out), 0);
    int all = calls;
    assert_true(all > 0);
    for (int from = 0; from < all; from++) {
        refuse(from, DNNL_RUNTIME_ERROR);
        assert_fails(sph_net_forward(net, x, ROWS, out), SPH_EIO);
    }
    refuse(0, DNNL_OUT_OF_MEMORY);
    assert_fails(sph_net_forward(net, x, ROWS, out), SPH_EMEMORY);
    sph_net_free(net);
}

/* Wherever in the first steps and scores it happens; the net before is what is left. */
static void a_training_step_that_failed_ends_the_training(void **state)
{
    (void)state;
    check_there();
    sph_data *data = NULL;
    uint32_t rows[ROWS] = {0, 1, 2, 3, 4, 5, 6, 7};
    sph_split split = {.train = rows, .train_rows = 6, .val = rows + 6, .val_rows = 2};
    sph_train_opts opts;
    sph_net *net = new_net();
    assert_int_equal(sph_data_from_arrays(&data, x, y, ROWS, PIXELS, 1, SPH_TASK_BINARY, NULL), 0);
    sph_train_defaults(&opts, SPH_TASK_BINARY);
    opts.epochs = 1;
    refuse(-1, 0);
    assert_int_equal(sph_train(net, data, &split, &opts, NULL, 0, NULL), 0);
    int all = calls;
    assert_true(all > 0);
    for (int from = 0; from < all; from++) {
        refuse(from, DNNL_RUNTIME_ERROR);
        assert_fails(sph_train(net, data, &split, &opts, NULL, 0, NULL), SPH_EIO);
    }
    sph_data_free(data);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forward_pass_that_failed_gives_nothing),
        cmocka_unit_test(a_training_step_that_failed_ends_the_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
