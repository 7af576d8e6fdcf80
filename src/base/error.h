/* SPDX-License-Identifier: MIT
 *
 * How a failure travels: a negative code up the call chain, one line of text per thread.
 * sph_fail() formats the line and returns the code, so that `return sph_fail(...)` is all there is to it. */
#ifndef SPH_BASE_ERROR_H
#define SPH_BASE_ERROR_H

#include "spherelu.h"

/* Sets this thread's message (one line, no newline) and returns code. */
int sph_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Puts "context: " before the message already there and returns code. */
int sph_fail_in(int code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

#endif
