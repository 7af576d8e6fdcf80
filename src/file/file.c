/* SPDX-License-Identifier: MIT */
#include "file/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/file_inside.h"
#include "file/file_sys.h"
#include "base/memory.h"
#include "base/text.h"

int file_fail_to(const char *what, const char *path)
{
    int link = errno == ELOOP && file_is_inside(path);
    return sph_fail_at(
        SPH_EIO, path, "cannot %s: %s", what,
        link ? "its path contains a symbolic link, and links inside a run folder are not followed"
             : strerror(errno));
}

void file_tell_link(int dir, const char *name)
{
    struct stat info;
    int reason = errno; /* of a link that is no folder the system says ENOTDIR */
    if (reason == ENOTDIR && !fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) && S_ISLNK(info.st_mode))
        reason = ELOOP;
    errno = reason;
}

int file_open_retrying(const char *path, int flags)
{
    struct file_spot spot;
    int fd;
    if (file_spot(&spot, path) < 0)
        return -1;
    do
        fd = file_sys_open(spot.dir, spot.name, flags | O_CLOEXEC | (spot.inside ? O_NOFOLLOW : 0));
    while (fd < 0 && errno == EINTR);
    if (fd < 0 && spot.inside)
        file_tell_link(spot.dir, spot.name);
    int reason = errno;
    file_spot_close(&spot);
    errno = reason;
    return fd;
}

int file_open_directory(const char *path)
{
    return file_open_retrying(path, O_RDONLY | O_DIRECTORY);
}

int file_write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = file_sys_write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = EIO; /* or this would never end */
        if (written <= 0)
            return -1;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

int file_sync_retrying(int fd)
{
    int err;
    do
        err = file_sys_fsync(fd);
    while (err < 0 && errno == EINTR);
    return err;
}

/* Slashes at the end do not count. */
int file_open_parent(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length && path[length - 1] != '/')
        length--;
    char *dir = length ? mem_text_of(path, length) : mem_text(".");
    if (!dir)
        return SPH_EMEMORY;
    int fd = file_open_directory(dir);
    if (fd < 0)
        fd = file_fail_to("open directory", dir);
    mem_free(dir);
    return fd;
}

int file_sync_directory(int fd, const char *path)
{
    /* EINVAL: a file system that has no such sync */
    return file_sync_retrying(fd) < 0 && errno != EINVAL ? file_fail_to("sync its directory", path) : 0;
}

/* ---------------------------------------------------------------- reading */

/* Without waiting for whoever would write into a pipe, unless a stream is what is wanted. */
static int open_for_reading(const char *path, struct stat *info, int stream)
{
    int fd = file_open_retrying(path, O_RDONLY | O_NOCTTY | (stream ? 0 : O_NONBLOCK));
    if (fd < 0)
        return file_fail_to("open", path);
    if (fstat(fd, info) < 0) {
        file_fail_to("examine", path);
        close(fd);
        return SPH_EIO;
    }
    if (S_ISDIR(info->st_mode)) {
        close(fd);
        return sph_fail_at(SPH_EIO, path, "cannot read: it is a directory");
    }
    if (!stream && !S_ISREG(info->st_mode)) {
        close(fd);
        return sph_fail_at(SPH_EIO, path, "cannot read: it is a pipe, a socket or a device, expected a file");
    }
    return fd;
}

static int read_to_end(char **bytes, size_t *room, size_t *length, const char *path, int stream)
{
    struct stat info;
    int err = 0, fd = open_for_reading(path, &info, stream);
    if (fd < 0)
        return fd;

    /* The size is a first guess: files grow, pipes and /proc say 0. One byte is for the NUL, one finds the
     * end. */
    size_t used = 0, guess = info.st_size > 0 ? (size_t)info.st_size : 0;
    for (;;) {
        size_t want = used < guess ? guess + 2 : used + 2;
        if (!mem_reserve((void **)bytes, room, want, 1)) {
            err = SPH_EMEMORY;
            goto out;
        }
        ssize_t got = read(fd, *bytes + used, *room - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            err = file_fail_to("read", path);
            goto out;
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    (*bytes)[used] = '\0';
    if (length)
        *length = used;
out:
    close(fd);
    return err;
}

int file_read_again(char **bytes, size_t *room, size_t *length, const char *path)
{
    return read_to_end(bytes, room, length, path, 0);
}

static int read_whole(char **out, size_t *length, const char *path, int stream)
{
    char *bytes = NULL;
    size_t room = 0;
    int err = read_to_end(&bytes, &room, length, path, stream);
    *out = err < 0 ? NULL : bytes;
    if (err < 0)
        mem_free(bytes);
    return err;
}

int file_read(char **out, size_t *length, const char *path)
{
    return read_whole(out, length, path, 0);
}

int file_read_stream(char **out, size_t *length, const char *path)
{
    return read_whole(out, length, path, !file_is_inside(path));
}

static const unsigned char empty_file[1];

int file_map(struct file_map *out, const char *path)
{
    *out = (struct file_map){0};
    struct stat info;
    int err = 0, fd = open_for_reading(path, &info, 0);
    if (fd < 0)
        return fd;
    if (info.st_size == 0) {
        out->data = empty_file;
        goto out;
    }
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        err = file_fail_to("map", path);
        goto out;
    }
    *out = (struct file_map){.data = data, .length = (size_t)info.st_size};
out:
    close(fd);
    return err;
}

void file_unmap(struct file_map *map)
{
    if (map->length)
        munmap((void *)(uintptr_t)map->data, map->length);
    *map = (struct file_map){0};
}

static void advise(const struct file_map *map, size_t first, size_t end, int advice)
{
    if (map->length && first < end)
        madvise((void *)(uintptr_t)(map->data + first), end - first, advice);
}

void file_map_by_parts(const struct file_map *map)
{
    advise(map, 0, map->length, MADV_RANDOM);
}

void file_map_soon(const struct file_map *map, const void *from, size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = (size_t)((const unsigned char *)from - map->data);
    advise(map, begin / page * page, begin + length, MADV_WILLNEED);
}

void file_map_done(const struct file_map *map, const void *from, size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = (size_t)((const unsigned char *)from - map->data);
    advise(map, (begin + page - 1) / page * page, (begin + length) / page * page, MADV_DONTNEED);
}

/* ---------------------------------------------------------------- names and directories */

int file_exists(const char *path)
{
    struct stat info;
    return file_look(&info, path) == 0;
}

int file_unread(int err, const char *path)
{
    return err == SPH_EMEMORY || (err == SPH_EIO && file_exists(path));
}

int file_is_directory(const char *path)
{
    struct stat info;
    return file_look(&info, path) == 0 && S_ISDIR(info.st_mode);
}

int file_time(const char *path, double *seconds)
{
    struct stat info;
    if (file_look(&info, path) < 0)
        return 0;
    *seconds = (double)info.st_mtime;
    return 1;
}

int file_is_own(const char *path)
{
    struct stat info;
    return file_look(&info, path) == 0 && (info.st_uid == geteuid() || info.st_uid == 0) &&
           !(info.st_mode & (S_IWGRP | S_IWOTH));
}

/* A directory that was made is on the disk when the one that names it is. */
static int make_one(const char *path)
{
    struct file_spot spot;
    if (file_spot(&spot, path) < 0)
        return file_fail_to("make directory", path);
    int made = mkdirat(spot.dir, spot.name, 0777), reason = errno;
    file_spot_close(&spot);
    if (made < 0) {
        struct stat info;
        int there = !file_look(&info, path);
        if (there && S_ISDIR(info.st_mode))
            return 0;
        errno = there && S_ISLNK(info.st_mode) ? ELOOP : reason;
        return file_fail_to("make directory", path);
    }
    int parent = file_open_parent(path), err = parent < 0 ? parent : file_sync_directory(parent, path);
    if (parent >= 0)
        close(parent);
    return err;
}

int file_make_directory(const char *path)
{
    char *prefix = mem_text(path);
    if (!prefix)
        return SPH_EMEMORY;
    int err = 0;
    size_t length = strlen(prefix);
    for (size_t i = 1; i <= length && !err; i++) {
        if (prefix[i] != '/' && prefix[i] != '\0')
            continue;
        char held = prefix[i];
        prefix[i] = '\0';
        err = make_one(prefix);
        prefix[i] = held;
    }
    if (!length)
        err = sph_fail(SPH_EIO, "cannot make directory: the name is empty");
    mem_free(prefix);
    return err;
}

int file_hold(int *out, const char *dir, double patience)
{
    double end = clock_seconds() + patience;
    int fd = file_open_directory(dir);
    *out = -1;
    if (fd < 0)
        return file_fail_to("open", dir);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        int busy = errno == EWOULDBLOCK;
        if (errno == EINTR)
            continue;
        if (busy && clock_seconds() < end) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
            continue;
        }
        close(fd);
        return busy ? sph_fail_at(SPH_EIO, dir, "another process is using it") : 0;
    }
    *out = fd;
    return 0;
}

void file_let_go(int held)
{
    if (held >= 0)
        close(held);
}

int file_is_name(const char *name)
{
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int file_remove(const char *path)
{
    struct file_spot spot;
    if (file_spot(&spot, path) < 0)
        return -1;
    int err = unlinkat(spot.dir, spot.name, 0), reason = errno;
    file_spot_close(&spot);
    errno = reason;
    return err;
}

char *file_join(const char *dir, const char *name)
{
    size_t length = strlen(dir);
    const char *between = length && dir[length - 1] != '/' ? "/" : "";
    return mem_format("%s%s%s", dir, between, name);
}

/* Absolute, without links; the root is "". */
static int real_folder(char out[PATH_MAX], const char *path)
{
    if (!realpath(path, out))
        return file_fail_to("find", path);
    if (!strcmp(out, "/"))
        *out = '\0';
    return 0;
}

int file_between(char **out, const char *from, const char *to)
{
    char a[PATH_MAX], b[PATH_MAX];
    struct text path = {0};
    size_t shared = 0; /* length of the folders that both have in common */
    *out = NULL;
    int err = real_folder(a, from);
    if (err < 0 || (err = real_folder(b, to)) < 0)
        return err;
    for (size_t i = 0;; i++) {
        if ((!a[i] || a[i] == '/') && (!b[i] || b[i] == '/'))
            shared = i;
        if (!a[i] || a[i] != b[i])
            break;
    }
    for (const char *at = a + shared; (at = strchr(at, '/')); at++)
        text_add(&path, "%s..", path.length ? "/" : "");
    if (b[shared])
        text_add(&path, "%s%s", path.length ? "/" : "", b + shared + 1);
    else if (!path.length)
        text_add(&path, ".");
    *out = path.chars;
    return path.failed ? SPH_EMEMORY : 0;
}

/* ---------------------------------------------------------------- logs */

int file_log_open(struct file_log *out, const char *path, uint64_t keep_bytes)
{
    *out = (struct file_log){.fd = -1, .offset = keep_bytes};
    int err = 0;
    out->path = mem_text(path);
    if (!out->path) {
        err = SPH_EMEMORY;
        goto out;
    }
    /* O_APPEND: after a cut the next write lands at the end without a seek. */
    out->fd = file_open_retrying(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (out->fd < 0) {
        err = errno == ELOOP && !file_is_inside(path)
                  ? sph_fail_at(SPH_EIO, path, "cannot open: it is a symbolic link")
                  : file_fail_to("open", path);
        goto out;
    }
    struct stat info;
    if (fstat(out->fd, &info) < 0) {
        err = file_fail_to("examine", path);
        goto out;
    }
    if (!S_ISREG(info.st_mode)) {
        err = sph_fail_at(SPH_EIO, path, "cannot open: not a regular file");
        goto out;
    }
    uint64_t held = info.st_size > 0 ? (uint64_t)info.st_size : 0;
    if (held < keep_bytes)
        err = sph_fail_at(SPH_EIO, path, "cannot continue: it has %llu bytes, expected at least %llu",
                          (unsigned long long)held, (unsigned long long)keep_bytes);
    else if (held > keep_bytes && ftruncate(out->fd, (off_t)keep_bytes) < 0)
        err = file_fail_to("cut", path);
out:
    if (err)
        file_log_close(out);
    return err;
}

int file_log_add(struct file_log *log, const char *bytes, size_t length)
{
    if (!length)
        return 0;
    if (!mem_reserve((void **)&log->pending, &log->capacity, log->length + length, 1))
        return SPH_EMEMORY;
    memcpy(log->pending + log->length, bytes, length);
    log->length += length;
    return 0;
}

int file_log_flush(struct file_log *log)
{
    if (file_write_all(log->fd, log->pending, log->length) < 0) {
        int err = file_fail_to("write", log->path);
        (void)!ftruncate(log->fd, (off_t)log->offset); /* the write's reason is the one to tell */
        return err;
    }
    log->offset += log->length;
    log->length = 0;
    return 0;
}

int file_log_sync(struct file_log *log)
{
    int err = file_log_flush(log);
    if (!err && file_sync_retrying(log->fd) < 0)
        err = file_fail_to("sync", log->path);
    return err;
}

int file_log_read(const struct file_log *log, uint64_t offset, void *bytes, size_t length)
{
    char *to = bytes;
    assert(offset <= log->offset && length <= log->offset - offset);
    while (length) {
        ssize_t got = pread(log->fd, to, length, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return file_fail_to("read", log->path);
        if (got == 0)
            return sph_fail_at(SPH_EIO, log->path,
                               "cannot read: it ends after %llu bytes, expected at least %llu",
                               (unsigned long long)offset, (unsigned long long)(offset + length));
        to += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return 0;
}

void file_log_close(struct file_log *log)
{
    if (log->path && log->fd >= 0)
        close(log->fd);
    mem_free(log->path);
    mem_free(log->pending);
    *log = (struct file_log){.fd = -1};
}
