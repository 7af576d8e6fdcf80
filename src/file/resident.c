/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "file/file.h"

static double line_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    double kilobytes;
    return at && sscanf(at + strlen(name), "%lf", &kilobytes) == 1 ? kilobytes * 1024 : (double)NAN;
}

/* Linux says both; getrusage counts what ran before this process's exec, too. */
void resident_bytes(double *now, double *most)
{
    char *text = NULL;
    struct rusage usage;
    *now = *most = (double)NAN;
    if (file_read(&text, NULL, "/proc/self/status") == 0) {
        *now = line_of(text, "VmRSS:");
        *most = line_of(text, "VmHWM:");
        mem_free(text);
    }
    if (isnan(*most) && !getrusage(RUSAGE_SELF, &usage))
        *most = (double)usage.ru_maxrss * 1024;
    if (isnan(*now))
        *now = *most;
}
