/* SPDX-License-Identifier: MIT
 *
 * How a failure travels: a negative code up the call chain, and one struct sph_failure per thread. Each call
 * sets all of it and returns the code, so that `return sph_fail(...)` is all there is to it. Nobody reads the
 * text to decide anything: what a caller may want to know has a field of its own.
 *
 *   sph_fail          "WHAT"
 *   sph_fail_key      "KEY: WHAT"               an option, or a part of a call
 *   sph_fail_at       "PATH: WHAT"              a file, or the name of a source
 *   sph_fail_line     "PATH:LINE: WHAT"         line 0 is none
 *   sph_fail_line_key "PATH:LINE: KEY: WHAT"
 *   sph_fail_of       "PATH:LINE: WHAT"         about a key that WHAT names in its own words; path "" is none
 *
 * A failure on its way up is given more by sph_fail_in and sph_fail_about (words before it), sph_fail_more
 * (words behind it) and sph_fail_move (another place). */
#ifndef SPH_BASE_ERROR_H
#define SPH_BASE_ERROR_H

#include "spherelu/base.h"

#define SPH_FAILS(at) __attribute__((format(printf, at, at + 1), cold))

int sph_fail(int code, const char *format, ...) SPH_FAILS(2);
int sph_fail_key(int code, const char *key, const char *format, ...) SPH_FAILS(3);
int sph_fail_at(int code, const char *path, const char *format, ...) SPH_FAILS(3);
int sph_fail_line(int code, const char *path, size_t line, const char *format, ...) SPH_FAILS(4);
int sph_fail_line_key(int code, const char *path, size_t line, const char *key, const char *format, ...)
    SPH_FAILS(5);
int sph_fail_of(int code, const char *path, size_t line, const char *key, const char *format, ...)
    SPH_FAILS(5);

/* A public call that returns a code begins with NEED: a NULL that its header does not allow is refused, and the failure is
 * about the argument. */
#define NEED(...)                                                                                            \
    do {                                                                                                     \
        const void *const need_[] = {__VA_ARGS__};                                                           \
        for (size_t need_i = 0; need_i < sizeof need_ / sizeof *need_; need_i++)                             \
            if (!need_[need_i])                                                                              \
                return sph_fail_null(__func__, #__VA_ARGS__, need_i);                                        \
    } while (0)
#define NEED_CALL(function)                                                                                  \
    do {                                                                                                     \
        if (!(function))                                                                                     \
            return sph_fail_null(__func__, #function, 0);                                                    \
    } while (0)
int sph_fail_null(const char *call, const char *names, size_t which) __attribute__((cold));

/* Puts "context: " before what is there already, behind path and line, and returns code. */
int sph_fail_in(int code, const char *format, ...) SPH_FAILS(2);

/* The same, and the failure is about this key from now on. */
int sph_fail_about(int code, const char *key, const char *format, ...) SPH_FAILS(3);

/* Puts words behind it. */
int sph_fail_more(int code, const char *format, ...) SPH_FAILS(2);

/* The same failure, found elsewhere: path "" and line 0 take the place away. Its old path stays as a part of
 * the words where keep is set. */
int sph_fail_move(int code, const char *path, size_t line, int keep);

/* A failure that another process had, as it was. */
struct failure {
    int code;
    size_t line, what; /* what: where it begins in text */
    char key[64], path[1024], text[1024];
};
void failure_save(struct failure *out); /* this thread's last */
int failure_set(const struct failure *failure);

#endif
