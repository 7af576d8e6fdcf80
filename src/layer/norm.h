/* SPDX-License-Identifier: MIT
 *
 * A normalization is one row of a table, as a parameterization is (param/param.h): what it learns and keeps,
 * where it stands, its passes, and what it is in evaluation, where boundaries and conversions look at it.
 * Each row is a file, norm_*.c; whoever works with layers asks the row and knows no normalization by name.
 *
 * A layer is [norm at the input] product [norm behind it] activation [norm at the output]. A batch statistic takes two ops, one
 * that gathers and one that applies (op.h); what works on each row by itself takes the second only. */
#ifndef SPH_LAYER_NORM_H
#define SPH_LAYER_NORM_H

#include "layer/op.h"

/* Added to a variance before its root is taken, unless a layer says otherwise; as PyTorch has it. */
static const double norm_epsilon = 1e-5;

enum norm_extent { NORM_UNITS, NORM_CHANNELS }; /* a number for each unit, or channel of the layer's input */

struct norm_tensor {
    const char *name; /* "norm.scale": the file's name for it after the layer's path */
    int learned;      /* else a running statistic                                    */
    enum norm_extent extent;
    double first;     /* value */
    int not_negative; /* what a file gives is held to it */
};

/* The ways a result can lie. */
enum norm_result {
    NORM_IN_PLACE,
    NORM_APART_IN_TRAINING, /* the way back reads what was normalized            */
    NORM_APART              /* what was normalized changes under the hand, too   */
};

/* How it runs: by running statistics; by those of the batch; by running ones that stay, with a way back (a frozen
 * layer in training: batch statistics only, others run as in training). */
enum norm_how { NORM_EVALUATE, NORM_TRAIN, NORM_STILL };

/* What the ops of a row share from run to run. */
struct norm_room {
    const struct kernels *k;
    size_t width;  /* columns of what is normalized                                   */
    size_t groups; /* 1 or more */
    size_t rows;   /* of the largest batch                                            */
    size_t shares; /* most tiles of a batch or, of blocked images, most images        */
    size_t workers;
    double momentum;
    double epsilon;
    sph_variance variance;
};
int norm_state_new(struct norm_state **out, const struct norm_ops *row, const struct norm_room *room);
void norm_state_free(struct norm_state *state);

/* A second layer reads the same normalized input in training and keeps the same running statistics. */
void norm_state_share(struct norm_state *state, const struct layer_weights *also);

/* One layer's normalization in f64: what boundaries and conversions work on. */
struct norm_values {
    double *tensor[NORM_TENSORS]; /* as the row's, (m) or (channels); NULL where it has none */
    size_t m, n;                  /* units, inputs of a unit                                 */
    size_t area;                  /* inputs of a unit that share a channel                   */
    size_t groups;                /* of units, which read channels of their own; 1: none     */
    size_t norm_groups;           /* of units that are normalized together; 1: all           */
    double epsilon;
};

/* The channel that input i of unit j is of. */
static inline size_t norm_channel(const struct norm_values *norm, size_t j, size_t i)
{
    return (j / (norm->m / norm->groups) * norm->n + i) / norm->area;
}

struct norm_ops {
    const char *name;
    struct norm_tensor tensor[NORM_TENSORS];
    size_t tensors;

    int grouped;       /* its layers say into how many groups their units fall */
    int at_input;      /* stands before the product, on what the layer reads                            */
    int at_output;     /* stands behind the activation: its first tensor is taken off there             */
    int batch;         /* training looks at the whole batch, evaluation at running statistics           */
    int per_sample;    /* joins the units of a sample and divides by a number of its own: no unit is affine */
    int standardizes;  /* per_sample: to mean 0 and variance 1, as ONNX is told  */
    int divides;       /* by a root below which an epsilon is added                                     */
    int replaces_bias; /* its shift is the layer's bias                                                 */
    int adds_bias;     /* the bias comes behind it, in its own pass                                     */
    int takes_relu;    /* a relu behind it runs in its passes, both ways                                */
    size_t row_numbers;  /* numbers that it keeps for each group of a row on the way back                 */
    size_t work, work64; /* arrays of its width that each worker needs, of the dtype and in f64 */
    enum norm_result result;

    /* ---- passes: each sets op->kind. gather: training of a batch statistic only */
    void (*gather)(struct op *op);
    void (*apply)(struct op *op, enum norm_how how);
    /* Or NULL: the `again` of the op that applies (op.h), which need not apply anything then: op->out may be NULL */
    void (*again)(const struct op *op, const struct tile *tile, size_t p, void *y);

    /* ---- evaluation. NULL: there is nothing to do
     * The activation of unit j sees w x + b: what that is once the norm is part of w (n) and b. */
    void (*fold)(const struct norm_values *norm, size_t j, double *w, double *b);
    /* per_sample, instead: all units' w (m, n) and b (m) before the division, which changes no sign, and the
     * shift (m) behind it; NULL: it has none */
    const double *(*fold_sample)(const struct norm_values *norm, double *w, double *b);
    /* The same for boundaries on the move: where compute finds what to fold in. */
    void (*moves)(const void *const tensor[NORM_TENSORS], struct moves_args *out);

    /* ---- conversion
     * Towards a radius it becomes part of w and b, unless it is to be kept. */
    int folds_away;
    /* What the activation of unit j sees is multiplied by factor. 1: done behind the norm; 0: the caller
     * multiplies w and b, and statistics of w x have followed */
    int (*scale)(const struct norm_values *norm, size_t j, double factor);
    /* Unit j's w becomes w / length while nothing behind the norm changes; -1: it cannot, why says so */
    int (*shorten)(const struct norm_values *norm, size_t j, double length, char *why, size_t size);
    /* Unit j's w is 0: its tensors alone make the constant that it puts out */
    void (*hold)(const struct norm_values *norm, size_t j);
    /* w x of unit j is less than it was by part: a statistic takes it. NULL: the bias does */
    void (*take_sum)(const struct norm_values *norm, size_t j, double part);
    /* at_input: channel i of what the layer reads was x and is factor (x - constant) */
    void (*take_input)(const struct norm_values *norm, size_t i, double factor, double constant);
};

/* The row of a normalization; never NULL. That of none has no tensors and no passes. */
const struct norm_ops *norm_ops(sph_norm norm);

/* The same, imn's at its place. */
const struct norm_ops *norm_ops_at(sph_norm norm, sph_imn_place place);

/* Numbers of a row's tensor in a layer of m units that reads so many channels. */
static inline size_t norm_length(const struct norm_tensor *tensor, size_t m, size_t channels)
{
    return tensor->extent == NORM_UNITS ? m : channels;
}

/* Whether it stands between product and activation. */
static inline int norm_between(const struct norm_ops *row)
{
    return row->apply && !row->at_input && !row->at_output;
}

#endif
