/* SPDX-License-Identifier: MIT
 *
 * Figure 1(b)-(e) of the paper: the boundary of one unit before and after delta is added to each of its parameters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "boundary/tool.h"
#include "compare/perturbed_unit.h"
#include "report/figures.h"

static const double beyond = 20; /* half the length of a line, longer than any window */

static const sph_perturb_plane *plane_at(const sph_perturb_method *method, size_t k)
{
    return k ? &method->after[k - 1] : &method->base;
}

static void add_methods(struct figure *figure, const sph_perturb_result *result)
{
    char names[128] = "";
    for (size_t i = 0; i < SPH_PERTURB_METHODS; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "", result->method[i].name);
    }
    figure_text(figure, "names", names);
    figure_number(figure, "inputs", (double)result->inputs);
    figure_number(figure, "planes", (double)result->count + 1);
}

static void add_boundaries(struct figure *figure, const sph_perturb_result *result)
{
    figure_columns(figure, "phi",
                   "delta phi_1 phi_2 u_1 u_2 turn/degrees shift; one data set per method, the base first");
    for (size_t i = 0; i < SPH_PERTURB_METHODS; i++) {
        for (size_t k = 0; k <= result->count; k++) {
            const sph_perturb_plane *plane = plane_at(&result->method[i], k);
            double length = hypot(plane->w[0], plane->w[1]);
            figure_row(figure,
                       (double[]){plane->eps, plane->phi[0], plane->phi[1], plane->w[0] / length,
                                  plane->w[1] / length, plane->turn, plane->shift},
                       7);
        }
        figure_gap(figure, 2);
    }
    figure_columns(figure, "boundary",
                   "x_1 x_2: two points of a boundary; one data set per method and plane");
    for (size_t i = 0; i < SPH_PERTURB_METHODS; i++)
        for (size_t k = 0; k <= result->count; k++) {
            const sph_perturb_plane *plane = plane_at(&result->method[i], k);
            double t = beyond / hypot(plane->w[0], plane->w[1]);
            for (int side = -1; side <= 1; side += 2)
                figure_row(figure,
                           (double[]){plane->phi[0] - side * t * plane->w[1],
                                      plane->phi[1] + side * t * plane->w[0]},
                           2);
            figure_gap(figure, 2);
        }
}

static void add_turns(struct figure *figure, const sph_perturb_result *result)
{
    figure_columns(figure, "turn", "delta turn/degrees shift; one data set per method");
    for (size_t i = 0; i < SPH_PERTURB_METHODS; i++) {
        for (size_t k = 0; k < result->count; k++) {
            const sph_perturb_plane *plane = &result->method[i].after[k];
            figure_row(figure, (double[]){plane->eps, fabs(plane->turn), plane->shift}, 3);
        }
        figure_gap(figure, 2);
    }
}

/* With two inputs: a panel for each delta, with the boundaries of all methods. With more: the turn of each method's boundary over delta. */
static int fill(struct figure *figure, struct panels *panels)
{
    sph_perturb_result own = {0};
    const sph_perturb_result *result = panels->results ? panels->results->perturb : NULL;
    int err = result ? 0 : experiment_perturb(panels->e, &own);
    if (err < 0)
        return err;
    if (!result)
        result = &own;
    add_methods(figure, result);
    if (result->inputs == 2) {
        add_boundaries(figure, result);
    } else {
        err = figure_script(figure, "perturbation-turns");
        add_turns(figure, result);
    }
    if (result == &own)
        sph_perturb_free(&own);
    return err;
}

const struct figure_kind figure_perturbation = {
    .fill = fill,
    .letters = "bcde",
    .caption = "The effect of the same small perturbation on a boundary, for each parameterization. In each "
               "panel, another δ is added to all parameters.",
};
