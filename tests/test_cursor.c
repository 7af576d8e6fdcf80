/* SPDX-License-Identifier: MIT
 *
 * The cursor never leaves its bytes, and sizes never wrap unseen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cursor.h"

static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

static void numbers_of_every_width_are_read_in_both_orders(void **state)
{
    (void)state;
    static const struct {
        size_t width;
        uint64_t little, big;
    } cases[] = {{1, 0x01, 0x01},
                 {2, 0x0201, 0x0102},
                 {3, 0x030201, 0x010203},
                 {4, 0x04030201, 0x01020304},
                 {8, 0x0807060504030201, 0x0102030405060708}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cursor little = cursor_over(bytes, sizeof bytes), big = little;
        assert_true(cursor_little(&little, cases[i].width) == cases[i].little);
        assert_true(cursor_big(&big, cases[i].width) == cases[i].big);
        assert_int_equal(cursor_left(&little), sizeof bytes - cases[i].width);
        assert_ptr_equal(big.at, bytes + cases[i].width);
        assert_false(little.spent || big.spent);
    }
    static const unsigned char ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    struct cursor in = cursor_over(ones, 8);
    assert_true(cursor_little(&in, 8) == UINT64_MAX);
}

static void nothing_is_read_past_the_end_and_the_cursor_stays_spent(void **state)
{
    (void)state;
    for (size_t length = 0; length <= sizeof bytes; length++)
        for (size_t width = 1; width <= 8; width++) {
            /* bytes of its own, so that a sanitizer sees one too many */
            unsigned char own[sizeof bytes];
            memcpy(own + sizeof own - length, bytes, length);
            struct cursor in = cursor_over(own + sizeof own - length, length);
            size_t whole = 0;
            for (; !in.spent; whole++)
                cursor_little(&in, width);
            assert_int_equal(whole - 1, length / width);
            assert_int_equal(cursor_left(&in), length % width);
            assert_null(cursor_take(&in, 0)); /* from now on nothing is to be had */
            assert_true(cursor_big(&in, 1) == 0);
            assert_false(cursor_passes(&in, "", 0));
        }
    struct cursor in = cursor_over(bytes, sizeof bytes);
    assert_null(cursor_take(&in, SIZE_MAX));
    assert_true(in.spent);
    struct cursor empty = cursor_over(NULL, 0);
    assert_int_equal(cursor_left(&empty), 0);
    assert_true(cursor_big(&empty, 4) == 0 && empty.spent);
}

static void what_comes_next_is_passed_only_where_it_is_all_there(void **state)
{
    (void)state;
    struct cursor in = cursor_over(bytes, 4);
    assert_false(cursor_passes(&in, "\1\3", 2));
    assert_true(cursor_passes(&in, "\1\2\3", 3));
    assert_false(cursor_passes(&in, "\4\5", 2)); /* the second lies behind the end */
    assert_false(in.spent);
    assert_true(cursor_passes(&in, "\4", 1));
    assert_int_equal(cursor_left(&in), 0);
}

static void records_are_counted_only_where_the_last_is_whole(void **state)
{
    (void)state;
    for (size_t length = 0; length <= sizeof bytes; length++)
        for (size_t record = 1; record <= sizeof bytes + 1; record++) {
            struct cursor in = cursor_over(bytes, length);
            size_t count = cursor_records(&in, record);
            assert_int_equal(count * record, length % record ? 0 : length);
            assert_int_equal(cursor_left(&in), length); /* and nothing is taken */
        }
}

static void products_and_sums_that_wrap_are_seen(void **state)
{
    (void)state;
    size_t to;
    assert_true(size_times(&to, 1u << 31, 1u << 31) && to == (size_t)1 << 62);
    assert_false(size_times(&to, (size_t)1 << 32, (size_t)1 << 32));
    assert_true(size_plus(&to, SIZE_MAX - 1, 1) && to == SIZE_MAX);
    assert_false(size_plus(&to, SIZE_MAX, 1));
    to = 7;
    assert_true(size_times(&to, to, 6) && to == 42);
    assert_true(size_product(&to, (size_t[]){3, 4, 5}, 3) && to == 60);
    assert_true(size_product(&to, NULL, 0) && to == 1);
    assert_true(size_product(&to, (size_t[]){0, 5}, 2) && to == 0);
    /* a 0 behind it hides nothing */
    assert_false(size_product(&to, (size_t[]){SIZE_MAX, SIZE_MAX, 0}, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_width_are_read_in_both_orders),
        cmocka_unit_test(nothing_is_read_past_the_end_and_the_cursor_stays_spent),
        cmocka_unit_test(what_comes_next_is_passed_only_where_it_is_all_there),
        cmocka_unit_test(records_are_counted_only_where_the_last_is_whole),
        cmocka_unit_test(products_and_sums_that_wrap_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
