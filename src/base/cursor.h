/* SPDX-License-Identifier: MIT
 *
 * Reads bytes that came from a file. A cursor knows their end; a read beyond it returns zeros and marks the
 * cursor as failed, so callers check only once. Sizes from a file are multiplied and added only here, with
 * overflow checks. mem_allows limits the memory for such a size. */
#ifndef SPH_BASE_CURSOR_H
#define SPH_BASE_CURSOR_H

#include <stddef.h>
#include <stdint.h>

struct cursor {
    const unsigned char *at, *end;
    int spent; /* more was asked for than there was */
};

struct cursor cursor_over(const void *bytes, size_t length);
size_t cursor_left(const struct cursor *in);

/* The next length bytes, borrowed; NULL: there are fewer. */
const unsigned char *cursor_take(struct cursor *in, size_t length);

/* How many records of this length (not 0) the rest is made of; 0: none, or it does not end with one. */
size_t cursor_records(const struct cursor *in, size_t record);

/* 1: these bytes come next, and are passed; 0: they do not, and nothing is. */
int cursor_passes(struct cursor *in, const void *bytes, size_t length);

/* Unsigned numbers of 1, 2, 4 or 8 bytes, the least or the most significant first. */
uint64_t cursor_little(struct cursor *in, size_t bytes);
uint64_t cursor_big(struct cursor *in, size_t bytes);

/* *to <- the product or the sum; 0: it wraps. to may be one of the factors. */
int size_times(size_t *to, size_t a, size_t b);
int size_plus(size_t *to, size_t a, size_t b);

/* The product of all; 0: it wraps, also where another factor is 0. */
int size_product(size_t *to, const size_t *factors, size_t count);

#endif
