/* SPDX-License-Identifier: MIT
 *
 * How large the gradients of a run's directions are and how many of its units are on, as they come, in a series
 * of its folder (boundary/gradients.h). As arrays: gradient_step (G); for each weight layer PATH.gradient and
 * PATH.gradient_norm (G), and where it has an activation PATH.active and PATH.dead (G). */
#ifndef SPH_JOB_RECORD_GRADIENTS_H
#define SPH_JOB_RECORD_GRADIENTS_H

#include "boundary/gradients.h"
#include "store/series.h"

struct record_gradients;

/* net and source are borrowed; source: rows as they are, of which the first `rows` count. keep_rows: as for
 * series_open. */
int record_gradients_open(struct record_gradients **out, const char *path, sph_net *net,
                          const struct source *source, size_t rows, const sph_train_opts *opts,
                          uint64_t keep_rows);
void record_gradients_free(struct record_gradients *record); /* closes the series */

/* The net as it is now. */
int record_gradients_take(struct record_gradients *record, uint64_t step);

/* Borrowed: to sync, to save. */
struct series *record_gradients_series(const struct record_gradients *record);

#endif
