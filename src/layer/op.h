/* SPDX-License-Identifier: MIT
 *
 * An op is one pass of a plan over a tile of rows: dense product, normalization, activation, addition. Ops
 * know materialised weights and buffers, nothing of parameterizations, graphs or training.
 *
 * Rows of a batch are independent except where a batch statistic joins them. An op with a join is run over
 * all tiles before join_forward (or, on the way back, join_backward) runs once; then the ops behind it go on,
 * tile by tile. A batch-normalized layer is therefore two ops with a join in between in both directions: one
 * that gathers (forward) and applies the correction (backward), one that applies (forward) and gathers
 * (backward). */
#ifndef SPH_LAYER_OP_H
#define SPH_LAYER_OP_H

#include <stddef.h>

#include "compute/conv.h"
#include "compute/kernels.h"

/* Some consecutive rows of the batch, run by one worker. */
struct tile {
    size_t row, rows; /* first row, number of rows */
    size_t index;     /* of the tile in the batch  */
    size_t worker;
};

/* Rows of one value: of vectors, or of images, whose pixels are rows in turn, one after the other. Images may
 * lie in blocks of ld channels, as oneDNN likes them: then each block of an image is a matrix of its own, and
 * the channels that fill up the last block are 0. Where nothing joins the batch only the rows of the tiles at
 * work exist, one set per worker. */
struct buffer {
    void *data; /* (capacity, blocks, pixels, ld) */
    size_t width, ld;
    size_t pixels; /* 1 for vectors */
    size_t blocks; /* 1 where all channels of a pixel lie side by side */
    int blocked;
    size_t worker_rows; /* > 0: rows of a worker's own set; 0: rows of the whole batch */
    size_t worker_step; /* numbers from a worker's set to the next one's               */
};

/* Numbers from one row (vector or image) to the next. */
static inline size_t buffer_length(const struct buffer *buffer)
{
    return buffer->blocks * buffer->pixels * buffer->ld;
}

static inline void *buffer_at(const struct buffer *buffer, const struct kernels *k, const struct tile *tile)
{
    size_t at = buffer->worker_rows ? tile->worker * buffer->worker_step : tile->row * buffer_length(buffer);
    return (char *)buffer->data + at * k->size;
}

/* Rows of numbers in a tile: all pixels of its images. */
static inline size_t buffer_rows(const struct buffer *buffer, const struct tile *tile)
{
    return tile->rows * buffer->pixels;
}

/* The i-th image of the tile. */
static inline void *buffer_image(const struct buffer *buffer, const struct kernels *k,
                                 const struct tile *tile, size_t i)
{
    return (char *)buffer_at(buffer, k, tile) + i * buffer_length(buffer) * k->size;
}

/* What a per-channel kernel takes at once: all rows of the tile or, of blocked images, a block of one. Loop:
 * for (size_t p = 0; p < buffer_slices(b, tile); p++). */
struct slice {
    size_t rows, width;
    size_t first; /* channel of column 0     */
    size_t image; /* of the tile; 0 unless blocked */
};

static inline size_t buffer_slices(const struct buffer *buffer, const struct tile *tile)
{
    return buffer->blocked ? tile->rows * buffer->blocks : 1;
}

static inline struct slice buffer_slice(const struct buffer *buffer, const struct tile *tile, size_t p)
{
    if (!buffer->blocked)
        return (struct slice){.rows = buffer_rows(buffer, tile), .width = buffer->width};
    size_t first = p % buffer->blocks * buffer->ld, left = buffer->width - first;
    return (struct slice){.rows = buffer->pixels,
                          .width = left < buffer->ld ? left : buffer->ld,
                          .first = first,
                          .image = p / buffer->blocks};
}

/* Where slice p begins, in this buffer or in any other that lies the same way. */
static inline void *slice_at(const struct buffer *buffer, const struct kernels *k, const struct tile *tile,
                             size_t p)
{
    return (char *)buffer_at(buffer, k, tile) + p * buffer->pixels * buffer->ld * k->size;
}

/* The slice's part of an array of one number per channel; NULL stays NULL. */
static inline void *slice_column(const struct slice *slice, const struct kernels *k, const void *array)
{
    return array ? (char *)array + slice->first * k->size : NULL;
}

enum { NORM_TENSORS = 4 }; /* at most, of a normalization */

/* A layer's numbers as its ops see them. */
struct layer_weights {
    size_t m, n;
    void *w; /* (n, m) unit-minor                               */
    size_t ldw;
    void *wt; /* (m, n), where the backward pass or a narrow layer needs it, else NULL */
    size_t ldwt;
    int narrow;               /* few units: products run over wt                 */
    void *b;                  /* (m) or NULL                                     */
    void *s;                  /* (m)                                             */
    int scaled;               /* some s is not 1, or learned                     */
    void *norm[NORM_TENSORS]; /* as the normalization's row has them (norm.h); else NULL */
    const void *
        act_shape; /* as the activation's row has it (act.h), one number of all units after the other; or NULL */
};

/* Gradients of one layer, one set per worker; all accumulate. */
struct layer_grads {
    void *dw; /* (n, m), narrow: (m, n); NULL: nobody wants it, nor db */
    void *db, *ds;
    void *dnorm[NORM_TENSORS]; /* of those it learns */
    void *dshape;
};

/* What the ops of one layer do for each other in this run. net/fusion.c decides it; ops only look. */
struct fused {
    int relu_in_product;    /* the product sets what is negative to 0; the way back is the activation's   */
    int relu_in_norm;       /* the normalization does so in both directions                               */
    int bias_in_norm;       /* the normalization adds the bias and sums its gradient                      */
    int bias_in_act;        /* the activation's way back sums the bias's gradient                         */
    int in_place;           /* the activation's result takes the place of what it reads                   */
    int idle;               /* the activation has nothing to do, forward or back                          */
    const struct op *outer; /* the dense op of one unit that alone reads the activation: the gradient it
                               sends back stays a column and a row, which the activation multiplies; or NULL */
};

struct op;

/* What a kind of op does. prepare and the joins run once, forward and backward once a tile; NULL: nothing. */
struct op_kind {
    void (*prepare)(struct op *op); /* before each run */
    void (*forward)(const struct op *op, const struct tile *tile);
    void (*backward)(const struct op *op, const struct tile *tile);
    void (*join_forward)(const struct op *op, size_t tiles, size_t rows);
    void (*join_backward)(const struct op *op, size_t tiles, size_t rows);
    int back_in, back_out; /* the way back reads in (and in2), reads out */
};

struct norm_ops;   /* norm.h      */
struct norm_state; /* norm_rows.h */

struct dense_op {
    const struct fused *before; /* of the layer that it alone reads, with one unit; or NULL */
};

struct conv_op {
    struct conv **convs; /* (workers) */
};

struct norm_op {
    struct norm_state *state;
    size_t groups; /* of units, where the row has some */
    double epsilon;
};

struct act_op {
    sph_act act;
    const struct op
        *through; /* the normalization before it, whose result is nowhere: it is computed slice by slice,
                                 in each direction, from what in holds; or NULL */
};

struct pool_op {
    struct window window;
    uint32_t *winners; /* max: (rows of out's buffer, out pixels, channels); NULL in evaluation */
};

/* Of a product whose in is not kept: what computes it again, and where to; source NULL: it is kept. */
struct op_again {
    const struct op *source;
    struct buffer *buffer;
};

/* The gradient already holds another consumer's part: add to it. */
struct op_adds {
    int din, din2;
};

struct op {
    const struct op_kind *kind;
    const struct kernels *k;
    const struct layer_weights *weights; /* NULL: the op belongs to no layer                          */
    const struct layer_grads *grads;     /* (workers)                                                 */
    const struct fused *fused;           /* of the layer                                              */
    struct buffer *in, *in2, *out;       /* values                                                    */
    struct buffer *din, *din2;           /* gradient of the inputs, NULL where nobody wants it        */
    struct buffer *dout;                 /* gradient of the output; ops may work in place in it       */
    struct buffer *back_also;            /* another buffer that the way back reads, or NULL           */
    /* Or NULL: slice p of out from in, to y, which lies as a slice of out does; on the way back, too */
    void (*again)(const struct op *op, const struct tile *tile, size_t p, void *y);
    struct op_again in_again;
    struct buffer *work, *back_work; /* room of each worker while the op runs, forward and back: nobody
                                            keeps what is in it; NULL: it needs none                  */
    int back;            /* the way back runs: a gradient behind it is wanted                           */
    struct op_adds add;  /* which gradients are added to                                                */
    struct buffer spare; /* where out lies when it cannot lie where in does (op_act, op_enter)          */
    union {
        struct dense_op dense;
        struct conv_op conv;
        struct norm_op norm;
        struct act_op act;
        struct pool_op pool;
    };
};

/* The product's bias, where it is the product that adds it; and whether it sums the bias's gradient. */
static inline const void *product_bias(const struct op *op)
{
    return op->fused->bias_in_norm ? NULL : op->weights->b;
}

static inline int product_sums_bias(const struct op *op)
{
    return product_bias(op) && !op->fused->bias_in_act && op->grads->dw;
}

/* What the way back of a product reads. */
static inline const void *product_back_in(const struct op *op, const struct tile *tile)
{
    if (!op->in_again.source)
        return buffer_at(op->in, op->k, tile);
    for (size_t p = 0; p < buffer_slices(op->in_again.buffer, tile); p++)
        op->in_again.source->again(op->in_again.source, tile, p,
                                   slice_at(op->in_again.buffer, op->k, tile, p));
    return buffer_at(op->in_again.buffer, op->k, tile);
}

extern const struct op_kind op_dense;
extern const struct op_kind op_conv;
extern const struct op_kind op_enter; /* rows of images into blocks */
void op_enter_again(const struct op *op, const struct tile *tile, size_t p, void *y); /* its `again` */
extern const struct op_kind op_max_pool, op_avg_pool;
extern const struct op_kind op_act;
void op_act_again(const struct op *op, const struct tile *tile, size_t p,
                  void *y);               /* of one that reads through a norm */
extern const struct op_kind op_act_idle;  /* that of a layer whose activation is idle in every run      */
extern const struct op_kind op_act_alone; /* of any node's value, which stays as it is: no scale, no bias */
extern const struct op_kind op_add,
    op_add_relu; /* with the relu behind it                                     */

#endif
