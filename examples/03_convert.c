/* SPDX-License-Identifier: MIT
 *
 * The same function in other coordinates: SP -> GmP -> SP, and GmP with random signs of r -> SP. */
#include <math.h>
#include <stdio.h>

#include <spherelu.h>

enum { INPUTS = 5, HIDDEN = 30, OUTPUTS = 2, ROWS = 100 };

static double x[ROWS * INPUTS];

/* The largest difference between two nets' outputs, or NAN. */
static double difference(sph_net *a, sph_net *b)
{
    double y[2][ROWS * OUTPUTS], largest = 0;
    if (sph_net_forward(a, x, ROWS, y[0]) < 0 || sph_net_forward(b, x, ROWS, y[1]) < 0)
        return NAN;
    for (int i = 0; i < ROWS * OUTPUTS; i++)
        largest = fmax(largest, fabs(y[0][i] - y[1][i]));
    return largest;
}

static int agree(const char *what, double off)
{
    printf("  %-36s outputs differ by %s\n", what, off < 1e-12 ? "less than 1e-12" : "too much");
    return off < 1e-12 ? 0 : 1;
}

/* Some r negative, as training at large rates leaves them. */
static int set_signs(sph_net *net, const char *name)
{
    double r[HIDDEN];
    if (sph_net_get(net, name, r, HIDDEN) < 0)
        return -1;
    for (int j = 0; j < HIDDEN; j++)
        r[j] = (j * 7 % 3 ? 1 : -1) * (0.2 + j * 11 % 13 / 10.0);
    return sph_net_set(net, name, r, HIDDEN);
}

int main(void)
{
    sph_net *sp = NULL, *gmp = NULL, *back = NULL, *copy = NULL;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = SPH_F64,
                    .inputs = INPUTS,
                    .outputs = OUTPUTS,
                    .hidden = (size_t[]){HIDDEN, HIDDEN},
                    .depth = 2,
                    .param = SPH_PARAM_SP,
                    .act = SPH_ACT_RELU,
                    .seed = 1};
    int err, bad = 0;
    for (int i = 0; i < ROWS * INPUTS; i++)
        x[i] = sin(1.7 * i);

    if ((err = sph_net_mlp(&sp, &spec)) < 0 || (err = sph_net_convert(&gmp, sp, SPH_PARAM_GMP, 0)) < 0 ||
        (err = sph_net_convert(&back, gmp, SPH_PARAM_SP, 0)) < 0)
        goto out;
    printf("SP -> GmP -> SP, a net of %zu learned numbers\n", sph_net_learned(sp));
    bad += agree("SP and GmP", difference(sp, gmp));
    bad += agree("SP and SP again", difference(sp, back));

    /* relu(|r| z) = |r| relu(z) lets the size of r move into the weight. Its sign goes on to the weights that
     * read the unit: the next layer. strict = 1 would refuse if it could not. */
    sph_net_free(back);
    back = NULL;
    if ((err = set_signs(gmp, "layers.0.r")) < 0 || (err = set_signs(gmp, "layers.1.r")) < 0 ||
        (err = sph_net_convert(&back, gmp, SPH_PARAM_SP, 1)) < 0)
        goto out;
    printf("GmP with a third of r negative -> SP\n");
    bad += agree("GmP and SP", difference(gmp, back));
    bad += !(difference(sp, back) > 0.01); /* it is another function now */

    /* Under elu, which is not homogeneous, r cannot move: conversion says so and names the unit. */
    spec.act = SPH_ACT_ELU;
    spec.param = SPH_PARAM_GMP;
    sph_net_free(gmp);
    gmp = NULL;
    if ((err = sph_net_mlp(&gmp, &spec)) < 0 || (err = set_signs(gmp, "layers.0.r")) < 0)
        goto out;
    int refused = sph_net_convert(&copy, gmp, SPH_PARAM_SP, 0);
    printf("elu: %s\n", sph_error());
    bad += refused != SPH_EFORMAT;
out:
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    sph_net_free(sp);
    sph_net_free(gmp);
    sph_net_free(back);
    sph_net_free(copy);
    return err < 0 || bad;
}
