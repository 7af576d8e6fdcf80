/* SPDX-License-Identifier: MIT
 *
 * A chain from file to file, a piece of units at a time. In memory are one piece's rows as read and as
 * written, one layer's vectors, and the signs it hands to the next. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"
#include "store/chain.h"

enum { PIECE_NUMBERS = 1 << 20, COPY_NUMBERS = 1 << 16 };

/* Why a unit cannot be written. */
enum fault { FINE, ZERO_ROW, NOT_FINITE, TOO_LONG, BAD_SIGN, OUT_OF_RANGE };

struct finding {
    enum fault fault;
    size_t unit;
    double value;
    const char *tensor;
};

/* One layer on its way. */
struct work {
    const struct chain_layer *layer;
    const struct param_ops *from, *to;
    int last;
    size_t read, written;          /* numbers of a unit's row: n, n - 1 or 0              */
    const double *turn_in;         /* (n) +-1, signs of the inputs; NULL: all are +1      */
    double *turn_out;              /* (m) likewise of the units                           */
    double *vector[PARAM_TENSORS]; /* (m) of the target's tensors with one number a unit  */
    double *sign;                  /* (m) of one-input units                              */

    size_t threads, most;  /* units of a piece at most */
    size_t first, units;   /* the piece at hand        */
    double *rows;          /* (most, n) as read        */
    double *wide;          /* (most, n) as written     */
    double *weights;       /* (threads, n)             */
    struct finding *found; /* (threads)                */
    struct mem_owned owned;
};

static size_t number_size(const struct chain_layer *layer)
{
    return layer->dtype == SPH_F64 ? sizeof(double) : sizeof(float);
}

/* bytes <- values in the layer's dtype; the two may be the same memory. */
static void narrow(const struct chain_layer *layer, size_t count, const double *values, void *bytes)
{
    if (layer->dtype == SPH_F64) {
        memmove(bytes, values, count * sizeof *values);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        float value = (float)values[i];
        memcpy((char *)bytes + i * sizeof value, &value, sizeof value);
    }
}

/* out (count) <- the tensor's numbers from the given one on. Cannot fail: they are real. */
static void read_part(const struct st_tensor *tensor, size_t from, size_t count, double *out)
{
    struct st_tensor span = safetensors_span(tensor, from, count);
    safetensors_to_double(&span, out);
}

/* ---------------------------------------------------------------- one unit */

static struct finding check_range(const struct work *w, size_t j, double *const unit[PARAM_TENSORS])
{
    double most = w->layer->dtype == SPH_F64 ? DBL_MAX : FLT_MAX;
    for (size_t t = 0; t < w->to->tensors; t++) {
        size_t count = param_per_unit(w->to, t, &w->layer->shape);
        for (size_t i = 0; i < count; i++)
            if (!(fabs(unit[t][i]) <= most))
                return (struct finding){OUT_OF_RANGE, j, unit[t][i], w->to->tensor[t].name};
    }
    return (struct finding){FINE, j, 0, NULL};
}

static int all_finite(size_t n, const double *values)
{
    size_t i = 0;
    while (i < n && isfinite(values[i]))
        i++;
    return i == n;
}

/* |w| is what from_unit makes r of: only a unit without a direction stands in the way. */
static struct finding to_radius(const struct work *w, size_t j, const double *weight, double b, double s,
                                double *unit[PARAM_TENSORS])
{
    size_t n = w->layer->shape.n;
    double length = param_length(n, weight);
    if (!isfinite(length))
        return (struct finding){all_finite(n, weight) ? TOO_LONG : NOT_FINITE, j, length, NULL};
    if (length == 0 && b != 0 && s != 0)
        return (struct finding){ZERO_ROW, j, b, NULL};
    w->to->from_unit(n, weight, b, unit, w->sign ? w->sign + j : NULL);
    *unit[param_find_group(w->to, SPH_GROUP_R)] *= s;
    return check_range(w, j, unit);
}

/* |s| becomes weights, and its sign is the next layer's matter; the last layer has no activation to pass. */
static struct finding to_plain(const struct work *w, size_t j, double *weight, double b, double s,
                               double *unit[PARAM_TENSORS])
{
    size_t n = w->layer->shape.n;
    double size = w->last ? s : fabs(s);
    w->turn_out[j] = s < 0 && !w->last ? -1 : 1;
    for (size_t i = 0; i < n && size != 1; i++)
        weight[i] *= size;
    w->to->from_unit(n, weight, b * size, unit, NULL);
    return check_range(w, j, unit);
}

static struct finding convert_unit(const struct work *w, size_t j, double *weight)
{
    const struct chain_layer *layer = w->layer;
    double single[PARAM_TENSORS] = {0}, absent = 0, sign = 1, b, s;
    double *unit[PARAM_TENSORS];
    const double *raw[PARAM_TENSORS];
    for (size_t t = 0; t < PARAM_TENSORS; t++) {
        raw[t] = &single[t];
        unit[t] = w->vector[t] ? w->vector[t] + j : &absent;
        if (t && layer->raw[t])
            read_part(layer->raw[t], j, 1, &single[t]);
    }
    if (w->read)
        raw[0] = w->rows + (j - w->first) * w->read;
    if (w->written)
        unit[0] = w->wide + (j - w->first) * w->written;
    if (layer->sign)
        read_part(layer->sign, j, 1, &sign);
    if (fabs(sign) != 1)
        return (struct finding){BAD_SIGN, j, sign, NULL};
    w->from->to_unit(layer->shape.n, raw, &sign, weight, &b, &s);
    for (size_t i = 0; i < layer->shape.n && w->turn_in; i++)
        weight[i] *= w->turn_in[i];
    int radius = param_find_group(w->to, SPH_GROUP_R) >= 0;
    return (radius ? to_radius(w, j, weight, b, s, unit) : to_plain(w, j, weight, b, s, unit));
}

/* A worker's share of the piece: neighbours, so that the first worker's finding is the first unit's. */
static void convert_share(void *context, size_t worker)
{
    const struct work *w = context;
    size_t from = w->units * worker / w->threads, to = w->units * (worker + 1) / w->threads;
    struct finding *found = &w->found[worker];
    *found = (struct finding){FINE, 0, 0, NULL};
    if (w->read && to > from)
        read_part(w->layer->raw[0], (w->first + from) * w->read, (to - from) * w->read,
                  w->rows + from * w->read);
    for (size_t at = from; at < to && found->fault == FINE; at++)
        *found = convert_unit(w, w->first + at, w->weights + worker * w->layer->shape.n);
}

static int refuse(const struct work *w, const struct safetensors *file, const struct finding *found)
{
    const char *path = w->layer->path;
    size_t j = found->unit;
    char unit[160];
    snprintf(unit, sizeof unit, "%s unit %zu", path, j);
    switch (found->fault) {
    case ZERO_ROW:
        return sph_fail_line_key(SPH_EFORMAT, file->path, 0, unit,
                                 "its weights are 0 and its bias is %g: %s has no place for it", found->value,
                                 w->to->name);
    case BAD_SIGN:
        return sph_fail_of(SPH_EFORMAT, file->path, 0, unit, "%s.sign[%zu] is %g, expected 1 or -1", path, j,
                           found->value);
    case NOT_FINITE:
        return sph_fail_line_key(SPH_EFORMAT, file->path, 0, unit, "its weights are not all finite");
    case TOO_LONG:
        return sph_fail_line_key(SPH_EFORMAT, file->path, 0, unit,
                                 "the length of its weights is too large for a number");
    default:
        return sph_fail_line_key(SPH_EFORMAT, file->path, 0, unit,
                                 "its %s would be %g, not a finite number in %s", found->tensor, found->value,
                                 w->layer->dtype == SPH_F64 ? "f64" : "f32");
    }
}

/* ---------------------------------------------------------------- one layer */

static int write_numbers(struct st_writer *writer, const struct chain_layer *layer, double *values,
                         size_t count)
{
    narrow(layer, count, values, values);
    return st_writer_data(writer, values, count * number_size(layer));
}

static int convert_piece(struct work *w, const struct safetensors *file, struct st_writer *writer)
{
    threads_run(w->threads, convert_share, w);
    for (size_t i = 0; i < w->threads; i++)
        if (w->found[i].fault != FINE)
            return refuse(w, file, &w->found[i]);
    if (w->read) {
        struct st_tensor span = safetensors_span(w->layer->raw[0], w->first * w->read, w->units * w->read);
        file_map_done(&file->map, span.data, span.bytes);
    }
    int err = w->written ? write_numbers(writer, w->layer, w->wide, w->units * w->written) : 0;
    if (!err)
        file_replace_push(&writer->file);
    return err;
}

static int get_room(struct work *w)
{
    const struct param_shape *shape = &w->layer->shape;
    size_t units = PIECE_NUMBERS / shape->n;
    w->most = units < w->threads ? w->threads : units > shape->m ? shape->m : units;
    w->rows = mem_own(&w->owned, w->most * w->read, sizeof(double));
    w->wide = mem_own(&w->owned, w->most * w->written, sizeof(double));
    w->weights = mem_own(&w->owned, w->threads * shape->n, sizeof(double));
    w->found = mem_own(&w->owned, w->threads, sizeof *w->found);
    for (size_t t = 1; t < w->to->tensors; t++)
        if (param_per_unit(w->to, t, shape))
            w->vector[t] = mem_own(&w->owned, shape->m, sizeof(double));
    if (w->to->has_sign && shape->n == 1)
        w->sign = mem_own(&w->owned, shape->m, sizeof(double));
    return w->owned.failed ? SPH_EMEMORY : 0;
}

static int convert_layer(struct work *w, const struct safetensors *file, struct st_writer *writer)
{
    size_t m = w->layer->shape.m;
    w->read = param_per_unit(w->from, 0, &w->layer->shape);
    w->written = param_per_unit(w->to, 0, &w->layer->shape);
    int err = get_room(w);
    for (w->first = 0; w->first < m && !err; w->first += w->units) {
        w->units = m - w->first < w->most ? m - w->first : w->most;
        err = convert_piece(w, file, writer);
    }
    for (size_t t = 1; t < PARAM_TENSORS && !err; t++)
        if (w->vector[t])
            err = write_numbers(writer, w->layer, w->vector[t], m);
    if (!err && w->sign)
        err = write_numbers(writer, w->layer, w->sign, m);
    mem_free_owned(&w->owned);
    return err;
}

/* A layer that stays what it is. */
static int copy_layer(const struct chain_layer *layer, const struct safetensors *file,
                      struct st_writer *writer)
{
    const struct st_tensor *all[PARAM_TENSORS + 1] = {layer->raw[0], layer->raw[1], layer->raw[2],
                                                      layer->sign};
    double *values = mem_get(COPY_NUMBERS, sizeof *values);
    int err = values ? 0 : SPH_EMEMORY;
    for (size_t t = 0; t <= PARAM_TENSORS; t++)
        for (size_t i = 0; all[t] && i < all[t]->count && !err; i += COPY_NUMBERS) {
            size_t count = all[t]->count - i < COPY_NUMBERS ? all[t]->count - i : COPY_NUMBERS;
            struct st_tensor span = safetensors_span(all[t], i, count);
            read_part(all[t], i, count, values);
            file_map_done(&file->map, span.data, span.bytes);
            err = write_numbers(writer, layer, values, count);
        }
    mem_free(values);
    return err;
}

/* ---------------------------------------------------------------- the chain */

static sph_param target(const struct chain *chain, size_t k, sph_param to)
{
    return k + 1 < chain->count ? to : param_of_output(chain->layer[k].param, to);
}

static int declare(struct st_writer *writer, const struct chain_layer *layer, sph_param to, size_t *learned)
{
    const struct param_ops *ops = param_ops(to);
    enum st_dtype dtype = layer->dtype == SPH_F64 ? ST_F64 : ST_F32;
    int err = 0;
    for (size_t t = 0; t <= ops->tensors && !err; t++) {
        int is_sign = t == ops->tensors;
        size_t per_unit =
            is_sign ? ops->has_sign && layer->shape.n == 1 : param_per_unit(ops, t, &layer->shape);
        size_t shape[2] = {layer->shape.m, per_unit};
        if (!per_unit)
            continue;
        char *name = mem_format("%s%s%s", layer->path, *layer->path ? "." : "",
                                is_sign ? "sign" : ops->tensor[t].name);
        int vector = is_sign || ops->tensor[t].extent == PARAM_ONE;
        err = name ? st_writer_tensor(writer, name, dtype, shape, vector ? 1 : 2) : SPH_EMEMORY;
        mem_free(name);
        *learned += is_sign ? 0 : layer->shape.m * per_unit;
    }
    return err;
}

static int any_negative(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] < 0)
            return 1;
    return 0;
}

static int write_layers(struct st_writer *writer, const struct safetensors *file, const struct chain *chain,
                        sph_param to, size_t threads)
{
    double *turn = NULL; /* signs of the layer before, NULL where none is negative */
    int err = 0;
    for (size_t k = 0; k < chain->count && !err; k++) {
        const struct chain_layer *layer = &chain->layer[k];
        sph_param target_param = target(chain, k, to);
        if (target_param == layer->param && !turn) {
            err = copy_layer(layer, file, writer);
            continue;
        }
        struct work w = {.layer = layer,
                         .from = param_ops(layer->param),
                         .to = param_ops(target_param),
                         .last = k + 1 == chain->count,
                         .turn_in = turn,
                         .turn_out = mem_get(layer->shape.m, sizeof(double)),
                         .threads = threads};
        err = w.turn_out ? convert_layer(&w, file, writer) : SPH_EMEMORY;
        mem_free(turn);
        turn = w.turn_out;
        if (!err && !any_negative(turn, layer->shape.m)) {
            mem_free(turn);
            turn = NULL;
        }
    }
    mem_free(turn);
    return err;
}

int chain_convert(const struct safetensors *file, const struct chain *chain, const char *out, sph_param to,
                  size_t threads, size_t *learned)
{
    struct st_writer writer;
    size_t limit = threads_limit();
    *learned = 0;
    int err = st_writer_begin(&writer, out);
    if (!err)
        err = st_writer_carry(&writer, file);
    for (size_t k = 0; k < chain->count && !err; k++)
        err = declare(&writer, &chain->layer[k], target(chain, k, to), learned);
    if (!err)
        err = write_layers(&writer, file, chain, to, threads < 1 ? 1 : threads > limit ? limit : threads);
    if (!err)
        err = st_writer_commit(&writer);
    st_writer_abort(&writer);
    return err;
}
