/* SPDX-License-Identifier: MIT
 *
 * Text and numbers: strict parsing, lists of known words, and the most similar known word for an error
 * message. */
#ifndef SPH_BASE_TEXT_H
#define SPH_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of text must be one number. 1 on success; nan and inf parse (callers decide). Locale-independent.
 */
int text_to_double(const char *text, double *out);
int text_to_size(const char *text, size_t *out);
int text_to_u64(const char *text, uint64_t *out);

/* Index of word in words[count], or -1. */
int text_find(const char *word, const char *const *words, size_t count);

/* The known word nearest to word by edit distance, or NULL when none is near enough to suggest. */
const char *text_nearest(const char *word, const char *const *words, size_t count);

/* Bytes of the UTF-8 character at the front of so many; 0: there is none. */
size_t text_utf8(const char *bytes, size_t left);
int text_is_utf8(const char *text);

/* Characters, not bytes. */
size_t text_width(const char *text, size_t length);

/* 1: sph_plain would change it, or it has a line end or a tab. */
int text_has_control(const char *text);

/* A growing string. After a failed append `failed` is set, later appends do nothing, and the error message
 * stands: append freely, check once. */
struct text {
    char *chars; /* NUL-terminated, or NULL while empty */
    size_t length, capacity;
    int failed;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_line(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* behind a line end, if it is not the first */
void text_add_list(struct text *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_add_csv(struct text *text, const char *cell); /* in quotes where it needs them */
void text_free(struct text *text);

/* One number, with a decimal point whatever the locale. */
void text_add_fixed(struct text *out, int decimals, double value); /* what rounds to 0 has no sign */
void text_add_general(struct text *out, int digits, double value);
void text_add_exact(struct text *out, double value); /* as few digits as read back the same */

#endif
