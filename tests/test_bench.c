/* SPDX-License-Identifier: MIT
 *
 * The measurement of networks for images as bench/ does it: what it refuses, and that it gives its
 * memory back whichever allocation fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "compute/onednn.h"
#include "failure.h"
#include "fault.h"
#include "bench/bench.h"
#include "spherelu.h"

static const bench_images_opts small = {.net = SPH_NET_VGG6,
                                        .size = 8,
                                        .batch = 2,
                                        .scale = 0.03,
                                        .param = SPH_PARAM_GMP,
                                        .norm = SPH_NORM_IMN,
                                        .act = SPH_ACT_RELU,
                                        .optimizer = SPH_OPTIMIZER_SGD};

static void refuses(bench_images_opts opts, const char *key)
{
    bench_images_result result;
    assert_fails(bench_images(&opts, &result), SPH_EARG, .key = key);
}

static void what_cannot_be_measured_is_refused_by_name(void **state)
{
    (void)state;
    bench_images_opts opts = small;
    opts.net = SPH_NET_MLP;
    refuses(opts, "net");
    opts.net = SPH_NET_COUNT;
    refuses(opts, "net");
    opts = small, opts.size = SIZE_MAX;
    refuses(opts, "size");
    opts = small, opts.batch = SIZE_MAX;
    refuses(opts, "batch");
    opts = small, opts.conv = SPH_CONV_COUNT;
    refuses(opts, "conv");
    opts = small, opts.scale = NAN;
    refuses(opts, "scale");
    opts = small, opts.threads = -1;
    refuses(opts, "threads");
}

/* 6 convs of 4, 4, 8, 8, 15 and 15 units, each with as many numbers as weights and a bias; 10 outputs. */
static void the_result_is_about_the_net_asked_for(void **state)
{
    (void)state;
    bench_images_result result;
    assert_int_equal(bench_images(&small, &result), 0);
    size_t units[] = {4, 4, 8, 8, 15, 15}, before = 3, learned = 10 * (15 + 1);
    for (size_t i = 0; i < 6; before = units[i++])
        learned += units[i] * (before * 9 + 1);
    assert_int_equal(result.learned, learned);
    assert_int_equal(result.size, 8);
    assert_int_equal(result.batch, 2);
    assert_true(result.images_per_second > 0 && isfinite(result.images_per_second));
    assert_true(result.peak_bytes > 1e6 && result.peak_bytes < 1e12);
    assert_int_equal(!isnan(result.conv_only), onednn_block() != 0);
    assert_true(isnan(result.conv_only) || result.conv_only > 0);
}

/* Up to the first step, after which only the clock's own turns allocate: the first failure that is survived
 * is the reading of the high-water mark, which has another way. Leaks are the sanitizer's to find. */
static void every_allocation_before_the_steps_may_fail(void **state)
{
    (void)state;
    bench_images_result result;
    size_t met = 0;
    for (int err = SPH_EMEMORY; err; met += err != 0) {
        fault_after(met);
        err = bench_images(&small, &result);
        int happened = fault_happened();
        fault_off();
        assert_true(happened);
        if (err)
            assert_int_equal(err, SPH_EMEMORY);
    }
    print_message("%zu allocations failed in turn\n", met);
    assert_true(met > 20);
    assert_true(result.images_per_second > 0);
    assert_true(result.peak_bytes > 1e6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_measured_is_refused_by_name),
        cmocka_unit_test(the_result_is_about_the_net_asked_for),
        cmocka_unit_test(every_allocation_before_the_steps_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
