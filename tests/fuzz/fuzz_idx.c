/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: IDX images, with as many labels as they ask for, and IDX labels beside a picture. */
#include "fuzz.h"

enum { LABELS_MOST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const uint8_t picture[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4};
    uint8_t labels[8 + LABELS_MOST] = {0, 0, 8, 1};
    size_t count = length >= 8 ? (size_t)bytes[6] << 8 | bytes[7] : 0;
    if (length >= 8)
        memcpy(labels + 4, bytes + 4, 4);
    for (size_t i = 0; i < LABELS_MOST; i++)
        labels[8 + i] = (uint8_t)(i % 2);
    fuzz_file("a-labels-idx1-ubyte", labels, 8 + (count < LABELS_MOST ? count : LABELS_MOST));
    fuzz_data(fuzz_file("a-images-idx3-ubyte", bytes, length));
    fuzz_file("b-labels-idx1-ubyte", bytes, length);
    fuzz_data(fuzz_file("b-images-idx3-ubyte", picture, sizeof picture));
    return 0;
}
