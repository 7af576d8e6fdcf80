/* SPDX-License-Identifier: MIT
 *
 * A normalization is one row of a table, like a parameterization (param/param.h). The row describes its tensors, its
 * position in the layer, its passes in training, and its form in evaluation, which boundaries and conversions use.
 * Each row has its own file, norm_*.c. Other code asks the row and never compares the name of a normalization.
 *
 * A layer is [norm at the input] product [norm after it] activation [norm at the output]. A normalization with batch
 * statistics needs two ops: one gathers, one applies (op.h). A normalization of single samples needs only the second. */
#ifndef SPH_LAYER_NORM_H
#define SPH_LAYER_NORM_H

#include "comm/comm.h"
#include "layer/op.h"

/* Default of the epsilon added to a variance, as in PyTorch. */
static const double norm_epsilon = 1e-5;

enum norm_extent { NORM_UNITS, NORM_CHANNELS }; /* one value per unit, or per channel of the input */

struct norm_tensor {
    const char *name; /* name in files, after the layer's path */
    int learned;      /* 0: a running statistic */
    enum norm_extent extent;
    double first;     /* initial value */
    int not_negative; /* a file with negative values is refused */
};

/* The buffer that receives the result. */
enum norm_result {
    NORM_IN_PLACE,
    NORM_APART_IN_TRAINING, /* backward reads the input of the normalization */
    NORM_APART              /* the pass overwrites its input (xhat for z), in evaluation too */
};

/* EVALUATE uses running statistics. TRAIN uses those of the batch. STILL uses running statistics but has a
 * backward pass; it is for frozen layers with batch statistics. */
enum norm_how { NORM_EVALUATE, NORM_TRAIN, NORM_STILL };

/* Sizes and settings of the memory that the ops of a row keep between runs. */
struct norm_room {
    const struct kernels *k;
    size_t width;  /* columns of the normalized matrix */
    size_t groups; /* 1 or more */
    size_t rows;   /* rows of the largest batch */
    size_t shares; /* largest number of tiles in a batch; for blocked images, of images */
    size_t workers;
    double momentum;
    double epsilon;
    sph_variance variance;
    const struct comm *comm; /* ranks whose rows share a batch statistic, borrowed; NULL: this one's alone */
};
int norm_state_new(struct norm_state **out, const struct norm_ops *row, const struct norm_room *room);
void norm_state_free(struct norm_state *state);

/* Adds a second layer that reads the same normalized input in training and keeps a copy of the running
 * statistics. */
void norm_state_share(struct norm_state *state, const struct layer_weights *also);

/* One layer's normalization in f64, as boundaries and conversions use it. */
struct norm_values {
    double *tensor[NORM_TENSORS]; /* one per tensor of the row, (m) or (channels); NULL: absent */
    size_t m, n;                  /* units, inputs of a unit */
    size_t area;                  /* inputs of a unit that share a channel */
    size_t groups;                /* of the product: units of a group read its own channels; 1: all */
    size_t norm_groups;           /* of units that are normalized together; 1: all units */
    double epsilon;
};

/* The channel that input i of unit j belongs to. */
static inline size_t norm_channel(const struct norm_values *norm, size_t j, size_t i)
{
    return (j / (norm->m / norm->groups) * norm->n + i) / norm->area;
}

struct norm_ops {
    const char *name;
    struct norm_tensor tensor[NORM_TENSORS];
    size_t tensors;

    int grouped;   /* has a number of groups per layer */
    int at_input;  /* applies to the layer's input, before the product */
    int at_output; /* applies after the activation; subtracts its first tensor */
    int batch;     /* uses the whole batch in training, running statistics in evaluation */
    int per_sample; /* couples the units of a sample and divides by the sample's deviation: no unit is affine */
    int standardizes;    /* per_sample: result has mean 0 and variance 1; selects the ONNX operator */
    int divides;         /* divides by sqrt(variance + epsilon) */
    int replaces_bias;   /* its shift is the layer's bias */
    int adds_bias;       /* adds the bias itself, after the normalization */
    int takes_relu;      /* runs a relu that follows it in its own passes */
    size_t row_numbers;  /* values kept per row and group for the backward pass */
    size_t work, work64; /* arrays of length `width` per worker, in the dtype and in f64 */
    enum norm_result result;

    /* ---- passes: each sets op->kind. gather: only for batch statistics in training */
    void (*gather)(struct op *op);
    void (*apply)(struct op *op, enum norm_how how);
    /* Or NULL. The `again` of the op that applies (op.h): recomputes the result, so op->out may be NULL */
    void (*again)(const struct op *op, const struct tile *tile, size_t p, void *y);

    /* ---- evaluation. NULL: nothing to do
     * The activation of unit j sees w x + b. fold changes w (n) and b so that they include the normalization. */
    void (*fold)(const struct norm_values *norm, size_t j, double *w, double *b);
    /* For per_sample instead of fold: replaces w (m, n) and b (m) by those of the layer before the division,
     * which changes no sign, and returns the shift (m) added after it, or NULL for none */
    const double *(*fold_sample)(const struct norm_values *norm, double *w, double *b);
    /* The same for moving boundaries: gives compute the tensors to fold in. */
    void (*moves)(const void *const tensor[NORM_TENSORS], struct moves_args *out);

    /* ---- conversion
     * Whether a conversion to a parameterization with a radius folds it into w and b unless the user keeps it. */
    int folds_away;
    /* Multiplies by `factor` what the activation of unit j sees. Returns 1 if its own tensors were changed; 0
     * if the caller has to multiply w and b, where statistics of w x are already scaled */
    int (*scale)(const struct norm_values *norm, size_t j, double factor);
    /* Unit j's w becomes w / length and the output stays the same. Returns -1 if impossible, with the reason
     * in `why` */
    int (*shorten)(const struct norm_values *norm, size_t j, double length, char *why, size_t size);
    /* Unit j's w is 0: changes its tensors so that they alone give the unit's constant output */
    void (*hold)(const struct norm_values *norm, size_t j);
    /* w x of unit j was reduced by `part`: corrects the running statistic. NULL: the bias is corrected */
    void (*take_sum)(const struct norm_values *norm, size_t j, double part);
    /* at_input: channel i of the layer's input changed from x to factor (x - constant) */
    void (*take_input)(const struct norm_values *norm, size_t i, double factor, double constant);
};

/* The row of a normalization; never NULL. The row of "none" has no tensors and no passes. */
const struct norm_ops *norm_ops(sph_norm norm);

/* The same, with IMN at the given place. */
const struct norm_ops *norm_ops_at(sph_norm norm, sph_imn_place place);

/* Length of a row's tensor in a layer with m units that reads `channels` channels. */
static inline size_t norm_length(const struct norm_tensor *tensor, size_t m, size_t channels)
{
    return tensor->extent == NORM_UNITS ? m : channels;
}

/* Whether it applies between product and activation. */
static inline int norm_between(const struct norm_ops *row)
{
    return row->apply && !row->at_input && !row->at_output;
}

#endif
