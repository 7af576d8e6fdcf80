/* SPDX-License-Identifier: MIT
 *
 * The numeric kernels: one table per (variant, dtype). Above this room nobody knows whether numbers are f32
 * or f64, nor which instructions the processor has: pointers are `void *` of the table's dtype, and every
 * loop over numbers that runs in a training step is an entry of this table.
 *
 * Variants: "plain" is the oracle, written for the reader; "base", "avx2" and, in f32, "avx512" are the fast
 * twins, the same source compiled for any x86-64 (or ARM), for AVX2+FMA and for AVX-512. Each kernel's file
 * holds the plain twin first, then the fast one.
 *
 * Shapes: matrices are row-major with a leading dimension in elements. Activations are (rows, m), one sample
 * a row. Weights and raw parameters are unit-minor, (n, m): entry i of all m units lies side by side, so that
 * a scan along a unit's n numbers is a vector operation across units. Raw parameters have leading dimension
 * m; plan buffers (weights, activations, their gradients) have a leading dimension that is a multiple of
 * KERNEL_PAD, and a kernel may write the padding of an output row: padding never reaches a real column.
 *
 * "+=" marks accumulating outputs; pointers marked "or NULL" may be NULL. Outputs never alias inputs except
 * where stated. */
#ifndef SPH_COMPUTE_KERNELS_H
#define SPH_COMPUTE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "compute/winograd.h"
#include "spherelu/core.h"

enum { KERNEL_PAD = 16, GROUP_WORK = 3 };

enum { GEMM_SET = 0, GEMM_ADD = 1, GEMM_RELU = 2 };

static inline size_t kernel_pad(size_t columns)
{
    return (columns + KERNEL_PAD - 1) / KERNEL_PAD * KERNEL_PAD;
}

/* A window moving over an image. An image is (height * width, channels), one pixel a row; positions outside
 * it are 0 to convolutions and do not count in pools. */
struct window {
    size_t channels, height, width; /* of the input  */
    size_t kernel_height, kernel_width, stride, pad;
    size_t out_height, out_width;
};

enum { POLAR_CHUNK = 16 };

static inline size_t polar_chunks(size_t n)
{
    return (n - 1 + POLAR_CHUNK - 1) / POLAR_CHUNK;
}

/* y = s * act(z), column j of a row belonging to unit j. */
struct act_args {
    size_t rows, m;
    const void *z; /* (rows, m) */
    size_t ldz;
    const void *s;     /* (m) output scale, or NULL for 1                                    */
    const void *shape; /* srelu: (4, m) t_right, a_right, t_left, a_left; others NULL        */
    size_t ld_shape;   /* of shape and dshape, where these are some columns of more; 0: m    */
    void *y; /* forward: (rows, m). It may be z itself if s is NULL and the activation is not srelu */
    size_t ldy;
    /* backward */
    const void *dy; /* (rows, m) */
    size_t lddy;
    const void *left, *right; /* or, where left is not NULL, dy = left right^T: (rows) ld_left apart, (m)
                                 padded; with db and without ds only */
    size_t ld_left;
    void *dz; /* (rows, m); may be z or dy itself */
    size_t lddz;
    void *db;     /* (m) += dz, the gradient of a bias that was added to z; or NULL. Not for srelu */
    void *ds;     /* (m) += dy * act(z), or NULL  */
    void *dshape; /* (4, m) +=, srelu only        */
};

/* The loss of rows x k predictions and, when dp is not NULL, its gradient. weight = 1 / (rows * outputs) of
 * the whole batch, 1 / rows for ce. Returns the weighted sum, in f64. */
struct loss_args {
    size_t rows, k;
    const void *p; /* (rows, k) predictions or logits */
    size_t ldp;
    const void
        *t; /* (rows, k) targets; ce: (rows, 1) class numbers; bce: 0 or 1; poisson: counts, p log means */
    size_t ldt;
    double weight;
    double smoothing; /* ce: target mass spread evenly over all classes; bce: pulled towards 1/2 likewise;
                         else 0 */
    double delta;     /* huber: where the square ends and the straight line begins */
    void *dp;         /* (rows, k), or NULL */
    size_t lddp;
};

/* The updates there are. */
enum update_kind { UPDATE_ADAM, UPDATE_SGD, UPDATE_RMSPROP, UPDATE_LION, UPDATE_COUNT };

/* One update of a span of learned numbers. Gradients are multiplied by grad_scale first (clipping). What an
 * update does not read may hold anything.
 *
 * Natural directions: a mean of squares (adam, rmsprop) of one number a unit, so that dividing by its root
 * keeps the direction. Then units is not 0, and p, g and the slots are some columns, a unit each, of (count,
 * ld) matrices; the mean, over the unit's numbers, is the first row of its slot, the others are not touched. */
struct update_args {
    size_t count;
    size_t units, ld;
    void *p;       /* (count) learned numbers                                                        */
    const void *g; /* (count) gradient                                                               */
    void *slot[2]; /* (count) each: adam m, v; sgd v; rmsprop v, its momentum or NULL for 0; lion m  */
    double lr, grad_scale;
    double momentum;           /* sgd, rmsprop */
    int nesterov;              /* sgd */
    double beta1;              /* adam, lion */
    double beta2;              /* adam, lion; rmsprop's alpha */
    double epsilon;            /* adam, rmsprop */
    double correct1, correct2; /* adam: 1 - beta1^t, 1 - beta2^t */
    double decay;              /* weight decay: added to g or, decoupled, p -= lr * decay * p first */
    int decoupled;
};

/* The hyperplanes of a layer's units now, against those of the step before. A normalization in evaluation is
 * folded in: gamma (w x - input_mean . w + b - mean) / sqrt(var + epsilon) + beta - threshold. What a layer
 * does not have is NULL; var, gamma and beta go together. A unit without a direction (w = 0, gamma = 0) is
 * NaN in u and offset. */
struct moves_args {
    size_t n, m;
    const void *w; /* (n, m) */
    size_t ldw;
    const void *b;            /* (m) bias, or NULL                                            */
    const void *mean, *var;   /* (m) taken off and divided by behind the bias, or NULL        */
    const void *gamma, *beta; /* (m) or NULL                                                  */
    const void *threshold;    /* (m) where the activation breaks, or NULL for 0               */
    const void *input_mean;   /* (groups, n / area) taken off the input, or NULL              */
    size_t area;              /* numbers of a unit that share an input mean                   */
    size_t groups;            /* of units, in their order, each with means of its own; 1: one */
    double epsilon;
    void *u; /* (n, m) unit normals: of the step before, then of this one           */
    size_t ldu;
    void *offset; /* (m) u x + offset = 0: likewise                                      */
    void *moved;  /* (m) padded, |phi - phi'|^2 of phi = -offset u; -1: undefined        */
    void *turned; /* (m) padded, |u - u'|^2 / |u + u'|^2 = tan^2 of half the turn; likewise */
};

/* Order statistics of some values: the largest and, of each share, the two values that stand around it as
 * numpy places quantiles: share * (count - 1) lies between their positions. NaN where there is no value; a
 * share of one value stands around it twice. */
enum { SPREAD_SHARES = 2 };

struct spread {
    size_t count;
    double most, around[SPREAD_SHARES][2];
};

static const double spread_share[SPREAD_SHARES] = {0.5, 0.9};

static inline size_t spread_below(int share, size_t count)
{
    return (size_t)(spread_share[share] * (double)(count - 1));
}

struct kernels {
    const char *name; /* "plain", "base", "avx2", "avx512" */
    sph_dtype dtype;
    size_t size;  /* bytes of a number */
    size_t lanes; /* numbers of a vector: images lie in blocks of as many or more */

    /* ---- copies */
    void (*to_double)(size_t count, const void *src, double *dst);
    void (*from_double)(size_t count, const double *src, void *dst);
    void (*transpose)(size_t rows, size_t cols, const void *src, size_t lds, void *dst, size_t ldd);
    void (*add)(size_t rows, size_t m, const void *a, size_t lda, void *y, size_t ldy); /* y += a */
    /* y = [relu] (a + b); y may be a or b */
    void (*sum)(size_t rows, size_t m, const void *a, size_t lda, const void *b, size_t ldb, int relu,
                void *y, size_t ldy);
    /* g = dy or, where y is not NULL, dy where y > 0 and 0 elsewhere. da = g, or da += g with add_a; db and
     * add_b likewise. da, db or NULL; one of them may be dy itself, if it is set and not added to */
    void (*sum_grad)(size_t rows, size_t m, const void *y, size_t ldy, const void *dy, size_t lddy, void *da,
                     size_t ldda, int add_a, void *db, size_t lddb, int add_b);
    double (*sum_squares)(size_t count, const void *x); /* in f64 */
    int (*all_finite)(size_t count, const void *x);

    /* ---- matrix products
     * c (rows, cols) = [relu] [c +] a b [+ bias], a (rows, inner) with element (i,p) at a[i*a_row +
     * p*a_step], b (inner, cols) with leading dimension ldb. b, bias and c are padded to KERNEL_PAD columns;
     * c's padding is written. how: GEMM_ADD keeps what c holds, GEMM_RELU sets negative results to 0. */
    void (*gemm)(size_t rows, size_t cols, size_t inner, const void *a, size_t a_row, size_t a_step,
                 const void *b, size_t ldb, void *c, size_t ldc, const void *bias, int how);
    /* z (rows, m) = x (rows, n) . w (m, n) + bias, for small m: a dot product each. */
    void (*dots)(size_t rows, size_t m, size_t n, const void *x, size_t ldx, const void *w, size_t ldw,
                 const void *bias, void *z, size_t ldz);

    /* ---- columns of (n, m): per-unit reductions and combinations */
    void (*column_dots)(size_t n, size_t m, const void *a, size_t lda, const void *b, size_t ldb, void *out);
    /* y[i][j] = alpha[j] a[i][j] + beta[j] b[i][j]; alpha NULL is 1, b NULL drops the second term; y may be a
     * or b */
    void (*column_combine)(size_t n, size_t m, const void *alpha, const void *a, size_t lda, const void *beta,
                           const void *b, size_t ldb, void *y, size_t ldy);
    void (*column_sums)(size_t rows, size_t m, const void *x, size_t ldx, void *sum); /* (m) += */

    /* ---- hyperspherical coordinates, n >= 2
     * w (n, m) = scale[j] u(theta). Kept for the gradient: sine and cosine (n-1, m) or NULL both, and prefix
     * (polar_chunks(n), m), the scale times all sines before angle 0, POLAR_CHUNK, 2 POLAR_CHUNK ... */
    void (*polar)(size_t n, size_t m, const void *theta, const void *scale, void *w, size_t ldw, void *sine,
                  void *cosine, void *prefix);
    /* dtheta (n-1, m) = scale[j] * du/dtheta^T dw; radial (m) = u . dw. theta NULL: sine and cosine were kept.
     * Else they are computed again from it, to the same numbers, and both are room for (POLAR_CHUNK, m) */
    void (*polar_grad)(size_t n, size_t m, const void *theta, void *sine, void *cosine, const void *prefix,
                       const void *dw, size_t lddw, void *dtheta, void *radial);
    /* dtheta (n-1, m) /= M + damping, M the metric of the angles: angle i turns u by the product of the sines
     * before it, and M_i is the square of that. product (m) is scratch. A damping too small for the dtype is
     * its smallest normal number. theta: as above, sine then is room for (2, m). */
    void (*polar_natural)(size_t n, size_t m, const void *theta, void *sine, double damping, void *dtheta,
                          void *product);
    /* ---- arrays of exactly count numbers; results may lie where the arguments do */
    void (*arcs)(size_t count, const void *y, const void *x, void *angle); /* atan2(y, x) */
    void (*sincos)(size_t count, const void *angle, void *sine, void *cosine);

    /* ---- numbers of a unit, (m) each; lambda, b, db and dlambda are NULL in a layer without bias
     * Radius: how r and lambda become the scale of the direction, the bias b and the output scale s. fold:
     * r's size moves into the weight and s keeps its sign, unless r is 0. Returns whether some s is not 1. */
    int (*radius)(size_t m, int fold, const void *r, const void *lambda, void *scale, void *b, void *s);
    /* radial = u . dw; ds counts where r was not folded */
    void (*radius_grad)(size_t m, int fold, const void *r, const void *lambda, const void *radial,
                        const void *db, const void *ds, void *dr, void *dlambda);
    void (*negative_product)(size_t m, const void *a, const void *b, void *y); /* y = -a b */
    /* vv = v . v of the columns of v (n, m). Where that overflowed or vanished, lift (m) is a power of two and vv the
     * square of lift v; elsewhere lift is 1. Returns 0 if no column is lifted; then lift is not written. */
    int (*lift)(size_t n, size_t m, const void *v, void *vv, void *lift);
    /* scale = g / |v| from vv = v . v, 0 where v is 0; g NULL is 1 */
    void (*length)(size_t m, const void *g, const void *vv, void *scale);
    /* vdw = v . dw; dg = vdw / |v|, across = -g vdw / |v|^3: dv = scale dw + across v; 0 where v is 0 */
    void (*length_grad)(size_t m, const void *g, const void *vv, const void *vdw, void *dg, void *across);

    /* ---- boundaries on the move (moves.c) */
    void (*moves)(const struct moves_args *args);
    /* Of two arrays, ld apart, of values as moves leaves them: those that are 0 or more count, the padding is
     * there and does not. */
    void (*spread)(size_t m, const void *values, size_t ld, struct spread out[2]);
    /* The largest of each of the two, negative where no value counts. */
    void (*largest)(size_t m, const void *values, size_t ld, double out[2]);

    /* ---- activations, by sph_act */
    void (*act[SPH_ACT_COUNT])(const struct act_args *args);
    void (*act_grad[SPH_ACT_COUNT])(const struct act_args *args);

    /* ---- normalizations
     * mean (m) and m2 (m) = sum (x - mean)^2 of these rows, two passes. */
    void (*moments)(size_t rows, size_t m, const void *x, size_t ldx, void *mean, void *m2);
    /* y = x + shift[j]; y may be x */
    void (*shift)(size_t rows, size_t m, const void *x, size_t ldx, const void *shift, void *y, size_t ldy);
    /* y = [relu] ((z - mean[j]) * scale[j] + shift[j]); y may be z */
    void (*normalize)(size_t rows, size_t m, const void *z, size_t ldz, const void *mean, const void *scale,
                      const void *shift, int relu, void *y, size_t ldy);
    /* g = dy or, with relu, 0 where the result of normalize, computed again and the same to the bit, is not
     * > 0; scale and shift count only then. sum_dy (m) += g, sum_dyz (m) += g * (z - mean[j]) */
    void (*normalize_sums)(size_t rows, size_t m, const void *dy, size_t lddy, const void *z, size_t ldz,
                           const void *mean, const void *scale, const void *shift, int relu, void *sum_dy,
                           void *sum_dyz);
    /* dz = factor[j] * g + across[j] * (z - mean[j]) + offset[j], g as above; dz may be dy or z */
    void (*normalize_grad)(size_t rows, size_t m, const void *dy, size_t lddy, const void *z, size_t ldz,
                           const void *mean, const void *scale, const void *shift, int relu,
                           const void *factor, const void *across, const void *offset, void *dz, size_t lddz);
    /* Per row and group of m / groups columns: z becomes xhat, inv (rows, groups) = 1/sqrt(var + epsilon),
     * y = gamma xhat + beta. One group is layer normalization; of several work has (GROUP_WORK, kernel_pad(m) +
     * KERNEL_PAD) numbers. */
    void (*group_norm)(size_t rows, size_t m, size_t groups, void *z, size_t ldz, double epsilon,
                       const void *gamma, const void *beta, void *inv, void *work, void *y, size_t ldy);
    /* dgamma, dbeta (m) +=; dz may be dy or xhat */
    void (*group_norm_grad)(size_t rows, size_t m, size_t groups, const void *dy, size_t lddy,
                            const void *xhat, size_t ldx, const void *inv, const void *gamma, void *dgamma,
                            void *dbeta, void *work, void *dz, size_t lddz);

    /* ---- images, one at a time: x (height * width, channels), y (out_height * out_width, ...)
     * patches (out pixels, channels * kernel area), columns in the order (channel, row, column) of a weight
     */
    void (*patches)(const struct window *window, const void *x, size_t ldx, void *patches, size_t ldp);
    void (*patches_grad)(const struct window *window, const void *dpatches, size_t ldp, void *dx,
                         size_t lddx); /* += */
    /* index (out pixels, channels): the input pixel that won, the first of equals; a NaN wins. Or NULL */
    void (*max_pool)(const struct window *window, const void *x, size_t ldx, void *y, size_t ldy,
                     uint32_t *index);
    void (*max_pool_grad)(const struct window *window, const void *dy, size_t lddy, const uint32_t *index,
                          void *dx, size_t lddx); /* += */
    /* The mean over the whole window, zeros outside the image included (PyTorch's count_include_pad). */
    void (*avg_pool)(const struct window *window, const void *x, size_t ldx, void *y, size_t ldy);
    void (*avg_pool_grad)(const struct window *window, const void *dy, size_t lddy, void *dx,
                          size_t lddx); /* += */
    /* Layer normalization of an image: over all its pixels and channels, scale and shift per channel. z
     * becomes xhat. Here an image lies in blocks of ld channels, (blocks, pixels, ld): channel c of pixel p
     * stands at ((c / ld) * pixels + p) * ld + c % ld, which is one matrix where ld >= channels. */
    void (*image_norm)(size_t pixels, size_t channels, void *z, size_t ldz, double epsilon, const void *gamma,
                       const void *beta, void *inv, void *y, size_t ldy);
    /* dgamma, dbeta (channels) +=; dz may be dy or xhat */
    void (*image_norm_grad)(size_t pixels, size_t channels, const void *dy, size_t lddy, const void *xhat,
                            size_t ldx, const void *inv, const void *gamma, void *dgamma, void *dbeta,
                            void *dz, size_t lddz);

    /* ---- depthwise convolutions, one image at a time: unit c reads channel c alone, w (kernel area, ldw)
     * y = [relu] (w * x [+ bias]), bias (channels) or NULL. What fills up the rows of y becomes 0. */
    void (*depthwise)(const struct window *window, const void *x, size_t ldx, const void *w, size_t ldw,
                      const void *bias, int relu, void *y, size_t ldy);
    /* dx = or, with add, +=. What fills up the rows of dx becomes 0 or, with add, stays. */
    void (*depthwise_data)(const struct window *window, const void *dy, size_t lddy, const void *w,
                           size_t ldw, int add, void *dx, size_t lddx);
    void (*depthwise_weights)(const struct window *window, const void *x, size_t ldx, const void *dy,
                              size_t lddy, void *dw, size_t ldw); /* (kernel area, ldw) += */

    /* ---- 3x3 convolutions by Winograd's algorithm (winograd.h); NULL in f64 and in the plain tables
     * bytes of scratch for a call of winograd, or with gradient of winograd_weights */
    size_t (*winograd_scratch)(const struct winograd_args *args, int gradient);
    void (*winograd)(const struct winograd_args *args);
    void (*winograd_weights)(const struct winograd_args *args);

    /* ---- losses, by sph_loss; updates, by update_kind */
    double (*loss[SPH_LOSS_COUNT])(const struct loss_args *args);
    void (*update[UPDATE_COUNT])(const struct update_args *args);
};

enum kernel_choice { KERNELS_FASTEST, KERNELS_PLAIN, KERNELS_BASE, KERNELS_AVX2 };

/* The table for this processor; never NULL. KERNELS_AVX2: the fastest but for AVX-512. */
const struct kernels *kernels_pick(sph_dtype dtype, enum kernel_choice choice);

/* leaky_relu below 0, rounded to the dtype. */
#define LEAKY_SLOPE 0.01

/* srelu's four numbers per unit, in this order, each (m): y = t_right + a_right (z - t_right) for z >=
 * t_right, t_left + a_left (z - t_left) for z <= t_left, z between. Gradients are with respect to each. */
enum { SRELU_T_RIGHT, SRELU_A_RIGHT, SRELU_T_LEFT, SRELU_A_LEFT, SRELU_SHAPE };

#endif
