/* SPDX-License-Identifier: MIT
 *
 * Where units switch: boundaries, their motion, perturbations and theory, linear regions. */
#ifndef SPHERELU_BOUNDARY_H
#define SPHERELU_BOUNDARY_H

#include "spherelu/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- boundaries
 * A unit switches where w x + b = 0, in evaluation, x being the input of its layer and w, b its weight and
 * bias with the normalization folded in. Undefined (|w| = 0, or nothing to fold) is NaN, never a number. */

/* One layer: m units of n inputs, conv n = cin / groups * kh * kw in that order. A data point is a row, of a
 * conv each patch of a row; its sides and distances are those of the forward pass as the net computes it. */
typedef struct sph_boundary {
    size_t layer, m, n;
    const char *path; /* borrowed from the net */
    sph_boundary_kind kind;
    int raw;              /* 1: in the units of the data, standardisation undone; 0: as the net computes */
    uint64_t points;      /* data points looked at                                                     */
    double *direction;    /* (m, n) w / |w|, pointing to the active side                               */
    double *norm;         /* (m) |w|                                                                   */
    double *offset;       /* (m) b / |w|: the signed distance of the origin; srelu: at its left break  */
    double *offset_right; /* (m) srelu: at its right break; NULL: another activation                  */
    double *phi;          /* (m, n) the point of the boundary that is nearest to the origin            */
    double *phi_net;      /* (m, n) raw: the one nearest to the origin of the standardised input, which is the
                             data's mean, in raw units: what figures draw; NULL: not raw, the same as phi.
                             Clipped features (SPH_SCALE_ROBUST) leave raw 0, as the boundary is a hyperplane
                             only in what the net takes, and this point in raw units, NaN beyond the clip */
    double *active_share; /* (m) of the data points on the active side, 0 to 1; NaN without data       */
    double *nearest;      /* (m) distance of the data point nearest to the boundary                    */
    double *pole;         /* (m) gmp, n > 2: smallest |sin theta_k|, k < n-1; 0 is a pole              */
    sph_unit_state *state; /* (m)                                                                      */
} sph_boundary;

typedef struct sph_boundaries {
    size_t count;
    sph_boundary *layer; /* (count) */
} sph_boundaries;

#define SPH_EVERY_LAYER ((size_t)-1)

/* raw 1: layers that read the net's input are given in the units of the data, the others as ever. rows:
 * (count) of data to look at; NULL: all of them. data NULL: no data points. */
SPH_API int sph_boundaries_new(sph_boundaries **out, const sph_net *net, size_t layer, int raw,
                               const sph_data *data, const uint32_t *rows, size_t count);
SPH_API void sph_boundaries_free(sph_boundaries *boundaries);

/* ---- on the move: an observer that follows every boundary from step to step, in the layer's input as the
 * net computes it. One tracker belongs to one net; it remembers the step before, and no more. */
typedef struct sph_tracker sph_tracker;

typedef struct sph_spread {
    double max, median, p90; /* largest, median and 90 %; NaN without units */
} sph_spread;

/* How the units of a layer moved in a step: over those that had a boundary before and have one after it.
 * Moves are squared on the way: in an f32 net those above 1.8e19 are inf. A unit whose weights stay moves and
 * turns by exactly 0, one of a single input turns by 0 or by pi; weights that change in length alone turn by
 * their rounding, about 1e-7 in an f32 net. */
typedef struct sph_motion {
    size_t units;    /* how many those are; one at infinity may count in turn alone */
    sph_spread move; /* of |phi_t - phi_{t-1}|                                      */
    sph_spread turn; /* of the angle between the normals, radians, 0 to pi          */
} sph_motion;

SPH_API int sph_tracker_new(sph_tracker **out, const sph_net *net);
SPH_API void sph_tracker_free(sph_tracker *tracker);
SPH_API void sph_tracker_observer(sph_tracker *tracker, sph_observer *out);

/* The last step's; NaN before the first. 1, or 0: its units have no boundaries (no activation), or none that
 * last (ln). A later observer of the same step may call it. */
SPH_API int sph_tracker_layer(const sph_tracker *tracker, size_t layer, sph_motion *out);

/* ---------------------------------------------------------------- perturbation and theory
 * What happens to one unit's boundary w^T x + b = 0 when eps is added to each of its learned numbers, under
 * SP, WN, BN, LN and GmP. All five begin with the same boundary. */

typedef struct sph_perturb_opts {
    size_t size;       /* set by sph_perturb_defaults                                                     */
    size_t inputs;     /* n, 2 or more                                                                    */
    const double *w;   /* (n) base weight; NULL: a uniform direction by seed, of the length below         */
    double length;     /* of w of SP, BN and LN, of v of WN; the papers' code draws it near 1e-3          */
    double distance;   /* of the boundary from the origin, away from w: phi = -distance w / |w|           */
    const double *eps; /* (count)                                                                         */
    size_t count;      /* of eps                                                                          */
    size_t rows;       /* BN: of the batch its mean and variance are taken of, standard normal numbers    */
    size_t units;      /* LN: of the layer, this one included                                             */
    uint64_t seed;     /* of all that is drawn                                                            */
} sph_perturb_opts;

/* n 2, length 1e-3, distance 1, eps 1e-4, 1e-3, 1e-2, 1e-1, a batch of 256 rows, a layer of 8 units. */
#define sph_perturb_defaults(out) sph_perturb_defaults_sized(out, sizeof *(out))
SPH_API void sph_perturb_defaults_sized(sph_perturb_opts *out, size_t size);

/* A boundary. Borrowed from the result. */
typedef struct sph_perturb_plane {
    const double *w;   /* (n) effective weight, the normalization folded in by the statistics of the batch */
    const double *phi; /* (n) the boundary's point nearest to the origin                                   */
    double b;          /* effective bias                                                                   */
    double eps;        /* what was added; 0 in the base                                                    */
    double turn;       /* degrees from the base's direction: signed in two dimensions, counter-clockwise
                          above 0; else 0 to 180. NaN where w is 0: there is no boundary                   */
    double shift;      /* |phi - phi of the base|; NaN likewise                                            */
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
    void *memory; /* of all that is borrowed */
} sph_perturb_result;

/* Refuses lengths, distances and eps above 1e150, whose squares are no numbers. */
SPH_API int sph_perturb(sph_perturb_result *out, const sph_perturb_opts *opts);
SPH_API void sph_perturb_free(sph_perturb_result *result);

/* ---------------------------------------------------------------- regions
 * On a plane of its input a dense net of relu or leaky_relu layers is affine in each of the convex polygons
 * that the boundaries of all its units cut the plane into. They are found by subdivision, exactly but for
 * rounding: nothing thinner than 1e-12 of the window is cut off, whoever would cut it. bn, mbn and imn are
 * part of the weights, by their running statistics; ln, elu, srelu and images are refused. */

typedef struct sph_regions sph_regions;

typedef struct sph_regions_opts {
    size_t size; /* sizeof(sph_regions_opts) */
    /* The plane x = origin + s first + t second, in the data's own units, (inputs) each. All NULL: the input
     * itself, (s, t) of a net with 2 inputs, s of a net with 1, whose regions are the strips above its
     * intervals: with a window of height 1 their areas are lengths. */
    const double *origin, *first, *second;
    double window[4]; /* s from, s to, t from, t to; all 0: -1, 1, -1, 1           */
    sph_task task;    /* binary, classes: where the decision changes is found too  */
    size_t most;      /* regions: more are a failure; 0: a million                 */
    void *self;
    sph_progress_call *progress; /* done: regions; share: of the area; NULL: none */
} sph_regions_opts;

/* The plane through three points (inputs) each: origin is a; first and second, which the caller has room for,
 * are of length 1 and at right angles in standardised units, so that s and t measure distance as the net sees
 * it; window: the box of the three points and a tenth more on each side. Points on one line are refused. */
SPH_API int sph_plane_through(const sph_net *net, const double *a, const double *b, const double *c,
                              double *origin, double *first, double *second, double window[4]);

/* When progress asks to stop, the call succeeds with the regions found so far, and sph_regions_total.stopped
 * is set. A net whose values in the window are beyond finite numbers is refused. */
SPH_API int sph_regions_new(sph_regions **out, const sph_net *net, const sph_regions_opts *opts);
SPH_API void sph_regions_free(sph_regions *regions);

typedef struct sph_region {
    const double *vertex;   /* (vertices, 2) s and t, anticlockwise                                       */
    size_t vertices;        /* 3 or more                                                                  */
    double area;            /* in units of s times units of t                                             */
    const uint8_t *pattern; /* a bit per unit, 1 where it is active: see sph_regions_layer                */
    const double *map;      /* (outputs, 3) an output is map[0] s + map[1] t + map[2], in its own units   */
} sph_region;

SPH_API int sph_regions_at(const sph_regions *regions, size_t i, sph_region *out); /* borrowed */

/* A layer with an activation. Its bits of a pattern begin at a byte of their own, unit 0 the highest bit of
 * that byte (numpy.unpackbits reads them). */
typedef struct sph_regions_layer {
    const char *path;
    size_t units;
    size_t byte;    /* of a pattern                                       */
    size_t regions; /* that this layer and those before it cut the window into */
} sph_regions_layer;

SPH_API int sph_regions_layer_at(const sph_regions *regions, size_t k, sph_regions_layer *out);

/* A piece of the line between two classes (of one logit: 0 and 1), inside a region or along its edge. */
typedef struct sph_segment {
    double from[2], to[2];
    size_t low, high; /* classes */
    size_t region;
} sph_segment;

SPH_API size_t sph_regions_segments(const sph_regions *regions, const sph_segment **out); /* borrowed */

/* A piece of the boundary of one unit: there it switches, and the regions on its two sides differ in its bit. All pieces
 * of a unit together are its boundary in the window, a straight line in the first layer and a bent one behind it. Units
 * whose scale is 0 have none. */
typedef struct sph_edge {
    double from[2], to[2]; /* its active side lies to the left of the way */
    size_t layer;          /* as in sph_regions_layer_at */
    size_t unit;
} sph_edge;

SPH_API size_t sph_regions_edges(const sph_regions *regions, const sph_edge **out); /* borrowed */

typedef struct sph_regions_total {
    size_t regions, layers, segments; /* how many there are */
    sph_task task;
    int stopped;                    /* progress asked: regions are missing                      */
    double area, largest, smallest; /* areas of all regions, of one region                      */
    double length;                  /* of the decision boundary; NaN where there is no decision */
} sph_regions_total;

SPH_API void sph_regions_sum(const sph_regions *regions, sph_regions_total *out);

#ifdef __cplusplus
}
#endif

#endif
