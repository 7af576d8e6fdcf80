/* SPDX-License-Identifier: MIT
 *
 * Nothing but the calls: this file alone is replaced by tests. */
#include "file/file_sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int file_sys_open(int dir, const char *path, int flags)
{
    return openat(dir, path, flags, 0666);
}

ssize_t file_sys_write(int fd, const void *bytes, size_t length)
{
    return write(fd, bytes, length);
}

int file_sys_fsync(int fd)
{
    return fsync(fd);
}

int file_sys_lock(int fd, int command, struct flock *span)
{
    return fcntl(fd, command, span);
}

int file_sys_rename(int from_dir, const char *from, int to_dir, const char *to)
{
    return renameat(from_dir, from, to_dir, to);
}
