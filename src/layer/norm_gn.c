/* SPDX-License-Identifier: MIT
 *
 * Group normalization: the units of a layer are divided, in order, into groups of equal size. For each sample and
 * group (conv: over the units of the group and all pixels)
 *
 *   y = gamma xhat + beta,  xhat = (z - mean) / sigma,  sigma^2 = var + epsilon,  var biased
 *
 * with gamma and beta per unit. One group is layer normalization; for images, one group per unit is instance
 * normalization. Training and evaluation are the same. Backward, with g = gamma dy and means over the group:
 *
 *   dgamma = sum dy xhat,  dbeta = sum dy,  dz = (g - mean of g - xhat * mean of g xhat) / sigma
 *
 * Vectors: ln is the case of one group. Images: the moments of each unit over its pixels are computed as in bn and
 * merged over the group in f64; then mean, scale and shift per unit are passed to the kernels of bn. Therefore a
 * group may begin or end inside a block of channels. Boundaries are computed as for ln. */
#include <math.h>
#include <string.h>

#include "layer/norm_rows.h"

/* The address of element `at` of an array of the dtype. */
static void *from(const struct op *op, const void *array, size_t at)
{
    return (char *)array + at * op->k->size;
}

/* ---------------------------------------------------------------- vectors */

/* Work arrays of a worker, (m) each. Images: WORK arrays in the dtype for the kernels, WORK64 in f64 for the
 * groups. Vectors: the scratch memory of group_norm, which has fewer and longer arrays. */
enum { MEAN, SCALE, FIRST, SECOND, FACTOR, ACROSS, OFFSET, WORK };
enum { SUMS, PRODUCTS, GAMMAS, WORK64 };
_Static_assert(WORK *KERNEL_PAD >= GROUP_WORK * 2 * KERNEL_PAD, "kernel_pad(m) is KERNEL_PAD at least");

/* NULL for ln, which needs no work arrays. */
static void *work_of(const struct op *op, const struct tile *tile)
{
    void *work = op->norm.state->work;
    return work ? from(op, work, tile->worker * WORK * kernel_pad(op->weights->m)) : NULL;
}

/* 1 / sigma for each row and group of the tile. */
static void *inverse_of(const struct op *op, const struct tile *tile)
{
    return from(op, op->norm.state->rows, tile->row * op->norm.groups);
}

static void vector_forward(const struct op *op, const struct tile *tile)
{
    op->k->group_norm(tile->rows, op->weights->m, op->norm.groups, buffer_at(op->in, op->k, tile), op->in->ld,
                      op->norm.state->epsilon, op->weights->norm[NORM_GAMMA], op->weights->norm[NORM_BETA],
                      inverse_of(op, tile), work_of(op, tile), buffer_at(op->out, op->k, tile), op->out->ld);
}

static void vector_backward(const struct op *op, const struct tile *tile)
{
    const struct layer_grads *grads = &op->grads[tile->worker];
    void *d = buffer_at(op->dout, op->k, tile);
    op->k->group_norm_grad(tile->rows, op->weights->m, op->norm.groups, d, op->dout->ld,
                           buffer_at(op->in, op->k, tile), op->in->ld, inverse_of(op, tile),
                           op->weights->norm[NORM_GAMMA], grads->dnorm[NORM_GAMMA], grads->dnorm[NORM_BETA],
                           work_of(op, tile), d, op->dout->ld);
}

const struct op_kind norm_vectors = {.forward = vector_forward, .backward = vector_backward, .back_in = 1};

/* ---------------------------------------------------------------- images */

struct image {
    const struct op *op;
    const struct tile *tile;
    size_t number;          /* index of the image in the tile */
    size_t width;           /* units in a group */
    double count;           /* elements in a group */
    void *work[WORK];       /* (m) padded */
    double *work64[WORK64]; /* (m) */
};

static struct image image_of(const struct op *op, const struct tile *tile, size_t number)
{
    const struct norm_state *state = op->norm.state;
    size_t m = op->weights->m, length = kernel_pad(m);
    struct image image = {op, tile, number, .width = m / op->norm.groups};
    image.count = (double)(image.width * op->in->pixels);
    for (size_t i = 0; i < WORK; i++)
        image.work[i] = from(op, state->work, (tile->worker * WORK + i) * length);
    for (size_t i = 0; i < WORK64; i++)
        image.work64[i] = state->work64 + (tile->worker * WORK64 + i) * length;
    return image;
}

/* Number of slices of the image: its blocks, or 1 if it is not blocked. */
static size_t slices(const struct image *image)
{
    return image->op->in->blocked ? image->op->in->blocks : 1;
}

static struct slice slice_of(const struct image *image, size_t p)
{
    const struct buffer *in = image->op->in;
    if (!in->blocked)
        return (struct slice){.rows = in->pixels, .width = in->width};
    return buffer_slice(in, image->tile, p);
}

static void *part_of(const struct image *image, const struct buffer *buffer, size_t p)
{
    const struct kernels *k = image->op->k;
    return (char *)buffer_image(buffer, k, image->tile, image->number) +
           p * buffer->pixels * buffer->ld * k->size;
}

/* mean (inverse = 0) or 1 / sigma (inverse = 1) of the image's groups, (groups) each, kept for the backward
 * pass. */
static void *kept(const struct image *image, int inverse)
{
    const struct op *op = image->op;
    size_t groups = op->norm.groups;
    return from(op, op->norm.state->rows,
                ((image->tile->row + image->number) * 2 + (size_t)inverse) * groups);
}

/* Copies each group's mean to its units, and computes each unit's scale = gamma / sigma. */
static void spread(const struct image *image)
{
    const struct op *op = image->op;
    const struct kernels *k = op->k;
    double *gammas = image->work64[GAMMAS], mean, inverse;
    size_t m = op->weights->m;
    k->to_double(m, op->weights->norm[NORM_GAMMA], gammas);
    for (size_t j = 0; j < m; j++) {
        k->to_double(1, from(op, kept(image, 0), j / image->width), &mean);
        k->to_double(1, from(op, kept(image, 1), j / image->width), &inverse);
        image->work64[SUMS][j] = mean;
        gammas[j] *= inverse;
    }
    k->from_double(m, image->work64[SUMS], image->work[MEAN]);
    k->from_double(m, gammas, image->work[SCALE]);
}

/* Merges the units of a group. All have the same number of pixels: the mean is the mean of their means, and
 * the squared distances of their means are added to the deviations. */
static void keep_moments(const struct image *image)
{
    const struct op *op = image->op;
    const double *means = image->work64[SUMS], *deviations = image->work64[PRODUCTS];
    op->k->to_double(op->weights->m, image->work[FIRST], image->work64[SUMS]);
    op->k->to_double(op->weights->m, image->work[SECOND], image->work64[PRODUCTS]);
    for (size_t group = 0; group < op->norm.groups; group++) {
        size_t first = group * image->width, stop = first + image->width;
        double mean = 0, squares = 0;
        for (size_t j = first; j < stop; j++)
            mean += means[j] / (double)image->width;
        for (size_t j = first; j < stop; j++)
            squares += deviations[j] + (double)op->in->pixels * (means[j] - mean) * (means[j] - mean);
        double inverse = 1 / sqrt(squares / image->count + op->norm.state->epsilon);
        op->k->from_double(1, &mean, from(op, kept(image, 0), group));
        op->k->from_double(1, &inverse, from(op, kept(image, 1), group));
    }
}

static void image_forward(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    for (size_t i = 0; i < tile->rows; i++) {
        struct image image = image_of(op, tile, i);
        for (size_t p = 0; p < slices(&image); p++) {
            struct slice slice = slice_of(&image, p);
            k->moments(slice.rows, slice.width, part_of(&image, op->in, p), op->in->ld,
                       slice_column(&slice, k, image.work[FIRST]),
                       slice_column(&slice, k, image.work[SECOND]));
        }
        keep_moments(&image);
        spread(&image);
        for (size_t p = 0; p < slices(&image); p++) {
            struct slice slice = slice_of(&image, p);
            k->normalize(slice.rows, slice.width, part_of(&image, op->in, p), op->in->ld,
                         slice_column(&slice, k, image.work[MEAN]),
                         slice_column(&slice, k, image.work[SCALE]),
                         slice_column(&slice, k, op->weights->norm[NORM_BETA]), 0,
                         part_of(&image, op->out, p), op->out->ld);
        }
    }
}

/* FIRST and SECOND hold each unit's sums of dy and dy (z - mean). Adds the gradients of gamma and beta and
 * computes the coefficients of dz = factor dy + across (z - mean) + offset. */
static void join_back(const struct image *image)
{
    const struct op *op = image->op;
    const struct kernels *k = op->k;
    const struct layer_grads *grads = &op->grads[image->tile->worker];
    double *sums = image->work64[SUMS], *products = image->work64[PRODUCTS], *gammas = image->work64[GAMMAS];
    size_t m = op->weights->m;
    k->add(1, m, image->work[FIRST], m, grads->dnorm[NORM_BETA], m);
    k->to_double(m, image->work[FIRST], sums);
    k->to_double(m, image->work[SECOND], products);
    k->to_double(m, op->weights->norm[NORM_GAMMA], gammas);
    for (size_t group = 0; group < op->norm.groups; group++) {
        size_t first = group * image->width, stop = first + image->width;
        double pull = 0, pull_x = 0, inverse;
        k->to_double(1, from(op, kept(image, 1), group), &inverse);
        for (size_t j = first; j < stop; j++) {
            products[j] *= inverse;
            pull += gammas[j] * sums[j];
            pull_x += gammas[j] * products[j];
        }
        double across = -inverse * inverse * pull_x / image->count, offset = -inverse * pull / image->count;
        for (size_t j = first; j < stop; j++) {
            gammas[j] *= inverse;
            k->from_double(1, &across, from(op, image->work[ACROSS], j));
            k->from_double(1, &offset, from(op, image->work[OFFSET], j));
        }
    }
    k->from_double(m, gammas, image->work[FACTOR]);
    k->from_double(m, products, image->work[SECOND]);
    k->add(1, m, image->work[SECOND], m, grads->dnorm[NORM_GAMMA], m);
}

static void image_backward(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    for (size_t i = 0; i < tile->rows; i++) {
        struct image image = image_of(op, tile, i);
        spread(&image);
        memset(image.work[FIRST], 0, op->weights->m * k->size);
        memset(image.work[SECOND], 0, op->weights->m * k->size);
        for (size_t p = 0; p < slices(&image); p++) {
            struct slice slice = slice_of(&image, p);
            k->normalize_sums(
                slice.rows, slice.width, part_of(&image, op->dout, p), op->dout->ld,
                part_of(&image, op->in, p), op->in->ld, slice_column(&slice, k, image.work[MEAN]),
                slice_column(&slice, k, image.work[SCALE]),
                slice_column(&slice, k, op->weights->norm[NORM_BETA]), 0,
                slice_column(&slice, k, image.work[FIRST]), slice_column(&slice, k, image.work[SECOND]));
        }
        join_back(&image);
        for (size_t p = 0; p < slices(&image); p++) {
            struct slice slice = slice_of(&image, p);
            void *d = part_of(&image, op->dout, p);
            k->normalize_grad(
                slice.rows, slice.width, d, op->dout->ld, part_of(&image, op->in, p), op->in->ld,
                slice_column(&slice, k, image.work[MEAN]), slice_column(&slice, k, image.work[SCALE]),
                slice_column(&slice, k, op->weights->norm[NORM_BETA]), 0,
                slice_column(&slice, k, image.work[FACTOR]), slice_column(&slice, k, image.work[ACROSS]),
                slice_column(&slice, k, image.work[OFFSET]), d, op->dout->ld);
        }
    }
}

static void gn_apply(struct op *op, enum norm_how how)
{
    static const struct op_kind image = {.forward = image_forward, .backward = image_backward, .back_in = 1};
    (void)how;
    op->kind = op->in->pixels > 1 ? &image : &norm_vectors;
}

const struct norm_ops norm_GN = {
    .name = "gn",
    .divides = 1,
    .tensor = {NORM_GAMMA_BETA},
    .tensors = 2,
    .grouped = 1,
    .per_sample = 1,
    .standardizes = 1,
    .row_numbers = 2,
    .work = WORK,
    .work64 = WORK64,
    .result = NORM_APART,
    .apply = gn_apply,
    .fold_sample = norm_fold_sample,
    .scale = norm_scale,
};
