/* SPDX-License-Identifier: MIT */
#include "train/place.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { STEEP_OF = 8, PLACE_LANE = 1 << 20 };

struct place {
    size_t rows, targets;
    size_t n;  /* numbers of a row of h */
    double *h; /* (rows, n) inputs of the layer at work */
    double *y; /* (rows, targets) */
    struct rng rng;
};

static size_t any_row(struct place *p)
{
    return (size_t)(rng_unit(&p->rng) * (double)p->rows);
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double distance(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Two rows that are not at the same place, of some such pairs the one with the steepest target. 0: none was found. */
static int find_pair(struct place *p, int tries, size_t pair[2])
{
    double best = -1;
    for (int t = 0; t < tries; t++)
        for (int again = 0; again < 100; again++) {
            size_t a = any_row(p), b = any_row(p);
            double far = distance(p->n, p->h + a * p->n, p->h + b * p->n);
            if (!(far > 1e-6))
                continue;
            double steep = distance(p->targets, p->y + a * p->targets, p->y + b * p->targets) / far;
            if (steep > best) {
                best = steep;
                pair[0] = a;
                pair[1] = b;
            }
            break;
        }
    return best >= 0;
}

static void place_unit(struct place *p, sph_init init, double *w, double *b)
{
    size_t n = p->n, pair[2];
    if (init == SPH_INIT_THROUGH) {
        *b = -dot(n, w, p->h + any_row(p) * n);
        return;
    }
    if (!find_pair(p, init == SPH_INIT_STEEP ? STEEP_OF : 1, pair))
        return;
    const double *from = p->h + pair[0] * n, *to = p->h + pair[1] * n;
    double length = sqrt(dot(n, w, w)), apart = distance(n, from, to);
    *b = 0;
    for (size_t i = 0; i < n; i++) {
        w[i] = length * (to[i] - from[i]) / apart;
        *b -= w[i] * (to[i] + from[i]) / 2;
    }
}

/* h <- relu(w h + b) */
static int advance(struct place *p, size_t m, const double *w, const double *b)
{
    double *next = mem_get(p->rows * m, sizeof *next);
    if (!next)
        return SPH_EMEMORY;
    for (size_t row = 0; row < p->rows; row++)
        for (size_t j = 0; j < m; j++)
            next[row * m + j] = fmax(0, dot(p->n, w + j * p->n, p->h + row * p->n) + b[j]);
    mem_free(p->h);
    p->h = next;
    p->n = m;
    return 0;
}

static int place_layer(sph_net *net, size_t l, struct place *p)
{
    const struct net_layer *layer = &net->layers[l];
    size_t m = layer->shape.m, n = layer->shape.n;
    struct param_values values;
    if (n != p->n || layer->spec.act != SPH_ACT_RELU || layer->spec.norm != SPH_NORM_NONE)
        return sph_fail_key(SPH_EARG, "init", "%s is not a plain layer with relu", layer->path);
    int err = net_layer_values(net, l, &values);
    if (err < 0)
        return err;
    double *w = mem_get(m * (n + 2), sizeof *w), *b = w + m * n, *s = b + m;
    err = w ? param_to_weight(layer->ops, &layer->shape, &values, w, b, s) : SPH_EMEMORY;
    for (size_t j = 0; !err && j < m; j++) {
        for (size_t i = 0; i < n; i++)
            w[j * n + i] *= s[j];
        place_unit(p, layer->spec.init, w + j * n, b + j);
    }
    if (!err)
        err = param_from_weight(layer->ops, &layer->shape, w, b, &values);
    if (!err)
        net_set_layer_values(net, l, &values);
    if (!err)
        err = advance(p, m, w, b);
    net_values_free(&values);
    mem_free(w);
    return err;
}

static int fetch_rows(const sph_net *net, const struct source *train, struct place *p)
{
    size_t ldx = net_row_length(net), ldy = kernel_pad(train->targets), size = net->k->size,
           rows = train->rows;
    char *x = mem_get(rows * (ldx + ldy), size), *y = x + rows * ldx * size;
    uint32_t *order = mem_get(rows, sizeof *order);
    p->h = mem_get(rows * p->n, sizeof *p->h);
    p->y = mem_get(rows * p->targets, sizeof *p->y);
    int err = x && order && p->h && p->y ? 0 : SPH_EMEMORY;
    for (size_t i = 0; !err && i < rows; i++)
        order[i] = (uint32_t)i;
    if (!err)
        err = train->fetch(train->self, order, rows, x, ldx, y, ldy);
    for (size_t i = 0; !err && i < rows; i++) {
        net->k->to_double(p->n, x + i * ldx * size, p->h + i * p->n);
        net->k->to_double(p->targets, y + i * ldy * size, p->y + i * p->targets);
    }
    mem_free(x);
    mem_free(order);
    return err;
}

int place_boundaries(sph_net *net, const struct source *train, uint64_t seed)
{
    sph_init init = net->layers[0].spec.init;
    if (init != SPH_INIT_THROUGH && init != SPH_INIT_PAIRS && init != SPH_INIT_STEEP &&
        !(init == SPH_INIT_DEFAULT && net->layers[0].ops->first_init == SPH_INIT_THROUGH))
        return 0;
    struct place p = {.rows = train->rows,
                      .targets = train->targets,
                      .n = sph_net_inputs(net),
                      .rng = rng_stream(seed, RNG_INIT, PLACE_LANE)};
    int err = fetch_rows(net, train, &p);
    for (size_t l = 0; !err && l + 1 < net->layer_count; l++)
        err = place_layer(net, l, &p);
    mem_free(p.h);
    mem_free(p.y);
    return err;
}
