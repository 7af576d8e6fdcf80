/* SPDX-License-Identifier: MIT */
#include "store/onnx_check.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "net/net.h"
#include "store/onnx_build.h"
#include "store/onnx_run.h"

/* Rows are compared until they took ENOUGH multiplications, a twentieth of a second: one of a large net, all of a small one. */
enum { MOST_ROWS = 8, ONE_BY_ONE = 2 };
static const double ENOUGH = 5e7;

/* About a minute. ResNet-152 on 224 x 224 pixels takes 1.2e10. */
double onnx_check_most = 5e10;

/* Both sides compute in f64. What differs is the slope of LeakyRelu and epsilons, which the graph has as f32: 2e-8 of them. */
static const double tolerance = 1e-5;

/* ---------------------------------------------------------------- rows */

static int has_op(const struct onnx_file *file, const char *op)
{
    for (size_t i = 0; i < file->graph->n_node; i++)
        if (!strcmp(onnx_word(file->graph->node[i]->op_type), op))
            return 1;
    return 0;
}

/* Around what the net's features usually are, so that units are on and off; every fourth row is far out, every fourth as it comes
 * from the generator. Where the graph fills missing features, every
 * other row has some, and five rows all. */
static void draw(const sph_net *net, int missing, struct rng *rng, size_t row, double *x)
{
    const struct scaling *scaling = &net->scaling;
    size_t count = sph_net_inputs(net);
    for (size_t i = 0; i < count; i++) {
        double z = rng_normal(rng), far = row % 4 == 1 ? 30 : 1;
        int own = row % 4 == 2;
        x[i] = far * z * (own || !scaling->x_scale ? 1 : scaling->x_scale[i]) +
               (own || !scaling->x_mean ? 0 : scaling->x_mean[i]);
        x[i] = (double)(float)x[i];
        if (missing && row % 2 == 0 && (i + row / 2) % 3 == 0)
            x[i] = NAN;
    }
}

/* ---------------------------------------------------------------- one batch */

/* y (rows, outputs) <- the mean over the nets: of what they predict, or of what they give. */
static int predict(const struct onnx_claim *claim, const double *x, size_t rows, double *y)
{
    size_t outputs = sph_net_outputs(claim->nets[0]);
    double *one = mem_get(rows * outputs, sizeof *one);
    int err = one ? 0 : SPH_EMEMORY;
    for (size_t k = 0; k < claim->count && !err; k++) {
        if ((err = sph_net_forward(claim->nets[k], x, rows, one)) < 0)
            break;
        for (size_t r = 0; claim->predicts && r < rows; r++)
            loss_predict(claim->link, outputs, one + r * outputs);
        for (size_t i = 0; i < rows * outputs; i++)
            y[i] += one[i] / (double)claim->count;
    }
    mem_free(one);
    return err;
}

/* The graph's number j of a row that has `width`: of two classes it may give both. */
static double expected(const struct onnx_claim *claim, const double *y, size_t outputs, size_t width,
                       size_t j)
{
    if (claim->predicts && claim->link == LOSS_LOGISTIC && outputs == 1 && width == 2)
        return j ? y[0] : 1 - y[0];
    return y[j];
}

static int compare(const struct onnx_file *file, const struct onnx_claim *claim, size_t output,
                   const struct onnx_numbers *graph, const double *y, size_t rows, size_t *compared)
{
    const char *name = onnx_word(file->graph->output[output]->name);
    size_t outputs = sph_net_outputs(claim->nets[0]), width = graph->count / rows;
    int both = claim->predicts && claim->link == LOSS_LOGISTIC && outputs == 1;
    if (!graph->dims || graph->shape[0] != rows || (width != outputs && !(both && width == 2)))
        return sph_fail_of(
            SPH_EFORMAT, file->path, 0, name,
            "output '%.80s' has %zu numbers for %zu rows, but the imported network gives %zu for each row",
            name, graph->count, rows, outputs);
    for (size_t r = 0; r < rows; r++) {
        double largest = 0;
        int finite = 1;
        for (size_t j = 0; j < width; j++) {
            largest = fmax(largest, fabs(graph->values[r * width + j]));
            finite &= isfinite(graph->values[r * width + j]) != 0;
        }
        for (size_t j = 0; finite && j < width; j++) {
            double want = graph->values[r * width + j],
                   got = expected(claim, y + r * outputs, outputs, width, j);
            if (!(fabs(got - want) <= tolerance * largest + 1e-12))
                return sph_fail_of(SPH_EFORMAT, file->path, 0, name,
                                   "output '%.80s' is %.9g, but the imported network gives %.9g: the import "
                                   "is wrong; please report it",
                                   name, want, got);
        }
        *compared += (size_t)finite;
    }
    return 0;
}

/* 1: numbers that are compared; labels are not. */
static int is_float(const struct onnx_file *file, const struct onnx_claim *claim, size_t output)
{
    const Onnx__Type *type = file->graph->output[output]->type;
    int element = type && type->tensor_type ? type->tensor_type->elem_type : ONNX_FLOAT;
    return !claim->predicts || element == ONNX_FLOAT || element == ONNX_DOUBLE;
}

/* Rows first, first + 1, ...; *compared grows by those that the graph has finite numbers for. */
static int check_batch(const struct onnx_file *file, const struct onnx_claim *claim, struct rng *rng,
                       size_t first, size_t rows, double *work, size_t *compared)
{
    const sph_net *net = claim->nets[0];
    size_t n = sph_net_inputs(net), outputs = sph_net_outputs(net);
    struct onnx_numbers *values = mem_get(claim->outputs, sizeof *values);
    const char **names = mem_get(claim->outputs, sizeof *names);
    double *x = mem_get(rows, n * sizeof *x), *y = mem_get(rows, outputs * sizeof *y);
    size_t *number = mem_get(claim->outputs, sizeof *number), wanted = 0, ignored = 0;
    int err = values && names && x && y && number ? 0 : SPH_EMEMORY;
    int missing = has_op(file, "IsNaN");
    for (size_t i = 0; i < claim->outputs && !err; i++)
        if (is_float(file, claim, i)) {
            number[wanted] = i;
            names[wanted++] = claim->value[i];
        }
    for (size_t r = 0; r < rows && !err; r++)
        draw(net, missing, rng, first + r, x + r * n);
    if (!err && !wanted)
        err = sph_fail_at(SPH_EFORMAT, file->path,
                          "combines several networks, but has no output that is a tensor of floats");
    if (!err)
        err = onnx_run(file, x, rows, names, wanted, onnx_check_most, work, values);
    if (err == SPH_EFORMAT && wanted && rows > 1)
        err = ONE_BY_ONE;
    if (!err)
        err = predict(claim, x, rows, y);
    for (size_t i = 0; i < wanted; i++) {
        if (!err)
            err = compare(file, claim, number[i], &values[i], y, rows, i ? &ignored : compared);
        mem_free(values[i].values);
    }
    mem_free(number);
    mem_free(y);
    mem_free(x);
    mem_free(names);
    mem_free(values);
    return err;
}

/* ---------------------------------------------------------------- all of it */

/* *out <- how many rows the graph takes at once; 0: as many as there are. */
static int fixed_rows(const struct onnx_file *file, size_t *out)
{
    const Onnx__Value *input;
    int err = onnx_run_input(file, &input);
    const Onnx__Shape *shape = err < 0 ? NULL : input->type->tensor_type->shape;
    *out = shape && shape->n_dim && shape->dim[0]->has_dim_value && shape->dim[0]->dim_value > 0
               ? (size_t)shape->dim[0]->dim_value
               : 0;
    return err;
}

int onnx_check(const struct onnx_file *file, const struct onnx_claim *claim, size_t *rows)
{
    struct rng rng = rng_stream(1, RNG_NOISE, 6);
    size_t batch, compared = 0, first = 1, together;
    double work = 0;
    *rows = 0;
    int err = fixed_rows(file, &batch);
    if (err < 0)
        return err;
    if (batch > MOST_ROWS && (double)batch * (double)sph_net_inputs(claim->nets[0]) > onnx_check_most)
        return 0;
    err = check_batch(file, claim, &rng, 0, batch ? batch : 1, &work, &compared);
    if (err)
        return err == ONNX_TOO_MUCH ? 0 : err < 0 ? err : SPH_EFORMAT;
    double left = (fmin(ENOUGH, onnx_check_most) - work) / work * (double)(batch ? batch : 1);
    size_t more = left < 1 ? 0 : left < MOST_ROWS ? (size_t)left : MOST_ROWS;
    for (together = batch ? batch : more; first <= more && !err; first += together) {
        err = check_batch(file, claim, &rng, first, together, &work, &compared);
        if (err == ONE_BY_ONE && !batch) { /* shapes hold for N = 1 only */
            together = 1;
            err = check_batch(file, claim, &rng, first, together, &work, &compared);
        }
    }
    if (!err && !compared)
        err = sph_fail_at(SPH_EFORMAT, file->path,
                          "gives infinite numbers or NaN for random rows, so the import cannot be verified");
    *rows = err < 0 ? 0 : compared;
    return err < 0 ? err : 0;
}
