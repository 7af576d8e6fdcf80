/* SPDX-License-Identifier: MIT
 *
 * make check sets SPH_QUICK: a test that walks through very many cases then takes one in `step` of them,
 * which is enough to see most mistakes at once. make test takes them all. */
#ifndef SPH_TESTS_QUICK_H
#define SPH_TESTS_QUICK_H

#include <stddef.h>
#include <stdlib.h>

static inline __attribute__((unused)) size_t quick_step(size_t step)
{
    return getenv("SPH_QUICK") ? step : 1;
}

#endif
