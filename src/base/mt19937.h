/* SPDX-License-Identifier: MIT
 *
 * The Mersenne Twister exactly as numpy's legacy RandomState(seed) drives it, for splits and row choices that
 * must equal numpy's and scikit-learn's row for row. Everything else draws from base/random.h. */
#ifndef SPH_BASE_MT19937_H
#define SPH_BASE_MT19937_H

#include <stddef.h>
#include <stdint.h>

enum { MT19937_STATE = 624 };

struct mt19937 {
    uint32_t key[MT19937_STATE];
    size_t used;
};

/* RandomState(seed).random_sample() and .standard_normal(), a pair of which is made at a time. */
struct mt19937_normal {
    double second;
    int waits;
};
double mt19937_unit(struct mt19937 *mt);
double mt19937_gauss(struct mt19937 *mt, struct mt19937_normal *pair);

void mt19937_seed(struct mt19937 *mt, uint32_t seed); /* RandomState(seed) */

/* RandomState(seed).permutation(count) into items (count). Its first k are RandomState(seed).choice(count, k,
 * replace=False). */
void mt19937_permutation(struct mt19937 *mt, uint32_t *items, size_t count);

#endif
