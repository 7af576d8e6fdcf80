/* SPDX-License-Identifier: MIT */
#include "data/pictures.h"

#include <math.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/loader.h"
#include "data/view.h"
#include "rows/picture_source.h"

struct shelf_pictures {
    struct pictures pictures;
    struct shelf shelf;
    uint32_t *chosen;                           /* (rows) of the shelf's; NULL: all */
    size_t rows, size, side, channels, workers; /* side: of evaluation, or 0 */
    sph_decode decode;
};

/* What a decoder has to leave of the shorter side (struct picture_format). */
static size_t least_of(const struct shelf_pictures *p, size_t shorter)
{
    return p->decode == SPH_DECODE_SCALED ? shorter : 0;
}

static size_t row_of(const struct shelf_pictures *p, uint32_t row)
{
    return p->chosen ? p->chosen[row] : row;
}

/* ---------------------------------------------------------------- one row */

/* What a thread works with. */
struct desk {
    struct picture_desk picture;
    struct resample resample;
};

static void *desk_new(void *self)
{
    (void)self;
    return mem_get(1, sizeof(struct desk));
}

static void desk_free(void *self, void *which)
{
    struct desk *desk = which;
    (void)self;
    picture_desk_free(&desk->picture);
    resample_free(&desk->resample);
    mem_free(desk);
}

struct stream {
    struct picture_stream stream;
    const struct shelf_pictures *pictures;
    struct loader *loader;
    sph_augment augment;
    uint64_t seed;
    struct view_colours colours;
};

static int bring(void *self, void *which, size_t epoch, uint32_t row, uint8_t *to)
{
    const struct stream *stream = self;
    const struct shelf_pictures *p = stream->pictures;
    struct desk *desk = which;
    struct view_choice choice;
    struct picture_window window;
    view_choose(&choice, stream->augment, stream->seed, epoch, row, p->size, p->side);
    int err = p->shelf.kind->read(p->shelf.self, row_of(p, row), &desk->picture, p->channels,
                                  least_of(p, choice.shorter));
    if (err < 0)
        return err;
    const struct picture *picture = &desk->picture.picture;
    view_place(&window, &choice, picture->full_width, picture->full_height, p->size);
    if ((err = resample_window(&desk->resample, picture, &window, to)) < 0)
        return err;
    if (stream->augment == SPH_AUGMENT_COLOUR)
        view_recolour(to, p->size, &choice, &stream->colours);
    return 0;
}

/* ---------------------------------------------------------------- streams */

static int stream_begin(struct picture_stream *self, size_t epoch, const uint32_t *rows,
                        const uint32_t *order, size_t count)
{
    return loader_begin(((struct stream *)self)->loader, epoch, rows, order, count);
}

static int stream_take(struct picture_stream *self, uint32_t row, const uint8_t **pixels)
{
    return loader_take(((struct stream *)self)->loader, row, pixels);
}

static double stream_waited(const struct picture_stream *self)
{
    return loader_waited(((const struct stream *)self)->loader);
}

static void stream_release(struct picture_stream *self)
{
    struct stream *stream = (struct stream *)self;
    loader_free(stream->loader);
    mem_free(stream);
}

/* The axes of the colours of these rows, at most COLOUR_ROWS of them, as evaluation sees them. */
static int fit_colours(const struct shelf_pictures *p, const uint32_t *rows, size_t count,
                       struct view_colours *out)
{
    enum { COLOUR_ROWS = 1024 };
    size_t some = count < COLOUR_ROWS ? count : COLOUR_ROWS, plane = p->size * p->size;
    uint32_t *index = mem_get(some, sizeof *index);
    struct picture_stream *stream = NULL;
    double sum[3] = {0}, product[3][3] = {{0}};
    int err = index ? p->pictures.stream(&p->pictures, &stream, SPH_AUGMENT_NONE, 0, NULL, 0) : SPH_EMEMORY;
    for (size_t i = 0; i < some && !err; i++)
        index[i] = rows ? rows[i * count / some] : (uint32_t)(i * count / some);
    if (!err)
        err = stream->begin(stream, 0, index, NULL, some);
    for (size_t i = 0; i < some && !err; i++) {
        const uint8_t *pixels;
        if ((err = stream->take(stream, index[i], &pixels)) < 0)
            break;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b <= a; b++) {
                uint64_t both = 0, one = 0; /* 255 * 255 * 4096 * 4096 fits */
                for (size_t x = 0; x < plane; x++) {
                    both += (uint32_t)pixels[(size_t)a * plane + x] * pixels[(size_t)b * plane + x];
                    one += pixels[(size_t)a * plane + x];
                }
                product[a][b] += (double)both;
                product[b][a] = product[a][b];
                sum[a] += a == b ? (double)one : 0;
            }
    }
    if (!err)
        view_axes(out, (double)some * (double)plane, sum, (const double(*)[3])product);
    if (stream)
        stream->release(stream);
    mem_free(index);
    return err;
}

static int new_stream(const struct pictures *self, struct picture_stream **out, sph_augment augment,
                      uint64_t seed, const uint32_t *rows, size_t count)
{
    const struct shelf_pictures *p = (const struct shelf_pictures *)self;
    if (augment == SPH_AUGMENT_COLOUR && p->channels != 3)
        return sph_fail_key(SPH_EARG, "augment", "colour cannot be used with gray images; use crop");
    struct stream *stream = mem_get(1, sizeof *stream);
    if (!stream)
        return SPH_EMEMORY;
    stream->stream = (struct picture_stream){
        .begin = stream_begin, .take = stream_take, .waited = stream_waited, .release = stream_release};
    stream->pictures = p;
    stream->augment = augment;
    stream->seed = seed;
    struct loader_maker maker = {.self = stream,
                                 .bytes = p->channels * p->size * p->size,
                                 .bring = bring,
                                 .desk = desk_new,
                                 .desk_free = desk_free};
    int err = augment == SPH_AUGMENT_COLOUR ? fit_colours(p, rows, count, &stream->colours) : 0;
    if (!err)
        err = loader_new(&stream->loader, &maker, p->workers);
    if (err < 0)
        mem_free(stream);
    else
        *out = &stream->stream;
    return err;
}

/* ---------------------------------------------------------------- the set */

static char *name_of(const struct pictures *self, uint32_t row)
{
    const struct shelf_pictures *p = (const struct shelf_pictures *)self;
    return p->shelf.kind->name(p->shelf.self, row_of(p, row));
}

static void release(struct pictures *self)
{
    struct shelf_pictures *p = (struct shelf_pictures *)self;
    if (p->pictures.holders--)
        return;
    p->shelf.kind->release(p->shelf.self);
    mem_free(p->chosen);
    mem_free(p);
}

static int choose(const struct pictures *self, struct pictures **out, const uint32_t *rows, size_t count)
{
    const struct shelf_pictures *whole = (const struct shelf_pictures *)self;
    struct shelf_pictures *p = mem_get(1, sizeof *p);
    uint32_t *chosen = mem_get(count, sizeof *chosen);
    if (!p || !chosen) {
        mem_free(p);
        mem_free(chosen);
        return SPH_EMEMORY;
    }
    *p = *whole;
    p->pictures.holders = 0;
    p->shelf.self = whole->shelf.kind->share(whole->shelf.self);
    p->chosen = chosen;
    p->rows = count;
    for (size_t i = 0; i < count; i++) {
        chosen[i] = (uint32_t)row_of(whole, rows[i]);
        p->pictures.content = (p->pictures.content ^ chosen[i]) * 0x100000001b3u;
    }
    *out = &p->pictures;
    return 0;
}

static int new_pictures(struct shelf_pictures **out, const struct shelf *shelf, const sph_data *data,
                        size_t workers)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct shelf_pictures *p = mem_get(1, sizeof *p);
    if (!p)
        return SPH_EMEMORY;
    *p = (struct shelf_pictures){.pictures = {.content = shelf->content,
                                              .stream = new_stream,
                                              .name = name_of,
                                              .choose = choose,
                                              .release = release},
                                 .shelf = *shelf,
                                 .rows = shelf->rows,
                                 .size = data->image.height,
                                 .side = data->image.eval_side,
                                 .channels = data->image.channels,
                                 .decode = data->image.decode,
                                 .workers = workers          ? workers
                                            : processors > 2 ? (size_t)processors - 1
                                                             : 1};
    p->shelf.self = shelf->kind->share(shelf->self);
    *out = p;
    return 0;
}

/* ---------------------------------------------------------------- leaving out what cannot be decoded */

/* Decoded as small as it can be: enough to know. The message of a bad one is not needed. */
static int try_row(void *self, void *which, size_t epoch, uint32_t row, uint8_t *to)
{
    const struct shelf_pictures *p = self;
    struct desk *desk = which;
    (void)epoch;
    int err = p->shelf.kind->read(p->shelf.self, row, &desk->picture, p->channels, 1);
    *to = err == SPH_EFORMAT || err == SPH_EIO;
    return *to ? 0 : err;
}

/* *good (*count of them) <- the rows whose files can be decoded; *good_train <- how many of the training part. */
static int find_good(const struct shelf_pictures *p, uint32_t **good, size_t *count, size_t *good_train)
{
    struct loader_maker maker = {
        .self = (void *)(uintptr_t)p, .bytes = 1, .bring = try_row, .desk = desk_new, .desk_free = desk_free};
    struct loader *loader = NULL;
    int err =
        (*good = mem_get(p->rows, sizeof **good)) ? loader_new(&loader, &maker, p->workers) : SPH_EMEMORY;
    if (!err)
        err = loader_begin(loader, 0, NULL, NULL, p->rows);
    for (uint32_t row = 0; row < p->rows && !err; row++) {
        const uint8_t *bad;
        if ((err = loader_take(loader, row, &bad)) < 0 || *bad)
            continue;
        *good_train += !p->shelf.test_from || row < p->shelf.test_from;
        (*good)[(*count)++] = row;
    }
    loader_free(loader);
    return err;
}

/* A class must have a picture left. */
static int check_left(const struct shelf *shelf, const uint32_t *good, size_t count)
{
    for (size_t c = 0, next = 0; c < shelf->class_count; c++) {
        size_t begin = next;
        while (next < count && shelf->kind->class_of(shelf->self, good[next]) == c)
            next++;
        if (begin == next)
            return sph_fail_at(SPH_EFORMAT, shelf->path, "class '%s' has no image that can be decoded",
                               shelf->classes[c]);
    }
    return 0;
}

static int leave_out_bad(sph_data *data, struct shelf_pictures **p, int with_targets)
{
    uint32_t *good = NULL;
    struct pictures *kept;
    const struct shelf *shelf = &(*p)->shelf;
    size_t count = 0, good_train = 0, all = (*p)->rows;
    int err = find_good(*p, &good, &count, &good_train);
    if (!err && !count)
        err = sph_fail_at(SPH_EFORMAT, shelf->path, "none of its %zu images can be decoded", all);
    if (!err && with_targets && shelf->class_count && !data->labels)
        err = check_left(shelf, good, good_train);
    if (!err && count < all && !(err = choose(&(*p)->pictures, &kept, good, count))) {
        release(&(*p)->pictures);
        *p = (struct shelf_pictures *)kept;
    }
    data->counts.left_out = all - count;
    data->test_from = data->test_from ? good_train : 0;
    mem_free(good);
    return err;
}

/* ---------------------------------------------------------------- filling */

int pictures_fill(sph_data *data, const struct shelf *shelf, const sph_data_opts *opts, int with_targets)
{
    struct shelf_pictures *p = NULL;
    int err = new_pictures(&p, shelf, data, opts->workers);
    if (err < 0)
        return err;
    data->test_from = shelf->test_from;
    if (opts->skip_bad && (err = leave_out_bad(data, &p, with_targets)) < 0) {
        release(&p->pictures);
        return err;
    }
    data->image.pictures = &p->pictures;
    data->rows = p->rows;
    if (!with_targets)
        return 0;
    if (!(data->y = mem_get(p->rows, sizeof *data->y)))
        return SPH_EMEMORY;
    for (uint32_t row = 0; row < p->rows; row++)
        data->y[row] = (double)shelf->kind->class_of(shelf->self, row_of(p, row));
    return 0;
}

/* ---------------------------------------------------------------- squares, to be packed */

int pictures_squares(const struct pictures *pictures, size_t side,
                     int (*take)(void *self, uint32_t row, const uint8_t *planes), void *self)
{
    struct shelf_pictures squares =
        *(const struct shelf_pictures *)pictures; /* as evaluation sees them, whole */
    squares.size = squares.side = side;
    struct picture_stream *stream = NULL;
    int err = new_stream(&squares.pictures, &stream, SPH_AUGMENT_NONE, 0, NULL, 0);
    if (!err)
        err = stream->begin(stream, 0, NULL, NULL, squares.rows);
    for (uint32_t row = 0; row < squares.rows && !err; row++) {
        const uint8_t *planes;
        if (!(err = stream->take(stream, row, &planes)))
            err = take(self, row, planes);
    }
    if (stream)
        stream->release(stream);
    return err;
}
