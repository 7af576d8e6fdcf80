/* SPDX-License-Identifier: MIT
 *
 * Which rows a step takes, and which of them are this rank's. */
#include <string.h>

#include "base/error.h"
#include "train/trainer_inside.h"

/* Whether some run of a plan would take a batch statistic over a single row, in a batch of so many. */
static int leaves_one(const struct trainer *t, size_t rows)
{
    size_t ranks = comm_size(t->team.comm);
    for (size_t i = 0; i < batches_runs(t, rows); i++) {
        size_t all = 0, done = i * t->step.micro;
        for (size_t r = 0; r < ranks; r++) {
            size_t share = comm_share_of(ranks, r, rows).count, left = share > done ? share - done : 0,
                   count = left < t->step.micro ? left : t->step.micro;
            if (t->team.local_norm && count == 1)
                return 1;
            all += count;
        }
        if (all == 1)
            return 1;
    }
    return 0;
}

static int check_micro(const struct trainer *t, size_t last)
{
    const size_t length[] = {t->step.count > 1 ? t->step.rows : last, last};
    if (t->step.micro == 1 && comm_size(t->team.comm) == 1)
        return sph_fail_key(SPH_EARG, "micro",
                            "bn, mbn and imn need at least 2 rows in a batch; use a larger --batch");
    for (int i = 0; i < 2; i++)
        if (leaves_one(t, length[i]))
            return sph_fail_key(
                SPH_EARG, "micro",
                "%zu rows at a time leave a single row at the end of a batch of %zu; use another --micro",
                t->step.micro, length[i]);
    return 0;
}

/* A last batch of one row joins the batch before it, because one row has no batch statistics. Where each rank has its own
 * statistics, each needs two rows. */
int batches_plan(struct trainer *t)
{
    size_t rows = t->train->rows, ranks = comm_size(t->team.comm), least = t->team.local_norm ? 2 * ranks : 2;
    int statistic = net_has_batch_statistic(t->net);
    if (!rows)
        return sph_fail_of(SPH_EARG, "", 0, "train", "the training set has no rows");
    t->step.rows = t->opts->batch && t->opts->batch < rows ? t->opts->batch : rows;
    t->step.count = (rows + t->step.rows - 1) / t->step.rows;
    t->step.longest = t->step.rows;
    if (t->step.rows < ranks)
        return sph_fail_key(SPH_EARG, "batch",
                            "%zu rows in a step cannot be divided among %zu processes; use a larger --batch "
                            "or fewer processes",
                            t->step.rows, ranks);
    if (statistic && t->step.rows < least)
        return sph_fail_key(SPH_EARG, "batch",
                            "bn, mbn and imn need at least 2 rows in a batch%s; use a larger --batch",
                            t->team.local_norm ? " of each process" : "");
    size_t last = rows - (t->step.count - 1) * t->step.rows;
    if (statistic && t->step.count > 1 && last < least) {
        t->step.count--;
        t->step.longest += last;
        last = t->step.longest;
    }
    t->step.share = comm_share_of(ranks, 0, t->step.longest).count;
    t->step.micro = t->opts->micro && t->opts->micro < t->step.share ? t->opts->micro : t->step.share;
    return statistic ? check_micro(t, last) : 0;
}

size_t batches_runs(const struct trainer *t, size_t rows)
{
    return (comm_share_of(comm_size(t->team.comm), 0, rows).count + t->step.micro - 1) / t->step.micro;
}

/* ---------------------------------------------------------------- an epoch's rows */

static size_t rows_of(const struct trainer *t, size_t batch)
{
    return batch + 1 == t->step.count ? t->train->rows - batch * t->step.rows : t->step.rows;
}

/* Where this rank's rows of a batch begin in its order. */
static size_t own_first(const struct trainer *t, size_t batch)
{
    return batch * comm_share(t->team.comm, t->step.rows).count;
}

/* order: of all rows -> of this rank's. A rank's rows never lie before where they move to. */
static size_t keep_own(struct trainer *t)
{
    size_t kept = 0;
    for (size_t batch = 0; batch < t->step.count; batch++) {
        struct comm_share share = comm_share(t->team.comm, rows_of(t, batch));
        memmove(t->step.order + kept, t->step.order + batch * t->step.rows + share.first,
                share.count * sizeof *t->step.order);
        kept += share.count;
    }
    return kept;
}

/* A full batch uses all rows in any order; without shuffling, sums keep their order from epoch to epoch. */
int batches_begin(struct trainer *t)
{
    if (t->train->epoch)
        t->train->epoch(t->train->self, (size_t)t->at.epoch);
    for (size_t i = 0; i < t->train->rows; i++)
        t->step.order[i] = (uint32_t)i;
    if (t->step.count > 1) {
        struct rng rng = rng_stream(t->opts->seed, RNG_SHUFFLE, (uint32_t)t->at.epoch);
        rng_shuffle(&rng, t->step.order, t->train->rows);
    }
    size_t all = t->team.comm ? keep_own(t) : t->train->rows, done = own_first(t, (size_t)t->at.batch);
    if (t->team.comm && t->at.batch == 0)
        ranks_align(t);
    return t->train->ahead && done < all
               ? t->train->ahead(t->train->self, t->step.order + done, 0, all - done)
               : 0;
}

int batches_fetch(struct trainer *t, size_t batch, size_t *rows, size_t *own)
{
    const uint32_t *order = t->step.order + own_first(t, batch);
    *rows = rows_of(t, batch);
    *own = comm_share(t->team.comm, *rows).count;
    if (t->step.fetched)
        return 0;
    int err = t->train->fetch(t->train->self, order, *own, t->step.x, t->step.ldx, t->step.y, t->step.ldy);
    for (size_t i = 0; t->row_weights && i < *own; i++)
        t->step.weights[i] = t->row_weights[order[i]];
    t->step.fetched = !err && t->step.count == 1 && !t->train->varies;
    return err;
}
