/* SPDX-License-Identifier: MIT */
#include "figure/svg.h"

#include <string.h>

/* What an id or a reference to one follows, as gnuplot writes them. A name may stand in text as well, where
 * it would be data: gnuplot escapes the quotes and the < of text, so none of these can. */
static const char *const before[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#"};

void svg_rename(struct text *out, const char *svg, const char *name)
{
    for (const char *from = svg; *from;) {
        const char *found = NULL;
        size_t length = 0;
        for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
            const char *at = strstr(from, before[i]);
            if (at && (!found || at < found)) {
                found = at;
                length = strlen(before[i]);
            }
        }
        size_t keep = found ? (size_t)(found - from) + length : strlen(from);
        text_add_bytes(out, from, keep);
        if (found)
            text_add(out, "%s-", name);
        from += keep;
    }
}
