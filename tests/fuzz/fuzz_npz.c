/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: whatever the bytes, the reader of .npz accepts or refuses them, and hands out as many
 * numbers as the shape says. Start from tests/bad/npz. */
#include "fuzz.h"
#include "data/npz.h"

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

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    static const char *const names[] = {"a", "b"};
    return fuzz_mutate_npz(bytes, length, most, seed, names, sizeof names / sizeof *names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct npz *npz;
    if (npz_open(&npz, fuzz_file("a.npz", bytes, length)) < 0)
        return 0;
    read_all(npz, "a");
    read_all(npz, "b");
    npz_free(npz);
    return 0;
}
