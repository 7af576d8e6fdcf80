/* SPDX-License-Identifier: MIT
 *
 * The wrapped system calls. */
#include "fault_system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

ssize_t __real_file_sys_write(int fd, const void *bytes, size_t length);
int __real_file_sys_rename(int from_dir, const char *from, int to_dir, const char *to);
int __real_file_sys_open(int dir, const char *path, int flags);
DIR *__real_fdopendir(int fd);
struct dirent *__real_readdir(DIR *open);
ssize_t __wrap_file_sys_write(int fd, const void *bytes, size_t length);
int __wrap_file_sys_fsync(int fd);
int __wrap_file_sys_rename(int from_dir, const char *from, int to_dir, const char *to);
int __wrap_file_sys_open(int dir, const char *path, int flags);
int __real_file_sys_lock(int fd, int command, struct flock *span);
int __wrap_file_sys_lock(int fd, int command, struct flock *span);
DIR *__wrap_fdopendir(int fd);
struct dirent *__wrap_readdir(DIR *open);

struct sys_faults sys;

void sys_plan(int at, enum action action)
{
    memset(&sys, 0, sizeof sys);
    sys.at = at;
    sys.action = action;
}

static int fails(int interruptible)
{
    sys.calls++;
    if (interruptible && sys.interrupted && sys.calls % 2) {
        errno = EINTR;
        return 1;
    }
    if (sys.calls != sys.at)
        return 0;
    if (sys.action == KILL_BEFORE)
        raise(SIGKILL);
    errno = ENOSPC;
    return sys.action == FAIL;
}

static void after(void)
{
    if (sys.calls == sys.at && sys.action == KILL_AFTER)
        raise(SIGKILL);
}

ssize_t __wrap_file_sys_write(int fd, const void *bytes, size_t length)
{
    if (fails(1))
        return -1;
    ssize_t written = __real_file_sys_write(fd, bytes, sys.piece && sys.piece < length ? sys.piece : length);
    after();
    return written;
}

/* Does not sync: killed processes, unlike cut power, need no disk, and thousands of syncs would take a minute. */
int __wrap_file_sys_fsync(int fd)
{
    (void)fd;
    if (fails(1))
        return -1;
    after();
    return 0;
}

int __wrap_file_sys_rename(int from_dir, const char *from, int to_dir, const char *to)
{
    if (fails(0))
        return -1;
    int err = __real_file_sys_rename(from_dir, from, to_dir, to);
    after();
    return err;
}

int __wrap_file_sys_open(int dir, const char *path, int flags)
{
    if (sys.opens)
        sys.opens(path);
    return __real_file_sys_open(dir, path, flags);
}

int __wrap_file_sys_lock(int fd, int command, struct flock *span)
{
    errno = sys.no_locks ? sys.no_locks : errno;
    return sys.no_locks ? -1 : __real_file_sys_lock(fd, command, span);
}

DIR *__wrap_fdopendir(int fd)
{
    errno = sys.listing == NOT_OPENED ? ENOMEM : errno;
    return sys.listing == NOT_OPENED ? NULL : __real_fdopendir(fd);
}

struct dirent *__wrap_readdir(DIR *open)
{
    errno = sys.listing == NOT_READ ? EIO : errno;
    return sys.listing == NOT_READ ? NULL : __real_readdir(open);
}
