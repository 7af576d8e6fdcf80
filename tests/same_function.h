/* SPDX-License-Identifier: MIT
 *
 * Whether two nets are the same function, and conversions that must or must not work. */
#ifndef TESTS_SAME_FUNCTION_H
#define TESTS_SAME_FUNCTION_H

#include "layer/norm.h"
#include "random_net.h"

enum { ROWS = 40 };

static int has_radius(sph_param param)
{
    return param == SPH_PARAM_GMP || param == SPH_PARAM_SPHERE;
}

static double *outputs_of(sph_net *net)
{
    size_t n = sph_net_inputs(net), m = sph_net_outputs(net);
    double *x = calloc(ROWS * n, sizeof *x), *y = calloc(ROWS * m, sizeof *y);
    struct rng rng = rng_stream(5, RNG_NOISE, 9);
    for (size_t i = 0; i < ROWS * n; i++)
        x[i] = 2 * rng_normal(&rng);
    assert_int_equal(sph_net_forward(net, x, ROWS, y), 0);
    free(x);
    return y;
}

/* The largest difference of outputs, over their largest size. */
static double distance(sph_net *a, sph_net *b)
{
    double *ya = outputs_of(a), *yb = outputs_of(b), off = 0, size = 0;
    for (size_t i = 0; i < ROWS * sph_net_outputs(a); i++) {
        assert_true(isfinite(ya[i]) && isfinite(yb[i]));
        off = fmax(off, fabs(ya[i] - yb[i]));
        size = fmax(size, fabs(ya[i]));
    }
    free(ya);
    free(yb);
    return off > 0 ? off / size : 0;
}

static sph_net *converted_with(const sph_net *net, sph_param to, int flags)
{
    sph_net *out = NULL;
    if (sph_net_convert(&out, net, to, flags))
        fail_msg("to %d, flags %d: %s", (int)to, flags, sph_error());
    return out;
}

__attribute__((unused)) static sph_net *converted(const sph_net *net, sph_param to)
{
    return converted_with(net, to, 0);
}

/* bn becomes part of the weights. */
static int folds(sph_norm norm, sph_param to, int flags)
{
    return norm == SPH_NORM_BN && has_radius(to) && !(flags & SPH_CONVERT_KEEP_BN);
}

/* Whether a random net of this kind can be converted at all: elu lets no length pass but bn's, ln and gn none. */
__attribute__((unused)) static int convertible(sph_param from, sph_norm norm, sph_act act, sph_param to,
                                               int flags)
{
    if (folds(norm, to, flags))
        return act != SPH_ACT_ELU;
    if (has_radius(from) == has_radius(to))
        return 1;
    if (has_radius(to))
        return !norm_ops(norm)->per_sample && (act != SPH_ACT_ELU || norm == SPH_NORM_BN);
    return act != SPH_ACT_ELU;
}

static void check_same(sph_net *a, sph_net *b)
{
    double off = distance(a, b), tolerance = sph_net_dtype(a) == SPH_F64 ? 1e-12 : 1e-5;
    if (!(off <= tolerance))
        fail_msg("outputs differ by %g", off);
}

/* key: the layer and its unit, or how it begins. */
__attribute__((unused)) static void refuses(const sph_net *net, sph_param to, int flags, const char *key)
{
    sph_net *out = NULL;
    assert_int_equal(sph_net_convert(&out, net, to, flags), SPH_EFORMAT);
    assert_null(out);
    if (strncmp(sph_failure()->key, key, strlen(key)) != 0)
        fail_msg("key \"%s\", expected \"%s\": %s", sph_failure()->key, key, sph_error());
}

#endif
