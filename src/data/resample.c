/* SPDX-License-Identifier: MIT
 *
 * A line at a time: down first, where numbers that lie side by side are treated alike, then across, where two neighbours
 * with their channels are the eight lanes of a vector. What is gray goes across number by number. */
#include "data/resample.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "spherelu/base.h"

enum { RESAMPLE_ONE = 256 }; /* weights are bytes, so that sums fit 16 bits */

/* ---------------------------------------------------------------- weights */

static double triangle(double at, double reach)
{
    double height = 1 - fabs(at) / reach;
    return height > 0 ? height : 0;
}

/* What a number weighs in a result at `centre`: of one that lies in part outside the picture, that part. */
static double weight_of(size_t number, double centre, double reach, const struct picture_extent *extent)
{
    double from = fmax((double)number, extent->from),
           to = fmin((double)number + 1, extent->from + extent->length);
    return to > from ? (to - from) * triangle((from + to) / 2 - centre, reach) : 0;
}

/* Those of the results [begin, begin + count) of an axis of `in` numbers that becomes one of `out`. */
static int set_taps(struct resample_taps *taps, size_t in, const struct picture_extent *extent, size_t out,
                    size_t begin, size_t count)
{
    double scale = extent->length / (double)out, reach = scale > 1 ? scale : 1;
    size_t most = 2 * (size_t)ceil(reach) + 1;
    if (count * most > taps->room) {
        mem_free(taps->first);
        mem_free(taps->count);
        mem_free(taps->weight);
        taps->first = mem_get(count * most, sizeof *taps->first);
        taps->count = mem_get(count * most, sizeof *taps->count);
        taps->weight = mem_get(count * most, sizeof *taps->weight);
        taps->room = taps->first && taps->count && taps->weight ? count * most : 0;
        if (!taps->room)
            return SPH_EMEMORY;
    }
    taps->most = most;
    taps->longest = 0;
    taps->from = in;
    taps->to = 0;
    for (size_t i = 0; i < count; i++) {
        double centre = extent->from + ((double)(begin + i) + 0.5) * scale, sum = 0, so_far = 0;
        size_t first = centre - reach > 0 ? (size_t)(centre - reach + 0.5) : 0,
               end = (size_t)(centre + reach + 0.5) < in ? (size_t)(centre + reach + 0.5) : in, taken = 0;
        uint16_t *to = taps->weight + i * most;
        for (size_t k = first; k < end; k++)
            sum += weight_of(k, centre, reach, extent);
        for (size_t k = first; k < end; k++) { /* rounded so that they are RESAMPLE_ONE together */
            so_far += weight_of(k, centre, reach, extent);
            size_t upto = (size_t)(so_far / sum * RESAMPLE_ONE + 0.5);
            to[k - first] = (uint16_t)(upto - taken);
            taken = upto;
        }
        while (end - first > 1 && !to[end - first - 1])
            end--;
        taps->first[i] = first;
        taps->count[i] = end - first;
        taps->longest = taps->count[i] > taps->longest ? taps->count[i] : taps->longest;
        taps->from = first < taps->from ? first : taps->from;
        taps->to = end > taps->to ? end : taps->to;
    }
    return 0;
}

/* ---------------------------------------------------------------- down */

typedef uint16_t lanes __attribute__((vector_size(16))); /* two pixels of four channels */
typedef uint16_t four_wide __attribute__((vector_size(32)));
typedef uint8_t four_pixels __attribute__((vector_size(16)));

enum { LANES = 8, WIDE = 16 };

/* to (count) <- the sum of some lines, pitch bytes apart; no number goes beyond 255 * 256 + 128, half of it for rounding. Compiled
 * anew where `lines` is a constant. */
static inline __attribute__((always_inline)) void sum_lines(uint16_t *restrict to,
                                                            const uint8_t *restrict line, size_t pitch,
                                                            const uint16_t *restrict weight, size_t lines,
                                                            size_t count)
{
    size_t i = 0;
    for (; i + WIDE <= count; i += WIDE) {
        four_wide sum = {0};
        for (size_t k = 0; k < lines; k++) {
            four_pixels bytes;
            memcpy(&bytes, line + k * pitch + i, sizeof bytes);
            sum += __builtin_convertvector(bytes, four_wide) * weight[k];
        }
        sum = (sum + RESAMPLE_ONE / 2) >> 8;
        memcpy(to + i, &sum, sizeof sum);
    }
    for (; i < count; i++) {
        unsigned sum = RESAMPLE_ONE / 2;
        for (size_t k = 0; k < lines; k++)
            sum += (unsigned)weight[k] * line[k * pitch + i];
        to[i] = (uint16_t)(sum >> 8);
    }
}

/* r->line <- line y of the result, with the columns that are needed. */
static void go_down(struct resample *r, const struct picture *picture, size_t y)
{
    size_t step = picture->step, count = (r->across.to - r->across.from) * step,
           pitch = picture->width * step, lines = r->down.count[y];
    const uint16_t *weight = r->down.weight + y * r->down.most;
    const uint8_t *line = picture->bytes + r->down.first[y] * pitch + r->across.from * step;
    if (lines == 2)
        sum_lines(r->line, line, pitch, weight, 2, count);
    else if (lines == 3)
        sum_lines(r->line, line, pitch, weight, 3, count);
    else
        sum_lines(r->line, line, pitch, weight, lines, count);
}

/* ---------------------------------------------------------------- across */

typedef uint64_t two_pixels __attribute__((vector_size(16)));

static inline lanes load(const uint16_t *from)
{
    lanes got;
    memcpy(&got, from, sizeof got);
    return got;
}

/* A result of `pairs` pairs of neighbours, in two halves. */
static inline two_pixels sum_pairs(const uint16_t *from, const uint16_t *weight, size_t pairs)
{
    lanes sum = load(from) * load(weight);
    for (size_t k = 1; k < pairs; k++)
        sum += load(from + k * LANES) * load(weight + k * LANES);
    return (two_pixels)sum;
}

/* Two results, whose lanes are at most 255 * 256 + 128. */
static inline lanes two_results(const uint16_t *line, const size_t *start, const uint16_t *weight,
                                size_t pairs)
{
    two_pixels a = sum_pairs(line + start[0], weight, pairs),
               b = sum_pairs(line + start[1], weight + pairs * LANES, pairs);
    return ((lanes)(two_pixels){a[0], b[0]} + (lanes)(two_pixels){a[1], b[1]} + RESAMPLE_ONE / 2) >> 8;
}

static inline __attribute__((always_inline)) void make_pixels(uint32_t *restrict to, const struct resample *r,
                                                              size_t size, size_t pairs)
{
    const uint16_t *line = r->line, *weight = r->spread;
    for (const size_t *start = r->start, *end = start + size; start < end;
         start += 4, to += 4, weight += 4 * pairs * LANES) {
        lanes results[2] = {two_results(line, start, weight, pairs),
                            two_results(line, start + 2, weight + 2 * pairs * LANES, pairs)};
        four_wide wide;
        memcpy(&wide, results, sizeof wide);
        four_pixels bytes = __builtin_convertvector(wide, four_pixels);
        memcpy(to, &bytes, sizeof bytes);
    }
}

static void part_channels(uint8_t *restrict to, const uint32_t *restrict pixel, size_t size, size_t plane)
{
    for (size_t x = 0; x < size; x++)
        to[x] = (uint8_t)pixel[x];
    for (size_t x = 0; x < size; x++)
        to[plane + x] = (uint8_t)(pixel[x] >> 8);
    for (size_t x = 0; x < size; x++)
        to[2 * plane + x] = (uint8_t)(pixel[x] >> 16);
}

static void go_across_colours(struct resample *r, size_t size, uint8_t *to)
{
    if (r->pairs == 1)
        make_pixels(r->pixel, r, size, 1);
    else if (r->pairs == 2)
        make_pixels(r->pixel, r, size, 2);
    else
        make_pixels(r->pixel, r, size, r->pairs);
    part_channels(to, r->pixel, size, size * size);
}

static void go_across_gray(const struct resample *r, size_t size, int flip, uint8_t *to)
{
    const struct resample_taps *taps = &r->across;
    for (size_t x = 0; x < size; x++) {
        const uint16_t *weight = taps->weight + x * taps->most, *from = r->line + taps->first[x] - taps->from;
        unsigned sum = RESAMPLE_ONE / 2;
        for (size_t k = 0; k < taps->count[x]; k++)
            sum += (unsigned)weight[k] * from[k];
        to[flip ? size - 1 - x : x] = (uint8_t)(sum >> 8);
    }
}

/* The weights of going across for vectors: a result is made of pairs of neighbours, as many as the longest one needs, the
 * last ones with weight 0; in the order of the results, and some more of nothing at their end. */
static int spread_weights(struct resample *r, size_t size, int flip)
{
    const struct resample_taps *taps = &r->across;
    size_t pairs = (taps->longest + 1) / 2, results = (size + 3) / 4 * 4;
    if (!mem_reserve((void **)&r->start, &r->start_room, results, sizeof *r->start) ||
        !mem_reserve((void **)&r->pixel, &r->pixel_room, results, sizeof *r->pixel) ||
        !mem_reserve((void **)&r->spread, &r->spread_room, results * pairs * LANES, sizeof *r->spread))
        return SPH_EMEMORY;
    memset(r->spread, 0, results * pairs * LANES * sizeof *r->spread);
    memset(r->start, 0, results * sizeof *r->start);
    for (size_t x = 0; x < size; x++) {
        size_t to = flip ? size - 1 - x : x;
        r->start[to] = (taps->first[x] - taps->from) * 4;
        for (size_t i = 0; i < taps->count[x] * 4; i++)
            r->spread[to * pairs * LANES + i] = taps->weight[x * taps->most + i / 4];
    }
    r->pairs = pairs;
    return 0;
}

int resample_window(struct resample *r, const struct picture *picture, const struct picture_window *window,
                    uint8_t *to)
{
    size_t size = window->size;
    if (set_taps(&r->across, picture->width, &picture->across, window->width, window->left, size) < 0 ||
        set_taps(&r->down, picture->height, &picture->down, window->height, window->top, size) < 0 ||
        (picture->channels == 3 && spread_weights(r, size, window->flip) < 0))
        return SPH_EMEMORY;
    size_t beyond = r->across.longest + 1, /* where the last pair may look */
        count = (r->across.to - r->across.from + beyond) * picture->step;
    if (!mem_reserve((void **)&r->line, &r->room, count, sizeof *r->line))
        return SPH_EMEMORY;
    for (size_t y = 0; y < size; y++) {
        go_down(r, picture, y);
        if (picture->channels == 3)
            go_across_colours(r, size, to + y * size);
        else
            go_across_gray(r, size, window->flip, to + y * size);
    }
    return 0;
}

void resample_lighten(uint8_t *bytes, size_t count, int by)
{
    uint8_t size = (uint8_t)(by < 0 ? -by : by);
    for (size_t i = 0; i < count && by > 0; i++)
        bytes[i] = bytes[i] > 255 - size ? 255 : (uint8_t)(bytes[i] + size);
    for (size_t i = 0; i < count && by < 0; i++)
        bytes[i] = bytes[i] < size ? 0 : (uint8_t)(bytes[i] - size);
}

void resample_free(struct resample *r)
{
    mem_free(r->line);
    mem_free(r->start);
    mem_free(r->spread);
    mem_free(r->pixel);
    mem_free(r->across.first);
    mem_free(r->across.count);
    mem_free(r->across.weight);
    mem_free(r->down.first);
    mem_free(r->down.count);
    mem_free(r->down.weight);
    *r = (struct resample){0};
}
