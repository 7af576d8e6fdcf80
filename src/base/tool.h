/* SPDX-License-Identifier: MIT
 *
 * For the tool: text for people, what the core was built with, and the most similar known word. Not
 * installed, not part of the API. */
#ifndef SPH_BASE_TOOL_H
#define SPH_BASE_TOOL_H

#include "spherelu/base.h"

/* ---------------------------------------------------------------- text for people */

/* Names come from files, and a file may hold anything: each character that a terminal takes as an order (those
 * below U+0020 but line ends and tabs, U+007F to U+009F, bytes that are no UTF-8) becomes '?', a byte each. Returns
 * how many bytes it changed. All failures have gone through it. */
size_t sph_plain(char *text, size_t length);

const char *sph_cpu(void); /* the processor's name */

/* What the core was built with and this process has to do without, so that last bits are others; "" where nothing is. */
const char *sph_core_lacks(void);

const char *sph_word_nearest(sph_word_kind kind, const char *text); /* NULL: none is near          */
const char *sph_nearest(const char *text, const char *const *words, size_t count); /* likewise */

#endif
