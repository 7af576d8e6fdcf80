/* SPDX-License-Identifier: MIT
 *
 * Text tables: rows with their line numbers, fields as UTF-8. Lines without a quote, or whose quotes stand around
 * whole fields, are parted here, in a quarter of the time, exactly as libcsv would; the others are libcsv's. Runs of blanks, which libcsv does not know as a
 * delimiter, are turned into single tabs on the way in. */
#include "data/csv.h"

#include <csv.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

enum { CHUNK = 1 << 16, FIELD_MAX = 1 << 20, FIELD_START = 1 << 10 };

struct reader {
    struct csv_parser parser;
    const char *path;
    csv_line *offer;
    csv_row *row;
    void *user;
    char *chars; /* the fields of the row, each ended by NUL */
    size_t length, capacity;
    size_t *start; /* (fields) where each begins in chars */
    size_t fields, start_capacity;
    const char **pointers;
    size_t pointer_capacity;
    size_t line, row_line; /* of what is read now; of the row's first field */
    int after_cr;          /* a following line feed belongs to it */
    int ended;             /* the last line feed was a row's end, and no part of a field */
    char delimiter;
    int err;
    int out_of_memory, too_long;
};

/* libcsv's buffer, with the reader in front: a failure must be remembered, since libcsv tries again with
 * less. */
struct buffer {
    struct reader *reader;
    size_t capacity;
    _Alignas(max_align_t) unsigned char bytes[];
};

static void *buffer_resize(void *bytes, size_t size)
{
    struct buffer *buffer = (struct buffer *)(void *)((char *)bytes - offsetof(struct buffer, bytes));
    struct reader *reader = buffer->reader;
    if (size <= buffer->capacity)
        return bytes;
    if (reader->out_of_memory || reader->too_long)
        return NULL;
    if (size > FIELD_MAX) {
        reader->too_long = 1;
        return NULL;
    }
    size_t capacity = buffer->capacity * 2 > size ? buffer->capacity * 2 : size;
    struct buffer *grown =
        mem_resize(buffer, sizeof *buffer + buffer->capacity, sizeof *buffer + capacity, 1);
    if (!grown) {
        reader->out_of_memory = 1;
        return NULL;
    }
    grown->capacity = capacity;
    return grown->bytes;
}

static void buffer_free(void *bytes)
{
    if (bytes)
        mem_free((char *)bytes - offsetof(struct buffer, bytes));
}

static int is_utf8(const unsigned char *p, size_t length)
{
    for (size_t i = 0, n; i < length; i += n)
        if (!(n = text_utf8((const char *)p + i, length - i)))
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

static void on_field(void *text, size_t length, void *user)
{
    struct reader *reader = user;
    const unsigned char *bytes = text;
    if (reader->err)
        return;
    if (!reader->fields)
        reader->row_line = reader->line;
    if (!mem_reserve((void **)&reader->chars, &reader->capacity, reader->length + 3 * length + 1 + CSV_PAD,
                     1) ||
        !mem_reserve((void **)&reader->start, &reader->start_capacity, reader->fields + 1,
                     sizeof *reader->start)) {
        reader->err = SPH_EMEMORY;
        return;
    }
    char *out = reader->chars + reader->length;
    unsigned high = 0, ends = 0;
    for (size_t i = 0; i < length; i++) { /* nearly every field has neither */
        high |= bytes[i];
        ends |= bytes[i] == '\n' || bytes[i] == '\r';
    }
    reader->start[reader->fields++] = reader->length;
    if (high & 0x80 && !is_utf8(bytes, length))
        length = latin1_to_utf8(out, bytes, length);
    else if (length)
        memcpy(out, bytes, length);
    out[length] = '\0';
    reader->length += length + 1;
    for (const char *p = out; ends && (p = strpbrk(p, "\r\n")); p++) {
        if (*p == '\r' && p[1] == '\n')
            p++;
        reader->line++;
    }
    reader->after_cr = 0;
}

static int end_row(struct reader *reader)
{
    if (!mem_reserve((void **)&reader->pointers, &reader->pointer_capacity, reader->fields,
                     sizeof *reader->pointers))
        return SPH_EMEMORY;
    for (size_t i = 0; i < reader->fields; i++)
        reader->pointers[i] = reader->chars + reader->start[i];
    return reader->row(reader->user, reader->row_line, reader->pointers, reader->fields);
}

static void on_row(int terminator, void *user)
{
    struct reader *reader = user;
    if (reader->err)
        return;
    if (reader->fields)
        reader->err = end_row(reader);
    reader->ended = terminator == '\n';
    reader->line += !(terminator == '\n' && reader->after_cr && !reader->fields);
    reader->after_cr = terminator == '\r';
    reader->fields = reader->length = 0;
}

static int parse(struct reader *reader, const char *bytes, size_t length)
{
    size_t parsed = csv_parse(&reader->parser, bytes, length, on_field, on_row, reader);
    if (reader->err)
        return reader->err;
    if (reader->out_of_memory)
        return SPH_EMEMORY;
    if (reader->too_long)
        return sph_fail_line(SPH_EFORMAT, reader->path, reader->line,
                             "a field of more than %d bytes begins here: is a quote left open?", FIELD_MAX);
    if (parsed != length)
        return sph_fail_line(SPH_EFORMAT, reader->path, reader->line, "%s",
                             csv_strerror(csv_error(&reader->parser)));
    return 0;
}

/* ---------------------------------------------------------------- plain lines */

static int is_blank(const struct reader *reader, char c)
{
    return (c == ' ' || c == '\t') && c != reader->delimiter;
}

/* The field that begins at at: [*first, *last). Returns its delimiter or the line's end; NULL: a quote within it, or
 * one that is not closed before its end. */
static const char *next_field(const struct reader *reader, const char *at, const char *end,
                              const char **first, const char **last)
{
    while (at < end && is_blank(reader, *at))
        at++;
    if (at < end && *at == '"') {
        const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));
        *first = at + 1;
        *last = close;
        return close && (close + 1 == end || close[1] == reader->delimiter) ? close + 1 : NULL;
    }
    const char *delimiter = memchr(at, reader->delimiter, (size_t)(end - at)),
               *behind = delimiter ? delimiter : end;
    if (memchr(at, '"', (size_t)(behind - at)))
        return NULL;
    *first = at;
    *last = behind;
    while (*first < *last && is_blank(reader, (*last)[-1]))
        --*last;
    return behind;
}

/* Field by field: bytes that are no ASCII may have to be made UTF-8. 1: not a plain line. */
static int split_fields(struct reader *reader, const char *line, const char *end)
{
    const char *first, *last, *at;
    for (at = line; (at = next_field(reader, at, end, &first, &last)) && at < end; at++)
        ;
    if (!at)
        return 1;
    for (at = line;; at++) {
        at = next_field(reader, at, end, &first, &last);
        on_field((void *)(uintptr_t)first, (size_t)(last - first), reader);
        if (reader->err || at == end)
            return reader->err;
    }
}

/* The high bit of each of eight bytes that is this sign. */
static uint64_t is_sign(const char *text, char sign)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = ones * 0x7f;
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    bytes ^= ones * (unsigned char)sign;
    return ~(((bytes & low) + low) | bytes | low);
}

static size_t first_of(uint64_t found)
{
    return (size_t)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_ctzll(found)
                                                              : __builtin_clzll(found)) /
           8;
}

/* How far the next such sign is; there is one, and bytes behind it that may be read. Sixteen at a time: few fields are
 * longer, and the processor foresees it. */
static size_t distance(const char *text, char sign)
{
    for (size_t at = 0;; at += 16) {
        uint64_t here = is_sign(text + at, sign), there = is_sign(text + at + 8, sign);
        if (here | there)
            return at + (here ? first_of(here) : 8 + first_of(there));
    }
}

/* The fields of a line, blanks around them and quotes left out as libcsv does: it is copied, and ends are put into the
 * copy. 1: not a plain line. */
static int split(struct reader *reader, const char *line, const char *end, int quotes)
{
    unsigned char high = 0;
    size_t length = (size_t)(end - line), most = 1, fields = 0;
    char delimiter = reader->delimiter;
    for (size_t i = 0; i < length; i++) {
        high |= (unsigned char)line[i];
        most += line[i] == delimiter;
    }
    if (high & 0x80)
        return split_fields(reader, line, end);
    if (!mem_reserve((void **)&reader->chars, &reader->capacity, length + 2 + CSV_PAD, 1) ||
        !mem_reserve((void **)&reader->start, &reader->start_capacity, most, sizeof *reader->start))
        return SPH_EMEMORY;
    char *chars = reader->chars;
    size_t *start = reader->start;
    memcpy(chars, line, length);
    chars[length] = delimiter; /* so that every field ends alike, */
    chars[length + 1] = '"';   /* and every search for a quote */
    for (size_t at = 0, next; at <= length; at = next) {
        while (at < length && is_blank(reader, chars[at]))
            at++;
        size_t last;
        if (quotes && chars[at] == '"') {
            last = at + 1 + distance(chars + at + 1, '"');
            if (last > length || chars[last + 1] != delimiter)
                return 1;
            at++;
            next = last + 2;
        } else {
            last = at + distance(chars + at, delimiter);
            next = last + 1;
            if (quotes && memchr(chars + at, '"', last - at))
                return 1;
            while (at < last && is_blank(reader, chars[last - 1]))
                last--;
        }
        start[fields++] = at;
        chars[last] = '\0';
    }
    reader->fields = fields;
    reader->length = length + 1;
    return 0;
}

/* feed: the line has a line feed behind it; quotes: and there are some in it. 1: not a plain one, libcsv has to
 * see it. */
static int read_plain(struct reader *reader, const char *line, size_t length, int feed, int quotes)
{
    int after_return = feed && length && line[length - 1] == '\r';
    const char *end = line + length - after_return;
    if (length > FIELD_MAX || memchr(line, '\r', (size_t)(end - line)))
        return 1;
    while (line < end && is_blank(reader, *line))
        line++;
    if (line < end) {
        reader->row_line = reader->line;
        reader->after_cr = 0;
        int err = split(reader, line, end, quotes);
        if (err)
            return err;
    }
    if (after_return)
        on_row('\r', reader);
    if (feed)
        on_row('\n', reader);
    else if (reader->fields)
        on_row(-1, reader);
    return reader->err;
}

/* As many lines as are taken. Returns where the first begins that is not. */
static const char *offer_lines(struct reader *reader, const char *bytes, const char *end)
{
    for (const char *next; bytes < end && (next = reader->offer(reader->user, bytes, end)); bytes = next)
        reader->line++;
    return bytes;
}

/* Line by line; when libcsv has begun one it stays with it until a row ends. */
static int read_lines(struct reader *reader, const char *bytes, size_t length)
{
    const char *end = bytes + length, *quote = memchr(bytes, '"', length);
    reader->ended = 1;
    while (bytes < end) {
        if (reader->offer && reader->ended && (bytes = offer_lines(reader, bytes, end)) == end)
            break;
        if (quote && quote < bytes)
            quote = memchr(bytes, '"', (size_t)(end - bytes));
        const char *feed = memchr(bytes, '\n', (size_t)(end - bytes)), *next = feed ? feed + 1 : end;
        int slow = !reader->ended, quotes = quote && quote < next;
        if (!slow && (slow = read_plain(reader, bytes, (size_t)((feed ? feed : end) - bytes), feed != NULL,
                                        quotes)) < 0)
            return slow;
        if (slow) {
            reader->ended = 0;
            int err = parse(reader, bytes, (size_t)(next - bytes));
            if (err < 0)
                return err;
        }
        bytes = next;
    }
    return 0;
}

/* Runs of blanks outside quotes become one tab; those at a line's ends vanish. */
struct squeezer {
    char chars[CHUNK];
    size_t used;
    int quoted, begun, blank;
};

static int squeeze(struct reader *reader, struct squeezer *s, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        if (!s->quoted && (c == ' ' || c == '\t')) {
            s->blank = 1;
            continue;
        }
        if (s->used + 2 > sizeof s->chars) {
            int err = parse(reader, s->chars, s->used);
            if (err < 0)
                return err;
            s->used = 0;
        }
        int ends = !s->quoted && (c == '\n' || c == '\r');
        if (s->blank && s->begun && !ends)
            s->chars[s->used++] = '\t';
        s->blank = 0;
        s->begun = !ends;
        s->quoted ^= c == '"';
        s->chars[s->used++] = c;
    }
    return 0;
}

static int parse_all(struct reader *reader, const char *bytes, size_t length, struct squeezer *squeezer)
{
    int err = squeezer ? squeeze(reader, squeezer, bytes, length) : read_lines(reader, bytes, length);
    if (!err && squeezer)
        err = parse(reader, squeezer->chars, squeezer->used);
    if (err < 0)
        return err;
    /* Strict only now: what should fail is an open quote at the end, not one within a field. */
    csv_set_opts(&reader->parser,
                 (unsigned char)(csv_get_opts(&reader->parser) | CSV_STRICT | CSV_STRICT_FINI));
    if (csv_fini(&reader->parser, on_field, on_row, reader) && !reader->err)
        return sph_fail_line(SPH_EFORMAT, reader->path, reader->line,
                             "the quote that begins here is never closed");
    return reader->err;
}

int csv_read(const char *path, const char *bytes, size_t length, char delimiter, csv_line *offer,
             csv_row *row, void *user)
{
    int err = SPH_EMEMORY;
    struct reader reader = {
        .path = path, .offer = offer, .row = row, .user = user, .line = 1, .delimiter = delimiter};
    struct squeezer *squeezer = NULL;
    struct buffer *buffer = mem_get(1, sizeof *buffer + FIELD_START);
    if (!buffer)
        return SPH_EMEMORY;
    *buffer = (struct buffer){.reader = &reader, .capacity = FIELD_START};
    if (delimiter == ' ' && !(squeezer = mem_get(1, sizeof *squeezer))) {
        mem_free(buffer);
        return SPH_EMEMORY;
    }
    csv_init(&reader.parser, CSV_APPEND_NULL | CSV_REPALL_NL);
    csv_set_delim(&reader.parser, (unsigned char)(delimiter == ' ' ? '\t' : delimiter));
    csv_set_realloc_func(&reader.parser, buffer_resize);
    csv_set_free_func(&reader.parser, buffer_free);
    reader.parser.entry_buf = buffer->bytes;
    reader.parser.entry_size = FIELD_START;

    err = parse_all(&reader, bytes, length, squeezer);

    csv_free(&reader.parser);
    mem_free(squeezer);
    mem_free(reader.chars);
    mem_free(reader.start);
    mem_free(reader.pointers);
    return err;
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
