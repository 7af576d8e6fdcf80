/* SPDX-License-Identifier: MIT */
#include "job/moments.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define WORD_ITEM(id, word, help) word,
static const char *const things[] = {MOMENTS_THINGS(WORD_ITEM)};
static const char *const whens[] = {MOMENTS_WHENS(WORD_ITEM)};

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

/* "0,10,100", in any order; one twice is meant once. */
static int read_steps(struct moments *out, const char *thing, const char *text)
{
    size_t capacity = 0, kept = 0;
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
    qsort(out->steps, out->count, sizeof *out->steps, by_size);
    for (size_t i = 0; i < out->count; i++)
        if (!i || out->steps[i] != out->steps[kept - 1])
            out->steps[kept++] = out->steps[i];
    out->count = kept;
    return 0;
}

/* One item, "boundaries:every". */
static int read_item(struct moments_list *out, const char *item)
{
    char word[24] = "";
    size_t length = strcspn(item, ":");
    if (length < sizeof word)
        memcpy(word, item, length);
    int thing = text_find(word, things, MOMENTS_THING_COUNT);
    if (thing < 0) {
        const char *nearest = text_nearest(word, things, MOMENTS_THING_COUNT);
        if (nearest)
            return sph_fail(SPH_EARG, "unknown word '%s', did you mean '%s'? (boundaries|patterns)", word,
                            nearest);
        return sph_fail(SPH_EARG, "found '%s', expected boundaries, patterns or both joined by +", item);
    }
    struct moments *moments = &out->of[thing];
    if (moments->wanted)
        return sph_fail(SPH_EARG, "%s stands twice", word);
    moments->wanted = 1;
    moments->when = MOMENTS_AT_EPOCH;
    if (!item[length])
        return 0;
    const char *when = item + length + 1;
    int found = text_find(when, whens, MOMENTS_AT_STEPS);
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

static void add_steps(struct text *out, const struct moments *moments, const char *comma)
{
    for (size_t i = 0; i < moments->count; i++)
        text_add(out, "%s%llu", i ? comma : "", (unsigned long long)moments->steps[i]);
}

void moments_add_text(struct text *out, const struct moments_list *list)
{
    for (int i = 0, first = 1; i < MOMENTS_THING_COUNT; i++) {
        const struct moments *moments = &list->of[i];
        if (!moments->wanted)
            continue;
        text_add(out, "%s%s:", first ? "" : "+", things[i]);
        if (moments->when == MOMENTS_AT_STEPS)
            add_steps(out, moments, ",");
        else
            text_add(out, "%s", whens[moments->when]);
        first = 0;
    }
}

void moments_add_yaml(struct text *out, const struct moments_list *list)
{
    text_add(out, "{");
    for (int i = 0, first = 1; i < MOMENTS_THING_COUNT; i++) {
        const struct moments *moments = &list->of[i];
        if (!moments->wanted)
            continue;
        text_add(out, "%s%s: ", first ? "" : ", ", things[i]);
        if (moments->when == MOMENTS_AT_STEPS) {
            text_add(out, "[");
            add_steps(out, moments, ", ");
            text_add(out, "]");
        } else {
            text_add(out, "%s", whens[moments->when]);
        }
        first = 0;
    }
    text_add(out, "}");
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
