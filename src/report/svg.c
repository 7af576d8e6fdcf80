/* SPDX-License-Identifier: MIT */
#include "report/svg.h"

#include <string.h>

/* What is replaced, as gnuplot writes it; % stands for the figure's name. None of it can stand in the text of
 * a picture, where it would be data: gnuplot escapes the quotes and the < there. */
static const struct {
    const char *found, *instead;
} replacements[] = {
    {" id=\"", " id=\"%-"},
    {" id='", " id='%-"},
    {"href=\"#", "href=\"#%-"},
    {"href='#", "href='#%-"},
    {"url(#", "url(#%-"},
    {"font-family=\"Helvetica\"", "font-family=\"Helvetica, Arial, sans-serif\""},
    {"<svg ", "<svg xml:space=\"preserve\" "},
};

enum { COUNT = sizeof replacements / sizeof *replacements };

static void add_named(struct text *out, const char *pattern, const char *name)
{
    for (; *pattern; pattern++)
        text_add(out, *pattern == '%' ? "%s" : "%.1s", *pattern == '%' ? name : pattern);
}

void svg_finish(struct text *out, const char *svg, const char *name)
{
    const char *next[COUNT], *from = svg; /* where each stands next; NULL: no more */
    for (size_t i = 0; i < COUNT; i++)
        next[i] = strstr(svg, replacements[i].found);
    for (;;) {
        size_t first = COUNT;
        for (size_t i = 0; i < COUNT; i++)
            if (next[i] && (first == COUNT || next[i] < next[first]))
                first = i;
        if (first == COUNT)
            break;
        text_add_bytes(out, from, (size_t)(next[first] - from));
        add_named(out, replacements[first].instead, name);
        from = next[first] + strlen(replacements[first].found);
        next[first] = strstr(from, replacements[first].found);
    }
    text_add(out, "%s", from);
}
