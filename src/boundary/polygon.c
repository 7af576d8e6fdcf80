/* SPDX-License-Identifier: MIT */
#include "boundary/polygon.h"

#include "base/memory.h"

int polygon_side(size_t count, const double *vertex, const struct line *line)
{
    double low = line_at(line, vertex), high = low;
    for (size_t i = 1; i < count; i++) {
        double value = line_at(line, vertex + 2 * i);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    if (low < -line->tolerance && high > line->tolerance)
        return 0;
    return high > -low ? 1 : -1;
}

size_t polygon_cut(size_t count, const double *vertex, const int *tag, const struct line *line, int new_tag,
                   double *out, int *out_tag)
{
    size_t found = 0;
    double here = line_at(line, vertex);
    for (size_t i = 0; i < count; i++) {
        size_t next = i + 1 < count ? i + 1 : 0;
        const double *from = vertex + 2 * i, *to = vertex + 2 * next;
        double there = line_at(line, to);
        int in = here >= -line->tolerance, above = here > line->tolerance;
        int next_in = there >= -line->tolerance, next_above = there > line->tolerance;
        if (in) {
            out[2 * found] = from[0];
            out[2 * found + 1] = from[1];
            if (tag) /* what begins on the line and leaves it downwards is the new edge */
                out_tag[found] = above || next_in ? tag[i] : new_tag;
            found++;
        }
        if ((above && !next_in) || (!in && next_above)) {
            double share = here / (here - there);
            out[2 * found] = from[0] + share * (to[0] - from[0]);
            out[2 * found + 1] = from[1] + share * (to[1] - from[1]);
            if (tag)
                out_tag[found] = above ? new_tag : tag[i];
            found++;
        }
        here = there;
    }
    return found;
}

/* Relative to the first vertex, so that small polygons far from the origin keep their digits. */
double polygon_area(size_t count, const double *vertex)
{
    double twice = 0, x = vertex[0], y = vertex[1];
    for (size_t i = 1; i + 1 < count; i++) {
        const double *p = vertex + 2 * i, *q = p + 2;
        twice += (p[0] - x) * (q[1] - y) - (q[0] - x) * (p[1] - y);
    }
    return twice / 2;
}

int polygon_reserve(size_t *room, size_t count, double **const vertices[], int **const tags[])
{
    size_t old = *room, wide = old ? old : 16;
    if (count <= old)
        return 1;
    while (wide < count)
        wide *= 2;
    for (; *vertices; vertices++) {
        double *grown = mem_resize(**vertices, 2 * old, 2 * wide, sizeof *grown);
        if (!grown)
            return 0;
        **vertices = grown;
    }
    for (; *tags; tags++) {
        int *grown = mem_resize(**tags, old, wide, sizeof *grown);
        if (!grown)
            return 0;
        **tags = grown;
    }
    *room = wide;
    return 1;
}
