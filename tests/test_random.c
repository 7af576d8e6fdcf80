/* SPDX-License-Identifier: MIT
 *
 * Random streams: the published Philox values, streams that do not meet, draws without bias. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

/* A second Philox4x32-10, written from the paper's description of a round, held to the published answers
 * below. */
static void reference(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t k[2] = {key[0], key[1]}, x[4], y[4];
    memcpy(x, counter, sizeof x);
    for (int round = 0; round < 10; round++) {
        if (round) {
            k[0] += 0x9E3779B9u; /* golden ratio */
            k[1] += 0xBB67AE85u; /* sqrt(3) - 1 */
        }
        uint64_t p0 = x[0] * (uint64_t)0xD2511F53u, p1 = x[2] * (uint64_t)0xCD9E8D57u;
        y[0] = (uint32_t)(p1 >> 32) ^ x[1] ^ k[0];
        y[1] = (uint32_t)(p1 & 0xffffffffu);
        y[2] = (uint32_t)(p0 >> 32) ^ x[3] ^ k[1];
        y[3] = (uint32_t)(p0 & 0xffffffffu);
        memcpy(x, y, sizeof x);
    }
    memcpy(out, x, sizeof x);
}

static void philox_gives_the_published_answers(void **state)
{
    (void)state;
    /* kat_vectors of Random123, philox4x32-10 */
    static const uint32_t answers[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e,
         0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb,
         0x5001e420, 0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        reference(answers[i], answers[i] + 4, out);
        assert_memory_equal(out, answers[i] + 6, sizeof out);
    }
    struct rng rng = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(rng_u32(&rng), answers[0][6 + i]);
    assert_int_equal(rng.drawn, 4);
}

static void a_stream_is_philox_of_seed_purpose_lane_and_position(void **state)
{
    (void)state;
    struct rng source = rng_stream(99, RNG_NOISE, 0);
    for (int trial = 0; trial < 1000; trial++) {
        uint64_t seed = rng_u64(&source), drawn = rng_u64(&source) >> rng_below(&source, 60);
        uint32_t lane = rng_u32(&source);
        enum rng_purpose purpose = (enum rng_purpose)(RNG_INIT + rng_below(&source, 6));
        struct rng rng = rng_stream(seed, purpose, lane);
        assert_int_equal(rng.drawn, 0);
        rng.drawn = drawn;
        uint64_t block = drawn / 4;
        uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), lane, (uint32_t)purpose};
        uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, out[4];
        reference(counter, key, out);
        assert_int_equal(rng_u32(&rng), out[drawn % 4]);
    }
}

static void a_copied_stream_goes_on_alike(void **state)
{
    (void)state;
    struct rng rng = rng_stream(1, RNG_SHUFFLE, 3);
    for (int i = 0; i < 7; i++)
        rng_normal(&rng);
    struct rng copy = rng;
    for (int i = 0; i < 100; i++)
        assert_int_equal(rng_u32(&rng), rng_u32(&copy));
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void words_in_bulk_are_the_words_one_by_one(void **state)
{
    (void)state;
    struct rng one = rng_stream(7, RNG_NOISE, 3), many = one;
    for (size_t count = 0; count < 14; count++) { /* from every position within a block */
        uint32_t words[14];
        rng_words(&many, words, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(words[i], rng_u32(&one));
        assert_int_equal(many.drawn, one.drawn);
    }
}

static void streams_of_other_seeds_purposes_and_lanes_do_not_meet(void **state)
{
    (void)state;
    /* 3 * 6 * 8 * 200 words of 64 bits: a chance repetition has probability 2e-11 */
    enum { COUNT = 3 * 6 * 8 * 200 };
    uint64_t *words = malloc(COUNT * sizeof *words), seeds[] = {0, 1, (uint64_t)1 << 32};
    size_t n = 0;
    for (int s = 0; s < 3; s++)
        for (int purpose = RNG_INIT; purpose <= RNG_DATA; purpose++)
            for (uint32_t lane = 0; lane < 8; lane++) {
                struct rng rng = rng_stream(seeds[s], (enum rng_purpose)purpose, lane);
                for (int i = 0; i < 200; i++)
                    words[n++] = rng_u64(&rng);
            }
    assert_int_equal(n, COUNT);
    qsort(words, COUNT, sizeof *words, compare_words);
    for (size_t i = 1; i < COUNT; i++)
        assert_true(words[i] != words[i - 1]);
    free(words);
}

static void unit_lies_in_its_interval_and_is_flat(void **state)
{
    (void)state;
    enum { DRAWS = 200000, BINS = 50 };
    struct rng rng = rng_stream(5, RNG_INIT, 0);
    int bins[BINS] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double u = rng_unit(&rng);
        assert_true(u >= 0 && u < 1);
        bins[(int)(u * BINS)]++;
    }
    double chi = 0, expected = (double)DRAWS / BINS;
    for (int i = 0; i < BINS; i++)
        chi += (bins[i] - expected) * (bins[i] - expected) / expected;
    assert_true(chi > 20 &&
                chi < 95); /* 49 degrees of freedom: outside with probability 2e-4, and the seed is fixed */
}

static void normal_has_the_moments_and_tails_of_a_normal(void **state)
{
    (void)state;
    enum { DRAWS = 400000 };
    struct rng rng = rng_stream(6, RNG_INIT, 0);
    double sum = 0, squares = 0, fourths = 0, lag = 0, last = 0;
    int beyond2 = 0;
    for (int i = 0; i < DRAWS; i++) {
        double z = rng_normal(&rng);
        assert_true(isfinite(z));
        sum += z;
        squares += z * z;
        fourths += z * z * z * z;
        lag += z * last;
        last = z;
        beyond2 += fabs(z) > 2;
    }
    /* five deviations of each estimate */
    double root = sqrt((double)DRAWS);
    assert_true(fabs(sum / DRAWS) < 5 / root);
    assert_true(fabs(squares / DRAWS - 1) < 5 * sqrt(2.0) / root);
    assert_true(fabs(fourths / DRAWS - 3) < 5 * sqrt(96.0) / root);
    assert_true(fabs(lag / DRAWS) < 5 / root);
    assert_true(fabs((double)beyond2 / DRAWS - 0.0455002639) < 5 * 0.21 / root);
}

static void below_is_flat_for_small_bounds(void **state)
{
    (void)state;
    struct rng rng = rng_stream(7, RNG_SPLIT, 0);
    for (uint32_t bound = 1; bound <= 12; bound++) {
        int bins[12] = {0};
        int draws = 12000 * (int)bound;
        for (int i = 0; i < draws; i++) {
            uint32_t value = rng_below(&rng, bound);
            assert_true(value < bound);
            bins[value]++;
        }
        for (uint32_t i = 0; i < bound; i++)
            assert_true(abs(bins[i] - 12000) <= 550); /* five deviations */
    }
}

static void below_is_unbiased_where_the_plain_product_is_not(void **state)
{
    (void)state;
    /* With bound 3 * 2^30, 2^32 words fall on a third of the values twice: without rejection the values 0
     * modulo 3 come half of the time instead of a third. */
    uint32_t bound = 3u << 30;
    struct rng rng = rng_stream(8, RNG_SPLIT, 0);
    enum { DRAWS = 90000 };
    int bins[3] = {0}, high = 0;
    for (int i = 0; i < DRAWS; i++) {
        uint32_t value = rng_below(&rng, bound);
        assert_true(value < bound);
        bins[value % 3]++;
        high += value >= bound / 2;
    }
    for (int i = 0; i < 3; i++)
        assert_true(abs(bins[i] - DRAWS / 3) < 5 * 142);
    assert_true(abs(high - DRAWS / 2) < 5 * 150);
    assert_true(rng.drawn > DRAWS * 5 / 4); /* a quarter of the words was rejected */
    for (int i = 0; i < 100; i++)
        assert_true(rng_below(&rng, UINT32_MAX) < UINT32_MAX);
}

static void shuffle_is_a_permutation_and_every_order_is_as_likely(void **state)
{
    (void)state;
    enum { COUNT = 5000, TRIALS = 24000 };
    struct rng rng = rng_stream(9, RNG_SHUFFLE, 0);
    uint32_t items[COUNT];
    unsigned char seen[COUNT] = {0};
    size_t fixed = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        items[i] = i;
    rng_shuffle(&rng, items, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(items[i] < COUNT && !seen[items[i]]++);
        fixed += items[i] == i;
    }
    assert_true(fixed < 10); /* one on average */

    int orders[4][4][4] = {{{0}}};
    for (int trial = 0; trial < TRIALS; trial++) {
        uint32_t four[] = {0, 1, 2, 3};
        rng_shuffle(&rng, four, 4);
        orders[four[0]][four[1]][four[2]]++;
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++) {
                int possible = a != b && b != c && a != c;
                if (possible)
                    assert_true(abs(orders[a][b][c] - TRIALS / 24) < 5 * 31);
                else
                    assert_int_equal(orders[a][b][c], 0);
            }
    rng_shuffle(&rng, items, 1);
    rng_shuffle(&rng, NULL, 0);
}

/* Words are drawn ahead: the order and the place of the stream are those of drawing them one by one, rejected ones
 * among them. */
static void a_shuffle_takes_the_words_it_uses_and_no_other(void **state)
{
    (void)state;
    enum { MOST = 300 };
    for (uint32_t lane = 0; lane < 40; lane++)
        for (size_t count = 0; count <= MOST; count += 1 + count / 3) {
            struct rng rng = rng_stream(5, RNG_SHUFFLE, lane);
            rng.drawn = lane; /* the first word is any of its four */
            struct rng same = rng;
            uint32_t got[MOST], want[MOST];
            for (uint32_t i = 0; i < MOST; i++)
                got[i] = want[i] = i;
            rng_shuffle(&rng, got, count);
            for (size_t i = count; i > 1; i--) {
                uint32_t j = rng_below(&same, (uint32_t)i), held = want[i - 1];
                want[i - 1] = want[j];
                want[j] = held;
            }
            assert_memory_equal(got, want, sizeof got);
            assert_true(rng.drawn == same.drawn);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(a_stream_is_philox_of_seed_purpose_lane_and_position),
        cmocka_unit_test(a_copied_stream_goes_on_alike),
        cmocka_unit_test(words_in_bulk_are_the_words_one_by_one),
        cmocka_unit_test(streams_of_other_seeds_purposes_and_lanes_do_not_meet),
        cmocka_unit_test(unit_lies_in_its_interval_and_is_flat),
        cmocka_unit_test(normal_has_the_moments_and_tails_of_a_normal),
        cmocka_unit_test(below_is_flat_for_small_bounds),
        cmocka_unit_test(below_is_unbiased_where_the_plain_product_is_not),
        cmocka_unit_test(shuffle_is_a_permutation_and_every_order_is_as_likely),
        cmocka_unit_test(a_shuffle_takes_the_words_it_uses_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
