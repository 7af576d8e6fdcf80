/* SPDX-License-Identifier: MIT
 *
 * Names in a zip are UTF-8. libarchive asks the locale for that: this thread's is such a one between begin
 * and end, whatever the program's may be. The locale is made once for a file: its own files are read for that. */
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
