/* SPDX-License-Identifier: MIT
 *
 * What the targets of formats of pictures share. */
#ifndef TESTS_FUZZ_PICTURE_H
#define TESTS_FUZZ_PICTURE_H

#include "base/memory.h"
#include "data/view.h"
#include "fuzz.h"

FUZZ int fuzz_picture(const struct picture_format *format, const uint8_t *bytes, size_t length)
{
    static struct picture_desk desk; /* used again, as a loader does: what a bad one leaves behind shows */
    static struct resample resample;
    uint8_t seen[3 * 16 * 16];
    fuzz_home(); /* for the limit of memory */
    if (!format->knows(bytes, length))
        return 0;
    unsigned way = fuzz_way(bytes, length, 4);
    size_t channels = way & 1 ? 3 : 1, least = way & 2 ? 16 : 0;
    struct view_choice choice;
    struct picture_window window;
    if (fuzz_way(bytes, length, 64) == 0)
        picture_desk_free(&desk);
    mem_free(desk.file);
    desk.file = mem_copy(bytes, length, 1);
    desk.length = length;
    if (!desk.file || picture_decode(&desk, "p", channels, least) < 0)
        return 0;
    if (desk.picture.channels != channels)
        abort();
    view_choose(&choice, SPH_AUGMENT_CROP, 1, 0, (uint32_t)length, 16, 0);
    view_place(&window, &choice, desk.picture.full_width, desk.picture.full_height, 16);
    if (resample_window(&resample, &desk.picture, &window, seen) == 0)
        fuzz_sum = seen[channels * 16 * 16 - 1];
    return 0;
}

#endif
