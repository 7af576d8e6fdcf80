/* SPDX-License-Identifier: MIT
 *
 * Perturbed networks (Theorem 3.7), and one perturbed unit of each method (Figure 1). */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same sign for the same number of every method. */
static double sign_of(unsigned seed, size_t i)
{
    uint32_t h = (uint32_t)i * 2654435761u ^ seed * 2246822519u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    return seed && (h & 0x1000) ? -1 : 1;
}

/* eps is added to every learned number of the tensor, or taken away where seed says so; a unit vector stays one. */
static int shake_tensor(sph_net *net, const sph_tensor *tensor, double eps, unsigned seed)
{
    double *value = malloc(tensor->count * sizeof *value);
    int err = value ? sph_net_get(net, tensor->name, value, tensor->count) : SPH_EMEMORY;
    size_t length = strlen(tensor->name);
    int unit = length > 2 && !strcmp(tensor->name + length - 2, ".u");
    for (size_t i = 0; !err && i < tensor->count; i++)
        value[i] += eps * sign_of(seed, i);
    if (!err && unit) {
        size_t n = tensor->shape[1];
        for (size_t j = 0; j < tensor->shape[0]; j++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += value[j * n + i] * value[j * n + i];
            for (size_t i = 0; i < n && sum > 0; i++)
                value[j * n + i] /= sqrt(sum);
        }
    }
    if (!err)
        err = sph_net_set(net, tensor->name, value, tensor->count);
    free(value);
    return err;
}

/* mean, scale <- those of an input over the training rows, as the net standardises it */
static void moments_of(size_t input, size_t n, double *mean, double *scale)
{
    const double *x = sph_data_x(world.data) + input;
    size_t rows = world.split.train_rows;
    double sum = 0, squares = 0;
    *mean = 0;
    *scale = 1;
    if (world.opts.standardize == SPH_STANDARDIZE_OFF)
        return;
    for (size_t r = 0; r < rows; r++)
        sum += x[world.split.train[r] * n];
    *mean = sum / (double)rows;
    for (size_t r = 0; r < rows; r++)
        squares += pow(x[world.split.train[r] * n] - *mean, 2);
    *scale = squares > 0 ? sqrt(squares / (double)rows) : 1;
}

/* bn: running statistics of the first layer <- those of the training rows, as further steps would find them. */
static int renew_statistics(sph_net *net)
{
    size_t n, rows = world.split.train_rows, m;
    const double *x = sph_data_x(world.data);
    m = sph_net_layer(net, 0, &n)->units;
    double *w = malloc(m * n * sizeof *w), *mean = malloc(m * sizeof *mean), *var = malloc(m * sizeof *var);
    int err = w && mean && var ? sph_net_weight(net, 0, w, NULL, NULL) : SPH_EMEMORY;
    for (size_t j = 0; !err && j < m; j++) {
        double sum = 0, squares = 0, shift[2] = {0}, factor[2] = {0};
        for (size_t i = 0; i < n && i < 2; i++) {
            double middle, scale;
            moments_of(i, n, &middle, &scale);
            shift[i] = -middle / scale * w[j * n + i];
            factor[i] = w[j * n + i] / scale;
        }
        for (size_t r = 0; r < rows; r++) {
            double z = 0;
            for (size_t i = 0; i < n && i < 2; i++)
                z += factor[i] * x[world.split.train[r] * n + i] + shift[i];
            sum += z;
            squares += z * z;
        }
        mean[j] = sum / (double)rows;
        var[j] = fmax(squares / (double)rows - mean[j] * mean[j], 0);
    }
    if (!err && !(err = sph_net_set(net, "layers.0.norm.mean", mean, m)))
        err = sph_net_set(net, "layers.0.norm.var", var, m);
    free(w);
    free(mean);
    free(var);
    return err;
}

/* The largest turn of a unit of the first layer, in radians, in the input as the net computes it. */
static double turn_between(const sph_net *a, const sph_net *b)
{
    sph_boundaries *first = NULL, *second = NULL;
    double most = (double)NAN;
    if (!sph_boundaries_new(&first, a, 0, 0, NULL, NULL, 0) &&
        !sph_boundaries_new(&second, b, 0, 0, NULL, NULL, 0) && first->layer[0].direction &&
        second->layer[0].direction) {
        size_t n = first->layer[0].n;
        for (size_t j = 0; j < first->layer[0].m; j++) {
            double away = 0, along = 0; /* |u - v| and |u + v|: half the angle has their ratio as tangent */
            for (size_t i = 0; i < n; i++) {
                double u = first->layer[0].direction[j * n + i], v = second->layer[0].direction[j * n + i];
                away += (u - v) * (u - v);
                along += (u + v) * (u + v);
            }
            most = fmax(most, 2 * atan2(sqrt(away), sqrt(along)));
        }
    }
    sph_boundaries_free(first);
    sph_boundaries_free(second);
    return most;
}

/* A copy of the network with eps on every learned number of its hidden layers. out (m, 6) <- its lines as pg_lines has them;
 * turn (2) <- the largest turn in radians, and its bound by Theorem 3.7, |eps| times the root of the number of angles; NaN:
 * the method has no bound. Returns m. */
EXPORT int pg_shake(int k, double eps, unsigned seed, double *out, double *turn)
{
    const sph_net *net = world.method[k].net;
    size_t n, last = sph_net_layers(net) - 1;
    const sph_layer *layer = sph_net_layer(net, 0, &n), *output = sph_net_layer(net, last, NULL);
    size_t head = strlen(output->path);
    sph_net *copy = NULL;
    int err = sph_net_copy(&copy, net);
    for (size_t i = 0; !err && i < sph_net_tensors(net); i++) {
        sph_tensor tensor;
        err = sph_net_tensor(net, i, &tensor);
        if (!err && tensor.learned && strncmp(tensor.name, output->path, head) != 0)
            err = shake_tensor(copy, &tensor, eps, seed);
    }
    if (!err && layer->norm == SPH_NORM_BN)
        err = renew_statistics(copy);
    turn[0] = err ? (double)NAN : turn_between(net, copy);
    turn[1] = layer->param == SPH_PARAM_GMP      ? fabs(eps) * sqrt((double)n - 1)
              : layer->param == SPH_PARAM_SPHERE ? fabs(eps) * sqrt((double)n)
                                                 : (double)NAN;
    int units = err ? err : lines_of(copy, 0, out);
    sph_net_free(copy);
    return units;
}

/* One unit as in Figure 1: base and perturbed boundary of SP, WN, BN, LN and GmP, which all begin with the same one.
 * out (5, 8) <- w (2), b, w (2), b after eps, turn in degrees, shift. */
EXPORT int pg_figure1(double eps, double length, unsigned seed, double *out)
{
    sph_perturb_opts opts;
    sph_perturb_result result;
    sph_perturb_defaults(&opts);
    opts.eps = &eps;
    opts.count = 1;
    opts.length = length;
    opts.seed = seed;
    int err = sph_perturb(&result, &opts);
    if (err < 0)
        return err;
    for (size_t i = 0; i < result.methods; i++, out += 8) {
        const sph_perturb_plane *base = &result.method[i].base, *after = result.method[i].after;
        const double row[] = {base->w[0],  base->w[1], base->b,     after->w[0],
                              after->w[1], after->b,   after->turn, after->shift};
        memcpy(out, row, sizeof row);
    }
    int methods = (int)result.methods;
    sph_perturb_free(&result);
    return methods;
}
