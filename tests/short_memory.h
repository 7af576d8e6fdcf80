/* SPDX-License-Identifier: MIT
 *
 * Fails one allocation of the program, by standing in for the call at the bottom of mem_get: so the ones that
 * base/memory.c makes for itself (mem_text, mem_reserve...) are met too.
 *
 *     SHORT_OF_MEMORY(count, err, err = call());      fails the first allocation, the second, ... until
 * call() is 0 */
#ifndef SPH_TESTS_SHORT_MEMORY_H
#define SPH_TESTS_SHORT_MEMORY_H

#include <stdatomic.h>

extern struct short_memory {
    atomic_int calls;
    int fail; /* the call that fails, from 1; 0: none */
} short_memory;

/* count ends as the number of failures met; each must be SPH_EMEMORY with its message. */
#define SHORT_OF_MEMORY(count, err, statement)                                                               \
    do {                                                                                                     \
        (count) = -1;                                                                                        \
        do {                                                                                                 \
            short_memory.calls = 0;                                                                          \
            short_memory.fail = ++(count) + 1;                                                               \
            statement;                                                                                       \
            short_memory.fail = 0;                                                                           \
            if (err) {                                                                                       \
                assert_int_equal(err, SPH_EMEMORY);                                                          \
                assert_int_equal(sph_failure()->code, SPH_EMEMORY);                                          \
            }                                                                                                \
        } while (err);                                                                                       \
    } while (0)

#endif
