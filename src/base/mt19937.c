/* SPDX-License-Identifier: MIT
 *
 * Matsumoto and Nishimura's generator (1998), with the draws numpy's legacy interface makes of it. */
#include "base/mt19937.h"

#include <math.h>

enum { MIDDLE = 397 };

void mt19937_seed(struct mt19937 *mt, uint32_t seed)
{
    mt->key[0] = seed;
    for (uint32_t i = 1; i < MT19937_STATE; i++)
        mt->key[i] = 1812433253u * (mt->key[i - 1] ^ mt->key[i - 1] >> 30) + i;
    mt->used = MT19937_STATE;
}

static void next_state(struct mt19937 *mt)
{
    for (size_t i = 0; i < MT19937_STATE; i++) {
        uint32_t y = (mt->key[i] & 0x80000000u) | (mt->key[(i + 1) % MT19937_STATE] & 0x7fffffffu);
        mt->key[i] = mt->key[(i + MIDDLE) % MT19937_STATE] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    mt->used = 0;
}

static uint32_t mt19937_u32(struct mt19937 *mt)
{
    if (mt->used == MT19937_STATE)
        next_state(mt);
    uint32_t y = mt->key[mt->used++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* 53 bits of two draws. */
double mt19937_unit(struct mt19937 *mt)
{
    uint32_t high = mt19937_u32(mt) >> 5, low = mt19937_u32(mt) >> 6;
    return ((double)high * 67108864.0 + (double)low) / 9007199254740992.0;
}

/* Marsaglia's polar method; the second of a pair comes first. */
double mt19937_gauss(struct mt19937 *mt, struct mt19937_normal *pair)
{
    if (pair->waits) {
        pair->waits = 0;
        return pair->second;
    }
    double x, y, square;
    do {
        x = 2.0 * mt19937_unit(mt) - 1.0;
        y = 2.0 * mt19937_unit(mt) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    double scale = sqrt(-2.0 * log(square) / square);
    pair->second = scale * x;
    pair->waits = 1;
    return scale * y;
}

/* 0 .. max, by masking and rejection. */
static uint32_t mt19937_interval(struct mt19937 *mt, uint32_t max)
{
    if (!max)
        return 0;
    uint32_t mask = UINT32_MAX >> __builtin_clz(max), value;
    do
        value = mt19937_u32(mt) & mask;
    while (value > max);
    return value;
}

void mt19937_permutation(struct mt19937 *mt, uint32_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        uint32_t j = mt19937_interval(mt, (uint32_t)(i - 1)), held = items[i - 1];
        items[i - 1] = items[j];
        items[j] = held;
    }
}
