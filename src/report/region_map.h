/* SPDX-License-Identifier: MIT
 *
 * A picture of linear regions, drawn by figures/regions.gp. */
#ifndef SPH_REPORT_REGION_MAP_H
#define SPH_REPORT_REGION_MAP_H

#include "boundary/regions.h"

/* With more regions, the picture would be too large to open. */
enum { REGIONS_DRAWN = 200000 };

/* Returns what figure_draw returns, and FIGURE_NO_GNUPLOT without writing anything if there are too many regions. */
int regions_figure(const sph_regions *regions, const char *dir, const char *name);

/* Appends rows to the latest part: one block for each region or piece of the decision boundary. */
struct figure;
void regions_add_polygons(struct figure *figure, const sph_regions *regions);
void regions_add_decision(struct figure *figure, const sph_regions *regions);

#endif
