/* SPDX-License-Identifier: MIT
 *
 * Convex polygons and cuts by lines. Vertices are (count, 2), counter-clockwise, in or near a window of
 * [-1, 1] x [-1, 1]; tolerances are absolute. */
#ifndef SPH_BOUNDARY_POLYGON_H
#define SPH_BOUNDARY_POLYGON_H

#include <stddef.h>

/* Distance from a line within which a vertex lies on it: some thousand roundings of a vertex, and far less
 * than anybody looks at. */
static const double polygon_thin = 1e-12;

/* a x + b y + c, taken for 0 within the tolerance. */
struct line {
    double a, b, c, tolerance;
};

static inline double line_at(const struct line *line, const double *vertex)
{
    return line->a * vertex[0] + line->b * vertex[1] + line->c;
}

/* What a line is to a polygon: 0: it cuts it; 1 or -1: the polygon lies on that side, but for vertices within
 * the tolerance. Of a polygon that all lies within it, that of the farthest vertex; -1 where all are 0. */
int polygon_side(size_t count, const double *vertex, const struct line *line);

/* out <- the part where the line is above 0; vertices on the line belong to both parts, and cutting with the
 * line and its negative gives the same new ones. tag, out_tag: a number for each edge, named by the vertex it
 * begins at; the new edge gets new_tag; or NULL. out has room for 2 * count vertices. Returns how many there
 * are. */
size_t polygon_cut(size_t count, const double *vertex, const int *tag, const struct line *line, int new_tag,
                   double *out, int *out_tag);

double polygon_area(size_t count, const double *vertex);

/* Lists of so many vertices (2 numbers each) and of as many tags have room for `count`; both end with NULL. 0: out of memory. */
int polygon_reserve(size_t *room, size_t count, double **const vertices[], int **const tags[]);

#endif
