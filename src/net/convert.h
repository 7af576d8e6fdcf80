/* SPDX-License-Identifier: MIT
 *
 * The inside of a conversion. Every layer is brought to one form, s * act(norm(w x + b)) in f64, where gmp
 * and sphere have w = u, b = lambda, s = r; there its units are rescaled until the target can hold them: |w|
 * = 1 for gmp and sphere, s = +-1 for sp and wn. What a unit cannot keep moves on to the layers that read it.
 */
#ifndef SPH_NET_CONVERT_H
#define SPH_NET_CONVERT_H

#include "net/net.h"

struct form {
    const struct net_layer *from;
    sph_param to;
    const struct norm_ops *norm; /* from's, or that of none once it is folded */
    struct norm_values normed;   /* its numbers                               */
    int signs;                   /* the converted layer keeps s as PATH.r     */
    int rewrite;                 /* w is no longer what from has              */
    struct param_values values;  /* as from has them                          */
    double *memory;              /* owns the rest                             */
    double *w;                   /* (m, n) */
    double *b, *s;               /* (m)    */
    double *shape;               /* as the activation's row has it */
};

struct conversion {
    const sph_net *net;
    struct form *form; /* (layers) */
    int strict;
};

/* "layers.0 unit 3: why", SPH_EARG. (convert.c) */
int convert_refuse(const struct form *form, size_t unit, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The normalization becomes part of w and b, by its running statistics. (convert_unit.c) */
void convert_fold_norm(struct form *form);

/* One unit: |w| <- 1, or s <- +-1. (convert_unit.c) */
int convert_to_direction(struct conversion *c, struct form *form, size_t j);
int convert_to_sign(struct form *form, size_t j);

/* z <- factor * z, where z is what act sees: homogeneous activations and srelu pass it on. (convert_unit.c)
 */
void convert_scale_unit(struct form *form, size_t j, double factor);

/* What stands in the way of moving something of the layer's output into the weights that read it; NULL:
 * nothing. A sign passes zero padding, a constant does not, unless a norm at the input takes it before.
 * (convert_reader.c) */
const char *convert_blocked(const struct conversion *c, const struct form *form, int constant);

/* Unit j of a layer that is not blocked always puts out `constant`: its readers' biases take it.
 * (convert_reader.c) */
void convert_move_constant(struct conversion *c, const struct form *form, size_t j, double constant);

/* Moves what is negative of s into the unit or into the weights that read it; else it stays as PATH.r.
 * (convert_reader.c) */
int convert_fold_signs(struct conversion *c, struct form *form);

/* The node whose values reach node through average pools alone. (convert_reader.c) */
int convert_behind_averages(const sph_net *net, int node);

#endif
