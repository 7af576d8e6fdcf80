/* SPDX-License-Identifier: MIT
 *
 * The linear regions of a network on a plane: the stored result (regions.c), the subdivision that finds
 * them (subdivide.c) and the lines between classes (decision.c). Start reading at subdivide.c. */
#ifndef SPH_BOUNDARY_REGIONS_H
#define SPH_BOUNDARY_REGIONS_H

#include "boundary/piecewise.h"

struct region {
    size_t vertex; /* in vertices: the first of its own */
    size_t count;
    double area;
};

/* What a picture or a file says about them; the caller of sph_regions_new may fill it in. All owned. */
struct regions_about {
    char *title, *s_name, *t_name; /* NULL: none */
    char **class_names;            /* (classes) or NULL */
    size_t classes;
    double *point; /* (points, 4) s, t, class and row of some data */
    size_t points;
    int square; /* s and t have one unit */
    int output; /* the picture shows the net's one output */
    int planar; /* the points are the rows that a plane goes through */
};

/* For how many there is room. */
struct regions_room {
    size_t regions, vertices, patterns, maps, segments, edges;
};

/* x = origin + s first + t second, and the part of it that is looked at. */
struct regions_plane {
    double *origin, *first, *second; /* (inputs) */
    double window[4];
};

/* In the plane's own coordinates (s, t). Arrays grow; memory is proportional to the regions. */
struct sph_regions {
    size_t inputs, outputs, pattern_bytes;
    struct regions_plane plane;
    sph_task task;
    int stopped; /* progress asked: regions are missing */
    sph_regions_layer *layer;
    size_t layer_count;

    struct region *region;
    size_t count;
    double *vertex; /* (vertices, 2) */
    size_t vertices;
    uint8_t *pattern; /* (count, pattern_bytes) */
    double *map;      /* (count, outputs, 3) */
    sph_segment *segment;
    size_t segments;
    sph_edge *edge;
    size_t edges;
    struct regions_room room;

    struct regions_about about;
};

/* A polygon of the window as piecewise.h has it, and all that is known of it. Borrowed. */
struct region_found {
    size_t vertices;
    const double *vertex;    /* (vertices, 2) in [-1, 1] x [-1, 1]  */
    const uint8_t *pattern;  /* (pattern_bytes)                     */
    const double *map;       /* (3, ld) of the output               */
    const double *tolerance; /* (ld) of each output: what counts as 0 */
};

/* regions <- one more, in the plane's and the outputs' own units. (regions.c) */
int regions_add(sph_regions *regions, const struct piecewise *net, const struct scaling *scaling,
                const struct region_found *found);

/* The window cut along every unit's boundary; add is called for every region. (subdivide.c) */
struct subdivision {
    void *self;
    int (*add)(void *self, const struct region_found *found); /* 0; else what ends it, and is returned */
    /* A unit's boundary between two places of the window, with the active side on the left; 0, or a code that ends it. */
    int (*edge)(void *self, size_t node, uint32_t unit, const double from[2], const double to[2]);
    size_t *regions; /* (nodes) filled: regions after each node that cuts */
};
int subdivide(const struct piecewise *net, const struct subdivision *subdivision);

/* regions->segment <- those between classes within a region just added. A single output is the logit of class
 * 1, and that of class 0 is 0. (decision.c) */
struct decision;
int decision_new(struct decision **out, const struct piecewise *net);
void decision_free(struct decision *decision);
int decision_add(struct decision *decision, const struct region_found *found, sph_regions *regions);

/* s, t <- a place of the window; the window's own borders come back as they were given. (regions.c) */
void regions_place(const sph_regions *regions, const struct piecewise *net, const double place[2],
                   double out[2]);

#endif
