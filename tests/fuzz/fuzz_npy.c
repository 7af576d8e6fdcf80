/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: an .npy table is data or is refused. */
#include "data/sheet.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct array array;
    if (npy_parse(&array, bytes, length, "t.npy") == 0) /* most are not: no file for these */
        fuzz_data(fuzz_file("t.npy", bytes, length));
    return 0;
}
