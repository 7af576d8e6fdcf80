/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 sequence at text, or 0: these bytes are none. */
static size_t sequence(const unsigned char *text, size_t length)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } kinds[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t more = 0; more < 4; more++) {
        if ((text[0] & kinds[more].mask) != kinds[more].lead)
            continue;
        uint32_t code = text[0] & (unsigned char)~kinds[more].mask;
        if (more >= length)
            return 0;
        for (size_t i = 1; i <= more; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3f);
        }
        int surrogate = code >= 0xd800 && code <= 0xdfff;
        return code < kinds[more].least || code > 0x10ffff || surrogate ? 0 : more + 1;
    }
    return 0;
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void add_clean(struct text *out, const char *text, size_t length, int escape)
{
    size_t plain = 0, i = 0; /* text[plain .. i) may go as it is */
    while (i < length) {
        const char *instead = escape ? entity(text[i]) : NULL;
        size_t wide = sequence((const unsigned char *)text + i, length - i);
        unsigned char c = (unsigned char)text[i];
        if (!wide)
            instead = "\xef\xbf\xbd";
        else if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
            instead = " ";
        if (instead) {
            text_add_bytes(out, text + plain, i - plain);
            text_add(out, "%s", instead);
            plain = i + 1;
        }
        i += wide ? wide : 1;
    }
    text_add_bytes(out, text + plain, length - plain);
}

void html_add_text_part(struct text *out, const char *text, size_t length)
{
    add_clean(out, text, length, 1);
}

void html_add_escaped(struct text *out, const char *text, size_t length)
{
    add_clean(out, text, length, 0);
}

void html_add_text(struct text *out, const char *text)
{
    html_add_text_part(out, text, strlen(text));
}

void html_add_path(struct text *out, const char *path)
{
    /* A first step with a colon would be a scheme. */
    if (path[strcspn(path, ":/")] == ':')
        text_add(out, "./");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        int plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    strchr("-._~/:", c) != NULL;
        text_add(out, plain ? "%c" : "%%%02X", c);
    }
}

void html_add_base64(struct text *out, const void *bytes, size_t length)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = bytes;
    for (size_t i = 0; i < length; i += 3) {
        size_t have = length - i < 3 ? length - i : 3;
        uint32_t three = (uint32_t)from[i] << 16;
        if (have > 1)
            three |= (uint32_t)from[i + 1] << 8;
        if (have > 2)
            three |= from[i + 2];
        char four[4] = {digit[three >> 18 & 63], digit[three >> 12 & 63], '=', '='};
        if (have > 1)
            four[2] = digit[three >> 6 & 63];
        if (have > 2)
            four[3] = digit[three & 63];
        text_add_bytes(out, four, 4);
    }
}
