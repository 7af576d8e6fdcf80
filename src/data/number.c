/* SPDX-License-Identifier: MIT */
#include "data/number.h"

#include <stddef.h>

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

static const uint64_t whole_ten_to[] = {UINT64_C(1),
                                        UINT64_C(10),
                                        UINT64_C(100),
                                        UINT64_C(1000),
                                        UINT64_C(10000),
                                        UINT64_C(100000),
                                        UINT64_C(1000000),
                                        UINT64_C(10000000),
                                        UINT64_C(100000000),
                                        UINT64_C(1000000000),
                                        UINT64_C(10000000000),
                                        UINT64_C(100000000000),
                                        UINT64_C(1000000000000),
                                        UINT64_C(10000000000000),
                                        UINT64_C(100000000000000),
                                        UINT64_C(1000000000000000),
                                        UINT64_C(10000000000000000),
                                        UINT64_C(100000000000000000),
                                        UINT64_C(1000000000000000000),
                                        UINT64_C(10000000000000000000)};

static int scale_wide(uint64_t mantissa, int exponent, double *out)
{
    enum { MOST = sizeof whole_ten_to / sizeof *whole_ten_to - 1 };
    if (exponent < -MOST || exponent > MOST)
        return 0;
    *out = exponent < 0 ? quotient(mantissa, whole_ten_to[-exponent])
                        : (double)((wide)mantissa * whole_ten_to[exponent]);
    return 1;
}
#else
static int scale_wide(uint64_t mantissa, int exponent, double *out)
{
    (void)mantissa, (void)exponent, (void)out;
    return 0;
}
#endif

/* A mantissa up to 2^53 and a power of ten up to 22 are doubles: one operation on them rounds once. */
int number_scale(uint64_t mantissa, int exponent, double *out)
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

const char *number_read_long(const char *text, double *out)
{
    int negative = *text == '-', digits = 0, behind = 0, point = 0;
    uint64_t mantissa = 0;
    for (text += negative;; text++) {
        unsigned digit = (unsigned)(unsigned char)*text - '0';
        if (digit > 9) {
            if (*text != '.' || point)
                break;
            point = 1;
            continue;
        }
        if (++digits > NUMBER_DIGITS)
            return NULL;
        mantissa = mantissa * 10 + digit;
        behind += point;
    }
    if (!digits || !number_scale(mantissa, -behind, out))
        return NULL;
    *out = negative ? -*out : *out;
    return text;
}
