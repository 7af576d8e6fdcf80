/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: LIBSVM's text is data or is refused. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    fuzz_data(fuzz_file("t.libsvm", bytes, length));
    return 0;
}
