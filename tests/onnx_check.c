/* SPDX-License-Identifier: MIT */
#include "onnx_check.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "net/net.h"
#include "onnx_run.h"
#include "store/onnx_build.h"

/* Rows are compared until they have taken ENOUGH multiplications: one row of a large network, nine of a small one. */
enum { MOST_ROWS = 8, ONE_BY_ONE = 2, MOST_OUTPUTS = 16 };
static const double ENOUGH = 5e7;

/* Both sides compute in f64. Only the slope of LeakyRelu and epsilons differ, which the graph has as f32: by 2e-8. */
static const double tolerance = 1e-5;

/* ---------------------------------------------------------------- rows */

static int has_op(const struct onnx_file *file, const char *op)
{
    for (size_t i = 0; i < file->graph->n_node; i++)
        if (!strcmp(onnx_word(file->graph->node[i]->op_type), op))
            return 1;
    return 0;
}

/* Values around the mean of the features, so that units are on and off. Every fourth row is 30 times as far out, and every fourth row
 * ignores the standardization. If the graph fills missing features, every other row has some. */
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

static int compare(const struct onnx_file *file, const char *name, size_t outputs,
                   const struct onnx_numbers *graph, const double *y, size_t rows, size_t *compared)
{
    if (!graph->dims || graph->shape[0] != rows || graph->count != rows * outputs)
        return sph_fail_of(SPH_EFORMAT, file->path, 0, name,
                           "%zu numbers for %zu rows, the network gives %zu", graph->count, rows, outputs);
    for (size_t r = 0; r < rows; r++) {
        const double *want = graph->values + r * outputs, *got = y + r * outputs;
        double largest = 0;
        int finite = 1;
        for (size_t j = 0; j < outputs; j++) {
            largest = fmax(largest, fabs(want[j]));
            finite &= isfinite(want[j]) != 0;
        }
        for (size_t j = 0; finite && j < outputs; j++)
            if (!(fabs(got[j] - want[j]) <= tolerance * largest + 1e-12)) {
                sph_fail_of(SPH_EFORMAT, file->path, 0, name, "%.9g, the network gives %.9g", want[j],
                            got[j]);
                return ONNX_DIFFERS;
            }
        *compared += (size_t)finite;
    }
    return 0;
}

/* Rows first, first + 1, ...; *compared grows by those for which the graph gives finite numbers. */
static int check_batch(const struct onnx_file *file, sph_net *net, struct rng *rng, size_t first, size_t rows,
                       double most, double *work, size_t *compared)
{
    size_t n = sph_net_inputs(net), outputs = sph_net_outputs(net), count = file->graph->n_output,
           ignored = 0;
    struct onnx_numbers values[MOST_OUTPUTS];
    const char *names[MOST_OUTPUTS];
    double *x = mem_get(rows, n * sizeof *x), *y = mem_get(rows, outputs * sizeof *y);
    int err = x && y ? 0 : SPH_EMEMORY, missing = has_op(file, "IsNaN");
    count = count < MOST_OUTPUTS ? count : MOST_OUTPUTS;
    for (size_t i = 0; i < count; i++)
        names[i] = onnx_word(file->graph->output[i]->name);
    for (size_t r = 0; r < rows && !err; r++)
        draw(net, missing, rng, first + r, x + r * n);
    if (!err)
        err = onnx_run(file, x, rows, names, count, most, work, values);
    if (err == SPH_EFORMAT && rows > 1)
        err = ONE_BY_ONE;
    int ran = !err;
    if (!err)
        err = sph_net_forward(net, x, rows, y);
    for (size_t i = 0; i < count && ran; i++) {
        if (!err)
            err = compare(file, names[i], outputs, &values[i], y, rows, i ? &ignored : compared);
        mem_free(values[i].values);
    }
    mem_free(y);
    mem_free(x);
    return err;
}

/* ---------------------------------------------------------------- all of it */

/* How many rows the graph takes at once; 0: any number. */
static size_t fixed_rows(const struct onnx_file *file)
{
    const Onnx__Value *input;
    const Onnx__Shape *shape = onnx_run_input(file, &input) < 0 ? NULL : input->type->tensor_type->shape;
    return shape && shape->n_dim && shape->dim[0]->has_dim_value && shape->dim[0]->dim_value > 0
               ? (size_t)shape->dim[0]->dim_value
               : 0;
}

int onnx_check(const char *path, sph_net *net, double most, size_t *rows)
{
    struct rng rng = rng_stream(1, RNG_NOISE, 6);
    struct onnx_file file;
    double work = 0;
    *rows = 0;
    int err = onnx_open(&file, path);
    size_t batch = err ? 0 : fixed_rows(&file), first = 1, together;
    if (batch > MOST_ROWS && (double)batch * (double)sph_net_inputs(net) > most)
        err = ONNX_TOO_MUCH;
    if (!err)
        err = check_batch(&file, net, &rng, 0, batch ? batch : 1, most, &work, rows);
    double left = err ? 0 : (fmin(ENOUGH, most) - work) / work * (double)(batch ? batch : 1);
    size_t more = left < 1 ? 0 : left < MOST_ROWS ? (size_t)left : MOST_ROWS;
    for (together = batch ? batch : more; first <= more && !err; first += together) {
        err = check_batch(&file, net, &rng, first, together, most, &work, rows);
        if (err == ONE_BY_ONE && !batch) { /* the shapes of the graph hold for one row only */
            together = 1;
            err = check_batch(&file, net, &rng, first, together, most, &work, rows);
        }
    }
    onnx_close(&file);
    return err;
}
