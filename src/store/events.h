/* SPDX-License-Identifier: MIT
 *
 * TensorBoard event files: records with a length, a message and checksums (TFRecord), appended immediately
 * and flushed at most once a second. Without protobuf-c, events_none.c returns errors instead. */
#ifndef SPH_STORE_EVENTS_H
#define SPH_STORE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct events;

/* A new file in dir, whatever other ones there are. step: what was written of later ones before, by a run that was killed, is not
 * to be shown; 0: there is none. */
int events_begin(struct events **out, const char *dir, uint64_t step);
void events_free(struct events *events); /* does not flush; NULL is fine */
int events_flush(struct events *events);

/* f32, as TensorBoard has it. */
int events_scalar(struct events *events, uint64_t step, const char *tag, double value);

/* Of those of the count values (at least one) that are finite. */
int events_histogram(struct events *events, uint64_t step, const char *tag, const double *values,
                     size_t count);

/* What the run was told: (count) names and values; a value that is a number goes as one. */
int events_settings(struct events *events, const char *const *names, const char *const *values, size_t count);

/* The sum of TFRecord: crc32c, rotated and moved. */
uint32_t events_sum(const void *bytes, size_t length);

#endif
