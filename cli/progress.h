/* SPDX-License-Identifier: MIT
 *
 * What a training looks like from the terminal: a bar on stderr, redrawn at most ten times a second and only
 * when stderr is a terminal; with --verbose a line per epoch instead. Where stderr is none, a line every 30 seconds, or as
 * many as SPHERELU_PROGRESS_SECONDS says. */
#ifndef SPHERELU_CLI_PROGRESS_H
#define SPHERELU_CLI_PROGRESS_H

#include "spherelu.h"

struct progress {
    int bar, lines, colour;
    int drawn;        /* the bar stands on the screen  */
    int started;      /* the next two are set          */
    uint64_t first;   /* step this process began with  */
    double began;     /* clock of that step            */
    double epoch;     /* clock when this epoch began   */
    double redraw;    /* clock of the next redraw      */
    int now_and_then; /* a line every so many seconds  */
    double every, said;
    double mark_clock, next_clock; /* what the rate is measured from, and what it will be */
    uint64_t mark_step, next_step;
    char watched[64]; /* "val_loss 0.123", or ""       */
};

/* The bar of an experiment: all its jobs. */
void progress_jobs(struct progress *progress, const sph_progress *view);

/* The bar of a subdivision: how much of the area is done. */
void progress_regions(struct progress *progress, size_t regions, double share);

/* A bar of something else: what is being done, and how much of it is, 0 to 1. */
void progress_share(struct progress *progress, const char *what, double share);

/* A bar without an end in sight: what is being done. */
void progress_say(struct progress *progress, const char *what);

/* "1:02:03" or "2:03" */
void progress_time(char *out, size_t size, double seconds);

void progress_init(struct progress *progress, int quiet, int verbose);
sph_observer progress_observer(struct progress *progress);
void progress_clear(struct progress *progress); /* takes the bar off the screen */

#endif
