/* SPDX-License-Identifier: MIT
 *
 * A small hash set of texts. */
#include "data/levels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static size_t hash(const char *text)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

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

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void levels_sort(struct levels *levels)
{
    if (levels->count)
        qsort(levels->text, levels->count, sizeof *levels->text, compare);
}

ptrdiff_t levels_find(char *const *sorted, size_t count, const char *text)
{
    char *const *found = count ? bsearch(&text, sorted, count, sizeof *sorted, compare) : NULL;
    return found ? found - sorted : -1;
}
