/* SPDX-License-Identifier: MIT
 *
 * What this library is and what it runs on. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/tool.h"
#include "spherelu/core.h"

#ifndef SPH_VERSION
#error "the build says which version this is: -DSPH_VERSION=\"1.2.3\""
#endif

const char *sph_version(void)
{
    return SPH_VERSION;
}

/* Per thread, as sph_error() is: the name has to be put together somewhere. */
const char *sph_cpu(void)
{
    static _Thread_local char name[sizeof(struct utsname) + 1];
#if defined(__x86_64__) || defined(__i386__)
    unsigned part[12];
    int known = 1;
    for (unsigned i = 0; i < 3; i++)
        known &=
            __get_cpuid(0x80000002u + i, &part[4 * i], &part[4 * i + 1], &part[4 * i + 2], &part[4 * i + 3]);
    if (known) {
        char brand[sizeof part + 1] = "";
        memcpy(brand, part, sizeof part);
        char *to = name;
        for (const char *from = brand; *from; from++) /* the brand is padded with blanks */
            if (*from != ' ' || (to > name && to[-1] != ' '))
                *to++ = *from;
        if (to > name && to[-1] == ' ')
            to--;
        *to = '\0';
        if (*name)
            return name;
    }
#endif
    struct utsname system;
    snprintf(name, sizeof name, "%s", uname(&system) ? "unknown" : system.machine);
    return name;
}
