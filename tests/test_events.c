/* SPDX-License-Identifier: MIT
 *
 * Event files: their sums, and what failures leave. That TensorBoard reads them is tests/cli/tensorboard.sh's business. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "fault.h"
#include "file/file.h"
#include "skip.h"
#include "spherelu.h"
#include "store/events.h"
#if __has_include("events.pb-c.h")
#include "events.pb-c.h"
#endif

static char dir[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "test_events.%d", (int)getpid());
    return file_make_directory(dir);
}

static int tear_down(void **state)
{
    (void)state;
    char **names = NULL;
    size_t count = 0;
    if (file_list(&names, &count, dir) == 0)
        for (size_t i = 0; i < count; i++) {
            char *path = file_join(dir, names[i]);
            remove(path);
            mem_free(path);
        }
    mem_free_texts(names, count);
    return rmdir(dir);
}

static int write_some(void)
{
    static const char *const names[] = {"lr", "param"}, *const values[] = {"0.1", "gmp"};
    const double numbers[] = {1, 2, NAN, 5};
    struct events *events = NULL;
    int err = events_begin(&events, dir, 7);
    if (!err && !(err = events_settings(events, names, values, 2)) &&
        !(err = events_scalar(events, 8, "loss", 0.5)) &&
        !(err = events_histogram(events, 8, "r", numbers, 4)))
        err = events_flush(events);
    events_free(events);
    return err;
}

static uint64_t little(const char *bytes, size_t count)
{
    uint64_t value = 0;
    while (count--)
        value = value << 8 | (unsigned char)bytes[count];
    return value;
}

static void records_carry_the_sums_of_tfrecord(void **state)
{
    (void)state;
    if (strstr(sph_features(), "onnx: none"))
        skip_because("this build has no protobuf-c");
    /* crc32c of "123456789" is e3069283 */
    assert_int_equal(events_sum("123456789", 9),
                     (uint32_t)((0xe3069283u >> 15 | 0xe3069283u << 17) + 0xa282ead8u));
    char **names = NULL, *bytes = NULL;
    size_t count = 0, length = 0, at = 0, records = 0;
    assert_int_equal(write_some(), 0);
    assert_int_equal(file_list(&names, &count, dir), 0);
    assert_int_equal(count, 1);
    char *path = file_join(dir, names[0]);
    assert_int_equal(file_read(&bytes, &length, path), 0);
    for (; at < length; records++) {
        size_t size = (size_t)little(bytes + at, 8);
        assert_int_equal(little(bytes + at + 8, 4), events_sum(bytes + at, 8));
        assert_int_equal(little(bytes + at + 12 + size, 4), events_sum(bytes + at + 12, size));
        at += size + 16;
    }
    assert_int_equal(at, length);
    assert_int_equal(records, 5); /* version, start of a session, settings, scalar, histogram */
    mem_free(path);
    mem_free(bytes);
    mem_free_texts(names, count);
}

#if __has_include("events.pb-c.h")
/* The histogram in the last record of the one file. */
static Events__Event *written_histogram(const double *numbers, size_t count)
{
    struct events *events = NULL;
    char **names = NULL, *bytes = NULL;
    size_t files = 0, length = 0, at = 0, last = 0;
    assert_int_equal(tear_down(NULL), 0);
    assert_int_equal(set_up(NULL), 0);
    assert_int_equal(events_begin(&events, dir, 7), 0);
    assert_int_equal(events_histogram(events, 1, "r", numbers, count), 0);
    assert_int_equal(events_flush(events), 0);
    events_free(events);
    assert_int_equal(file_list(&names, &files, dir), 0);
    char *path = file_join(dir, names[0]);
    assert_int_equal(file_read(&bytes, &length, path), 0);
    for (; at < length; at += (size_t)little(bytes + at, 8) + 16)
        last = at;
    Events__Event *event =
        events__event__unpack(NULL, (size_t)little(bytes + last, 8), (const uint8_t *)bytes + last + 12);
    assert_non_null(event);
    mem_free(path);
    mem_free(bytes);
    mem_free_texts(names, files);
    return event;
}
#endif

static void histograms_of_the_largest_and_the_least_numbers_have_limits_that_grow(void **state)
{
    (void)state;
#if __has_include("events.pb-c.h")
    const struct {
        double numbers[4];
        size_t first, last; /* how many are in the first and in the last of the buckets */
    } cases[] = {
        {{-DBL_MAX, DBL_MAX, 0, -DBL_MAX}, 2, 1},
        {{-1e308, 1e308, 1e308, NAN}, 1, 2},
        {{0, 5e-324, 0, 0}, 4, 0}, /* too near to one another to be told apart */
        {{3, 3, 3, INFINITY}, 3, 0},
        {{1, 2, 5, -3}, 1, 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Events__Event *event = written_histogram(cases[c].numbers, 4);
        const Events__Histogram *h = event->summary->value[0]->histo;
        double all = 0;
        for (size_t k = 0; k < h->n_bucket; k++) {
            if (!isfinite(h->bucket_limit[k]) || (k && h->bucket_limit[k] <= h->bucket_limit[k - 1]))
                fail_msg("case %zu: limit %zu is %g", c, k, h->bucket_limit[k]);
            all += h->bucket[k];
        }
        assert_true(all == h->num);
        assert_true(h->bucket[0] == (double)cases[c].first);
        assert_true(h->bucket[h->n_bucket - 1] == (double)cases[c].last);
        events__event__free_unpacked(event, NULL);
    }
#else
    skip_because("this build has no protobuf-c");
#endif
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    if (strstr(sph_features(), "onnx: none"))
        skip_because("this build has no protobuf-c");
    size_t held = mem_held();
    for (size_t failures = 0;; failures++) {
        fault_after(failures);
        int err = write_some();
        fault_off();
        if (!fault_happened())
            break;
        assert_int_equal(err, SPH_EMEMORY);
        assert_int_equal(mem_held(), held);
    }
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct events *events = NULL;
    int err = events_begin(&events, "no/such/folder", 0);
    assert_true(err == SPH_EIO || err == SPH_EARG); /* EARG: this build has no events */
    assert_true(!strncmp(sph_failure()->path, "no/such/folder", 14));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_carry_the_sums_of_tfrecord),
        cmocka_unit_test(histograms_of_the_largest_and_the_least_numbers_have_limits_that_grow),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_folder_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
