/* SPDX-License-Identifier: MIT
 *
 * A line at a time: down first, where numbers that lie side by side are treated alike, then across, where the channels of a
 * pixel are lanes of 16 bits in one number of 64. */
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

/* Those of the results [begin, begin + count) of an axis of `in` numbers that becomes one of `out`. */
static int set_taps(struct resample_taps *taps, size_t in, size_t out, size_t begin, size_t count)
{
    double scale = (double)in / (double)out, reach = scale > 1 ? scale : 1;
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
        double centre = ((double)(begin + i) + 0.5) * scale, sum = 0, so_far = 0;
        size_t first = centre - reach > 0 ? (size_t)(centre - reach + 0.5) : 0,
               end = (size_t)(centre + reach + 0.5) < in ? (size_t)(centre + reach + 0.5) : in, taken = 0;
        uint16_t *to = taps->weight + i * most;
        to[1] = 0;
        for (size_t k = first; k < end; k++)
            sum += triangle((double)k + 0.5 - centre, reach);
        for (size_t k = first; k < end; k++) { /* rounded so that they are RESAMPLE_ONE together */
            so_far += triangle((double)k + 0.5 - centre, reach);
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

static void weigh(uint16_t *restrict sum, const uint8_t *restrict line, uint16_t weight, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] = (uint16_t)(weight * line[i]);
}

static void weigh_more(uint16_t *restrict sum, const uint8_t *restrict line, uint16_t weight, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] = (uint16_t)(sum[i] + weight * line[i]);
}

/* The half of rounding is in it: at most 255 * 256 + 128. */
static void settle(uint16_t *line, size_t count)
{
    for (size_t i = 0; i < count; i++)
        line[i] = (uint16_t)((uint16_t)(line[i] + RESAMPLE_ONE / 2) >> 8);
}

/* r->line <- line y of the result, with the columns that are needed. */
static void go_down(struct resample *r, const struct picture *picture, size_t y)
{
    size_t step = picture->step, count = (r->across.to - r->across.from) * step;
    const uint16_t *weight = r->down.weight + y * r->down.most;
    const uint8_t *line = picture->bytes + (r->down.first[y] * picture->width + r->across.from) * step;
    weigh(r->line, line, weight[0], count);
    for (size_t k = 1; k < r->down.count[y]; k++)
        weigh_more(r->line, line + k * picture->width * step, weight[k], count);
    settle(r->line, count);
}

/* ---------------------------------------------------------------- across */

static uint64_t load(const uint16_t *pixel)
{
    uint64_t lanes;
    memcpy(&lanes, pixel, sizeof lanes);
    return lanes;
}

static void put(uint8_t *to, size_t plane, uint64_t sum)
{
    uint16_t lane[4];
    memcpy(lane, &sum, sizeof lane);
    to[0] = (uint8_t)(lane[0] >> 8);
    to[plane] = (uint8_t)(lane[1] >> 8);
    to[2 * plane] = (uint8_t)(lane[2] >> 8);
}

/* No lane goes beyond 255 * 256 + 128. */
static void go_across_colours(const struct resample *r, size_t size, int flip, uint8_t *to)
{
    const struct resample_taps *taps = &r->across;
    const uint64_t halves = 0x0080008000800080u;
    ptrdiff_t step = flip ? -1 : 1;
    size_t plane = size * size;
    to += flip ? size - 1 : 0;
    if (taps->longest <= 2) { /* a picture that grows: the second weight is 0 where there is one alone */
        for (size_t x = 0; x < size; x++, to += step) {
            const uint16_t *weight = taps->weight + x * taps->most,
                           *from = r->line + (taps->first[x] - taps->from) * 4;
            put(to, plane, halves + load(from) * weight[0] + load(from + 4) * weight[1]);
        }
        return;
    }
    for (size_t x = 0; x < size; x++, to += step) {
        const uint16_t *weight = taps->weight + x * taps->most,
                       *from = r->line + (taps->first[x] - taps->from) * 4;
        uint64_t sum = halves;
        for (size_t k = 0; k < taps->count[x]; k++, from += 4)
            sum += load(from) * weight[k];
        put(to, plane, sum);
    }
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

int resample_window(struct resample *r, const struct picture *picture, const struct picture_window *window,
                    uint8_t *to)
{
    size_t size = window->size;
    if (set_taps(&r->across, picture->width, window->width, window->left, size) < 0 ||
        set_taps(&r->down, picture->height, window->height, window->top, size) < 0)
        return SPH_EMEMORY;
    size_t count = (r->across.to - r->across.from + 1) * picture->step; /* one more may be looked at */
    if (count > r->room) {
        mem_free(r->line);
        r->line = mem_get(count, sizeof *r->line);
        r->room = r->line ? count : 0;
        if (!r->room)
            return SPH_EMEMORY;
    }
    for (size_t y = 0; y < size; y++) {
        go_down(r, picture, y);
        (picture->channels == 3 ? go_across_colours : go_across_gray)(r, size, window->flip, to + y * size);
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
    mem_free(r->across.first);
    mem_free(r->across.count);
    mem_free(r->across.weight);
    mem_free(r->down.first);
    mem_free(r->down.count);
    mem_free(r->down.weight);
    *r = (struct resample){0};
}
