/* SPDX-License-Identifier: MIT
 *
 * Names in a zip file are UTF-8, and libarchive asks the locale for the encoding. Between begin and end,
 * this thread has a UTF-8 locale, independent of the program's. It is created once per file, because
 * creating it reads files. */
#ifndef SPH_DATA_NPZ_NAMES_H
#define SPH_DATA_NPZ_NAMES_H

#include <locale.h>

struct npz_names {
    locale_t utf8, before;
};

static inline void npz_names_begin(struct npz_names *names)
{
    if (!names->utf8)
        names->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (names->utf8)
        names->before = uselocale(names->utf8);
}

static inline void npz_names_end(struct npz_names *names)
{
    if (names->utf8)
        uselocale(names->before);
}

static inline void npz_names_free(struct npz_names *names) /* of zeroes is fine */
{
    if (names->utf8)
        freelocale(names->utf8);
    names->utf8 = (locale_t)0;
}

#endif
