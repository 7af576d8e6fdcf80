/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"

#include <assert.h>
#include <string.h>

struct cursor cursor_over(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    return (struct cursor){.at = at, .end = length ? at + length : at};
}

size_t cursor_left(const struct cursor *in)
{
    return (size_t)(in->end - in->at);
}

const unsigned char *cursor_take(struct cursor *in, size_t length)
{
    const unsigned char *taken = in->at;
    if (in->spent || length > cursor_left(in)) {
        in->spent = 1;
        return NULL;
    }
    in->at = length ? in->at + length : in->at;
    return taken;
}

size_t cursor_records(const struct cursor *in, size_t record)
{
    assert(record);
    return cursor_left(in) % record ? 0 : cursor_left(in) / record;
}

int cursor_passes(struct cursor *in, const void *bytes, size_t length)
{
    if (in->spent || length > cursor_left(in) || (length && memcmp(in->at, bytes, length) != 0))
        return 0;
    return cursor_take(in, length) != NULL;
}

uint64_t cursor_little(struct cursor *in, size_t bytes)
{
    assert(bytes >= 1 && bytes <= 8);
    const unsigned char *at = cursor_take(in, bytes);
    uint64_t value = 0;
    for (size_t i = bytes; at && i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

uint64_t cursor_big(struct cursor *in, size_t bytes)
{
    assert(bytes >= 1 && bytes <= 8);
    const unsigned char *at = cursor_take(in, bytes);
    uint64_t value = 0;
    for (size_t i = 0; at && i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

int size_times(size_t *to, size_t a, size_t b)
{
    return !__builtin_mul_overflow(a, b, to);
}

int size_plus(size_t *to, size_t a, size_t b)
{
    return !__builtin_add_overflow(a, b, to);
}

int size_product(size_t *to, const size_t *factors, size_t count)
{
    int fits = 1;
    *to = 1;
    for (size_t i = 0; i < count; i++)
        fits &= size_times(to, *to, factors[i]);
    return fits;
}
