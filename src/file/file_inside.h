/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this module. */
#ifndef SPH_FILE_FILE_INSIDE_H
#define SPH_FILE_FILE_INSIDE_H

#include <dirent.h>
#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

/* Where a path leads: a name, and the folder that it is seen from, for the system's ...at calls. Below a folder that was
 * entered (file_enter) no link stands between that folder and `name`: a call that does not follow `name` itself stays
 * inside. Otherwise `name` is the path as it was given. -1: errno says why. */
struct file_spot {
    int dir, inside;
    const char *name;
    char own[PATH_MAX];
};
int file_spot(struct file_spot *out, const char *path);
void file_spot_close(struct file_spot *spot);

/* After a call that would not follow: errno <- ELOOP where `name` is a link, whatever the system called it. */
void file_tell_link(int dir, const char *name);

/* What lies at a path: a link inside of a folder that was entered is a link. It opens nothing, so that a file is not taken
 * for missing when there are no descriptors left. -1: errno says why. */
int file_look(struct stat *out, const char *path);

/* A folder, open for reading; or -1. */
int file_open_directory(const char *path);
DIR *file_open_list(const char *dir); /* the same for readdir, or NULL */

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
