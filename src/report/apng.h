/* SPDX-License-Identifier: MIT
 *
 * An animated PNG out of plain PNG files of one size and kind: their compressed data are taken over as they
 * are. */
#ifndef SPH_REPORT_APNG_H
#define SPH_REPORT_APNG_H

#include "base/text.h"

struct apng {
    struct text out;
    unsigned char header[13]; /* IHDR of the first frame */
    unsigned frames, chunks;  /* so far: frames, numbered chunks */
};

/* The next of `frames` frames: a PNG file in memory, shown for this long. path: for messages. */
int apng_add(struct apng *apng, const char *path, const char *png, size_t length, size_t frames,
             double seconds);
int apng_write(struct apng *apng, const char *path);
void apng_free(struct apng *apng);

#endif
