/* SPDX-License-Identifier: MIT */
#include "train/optimizer.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"

const struct optimizer_ops *optimizer_ops(sph_optimizer optimizer)
{
#define OPTIMIZER_AT(id, word, help) [SPH_OPTIMIZER_##id] = &optimizer_##id,
    static const struct optimizer_ops *const table[] = {SPH_OPTIMIZERS(OPTIMIZER_AT)};
    return table[optimizer];
}

/* ---------------------------------------------------------------- spans */

/* The first frozen tensor of what is learned from `at` to before `end`, or NULL. */
static const struct net_tensor *next_frozen(const struct weights *weights, size_t at, size_t end)
{
    const sph_net *net = weights->net;
    const struct net_tensor *next = NULL;
    for (size_t i = 0; weights->freeze && i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        if (weights->freeze->tensor[i] && tensor->at >= at && tensor->at < end &&
            (!next || tensor->at < next->at))
            next = tensor;
    }
    return next;
}

/* Tensors lie in the span whole. */
static void add_span(struct optimizer *optimizer, const struct weights *weights, sph_group group, size_t at,
                     size_t end, size_t units)
{
    while (at < end) {
        const struct net_tensor *frozen = next_frozen(weights, at, end);
        size_t stop = frozen ? frozen->at : end;
        if (at < stop)
            optimizer->spans[optimizer->span_count++] =
                (struct optimizer_span){.group = group, .at = at, .count = stop - at, .units = units};
        at = frozen ? frozen->at + frozen->view.count : end;
    }
}

/* A span for each group; under natural directions, where the optimizer has a mean of squares, one for each
 * tensor of them too. Within a group tensors lie in the order of the layers. */
static int make_spans(struct optimizer *optimizer, const struct weights *weights)
{
    const sph_net *net = weights->net;
    int per_unit = optimizer->opts->natural > 0 && optimizer->ops->unit_moment;
    optimizer->spans =
        mem_get(SPH_GROUP_COUNT + 2 * net->layer_count + net->tensor_count, sizeof *optimizer->spans);
    if (!optimizer->spans)
        return SPH_EMEMORY;
    for (int g = 0; g < SPH_GROUP_COUNT; g++) {
        sph_group group = (sph_group)g;
        size_t at = net->group_at[g];
        for (size_t l = 0; l < net->layer_count && per_unit; l++) {
            const struct net_layer *layer = &net->layers[l];
            size_t begin = layer->raw[0], units = layer->shape.m;
            if (!layer->ops->natural || layer->ops->tensor[0].group != group || begin == NET_NOWHERE)
                continue;
            size_t end = begin + units * param_per_unit(layer->ops, 0, &layer->shape);
            add_span(optimizer, weights, group, at, begin, 0);
            add_span(optimizer, weights, group, begin, end, units);
            at = end;
        }
        add_span(optimizer, weights, group, at, net->group_at[g + 1], 0);
    }
    return 0;
}

int optimizer_new(struct optimizer *out, const struct weights *weights, const sph_train_opts *opts)
{
    const struct optimizer_ops *ops = optimizer_ops(opts->optimizer);
    *out = (struct optimizer){
        .ops = ops, .opts = opts, .slots = ops->slots + (opts->momentum != 0 ? ops->momentum_slots : 0)};
    int err = make_spans(out, weights);
    for (size_t i = 0; i < out->slots && !err; i++)
        if (!(out->slot[i] = mem_get(weights->net->learned, weights->k->size)))
            err = SPH_EMEMORY;
    if (err < 0)
        optimizer_free(out);
    return err;
}

void optimizer_free(struct optimizer *optimizer)
{
    mem_free(optimizer->spans);
    for (size_t i = 0; i < OPTIMIZER_SLOTS; i++)
        mem_free(optimizer->slot[i]);
    *optimizer = (struct optimizer){0};
}

/* ---------------------------------------------------------------- a step */

/* The factor that brings the gradient's norm down to the limit. */
static double clip_factor(const struct weights *weights, double limit)
{
    if (!(limit > 0))
        return 1;
    double norm = sqrt(weights->k->sum_squares(weights->net->learned, weights->learned_grad));
    return norm > limit ? limit / norm : 1;
}

/* A span, dealt to the workers in pieces of whole vectors: of numbers or of units. */
struct update_pass {
    const struct kernels *k;
    const struct update_args *whole;
    enum update_kind update;
    size_t slots, team;
};

enum { PIECE = 64 };

static void update_share(void *context, size_t worker)
{
    const struct update_pass *pass = context;
    struct update_args args = *pass->whole;
    size_t *dealt = args.units ? &args.units : &args.count;
    size_t pieces = (*dealt + PIECE - 1) / PIECE, size = pass->k->size;
    size_t first = worker * pieces / pass->team * PIECE, stop = (worker + 1) * pieces / pass->team * PIECE;
    if (stop > *dealt)
        stop = *dealt;
    if (first >= stop)
        return;
    *dealt = stop - first;
    args.p = (char *)args.p + first * size;
    args.g = (const char *)args.g + first * size;
    for (size_t i = 0; i < pass->slots; i++)
        args.slot[i] = (char *)args.slot[i] + first * size;
    pass->k->update[pass->update](&args);
}

static double group_factor(const sph_train_opts *opts, sph_group group)
{
    return group == SPH_GROUP_THETA    ? opts->lr_theta
           : group == SPH_GROUP_LAMBDA ? opts->lr_lambda
           : group == SPH_GROUP_R      ? opts->lr_r
                                       : 1;
}

/* A moment of a unit that no longer learns shrinks until it is a denormal. Native trainings turn denormals off; WebAssembly
 * cannot, and each one costs a hundred others: there they become 0 now and then. */
#ifdef __wasm__
enum { FLUSHED_EVERY = 64 }; /* steps */

static void flush_moments(struct optimizer *optimizer, const struct weights *weights, uint64_t step)
{
    size_t count = weights->net->learned;
    for (size_t s = 0; s < optimizer->slots && step % FLUSHED_EVERY == 0; s++) {
        float *single = optimizer->slot[s];
        double *twice = optimizer->slot[s];
        for (size_t i = 0; i < count && weights->k->size == sizeof *single; i++)
            single[i] = fabsf(single[i]) < FLT_MIN ? 0 : single[i];
        for (size_t i = 0; i < count && weights->k->size == sizeof *twice; i++)
            twice[i] = fabs(twice[i]) < DBL_MIN ? 0 : twice[i];
    }
}
#else
static void flush_moments(struct optimizer *optimizer, const struct weights *weights, uint64_t step)
{
    (void)optimizer, (void)weights, (void)step;
}
#endif

void optimizer_step(struct optimizer *optimizer, struct weights *weights, double lr, uint64_t step)
{
    const sph_train_opts *opts = optimizer->opts;
    const sph_net *net = weights->net;
    const struct kernels *k = weights->k;
    struct update_args args = {
        .grad_scale = clip_factor(weights, opts->clip),
        .momentum = opts->momentum,
        .nesterov = opts->nesterov,
        .beta1 = opts->beta1,
        .beta2 = opts->beta2,
        .epsilon = opts->epsilon,
        .decoupled = optimizer->ops->decoupled,
    };
    if (optimizer->ops->begin)
        optimizer->ops->begin(&args, opts, step);
    for (size_t s = 0; s < optimizer->span_count; s++) {
        const struct optimizer_span *span = &optimizer->spans[s];
        args.units = args.ld = span->units;
        args.count = span->units ? span->count / span->units : span->count;
        args.p = (char *)net->params + span->at * k->size;
        args.g = (char *)weights->learned_grad + span->at * k->size;
        for (size_t i = 0; i < optimizer->slots; i++)
            args.slot[i] = (char *)optimizer->slot[i] + span->at * k->size;
        args.lr = lr * group_factor(opts, span->group);
        args.decay = opts->decay_groups & 1u << span->group ? opts->weight_decay : 0;
        struct update_pass pass = {k, &args, optimizer->ops->update, optimizer->slots, weights_team(weights)};
        threads_run(pass.team, update_share, &pass);
    }
    flush_moments(optimizer, weights, step);
}
