/* SPDX-License-Identifier: MIT
 *
 * The training loop: steps, epochs, schedules and early stopping. Progress bars, logs, checkpoints and
 * boundaries are observers. The complete state is in `net`, the slots of the optimizer, the best weights so
 * far and the scalars below, so a checkpoint is a copy of these. */
#ifndef SPH_TRAIN_TRAINER_H
#define SPH_TRAIN_TRAINER_H

#include "comm/comm.h"
#include "net/net.h"
#include "spherelu/core.h"
#include "rows/source.h"
#include "train/schedule.h"

/* The position of the loop and its memory. */
struct trainer_place {
    uint64_t step;       /* steps finished                            */
    uint64_t epoch;      /* epochs finished                           */
    uint64_t batch;      /* batches finished in the epoch at work     */
    uint64_t best_epoch; /* 0: none yet                               */
    uint64_t waited;     /* epochs since                              */
    int finished;        /* no more epochs to come                    */
    double loss_sum;     /* of this epoch's steps                     */
    double best;         /* best monitored value, smaller is better   */
    double schedule[SCHEDULE_STATE];
};

/* The same as numbers of a checkpoint: counts are whole numbers below 2^53. */
#define TRAINER_SCALARS(X)                                                                                   \
    X(STEP)                                                                                                  \
    X(EPOCH)                                                                                                 \
    X(BATCH) X(LOSS_SUM) X(BEST) X(BEST_EPOCH) X(WAITED) X(FINISHED) X(SCHEDULE) X(SCHEDULE_1) X(SCHEDULE_2)

#define TRAINER_SCALAR_ENUM(id) TRAINER_##id,
enum trainer_scalar { TRAINER_SCALARS(TRAINER_SCALAR_ENUM) TRAINER_SCALAR_COUNT };

void place_to_scalars(const struct trainer_place *at, double scalar[TRAINER_SCALAR_COUNT]);
struct trainer_place place_of_scalars(const double scalar[TRAINER_SCALAR_COUNT]);

struct trainer;

struct trainer_setup {
    sph_net *net;
    const sph_train_opts *opts; /* borrowed for the trainer's life */
    const struct source *train; /* likewise */
    const struct source *val;   /* NULL: none */
    const double *row_weights;  /* (train's rows) factors on their losses, borrowed likewise; NULL: all 1 */
    const double *val_weights;  /* (val's rows) likewise, on those that val_loss is the mean of           */
    size_t most_rows;           /* of the sources that trainer_score will see; 0: not known */
    struct comm *
        comm; /* the ranks that train it together, each with all rows in sight, borrowed for the trainer's life; NULL: this process alone */
    int local_norm; /* batch statistics are those of a rank's own rows (sync_norm off) */
};

int trainer_new(struct trainer **out, const struct trainer_setup *setup);
void trainer_free(struct trainer *trainer);

/* Trains to the end, to an observer's wish, or to divergence (SPH_EDIVERGED, message says where). Afterwards
 * trainer_stopped tells whether an observer asked. The net holds the last weights. */
int trainer_run(struct trainer *trainer, const sph_observer *observers, size_t count);

/* Calls all observers that want to see the moment. Above 0: one of them wants to stop; below: one failed. */
enum moment { AT_START, AT_STEP, AT_EPOCH, AT_END };
int observers_tell(const sph_observer *observers, size_t count, const sph_view *view, enum moment moment);

/* Options that are wrong whatever the data: SPH_EARG with the option as key (opts_check.c). */
int opts_check(const sph_train_opts *opts, const sph_net *net);
int trainer_stopped(const struct trainer *trainer);

/* At most so many steps from where it is, without observers. The last step of an epoch also scores the validation part. */
int trainer_advance(struct trainer *trainer, uint64_t steps, const sph_observer *observers, size_t count);

/* Every rank's training <- rank 0's, which may have been read from a checkpoint; or, of one that a rank trains alone, <- that
 * rank's. set_place: only where it is, for those who ask; it does not go on from there. */
void trainer_share(struct trainer *trainer);
void trainer_give(struct trainer *trainer, const struct comm *comm, size_t from);
void trainer_set_place(struct trainer *trainer, const struct trainer_place *at);

/* What an observer would see now, borrowed until the next step. */
sph_view trainer_view(struct trainer *trainer);

/* It had all its epochs and was best in the last of them, though the schedule did not see to that. */
int trainer_improving(const struct trainer *trainer);

/* Puts the weights at the end of the best epoch into the net. 0: nothing chooses an epoch, and the net keeps its last ones. */
int trainer_take_best(struct trainer *trainer);

/* Scores of the net as it is. */
int trainer_score(struct trainer *trainer, const struct source *source, sph_scores *out);

/* After last_epoch of its options was raised: whether there is more to train. */
void trainer_go_on(struct trainer *trainer);

/* A checkpoint's content: named spans of numbers, all to be written or all to be read between steps. */
struct trainer_span {
    const char *name;
    void *data;
    size_t count;
    int is_f64; /* else the net's dtype */
};
enum {
    TRAINER_SPANS = 8,
    TRAINER_START_SPANS = 3
}; /* the first: scalars, params, state; the others are 0 before the first step */
/* The spans are those of this moment; what is written into them counts after trainer_restored. */
size_t trainer_spans(struct trainer *trainer, struct trainer_span out[TRAINER_SPANS]);

/* Scalars from outside: counts are whole numbers that this training can have; the rest may be anything, infinite too. trainer NULL: those of a
 * training on other rows. (place.c) */
int trainer_check_scalars(const struct trainer *trainer, const double scalar[TRAINER_SCALAR_COUNT]);

/* After the spans were read: picks the loop up from them. */
void trainer_restored(struct trainer *trainer);

const struct trainer_place *trainer_place(const struct trainer *trainer);

/* The optimizer goes on as if it had taken so many steps. */
void trainer_set_step(struct trainer *trainer, uint64_t step);

/* out <- the names of an epoch's values, borrowed; returns their number, at most 2 SPH_METRICS_MAX + 1. */
size_t trainer_names(const struct trainer *trainer, const char **out);

/* Steps of an epoch; learned numbers that stay as they are. */
size_t trainer_steps(const struct trainer *trainer);
size_t trainer_frozen(const struct trainer *trainer);

/* Rows that a step runs through the net at once, those of all ranks. */
size_t trainer_rows(const struct trainer *trainer);

double trainer_seconds(const struct trainer *trainer);

#endif
