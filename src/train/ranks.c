/* SPDX-License-Identifier: MIT
 *
 * One training by several processes: each runs its rows of every batch, gradients and losses are summed, and all of them take
 * the same step. Nobody leaves the loop before the others know: a failure or a wish to stop is told with the next sum. */
#include "train/trainer_inside.h"

enum { ALIGN_STEPS = 64 }; /* at least, between two times that ranks are aligned */

int ranks_join(struct trainer *t, int err, double *loss)
{
    if (!t->team.comm)
        return err;
    err = err ? err : t->team.err;
    double sum[] = {loss ? *loss : 0, err < 0, t->team.wish};
    comm_sum(t->team.comm, sum, sizeof sum / sizeof *sum, 1);
    if (loss)
        *loss = sum[0];
    t->seen.stopped |= sum[2] > 0;
    return sum[1] > 0 ? comm_agree(t->team.comm, err) : 0;
}

void ranks_sum_gradients(struct trainer *t)
{
    comm_sum(t->team.comm, t->weights->learned_grad, t->net->learned, t->net->dtype == SPH_F64);
}

void ranks_align_state(struct trainer *t)
{
    comm_broadcast(t->team.comm, 0, t->net->state, t->net->state_len * t->k->size);
}

void ranks_align(struct trainer *t)
{
    if (t->step.count < ALIGN_STEPS && t->at.epoch % ALIGN_STEPS)
        return;
    comm_broadcast(t->team.comm, 0, t->net->params, t->net->learned * t->k->size);
    ranks_align_state(t);
    if (!comm_first(t->team.comm))
        weights_materialize(t->weights);
}

size_t ranks_least(const struct trainer *t, size_t number)
{
    size_t least = number;
    for (size_t rank = 0; rank < comm_size(t->team.comm); rank++) {
        size_t other = number;
        comm_broadcast(t->team.comm, rank, &other, sizeof other);
        least = other < least ? other : least;
    }
    return least;
}

void trainer_give(struct trainer *t, const struct comm *comm, size_t from)
{
    struct trainer_span span[TRAINER_SPANS];
    size_t count = trainer_spans(t, span);
    for (size_t i = 0; i < count; i++)
        comm_broadcast(comm, from, span[i].data,
                       span[i].count * (span[i].is_f64 ? sizeof(double) : t->k->size));
    if (comm->rank != from)
        trainer_restored(t);
}

void trainer_share(struct trainer *t)
{
    if (t->team.comm)
        trainer_give(t, t->team.comm, 0);
}

void trainer_set_place(struct trainer *t, const struct trainer_place *at)
{
    t->at = *at;
}
