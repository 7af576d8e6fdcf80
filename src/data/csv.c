/* SPDX-License-Identifier: MIT
 *
 * One tokenizer for all text tables. A field is first tried as a plain number, which finds its end on the way; everything else is
 * parted as libcsv does it: blanks around fields are left out, quotes may be doubled, a quote that does not end its field is
 * part of it. */
#include "data/csv.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/number.h"

enum { FIELD_MAX = 1 << 20 };

struct reader {
    const char *path, *end;
    size_t line;
    unsigned char ends[256]; /* 1: this sign ends a field that is not quoted */
    int blanks;              /* runs of blanks part the fields               */
    int numbers;             /* the delimiter is no sign of numbers          */
    struct csv_field *fields;
    size_t count, capacity;
    char *
        made; /* texts that are not in the file as they are; fields have their places in it until the row ends */
    size_t made_length, made_capacity;
    int err;
};

static int ends_field(const struct reader *reader, const char *at)
{
    return at == reader->end || reader->ends[(unsigned char)*at];
}

static int ends_line(const struct reader *reader, const char *at)
{
    return at == reader->end || *at == '\n' || *at == '\r';
}

/* Of those that do not part fields. */
static const char *skip_blanks(const struct reader *reader, const char *at)
{
    while (at < reader->end && (*at == ' ' || *at == '\t') && !reader->ends[(unsigned char)*at])
        at++;
    return at;
}

static const char *skip_all_blanks(const struct reader *reader, const char *at)
{
    while (at < reader->end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* ---------------------------------------------------------------- texts */

static int is_utf8(const char *text, size_t length)
{
    for (size_t i = 0, n; i < length; i += n)
        if (!(n = text_utf8(text + i, length - i)))
            return 0;
    return 1;
}

/* Windows-1252, of which only the euro sign is worth telling from Latin-1. out: 3 bytes per byte. */
static size_t latin1_to_utf8(char *out, const unsigned char *bytes, size_t length)
{
    char *p = out;
    for (size_t i = 0; i < length; i++)
        if (bytes[i] < 0x80)
            *p++ = (char)bytes[i];
        else if (bytes[i] == 0x80) {
            memcpy(p, "\xE2\x82\xAC", 3);
            p += 3;
        } else {
            *p++ = (char)(0xC0 | bytes[i] >> 6);
            *p++ = (char)(0x80 | (bytes[i] & 0x3F));
        }
    return (size_t)(p - out);
}

static int add_made(struct reader *reader, const char *text, size_t length)
{
    if (!mem_reserve((void **)&reader->made, &reader->made_capacity, reader->made_length + length, 1))
        return reader->err = SPH_EMEMORY;
    memcpy(reader->made + reader->made_length, text, length);
    reader->made_length += length;
    return 0;
}

/* field <- text, as UTF-8; made: it ends reader->made. */
static void set_text(struct reader *reader, struct csv_field *field, const char *text, size_t length,
                     int made)
{
    unsigned high = 0;
    size_t place = reader->made_length - (made ? length : 0);
    for (size_t i = 0; i < length; i++)
        high |= (unsigned char)text[i];
    *field = (struct csv_field){
        .text = text, .place = place, .length = (uint32_t)length, .kind = made ? CSV_MADE : CSV_TEXT};
    if (!(high & 0x80) || is_utf8(text, length)) {
        double number;
        if (!made && number_read_long(text, text + length, &number) == text + length && isfinite(number)) {
            field->kind = CSV_NUMBER;
            field->number = number;
        }
        return;
    }
    if (!mem_reserve((void **)&reader->made, &reader->made_capacity, reader->made_length + 3 * length, 1)) {
        reader->err = SPH_EMEMORY;
        return;
    }
    field->place = reader->made_length;
    field->length =
        (uint32_t)latin1_to_utf8(reader->made + reader->made_length,
                                 (const unsigned char *)(made ? reader->made + place : text), length);
    field->kind = CSV_MADE;
    reader->made_length += field->length;
}

static void count_lines(struct reader *reader, const char *text, const char *end)
{
    for (; text < end; text++)
        if (*text == '\n' || (*text == '\r' && (text + 1 == end || text[1] != '\n')))
            reader->line++;
}

/* ---------------------------------------------------------------- fields */

static const char *fail_long(struct reader *reader)
{
    reader->err = sph_fail_line(
        SPH_EFORMAT, reader->path, reader->line,
        "a field of more than %d bytes begins here; check for a missing closing quote", FIELD_MAX);
    return NULL;
}

/* at: its first quote. A quote ends the field if nothing but blanks is before the field's end; two are one; any other is a
 * sign like others, together with the blanks behind it. */
static const char *read_quoted(struct reader *reader, const char *at, struct csv_field *field)
{
    const char *first = at + 1, *from = first;
    size_t begins = reader->made_length, most = (size_t)(reader->end - first);
    if (most > FIELD_MAX)
        most = FIELD_MAX + 1;
    for (;;) {
        const char *quote = memchr(from, '"', most - (size_t)(from - first)), *behind;
        if (!quote && most > FIELD_MAX)
            return fail_long(reader);
        if (!quote) {
            reader->err = sph_fail_line(SPH_EFORMAT, reader->path, reader->line,
                                        "the quote that begins here is not closed");
            return NULL;
        }
        behind = skip_blanks(reader, quote + 1);
        if (ends_field(reader, behind)) {
            if (from == first)
                set_text(reader, field, first, (size_t)(quote - first), 0);
            else if (!add_made(reader, from, (size_t)(quote - from)))
                set_text(reader, field, reader->made + begins, reader->made_length - begins, 1);
            count_lines(reader, first, quote);
            return reader->err ? NULL : behind;
        }
        int doubled = behind == quote + 1 && *behind == '"', next = *behind == '"' && !doubled;
        if (add_made(reader, from, (size_t)((doubled ? quote + 1 : behind + !next) - from)) < 0)
            return NULL;
        from = behind + !next;
        if ((size_t)(from - first) > most)
            return fail_long(reader);
    }
}

/* Returns what is behind it: its delimiter or the line's end. NULL: reader->err. */
static const char *read_field(struct reader *reader, const char *at, struct csv_field *field)
{
    at = skip_blanks(reader, at);
    if (at < reader->end && *at == '"')
        return read_quoted(reader, at, field);
    const char *behind = at, *last;
    while (!ends_field(reader, behind))
        behind++;
    for (last = behind; last > at && (last[-1] == ' ' || last[-1] == '\t'); last--)
        ;
    if (last - at > FIELD_MAX)
        return fail_long(reader);
    set_text(reader, field, at, (size_t)(last - at), 0);
    return reader->err ? NULL : behind;
}

/* ---------------------------------------------------------------- rows */

/* The row at at, which is not an empty line. Returns its line's end; NULL: reader->err. */
static const char *read_row(struct reader *reader, const char *at)
{
    const char *last = reader->numbers && reader->end - at > NUMBER_AHEAD ? reader->end - NUMBER_AHEAD : NULL;
    reader->count = reader->made_length = 0;
    for (;; at += !reader->blanks) {
        if (reader->count == reader->capacity && !mem_reserve((void **)&reader->fields, &reader->capacity,
                                                              reader->count + 1, sizeof *reader->fields)) {
            reader->err = SPH_EMEMORY;
            return NULL;
        }
        struct csv_field *field = &reader->fields[reader->count++];
        const char *behind = last && at <= last ? number_read(at, reader->end, &field->number) : NULL;
        if (behind && behind != reader->end && reader->ends[(unsigned char)*behind] &&
            isfinite(field->number)) {
            field->text = at;
            field->length = (uint32_t)(behind - at);
            field->kind = CSV_NUMBER;
            at = behind;
        } else if (!(at = read_field(reader, at, field)))
            return NULL;
        if (reader->blanks)
            at = skip_all_blanks(reader, at);
        if (ends_line(reader, at))
            break;
    }
    for (size_t i = 0; reader->made_length && i < reader->count; i++)
        if (reader->fields[i].kind == CSV_MADE)
            reader->fields[i].text = reader->made + reader->fields[i].place;
    return at;
}

int csv_read(const char *path, const char *bytes, size_t length, char delimiter, csv_row *row, void *user)
{
    struct reader reader = {.path = path,
                            .end = bytes + length,
                            .line = 1,
                            .blanks = delimiter == ' ',
                            .numbers = !strchr("0123456789.-", delimiter)};
    reader.ends[(unsigned char)delimiter] = reader.ends['\n'] = reader.ends['\r'] = 1;
    reader.ends['\t'] |= (unsigned char)reader.blanks;
    for (const char *at = bytes; at < reader.end && !reader.err;) {
        at = reader.blanks ? skip_all_blanks(&reader, at) : skip_blanks(&reader, at);
        if (!ends_line(&reader, at)) {
            size_t line = reader.line;
            if (!(at = read_row(&reader, at)) ||
                (reader.err = row(user, line, reader.fields, reader.count)) < 0)
                break;
        }
        if (at < reader.end) {
            reader.line++;
            at += *at == '\r' && at + 1 < reader.end && at[1] == '\n' ? 2 : 1;
        }
    }
    mem_free(reader.fields);
    mem_free(reader.made);
    return reader.err;
}

/* ---------------------------------------------------------------- which delimiter */

enum { SNIFF_LINES = 20, SNIFF_BYTES = 1 << 16 };

struct counts {
    size_t of[5];  /* bar, comma, semicolon, tab, the likely one */
    size_t tokens; /* separated by blanks */
    int words;     /* there are other signs than those of numbers */
};

static size_t count_line(struct counts *out, const char *bytes, size_t length, char likely)
{
    *out = (struct counts){0};
    int quoted = 0, within = 0;
    size_t i = 0;
    for (; i < length && (quoted || (bytes[i] != '\n' && bytes[i] != '\r')); i++) {
        char c = bytes[i];
        quoted ^= c == '"';
        int blank = !quoted && (c == ' ' || c == '\t');
        if (!quoted) {
            out->of[0] += c == '|';
            out->of[1] += c == ',';
            out->of[2] += c == ';';
            out->of[3] += c == '\t';
            out->of[4] += c == likely;
        }
        out->tokens += !blank && !within;
        out->words |= !blank && !strchr("0123456789+-.eE", c);
        within = !blank;
    }
    return i;
}

/* A delimiter that stands equally often in each of the first lines; failing that, the most frequent of the
 * first. */
char csv_sniff(const char *bytes, size_t length, char likely)
{
    static const char sign[] = {'|', ',', ';', '\t'};
    struct counts first = {0}, line;
    int same[4] = {1, 1, 1, 1}, same_tokens = 1, words = 0, has_likely = likely != 0;
    size_t lines = 0;
    if (length > SNIFF_BYTES)
        length = SNIFF_BYTES;
    for (size_t at = 0; at < length && lines < SNIFF_LINES; at++) {
        at += count_line(&line, bytes + at, length - at, likely);
        if (!line.tokens || (at == length && length == SNIFF_BYTES))
            continue;
        if (!lines++)
            first = line;
        else
            words |= line.words;
        has_likely = has_likely && (likely == ' ' ? line.tokens > 1 : line.of[4] > 0);
        for (int i = 0; i < 4; i++)
            same[i] = same[i] && line.of[i] == first.of[i] && line.of[i];
        same_tokens = same_tokens && line.tokens == first.tokens && line.tokens > 1;
    }
    if (!lines)
        return ',';
    if (has_likely)
        return likely;
    /* Numbers parted by blanks here and a tab there. */
    if (same_tokens && !words && same[3] && first.tokens > first.of[3] + 1)
        return ' ';
    for (int i = 3; i >= 0; i--)
        if (same[i])
            return sign[i];
    if (same_tokens)
        return ' ';
    int best = 1;
    for (int i = 0; i < 4; i++)
        if (first.of[i] > first.of[best])
            best = i;
    return first.of[best] || first.tokens < 2 ? sign[best] : ' ';
}
