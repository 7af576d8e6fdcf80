/* SPDX-License-Identifier: MIT
 *
 * Boundaries of units, their motion, perturbations and theory, linear regions. */
#ifndef SPHERELU_BOUNDARY_H
#define SPHERELU_BOUNDARY_H

#include "spherelu/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- boundaries
 * The boundary of a unit is w x + b = 0 in evaluation, where x is the input of its layer and w, b are its weight and
 * bias with the normalization folded in. Undefined values (|w| = 0, or norms that cannot be folded) are NaN. */

/* One layer: m units of n inputs, conv n = cin / groups * kh * kw in that order. A data point is a row, or for a
 * conv each patch of a row; sides and distances are those of the net's forward pass. */
typedef struct sph_boundary {
    size_t layer, m, n;
    const char *path; /* borrowed from the net */
    sph_boundary_kind kind;
    int raw;              /* 1: in the units of the data, before standardization; 0: as the net computes */
    uint64_t points;      /* number of data points                                                     */
    double *direction;    /* (m, n) w / |w|, pointing to the active side                               */
    double *norm;         /* (m) |w|                                                                   */
    double *offset;       /* (m) b / |w|: the signed distance of the origin; srelu: at its left kink   */
    double *offset_right; /* (m) srelu: at its right kink; NULL: other activations                    */
    double *phi;          /* (m, n) the point of the boundary that is nearest to the origin            */
    double *phi_net;      /* (m, n) raw: the one nearest to the origin of the standardised input, which is the
                             data's mean, in raw units: what figures draw; NULL: not raw, the same as phi.
                             Clipped features (SPH_SCALE_ROBUST) leave raw 0, as the boundary is a hyperplane
                             only in what the net takes, and this point in raw units, NaN beyond the clip */
    double *active_share; /* (m) share of data points on the active side, 0 to 1; NaN without data     */
    double *nearest;      /* (m) distance of the data point nearest to the boundary                    */
    double *pole;         /* (m) gmp, n > 2: smallest |sin theta_k|, k < n-1; 0 is a pole              */
    sph_unit_state *state; /* (m)                                                                      */
} sph_boundary;

typedef struct sph_boundaries {
    size_t count;
    sph_boundary *layer; /* (count) */
} sph_boundaries;

#define SPH_EVERY_LAYER ((size_t)-1)

/* raw 1: layers that read the net's input are in the units of the data, the others as the net computes. rows:
 * (count) rows of data to use; NULL: all of them. data NULL: no data points. */
SPH_API int sph_boundaries_new(sph_boundaries **out, const sph_net *net, size_t layer, int raw,
                               const sph_data *data, const uint32_t *rows, size_t count);
SPH_API void sph_boundaries_free(sph_boundaries *boundaries);

/* ---- motion: an observer that follows every boundary from step to step, in the layer's input as the
 * net computes it. One tracker belongs to one net; it stores only the previous step. */
typedef struct sph_tracker sph_tracker;

typedef struct sph_spread {
    double max, median, p90; /* largest, median and 90 %; NaN without units */
} sph_spread;

/* Motion of the units of a layer in a step, over units with a boundary before and after it.
 * Moves are squared in the computation: in an f32 net those above 1.8e19 are inf. A unit with unchanged weights moves and
 * turns by exactly 0; a unit with one input turns by 0 or pi. If only the length of the weights changes, the turn is
 * the rounding error, about 1e-7 in an f32 net. */
typedef struct sph_motion {
    size_t units;    /* number of these; a unit at infinity may count only in turn  */
    sph_spread move; /* of |phi_t - phi_{t-1}|                                      */
    sph_spread turn; /* of the angle between the normals, radians, 0 to pi          */
} sph_motion;

SPH_API int sph_tracker_new(sph_tracker **out, const sph_net *net);
SPH_API void sph_tracker_free(sph_tracker *tracker);
SPH_API void sph_tracker_observer(sph_tracker *tracker, sph_observer *out);

/* Motion in the last step; NaN before the first. Returns 1, or 0 if its units have no boundaries (no activation), or no
 * fixed ones (ln). A later observer of the same step may call it. */
SPH_API int sph_tracker_layer(const sph_tracker *tracker, size_t layer, sph_motion *out);

/* The largest move and turn of all layers in the last step; NaN before the first, and for a net without boundaries. Faster than
 * sph_tracker_layer, which sorts. */
SPH_API int sph_tracker_largest(const sph_tracker *tracker, double *move, double *turn);

/* ---------------------------------------------------------------- perturbation and theory
 * The change of one unit's boundary w^T x + b = 0 when eps is added to each of its parameters, under
 * SP, WN, BN, LN and GmP. All five have the same boundary before. */

typedef struct sph_perturb_opts {
    size_t size;       /* set by sph_perturb_defaults                                                     */
    size_t inputs;     /* n, 2 or more                                                                    */
    const double *w;   /* (n) base weight; NULL: a uniform direction by seed, of the length below         */
    double length;     /* of w in SP, BN and LN, of v in WN; near 1e-3 in the papers' code                */
    double distance;   /* of the boundary from the origin: phi = -distance w / |w|                        */
    const double *eps; /* (count)                                                                         */
    size_t count;      /* of eps                                                                          */
    size_t rows;       /* BN: of the batch of standard normal values that gives mean and variance         */
    size_t units;      /* LN: of the layer, this one included                                             */
    uint64_t seed;     /* random seed                                                                     */
} sph_perturb_opts;

/* n 2, length 1e-3, distance 1, eps 1e-4, 1e-3, 1e-2, 1e-1, a batch of 256 rows, a layer of 8 units. */
#define sph_perturb_defaults(out) sph_perturb_defaults_sized(out, sizeof *(out))
SPH_API void sph_perturb_defaults_sized(sph_perturb_opts *out, size_t size);

/* A boundary. Borrowed from the result. */
typedef struct sph_perturb_plane {
    const double *w;   /* (n) effective weight, with the normalization of the batch folded in              */
    const double *phi; /* (n) the boundary's point nearest to the origin                                   */
    double b;          /* effective bias                                                                   */
    double eps;        /* the added value; 0 in the base                                                   */
    double turn;       /* degrees from the base's direction: signed in two dimensions, counter-clockwise
                          above 0; otherwise 0 to 180. NaN if w is 0 (no boundary)                         */
    double shift;      /* |phi - phi of the base|; NaN if w is 0                                           */
} sph_perturb_plane;

typedef struct sph_perturb_tensor {
    const char *name;    /* "w", "theta", "gamma", ...           */
    const double *value; /* (count) base values                  */
    size_t count;
    int perturbed; /* eps was added to each of them        */
} sph_perturb_tensor;

typedef struct sph_perturb_method {
    const char *name;                 /* "SP", "WN", "BN", "LN", "GmP" */
    const char *unit;                 /* the formula */
    const sph_perturb_tensor *tensor; /* (tensors) */
    size_t tensors;
    sph_perturb_plane base;
    const sph_perturb_plane *after; /* (count) one per eps */
} sph_perturb_method;

typedef struct sph_perturb_result {
    size_t inputs, count;
    const sph_perturb_method *method; /* (methods) */
    size_t methods;
    void *memory; /* owns all borrowed arrays */
} sph_perturb_result;

/* Lengths, distances and eps above 1e150 are an error, because their squares overflow. */
SPH_API int sph_perturb(sph_perturb_result *out, const sph_perturb_opts *opts);
SPH_API void sph_perturb_free(sph_perturb_result *result);

/* ---------------------------------------------------------------- regions
 * On a plane of its input, a dense net of relu or leaky_relu layers is affine in each of the convex polygons
 * into which the boundaries of all units cut the plane. They are computed by subdivision, exact up to
 * rounding: parts thinner than 1e-12 of the window are not cut off. The running statistics of bn, mbn and imn are
 * folded into the weights; ln, elu, srelu and images are not supported. */

typedef struct sph_regions sph_regions;

typedef struct sph_regions_opts {
    size_t size; /* sizeof(sph_regions_opts) */
    /* The plane x = origin + s first + t second, in data units, (inputs) each. All NULL: the input
     * itself, (s, t) of a net with 2 inputs, s of a net with 1 input, whose regions are strips above
     * intervals: with a window of height 1 their areas are lengths. */
    const double *origin, *first, *second;
    double window[4]; /* s from, s to, t from, t to; all 0: -1, 1, -1, 1           */
    sph_task task;    /* binary, classes: also compute the decision boundary        */
    size_t most;      /* maximum number of regions; 0: a million                   */
    void *self;
    sph_progress_call *progress; /* done: regions; share: of the area; NULL: none */
} sph_regions_opts;

/* The plane through three points (inputs) each: origin is a; first and second, memory of the caller,
 * have length 1 and are orthogonal in standardized units, so that s and t measure distance in the net's
 * input; window: the range of the three points extended by 10 % on each side. Points on one line are an error. */
SPH_API int sph_plane_through(const sph_net *net, const double *a, const double *b, const double *c,
                              double *origin, double *first, double *second, double window[4]);

/* When progress asks to stop, the call succeeds with the regions found so far, and sph_regions_total.stopped
 * is set. If values in the window overflow, the call fails. */
SPH_API int sph_regions_new(sph_regions **out, const sph_net *net, const sph_regions_opts *opts);
SPH_API void sph_regions_free(sph_regions *regions);

typedef struct sph_region {
    const double *vertex;   /* (vertices, 2) s and t, anticlockwise                                       */
    size_t vertices;        /* 3 or more                                                                  */
    double area;            /* in units of s times units of t                                             */
    const uint8_t *pattern; /* a bit per unit, 1 where it is active: see sph_regions_layer                */
    const double *map;      /* (outputs, 3) an output is map[0] s + map[1] t + map[2], in target units    */
} sph_region;

SPH_API int sph_regions_at(const sph_regions *regions, size_t i, sph_region *out); /* borrowed */

/* A layer with an activation. Its bits in a pattern begin at a new byte; unit 0 is the highest bit of
 * that byte (as in numpy.unpackbits). */
typedef struct sph_regions_layer {
    char path[96];
    size_t units;
    size_t byte;    /* of a pattern                                       */
    size_t regions; /* that this layer and those before it cut the window into */
} sph_regions_layer;

/* A piece of the line between two classes (of one logit: 0 and 1), inside a region or along its edge. */
typedef struct sph_segment {
    double from[2], to[2];
    size_t low, high; /* classes */
    size_t region;
} sph_segment;

/* A piece of the boundary of one unit; the regions on its two sides differ in the bit of this unit. All pieces
 * of a unit together are its boundary in the window, a straight line in the first layer and a bent one in later layers. Units
 * whose scale is 0 have none. */
typedef struct sph_edge {
    double from[2], to[2]; /* the active side is on the left             */
    size_t layer;          /* its place in sph_regions_total.layer */
    size_t unit;
} sph_edge;

/* Everything but the regions themselves. The arrays are borrowed. */
typedef struct sph_regions_total {
    size_t regions, layers, segments, edges; /* numbers of each                                 */
    const sph_regions_layer *layer;          /* (layers) those with an activation               */
    const sph_segment *segment;              /* (segments) the decision boundary                */
    const sph_edge *edge;                    /* (edges) the boundaries of all units             */
    sph_task task;
    int stopped;                    /* stopped by progress: regions are missing                 */
    double area, largest, smallest; /* areas of all regions, of one region                      */
    double length;                  /* of the decision boundary; NaN without a decision         */
} sph_regions_total;

SPH_API void sph_regions_sum(const sph_regions *regions, sph_regions_total *out);

#ifdef __cplusplus
}
#endif

#endif
