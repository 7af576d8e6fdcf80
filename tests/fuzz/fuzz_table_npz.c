/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: an .npz table is data or is refused. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_data(fuzz_file("t.npz", bytes, length));
    return 0;
}
