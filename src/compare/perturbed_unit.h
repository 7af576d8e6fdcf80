/* SPDX-License-Identifier: MIT
 *
 * An experiment that trains nothing: its key `perturb` perturbs the boundary of one unit with each method
 * (sph_perturb), as in Figure 1 of the paper. It needs a name, but no data and no methods; its seed is the
 * first of `seeds`. In addition to figures and report it writes perturb.txt (a table) and perturb.json (all
 * numbers). */
#ifndef SPH_COMPARE_PERTURBED_UNIT_H
#define SPH_COMPARE_PERTURBED_UNIT_H

#include "compare/experiment.h"

struct experiment_perturb {
    double *eps; /* (count) NULL: the defaults of sph_perturb */
    size_t count, inputs;
    double *weight; /* (inputs) NULL: drawn by the seed, of this length */
    double length, distance;
};

/* {eps: [0.001, 0.01], dim: 2, length: 0.001, distance: 1}, each of them optional; weight: [6e-4, -8e-4] in the
 * place of dim and length. */
int experiment_read_perturb(struct sph_experiment *e, struct node node);
void experiment_yaml_perturb(const struct sph_experiment *e, struct yaml_out *out);
void experiment_perturb_free(struct experiment_perturb *perturb);

/* No data, no methods: nothing to train. */
int experiment_without_jobs(const struct sph_experiment *e);

/* Perturbs as the key says, by the defaults without one or without an experiment. Caller frees with
 * sph_perturb_free. */
int experiment_perturb(const struct sph_experiment *e, sph_perturb_result *out);

#endif
