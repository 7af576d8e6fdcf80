/* SPDX-License-Identifier: MIT
 *
 * JPEG by TurboJPEG. Its markers are walked here before: the way the picture was held (EXIF), whether its inks are
 * stored inverted (Adobe), and how much memory the decoder will take. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/picture.h"

struct notes {
    int orientation; /* of EXIF, 1 to 8 */
    int adobe;       /* an Adobe marker: CMYK is stored inverted */
    int components;  /* of the frame */
    int buffered;    /* progressive, or a scan for each component: all coefficients are held */
    size_t scans;
};

/* ---------------------------------------------------------------- markers */

enum {
    START = 0xd8,
    END = 0xd9,
    SCAN = 0xda,
    RESTART_FIRST = 0xd0,
    RESTART_LAST = 0xd7,
    TEMPORARY = 0x01,
    EXIF = 0xe1,
    ADOBE = 0xee,
    ORIENTATION = 0x0112,
    COMPONENTS_MOST = 4,
    SCANS_MOST = 100 /* each goes over the whole picture, in however few bytes; encoders make ten */
};

static uint64_t number(struct cursor *in, size_t bytes, int big)
{
    return big ? cursor_big(in, bytes) : cursor_little(in, bytes);
}

/* The orientation of a TIFF header and its first directory; 1 where it has none. */
static int exif_orientation(struct cursor in)
{
    if (!cursor_passes(&in, "Exif\0\0", 6))
        return 1;
    struct cursor start = in;
    int big = cursor_passes(&in, "MM\0*", 4);
    if (!big && !cursor_passes(&in, "II*\0", 4))
        return 1;
    size_t offset = (size_t)number(&in, 4, big);
    in = start;
    if (!cursor_take(&in, offset))
        return 1;
    size_t entries = (size_t)number(&in, 2, big);
    for (size_t i = 0; i < entries && !in.spent; i++) {
        uint64_t tag = number(&in, 2, big);
        cursor_take(&in, 6); /* type and count */
        uint64_t value = number(&in, 2, big);
        cursor_take(&in, 2);
        if (tag == ORIENTATION && !in.spent)
            return value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

static int is_frame(unsigned marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/* The next marker, whatever lies before it: as the decoder looks for it. 0: there is none. */
static unsigned next_marker(struct cursor *in)
{
    const unsigned char *found;
    while (cursor_left(in) && (found = memchr(in->at, 0xff, cursor_left(in)))) {
        unsigned byte = 0xff;
        cursor_take(in, (size_t)(found - in->at));
        while (byte == 0xff)
            byte = (unsigned)cursor_big(in, 1);
        if (byte)
            return byte;
    }
    return 0;
}

/* From the first one on: bytes of a scan that look like a marker are followed by 0. */
static size_t count_scans(struct cursor in)
{
    size_t count = 1;
    for (unsigned marker; (marker = next_marker(&in));)
        count += marker == SCAN;
    return count;
}

/* What the markers before the first scan say; those that make no sense are the decoder's business. A length below 2, its own
 * bytes, is none that a marker can have: the decoder takes a comment of such a length for an empty one and goes on, and so
 * does this. Until a frame says otherwise, all coefficients are held. */
static void read_notes(struct notes *out, const void *bytes, size_t length)
{
    struct cursor in = cursor_over(bytes, length);
    *out = (struct notes){.orientation = 1, .components = COMPONENTS_MOST, .buffered = 1};
    cursor_take(&in, 2);
    for (unsigned marker; (marker = next_marker(&in));) {
        if (marker == START || marker == TEMPORARY || (marker >= RESTART_FIRST && marker <= RESTART_LAST))
            continue;
        size_t size = (size_t)cursor_big(&in, 2);
        size_t inside = size >= 2 ? size - 2 : 0;
        const unsigned char *body = cursor_take(&in, inside);
        if (!body || marker == END)
            return;
        struct cursor part = cursor_over(body, inside);
        if (marker == EXIF && out->orientation == 1) {
            out->orientation = exif_orientation(part);
        } else if (marker == ADOBE) {
            out->adobe |= cursor_passes(&part, "Adobe", 5);
        } else if (is_frame(marker)) {
            out->buffered = marker != 0xc0 && marker != 0xc1;
            cursor_take(&part, 5);
            out->components = (int)cursor_big(&part, 1);
        } else if (marker == SCAN) {
            out->buffered |= (int)cursor_big(&part, 1) < out->components;
            out->scans = out->buffered ? count_scans(in) : 1;
            return;
        }
    }
}

static int knows(const unsigned char *bytes, size_t length)
{
    return length >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

/* ---------------------------------------------------------------- decoding */

#ifdef SPH_TURBOJPEG
#include <turbojpeg.h>

/* A block of 8 x 8 takes two bits at least, an eighth of a byte where coefficients come in many scans; chroma may be a
 * quarter of the blocks. */
enum { SHARE = 1024, COEFFICIENT = 2 };

static void release(struct picture_desk *desk)
{
    if (desk->jpeg)
        tjDestroy(desk->jpeg);
    desk->jpeg = NULL;
}

/* A handle that has failed may be in the middle of something: the next file would suffer for it. */
static int fail_turbo(struct picture_desk *desk, const char *path)
{
    int err = sph_fail_at(SPH_EFORMAT, path, "not a whole JPEG: %s", tjGetErrorStr2(desk->jpeg));
    release(desk);
    return err;
}

/* Halves, quarters and eighths are made by the decoder's own transform, at a part of the cost; other parts it makes
 * at more than the cost of all. */
static tjscalingfactor factor_for(size_t shorter, size_t least)
{
    tjscalingfactor factor = {1, 1};
    while (least && factor.denom < 8 && shorter / (size_t)(2 * factor.denom) >= least)
        factor.denom *= 2;
    return factor;
}

/* Inks to colours, in place. */
static void mix_inks(struct picture *picture, size_t channels, int inverted)
{
    const uint8_t *from = picture->bytes;
    uint8_t *to = picture->bytes;
    for (size_t i = 0; i < picture->width * picture->height; i++, from += 4) {
        unsigned colour[3], black = inverted ? from[3] : 255u - from[3];
        for (int c = 0; c < 3; c++)
            colour[c] = ((inverted ? from[c] : 255u - from[c]) * black + 127) / 255;
        if (channels == 1) {
            *to++ = (uint8_t)((19595u * colour[0] + 38470u * colour[1] + 7471u * colour[2] + 0x8000u) >> 16);
            continue;
        }
        for (int c = 0; c < 3; c++)
            *to++ = (uint8_t)colour[c];
        *to++ = 0;
    }
    picture->channels = channels;
    picture->step = channels == 3 ? 4 : 1;
}

static int decode(struct picture_desk *desk, const char *path, size_t channels, size_t least)
{
    struct notes notes;
    int width = 0, height = 0, sampling, space;
    const unsigned char *bytes = (const unsigned char *)desk->file;
    if (!desk->jpeg && !(desk->jpeg = tjInitDecompress()))
        return sph_fail(SPH_EMEMORY, "out of memory: JPEG decoder");
    if (tjDecompressHeader3(desk->jpeg, bytes, desk->length, &width, &height, &sampling, &space) < 0)
        return fail_turbo(desk, path);
    if (width <= 0 || height <= 0) { /* tables alone are fine with it */
        release(desk);
        return sph_fail_at(SPH_EFORMAT, path, "not a complete JPEG file: it ends within its header");
    }
    size_t w = (size_t)width, h = (size_t)height, coefficients = 0;
    int err = picture_plausible(path, w, h, desk->length, SHARE);
    if (err < 0)
        return err;
    read_notes(&notes, bytes, desk->length);
    if (notes.scans > SCANS_MOST)
        return sph_fail_of(SPH_EFORMAT, path, 0, "scans", "%zu scans, expected at most %d", notes.scans,
                           SCANS_MOST);
    if (notes.buffered &&
        (!size_product(&coefficients, (size_t[]){w, h, (size_t)notes.components, COEFFICIENT}, 4) ||
         !mem_allows(coefficients)))
        return sph_fail_in(sph_fail_move(SPH_EMEMORY, path, 0, 0), "%zu x %zu pixels in several scans", w, h);
    tjscalingfactor factor = factor_for(w < h ? w : h, least);
    int inks = space == TJCS_CMYK || space == TJCS_YCCK;
    err = picture_shape(&desk->picture, path, (size_t)TJSCALED(width, factor),
                        (size_t)TJSCALED(height, factor), inks ? 4 : channels);
    if (err < 0)
        return err;
    struct picture *picture = &desk->picture;
    picture->full_width = w;
    picture->full_height = h;
    picture->across.length = (double)w / factor.denom;
    picture->down.length = (double)h / factor.denom;
    if (tjDecompress2(desk->jpeg, bytes, desk->length, picture->bytes, (int)picture->width, 0,
                      (int)picture->height,
                      inks            ? TJPF_CMYK
                      : channels == 1 ? TJPF_GRAY
                                      : TJPF_RGBX,
                      TJFLAG_ACCURATEDCT) < 0)
        return fail_turbo(desk, path);
    if (inks)
        mix_inks(picture, channels, notes.adobe);
    return picture_turn(desk, path, notes.orientation);
}

#else

static void release(struct picture_desk *desk)
{
    (void)desk;
}

static int decode(struct picture_desk *desk, const char *path, size_t channels, size_t least)
{
    struct notes notes;
    read_notes(&notes, desk->file, desk->length);
    (void)channels;
    (void)least;
    return sph_fail_at(SPH_EARG, path,
                       "a JPEG file, which this build cannot decode; build it with TurboJPEG");
}

#endif

const struct picture_format picture_jpeg = {"jpeg", knows, decode, release};
