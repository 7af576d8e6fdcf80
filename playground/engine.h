/* SPDX-License-Identifier: MIT
 *
 * The engine of the playground: up to five networks that train side by side on the same data, from the same seed and with the
 * same batches, and what the page draws of them. The worker (src/worker.ts) calls the functions marked EXPORT in WebAssembly.
 * Their arguments are numbers and arrays of doubles, and they use public headers only: engine.c trains, lines.c reads units,
 * paint.c fills pictures, shake.c perturbs.
 *
 * Functions return 0 or more, or a negative SPH_E... code; pg_error() is then the message. */
#ifndef PLAYGROUND_ENGINE_H
#define PLAYGROUND_ENGINE_H

#include "spherelu/core.h"

#define EXPORT __attribute__((used, visibility("default")))

enum { METHODS = 5, LOG_COLUMNS = 3, LINE_COLUMNS = 6, EDGE_COLUMNS = 6 };

struct method {
    sph_net *net;
    sph_trainer *trainer;
    sph_tracker *tracker;
    sph_observer watch; /* the tracker's */
    sph_regions *regions;
    int diverged;
};

struct world {
    sph_data *data;
    sph_split split;
    sph_train_opts opts;
    struct method method[METHODS];
};

extern struct world world;

/* out (m, LINE_COLUMNS) <- the lines of the first layer, as pg_lines has them. Returns m; 0: it has no lines. */
int lines_of(const sph_net *net, int census, double *out);

#endif
