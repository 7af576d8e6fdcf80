/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share. */
#ifndef SPH_FILE_FILE_INSIDE_H
#define SPH_FILE_FILE_INSIDE_H

#include <stddef.h>

/* A temporary is NAME.DIGITS.tmp, the digits hexadecimal. */
enum { FILE_DIGITS = 16 };
#define FILE_SUFFIX ".tmp"

/* SPH_EIO with "path: cannot open: reason", from errno. */
int file_fail_to(const char *what, const char *path);

/* The calls as the system has them, carried on where a signal interrupts them or a write falls short. */
int file_open_retrying(const char *path, int flags);
int file_write_all(int fd, const char *bytes, size_t length);
int file_sync_retrying(int fd);

/* The directory that names path, open for its sync; or a negative code. */
int file_open_parent(const char *path);
int file_sync_directory(int fd, const char *path); /* path: for the message */

#endif
