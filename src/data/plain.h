/* SPDX-License-Identifier: MIT
 *
 * Plain lines of a text table, from the file's bytes to numbers in one sweep: cells that are numbers, missing, or words that
 * their columns have met. Nothing is copied and nothing is looked at twice; all other lines are left to those who read with
 * care (text_sheet.c by csv.c), and what comes out is the same. */
#ifndef SPH_DATA_PLAIN_H
#define SPH_DATA_PLAIN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/levels.h"
#include "data/sheet.h"

/* ---------------------------------------------------------------- cells as one number each
 * A NaN stands for a word of the column: 0 is a missing cell, 1 the first word. */

static inline double kept_word(size_t word)
{
    uint64_t bits = UINT64_C(0x7ff8) << 48 | word;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline size_t kept_word_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (size_t)(bits & UINT32_MAX);
}

/* ---------------------------------------------------------------- lines */

struct plain {
    char delimiter;
    size_t width;
    struct profile *profile;    /* (width) borrowed: what lines hold is counted there     */
    const struct levels *words; /* (width) borrowed: those met so far                     */
    size_t rows;                /* taken                                                  */
    size_t *others;             /* (width) of them, cells that are no numbers             */
    size_t *odd;                /* (width) the columns of a line's cells that are none    */
    struct met *met;            /* texts of cells met before, and what they are; NULL: no line is plain */
};

/* 0 or SPH_EMEMORY. No line is plain where the delimiter is a sign of numbers or a blank. */
int plain_begin(struct plain *out, char delimiter, size_t width, struct profile *profile,
                const struct levels *words);

/* Adds to the profiles what the rows held. */
void plain_end(struct plain *plain);
void plain_free(struct plain *plain);

/* The line's cells into out (width). Returns what is behind its line feed; NULL: it is not plain, and nothing was done (out
 * may be written to). Reads no byte at or behind end. */
const char *plain_row(struct plain *plain, const char *line, const char *end, double *out);

#endif
