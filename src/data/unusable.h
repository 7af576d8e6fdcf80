/* SPDX-License-Identifier: MIT
 *
 * Columns that cannot be used, told all at once, each with what to do about it. */
#ifndef SPH_DATA_UNUSABLE_H
#define SPH_DATA_UNUSABLE_H

#include "base/text.h"
#include "data/build.h"

struct unusable {
    sph_data *data;
    const struct sheet *sheet;
    int automatic;              /* they are left out, where that mends it */
    int encodes;                /* text with many values is taken */
    struct text list, names;    /* of all with their reasons, and of those that can be left out */
    size_t unnamed;             /* of these, those that names has no space for */
    size_t count, slips, odd;   /* odd: of count, those of numbers or dates that cannot be read */
    const struct column *first; /* slip or not */
    struct text first_reason;   /* of the first that is no slip */
};

/* The column is refused for the reason: "is text with ...". */
int unusable_refuse(struct unusable *u, const struct column *column, const char *reason);

/* It is left out, if that mends it and was asked for; else refused. */
int unusable_add(struct unusable *u, struct column *column, const char *reason);

/* Numbers or dates that cannot be read are no free text, and never left out without being asked for. */
int unusable_odd(struct unusable *u, const struct column *column);

/* A column of numbers with words. */
int unusable_slip(struct unusable *u, struct column *column, const struct profile *profile);

/* Fails with all of them, if there are any and memory was not short before; frees what was collected. before: what failed until
 * then, or 0. */
int unusable_fail(struct unusable *u, int before);

#endif
