/* SPDX-License-Identifier: MIT
 *
 * skip_because(format, ...): leaves a case out and says why, in the line that scripts/run-tests looks for. */
#ifndef SPH_TESTS_SKIP_H
#define SPH_TESTS_SKIP_H

#define skip_because(...)                                                                                    \
    do {                                                                                                     \
        print_message("skipped: " __VA_ARGS__);                                                              \
        print_message("\n");                                                                                 \
        skip();                                                                                              \
    } while (0)

#endif
