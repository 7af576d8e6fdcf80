/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"

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

void html_add_text_part(struct text *out, const char *text, size_t length)
{
    size_t plain = 0, i = 0; /* text[plain .. i) needs no escaping */
    while (i < length) {
        const char *instead = entity(text[i]);
        size_t wide = text_utf8(text + i, length - i);
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

void html_add_text(struct text *out, const char *text)
{
    html_add_text_part(out, text, strlen(text));
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void html_add_typeset(struct text *out, const char *text, size_t length)
{
    static const struct {
        const char *word, *instead;
    } letters[] = {{"+-", "±"}, {"dphi", "Δφ"}, {"phi", "φ"}, {"eps", "ε"}};
    size_t plain = 0; /* text[plain .. i) needs no escaping */
    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k < sizeof letters / sizeof *letters; k++) {
            size_t wide = strlen(letters[k].word);
            if (length - i < wide || memcmp(text + i, letters[k].word, wide) != 0 ||
                (i && is_letter(text[i - 1])) || (i + wide < length && is_letter(text[i + wide])))
                continue;
            html_add_text_part(out, text + plain, i - plain);
            text_add(out, "%s", letters[k].instead);
            plain = i + wide;
            i = plain - 1;
            break;
        }
    html_add_text_part(out, text + plain, length - plain);
}

void html_add_path(struct text *out, const char *path)
{
    /* A colon in the first part of the path would make it a scheme. */
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

/* In a script element, "</script" would end it and "<!--" would begin a comment. */
static int add_piece(const char *bytes, size_t length, void *self)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == '<')
            text_add(self, "\\u003c");
        else
            text_add_bytes(self, bytes + i, 1);
    return ((struct text *)self)->failed ? -1 : 0;
}

int html_add_json(struct text *out, const json_t *value, size_t digits)
{
    return json_dump_callback(value, add_piece, out, JSON_REAL_PRECISION(digits) | JSON_COMPACT)
               ? sph_fail(SPH_EMEMORY, "out of memory: data of a page")
               : 0;
}
