/* SPDX-License-Identifier: MIT
 *
 * A chart of a page: curves or points over two axes, as JSON that figures/charts.js hands to uPlot. Its numbers are in the page as a
 * table too: for readers without scripts, and for pages of a build without uPlot, which have no charts. */
#ifndef SPH_REPORT_CHART_H
#define SPH_REPORT_CHART_H

#include "report/table.h"

struct chart_series {
    const char *name;    /* NULL: the name of the y axis */
    const double *x, *y; /* (count) what is not finite is a gap */
    size_t count;
    int dots; /* else a line */
};

struct chart {
    const char *caption;
    const char *x_name, *y_name;
    const struct chart_series *series; /* (count) */
    size_t count;
    int log_y;           /* where all of y are above 0 and far apart */
    int diagonal;        /* y = x, on axes of one scale */
    double mark;         /* an upright line there; NaN: none */
    const char *marked;  /* its label */
    struct table *table; /* its numbers; emptied */
};

/* Whether this build has charts. */
int charts_drawn(void);

/* Appends the chart as a figure. */
int chart_add(struct text *html, const struct chart *chart);

#endif
