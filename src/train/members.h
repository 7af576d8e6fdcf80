/* SPDX-License-Identifier: MIT
 *
 * Trains several networks in parallel. Each is an independent training run; the results do not depend on
 * the number of threads or their timing. Training proceeds in rounds, so that the caller can report, save
 * and stop between them. */
#ifndef SPH_TRAIN_MEMBERS_H
#define SPH_TRAIN_MEMBERS_H

#include "train/fit.h"

struct members;

/* The trainers are borrowed; each was made for one thread. */
int members_new(struct members **out, sph_trainer *const *trainers, size_t count, size_t threads);
void members_free(struct members *members);

/* Trains for so long, or to the end. A failure is the first member's that has one; SPH_EDIVERGED too. */
/* Ranks share the members from here on: rank r trains members r, r + ranks, ... All of them begin with what rank 0 has. */
int members_begin_ranks(struct members *members, struct comm *comm);

/* After a round: all ranks get what the others' members came to; whole: with all that a checkpoint has. */
int members_share(struct members *members, int whole);

int members_round(struct members *members, double seconds);

/* From here on a member that diverges is finished, and the others go on. */
void members_forgive(struct members *members);
int members_diverged(const struct members *members, size_t member);
int members_finished(const struct members *members);

/* The next epoch that all have behind them who are to reach it: 1 and a view of it, or 0. Its values are the means over
 * those who trained so long; behind them stands how many these are, as `members`. Valid until the next call. */
int members_epoch(struct members *members, sph_view *view);

/* As seen between two epochs: steps and epochs of the one that has most before it, the mean loss of their last steps. */
void members_view(const struct members *members, sph_view *view);

/* Epochs of a member that members_epoch did not give yet, as rows of numbers, for a checkpoint: between rounds. */
size_t members_width(const struct members *members);
const double *members_waiting(const struct members *members, size_t member, size_t *rows);
int members_restore(struct members *members, size_t member, const double *rows, size_t count);

/* After the last round, or a checkpoint: the epoch whose view comes next. */
size_t members_given(const struct members *members);
void members_set_given(struct members *members, size_t epoch);

/* y (rows, outputs) <- what a net would give of x (rows, inputs) whose prediction is the mean of the nets'; one net's are
 * its own, to the last bit. */
int members_forward(sph_net *const *nets, size_t count, sph_loss loss, const double *x, size_t rows,
                    double *y);

/* Scores of the mean prediction of nets of one shape and standardisation. fold_end (folds), or NULL: evaluate.h. */
int members_score(sph_net *const *nets, size_t count, const sph_train_opts *opts, const struct source *source,
                  const size_t *fold_end, size_t folds, sph_scores *out);

#endif
