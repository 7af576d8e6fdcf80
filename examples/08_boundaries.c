/* SPDX-License-Identifier: MIT
 *
 * Where do the units of a trained network switch? Each has a hyperplane in the input of its layer, norms
 * folded in; that of the first layer is asked for in the units of the data, so that it can be compared with
 * the rows as they are. */
#include <math.h>
#include <stdio.h>

#include <spherelu.h>

enum { UNITS = 8 };

static const char *const state[] = {"unknown", "both sides", "dead", "always on"};

/* The distance of a row to the boundary of unit j, positive on its active side. */
static double distance(const sph_boundary *b, size_t j, const double *row)
{
    double sum = b->offset[j];
    for (size_t i = 0; i < b->n; i++)
        sum += b->direction[j * b->n + i] * row[i];
    return sum;
}

/* Counts the rows on the active side once more, by hand. */
static int check(const sph_boundary *b, size_t j, const sph_data *data, const sph_split *split)
{
    size_t active = 0;
    double nearest = INFINITY;
    for (size_t i = 0; i < split->train_rows; i++) {
        double d = distance(b, j, sph_data_x(data) + split->train[i] * b->n);
        active += d > 0;
        nearest = fmin(nearest, fabs(d));
    }
    return fabs((double)active / (double)split->train_rows - b->active_share[j]) < 1e-9 &&
           fabs(nearest - b->nearest[j]) < 1e-9 && fabs(distance(b, j, b->phi + j * b->n)) < 1e-10;
}

int main(void)
{
    sph_data *data = NULL;
    sph_split split = {0};
    sph_net *net = NULL;
    sph_boundaries *found = NULL;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = SPH_F64,
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = (size_t[]){UNITS, UNITS},
                    .depth = 2,
                    .param = SPH_PARAM_GMP,
                    .norm = SPH_NORM_BN,
                    .act = SPH_ACT_RELU,
                    .seed = 1};
    int err;
    if ((err = sph_data_open(&data, "crescents", NULL)) < 0)
        goto out;
    sph_train_opts opts;
    sph_train_defaults(&opts, sph_data_task(data));
    opts.epochs = 100;
    if ((err = sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0, 0)) < 0 ||
        (err = sph_net_mlp(&net, &spec)) < 0 ||
        (err = sph_train(net, data, &split, &opts, NULL, 0, NULL)) < 0 ||
        (err = sph_boundaries_new(&found, net, SPH_EVERY_LAYER, 1, data, split.train, split.train_rows)) < 0)
        goto out;

    const sph_boundary *first = &found->layer[0];
    printf("%s, in the units of the data:\n", first->path);
    for (size_t j = 0; j < first->m; j++) {
        printf("  unit %zu: %6.3f x1 %+6.3f x2 %+6.3f = 0, %5.1f %% of the rows are active: %s\n", j,
               first->direction[2 * j], first->direction[2 * j + 1], first->offset[j],
               100 * first->active_share[j], state[first->state[j]]);
        err |= !check(first, j, data, &split);
    }
    const sph_boundary *second = &found->layer[1];
    size_t count[SPH_UNIT_STATE_COUNT] = {0};
    double pole = 1;
    for (size_t j = 0; j < second->m; j++) {
        count[second->state[j]]++;
        pole = fmin(pole, second->pole[j]);
    }
    printf("%s: %zu units with rows on both sides, %zu dead, %zu always on; smallest sine of an angle %.3f\n",
           second->path, count[SPH_UNIT_BOTH], count[SPH_UNIT_DEAD], count[SPH_UNIT_ALWAYS_ON], pole);
    printf("%s has no activation and no boundary: %s\n", found->layer[2].path,
           found->layer[2].kind == SPH_BOUNDARY_NONE ? "true" : "false");
    err |= found->layer[2].kind != SPH_BOUNDARY_NONE || !first->raw || second->raw;
out:
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    sph_boundaries_free(found);
    sph_net_free(net);
    sph_split_free(&split);
    sph_data_free(data);
    return err != 0;
}
