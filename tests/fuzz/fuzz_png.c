/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a picture in PNG, decoded whole, in colours or gray, and what a net sees of it. The sums of its pieces are
 * made right after a mutation, most of the time: few decoders look behind a wrong one. */
#include "picture.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t most);

static uint32_t big(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t sum_of(const uint8_t *bytes, size_t length)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    unsigned random = seed;
    length = LLVMFuzzerMutate(bytes, length, most);
    if (fuzz_random(&random) % 8 == 0)
        return length;
    for (size_t at = 8; at + 12 <= length;) {
        size_t size = big(bytes + at);
        if (size > length - at - 12)
            break;
        uint32_t sum = sum_of(bytes + at + 4, size + 4);
        for (int i = 0; i < 4; i++)
            bytes[at + 8 + size + (size_t)i] = (uint8_t)(sum >> 8 * (3 - i));
        at += 12 + size;
    }
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    return fuzz_picture(&picture_png, bytes, length);
}
