/* SPDX-License-Identifier: MIT
 *
 * What a failed call leaves behind. Tests ask for code, key, path and line; the words of messages stand in the
 * lists of tests/bad and nowhere else. Include it behind cmocka.h.
 *
 *     assert_fails(sph_net_open(&net, file), SPH_EFORMAT, .key = "layers.0.theta", .path = file);
 *
 * A key or a line that is not named must not be there; a path is looked at only where one is named. */
#ifndef SPH_TESTS_FAILURE_H
#define SPH_TESTS_FAILURE_H

#include <stdio.h>
#include <string.h>

#include "spherelu/base.h"

struct expected_failure {
    int code;
    const char *key;
    const char *path; /* or its end */
    size_t line;
};

/* What is wrong with the failure that a call returned, into text; "": nothing. Whatever it says is one line, and begins
 * with its place. */
static inline __attribute__((unused)) const char *failure_differs(char *text, size_t size, int code,
                                                                  const struct expected_failure *expected)
{
    const struct sph_failure *f = sph_failure();
    const char *key = expected->key ? expected->key : "", *path = expected->path;
    size_t length = strlen(f->path), end = path ? strlen(path) : 0;
    int same = code == expected->code && f->code == code && !strcmp(f->key, key) &&
               f->line == expected->line &&
               (!path || (length >= end && !strcmp(f->path + length - end, path)));
    int well_said = *f->what && !strchr(f->text, '\n') && !strncmp(f->text, f->path, length);
    *text = '\0';
    if (!same || !well_said)
        snprintf(text, size,
                 "%d (%d), key \"%s\", path \"%s\", line %zu: %s\nexpected %d, \"%s\", \"%s\", %zu", code,
                 f->code, f->key, f->path, f->line, f->text, expected->code, key, path ? path : "...",
                 expected->line);
    return text;
}

/* assert_fails(call, code, .key = ..., .path = ..., .line = ...) */
#define assert_fails(call, ...)                                                                              \
    do {                                                                                                     \
        char failure_text[3000];                                                                             \
        int failure_code = (call);                                                                           \
        if (*failure_differs(failure_text, sizeof failure_text, failure_code,                                \
                             &(struct expected_failure){.code = __VA_ARGS__}))                               \
            fail_msg("%s", failure_text);                                                                    \
    } while (0)

#endif
