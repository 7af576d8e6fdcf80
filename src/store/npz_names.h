/* SPDX-License-Identifier: MIT
 *
 * Names in a zip are UTF-8. libarchive asks the locale for that: this thread's is such a one between begin
 * and end, whatever the program's may be. */
#ifndef SPH_STORE_NPZ_NAMES_H
#define SPH_STORE_NPZ_NAMES_H

#include <locale.h>

struct npz_names {
    locale_t utf8, before;
};

static inline struct npz_names npz_names_begin(void)
{
    struct npz_names names = {.utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)};
    if (names.utf8)
        names.before = uselocale(names.utf8);
    return names;
}

static inline void npz_names_end(struct npz_names names)
{
    if (!names.utf8)
        return;
    uselocale(names.before);
    freelocale(names.utf8);
}

#endif
