/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a folder of ImageNet32's files. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    mkdir(fuzz_path("set"), 0700);
    fuzz_file("set/train_data_batch_1.npz", bytes, length);
    fuzz_data(fuzz_path("set"));
    return 0;
}
