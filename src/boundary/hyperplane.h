/* SPDX-License-Identifier: MIT
 *
 * The hyperplane w x + b = 0 in a layer's input on which a unit switches, in evaluation, with the
 * normalization folded in. The unit is active where w x + b > 0. */
#ifndef SPH_BOUNDARY_HYPERPLANE_H
#define SPH_BOUNDARY_HYPERPLANE_H

#include "net/net.h"

/* Most normalizations give every unit a hyperplane. One that works on each sample (ln) divides by a number of
 * the sample's own, so that a unit has one only where its shift is 0 (srelu: where its shift is the
 * threshold); the other units' w and b are NaN, and so are all of a conv's, whose mean is that of the whole
 * image. A padded conv under a norm at its input (imn) takes the mean off before it pads: its hyperplane lies
 * in the patch as it is then. */
enum hyperplane_kind {
    HYPERPLANE_EXACT,      /* s act(w x + b), srelu but for its thresholds           */
    HYPERPLANE_NONE,       /* no activation: no boundary; w, b and s are NULL        */
    HYPERPLANE_PER_SAMPLE, /* hyperplanes of some units, and of no unit affine       */
    HYPERPLANE_CENTRED     /* a padded conv's: s act(w (x - mean) + b)               */
};

/* One layer's, in f64 whatever the net computes in; x is the layer's input as the net computes it: for the
 * first layer standardised features. conv: a patch, n = cin / groups * kh * kw in that order. A unit with w
 * = 0 has no hyperplane. */
struct hyperplanes {
    size_t layer, m, n;
    enum hyperplane_kind kind;
    double *w;       /* (m, n) effective weight                                                  */
    double *b;       /* (m)    effective bias; srelu: less its left threshold                    */
    double *b_right; /* (m)    srelu: the bias less its right threshold; NULL: another activation */
    double *s;       /* (m)    scale behind the activation                                       */
};

int hyperplanes_new(struct hyperplanes *out, const sph_net *net, size_t layer);

/* The same of any layer, as if it had an activation: what a layer without one computes is s (w x + b). */
int hyperplanes_affine(struct hyperplanes *out, const sph_net *net, size_t layer);
void hyperplanes_free(struct hyperplanes *planes);

/* The angle between two normals, radians, as accurate near 0 and pi as elsewhere; NaN where one is 0. */
double plane_turn(size_t n, const double *w, const double *other);
static const double plane_degrees = 57.295779513082320876798154814105; /* of a radian */

#endif
