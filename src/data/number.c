/* SPDX-License-Identifier: MIT */
#include "data/number.h"

#include <stddef.h>

#include "base/text.h"

const double number_ten_to[NUMBER_EXACT_TEN + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

static double two_to(int power)
{
    uint64_t bits = (uint64_t)(1023 + power) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* mantissa / divisor, neither 0. Both are shifted until their first bit is set; the quotient has 63 or 64 bits then, of which
 * 53 stay, rounded by the others and by whether anything remains. */
static double quotient(uint64_t mantissa, uint64_t divisor)
{
    int up = __builtin_clzll(mantissa), up_divisor = __builtin_clzll(divisor);
    wide dividend = (wide)(mantissa << up) << 63;
    divisor <<= up_divisor;
    uint64_t q = (uint64_t)(dividend / divisor), rest = (uint64_t)(dividend % divisor);
    int extra = 11 - __builtin_clzll(q);
    uint64_t half = UINT64_C(1) << (extra - 1), low = q & (2 * half - 1);
    q >>= extra;
    q += low > half || (low == half && (rest || q & 1));
    return (double)q * two_to(extra - 63 + up_divisor - up);
}

static int scale_wide(uint64_t mantissa, int exponent, double *out)
{
    enum { MOST = 19 }; /* 10 to this fits into 64 bits */
    if (exponent < -MOST || exponent > MOST)
        return 0;
    uint64_t ten_to = (uint64_t)number_ten_to[exponent < 0 ? -exponent : exponent];
    *out = exponent < 0 ? quotient(mantissa, ten_to) : (double)((wide)mantissa * ten_to);
    return 1;
}
#else
static int scale_wide(uint64_t mantissa, int exponent, double *out)
{
    (void)mantissa, (void)exponent, (void)out;
    return 0;
}
#endif

/* mantissa * 10^exponent, rounded once; 0: beyond what 128 bits can tell. A mantissa up to 2^53 and a power of ten up to 22 are
 * doubles: one operation on them rounds once. */
static int scale(uint64_t mantissa, int exponent, double *out)
{
    if (!mantissa) {
        *out = 0;
        return 1;
    }
    if (mantissa > UINT64_C(1) << 53 || exponent < -NUMBER_EXACT_TEN || exponent > NUMBER_EXACT_TEN)
        return scale_wide(mantissa, exponent, out);
    *out = exponent < 0 ? (double)mantissa / number_ten_to[-exponent]
                        : (double)mantissa * number_ten_to[exponent];
    return 1;
}

static int is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* What is behind an exponent that begins at at; at itself where there is none. */
static const char *read_exponent(const char *at, const char *end, int *out)
{
    const char *p = at;
    int negative = 0, power = 0;
    if (p == end || (*p != 'e' && *p != 'E'))
        return at;
    if (++p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (!is_digit(p, end))
        return at;
    for (; is_digit(p, end); p++)
        if (power < 100000)
            power = power * 10 + (*p - '0');
    *out += negative ? -power : power;
    return p;
}

const char *number_read_long(const char *text, const char *end, double *out)
{
    enum { MOST = 400 }; /* longer than any sensible number */
    const char *at = text + (text < end && *text == '-'), *first = at;
    int digits = 0, exponent = 0, point = 0;
    uint64_t mantissa = 0;
    for (;; at++) {
        if (is_digit(at, end)) {
            if (digits < NUMBER_DIGITS)
                mantissa = mantissa * 10 + (uint64_t)(*at - '0');
            digits += digits || *at != '0'; /* those that count */
            exponent -= point;
        } else if (at < end && *at == '.' && !point)
            point = 1;
        else
            break;
    }
    if (at - first <= point)
        return NULL;
    at = read_exponent(at, end, &exponent);
    if (digits > NUMBER_DIGITS || !scale(mantissa, exponent, out)) {
        char copy[MOST];
        size_t length = (size_t)(at - first);
        if (length >= sizeof copy)
            return NULL;
        memcpy(copy, first, length);
        copy[length] = '\0';
        if (!text_to_double(copy, out))
            return NULL;
    }
    *out = first > text ? -*out : *out;
    return at;
}
