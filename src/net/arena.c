/* SPDX-License-Identifier: MIT */
#include "net/arena.h"

static int meet(const struct arena_span *a, const struct arena_span *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Whether a goes first: it lives longer or, of equal lives, is longer. */
static int goes_first(const struct arena_span *a, const struct arena_span *b)
{
    size_t life = a->last - a->first, other = b->last - b->first;
    return life != other ? life > other : a->length > b->length;
}

static void sort_by_life(const struct arena_span *spans, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t j = i;
        for (; j > 0 && goes_first(&spans[i], &spans[order[j - 1]]); j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
}

/* The lowest place where span n of the order touches none of those placed before it that live when it does:
 * climb over each that is in the way until none is. */
static size_t lowest_place(const struct arena_span *spans, const size_t *order, size_t n)
{
    const struct arena_span *span = &spans[order[n]];
    size_t at = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (size_t i = 0; i < n; i++) {
            const struct arena_span *other = &spans[order[i]];
            if (meet(span, other) && at < other->at + other->length && other->at < at + span->length) {
                at = other->at + other->length;
                moved = 1;
            }
        }
    }
    return at;
}

size_t arena_place(struct arena_span *spans, size_t count, size_t line, size_t *order)
{
    size_t whole = 0;
    for (size_t i = 0; i < count; i++)
        spans[i].length = (spans[i].length + line - 1) / line * line;
    sort_by_life(spans, count, order);
    for (size_t n = 0; n < count; n++) {
        struct arena_span *span = &spans[order[n]];
        span->at = lowest_place(spans, order, n);
        if (span->at + span->length > whole)
            whole = span->at + span->length;
    }
    return whole;
}
