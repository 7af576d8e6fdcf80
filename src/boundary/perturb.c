/* SPDX-License-Identifier: MIT */
#include "boundary/perturb.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/sized.h"
#include "boundary/hyperplane.h"
#include "boundary/turns.h"
#include "layer/norm.h"
#include "param/param.h"

enum { INPUTS_MOST = 65536, EPS_MOST = 1024, ROWS_MOST = 65536, UNITS_MOST = 1024 };

/* Lanes of the random stream; the rows of the batch have those from 0 on. */
enum { LANE_DIRECTION = -1, LANE_OTHERS = -2 };

/* Lengths, distances and eps: what is squared on the way stays finite. */
static const double number_most = 1e150;

/* A method's words, and which of its numbers eps is added to. */
static const struct method {
    const char *name, *unit;
    struct {
        const char *name;
        int perturbed;
    } tensor[SPH_PERTURB_TENSORS];
} methods[SPH_PERTURB_METHODS] = {
    [PERTURB_SP] = {"SP", "relu(w x + b)", {{"w", 1}, {"b", 1}}},
    [PERTURB_WN] = {"WN", "relu(g v/|v| x + b)", {{"v", 1}, {"g", 1}, {"b", 1}}},
    [PERTURB_BN] = {"BN",
                    "relu(gamma (w x - mean)/sqrt(var + 1e-5) + beta), mean and var of w x over the batch",
                    {{"w", 1}, {"gamma", 1}, {"beta", 1}}},
    [PERTURB_LN] = {"LN",
                    "relu(gamma (w x + b - mean)/sqrt(var + 1e-5)), mean and var over the layer's units, "
                    "the others stay",
                    {{"w", 1}, {"b", 1}, {"gamma", 1}, {"others", 0}}},
    [PERTURB_GMP] = {"GmP", "r relu(u(theta) x + lambda)", {{"theta", 1}, {"lambda", 1}, {"r", 1}}},
};

/* Numbers of a tensor; 0: the method has none there. */
static size_t tensor_count(enum perturb_method method, size_t tensor, size_t n, size_t units)
{
    if (!methods[method].tensor[tensor].name)
        return 0;
    if (tensor == 0)
        return method == PERTURB_GMP ? n - 1 : n;
    return method == PERTURB_LN && tensor == LN_OTHERS ? (units - 1) * n : 1;
}

/* ---------------------------------------------------------------- where a boundary lies */

void perturb_batch_row(size_t n, uint64_t seed, size_t row, double *x)
{
    struct rng rng = rng_stream(seed, RNG_PERTURB, (uint32_t)row);
    turns_normals(kernels_pick(SPH_F64, KERNELS_FASTEST), &rng, n, x);
}

int perturb_batch(size_t n, const double *w, size_t rows, uint64_t seed, double *mean, double *variance)
{
    double *x = mem_get(n, sizeof *x), *along = mem_get(rows, sizeof *along);
    int err = x && along ? 0 : SPH_EMEMORY;
    *mean = *variance = 0;
    for (size_t row = 0; row < rows && !err; row++) {
        perturb_batch_row(n, seed, row, x);
        for (size_t i = 0; i < n; i++)
            along[row] += w[i] * x[i];
        *mean += along[row] / (double)rows;
    }
    for (size_t row = 0; row < rows && !err; row++)
        *variance += (along[row] - *mean) * (along[row] - *mean) / (double)rows;
    mem_free(x);
    mem_free(along);
    return err;
}

static int bn_boundary(const struct perturb_unit *unit, double *w, double *b)
{
    double gamma = *unit->tensor[BN_GAMMA], mean, variance;
    int err = perturb_batch(unit->n, unit->tensor[BN_W], unit->rows, unit->seed, &mean, &variance);
    double scale = gamma / sqrt(variance + norm_epsilon);
    for (size_t i = 0; i < unit->n; i++)
        w[i] = scale * unit->tensor[BN_W][i];
    *b = *unit->tensor[BN_BETA] - scale * mean;
    return err;
}

/* The standard deviation over the layer's units depends on x but is above 0: it moves no boundary. */
static void ln_boundary(const struct perturb_unit *unit, double *w, double *b)
{
    double gamma = *unit->tensor[LN_GAMMA], share = 1 / (double)unit->units;
    for (size_t i = 0; i < unit->n; i++) {
        double mean = unit->tensor[LN_W][i] * share;
        for (size_t k = 0; k + 1 < unit->units; k++)
            mean += unit->tensor[LN_OTHERS][k * unit->n + i] * share;
        w[i] = gamma * (unit->tensor[LN_W][i] - mean);
    }
    *b = gamma * (*unit->tensor[LN_B] - *unit->tensor[LN_B] * share);
}

int perturb_boundary(enum perturb_method method, const struct perturb_unit *unit, double *w, double *b)
{
    static const sph_param param[SPH_PERTURB_METHODS] = {
        [PERTURB_SP] = SPH_PARAM_SP, [PERTURB_WN] = SPH_PARAM_WN, [PERTURB_GMP] = SPH_PARAM_GMP};
    double s;
    if (method == PERTURB_BN)
        return bn_boundary(unit, w, b);
    if (method == PERTURB_LN)
        ln_boundary(unit, w, b);
    else
        param_ops(param[method])->to_unit(unit->n, unit->tensor, NULL, w, b, &s);
    return 0;
}

/* ---------------------------------------------------------------- the experiment */

static const double usual_eps[] = {1e-4, 1e-3, 1e-2, 1e-1};
static const sph_perturb_opts usual = {.inputs = 2,
                                       .length = 1e-3,
                                       .distance = 1,
                                       .eps = usual_eps,
                                       .count = sizeof usual_eps / sizeof *usual_eps,
                                       .rows = 256,
                                       .units = 8};

void sph_perturb_defaults_sized(sph_perturb_opts *out, size_t size)
{
    sized_give(out, size, &usual, sizeof usual);
}

static int check_number(const char *key, const char *what, size_t value, size_t least, size_t most)
{
    if (value >= least && value <= most)
        return 0;
    return sph_fail_of(SPH_EARG, "", 0, key, "%s: found %zu, expected %zu to %zu", what, value, least, most);
}

static int check_size(const char *key, const char *what, double value)
{
    if (fabs(value) <= number_most)
        return 0;
    return sph_fail_of(SPH_EARG, "", 0, key, "%s: found %g, too large: expected at most %g", what, value,
                       number_most);
}

static int check_opts(const sph_perturb_opts *opts)
{
    int err;
    if ((err = check_number("inputs", "inputs", opts->inputs, 2, INPUTS_MOST)) < 0 ||
        (err = check_number("eps", "number of eps", opts->count, 1, EPS_MOST)) < 0 ||
        (err = check_number("rows", "samples in a batch", opts->rows, 2, ROWS_MOST)) < 0 ||
        (err = check_number("units", "units of the layer", opts->units, 2, UNITS_MOST)) < 0)
        return err;
    if (!opts->w && !(opts->length > 0 && isfinite(opts->length)))
        return sph_fail_of(SPH_EARG, "", 0, "length",
                           "length of the weight: found %g, expected a number above 0", opts->length);
    if (!isfinite(opts->distance))
        return sph_fail_of(SPH_EARG, "", 0, "distance",
                           "distance of the boundary: found %g, expected a number", opts->distance);
    for (size_t e = 0; e < opts->count; e++)
        if (!isfinite(opts->eps[e]))
            return sph_fail_key(SPH_EARG, "eps", "found %g, expected a number", opts->eps[e]);
    for (size_t i = 0; opts->w && i < opts->inputs; i++)
        if (!isfinite(opts->w[i]))
            return sph_fail_of(SPH_EARG, "", 0, "weight", "base weight: found %g, expected a number",
                               opts->w[i]);
    if (opts->w && !(param_length(opts->inputs, opts->w) > 0))
        return sph_fail_of(SPH_EARG, "", 0, "weight",
                           "the weight is 0, so the unit has no boundary; use at least one other value");
    for (size_t e = 0; e < opts->count && !err; e++)
        err = check_size("eps", "eps", opts->eps[e]);
    if (!err && !(err = check_size("distance", "distance of the boundary", opts->distance)))
        err = check_size("length", "length of the weight",
                         opts->w ? param_length(opts->inputs, opts->w) : opts->length);
    return err;
}

/* Everything a result points to lies in one memory, and so does what it takes to make it: this, planes, numbers. */
struct lists {
    sph_perturb_method method[SPH_PERTURB_METHODS];
    sph_perturb_tensor tensor[SPH_PERTURB_METHODS][SPH_PERTURB_TENSORS];
};

struct work {
    const sph_perturb_opts *opts;
    double *next;                         /* free numbers of the memory                   */
    double *base[SPH_PERTURB_TENSORS];    /* of the method in hand                       */
    double *changed[SPH_PERTURB_TENSORS]; /* likewise, eps added; used again by the next */
    double *w, length;                    /* (n) base weight, its length                 */
};

static double *take(struct work *work, size_t count)
{
    double *memory = work->next;
    work->next += count;
    return memory;
}

static void draw_base(struct work *work)
{
    const sph_perturb_opts *opts = work->opts;
    struct rng rng = rng_stream(opts->seed, RNG_PERTURB, (uint32_t)LANE_DIRECTION);
    size_t n = opts->inputs;
    if (opts->w) {
        memcpy(work->w, opts->w, n * sizeof *work->w);
    } else {
        for (size_t i = 0; i < n; i++)
            work->w[i] = rng_normal(&rng);
        double scale = opts->length / param_length(n, work->w);
        for (size_t i = 0; i < n; i++)
            work->w[i] *= scale;
    }
    work->length = param_length(n, work->w);
}

/* The other units are like this one and average to 0, so that the unit begins with the same boundary. */
static void draw_others(const struct work *work, double *others)
{
    size_t n = work->opts->inputs, count = work->opts->units - 1;
    struct rng rng = rng_stream(work->opts->seed, RNG_PERTURB, (uint32_t)LANE_OTHERS);
    double deviation = work->length / sqrt((double)n);
    for (size_t e = 0; e < count * n; e++)
        others[e] = deviation * rng_normal(&rng);
    for (size_t i = 0; i < n; i++) {
        double mean = 0;
        for (size_t k = 0; k < count; k++)
            mean += others[k * n + i] / (double)count;
        for (size_t k = 0; k < count; k++)
            others[k * n + i] -= mean;
    }
}

/* Numbers of the method that give the boundary w x + distance |w| = 0. */
static int set_base(struct work *work, enum perturb_method method)
{
    const sph_perturb_opts *opts = work->opts;
    size_t n = opts->inputs;
    double bias = opts->distance * work->length, mean, variance;
    int err = 0;
    if (method != PERTURB_GMP)
        memcpy(work->base[0], work->w, n * sizeof *work->w);
    switch (method) {
    case PERTURB_SP:
        *work->base[SP_B] = bias;
        break;
    case PERTURB_WN:
        *work->base[WN_G] = work->length;
        *work->base[WN_B] = bias;
        break;
    case PERTURB_BN:
        err = perturb_batch(n, work->w, opts->rows, opts->seed, &mean, &variance);
        *work->base[BN_GAMMA] = 1;
        *work->base[BN_BETA] = (bias + mean) / sqrt(variance + norm_epsilon);
        break;
    case PERTURB_LN:
        *work->base[LN_B] = bias;
        *work->base[LN_GAMMA] = 1;
        draw_others(work, work->base[LN_OTHERS]);
        break;
    case PERTURB_GMP:
        param_ops(SPH_PARAM_GMP)->from_unit(n, work->w, bias, work->base, NULL);
        *work->base[GMP_R] = 1; /* as it starts; it moves no boundary */
        break;
    }
    return err;
}

/* Degrees between two normals; with a sign where there is one. Powers of two bring both lengths near 1, so
 * that no product is lost and nothing is rounded. */
static double turn_between(size_t n, const double *w, const double *other)
{
    double turn = plane_degrees * plane_turn(n, w, other);
    if (n != 2 || !isfinite(turn))
        return turn;
    int power = -ilogb(param_length(n, w)), other_power = -ilogb(param_length(n, other));
    double u[2] = {scalbn(w[0], power), scalbn(w[1], power)};
    double v[2] = {scalbn(other[0], other_power), scalbn(other[1], other_power)};
    return copysign(turn, u[0] * v[1] - u[1] * v[0]);
}

static int make_plane(struct work *work, enum perturb_method method,
                      double *const tensor[SPH_PERTURB_TENSORS], double eps, const sph_perturb_plane *base,
                      sph_perturb_plane *out)
{
    const sph_perturb_opts *opts = work->opts;
    struct perturb_unit unit = {
        .n = opts->inputs, .rows = opts->rows, .units = opts->units, .seed = opts->seed};
    double *w = take(work, unit.n), *phi = take(work, unit.n), shift = 0;
    memcpy(unit.tensor, tensor, sizeof unit.tensor);
    *out = (sph_perturb_plane){.w = w, .phi = phi, .eps = eps};
    int err = perturb_boundary(method, &unit, w, &out->b);
    if (err < 0)
        return err;
    double length = param_length(unit.n, w);
    for (size_t i = 0; i < unit.n; i++) {
        phi[i] = length > 0 ? -(out->b / length) * (w[i] / length) : NAN;
        shift = base ? hypot(shift, phi[i] - base->phi[i]) : 0;
    }
    out->shift = shift;
    out->turn = base ? turn_between(unit.n, base->w, w) : 0;
    return 0;
}

static int run_method(struct work *work, enum perturb_method id, sph_perturb_tensor *tensor,
                      sph_perturb_plane *after, sph_perturb_method *out)
{
    const sph_perturb_opts *opts = work->opts;
    const struct method *method = &methods[id];
    int err;
    *out = (sph_perturb_method){.name = method->name, .unit = method->unit, .tensor = tensor, .after = after};
    for (size_t t = 0; t < SPH_PERTURB_TENSORS; t++) {
        size_t count = tensor_count(id, t, opts->inputs, opts->units);
        if (!count)
            break;
        work->base[t] = take(work, count);
        tensor[out->tensors++] = (sph_perturb_tensor){.name = method->tensor[t].name,
                                                      .value = work->base[t],
                                                      .count = count,
                                                      .perturbed = method->tensor[t].perturbed};
    }
    if ((err = set_base(work, id)) < 0 || (err = make_plane(work, id, work->base, 0, NULL, &out->base)) < 0)
        return err;
    for (size_t e = 0; e < opts->count; e++) {
        for (size_t t = 0; t < out->tensors; t++)
            for (size_t i = 0; i < out->tensor[t].count; i++)
                work->changed[t][i] = work->base[t][i] + (out->tensor[t].perturbed ? opts->eps[e] : 0);
        if ((err = make_plane(work, id, work->changed, opts->eps[e], &out->base, &after[e])) < 0)
            return err;
    }
    return 0;
}

int sph_perturb(sph_perturb_result *out, const sph_perturb_opts *opts)
{
    NEED(out, opts);
    sph_perturb_opts own = usual;
    int err = SIZED_TAKE(&own, opts, sph_perturb_opts);
    *out = (sph_perturb_result){0};
    if (err < 0 || (err = check_opts(&own)) < 0)
        return err;
    opts = &own;
    size_t n = opts->inputs, planes = SPH_PERTURB_METHODS * opts->count;
    size_t changed[SPH_PERTURB_TENSORS] = {n, 1, 1, (opts->units - 1) * n};
    size_t numbers = n + 2 * n * (SPH_PERTURB_METHODS + planes);
    for (size_t t = 0; t < SPH_PERTURB_TENSORS; t++) {
        numbers += changed[t];
        for (int id = 0; id < SPH_PERTURB_METHODS; id++)
            numbers += tensor_count((enum perturb_method)id, t, n, opts->units);
    }
    struct lists *lists =
        mem_get(sizeof *lists + planes * sizeof(sph_perturb_plane) + numbers * sizeof(double), 1);
    if (!lists)
        return SPH_EMEMORY;
    sph_perturb_plane *after = (sph_perturb_plane *)(lists + 1);
    struct work work = {.opts = opts, .next = (double *)(after + planes)};
    out->memory = lists;
    out->method = lists->method;
    out->methods = SPH_PERTURB_METHODS;
    out->inputs = n;
    out->count = opts->count;
    work.w = take(&work, n);
    for (size_t t = 0; t < SPH_PERTURB_TENSORS; t++)
        work.changed[t] = take(&work, changed[t]);
    draw_base(&work);
    for (size_t id = 0; id < SPH_PERTURB_METHODS && !err; id++)
        err = run_method(&work, (enum perturb_method)id, lists->tensor[id], after + id * opts->count,
                         &lists->method[id]);
    if (err < 0)
        sph_perturb_free(out);
    return err;
}

void sph_perturb_free(sph_perturb_result *result)
{
    if (!result)
        return;
    mem_free(result->memory);
    *result = (sph_perturb_result){0};
}
