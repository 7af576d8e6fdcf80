/* SPDX-License-Identifier: MIT
 *
 * What a boundary is, drawn for single units z = relu(u(theta) . x + lambda): Figures 1(a), 5 and 6 of the
 * paper. Lines, spatial locations and arrows are computed from (theta, lambda), so that a user who edits
 * these in the data files' header can see where each number comes from. Each returns what figure_draw does.
 */
#ifndef SPH_REPORT_SCHEMATIC_H
#define SPH_REPORT_SCHEMATIC_H

int schematic_boundary(const char *dir); /* Figure 1(a): one unit on the plane, `boundary` */
int schematic_points(const char *dir);   /* Figure 5: units on the line, `points`           */
int schematic_lines(const char *dir);    /* Figure 6: units on the plane, `lines`           */

#endif
