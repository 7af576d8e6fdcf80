/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct failure last;
static _Thread_local struct sph_failure view;

const struct sph_failure *sph_failure(void)
{
    view = (struct sph_failure){.code = last.code,
                                .key = last.key,
                                .path = last.path,
                                .line = last.line,
                                .what = last.text + last.what,
                                .text = last.text};
    return &view;
}

const char *sph_error(void)
{
    return last.text;
}

void failure_save(struct failure *out)
{
    *out = last;
}

int failure_set(const struct failure *failure)
{
    last = *failure;
    last.key[sizeof last.key - 1] = last.path[sizeof last.path - 1] = last.text[sizeof last.text - 1] = '\0';
    if (last.what >= sizeof last.text)
        last.what = 0;
    return last.code;
}

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

/* A message is one line whatever a file name or a cell holds. */
static void keep_on_one_line(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    sph_plain(text, strlen(text));
}

/* path "": none; line 0: none; key "": none, or it stands in what already. what may lie in `last`. */
static int set(int code, const char *path, size_t line, const char *key, int key_first, const char *what)
{
    struct failure next = {.code = code, .line = *path ? line : 0};
    char number[24] = "";
    if (next.line)
        snprintf(number, sizeof number, ":%zu", next.line);
    copy(next.key, sizeof next.key, key);
    copy(next.path, sizeof next.path, path);
    int place = snprintf(next.text, sizeof next.text, "%s%s%s", path, number, *path ? ": " : "");
    next.what = place < 0 || (size_t)place >= sizeof next.text ? sizeof next.text - 1 : (size_t)place;
    snprintf(next.text + next.what, sizeof next.text - next.what, "%s%s%s", key_first ? key : "",
             key_first && *key ? ": " : "", what);
    keep_on_one_line(next.text);
    last = next;
    return code;
}

#define WORDS(what, format)                                                                                  \
    char what[sizeof last.text];                                                                             \
    do {                                                                                                     \
        va_list args;                                                                                        \
        va_start(args, format);                                                                              \
        vsnprintf(what, sizeof what, format, args);                                                          \
        va_end(args);                                                                                        \
    } while (0)

int sph_fail(int code, const char *format, ...)
{
    WORDS(what, format);
    return set(code, "", 0, "", 0, what);
}

int sph_fail_key(int code, const char *key, const char *format, ...)
{
    WORDS(what, format);
    return set(code, "", 0, key, 1, what);
}

int sph_fail_at(int code, const char *path, const char *format, ...)
{
    WORDS(what, format);
    return set(code, path, 0, "", 0, what);
}

int sph_fail_line(int code, const char *path, size_t line, const char *format, ...)
{
    WORDS(what, format);
    return set(code, path, line, "", 0, what);
}

int sph_fail_line_key(int code, const char *path, size_t line, const char *key, const char *format, ...)
{
    WORDS(what, format);
    return set(code, path, line, key, 1, what);
}

int sph_fail_of(int code, const char *path, size_t line, const char *key, const char *format, ...)
{
    WORDS(what, format);
    return set(code, path, line, key, 0, what);
}

int sph_fail_null(const char *call, const char *names, size_t which)
{
    char name[sizeof last.key];
    for (; which; which--)
        names = strchr(names, ',') + 2;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(names, ","), names);
    return sph_fail_key(SPH_EARG, name, "%s must not be NULL", call);
}

int sph_fail_in(int code, const char *format, ...)
{
    WORDS(context, format);
    char what[sizeof last.text];
    snprintf(what, sizeof what, "%.400s: %.600s", context, last.text + last.what);
    return set(code, last.path, last.line, last.key, 0, what);
}

int sph_fail_about(int code, const char *key, const char *format, ...)
{
    WORDS(context, format);
    char what[sizeof last.text];
    snprintf(what, sizeof what, "%.400s: %.600s", context, last.text + last.what);
    return set(code, last.path, last.line, key, 0, what);
}

int sph_fail_more(int code, const char *format, ...)
{
    WORDS(more, format);
    char what[sizeof last.text];
    snprintf(what, sizeof what, "%.700s%.300s", last.text + last.what, more);
    return set(code, last.path, last.line, last.key, 0, what);
}

int sph_fail_move(int code, const char *path, size_t line, int keep)
{
    char what[sizeof last.text];
    copy(what, sizeof what, keep ? last.text : last.text + last.what);
    return set(code, path, line, last.key, 0, what);
}
