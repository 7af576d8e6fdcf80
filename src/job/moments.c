/* SPDX-License-Identifier: MIT */
#include "job/moments.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define WORD_ITEM(id, word, help) word,
const char *const moments_things[] = {MOMENTS_THINGS(WORD_ITEM)};
const char *const moments_whens[] = {MOMENTS_WHENS(WORD_ITEM)};

static int expected_moment(const char *thing, const char *found)
{
    return sph_fail_key(SPH_EARG, thing, "found '%s', expected every, epoch or steps such as 0,10,100",
                        found);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void moments_sort(struct moments *moments)
{
    size_t kept = 0;
    qsort(moments->steps, moments->count, sizeof *moments->steps, by_size);
    for (size_t i = 0; i < moments->count; i++)
        if (!i || moments->steps[i] != moments->steps[kept - 1])
            moments->steps[kept++] = moments->steps[i];
    moments->count = kept;
}

/* "0,10,100", in any order; one twice is meant once. */
static int read_steps(struct moments *out, const char *thing, const char *text)
{
    size_t capacity = 0;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char part[24] = "";
        size_t length = strcspn(at, ",");
        uint64_t step;
        if (length < sizeof part)
            memcpy(part, at, length);
        if (!text_to_u64(part, &step))
            return expected_moment(thing, text);
        if (!mem_reserve((void **)&out->steps, &capacity, out->count + 1, sizeof *out->steps))
            return SPH_EMEMORY;
        out->steps[out->count++] = step;
    }
    moments_sort(out);
    return 0;
}

/* One item, "boundaries:every". */
static int read_item(struct moments_list *out, const char *item)
{
    char word[24] = "";
    size_t length = strcspn(item, ":");
    if (length < sizeof word)
        memcpy(word, item, length);
    int thing = text_find(word, moments_things, MOMENTS_THING_COUNT);
    if (thing < 0) {
        const char *nearest = text_nearest(word, moments_things, MOMENTS_THING_COUNT);
        if (nearest)
            return sph_fail(SPH_EARG,
                            "unknown value '%s', did you mean '%s'? (boundaries|patterns|gradients)", word,
                            nearest);
        return sph_fail(
            SPH_EARG, "found '%s', expected boundaries, patterns or gradients, or several joined by +", item);
    }
    struct moments *moments = &out->of[thing];
    if (moments->wanted)
        return sph_fail(SPH_EARG, "%s is given twice", word);
    moments->wanted = 1;
    moments->when = MOMENTS_AT_EPOCH;
    if (!item[length])
        return 0;
    const char *when = item + length + 1;
    int found = text_find(when, moments_whens, MOMENTS_AT_STEPS);
    moments->when = found < 0 ? MOMENTS_AT_STEPS : found;
    return found < 0 ? read_steps(moments, word, when) : 0;
}

int moments_read(struct moments_list *out, const char *text)
{
    int err = 0;
    *out = (struct moments_list){0};
    for (const char *at = text; at && !err; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        char *item = mem_text_of(at, strcspn(at, "+"));
        err = item ? read_item(out, item) : SPH_EMEMORY;
        mem_free(item);
    }
    if (err < 0)
        moments_free(out);
    return err;
}

void moments_free(struct moments_list *list)
{
    for (int i = 0; i < MOMENTS_THING_COUNT; i++)
        mem_free(list->of[i].steps);
    *list = (struct moments_list){0};
}

int moments_own(struct moments_list *list)
{
    struct moments_list own = *list;
    int err = 0;
    for (int i = 0; i < MOMENTS_THING_COUNT; i++) {
        struct moments *moments = &own.of[i];
        moments->steps =
            moments->count ? mem_copy(moments->steps, moments->count, sizeof *moments->steps) : NULL;
        if (moments->count && !moments->steps)
            err = SPH_EMEMORY;
    }
    if (err < 0)
        moments_free(&own);
    *list = own;
    return err;
}

int moments_want(const struct moments_list *list, const char *thing)
{
    int wanted = 0;
    for (int i = 0; i < MOMENTS_THING_COUNT; i++)
        wanted |= list->of[i].wanted && (!thing || !strcmp(thing, moments_things[i]));
    return wanted;
}

void moments_add_text(struct text *out, const struct moments_list *list)
{
    for (int i = 0, first = 1; i < MOMENTS_THING_COUNT; i++) {
        const struct moments *moments = &list->of[i];
        if (!moments->wanted)
            continue;
        text_add(out, "%s%s:", first ? "" : "+", moments_things[i]);
        for (size_t k = 0; k < moments->count; k++)
            text_add(out, "%s%llu", k ? "," : "", (unsigned long long)moments->steps[k]);
        if (moments->when != MOMENTS_AT_STEPS)
            text_add(out, "%s", moments_whens[moments->when]);
        first = 0;
    }
}

void moments_write(struct yaml_out *out, const struct moments_list *list)
{
    yaml_map(out);
    for (int i = 0; i < MOMENTS_THING_COUNT; i++) {
        const struct moments *moments = &list->of[i];
        if (!moments->wanted)
            continue;
        yaml_key(out, moments_things[i]);
        if (moments->when != MOMENTS_AT_STEPS) {
            yaml_key(out, moments_whens[moments->when]);
            continue;
        }
        yaml_list(out);
        for (size_t k = 0; k < moments->count; k++)
            yaml_number(out, moments->steps[k]);
        yaml_list_end(out);
    }
    yaml_map_end(out);
}

int moments_due(const struct moments *moments, uint64_t step, int ends_epoch)
{
    if (!moments->wanted)
        return 0;
    switch (moments->when) {
    case MOMENTS_AT_EVERY:
        return 1;
    case MOMENTS_AT_EPOCH:
        return step == 0 || ends_epoch;
    default:
        return moments->count && bsearch(&step, moments->steps, moments->count, sizeof step, by_size) != NULL;
    }
}
