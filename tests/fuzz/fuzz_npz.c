/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: whatever the bytes, the reader of .npz accepts or refuses them, and hands out as many
 * numbers as the shape says. Start from tests/bad/npz. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void read_all(struct npz *npz, const char *name)
{
    enum { MOST = 4096 };
    double values[MOST];
    size_t shape[NPZ_DIMS], ndim, count = 1;
    if (!npz_find(npz, name, shape, &ndim))
        return;
    if (ndim > NPZ_DIMS)
        abort();
    for (size_t i = 0; i < ndim; i++)
        count *= shape[i];
    if (npz_read(npz, name, values, count, 1) == 0) /* past its end */
        abort();
    for (size_t at = 0; at < count; at += MOST)
        if (npz_read(npz, name, values, at, count - at < MOST ? count - at : MOST) < 0)
            return;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) < 0 || pwrite(fd, bytes, length, 0) != (ssize_t)length)
        abort();

    struct npz *npz;
    if (npz_open(&npz, path) < 0)
        return 0;
    read_all(npz, "a");
    read_all(npz, "b");
    npz_free(npz);
    return 0;
}
