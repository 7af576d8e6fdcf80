/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a batch of ImageNet32 as a pickle. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_data(fuzz_file("val_data", bytes, length));
    return 0;
}
