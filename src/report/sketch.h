/* SPDX-License-Identifier: MIT
 *
 * A small drawing inside a page: lines or dots over two axes, as SVG that takes the page's colours, light or dark. No
 * gnuplot, no file beside the page: what a run leaves at its end is there at once. */
#ifndef SPH_REPORT_SKETCH_H
#define SPH_REPORT_SKETCH_H

#include "base/text.h"

struct sketch_series {
    const char *name;    /* in the key; NULL: not there */
    const double *x, *y; /* (count) what is not finite is a gap */
    size_t count;
    int dots; /* else a line */
};

struct sketch {
    const char *title; /* what a reader who cannot see it is told */
    const char *x_name, *y_name;
    const struct sketch_series *series; /* (count) */
    size_t count;
    int log_y;          /* where all of y are above 0 */
    int diagonal;       /* y = x, on axes of one scale */
    double mark;        /* an upright line there; NaN: none */
    const char *marked; /* its word in the key */
};

/* Appends the drawing. */
void sketch_draw(struct text *svg, const struct sketch *sketch);

#endif
