/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: bytes that begin as gzip or zstd does unpack to a table or are refused. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_data(fuzz_file("t.csv.zst", bytes, length));
    fuzz_data(fuzz_file("t.csv", bytes, length));
    return 0;
}
