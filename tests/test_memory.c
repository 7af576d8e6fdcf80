/* SPDX-License-Identifier: MIT
 *
 * The limit of memory: what is held is counted, and what would go beyond is refused before it is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "spherelu/base.h"

static void what_is_held_is_counted_until_it_is_freed(void **state)
{
    (void)state;
    size_t before = mem_held();
    void *one = mem_get(1000, 1), *other = mem_get(0, 8);
    assert_true(mem_held() >= before + 1000);
    one = mem_resize(one, 1000, 100000, 1);
    assert_true(mem_held() >= before + 100000 && mem_held() < before + 102000);
    mem_free(one);
    mem_free(other);
    mem_free(NULL);
    assert_int_equal(mem_held(), before);
}

static void more_than_the_limit_is_refused_with_its_key(void **state)
{
    (void)state;
    size_t usual = sph_max_memory();
    assert_true(usual > 1 << 20);
    sph_set_max_memory(mem_held() + 3000000);
    void *two = mem_get(2000000, 1);
    assert_non_null(two);
    assert_null(mem_get(1500000, 1));
    const struct sph_failure *failure = sph_failure();
    assert_int_equal(failure->code, SPH_EMEMORY);
    assert_string_equal(failure->key, "max-memory");
    assert_null(mem_resize(two, 2000000, 2500000, 1)); /* for a moment there would be both */
    assert_null(mem_get(SIZE_MAX / 2, 1));
    assert_false(mem_allows(SIZE_MAX));
    assert_true(mem_allows(500000));
    mem_free(two);
    two = mem_get(2900000, 1);
    assert_non_null(two);
    mem_free(two);
    sph_set_max_memory(0);
    assert_int_equal(sph_max_memory(), usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_is_counted_until_it_is_freed),
        cmocka_unit_test(more_than_the_limit_is_refused_with_its_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
