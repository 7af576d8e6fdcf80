/* SPDX-License-Identifier: MIT
 *
 * Byte 0 belongs to all who share the folder; who is alone in it locks the whole file. Byte 1 + n is the claim of number n,
 * and what it holds is its mark: a network file system reads again what was locked, but may take long to see a new
 * file of another machine. Locks of open file descriptions, where the system has them, are shared with children and do not
 * end when another descriptor of the file is closed. */
#include "file/claims.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/file_inside.h"
#include "file/file_sys.h"

#ifdef F_OFD_SETLK
enum { SET_LOCK = F_OFD_SETLK, GET_LOCK = F_OFD_GETLK };
#else
enum { SET_LOCK = F_SETLK, GET_LOCK = F_GETLK };
#endif

static struct flock bytes(enum claims_kind kind, off_t first, off_t count)
{
    short type = kind == CLAIMS_ALONE ? F_WRLCK : F_RDLCK;
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = count};
}

/* 0; 1: somebody else has one of them; -1: errno says why. */
static int lock(int fd, struct flock span)
{
    int err;
    do
        err = file_sys_lock(fd, SET_LOCK, &span);
    while (err < 0 && errno == EINTR);
    return err < 0 && (errno == EAGAIN || errno == EACCES) ? 1 : err;
}

/* The kind of those at work: who shares has byte 0 alone, for reading. */
static enum claims_kind kind_of_others(int fd)
{
    struct flock span = bytes(CLAIMS_ALONE, 0, 1);
    return !file_sys_lock(fd, GET_LOCK, &span) && span.l_type == F_RDLCK ? CLAIMS_SHARED : CLAIMS_ALONE;
}

/* Whether the file that was locked is still the one of this name: another process may have removed it meanwhile. */
static int is_current(int fd, const char *path)
{
    struct stat held, named;
    return !fstat(fd, &held) && !file_look(&named, path) && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

static int refuse(const char *dir, int reason)
{
    return sph_fail_at(SPH_EIO, dir,
                       "its file system has no locks (%s), which several processes in one folder need",
                       strerror(reason));
}

/* One attempt; 2: the file was removed meanwhile. */
static int try_begin(struct claims *claims, const char *dir, enum claims_kind kind, enum claims_kind *others)
{
    int fd = file_open_retrying(claims->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return file_fail_to("open", claims->path);
    int err = lock(fd, bytes(kind, 0, kind == CLAIMS_ALONE ? 0 : 1)), reason = errno;
    if (err > 0 && others)
        *others = kind_of_others(fd);
    if (!err && !is_current(fd, claims->path))
        err = 2;
    if (!err) {
        claims->fd = fd;
        return 0;
    }
    close(fd);
    if (err > 0)
        return err;
    file_remove(claims->path);
    return kind == CLAIMS_SHARED ? refuse(dir, reason) : 0;
}

int claims_begin(struct claims *out, const char *dir, enum claims_kind kind, enum claims_kind *others)
{
    int err;
    *out = CLAIMS_NONE;
    if (!(out->path = file_join(dir, ".claims")))
        return SPH_EMEMORY;
    do
        err = try_begin(out, dir, kind, others);
    while (err == 2);
    if (err) {
        mem_free(out->path);
        *out = CLAIMS_NONE;
    }
    return err;
}

void claims_end(struct claims *claims)
{
    if (claims->fd >= 0) {
        if (!lock(claims->fd, bytes(CLAIMS_ALONE, 0, 0)))
            file_remove(claims->path);
        close(claims->fd);
    }
    mem_free(claims->path);
    *claims = CLAIMS_NONE;
}

int claims_take(const struct claims *claims, size_t number, char *mark)
{
    off_t byte = (off_t)number + 1;
    int err = lock(claims->fd, bytes(CLAIMS_ALONE, byte, 1));
    *mark = 0;
    if (!err && pread(claims->fd, mark, 1, byte) < 0)
        err = -1;
    return err < 0 ? file_fail_to("claim a job in", claims->path) : !err;
}

int claims_give(const struct claims *claims, size_t number, char mark)
{
    off_t byte = (off_t)number + 1;
    struct flock span = bytes(CLAIMS_ALONE, byte, 1);
    span.l_type = F_UNLCK;
    if ((mark && pwrite(claims->fd, &mark, 1, byte) < 1) || lock(claims->fd, span) < 0)
        return file_fail_to("give back a job in", claims->path);
    return 0;
}
