/* SPDX-License-Identifier: MIT
 *
 * The calls of cmocka that our tests make, for machines that have a compiler and nothing else. `make core`
 * puts this folder first among those it includes from; the CMake build uses the real one.
 *
 * A failed assertion jumps out of its test, whose teardown still runs. A crash ends the program. */
#ifndef SPH_TESTS_STAND_IN_CMOCKA_H
#define SPH_TESTS_STAND_IN_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define STAND_IN static __attribute__((unused))

typedef int stand_in_fixture(void **state);

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    stand_in_fixture *setup, *teardown; /* or NULL */
    void *initial_state;                /* NULL: the group's */
};

/* clang-format off */
#define cmocka_unit_test_setup_teardown(test, setup, teardown) {#test, test, setup, teardown, NULL}
/* clang-format on */
#define cmocka_unit_test_setup(test, setup)       cmocka_unit_test_setup_teardown(test, setup, NULL)
#define cmocka_unit_test_teardown(test, teardown) cmocka_unit_test_setup_teardown(test, NULL, teardown)
#define cmocka_unit_test(test)                    cmocka_unit_test_setup_teardown(test, NULL, NULL)

/* ---------------------------------------------------------------- leaving a test */

enum { STAND_IN_FAILED = 1, STAND_IN_SKIPPED };

static jmp_buf stand_in_out;

STAND_IN __attribute__((noreturn)) void stand_in_skip(void)
{
    longjmp(stand_in_out, STAND_IN_SKIPPED);
}

STAND_IN __attribute__((noreturn, format(printf, 3, 4))) void stand_in_fail(const char *file, int line,
                                                                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: error: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    longjmp(stand_in_out, STAND_IN_FAILED);
}

#define skip()             stand_in_skip()
#define fail()             stand_in_fail(__FILE__, __LINE__, "failed")
#define fail_msg(...)      stand_in_fail(__FILE__, __LINE__, __VA_ARGS__)
#define print_message(...) printf(__VA_ARGS__)
#define print_error(...)   fprintf(stderr, __VA_ARGS__)

/* ---------------------------------------------------------------- assertions */

STAND_IN void stand_in_is(int holds, const char *what, const char *file, int line)
{
    if (!holds)
        stand_in_fail(file, line, "%s", what);
}

STAND_IN void stand_in_int(int same, uintmax_t a, uintmax_t b, const char *file, int line)
{
    if ((a == b) != same)
        stand_in_fail(file, line, "%jd (%#jx) %s %jd (%#jx)", (intmax_t)a, a, same ? "!=" : "==", (intmax_t)b,
                      b);
}

STAND_IN void stand_in_range(uintmax_t value, uintmax_t low, uintmax_t high, const char *file, int line)
{
    if (value < low || value > high)
        stand_in_fail(file, line, "%ju is not in %ju-%ju", value, low, high);
}

STAND_IN void stand_in_string(int same, const char *a, const char *b, const char *file, int line)
{
    if (!a || !b || (strcmp(a, b) == 0) != same)
        stand_in_fail(file, line, "\"%s\" %s \"%s\"", a ? a : "NULL", same ? "!=" : "==", b ? b : "NULL");
}

STAND_IN void stand_in_memory(int same, const void *a, const void *b, size_t bytes, const char *file,
                              int line)
{
    const unsigned char *left = a, *right = b;
    size_t i = 0;
    while (i < bytes && left[i] == right[i])
        i++;
    if (same && i < bytes)
        stand_in_fail(file, line, "byte %zu of %zu differs: %#04x, %#04x", i, bytes, left[i], right[i]);
    if (!same && i == bytes)
        stand_in_fail(file, line, "all %zu bytes are the same", bytes);
}

#define STAND_IN_HERE __FILE__, __LINE__

#define assert_true(a)                   stand_in_is(!!(a), #a, STAND_IN_HERE)
#define assert_false(a)                  stand_in_is(!(a), "not: " #a, STAND_IN_HERE)
#define assert_non_null(a)               stand_in_is((a) != NULL, #a " is NULL", STAND_IN_HERE)
#define assert_null(a)                   stand_in_is((a) == NULL, #a " is not NULL", STAND_IN_HERE)
#define assert_ptr_equal(a, b)           stand_in_is((a) == (b), #a " is not " #b, STAND_IN_HERE)
#define assert_ptr_not_equal(a, b)       stand_in_is((a) != (b), #a " is " #b, STAND_IN_HERE)
#define assert_int_equal(a, b)           stand_in_int(1, (uintmax_t)(a), (uintmax_t)(b), STAND_IN_HERE)
#define assert_int_not_equal(a, b)       stand_in_int(0, (uintmax_t)(a), (uintmax_t)(b), STAND_IN_HERE)
#define assert_in_range(a, low, high)    stand_in_range((uintmax_t)(a), (low), (high), STAND_IN_HERE)
#define assert_string_equal(a, b)        stand_in_string(1, (a), (b), STAND_IN_HERE)
#define assert_string_not_equal(a, b)    stand_in_string(0, (a), (b), STAND_IN_HERE)
#define assert_memory_equal(a, b, n)     stand_in_memory(1, (a), (b), (n), STAND_IN_HERE)
#define assert_memory_not_equal(a, b, n) stand_in_memory(0, (a), (b), (n), STAND_IN_HERE)

/* ---------------------------------------------------------------- running */

/* One of them, or none: 0, STAND_IN_FAILED or STAND_IN_SKIPPED. */
STAND_IN int stand_in_try(void (*test)(void **state), stand_in_fixture *fixture, void **state)
{
    switch (setjmp(stand_in_out)) {
    case 0:
        if (test)
            test(state);
        return fixture && fixture(state) ? STAND_IN_FAILED : 0;
    case STAND_IN_SKIPPED:
        return STAND_IN_SKIPPED;
    default:
        return STAND_IN_FAILED;
    }
}

STAND_IN int stand_in_run(const struct CMUnitTest *test, void **state)
{
    int before = stand_in_try(NULL, test->setup, state);
    if (before)
        return before;
    int outcome = stand_in_try(test->test, NULL, state), after = stand_in_try(NULL, test->teardown, state);
    return after ? after : outcome;
}

/* The number of tests that failed. */
STAND_IN int stand_in_group(const char *name, const struct CMUnitTest *tests, size_t count,
                            stand_in_fixture *setup, stand_in_fixture *teardown)
{
    static const char *const word[] = {"      OK", " FAILED ", " SKIPPED"};
    void *state = NULL;
    size_t tally[3] = {0};
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    printf("[==========] %s: running %zu test(s).\n", name, count);
    if (stand_in_try(NULL, setup, &state)) {
        printf("[ FAILED   ] %s: group setup\n", name);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        printf("[ RUN      ] %s\n", tests[i].name);
        void *own = tests[i].initial_state ? tests[i].initial_state : state;
        int outcome = stand_in_run(&tests[i], &own);
        tally[outcome]++;
        printf("[ %s ] %s\n", word[outcome], tests[i].name);
    }
    if (stand_in_try(NULL, teardown, &state)) {
        printf("[ FAILED   ] %s: group teardown\n", name);
        tally[STAND_IN_FAILED]++;
    }
    printf("[==========] %s: %zu passed, %zu skipped, %zu failed.\n", name, tally[0], tally[STAND_IN_SKIPPED],
           tally[STAND_IN_FAILED]);
    return (int)tally[STAND_IN_FAILED];
}

#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                            \
    stand_in_group(name, tests, sizeof(tests) / sizeof *(tests), setup, teardown)
#define cmocka_run_group_tests(tests, setup, teardown)                                                       \
    cmocka_run_group_tests_name(#tests, tests, setup, teardown)

#endif
