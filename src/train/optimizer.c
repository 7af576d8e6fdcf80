/* SPDX-License-Identifier: MIT */
#include "train/optimizer.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"

const struct optimizer_ops *optimizer_ops(sph_optimizer optimizer)
{
    static const struct optimizer_ops *const table[SPH_OPTIMIZER_COUNT] = {
        [SPH_OPTIMIZER_ADAM] = &optimizer_adam, [SPH_OPTIMIZER_ADAMW] = &optimizer_adamw,
        [SPH_OPTIMIZER_SGD] = &optimizer_sgd,   [SPH_OPTIMIZER_RMSPROP] = &optimizer_rmsprop,
        [SPH_OPTIMIZER_LION] = &optimizer_lion,
    };
    return table[optimizer];
}

int optimizer_new(struct optimizer *out, const struct weights *weights, const sph_train_opts *opts)
{
    const struct optimizer_ops *ops = optimizer_ops(opts->optimizer);
    *out = (struct optimizer){
        .ops = ops, .opts = opts, .slots = ops->slots + (opts->momentum != 0 ? ops->momentum_slots : 0)};
    for (size_t i = 0; i < out->slots; i++)
        if (!(out->slot[i] = mem_get(weights->net->learned, weights->k->size))) {
            optimizer_free(out);
            return SPH_EMEMORY;
        }
    return 0;
}

void optimizer_free(struct optimizer *optimizer)
{
    for (size_t i = 0; i < OPTIMIZER_SLOTS; i++)
        mem_free(optimizer->slot[i]);
    *optimizer = (struct optimizer){0};
}

/* The factor that brings the gradient's norm down to the limit. */
static double clip_factor(const struct weights *weights, double limit)
{
    if (!(limit > 0))
        return 1;
    double norm = sqrt(weights->k->sum_squares(weights->net->learned, weights->learned_grad));
    return norm > limit ? limit / norm : 1;
}

/* One group's span, dealt to the workers in pieces of whole vectors. */
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
    size_t pieces = (args.count + PIECE - 1) / PIECE, size = pass->k->size;
    size_t first = worker * pieces / pass->team * PIECE, stop = (worker + 1) * pieces / pass->team * PIECE;
    if (stop > args.count)
        stop = args.count;
    if (first >= stop)
        return;
    args.count = stop - first;
    args.p = (char *)args.p + first * size;
    args.g = (const char *)args.g + first * size;
    for (size_t i = 0; i < pass->slots; i++)
        args.slot[i] = (char *)args.slot[i] + first * size;
    pass->k->update[pass->update](&args);
}

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
        optimizer->ops->begin(&args, step);
    for (int group = 0; group < SPH_GROUP_COUNT; group++) {
        size_t at = net->group_at[group];
        args.count = net->group_at[group + 1] - at;
        if (!args.count)
            continue;
        args.p = (char *)net->params + at * k->size;
        args.g = (char *)weights->learned_grad + at * k->size;
        for (size_t i = 0; i < optimizer->slots; i++)
            args.slot[i] = (char *)optimizer->slot[i] + at * k->size;
        args.lr = lr * opts->group_lr[group];
        args.decay = opts->weight_decay * opts->group_decay[group];
        struct update_pass pass = {k, &args, optimizer->ops->update, optimizer->slots, weights_team(weights)};
        threads_run(pass.team, update_share, &pass);
    }
}
