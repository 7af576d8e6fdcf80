/* SPDX-License-Identifier: MIT
 *
 * Writes, syncs and renames that fail on demand, or at which the process dies. A test program that includes
 * this is linked with --wrap for file_sys_write, file_sys_fsync and file_sys_rename, and takes every call
 * that the library makes of them. */
#ifndef TESTS_FAULT_SYSTEM_H
#define TESTS_FAULT_SYSTEM_H

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>

#include "support.h"

ssize_t __real_file_sys_write(int fd, const void *bytes, size_t length);
int __real_file_sys_rename(int from_dir, const char *from, int to_dir, const char *to);
ssize_t __wrap_file_sys_write(int fd, const void *bytes, size_t length);
int __wrap_file_sys_fsync(int fd);
int __wrap_file_sys_rename(int from_dir, const char *from, int to_dir, const char *to);

enum action { FAIL, KILL_BEFORE, KILL_AFTER };

static struct {
    int calls, at; /* the call that misbehaves, from 1; 0: none */
    enum action action;
    size_t piece;    /* longest write; 0: no limit */
    int interrupted; /* every other write and sync is */
} sys;

SUPPORT void sys_plan(int at, enum action action)
{
    memset(&sys, 0, sizeof sys);
    sys.at = at;
    sys.action = action;
}

SUPPORT int sys_fails(int interruptible)
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

SUPPORT void sys_after(void)
{
    if (sys.calls == sys.at && sys.action == KILL_AFTER)
        raise(SIGKILL);
}

ssize_t __wrap_file_sys_write(int fd, const void *bytes, size_t length)
{
    if (sys_fails(1))
        return -1;
    ssize_t written = __real_file_sys_write(fd, bytes, sys.piece && sys.piece < length ? sys.piece : length);
    sys_after();
    return written;
}

/* Does not sync: killed processes, unlike cut power, need no disk, and thousands of syncs would take a
 * minute. */
int __wrap_file_sys_fsync(int fd)
{
    (void)fd;
    if (sys_fails(1))
        return -1;
    sys_after();
    return 0;
}

int __wrap_file_sys_rename(int from_dir, const char *from, int to_dir, const char *to)
{
    if (sys_fails(0))
        return -1;
    int err = __real_file_sys_rename(from_dir, from, to_dir, to);
    sys_after();
    return err;
}

#endif
