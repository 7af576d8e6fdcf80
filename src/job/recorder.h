/* SPDX-License-Identifier: MIT
 *
 * One recorded quantity: a series of the run folder and the function that computes its rows. */
#ifndef SPH_JOB_RECORDER_H
#define SPH_JOB_RECORDER_H

#include "net/net.h"
#include "rows/source.h"
#include "store/series.h"

struct recorder {
    struct series *series; /* NULL: it is not recorded                                  */
    char *row;             /* where it packs a row; NULL where rows are made elsewhere  */
    void *self;
    const sph_net *net; /* borrowed, where rows are packed layer by layer */
    int (*take)(struct recorder *recorder, uint64_t step); /* the net as it is now      */
    void (*free)(void *self);                              /* NULL: self is another's   */
    struct npz_array *constants; /* (constant_count) saved beside the series; self's    */
    size_t constant_count;
};

/* The columns of a series, PATH.NAME or NAME. After a failure more may be added: recorder_open looks. */
struct columns {
    struct series_column *list;
    size_t count, capacity;
    int failed;
};
void columns_add(struct columns *columns, const char *path, const char *name, const char *type, size_t ndim,
                 const size_t *shape);

/* Takes the columns. keep_rows: as for series_open; packs: it needs `row`. */
int recorder_open(struct recorder *recorder, const char *path, struct columns *columns, uint64_t keep_rows,
                  int packs);
void recorder_close(struct recorder *recorder);

/* The activation patterns, one row per record of boundary/patterns. As arrays: pattern_step (P); for each site
 * PATH.pattern (P, rows, bytes) as numpy.packbits packs, PATH.flips (P), PATH.distinct (P); flips (P), distinct (P) of
 * all sites together; and PATH.bits, how many bits of a row are meant. net and source are borrowed; source: rows as they
 * are, not augmented. What follows is compared with the last row kept. */
int recorder_patterns(struct recorder *out, const char *path, sph_net *net, const struct source *source,
                      uint64_t keep_rows);

/* How large the gradients of directions are and how many units are on (boundary/gradients.h). As arrays:
 * gradient_step (G); for each weight layer PATH.gradient and PATH.gradient_norm (G), and where it has an activation
 * PATH.active and PATH.dead (G). net and source are borrowed; source: rows as they are, of which the first `rows`
 * count. */
int recorder_gradients(struct recorder *out, const char *path, sph_net *net, const struct source *source,
                       size_t rows, const sph_train_opts *opts, uint64_t keep_rows);

#endif
