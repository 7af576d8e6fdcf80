/* SPDX-License-Identifier: MIT
 *
 * A small hash set of texts. */
#include "base/levels.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"

/* ---------------------------------------------------------------- SipHash-1-3 (Aumasson and Bernstein, 2012) */

static uint64_t key[2];

static void draw_key(void)
{
    if (getentropy(key, sizeof key) == 0)
        return;
    double now = clock_seconds(); /* a kernel without the call: what the writer of a file does not see */
    memcpy(&key[0], &now, sizeof now);
    key[1] = (uint64_t)(uintptr_t)&now * 0x9e3779b97f4a7c15u;
}

static uint64_t turn(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = turn(v[1], 13) ^ v[0];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] = turn(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = turn(v[1], 17) ^ v[2];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] = turn(v[2], 32);
}

static size_t hash(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, draw_key);
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    size_t length = strlen(text);
    for (size_t at = 0, last = 0; !last; at += sizeof(uint64_t)) {
        size_t left = length - at;
        uint64_t word = 0;
        last = left < sizeof word;
        memcpy(&word, text + at, last ? left : sizeof word);
        word |= last ? (uint64_t)length << 56 : 0;
        v[3] ^= word;
        mix(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(v);
    return (size_t)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

/* ---------------------------------------------------------------- the set */

static size_t find_slot(const struct levels *levels, const char *text)
{
    size_t at = hash(text) & (levels->slots - 1);
    while (levels->slot[at] && strcmp(levels->text[levels->slot[at] - 1], text) != 0)
        at = (at + 1) & (levels->slots - 1);
    return at;
}

static int grow(struct levels *levels)
{
    size_t slots = levels->slots ? levels->slots * 2 : 64;
    size_t *fresh = mem_get(slots, sizeof *fresh);
    if (!fresh)
        return SPH_EMEMORY;
    mem_free(levels->slot);
    levels->slot = fresh;
    levels->slots = slots;
    for (size_t i = 0; i < levels->count; i++)
        fresh[find_slot(levels, levels->text[i])] = i + 1;
    return 0;
}

int levels_add(struct levels *levels, const char *text)
{
    size_t index;
    return levels->overflow ? 0 : levels_place(levels, text, &index);
}

int levels_add_all(struct levels *levels, const struct levels *from)
{
    int err = 0;
    for (size_t i = 0; i < from->count && !err; i++)
        err = levels_add(levels, from->text[i]);
    return err;
}

int levels_place(struct levels *levels, const char *text, size_t *index)
{
    *index = SIZE_MAX;
    if (2 * (levels->count + 1) > levels->slots && grow(levels) < 0)
        return SPH_EMEMORY;
    size_t at = find_slot(levels, text);
    if (levels->slot[at]) {
        *index = levels->slot[at] - 1;
        return 0;
    }
    if (levels->limit && levels->count == levels->limit) {
        levels->overflow = 1;
        return 0;
    }
    if (!mem_reserve((void **)&levels->text, &levels->capacity, levels->count + 1, sizeof *levels->text))
        return SPH_EMEMORY;
    char *copy = mem_text(text);
    if (!copy)
        return SPH_EMEMORY;
    *index = levels->count;
    levels->text[levels->count++] = copy;
    levels->slot[at] = levels->count;
    return 0;
}

size_t levels_seen(const struct levels *levels, const char *text)
{
    return levels->slots ? levels->slot[find_slot(levels, text)] - 1 : SIZE_MAX;
}

void levels_free(struct levels *levels)
{
    mem_free_texts(levels->text, levels->count);
    mem_free(levels->slot);
    *levels = (struct levels){0};
}

void levels_sort(struct levels *levels)
{
    if (levels->count)
        qsort(levels->text, levels->count, sizeof *levels->text, by_text);
}

ptrdiff_t levels_find(char *const *sorted, size_t count, const char *text)
{
    char *const *found = count ? bsearch(&text, sorted, count, sizeof *sorted, by_text) : NULL;
    return found ? found - sorted : -1;
}
