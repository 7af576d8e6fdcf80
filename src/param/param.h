/* SPDX-License-Identifier: MIT
 *
 * The heart: a parameterization is one row of a table. It says how a layer's weight W (m units of n inputs),
 * bias b and output scale s come from raw, learned numbers, and how gradients go back. A layer computes s *
 * act(norm(W x + b)) and sees W, b and s only, so every layer kind works under every parameterization.
 *
 * In a step everything lies unit-minor, (n, m), and passes through the kernel table. Drawing and converting
 * happen rarely: they run in f64, one unit at a time, on plain (m, n) matrices. */
#ifndef SPH_PARAM_PARAM_H
#define SPH_PARAM_PARAM_H

#include <stddef.h>

#include "base/random.h"
#include "compute/kernels.h"
#include "spherelu/core.h"

struct param_shape {
    size_t m, n;            /* units, inputs of a unit; conv: n = cin / groups * kh * kw */
    size_t fan_in, fan_out; /* what initialisations count; conv: of one group, times the kernel's area */
    size_t filters;         /* units of one group: fan_out without the area */
    size_t area;            /* inputs of a unit that share a channel; conv: kh * kw */
    sph_angle_order order;  /* in which its inputs take coordinates that depend on it (theta's) */
    int has_bias;           /* 0 under batch normalization, whose shift is one */
    int fold; /* r may move into W and b: the activation is homogeneous, no norm stands between */
};

enum { PARAM_TENSORS = 3 };

/* How many numbers a raw tensor has for each unit. */
enum param_extent { PARAM_WEIGHTS, PARAM_ANGLES, PARAM_ONE };

struct param_tensor {
    const char *name; /* "theta": the file's name for it after the layer's path */
    sph_group group;
    enum param_extent extent;
    int is_bias;   /* absent when the shape has no bias                    */
    int is_length; /* the weight's length grows with it: first values may be scaled by it */
    int decays;    /* weight decay touches it, unless a group says otherwise */
    int is_unit;   /* the numbers of a unit are a vector of length 1 */
};

/* One layer's numbers in a step, in the dtype of the kernel table. */
struct param_step {
    const struct kernels *k;
    struct param_shape shape;
    void *raw[PARAM_TENSORS];  /* as the row's tensors: (n, m), (n-1, m) or (m); NULL for an absent bias */
    void *draw[PARAM_TENSORS]; /* their gradients                                                        */
    const void *sign;          /* (m) fixed directions when n = 1 and the row needs them, else NULL      */
    void *scratch;             /* scratch_len numbers, kept from to_weight to pull_grad                  */

    void *w; /* (n, m) leading dimension ldw */
    size_t ldw;
    void *b;    /* (m), NULL without bias */
    void *s;    /* (m) */
    int scaled; /* to_weight: some s is not 1, or learned */
    int lifted; /* to_weight: the square of some unit's v leaves the range of numbers (wn) */

    const void *dw; /* (n, m) leading dimension ldw */
    const void *db; /* (m) */
    const void *ds; /* (m), only counted where scaled */
};

struct param_ops {
    const char *name;
    struct param_tensor tensor[PARAM_TENSORS];
    size_t tensors;
    int has_sign;        /* a one-input unit's direction is a constant of the layer */
    int may_be_output;   /* an output layer is of it where that is asked for; it is plain else */
    int raw_is_weight;   /* tensor 0 is W: where nothing has to be padded w is raw[0] and dw is draw[0] */
    sph_init first_init; /* what SPH_INIT_DEFAULT means */

    size_t (*scratch_len)(const struct param_shape *shape);
    void (*to_weight)(struct param_step *step);  /* w, b, s <- raw: once per step   */
    void (*pull_grad)(struct param_step *step);  /* draw <- dw, db, ds: once per step */
    void (*after_step)(struct param_step *step); /* or NULL: back onto the manifold  */

    /* Natural directions, between pull_grad and the optimizer: draw[0] becomes the natural gradient, divided
     * by the metric of its coordinates plus a damping. NULL: the row's coordinates are not those of a
     * direction alone or, where is_natural, they are orthonormal and the gradient is the natural one. */
    void (*natural)(struct param_step *step, double damping);
    int is_natural;

    /* One unit and back: its n + 1 or so numbers in the order of the tensors, theta or v or u consecutive.
     * to_unit gives s * act(w x + b) where rows with a radius have |w| = 1 and s = r, the others s = 1. */
    void (*from_unit)(size_t n, const double *w /* (n) */, double b, double *unit[PARAM_TENSORS],
                      double *sign);
    void (*to_unit)(size_t n, const double *const unit[PARAM_TENSORS], const double *sign,
                    double *w /* (n) */, double *b, double *s);

    /* How far a unit is from a place where its coordinates break down, 0 (there) to 1; NaN: there is no such
     * place at this n. NULL: nowhere. */
    double (*pole)(size_t n, const double *const unit[PARAM_TENSORS]);
};

/* The row of a parameterization; never NULL. */
const struct param_ops *param_ops(sph_param param);

/* Whether units of the row have a scale r of their own, behind the activation. */
int param_has_radius(sph_param param);

/* What an output layer becomes when a net is converted: it is plain and stays as it is; what was built
 * otherwise follows the hidden layers. */
sph_param param_of_output(sph_param from, sph_param to);

/* Which tensor of the row belongs to a group, or is its bias; -1: none. */
int param_find_group(const struct param_ops *ops, sph_group group);
int param_find_bias(const struct param_ops *ops);

/* Numbers of a row's tensor for one unit, 0 for an absent bias. */
size_t param_per_unit(const struct param_ops *ops, size_t tensor, const struct param_shape *shape);

/* Where the numbers of one layer lie in f64, (m, per_unit) each: how they look in a file. */
struct param_values {
    double *raw[PARAM_TENSORS]; /* NULL where absent */
    double *sign;               /* (m) or NULL */
};

/* Draws first values. init must fit the row (paper only where there is a radius). */
int param_init(const struct param_ops *ops, const struct param_shape *shape, sph_init init, struct rng *rng,
               struct param_values *out);

/* raw <- w (m, n), b (m, or NULL): exact for homogeneous activations. A zero row gets length or r 0, offset
 * 0; callers take care of its constant act(b). */
int param_from_weight(const struct param_ops *ops, const struct param_shape *shape, const double *w,
                      const double *b, struct param_values *out);

/* w (m, n), b (m), s (m) <- raw. */
int param_to_weight(const struct param_ops *ops, const struct param_shape *shape,
                    const struct param_values *values, double *w, double *b, double *s);

/* pole (m) <- raw, for rows that have such places. */
void param_poles(const struct param_ops *ops, const struct param_shape *shape,
                 const struct param_values *values, double *pole);

/* Whether the row's coordinates see the inputs in another order than W has them. */
int param_reorders(const struct param_ops *ops, const struct param_shape *shape);

/* Where W has the input that is the i-th to take a coordinate. */
static inline size_t param_input(const struct param_shape *shape, size_t i)
{
    size_t channels = shape->n / shape->area;
    return i % channels * shape->area + i / channels;
}

/* |w|, without overflow or loss. */
double param_length(size_t n, const double *w);

#endif
