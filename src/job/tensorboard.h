/* SPDX-License-Identifier: MIT
 *
 * log: tensorboard: an observer that writes the values of metrics.jsonl, and the recorded motion of
 * boundaries, to an event file in the run folder. */
#ifndef SPH_JOB_TENSORBOARD_H
#define SPH_JOB_TENSORBOARD_H

#include "net/net.h"
#include "rows/source.h"
#include "job/options.h"

struct tensorboard;

struct tensorboard_setup {
    const char *dir;             /* the run folder                                       */
    const struct job_spec *spec; /* whose options become hparams; borrowed               */
    const sph_net *net;          /* borrowed                                             */
    const struct source
        *rows;     /* training rows as they are, where boundaries are recorded, else NULL; borrowed */
    uint64_t step; /* that it goes on from; 0: it begins                   */
};

int tensorboard_new(struct tensorboard **out, const struct tensorboard_setup *setup);
void tensorboard_free(struct tensorboard *board); /* NULL is fine */

/* Everything so far into the file: before a checkpoint, from which a later file goes on. */
int tensorboard_flush(struct tensorboard *board);
sph_observer tensorboard_observer(struct tensorboard *board);

#endif
