/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a folder of ImageNet32's files. */
#include "fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    static const char *const names[] = {"data", "labels", "mean", "x"};
    return fuzz_mutate_npz(bytes, length, most, seed, names, sizeof names / sizeof *names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    mkdir(fuzz_path("set"), 0700);
    fuzz_file("set/train_data_batch_1.npz", bytes, length);
    fuzz_data(fuzz_path("set"));
    return 0;
}
