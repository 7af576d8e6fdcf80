/* SPDX-License-Identifier: MIT
 *
 * A map of a net's linear regions, by figures/regions.gp. */
#ifndef SPH_REPORT_REGION_MAP_H
#define SPH_REPORT_REGION_MAP_H

#include "boundary/regions.h"

/* More than these make a picture nobody can look at, of a size nobody can open. */
enum { REGIONS_DRAWN = 200000 };

/* What figure_draw returns; FIGURE_NO_GNUPLOT also where there are too many regions: then nothing is
 * written. */
int regions_figure(const sph_regions *regions, const char *dir, const char *name);

/* The rows of the part begun last: a block per region or piece. */
struct figure;
void regions_add_polygons(struct figure *figure, const sph_regions *regions);
void regions_add_decision(struct figure *figure, const sph_regions *regions);

#endif
