/* SPDX-License-Identifier: MIT
 *
 * PNG by libpng, which leaves by longjmp where something is wrong: nothing of that gets out of this file. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/picture.h"

static int knows(const unsigned char *bytes, size_t length)
{
    return length >= 8 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8);
}

#ifdef SPH_PNG
#include <png.h>
#include <setjmp.h>

/* Deflate packs at most 1032 bytes into one, and a byte holds eight pixels of one bit. */
enum { SHARE = 8 * 1032, CHUNK_MOST = 8 << 20 };

/* What lives across the jump is here, not in a function's variables. */
struct reading {
    struct picture_desk *desk;
    const char *path;
    size_t channels;
    struct cursor in;
    png_structp png;
    png_infop info;
    png_bytep *rows; /* (height) */
    char said[200];
    int err;
    jmp_buf out;
};

static void take(png_structp png, png_bytep to, size_t count)
{
    struct reading *r = png_get_io_ptr(png);
    const unsigned char *from = cursor_take(&r->in, count);
    if (!from)
        png_error(png, "the file ends too early");
    memcpy(to, from, count);
}

static _Noreturn void fail(png_structp png, png_const_charp what)
{
    struct reading *r = png_get_error_ptr(png);
    size_t length = strlen(what);
    memcpy(r->said, what, length < sizeof r->said ? length : sizeof r->said - 1);
    longjmp(r->out, 1);
}

static void warn(png_structp png, png_const_charp what)
{
    (void)png;
    (void)what;
}

/* Any kind of PNG becomes 1 or 3 channels of 8 bits; alpha is left out, as PIL's convert does. */
static void ask_for_bytes(const struct reading *r, int colour)
{
    png_set_expand(r->png);
    png_set_strip_16(r->png);
    png_set_strip_alpha(r->png);
    if (r->channels == 3)
        png_set_filler(r->png, 0, PNG_FILLER_AFTER);
    if (r->channels == 3 && !(colour & PNG_COLOR_MASK_COLOR))
        png_set_gray_to_rgb(r->png);
    if (r->channels == 1 && (colour & PNG_COLOR_MASK_COLOR))
        png_set_rgb_to_gray_fixed(r->png, PNG_ERROR_ACTION_NONE, 29900, 58700);
    png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
}

static int read_picture(struct reading *r)
{
    png_set_user_limits(r->png, PICTURE_SIDE, PICTURE_SIDE);
    png_set_chunk_malloc_max(r->png, CHUNK_MOST);
    png_set_chunk_cache_max(r->png,
                            1); /* texts and palettes to choose from, which may be packed: none is kept */
    png_set_read_fn(r->png, r, take);
    png_read_info(r->png, r->info);
    size_t width = png_get_image_width(r->png, r->info), height = png_get_image_height(r->png, r->info);
    if ((r->err = picture_plausible(r->path, width, height, r->desk->length, SHARE)) < 0 ||
        (r->err = picture_shape(&r->desk->picture, r->path, width, height, r->channels)) < 0)
        return r->err;
    ask_for_bytes(r, png_get_color_type(r->png, r->info));
    if (png_get_rowbytes(r->png, r->info) != width * r->desk->picture.step)
        png_error(r->png, "rows of another length than its header says");
    if (!(r->rows = mem_get(height, sizeof *r->rows)))
        return r->err = SPH_EMEMORY;
    for (size_t y = 0; y < height; y++)
        r->rows[y] = r->desk->picture.bytes + y * width * r->desk->picture.step;
    png_read_image(r->png, r->rows);
    png_read_end(r->png, NULL);
    return 0;
}

static int decode(struct picture_desk *desk, const char *path, size_t channels, size_t least)
{
    struct reading *r = mem_get(1, sizeof *r);
    (void)least;
    if (!r)
        return SPH_EMEMORY;
    r->desk = desk;
    r->path = path;
    r->channels = channels;
    r->in = cursor_over(desk->file, desk->length);
    if (setjmp(r->out)) {
        r->err = sph_fail_at(SPH_EFORMAT, path, "not a whole PNG: %s", r->said);
    } else if (!(r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, fail, warn)) ||
               !(r->info = png_create_info_struct(r->png))) {
        r->err = sph_fail(SPH_EMEMORY, "out of memory: PNG decoder");
    } else {
        read_picture(r);
    }
    int err = r->err;
    if (r->png)
        png_destroy_read_struct(&r->png, &r->info, NULL);
    mem_free(r->rows);
    mem_free(r);
    return err;
}

#else

static int decode(struct picture_desk *desk, const char *path, size_t channels, size_t least)
{
    (void)desk;
    (void)channels;
    (void)least;
    return sph_fail_at(SPH_EARG, path, "a PNG file, which this build cannot decode; build it with libpng");
}

#endif

const struct picture_format picture_png = {"png", knows, decode, NULL};
