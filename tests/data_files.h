/* SPDX-License-Identifier: MIT
 *
 * Small files for the tests of the data room. Include in one file of a program, after cmocka.h. */
#ifndef TESTS_DATA_FILES_H
#define TESTS_DATA_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes bytes to a new temporary file whose name ends so; the path stays valid until the next call but
 * seven. */
static const char *file_with(const char *end, const void *bytes, size_t length)
{
    static char paths[8][64];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "/tmp/spherelu-test-XXXXXX%s", end);
    int fd = mkstemps(path, (int)strlen(end));
    assert_true(fd >= 0);
    assert_true(write(fd, bytes, length) == (ssize_t)length);
    close(fd);
    return path;
}

static inline const char *csv_with(const char *text)
{
    return file_with(".csv", text, strlen(text));
}

#endif
