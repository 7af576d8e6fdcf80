/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: an .npz table is data or is refused. */
#include "fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    static const char *const names[] = {"x", "y", "X", "data", "labels", "target"};
    return fuzz_mutate_npz(bytes, length, most, seed, names, sizeof names / sizeof *names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_data(fuzz_file("t.npz", bytes, length));
    return 0;
}
