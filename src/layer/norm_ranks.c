/* SPDX-License-Identifier: MIT
 *
 * Statistics of a batch whose rows are divided among ranks (comm/comm.h). Moments are merged in the order of the ranks, so that
 * all of them come to the same bits. A rank may have no rows. */
#include <string.h>

#include "layer/norm_rows.h"

void norm_join_moments(const struct op *op, double count)
{
    struct norm_state *state = op->norm.state;
    struct norm_ranks *ranks = &state->ranks;
    size_t width = state->width, length = 2 * width + 1;
    double *mean = state->merged[0], *m2 = state->merged[1], *own = ranks->all;
    ranks->count = count;
    if (!comm_many(ranks->comm))
        return;
    own[0] = count;
    memcpy(own + 1, mean, 2 * width * sizeof *own);
    comm_gather(ranks->comm, own, length * sizeof *own, own + length);
    memset(mean, 0, 2 * width * sizeof *mean);
    ranks->count = 0;
    for (size_t r = 1; r <= ranks->comm->size; r++) {
        const double *part = own + r * length;
        double all = ranks->count + part[0], share = all > 0 ? part[0] / all : 0;
        for (size_t j = 0; j < width; j++) {
            double delta = part[1 + j] - mean[j];
            mean[j] += delta * share;
            m2[j] += part[1 + width + j] + delta * delta * ranks->count * share;
        }
        ranks->count = all;
    }
}

void norm_join_sums(const struct op *op, double count)
{
    struct norm_state *state = op->norm.state;
    struct norm_ranks *ranks = &state->ranks;
    ranks->count = count;
    if (!comm_many(ranks->comm))
        return;
    memcpy(ranks->all, state->merged[0], state->width * sizeof(double));
    ranks->all[state->width] = count;
    comm_sum(ranks->comm, ranks->all, state->width + 1, 1);
    memcpy(state->merged[0], ranks->all, state->width * sizeof(double));
    ranks->count = ranks->all[state->width];
}

const double *norm_total(const struct op *op, size_t arrays)
{
    const struct norm_state *state = op->norm.state;
    const struct norm_ranks *ranks = &state->ranks;
    if (!comm_many(ranks->comm))
        return state->merged[0];
    memcpy(ranks->all, state->merged[0], arrays * state->width * sizeof(double));
    comm_sum(ranks->comm, ranks->all, arrays * state->width, 1);
    return ranks->all;
}
