/* SPDX-License-Identifier: MIT
 *
 * Decimal numbers from text with the same bits as strtod: eight digits at a time and a single rounding. */
#ifndef SPH_DATA_NUMBER_H
#define SPH_DATA_NUMBER_H

#include <stdint.h>
#include <string.h>

enum {
    NUMBER_AHEAD = 32,    /* bytes from its first on that may be read, whatever they are */
    NUMBER_DIGITS = 19,   /* fit into 64 bits                                            */
    NUMBER_EXACT_TEN = 22 /* 10 to this is a double                                      */
};

extern const double number_ten_to[NUMBER_EXACT_TEN + 1];

/* [-]123.456e-7: *out, and what is behind it. NULL: not of that form. Reads no byte at or behind end. */
const char *number_read_long(const char *text, const char *end, double *out);

/* ---------------------------------------------------------------- eight signs at a time */

#define NUMBER_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t number_eight(const char *text)
{
    uint64_t signs;
    memcpy(&signs, text, sizeof signs);
    return signs ^ NUMBER_EACH('0'); /* digits are 0 to 9, the first sign in the lowest byte */
}

/* How many of them are digits before the first that is none: 0 to 8. */
static inline unsigned number_digits_in(uint64_t signs)
{
    uint64_t others = ((signs + NUMBER_EACH(0x76)) | signs) & NUMBER_EACH(0x80);
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* The number that the first count digits are, 1 to 7 of them. */
static inline uint64_t number_value_of(uint64_t signs, unsigned count)
{
    signs <<= 8 * (8 - count);                                             /* zeroes before them */
    signs = signs * 10 + (signs >> 8);                                     /* pairs, */
    return ((signs & UINT64_C(0xff000000ff)) * UINT64_C(0xf424000000064) + /* and pairs of these */
            (signs >> 16 & UINT64_C(0xff000000ff)) * UINT64_C(0x271000000001)) >>
           32;
}

/* As number_read_long, in no time for one to seven digits on each side of the point and no exponent, which is then left to
 * the caller. There are NUMBER_AHEAD bytes before end. */
static inline const char *number_read(const char *text, const char *end, double *out)
{
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        return number_read_long(text, end, out);
    static const uint32_t whole_ten_to[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    static const double sign[] = {1, -1}; /* either is as likely: no branch */
    unsigned negative = *text == '-', part = 0;
    const char *p = text + negative;
    uint64_t signs = number_eight(p);
    unsigned whole = number_digits_in(signs);
    if (whole - 1 > 6)
        return number_read_long(text, end, out);
    uint64_t mantissa = number_value_of(signs, whole);
    p += whole;
    if (*p == '.') {
        signs = number_eight(++p);
        part = number_digits_in(signs);
        if (part - 1 > 6)
            return number_read_long(text, end, out);
        mantissa = mantissa * whole_ten_to[part] + number_value_of(signs, part);
        p += part;
    }
    *out = (double)(int64_t)mantissa / number_ten_to[part] * sign[negative];
    return p;
}

#endif
