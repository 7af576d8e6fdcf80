/* SPDX-License-Identifier: MIT
 *
 * Operators as onnx.ai defines them, by plain loops in f64. */
#include "store/onnx_run_ops.h"

#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/onnx_build.h"

static int make(struct onnx_budget *run, const Onnx__Node *node, struct onnx_numbers *out,
                const size_t *shape, size_t dims)
{
    size_t bytes;
    out->dims = dims;
    memcpy(out->shape, shape, dims * sizeof *shape);
    if (!size_product(&out->count, shape, dims) || !size_times(&bytes, out->count, sizeof(double)))
        return onnx_refuse(run->file, node, "gives more numbers than memory has");
    if (!out->count)
        return onnx_refuse(run->file, node, "gives an empty tensor");
    if ((run->work += (double)out->count) > run->most)
        return ONNX_TOO_MUCH;
    return (out->values = mem_get(out->count, sizeof *out->values)) ? 0 : SPH_EMEMORY;
}

static int spend(struct onnx_budget *run, double multiplications)
{
    return (run->work += multiplications) > run->most ? ONNX_TOO_MUCH : 0;
}

static int is(const Onnx__Node *node, const char *op)
{
    return !strcmp(node->op_type, op);
}

/* ---------------------------------------------------------------- number by number */

static int op_unary(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                    size_t count, struct onnx_numbers *out)
{
    (void)count;
    double alpha = onnx_float(node, "alpha", is(node, "Elu") ? 1 : 0.01);
    int err = make(run, node, out, in->shape, in->dims);
    for (size_t i = 0; !err && i < out->count; i++) {
        double x = in->values[i];
        out->values[i] = is(node, "Relu")        ? (x < 0 ? 0 : x)
                         : is(node, "LeakyRelu") ? (x < 0 ? alpha * x : x)
                         : is(node, "Elu")       ? (x < 0 ? alpha * (exp(x) - 1) : x)
                         : is(node, "Sigmoid")   ? 1 / (1 + exp(-x))
                         : is(node, "Exp")       ? exp(x)
                         : is(node, "Neg")       ? -x
                                                 : isnan(x);
    }
    return err;
}

static int op_same(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                   size_t count, struct onnx_numbers *out)
{
    (void)count;
    int err = make(run, node, out, in->shape, in->dims);
    if (!err)
        memcpy(out->values, in->values, out->count * sizeof *out->values);
    return err;
}

static int op_cast(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                   size_t count, struct onnx_numbers *out)
{
    int64_t to = onnx_int(node, "to", 0);
    if (to != ONNX_FLOAT && to != ONNX_DOUBLE)
        return onnx_refuse(run->file, node, "casts to type %lld", (long long)to);
    return op_same(run, node, in, count, out);
}

/* Shapes are aligned at their ends; what is 1 there is repeated. */
static int op_broadcast(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                        size_t count, struct onnx_numbers *out)
{
    size_t shape[ONNX_MOST_DIMS], at[ONNX_MOST_DIMS] = {0}, stride[3][ONNX_MOST_DIMS] = {{0}}, dims = 0,
                                  place[3] = {0};
    char op = node->op_type[0];
    for (size_t k = 0; k < count; k++)
        dims = in[k].dims > dims ? in[k].dims : dims;
    for (size_t d = 0; d < dims; d++)
        shape[d] = 1;
    for (size_t k = 0; k < count; k++) {
        size_t length = 1;
        for (size_t d = in[k].dims; d-- > 0;) {
            size_t axis = dims - in[k].dims + d, size = in[k].shape[d];
            if (size != 1 && shape[axis] != 1 && size != shape[axis])
                return onnx_refuse(run->file, node, "shapes do not fit: %zu and %zu", size, shape[axis]);
            shape[axis] = size != 1 ? size : shape[axis];
            stride[k][axis] = size != 1 ? length : 0;
            length *= size;
        }
    }
    int err = make(run, node, out, shape, dims);
    for (size_t i = 0; !err && i < out->count; i++) {
        double a = in[0].values[place[0]], b = in[1].values[place[1]];
        out->values[i] = op == 'A'   ? a + b
                         : op == 'S' ? a - b
                         : op == 'M' ? a * b
                         : op == 'D' ? a / b
                         : a != 0    ? b
                                     : in[2].values[place[2]]; /* Where */
        for (size_t d = dims; d-- > 0;) {
            int turns = ++at[d] == shape[d];
            for (size_t k = 0; k < count; k++)
                place[k] += turns ? stride[k][d] * (1 - shape[d]) : stride[k][d]; /* back to 0, modulo 2^64 */
            if (!turns)
                break;
            at[d] = 0;
        }
    }
    return err;
}

static int op_scaler(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                     size_t count, struct onnx_numbers *out)
{
    (void)count;
    const Onnx__Attribute *offset = onnx_attribute(node, "offset"), *scale = onnx_attribute(node, "scale");
    size_t last = in->dims ? in->shape[in->dims - 1] : 1, m = offset ? offset->n_floats : 0,
           s = scale ? scale->n_floats : 0;
    if ((m != 1 && m != last) || (s != 1 && s != last))
        return onnx_refuse(run->file, node, "offset and scale have %zu and %zu numbers", m, s);
    int err = make(run, node, out, in->shape, in->dims);
    for (size_t i = 0; !err && i < out->count; i++)
        out->values[i] = (in->values[i] - (double)offset->floats[m == 1 ? 0 : i % last]) *
                         (double)scale->floats[s == 1 ? 0 : i % last];
    return err;
}

/* ---------------------------------------------------------------- shapes */

static int op_flatten(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                      size_t count, struct onnx_numbers *out)
{
    int64_t axis = onnx_int(node, "axis", 1);
    size_t shape[2] = {1, 1};
    axis += axis < 0 ? (int64_t)in->dims : 0;
    if (axis < 0 || (size_t)axis > in->dims)
        return onnx_refuse(run->file, node, "axis %lld of %zu", (long long)axis, in->dims);
    for (size_t d = 0; d < in->dims; d++)
        shape[d >= (size_t)axis] *= in->shape[d];
    struct onnx_numbers same = *in;
    same.dims = 2;
    memcpy(same.shape, shape, sizeof shape);
    return op_same(run, node, &same, count, out);
}

static int op_reshape(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                      size_t count, struct onnx_numbers *out)
{
    struct onnx_numbers same = *in;
    size_t known = 1, open = ONNX_MOST_DIMS;
    same.dims = in[1].count;
    if (in[1].dims != 1 || same.dims > ONNX_MOST_DIMS)
        return onnx_refuse(run->file, node, "its shape has %zu numbers", same.dims);
    for (size_t d = 0; d < same.dims; d++) {
        double to = in[1].values[d];
        int keeps = to == 0 && !onnx_int(node, "allowzero", 0);
        if (to == -1 && open == ONNX_MOST_DIMS) {
            open = d;
            continue;
        }
        if ((keeps && d >= in->dims) || to < 0 || to > (double)in->count)
            return onnx_refuse(run->file, node, "%g is no size of dimension %zu", to, d);
        same.shape[d] = keeps ? in->shape[d] : (size_t)to;
        known *= same.shape[d];
        if (known > in->count)
            break;
    }
    if (open < ONNX_MOST_DIMS)
        same.shape[open] = known && in->count % known == 0 ? in->count / known : 0;
    if (!size_product(&known, same.shape, same.dims) || known != in->count)
        return onnx_refuse(run->file, node, "%zu numbers do not fit into its shape", in->count);
    return op_same(run, node, &same, count, out);
}

static int op_concat(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                     size_t count, struct onnx_numbers *out)
{
    int64_t axis = onnx_int(node, "axis", 0);
    size_t shape[ONNX_MOST_DIMS], before = 1, from = 0;
    axis += axis < 0 ? (int64_t)in->dims : 0;
    if (axis < 0 || (size_t)axis >= in->dims)
        return onnx_refuse(run->file, node, "axis %lld of %zu", (long long)axis, in->dims);
    memcpy(shape, in->shape, sizeof shape);
    for (size_t k = 1; k < count; k++) {
        for (size_t d = 0; d < in->dims; d++)
            if (in[k].dims != in->dims || (d != (size_t)axis && in[k].shape[d] != shape[d]))
                return onnx_refuse(run->file, node, "shapes do not fit");
        shape[axis] += in[k].shape[axis];
    }
    int err = make(run, node, out, shape, in->dims);
    for (size_t d = 0; d < (size_t)axis; d++)
        before *= shape[d];
    for (size_t i = 0; !err && i < before; i++)
        for (size_t k = 0; k < count; k++) {
            size_t length = in[k].count / before;
            memcpy(out->values + from, in[k].values + i * length, length * sizeof *out->values);
            from += length;
        }
    return err;
}

/* ---------------------------------------------------------------- along axes */

/* Before opset 13 all axes from this one on are one. */
static int op_softmax(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                      size_t count, struct onnx_numbers *out)
{
    (void)count;
    int logarithm = is(node, "LogSoftmax");
    int64_t axis = onnx_int(node, "axis", run->file->opset < 13 ? 1 : -1);
    size_t length = 1, inner = 1;
    axis += axis < 0 ? (int64_t)in->dims : 0;
    if (axis < 0 || (size_t)axis >= in->dims)
        return onnx_refuse(run->file, node, "axis %lld of %zu", (long long)axis, in->dims);
    for (size_t d = (size_t)axis; d < in->dims; d++)
        *(run->file->opset < 13 || d == (size_t)axis ? &length : &inner) *= in->shape[d];
    int err = make(run, node, out, in->shape, in->dims);
    for (size_t i = 0; !err && i < in->count / length; i++) {
        const double *x = in->values + i / inner * length * inner + i % inner;
        double *y = out->values + (x - in->values), top = -INFINITY, sum = 0;
        for (size_t k = 0; k < length; k++)
            top = fmax(top, x[k * inner]);
        for (size_t k = 0; k < length; k++)
            sum += exp(x[k * inner] - top);
        for (size_t k = 0; k < length; k++)
            y[k * inner] = logarithm ? x[k * inner] - top - log(sum) : exp(x[k * inner] - top) / sum;
    }
    return err;
}

static int op_reduce_mean(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                          size_t count, struct onnx_numbers *out)
{
    const Onnx__Attribute *axes = onnx_attribute(node, "axes");
    int given = count > 1 && in[1].values, keep = onnx_int(node, "keepdims", 1) != 0,
        gone[ONNX_MOST_DIMS] = {0}, pooled = is(node, "GlobalAveragePool");
    size_t listed = given  ? in[1].count
                    : axes ? axes->n_ints
                           : 0,
           kept[ONNX_MOST_DIMS], stride[ONNX_MOST_DIMS] = {0}, at[ONNX_MOST_DIMS] = {0},
           shape[ONNX_MOST_DIMS], dims = 0, length = 1;
    for (size_t i = 0; i < listed; i++) {
        double axis = given ? in[1].values[i] : (double)axes->ints[i];
        axis += axis < 0 ? (double)in->dims : 0;
        if (!(axis >= 0 && axis < (double)in->dims))
            return onnx_refuse(run->file, node, "axis %g of %zu", axis, in->dims);
        gone[(size_t)axis] = 1;
    }
    for (size_t d = 0; d < in->dims; d++) {
        gone[d] |= pooled ? d > 1 : !listed && !onnx_int(node, "noop_with_empty_axes", 0);
        kept[d] = gone[d] ? 1 : in->shape[d];
        if (!gone[d] || keep || pooled)
            shape[dims++] = kept[d];
    }
    for (size_t d = in->dims; d-- > 0;) {
        stride[d] = gone[d] ? 0 : length;
        length *= kept[d];
    }
    int err = make(run, node, out, shape, dims);
    for (size_t i = 0; !err && i < in->count; i++) {
        size_t place = 0;
        for (size_t d = 0; d < in->dims; d++)
            place += at[d] * stride[d];
        out->values[place] += in->values[i] / ((double)in->count / (double)out->count);
        for (size_t d = in->dims; d-- > 0 && ++at[d] == in->shape[d];)
            at[d] = 0;
    }
    return err;
}

/* (x - mean) / sqrt(var + epsilon) * scale + shift of each channel, the second axis */
static int op_batch_norm(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                         size_t count, struct onnx_numbers *out)
{
    double epsilon = onnx_float(node, "epsilon", 1e-5);
    size_t channels = in->dims > 1 ? in->shape[1] : 1, pixels = 1;
    if (onnx_int(node, "training_mode", 0))
        return onnx_refuse(run->file, node, "in training mode");
    for (size_t k = 1; k < 5; k++)
        if (count < 5 || in[k].count != channels)
            return onnx_refuse(run->file, node, "input %zu has not %zu numbers", k, channels);
    for (size_t d = 2; d < in->dims; d++)
        pixels *= in->shape[d];
    int err = make(run, node, out, in->shape, in->dims);
    for (size_t i = 0; !err && i < out->count; i++) {
        size_t c = i / pixels % channels;
        out->values[i] =
            (in[0].values[i] - in[3].values[c]) / sqrt(in[4].values[c] + epsilon) * in[1].values[c] +
            in[2].values[c];
    }
    return err;
}

/* ---------------------------------------------------------------- products */

/* Gemm: alpha A' B' + beta C; MatMul: A B. */
static int op_product(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                      size_t count, struct onnx_numbers *out)
{
    int gemm = is(node, "Gemm"), turn_a = gemm && onnx_int(node, "transA", 0),
        turn_b = gemm && onnx_int(node, "transB", 0), add = gemm && count > 2 && in[2].values, err;
    double alpha = gemm ? onnx_float(node, "alpha", 1) : 1, beta = onnx_float(node, "beta", 1);
    const struct onnx_numbers *a = &in[0], *b = &in[1], *c = &in[2];
    if (count < 2 || a->dims != 2 || b->dims != 2 || a->shape[!turn_a] != b->shape[turn_b])
        return onnx_refuse(run->file, node, "its matrices do not fit");
    size_t rows = a->shape[turn_a], n = a->shape[!turn_a], m = b->shape[!turn_b];
    size_t high = add && c->dims == 2 ? c->shape[0] : 1, wide = add && c->dims ? c->shape[c->dims - 1] : 1;
    if (add && (c->dims > 2 || (high != 1 && high != rows) || (wide != 1 && wide != m)))
        return onnx_refuse(run->file, node, "its bias does not fit");
    if ((err = make(run, node, out, (size_t[]){rows, m}, 2)) ||
        (err = spend(run, (double)rows * (double)n * (double)m)))
        return err;
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < m; j++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum +=
                    a->values[turn_a ? i * rows + r : r * n + i] * b->values[turn_b ? j * n + i : i * m + j];
            double shift = add ? c->values[(high == 1 ? 0 : r * wide) + (wide == 1 ? 0 : j)] : 0;
            out->values[r * m + j] = alpha * sum + beta * shift;
        }
    return 0;
}

/* ---------------------------------------------------------------- windows */

struct sight {
    size_t size[2], stride[2], gap[2], begin[2], end[2], out[2]; /* of rows, of columns */
};

static int read_sight(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                      const size_t *kernel, struct sight *s)
{
    static const char *const names[] = {"kernel_shape", "strides", "dilations", "pads"};
    const Onnx__Attribute *pad = onnx_attribute(node, "auto_pad");
    size_t *to[] = {s->size, s->stride, s->gap, s->begin};
    if (in->dims != 4 || onnx_int(node, "ceil_mode", 0) ||
        (pad && pad->s.len && (pad->s.len != 6 || memcmp(pad->s.data, "NOTSET", 6))))
        return onnx_refuse(run->file, node, "has auto_pad or ceil_mode, or reads no images");
    for (size_t k = 0; k < 4; k++) {
        const Onnx__Attribute *given = onnx_attribute(node, names[k]);
        size_t expected = k == 3 ? 4 : 2, count = given ? given->n_ints : 0;
        for (size_t i = 0; i < 2; i++) {
            to[k][i] = k == 0 ? kernel[i] : k < 3;
            if (k == 3)
                s->end[i] = 0;
        }
        for (size_t i = 0; i < count; i++) {
            if (count != expected || given->ints[i] < (k < 3) || given->ints[i] > 1 << 20)
                return onnx_refuse(run->file, node, "'%s' has other numbers than expected", names[k]);
            *(i < 2 ? &to[k][i] : &s->end[i - 2]) = (size_t)given->ints[i];
        }
    }
    for (size_t i = 0; i < 2; i++) {
        size_t whole = in->shape[2 + i] + s->begin[i] + s->end[i], covers = (s->size[i] - 1) * s->gap[i] + 1;
        if (!s->size[i] || (kernel[0] && s->size[i] != kernel[i]) || covers > whole)
            return onnx_refuse(run->file, node, "a window of %zu over %zu", covers, whole);
        s->out[i] = (whole - covers) / s->stride[i] + 1;
    }
    return 0;
}

/* *from, *to: the places of the window along an axis whose k-th number lies inside of the image, not in the pad. */
static void inside(const struct sight *s, size_t axis, size_t k, size_t length, size_t *from, size_t *to)
{
    size_t shift = k * s->gap[axis], pad = s->begin[axis], stride = s->stride[axis];
    *from = pad > shift ? (pad - shift + stride - 1) / stride : 0;
    *to = length + pad > shift ? (length + pad - shift - 1) / stride + 1 : 0;
    *to = *to < s->out[axis] ? *to : s->out[axis];
}

enum window_kind { WINDOW_PRODUCT, WINDOW_MAX, WINDOW_SUM, WINDOW_COUNT };

/* out (image of s->out) <- one number of the window (ky, kx), at all its places: + w x, max, + x, + 1 */
static void slide(const struct sight *s, const double *x, const size_t size[2], size_t ky, size_t kx,
                  enum window_kind kind, double w, double *out)
{
    size_t top, bottom, left, right;
    inside(s, 0, ky, size[0], &top, &bottom);
    inside(s, 1, kx, size[1], &left, &right);
    for (size_t y = top; y < bottom; y++) {
        const double *from = x + (y * s->stride[0] + ky * s->gap[0] - s->begin[0]) * size[1];
        double *to = out + y * s->out[1];
        for (size_t i = left; i < right; i++) {
            double value = from[i * s->stride[1] + kx * s->gap[1] - s->begin[1]];
            to[i] = kind == WINDOW_PRODUCT ? to[i] + w * value
                    : kind == WINDOW_MAX   ? fmax(to[i], value)
                    : kind == WINDOW_SUM   ? to[i] + value
                                           : to[i] + 1;
        }
    }
}

static int op_conv(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                   size_t count, struct onnx_numbers *out)
{
    const struct onnx_numbers *x = &in[0], *w = &in[1];
    struct sight s;
    int64_t group = onnx_int(node, "group", 1);
    int bias = count > 2 && in[2].values, err;
    if (count < 2 || w->dims != 4 || x->dims != 4 || group < 1 || group > INT32_MAX ||
        w->shape[0] % (size_t)group || x->shape[1] != w->shape[1] * (size_t)group ||
        (bias && in[2].count != w->shape[0]))
        return onnx_refuse(run->file, node, "its weight or bias does not fit");
    if ((err = read_sight(run, node, x, &w->shape[2], &s)))
        return err;
    size_t m = w->shape[0], n = w->shape[1], per = m / (size_t)group, area = s.size[0] * s.size[1],
           pixels = x->shape[2] * x->shape[3], given = s.out[0] * s.out[1];
    if ((err = make(run, node, out, (size_t[]){x->shape[0], m, s.out[0], s.out[1]}, 4)) ||
        (err = spend(run, (double)out->count * (double)n * (double)area)))
        return err;
    for (size_t i = 0; i < x->shape[0] * m; i++) {
        size_t unit = i % m;
        double *to = out->values + i * given;
        for (size_t k = 0; bias && k < given; k++)
            to[k] = in[2].values[unit];
        for (size_t k = 0; k < n * area; k++) {
            size_t channel = i / m * x->shape[1] + unit / per * n + k / area;
            slide(&s, x->values + channel * pixels, &x->shape[2], k % area / s.size[1], k % s.size[1],
                  WINDOW_PRODUCT, w->values[unit * n * area + k], to);
        }
    }
    return 0;
}

/* What lies in the pad is no number of a maximum, and one of a mean if count_include_pad says so. */
static int op_pool(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                   size_t count, struct onnx_numbers *out)
{
    (void)count;
    int largest = is(node, "MaxPool"), pads = onnx_int(node, "count_include_pad", 0) != 0, err;
    struct sight s;
    if ((err = read_sight(run, node, in, (size_t[]){0, 0}, &s)))
        return err;
    size_t images = in->shape[0] * in->shape[1], pixels = in->shape[2] * in->shape[3],
           area = s.size[0] * s.size[1], given = s.out[0] * s.out[1];
    if ((err = make(run, node, out, (size_t[]){in->shape[0], in->shape[1], s.out[0], s.out[1]}, 4)) ||
        (err = spend(run, (double)out->count * (double)area)))
        return err;
    double *share = mem_get(given, sizeof *share);
    for (size_t k = 0; share && k < area; k++)
        slide(&s, in->values, &in->shape[2], k / s.size[1], k % s.size[1], WINDOW_COUNT, 0, share);
    for (size_t i = 0; share && i < images; i++) {
        double *to = out->values + i * given;
        for (size_t k = 0; largest && k < given; k++)
            to[k] = -INFINITY;
        for (size_t k = 0; k < area; k++)
            slide(&s, in->values + i * pixels, &in->shape[2], k / s.size[1], k % s.size[1],
                  largest ? WINDOW_MAX : WINDOW_SUM, 0, to);
        for (size_t k = 0; !largest && k < given; k++)
            to[k] /= pads ? (double)area : share[k];
    }
    err = share ? 0 : SPH_EMEMORY;
    mem_free(share);
    return err;
}

/* ---------------------------------------------------------------- the table */

static const struct onnx_op_row operators[] = {
    {"Gemm", op_product, 2, 3},
    {"MatMul", op_product, 2, 2},
    {"Conv", op_conv, 2, 3},
    {"BatchNormalization", op_batch_norm, 5, 5},
    {"Relu", op_unary, 1, 1},
    {"LeakyRelu", op_unary, 1, 1},
    {"Elu", op_unary, 1, 1},
    {"Sigmoid", op_unary, 1, 1},
    {"Exp", op_unary, 1, 1},
    {"Neg", op_unary, 1, 1},
    {"IsNaN", op_unary, 1, 1},
    {"MaxPool", op_pool, 1, 1},
    {"AveragePool", op_pool, 1, 1},
    {"GlobalAveragePool", op_reduce_mean, 1, 1},
    {"ReduceMean", op_reduce_mean, 1, 2},
    {"Add", op_broadcast, 2, 2},
    {"Sub", op_broadcast, 2, 2},
    {"Mul", op_broadcast, 2, 2},
    {"Div", op_broadcast, 2, 2},
    {"Where", op_broadcast, 3, 3},
    {"Scaler", op_scaler, 1, 1},
    {"Flatten", op_flatten, 1, 1},
    {"Reshape", op_reshape, 2, 2},
    {"Identity", op_same, 1, 1},
    {"Dropout", op_same, 1, 1},
    {"Cast", op_cast, 1, 1},
    {"Softmax", op_softmax, 1, 1},
    {"LogSoftmax", op_softmax, 1, 1},
    {"Concat", op_concat, 1, ONNX_MOST_INPUTS},
};

const struct onnx_op_row *onnx_op_find(const Onnx__Node *node)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (!strcmp(onnx_word(node->op_type), operators[i].name))
            return &operators[i];
    return NULL;
}
