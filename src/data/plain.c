/* SPDX-License-Identifier: MIT */
#include "data/plain.h"

#include "base/memory.h"
#include "base/text.h"
#include "data/number.h"

enum { MET_BITS = 11, FIELD_MOST = 256 };

/* A field as it stands in the file, its quotes and the blanks behind it included. */
struct met {
    uint64_t head;    /* its first eight bytes, zeroes behind a shorter one */
    const char *text; /* (length) in the file; NULL: free */
    size_t length, column;
    double value;
};

int plain_begin(struct plain *out, char delimiter, size_t width, struct profile *profile,
                const struct levels *words)
{
    *out = (struct plain){.delimiter = delimiter, .width = width, .profile = profile, .words = words};
    if (strchr("0123456789.- ", delimiter))
        return 0;
    out->others = mem_get(width, sizeof *out->others);
    out->odd = mem_get(width, sizeof *out->odd);
    out->met = mem_get((size_t)1 << MET_BITS, sizeof *out->met);
    return out->others && out->odd && out->met ? 0 : SPH_EMEMORY;
}

void plain_end(struct plain *plain)
{
    for (size_t i = 0; i < plain->width; i++)
        plain->profile[i].numbers += plain->rows - (plain->others ? plain->others[i] : 0);
}

void plain_free(struct plain *plain)
{
    mem_free(plain->others);
    mem_free(plain->odd);
    mem_free(plain->met);
    *plain = (struct plain){0};
}

/* ---------------------------------------------------------------- cells that are no plain numbers */

static int is_blank(const struct plain *plain, char c)
{
    return (c == ' ' || c == '\t') && c != plain->delimiter;
}

static uint64_t head_of(const char *text, size_t length)
{
    uint64_t head;
    memcpy(&head, text, sizeof head);
    if (length >= sizeof head)
        return head;
    unsigned bits = 8 * (unsigned)length; /* below 64 */
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? head & ((UINT64_C(1) << bits) - 1)
           : length                                  ? head >> (64 - bits)
                                                     : 0;
}

static int is_utf8(const char *text, size_t length)
{
    for (size_t i = 0, n; i < length; i += n)
        if (!(n = text_utf8(text + i, length - i)))
            return 0;
    return 1;
}

/* What a field not met before is, by the careful way. 0: a question for others. */
static int read_field(const struct plain *plain, size_t column, const char *text, size_t length, double *out)
{
    char copy[FIELD_MOST + 1];
    struct cell cell;
    int quoted = *text == '"', commas = plain->delimiter != ',';
    if (quoted) {
        text++;
        length -= 2;
    } else
        while (length && is_blank(plain, text[length - 1]))
            length--;
    if (length > FIELD_MOST || memchr(text, '"', length) || memchr(text, '\r', length) ||
        memchr(text, '\n', length) || (commas && memchr(text, ',', length)) || !is_utf8(text, length))
        return 0;
    memcpy(copy, text, length);
    copy[length] = '\0';
    cell_read(&cell, copy);
    switch (cell.kind) {
    case CELL_MISSING:
        *out = kept_word(0);
        return 1;
    case CELL_NUMBER:
        if (commas && strchr(copy, '.'))
            plain->profile[column].points = 1;
        *out = cell.value;
        return 1;
    case CELL_TEXT: {
        size_t word = levels_seen(&plain->words[column], copy);
        *out = kept_word(word + 1);
        return word != SIZE_MAX;
    }
    case CELL_INFINITE:
        break;
    }
    return 0;
}

/* text has NUMBER_AHEAD bytes that may be read. */
static int find_field(struct plain *plain, size_t column, const char *text, size_t length, double *out)
{
    uint64_t head = head_of(text, length),
             hash =
                 (head ^ length << 56 ^ column * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0x9e3779b97f4a7c15);
    struct met *met = &plain->met[hash >> (64 - MET_BITS)];
    if (met->text && met->head == head && met->length == length && met->column == column &&
        (length <= sizeof head ||
         !memcmp(met->text + sizeof head, text + sizeof head, length - sizeof head))) {
        *out = met->value;
        return 1;
    }
    if (!read_field(plain, column, text, length, out))
        return 0;
    if (isnan(*out))
        *met = (struct met){.head = head, .text = text, .length = length, .column = column, .value = *out};
    return 1;
}

/* The high bit of each of eight bytes that is this sign. */
static uint64_t is_sign(uint64_t bytes, char sign)
{
    const uint64_t low = NUMBER_EACH(0x7f);
    bytes ^= NUMBER_EACH((unsigned char)sign);
    return ~(((bytes & low) + low) | bytes | low);
}

/* The first of two signs from text on; NULL: not before last. */
static const char *find_either(const char *text, const char *last, char sign, char other)
{
    for (; text <= last; text += 8) {
        uint64_t bytes, found;
        memcpy(&bytes, text, sizeof bytes);
        if ((found = is_sign(bytes, sign) | is_sign(bytes, other)))
            return text + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_ctzll(found)
                                                                     : __builtin_clzll(found)) /
                              8;
    }
    return NULL;
}

/* The cell at text, which is no plain number with an end behind it. Returns its end; last: the last place that has
 * NUMBER_AHEAD bytes. */
static const char *read_other(struct plain *plain, size_t column, const char *text, const char *last,
                              double *out)
{
    const char *behind;
    while (text <= last && is_blank(plain, *text))
        text++;
    if (text > last)
        return NULL;
    if (*text == '"') {
        behind = find_either(text + 1, last, '"', '\n');
        if (!behind || *behind != '"')
            return NULL;
        behind++;
        return find_field(plain, column, text, (size_t)(behind - text), out) ? behind : NULL;
    }
    behind = find_either(text, last, plain->delimiter, '\n');
    if (!behind)
        return NULL;
    if (*behind == '\n' && behind > text && behind[-1] == '\r')
        behind--;
    if (behind == text) {
        *out = kept_word(0);
        return behind;
    }
    return find_field(plain, column, text, (size_t)(behind - text), out) ? behind : NULL;
}

/* ---------------------------------------------------------------- lines */

const char *plain_row(struct plain *plain, const char *line, const char *end, double *out)
{
    const char *at = line, *last = end - line > NUMBER_AHEAD ? end - NUMBER_AHEAD : NULL;
    const char delimiter = plain->delimiter;
    size_t odd = 0, column = 0, width = plain->width;
    if (!last || !plain->met)
        return NULL;
    for (;; column++, at++) {
        if (column == width || at > last)
            return NULL;
        const char *behind = number_read(at, &out[column]);
        if (!behind || (*behind != delimiter && *behind != '\n' && *behind != '\r')) {
            if (!(behind = read_other(plain, column, at, last, &out[column])))
                return NULL;
            if (isnan(out[column]))
                plain->odd[odd++] = column;
        } else if (delimiter != ',' && !plain->profile[column].points)
            plain->profile[column].points = memchr(at, '.', (size_t)(behind - at)) != NULL;
        at = behind;
        if (*at != delimiter)
            break;
    }
    at += *at == '\r';
    if (*at != '\n' || column + 1 != width)
        return NULL;
    if (width == 1 && odd) /* an empty line is no row */
        return NULL;
    for (size_t i = 0; i < odd; i++) {
        column = plain->odd[i];
        plain->others[column]++;
        if (kept_word_of(out[column]))
            plain->profile[column].texts++;
        else
            plain->profile[column].missing++;
    }
    plain->rows++;
    return at + 1;
}
