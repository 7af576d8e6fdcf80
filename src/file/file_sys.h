/* SPDX-License-Identifier: MIT
 *
 * The system calls that open, sync and lock files, each behind a function. Tests replace these functions at
 * link time, count the calls, and make each of them fail once. Arguments, results and errno are those of
 * the system calls. */
#ifndef SPH_FILE_FILE_SYS_H
#define SPH_FILE_FILE_SYS_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/types.h>

int file_sys_open(int dir, const char *path, int flags); /* openat, renameat */
ssize_t file_sys_write(int fd, const void *bytes, size_t length);
int file_sys_fsync(int fd);
int file_sys_lock(int fd, int command, struct flock *span); /* fcntl */
int file_sys_rename(int from_dir, const char *from, int to_dir, const char *to);

#endif
