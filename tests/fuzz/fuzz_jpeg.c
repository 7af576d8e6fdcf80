/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a picture in JPEG, decoded whole or small, in colours or gray, and what a net sees of it. */
#include "picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    return fuzz_picture(&picture_jpeg, bytes, length);
}
