/* SPDX-License-Identifier: MIT
 *
 * The activation patterns of a run, as they come, in a series of its folder: one row per record of
 * boundary/patterns. As arrays: pattern_step (P); for each site PATH.pattern (P, rows, bytes) as
 * numpy.packbits packs, PATH.flips (P), PATH.distinct (P); flips (P), distinct (P) of all sites together; and
 * PATH.bits, how many bits of a row are meant. */
#ifndef SPH_JOB_RECORD_PATTERNS_H
#define SPH_JOB_RECORD_PATTERNS_H

#include "boundary/patterns.h"
#include "store/series.h"

struct record_patterns;

/* net and source are borrowed; source: rows as they are, not augmented. keep_rows: as for series_open; what
 * follows is compared with the last row kept. */
int record_patterns_open(struct record_patterns **out, const char *path, sph_net *net,
                         const struct source *source, uint64_t keep_rows);
void record_patterns_free(struct record_patterns *record); /* closes the series */

/* The net as it is now. */
int record_patterns_take(struct record_patterns *record, uint64_t step);

/* Borrowed: to sync, to save. */
struct series *record_patterns_series(const struct record_patterns *record);

/* To save beside it: PATH.bits. Borrowed. */
const struct npz_array *record_patterns_constants(const struct record_patterns *record, size_t *count);

#endif
