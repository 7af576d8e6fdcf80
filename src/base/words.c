/* SPDX-License-Identifier: MIT */
#include "base/words.h"

#include <string.h>

#include "base/text.h"
#include "base/tool.h"

#define LIST_ROWS(id, list) static const sph_word_row rows_##id[] = WORDS_OF(list);
SPH_WORD_KINDS(LIST_ROWS)

#define LIST_OF(id, list) {rows_##id, sizeof rows_##id / sizeof *rows_##id - 1},
static const struct {
    const sph_word_row *rows;
    size_t count;
} lists[SPH_WORD_KIND_COUNT] = {SPH_WORD_KINDS(LIST_OF)};

int words_find(const sph_word_row *rows, const char *text)
{
    for (int i = 0; rows[i].word; i++)
        if (!strcmp(rows[i].word, text))
            return i;
    return -1;
}

const char *words_nearest(const sph_word_row *rows, const char *text)
{
    const char *nearest = NULL;
    for (; rows->word; rows++) {
        const char *two[] = {nearest ? nearest : rows->word, rows->word};
        const char *better = text_nearest(text, two, 2);
        nearest = better ? better : nearest;
    }
    return nearest;
}

const sph_word_row *sph_word(sph_word_kind kind, int i)
{
    return (unsigned)kind < SPH_WORD_KIND_COUNT && i >= 0 && (size_t)i < lists[kind].count
               ? &lists[kind].rows[i]
               : NULL;
}

int sph_word_find(sph_word_kind kind, const char *text)
{
    if (!text || (unsigned)kind >= SPH_WORD_KIND_COUNT)
        return -1;
    return words_find(lists[kind].rows, text);
}

const char *sph_word_nearest(sph_word_kind kind, const char *text)
{
    if (!text || (unsigned)kind >= SPH_WORD_KIND_COUNT)
        return NULL;
    return words_nearest(lists[kind].rows, text);
}

const char *sph_nearest(const char *text, const char *const *words, size_t count)
{
    if (!text || (count && !words))
        return NULL;
    return text_nearest(text, words, count);
}
