/* SPDX-License-Identifier: MIT
 *
 * Tests that walk through many cases take a sample of them in the faster layers. SPH_LAYER names the layer: check, test
 * (also when it is not set) or long; tests/layers.txt describes them. */
#ifndef SPH_TESTS_LAYER_H
#define SPH_TESTS_LAYER_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline __attribute__((unused)) int layer_is(const char *name)
{
    const char *layer = getenv("SPH_LAYER");
    return !strcmp(layer ? layer : "test", name);
}

/* One case in `step` under make check, every case otherwise. */
static inline __attribute__((unused)) size_t quick_step(size_t step)
{
    return layer_is("check") ? step : 1;
}

/* One case in `step` under make check and make test, every case under make test-long. */
static inline __attribute__((unused)) size_t sample_step(size_t step)
{
    return layer_is("long") ? 1 : step;
}

#endif
