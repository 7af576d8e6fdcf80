/* SPDX-License-Identifier: MIT
 *
 * What the tests of reports share: what a page holds and lacks, and a picture to put into it. */
#ifndef SPH_TESTS_REPORT_FILES_H
#define SPH_TESTS_REPORT_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment_files.h"

#define SVG "<svg width='40' height='30' viewBox='0 0 40 30'"

static const char picture[] = SVG " xmlns='http://www.w3.org/2000/svg'><g id='g'/><use href='#g'/></svg>";

static inline void assert_holds(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("lacks: %s\nin: %.2000s", part, text);
}

static inline void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("holds: %s", part);
}

static inline size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

#endif
