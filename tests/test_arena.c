/* SPDX-License-Identifier: MIT
 *
 * Places of buffers: none overlaps another that lives at the same time, and those that do not meet share. */
#include "support.h"

#include "net/arena.h"

static void spans_that_meet_never_overlap(void **state)
{
    (void)state;
    enum { MOST = 60 };
    struct rng rng = rng_stream(1, RNG_NOISE, 4);
    for (size_t turn = 0; turn < 500; turn++) {
        struct arena_span spans[MOST];
        size_t order[MOST], count = 1 + rng_below(&rng, MOST), most = 0;
        for (size_t i = 0; i < count; i++) {
            size_t first = rng_below(&rng, 40);
            spans[i] = (struct arena_span){rng_below(&rng, 1000), first, first + rng_below(&rng, 12), 0};
        }
        size_t whole = arena_place(spans, count, 16, order);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(spans[i].at % 16, 0);
            most = spans[i].at + spans[i].length > most ? spans[i].at + spans[i].length : most;
            for (size_t j = 0; j < i; j++) {
                int meet = spans[i].first <= spans[j].last && spans[j].first <= spans[i].last;
                int overlap = spans[i].at < spans[j].at + spans[j].length &&
                              spans[j].at < spans[i].at + spans[i].length;
                assert_false(meet && overlap);
            }
        }
        assert_int_equal(whole, most);
    }
}

static void a_chain_takes_the_room_of_its_longest_pair(void **state)
{
    (void)state;
    struct arena_span spans[10];
    size_t order[10];
    for (size_t i = 0; i < 10; i++) /* each lives with its neighbours only */
        spans[i] = (struct arena_span){.length = 64, .first = i, .last = i + 1};
    assert_int_equal(arena_place(spans, 10, 16, order), 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_that_meet_never_overlap),
        cmocka_unit_test(a_chain_takes_the_room_of_its_longest_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
