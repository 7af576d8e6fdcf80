/* SPDX-License-Identifier: MIT
 *
 * Random numbers that depend on (seed, purpose, position) and on nothing else: Philox4x32-10, a counter-based
 * generator. A stream is a value; copy it to save it. */
#ifndef SPH_BASE_RANDOM_H
#define SPH_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* One stream per purpose, so that drawing more of one never shifts another. */
enum rng_purpose {
    RNG_INIT = 1,
    RNG_SPLIT,
    RNG_SHUFFLE,
    RNG_AUGMENT,
    RNG_NOISE,
    RNG_DATA,
    RNG_BOOTSTRAP,
    RNG_PERTURB,
    RNG_THEORY,
    RNG_MEMBER,
    RNG_TUNE
};

struct rng {
    uint64_t seed;
    uint32_t purpose;
    uint32_t lane;  /* a sub-stream: the layer, the epoch, the row... */
    uint64_t drawn; /* 32-bit words taken so far */
};

struct rng rng_stream(uint64_t seed, enum rng_purpose purpose, uint32_t lane);

uint32_t rng_u32(struct rng *rng);
void rng_words(struct rng *rng, uint32_t *out,
               size_t count); /* as so many rng_u32, in a quarter of the time */
uint64_t rng_u64(struct rng *rng);
double rng_unit(struct rng *rng);                    /* [0, 1), 53 bits              */
double rng_normal(struct rng *rng);                  /* mean 0, standard deviation 1 */
uint32_t rng_below(struct rng *rng, uint32_t bound); /* 0 .. bound-1, exact          */

/* Fisher-Yates on count indices. */
void rng_shuffle(struct rng *rng, uint32_t *items, size_t count);

#endif
