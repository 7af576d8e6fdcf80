/* SPDX-License-Identifier: MIT
 *
 * An activation is one row of a table: its learned parameters, its breakpoints, and the operations that it
 * allows. Its two kernels are in compute/activation.c. */
#ifndef SPH_LAYER_ACT_H
#define SPH_LAYER_ACT_H

#include <stddef.h>

#include "spherelu/core.h"

enum { ACT_SHAPES = 4, ACT_BREAKS = 2, ACT_AT_ZERO = -1 };

/* A number that each unit learns, (m) in all; the row's lie one after the other. */
struct act_shape {
    const char *name; /* "act.t_left": the file's name for it after the layer's path */
    double first;     /* value */
    int scales;       /* it is a value of z: if z is multiplied, so is it */
};

struct act_ops {
    const char *name;
    struct act_shape shape[ACT_SHAPES]; /* in the order in which the kernels want them */
    size_t shapes;

    /* Where its slope jumps, from left to right: at one of its shape numbers, or ACT_AT_ZERO. A unit is active
     * right of the first one; without any it has no boundary. */
    int break_at[ACT_BREAKS];
    size_t breaks;

    int identity;    /* act(z) = z: there is no activation                                            */
    int homogeneous; /* act(c z) = c act(z) for c > 0, so that a scale may move from behind it into W */
    int rescales;    /* likewise once the shape has followed                                          */
    int shows_slope; /* act'(z) can be told from act(z), which may take z's place                     */
    int sums_bias;   /* its gradient kernel sums the gradient of a bias on the way                    */
    int is_relu;     /* what products, normalizations and additions can do on the way                 */
    int two_lines;   /* two half lines that meet at 0, slope 1 above                                  */
    double below;    /* the slope of the other, rounded to the dtype                                  */
};

/* The row of an activation; never NULL. */
const struct act_ops *act_ops(sph_act act);

#endif
