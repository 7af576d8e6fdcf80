/* SPDX-License-Identifier: MIT
 *
 * What a cell's text means: missing, a number, infinite, or text. */
#include "data/sheet.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/number.h"

enum { NUMBER_MAX = 400 }; /* longer than any sensible number */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The whole of text[length] as an unsigned decimal number. */
static int decimal(const char *text, size_t length, double *out)
{
    return length && *text != '-' && number_read_long(text, text + length, out) == text + length;
}

/* 1,234,567.8: one to three digits, then groups of three. */
static int with_thousands(const char *text, size_t length, double *out)
{
    char copy[NUMBER_MAX];
    size_t kept = 0, group = 0, i = 0;
    int first = 1;
    if (length >= sizeof copy || (length && *text == '0' && !memchr(text, '.', length))) /* 0,544 is no 544 */
        return 0;
    for (; i < length && (is_digit(text[i]) || text[i] == ','); i++) {
        if (text[i] != ',') {
            copy[kept++] = text[i];
            group++;
            continue;
        }
        if (first ? group < 1 || group > 3 : group != 3)
            return 0;
        first = 0;
        group = 0;
    }
    if (first || group != 3)
        return 0;
    if (i < length && text[i] != '.')
        return 0;
    memcpy(copy + kept, text + i, length - i);
    return decimal(copy, kept + length - i, out);
}

static const char *const currencies[] = {"$",   "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5",
                                         "USD", "EUR",          "GBP",      "JPY"};

static size_t currency_at_start(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++) {
        size_t n = strlen(currencies[i]);
        if (length > n && !memcmp(text, currencies[i], n))
            return n;
    }
    return 0;
}

static size_t currency_at_end(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++) {
        size_t n = strlen(currencies[i]);
        if (length > n && !memcmp(text + length - n, currencies[i], n))
            return n;
    }
    return 0;
}

static void trim(const char **text, size_t *length)
{
    while (*length && (**text == ' ' || **text == '\t')) {
        ++*text;
        --*length;
    }
    while (*length && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t'))
        --*length;
}

static int sign_at_start(const char **text, size_t *length, int *negative)
{
    if (!*length || (**text != '-' && **text != '+'))
        return 0;
    *negative = **text == '-';
    ++*text;
    --*length;
    return 1;
}

static int number(const char *text, size_t length, double *out)
{
    int negative = 0, is_signed = sign_at_start(&text, &length, &negative);
    int found = decimal(text, length, out);
    if (!found) {
        size_t n = currency_at_start(text, length);
        if (n) {
            text += n;
            length -= n;
            trim(&text, &length);
            if (!is_signed)
                sign_at_start(&text, &length, &negative);
        } else {
            n = length > 1 && text[length - 1] == '%' ? 1 : currency_at_end(text, length);
            length -= n;
            trim(&text, &length);
        }
        found = decimal(text, length, out) || with_thousands(text, length, out);
    }
    if (found && negative)
        *out = -*out;
    return found;
}

static int same(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !strncasecmp(text, word, length);
}

/* A letter with which no currency, no missing cell and no infinity begins. */
static int begins_word(char c)
{
    char low = c | 0x20;
    return low >= 'a' && low <= 'z' && !strchr("UEGJ", c) && low != 'n' && low != 'i';
}

void cell_read(struct cell *out, const char *text)
{
    static const char *const missing[] = {"na", "n/a", "nan", "null", "?", "-"};
    *out = (struct cell){.kind = CELL_TEXT, .text = text};
    if (begins_word(*text))
        return;
    size_t length = strlen(text);
    trim(&text, &length);
    if (!length) {
        out->kind = CELL_MISSING;
        return;
    }
    double value;
    if (number(text, length, &value)) {
        out->kind = isfinite(value) ? CELL_NUMBER : CELL_INFINITE;
        out->value = value;
        return;
    }
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (same(text, length, missing[i])) {
            out->kind = CELL_MISSING;
            return;
        }
    if (*text == '+' || *text == '-') {
        if (same(text + 1, length - 1, "nan"))
            out->kind = CELL_MISSING;
        text++;
        length--;
    }
    if (same(text, length, "inf") || same(text, length, "infinity"))
        out->kind = CELL_INFINITE;
}

static size_t skip_digits(const char *text, size_t length, size_t at)
{
    while (at < length && is_digit(text[at]))
        at++;
    return at;
}

enum comma cell_comma(const char *text)
{
    size_t length = strlen(text);
    int negative;
    if (!memchr(text, ',', length))
        return COMMA_NONE;
    trim(&text, &length);
    sign_at_start(&text, &length, &negative);
    size_t whole = skip_digits(text, length, 0);
    if (!whole || whole == length || text[whole] != ',')
        return COMMA_OTHER;
    size_t end = skip_digits(text, length, whole + 1), part = end - whole - 1;
    if (!part)
        return COMMA_OTHER;
    if (end == length)
        return part == 3 && whole <= 3 && *text != '0' ? COMMA_UNCLEAR : COMMA_DECIMAL;
    if (text[end] != 'e' && text[end] != 'E')
        return COMMA_OTHER;
    end += end + 1 < length && (text[end + 1] == '-' || text[end + 1] == '+') ? 2 : 1;
    return end < length && skip_digits(text, length, end) == length ? COMMA_DECIMAL : COMMA_OTHER;
}

void cell_read_decimal(struct cell *out, const char *text)
{
    char copy[NUMBER_MAX];
    enum comma comma = cell_comma(text);
    size_t length = strlen(text);
    if ((comma != COMMA_DECIMAL && comma != COMMA_UNCLEAR) || length >= sizeof copy) {
        cell_read(out, text);
        return;
    }
    memcpy(copy, text, length + 1);
    *strchr(copy, ',') = '.';
    cell_read(out, copy);
    out->text = text;
}
