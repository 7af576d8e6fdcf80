/* SPDX-License-Identifier: MIT */
#include "base/random.h"

#include <math.h>

static const double two_pi = 6.283185307179586476925286766559;

/* Philox4x32-10 (Salmon et al., SC'11): ten rounds of multiply and xor of a counter under a key. */
static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

struct rng rng_stream(uint64_t seed, enum rng_purpose purpose, uint32_t lane)
{
    return (struct rng){.seed = seed, .purpose = (uint32_t)purpose, .lane = lane};
}

/* The four words among which the next one is. */
static void four_of(const struct rng *rng, uint32_t out[4])
{
    uint64_t four = rng->drawn / 4;
    uint32_t counter[4] = {(uint32_t)four, (uint32_t)(four >> 32), rng->lane, rng->purpose};
    uint32_t key[2] = {(uint32_t)rng->seed, (uint32_t)(rng->seed >> 32)};
    philox(counter, key, out);
}

uint32_t rng_u32(struct rng *rng)
{
    uint32_t out[4];
    four_of(rng, out);
    return out[rng->drawn++ % 4];
}

void rng_words(struct rng *rng, uint32_t *out, size_t count)
{
    size_t done = 0;
    for (; done < count && rng->drawn % 4; done++)
        out[done] = rng_u32(rng);
    for (; count - done >= 4; done += 4, rng->drawn += 4)
        four_of(rng, out + done);
    for (; done < count; done++)
        out[done] = rng_u32(rng);
}

uint64_t rng_u64(struct rng *rng)
{
    uint64_t low = rng_u32(rng);
    return (uint64_t)rng_u32(rng) << 32 | low;
}

double rng_unit(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

double rng_normal(struct rng *rng)
{
    double radius = sqrt(-2.0 * log(1.0 - rng_unit(rng)));
    return radius * cos(two_pi * rng_unit(rng));
}

/* Words drawn ahead: one by itself costs as much as the four it is among. */
enum { WORDS = 64 };

struct words {
    struct rng *rng; /* stands at the next one */
    uint32_t ahead[WORDS];
    size_t left, most; /* drawn and not used yet; drawn at a time, at most WORDS */
};

static void words_begin(struct words *words, struct rng *rng, size_t most)
{
    words->rng = rng;
    words->left = 0;
    words->most = most;
}

static uint32_t next_word(struct words *words)
{
    if (!words->left) {
        struct rng from = *words->rng;
        rng_words(&from, words->ahead, words->most);
        words->left = words->most;
    }
    words->rng->drawn++;
    return words->ahead[words->most - words->left--];
}

static uint32_t below(struct words *words, uint32_t bound)
{
    /* Lemire: reject the few low products that would favour small values. */
    uint64_t product = (uint64_t)next_word(words) * bound;
    if ((uint32_t)product < bound) {
        uint32_t threshold = (uint32_t)(-bound) % bound;
        while ((uint32_t)product < threshold)
            product = (uint64_t)next_word(words) * bound;
    }
    return (uint32_t)(product >> 32);
}

uint32_t rng_below(struct rng *rng, uint32_t bound)
{
    struct words words;
    words_begin(&words, rng, 1);
    return below(&words, bound);
}

void rng_shuffle(struct rng *rng, uint32_t *items, size_t count)
{
    struct words words;
    words_begin(&words, rng, WORDS);
    for (size_t i = count; i > 1; i--) {
        uint32_t j = below(&words, (uint32_t)i);
        uint32_t held = items[i - 1];
        items[i - 1] = items[j];
        items[j] = held;
    }
}
