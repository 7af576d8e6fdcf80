/* SPDX-License-Identifier: MIT
 *
 * What a run records during training: moves of boundaries and, at selected steps, their positions, which
 * units are active for which rows, and gradient norms. Rows are appended to files of the run folder, which
 * become boundaries.npz at the end. Memory does not grow with the number of steps. */
#ifndef SPH_JOB_RECORD_H
#define SPH_JOB_RECORD_H

#include "file/json.h"
#include "job/moments.h"
#include "job/tool.h"
#include "net/net.h"
#include "rows/data.h"
#include "rows/source.h"
#include "spherelu/job.h"

struct record;

struct record_setup {
    const char *dir;                    /* the run folder                                              */
    const struct moments_list *moments; /* what and when; borrowed                            */
    sph_net *net;                       /* that is trained, with its standardisation; borrowed         */
    const sph_data *data;               /* whose features have names, or NULL; borrowed for the call   */
    const struct source *rows;          /* training rows as they are; borrowed                         */
    size_t batch_rows;                  /* of them as many as a step takes at once, for gradients      */
    const sph_train_opts *opts;         /* their loss                                                  */
    const json_t *kept;                 /* what record_sync gave the checkpoint to go on from, or NULL */
    int finished;                       /* nothing is left to train: then the files may be gone        */
};

/* A boundaries.npz from before is removed: from here on it would not be the record of what is there. */
int record_new(struct record **out, const struct record_setup *setup);
void record_free(struct record *record); /* NULL is fine */

/* To stand before whoever saves checkpoints: then these know the row of their step. */
sph_observer record_observer(struct record *record);

sph_record_size record_size(const struct record *record);

/* Everything onto the disk; *rows says how much that is. Caller frees with json_decref. */
int record_sync(struct record *record, json_t **rows);

/* boundaries.npz of everything so far. */
int record_save(struct record *record);

/* It has been saved for good: the other files go. */
void record_finish(struct record *record);

/* The same for the folder of a run that was killed between its last file and that. */
int record_sweep(const char *dir);

#endif
