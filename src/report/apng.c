/* SPDX-License-Identifier: MIT */
#include "report/apng.h"

#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "file/file.h"

static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static void put_u32(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void put_u16(unsigned char *bytes, unsigned value)
{
    bytes[0] = (unsigned char)(value >> 8);
    bytes[1] = (unsigned char)value;
}

/* The checksum of PNG (ISO 3309), bit by bit: files are small and drawing them takes far longer. */
static uint32_t checksum(uint32_t crc, const void *bytes, size_t length)
{
    for (const unsigned char *b = bytes; length; length--) {
        crc ^= *b++;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return crc;
}

/* A chunk whose data are first and then rest. */
static void add_chunk(struct text *out, const char *type, const void *first, size_t first_length,
                      const void *rest, size_t rest_length)
{
    unsigned char length[4], crc[4];
    put_u32(length, (uint32_t)(first_length + rest_length));
    uint32_t sum = checksum(0xffffffffu, type, 4);
    sum = checksum(sum, first, first_length);
    put_u32(crc, ~checksum(sum, rest, rest_length));
    text_add_bytes(out, (const char *)length, 4);
    text_add_bytes(out, type, 4);
    text_add_bytes(out, first, first_length);
    text_add_bytes(out, rest, rest_length);
    text_add_bytes(out, (const char *)crc, 4);
}

static void add_frame_control(struct apng *apng, double seconds)
{
    unsigned char control[26] = {0};
    put_u32(control, apng->chunks++);
    memcpy(control + 4, apng->header, 8); /* width, height; offset 0, 0 */
    put_u16(control + 20, (unsigned)(seconds * 1000 + 0.5));
    put_u16(control + 22, 1000);
    add_chunk(&apng->out, "fcTL", control, sizeof control, "", 0);
}

static int broken(const char *path, const char *what)
{
    return sph_fail_at(SPH_EFORMAT, path, "%s, expected a PNG file", what);
}

int apng_add(struct apng *apng, const char *path, const char *png, size_t length, size_t frames,
             double seconds)
{
    int first = apng->frames == 0;
    struct cursor in = cursor_over(png, length);
    if (!cursor_passes(&in, signature, sizeof signature) || cursor_left(&in) < 25)
        return broken(path, "no PNG signature");
    if (first)
        text_add_bytes(&apng->out, (const char *)signature, sizeof signature);
    while (cursor_left(&in) >= 12) {
        size_t size = (size_t)cursor_big(&in, 4);
        const unsigned char *type = cursor_take(&in, 4), *data = cursor_take(&in, size);
        cursor_take(&in, 4); /* its checksum */
        if (in.spent)
            return broken(path, "a chunk reaches beyond the end");
        if (!memcmp(type, "IHDR", 4)) {
            if (size != sizeof apng->header || (!first && memcmp(apng->header, data, size)))
                return sph_fail_at(SPH_EFORMAT, path, "expected a picture of the size and kind of the first");
            memcpy(apng->header, data, size);
            if (first) {
                unsigned char control[8] = {0}; /* number of frames; 0: plays for ever */
                put_u32(control, (uint32_t)frames);
                add_chunk(&apng->out, "IHDR", data, size, "", 0);
                add_chunk(&apng->out, "acTL", control, sizeof control, "", 0);
            }
            add_frame_control(apng, seconds);
        } else if (!memcmp(type, "IDAT", 4) && first) {
            add_chunk(&apng->out, "IDAT", data, size, "", 0);
        } else if (!memcmp(type, "IDAT", 4)) {
            unsigned char number[4];
            put_u32(number, apng->chunks++);
            add_chunk(&apng->out, "fdAT", number, sizeof number, data, size);
        }
    }
    apng->frames++;
    return apng->out.failed ? SPH_EMEMORY : 0;
}

int apng_write(struct apng *apng, const char *path)
{
    add_chunk(&apng->out, "IEND", "", 0, "", 0);
    return apng->out.failed ? SPH_EMEMORY : file_replace_with(path, apng->out.chars, apng->out.length);
}

void apng_free(struct apng *apng)
{
    text_free(&apng->out);
    *apng = (struct apng){0};
}
