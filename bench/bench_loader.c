/* SPDX-License-Identifier: MIT
 *
 * Pictures of a folder as a training gets them, and the limit that decoding them sets: in turns, so that a machine
 * that is busy for a while slows both. */
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "bench.h"
#include "data/folder.h"
#include "data/view.h"
#include "file/file.h"
#include "rows/data.h"

enum { PICTURES_MOST = 512 }; /* of which the files are held for the limit */

static const double repetition_seconds = 0.5;

/* What the processors did, whatever else the machine was doing. */
static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct limit {
    struct picture_desk desk;
    char **file; /* (count) */
    size_t *length, count;
};

static int limit_make(struct limit *out, const char *dir, size_t count)
{
    struct folder *folder = NULL;
    int err = folder_open(&folder, dir);
    *out = (struct limit){.file = mem_get(count, sizeof *out->file),
                          .length = mem_get(count, sizeof *out->length)};
    if (!err && (!out->file || !out->length))
        err = SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++, out->count++) {
        char *path = folder_name(folder, i, 1);
        err = path ? file_read(&out->file[i], &out->length[i], path) : SPH_EMEMORY;
        mem_free(path);
    }
    folder_free(folder);
    return err;
}

static void limit_free(struct limit *limit)
{
    for (size_t i = 0; limit->file && i < limit->count; i++)
        mem_free(limit->file[i]);
    mem_free(limit->file);
    mem_free(limit->length);
    picture_desk_free(&limit->desk);
}

/* The decoder alone, at the same part of the size, on one thread. */
static int decode_all(struct limit *limit, size_t epoch, size_t size, sph_decode decode)
{
    int err = 0;
    for (size_t i = 0; i < limit->count && !err; i++) {
        struct view_choice choice;
        view_choose(&choice, SPH_AUGMENT_COLOUR, 1, epoch, (uint32_t)i, size, 0);
        limit->desk.file = limit->file[i];
        limit->desk.length = limit->length[i];
        err = picture_decode(&limit->desk, "a picture", 3, decode == SPH_DECODE_SCALED ? choice.shorter : 0);
    }
    limit->desk.file = NULL;
    return err;
}

static int load_all(struct picture_stream *stream, size_t epoch, size_t count)
{
    const uint8_t *pixels;
    int err = stream->begin(stream, epoch, NULL, NULL, count);
    for (uint32_t row = 0; row < count && !err; row++)
        err = stream->take(stream, row, &pixels);
    return err;
}

/* Best rates of rounds through all pictures. */
struct rate {
    double wall, processor;
};

static void keep(struct rate *best, double pictures, double wall, double processor)
{
    best->wall = fmax(best->wall, pictures / wall);
    best->processor = fmax(best->processor, pictures / processor);
}

static int measure(struct limit *limit, struct picture_stream *stream, size_t size, size_t repeats,
                   sph_decode decode, struct rate best[2])
{
    int err = 0;
    for (size_t turn = 0; turn <= repeats && !err; turn++) /* the first warms up */
        for (int what = 0; what < 2 && !err; what++) {
            double wall = clock_seconds(), processor = processor_seconds(), done = 0;
            for (size_t epoch = 0; !err && clock_seconds() - wall < repetition_seconds; epoch++) {
                err = what ? decode_all(limit, epoch, size, decode) : load_all(stream, epoch, limit->count);
                done += (double)limit->count;
            }
            if (turn && !err)
                keep(&best[what], done, clock_seconds() - wall, processor_seconds() - processor);
        }
    return err;
}

int bench_loader(const bench_loader_opts *opts, bench_loader_result *result)
{
    sph_data *data = NULL;
    struct picture_stream *stream = NULL;
    struct limit limit = {0};
    struct rate best[2] = {{0, 0}, {0, 0}};
    sph_data_opts how;
    sph_data_defaults(&how);
    how.side = opts->size;
    how.decode = opts->decode;
    how.workers = opts->workers;
    int err = sph_data_open(&data, opts->data, &how);
    if (!err && !data->image.pictures)
        err = sph_fail_at(SPH_EARG, opts->data, "not a folder of pictures");
    size_t count = err ? 0 : data->rows < PICTURES_MOST ? data->rows : PICTURES_MOST;
    if (!err && !(err = limit_make(&limit, opts->data, count)) &&
        !(err = data->image.pictures->stream(data->image.pictures, &stream, SPH_AUGMENT_COLOUR, 1, NULL,
                                             count)))
        err = measure(&limit, stream, data->image.height, opts->repeats, opts->decode, best);
    if (!err)
        *result = (bench_loader_result){.images_per_second = best[0].wall,
                                        .decode_only = best[1].wall,
                                        .per_processor_second = best[0].processor,
                                        .decode_per_processor_second = best[1].processor,
                                        .images = count,
                                        .size = data->image.height};
    if (stream)
        stream->release(stream);
    limit_free(&limit);
    sph_data_free(data);
    return err;
}
