/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 1024 };

static _Thread_local char message[MESSAGE_SIZE];

const char *sph_error(void)
{
    return message;
}

/* A message is one line whatever a file name or a cell holds. */
static void keep_on_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            *text = ' ';
}

int sph_fail(int code, const char *format, ...)
{
    char text[MESSAGE_SIZE]; /* the arguments may quote the old message */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep_on_one_line(text);
    memcpy(message, text, sizeof message);
    return code;
}

int sph_fail_in(int code, const char *format, ...)
{
    char context[MESSAGE_SIZE / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    return sph_fail(code, "%s: %.500s", context, message);
}
