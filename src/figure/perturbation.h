/* SPDX-License-Identifier: MIT
 *
 * Figure 1(b)-(e) of the paper: one unit's boundary, and where it lies when eps is added to each of its
 * learned numbers. Each returns what figure_draw does. */
#ifndef SPH_FIGURE_PERTURBATION_H
#define SPH_FIGURE_PERTURBATION_H

#include "spherelu.h"

/* Two inputs: `perturbation`, a panel per method with the base's boundary and the perturbed ones. */
int perturbation_draw(const sph_perturb_result *result, const char *dir);

/* Any number of inputs: `perturbation-turns`, how far each method's boundary turns, over eps. */
int perturbation_draw_turns(const sph_perturb_result *result, const char *dir);

#endif
