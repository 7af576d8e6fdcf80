/* SPDX-License-Identifier: MIT
 *
 * A chart of a page: curves or points over two axes, as JSON that figures/charts.js draws with uPlot. The page also has its numbers
 * as a table, for readers without scripts and for builds without uPlot. */
#ifndef SPH_REPORT_CHART_H
#define SPH_REPORT_CHART_H

#include "report/table.h"

struct chart_series {
    const char *name;    /* NULL: the name of the y axis */
    const double *x, *y; /* (count) values that are not finite are gaps */
    size_t count;
    int dots; /* dots instead of a line */
};

struct chart {
    const char *caption;
    const char *x_name, *y_name;
    const struct chart_series *series; /* (count) */
    size_t count;
    int log_y;           /* a log axis if all y are positive and far apart */
    int diagonal;        /* the line y = x, and both axes with the same range */
    double mark;         /* position of a vertical line; NaN: none */
    const char *marked;  /* its label */
    struct table *table; /* the numbers; chart_add frees it */
};

/* Whether this build has charts. */
int charts_drawn(void);

/* Appends the chart as a figure. */
int chart_add(struct text *html, const struct chart *chart);

#endif
