/* SPDX-License-Identifier: MIT
 *
 * Lists of words beyond those of spherelu/base.h: a room turns an X-macro of its own into the same rows, and finds words in
 * them the same way.
 *
 *     static const sph_word_row nets[] = WORDS_OF(SOME_NETS);      nets[NET_MLP].word, words_find(nets, text) */
#ifndef SPH_BASE_WORDS_H
#define SPH_BASE_WORDS_H

#include "spherelu/base.h"

#define WORDS_ROW(id, word, help) {word, help},
#define WORDS_OF(list)                                                                                       \
    {                                                                                                        \
        list(WORDS_ROW)                                                                                      \
        {                                                                                                    \
            NULL, NULL                                                                                       \
        }                                                                                                    \
    }

int words_find(const sph_word_row *rows, const char *text);            /* -1: not one of them  */
const char *words_nearest(const sph_word_row *rows, const char *text); /* NULL: none is near   */

#endif
