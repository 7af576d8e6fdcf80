/* SPDX-License-Identifier: MIT
 *
 * Where stdout is a terminal, nothing that was read from a file gives it orders. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/tool.h"
#include "cli.h"

enum { LINE_MOST = 4096 };

/* The stream hands over whole lines, but for those that are longer than its buffer. */
static ssize_t write_plain(void *self, const char *bytes, size_t length)
{
    char piece[LINE_MOST];
    (void)self;
    size_t taken = length < sizeof piece ? length : sizeof piece;
    memcpy(piece, bytes, taken);
    sph_plain(piece, taken);
    for (size_t sent = 0; sent < taken;) {
        ssize_t wrote = write(STDOUT_FILENO, piece + sent, taken - sent);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return 0; /* the stream's word for an error */
        sent += (size_t)wrote;
    }
    return (ssize_t)taken;
}

void terminal_guard(void)
{
#ifdef __GLIBC__
    if (!isatty(STDOUT_FILENO))
        return;
    FILE *plain = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_plain});
    if (!plain)
        return;
    setvbuf(plain, NULL, _IOLBF, LINE_MOST);
    stdout = plain;
#endif
}
