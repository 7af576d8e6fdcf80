/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/tool.h"
#include "spherelu/base.h"

enum { NUMBER_MAX = 128 };

/* strtod obeys the locale's decimal point, which the program around the library may have set: give it that
 * one. */
static double to_double_here(const char *text, const char **end)
{
    const char *point = localeconv()->decimal_point, *dot = strchr(text, '.');
    char local[NUMBER_MAX], *stop;
    if (!dot || !strcmp(point, ".") || strlen(text) + strlen(point) >= sizeof local) {
        double value = strtod(text, &stop);
        *end = stop;
        return value;
    }
    size_t before = (size_t)(dot - text), width = strlen(point);
    memcpy(local, text, before);
    memcpy(local + before, point, width);
    memcpy(local + before + width, dot + 1, strlen(dot + 1) + 1);
    double value = strtod(local, &stop);
    size_t used = (size_t)(stop - local);
    *end = text + (used > before ? used - width + 1 : used);
    return value;
}

int text_to_double(const char *text, double *out)
{
    if (!*text || isspace((unsigned char)*text))
        return 0;
    if (strpbrk(text, "xX,")) /* hexadecimal, and the comma of another locale */
        return 0;
    const char *end;
    double value = to_double_here(text, &end);
    if (*end)
        return 0;
    *out = value;
    return 1;
}

int text_to_u64(const char *text, uint64_t *out)
{
    if (!isdigit((unsigned char)*text))
        return 0;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || errno)
        return 0;
    *out = value;
    return 1;
}

int text_to_size(const char *text, size_t *out)
{
    uint64_t value;
    if (!text_to_u64(text, &value) || value > SIZE_MAX)
        return 0;
    *out = (size_t)value;
    return 1;
}

int text_find(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, words[i]))
            return (int)i;
    return -1;
}

enum { NEAREST_MAX = 64 };

static size_t edit_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    if (la >= NEAREST_MAX || lb >= NEAREST_MAX)
        return SIZE_MAX;
    size_t row[NEAREST_MAX + 1];
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

const char *text_nearest(const char *word, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t own = strlen(word), best = own / 3 + 2; /* "larning-rate" may be meant, "foo" is not */
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]), longer = length > own ? length - own : own - length;
        size_t distance = longer < best ? edit_distance(word, words[i]) : SIZE_MAX; /* it is at least that */
        if (distance < best && distance < length) {
            best = distance;
            nearest = words[i];
        }
    }
    return nearest;
}

size_t text_utf8(const char *bytes, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)bytes;
    size_t n = !left             ? 0
               : p[0] < 0x80     ? 1
               : p[0] >> 5 == 6  ? 2
               : p[0] >> 4 == 14 ? 3
               : p[0] >> 3 == 30 ? 4
                                 : 0;
    if (n <= 1)
        return n;
    if (n > left)
        return 0;
    uint32_t code = p[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        code = code << 6 | (p[i] & 0x3Fu);
    }
    /* longer than needed, beyond Unicode, surrogates */
    return code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : n;
}

int text_is_utf8(const char *text)
{
    for (size_t left = strlen(text), n; left; text += n, left -= n)
        if (!(n = text_utf8(text, left)))
            return 0;
    return 1;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
    if (text->failed)
        return;
    if (!mem_reserve((void **)&text->chars, &text->capacity, text->length + length + 1, 1)) {
        text->failed = 1;
        return;
    }
    memcpy(text->chars + text->length, bytes, length);
    text->length += length;
    text->chars[text->length] = '\0';
}

size_t text_width(const char *text, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

void text_add_list(struct text *text, const char *format, va_list args)
{
    char stack[512];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(stack, sizeof stack, format, args);
    if ((size_t)length < sizeof stack) {
        text_add_bytes(text, stack, (size_t)length);
    } else if (text->failed ||
               !mem_reserve((void **)&text->chars, &text->capacity, text->length + (size_t)length + 1, 1)) {
        text->failed = 1;
    } else {
        vsnprintf(text->chars + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add_list(text, format, args);
    va_end(args);
}

void text_add_line(struct text *text, const char *format, ...)
{
    va_list args;
    text_add(text, "%s", text->length ? "\n" : "");
    va_start(args, format);
    text_add_list(text, format, args);
    va_end(args);
}

void text_add_csv(struct text *text, const char *cell)
{
    if (!strpbrk(cell, ",\"\r\n") && *cell != ' ') {
        text_add(text, "%s", cell);
        return;
    }
    text_add(text, "\"");
    for (; *cell; cell++)
        text_add(text, *cell == '"' ? "\"\"" : "%c", *cell);
    text_add(text, "\"");
}

void text_free(struct text *text)
{
    mem_free(text->chars);
    *text = (struct text){0};
}

/* ---------------------------------------------------------------- numbers */

static void add_pointed(struct text *out, char *number)
{
    const char *point = localeconv()->decimal_point;
    char *at = strcmp(point, ".") ? strstr(number, point) : NULL;
    if (at) {
        *at = '.';
        memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
    }
    text_add(out, "%s", number);
}

void text_add_fixed(struct text *out, int decimals, double value)
{
    char number[512];
    snprintf(number, sizeof number, "%.*f", decimals, value);
    int nothing =
        *number == '-' && !number[1 + strspn(number + 1, "0.,")]; /* "-0.00" reads as if it were less */
    add_pointed(out, number + nothing);
}

void text_add_general(struct text *out, int digits, double value)
{
    char number[64];
    snprintf(number, sizeof number, "%.*g", digits, value);
    add_pointed(out, number);
}

void text_add_exact(struct text *out, double value)
{
    char number[64];
    int digits = 15;
    do
        snprintf(number, sizeof number, "%.*g", digits, value);
    while (strtod(number, NULL) != value && digits++ < 17);
    add_pointed(out, number);
}

/* ---------------------------------------------------------------- what a terminal takes as an order */

/* 1: of the character of so many bytes (0: there is none). */
static int is_order(const char *at, size_t bytes)
{
    unsigned char first = (unsigned char)at[0];
    if (bytes == 1)
        return first < 0x20 || first == 0x7f;
    return !bytes || (bytes == 2 && first == 0xc2 && (unsigned char)at[1] < 0xa0);
}

size_t sph_plain(char *text, size_t length)
{
    if (!text)
        return 0;
    size_t changed = 0;
    for (size_t i = 0, step; i < length; i += step) {
        size_t bytes = text_utf8(text + i, length - i);
        step = bytes ? bytes : 1;
        if (!is_order(text + i, bytes) || text[i] == '\n' || text[i] == '\t')
            continue;
        memset(text + i, '?', step);
        changed += step;
    }
    return changed;
}

int text_has_control(const char *text)
{
    for (size_t left = strlen(text), bytes; left; text += bytes, left -= bytes)
        if (is_order(text, bytes = text_utf8(text, left)))
            return 1;
    return 0;
}
