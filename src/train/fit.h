/* SPDX-License-Identifier: MIT
 *
 * The inside of sph_trainer, which every training run uses: it combines a network, a dataset and a split
 * with standardization, feeds and the loop. */
#ifndef SPH_TRAIN_FIT_H
#define SPH_TRAIN_FIT_H

#include "rows/feed.h"
#include "train/trainer.h"

struct sph_trainer {
    sph_net *net;                    /* borrowed */
    sph_train_opts opts;             /* its texts are borrowed */
    struct feed *train, *val, *test; /* NULL where a part is empty */
    struct feed *as_it_is; /* the training part without augmentation, for its scores; NULL: train will do */
    double *row_weights;   /* (training rows) of mean 1, or NULL */
    double *val_weights;   /* (validation rows) likewise; NULL too where there are none */
    struct trainer *loop;
    int borrows;  /* the feeds are another trainer's, of a fold those of test and as_it_is */
    int folded;   /* the rows are those of a fold */
    int diverged; /* a step did: no other follows */
};

/* The ranks that train it together, as in trainer_setup. */
struct fit_team {
    struct comm *comm; /* NULL: this process alone */
    int local_norm;
};

/* Fits the standardisation to the training part and leaves it in the net. opts: whole (sph_trainer_new takes the caller's). */
int fit_new(sph_trainer **out, sph_net *net, const sph_data *data, const sph_split *split,
            const sph_train_opts *opts, struct fit_team team);

/* The same, but the standardisation is given. */
int fit_new_scaled(sph_trainer **out, sph_net *net, const struct scaling *scaling, const sph_data *data,
                   const sph_split *split, const sph_train_opts *opts);

/* Which rows a net trains on, and which choose its epoch: those of its fold (split_fold); folds 0, or fold 0: the split's. */
struct fit_fold {
    size_t folds, fold;
};

/* The same for another net of the same shape: standardised as the first one is and, of a table, from its copy of the
 * rows, which outlives this one. split is the first one's. */
int fit_new_beside(sph_trainer **out, sph_net *net, const sph_trainer *first, const sph_data *data,
                   const sph_split *split, struct fit_fold fold, const sph_train_opts *opts);

/* Loads only the state of the optimizer and its number of steps from the bytes of sph_trainer_save_state: the trainer's net may have
 * been trained on other data before. The net keeps its weights. */
int trainer_load_optimizer(sph_trainer *trainer, const void *bytes, size_t size);

/* Trains; then the net holds the best or last weights. On divergence result says so and the error is
 * returned. */
int fit_run(sph_trainer *trainer, const sph_observer *observers, size_t count, sph_result *result);

#endif
