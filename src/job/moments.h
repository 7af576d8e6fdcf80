/* SPDX-License-Identifier: MIT
 *
 * What a job records and when: the words of its option `record`.
 *
 *     boundaries                   how every boundary moves, at every step, and all of them at every epoch
 *     boundaries:every             all of them at every step
 *     boundaries:0,10,100          all of them after these steps, 0 being before the first
 *     patterns[:every|:epoch|:S,S] activation patterns
 *     gradients[:...]              sizes of gradients, shares of units that are on
 *     boundaries:every+patterns    several */
#ifndef SPH_JOB_MOMENTS_H
#define SPH_JOB_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "job/yaml_out.h"

#define MOMENTS_THINGS(X)                                                                                    \
    X(BOUNDARIES, "boundaries", "boundary of each unit")                                                     \
    X(PATTERNS, "patterns", "which units are active for which samples")                                      \
    X(GRADIENTS, "gradients", "gradient norms and shares of active units")

#define MOMENTS_WHENS(X)                                                                                     \
    X(EPOCH, "epoch", "before the first step and after each epoch")                                          \
    X(EVERY, "every", "before the first step and after each")                                                \
    X(STEPS, "S,S,...", "after these steps")

#define MOMENTS_THING_ENUM(id, word, help) MOMENTS_##id,
#define MOMENTS_WHEN_ENUM(id, word, help)  MOMENTS_AT_##id,
enum { MOMENTS_THINGS(MOMENTS_THING_ENUM) MOMENTS_THING_COUNT };
enum { MOMENTS_WHENS(MOMENTS_WHEN_ENUM) MOMENTS_WHEN_COUNT };

struct moments {
    int wanted;
    int when;        /* MOMENTS_AT_... */
    uint64_t *steps; /* (count) rising */
    size_t count;
};

struct moments_list {
    struct moments of[MOMENTS_THING_COUNT];
};

extern const char *const moments_things[MOMENTS_THING_COUNT], *const moments_whens[MOMENTS_WHEN_COUNT];

/* Reads the option's text. On failure the message says what was found and expected. */
int moments_read(struct moments_list *out, const char *text);
void moments_free(struct moments_list *list);
void moments_sort(struct moments *moments); /* steps in rising order, each of them once */

/* Gives copied bytes memory of their own. */
int moments_own(struct moments_list *list);

/* Whether a thing, "boundaries", is to be recorded; NULL: any. */
int moments_want(const struct moments_list *list, const char *thing);

/* The text that reads back as the same, one way of saying it: "boundaries:epoch+patterns:0,10". */
void moments_add_text(struct text *out, const struct moments_list *list);

/* As a value of an experiment file's `record:`, {boundaries: epoch, patterns: [0, 10]}. */
void moments_write(struct yaml_out *out, const struct moments_list *list);

/* Whether it is time after so many steps, which may have been the last of an epoch. */
int moments_due(const struct moments *moments, uint64_t step, int ends_epoch);

#endif
