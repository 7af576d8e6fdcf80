/* SPDX-License-Identifier: MIT */
#include "rows/feed.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

struct image_feed {
    struct feed feed;
    const sph_data *data; /* borrowed */
    const struct kernels *k;
    sph_dtype dtype;
    uint32_t *index;                     /* (rows) of the data */
    void *shades;                        /* (channels, 256) what a byte becomes */
    size_t pixel_stride, channel_stride; /* of a row of x */
    sph_augment augment;
    uint64_t seed;
    size_t epoch;
    struct picture_stream *stream; /* of images that are not in memory, which it varies itself; or NULL */
};

/* One image of either dtype. Flipped, a line is read from its end. */
#define WRITE_IMAGE(name, real)                                                                              \
    static void name(const struct image_feed *feed, const uint8_t *from, int flip, real *to)                 \
    {                                                                                                        \
        const sph_data *data = feed->data;                                                                   \
        size_t height = data->image.height, width = data->image.width, step = feed->pixel_stride;            \
        for (size_t c = 0; c < data->image.channels; c++) {                                                  \
            const real *shades = (const real *)feed->shades + c * 256;                                       \
            real *at = to + c * feed->channel_stride;                                                        \
            for (size_t line = 0; line < height; line++, from += width)                                      \
                for (size_t i = 0; i < width; i++, at += step)                                               \
                    *at = shades[from[flip ? width - 1 - i : i]];                                            \
        }                                                                                                    \
    }

WRITE_IMAGE(write_f32, float)
WRITE_IMAGE(write_f64, double)

static int is_flipped(const struct image_feed *feed, uint32_t row)
{
    if (feed->augment != SPH_AUGMENT_FLIP || feed->stream)
        return 0;
    struct rng rng = rng_stream(feed->seed, RNG_AUGMENT, (uint32_t)feed->epoch);
    rng.drawn = row; /* one word a row, whatever the order of asking */
    return (int)(rng_u32(&rng) & 1);
}

static int image_fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                       size_t ldy)
{
    const struct image_feed *feed = self;
    const sph_data *data = feed->data;
    size_t size = feed->k->size;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = feed->index[index[i]];
        const uint8_t *from = feed->stream ? NULL : data->image.pixels + row * data->features;
        int err = feed->stream ? feed->stream->take(feed->stream, row, &from) : 0;
        if (err < 0)
            return err;
        void *to = (char *)x + i * ldx * size;
        if (feed->dtype == SPH_F32)
            write_f32(feed, from, is_flipped(feed, row), to);
        else
            write_f64(feed, from, is_flipped(feed, row), to);
        if (data->y)
            feed->k->from_double(1, &data->y[row], (char *)y + i * ldy * size);
    }
    return 0;
}

static void image_epoch(void *self, size_t epoch)
{
    struct image_feed *feed = self;
    feed->epoch = epoch;
    if (feed->stream) /* nothing is ahead, which cannot fail */
        feed->stream->begin(feed->stream, epoch, NULL, NULL, 0);
}

static int image_ahead(void *self, const uint32_t *index, size_t first, size_t count)
{
    struct image_feed *feed = self;
    const uint32_t *rows = index ? feed->index : feed->index + first;
    return feed->stream->begin(feed->stream, feed->epoch, rows, index, count);
}

static double image_waited(void *self)
{
    struct image_feed *feed = self;
    return feed->stream->waited(feed->stream);
}

static void image_release(struct feed *feed)
{
    struct image_feed *images = (struct image_feed *)feed;
    if (images->stream)
        images->stream->release(images->stream);
    mem_free(images->index);
    mem_free(images->shades);
    mem_free(images);
}

/* The net's scaling knows features; here all pixels of a channel share one. */
static int fill_shades(struct image_feed *feed, const struct scaling *scaling)
{
    size_t pixels = feed->data->image.height * feed->data->image.width;
    double values[256];
    for (size_t c = 0; c < feed->data->image.channels; c++) {
        size_t first = c * pixels;
        double mean = scaling->x_mean ? scaling->x_mean[first] : 0.0;
        double scale = scaling->x_scale ? scaling->x_scale[first] : 1.0;
        for (size_t p = first; p < first + pixels; p++)
            if ((scaling->x_mean && scaling->x_mean[p] != mean) ||
                (scaling->x_scale && scaling->x_scale[p] != scale))
                return sph_fail(SPH_EFORMAT, "the network standardizes channel %zu differently", c);
        for (int v = 0; v < 256; v++)
            values[v] = (v - mean) / scale;
        feed->k->from_double(256, values, (char *)feed->shades + c * 256 * feed->k->size);
    }
    return 0;
}

/* Where pixels go in a row of the net's input. */
static int place_pixels(struct image_feed *feed, const sph_net *net)
{
    const sph_data *data = feed->data;
    const struct net_node *input = &net->nodes[0];
    size_t pixels = data->image.height * data->image.width;
    if (input->channels == data->image.channels && input->height == data->image.height &&
        input->width == data->image.width) {
        feed->pixel_stride = kernel_pad(data->image.channels);
        feed->channel_stride = 1;
    } else if (node_pixels(input) == 1 && input->channels == data->features) {
        feed->pixel_stride = 1;
        feed->channel_stride = pixels;
    } else {
        return sph_fail(
            SPH_EARG,
            "the network expects images of %zu x %zu x %zu (channels, height, width), found %zu x %zu x %zu",
            input->channels, input->height, input->width, data->image.channels, data->image.height,
            data->image.width);
    }
    return 0;
}

static int open_stream(struct image_feed *feed, size_t count)
{
    const struct pictures *pictures = feed->data->image.pictures;
    int err = pictures->stream(pictures, &feed->stream, feed->augment, feed->seed, feed->index, count);
    feed->feed.source.ahead = image_ahead;
    feed->feed.source.waited = image_waited;
    return err;
}

int image_feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
                   const sph_net *net, sph_augment augment, uint64_t seed)
{
    if (augment > SPH_AUGMENT_FLIP && !data->image.pictures)
        return sph_fail_key(SPH_EARG, "augment", "only used with image folders");
    struct image_feed *feed = mem_get(1, sizeof *feed);
    if (!feed)
        return SPH_EMEMORY;
    feed->feed.source = (struct source){.self = feed,
                                        .rows = count,
                                        .targets = data->y ? data->targets : 0,
                                        .varies = augment != SPH_AUGMENT_NONE,
                                        .fetch = image_fetch,
                                        .epoch = image_epoch};
    feed->feed.release = image_release;
    feed->data = data;
    feed->k = net->k;
    feed->dtype = net->dtype;
    feed->augment = augment;
    feed->seed = seed;
    int err = place_pixels(feed, net);
    if (!err && (!(feed->index = mem_get(count, sizeof *feed->index)) ||
                 !(feed->shades = mem_get(data->image.channels * 256, net->k->size))))
        err = SPH_EMEMORY;
    if (!err)
        err = fill_shades(feed, &net->scaling);
    for (size_t i = 0; i < count && !err; i++)
        feed->index[i] = index ? index[i] : (uint32_t)i;
    if (!err && data->image.pictures)
        err = open_stream(feed, count);
    if (err < 0) {
        image_release(&feed->feed);
        return err;
    }
    *out = &feed->feed;
    return 0;
}
