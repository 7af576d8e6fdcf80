/* SPDX-License-Identifier: MIT
 *
 * Figure 1(b)-(e) of the paper: one unit's boundary, and where it lies when eps is added to each of its
 * learned numbers. */
#ifndef SPH_REPORT_PERTURBATION_H
#define SPH_REPORT_PERTURBATION_H

#include "spherelu.h"

/* `perturbation`: with two inputs a panel per method, the base's boundary and the perturbed ones; with more,
 * how far each method's boundary turns, over eps. Returns what figure_draw does. */
int perturbation_draw(const sph_perturb_result *result, const char *dir);

#endif
