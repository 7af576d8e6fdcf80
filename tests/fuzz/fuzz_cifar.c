/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: CIFAR-10, CIFAR-100 and packed files are images or are refused. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_data(fuzz_file("a_batch.bin", bytes, length));
    fuzz_data(fuzz_file("train.bin", bytes, length));
    fuzz_data(fuzz_file("a_batch.bin.gz", bytes, length));
    return 0;
}
