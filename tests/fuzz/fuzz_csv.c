/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a text table is data or is refused. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_data(fuzz_file("t.csv", bytes, length));
    return 0;
}
