/* SPDX-License-Identifier: MIT
 *
 * The one way in which files are written whole. The temporary lies beside its place under a name that nobody
 * can guess, is created by this call or not at all, and is never reached through a link: whoever may write
 * into the folder cannot make us write elsewhere. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/file_inside.h"
#include "file/file_sys.h"
#include "spherelu/store.h"

enum { STEM_MOST = 200 }; /* bytes of the name that stand in the temporary's: file systems take 255 */

/* ---------------------------------------------------------------- what a killed writer left */

static int is_temporary_of(const char *stem, size_t length, const char *name)
{
    if (strncmp(name, stem, length) != 0 || name[length] != '.')
        return 0;
    name += length + 1;
    return strspn(name, "0123456789abcdef") == FILE_DIGITS && !strcmp(name + FILE_DIGITS, FILE_SUFFIX);
}

/* A writer at work holds a lock on its temporary, and the system lets go when it dies. */
static void remove_if_left(int dir, const char *name)
{
    struct stat info;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        !flock(fd, LOCK_EX | LOCK_NB))
        unlinkat(dir, name, 0);
    close(fd);
}

static void remove_left(const char *dir, const char *stem, size_t length)
{
    DIR *open = file_open_list(dir);
    if (!open)
        return;
    for (struct dirent *entry; (entry = readdir(open));)
        if (is_temporary_of(stem, length, entry->d_name))
            remove_if_left(dirfd(open), entry->d_name);
    closedir(open);
}

/* ---------------------------------------------------------------- what a program that is told to end leaves */

/* The temporaries of this process, for a signal handler: whoever takes a name out of the table owns it. */
enum { UNFINISHED_MOST = 64 };
static _Atomic(char *) unfinished[UNFINISHED_MOST];

static void note_unfinished(struct file_replace *file)
{
    for (file->slot = 0; file->slot < UNFINISHED_MOST; file->slot++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&unfinished[file->slot], &none, file->temporary))
            return;
    }
}

static void free_temporary(struct file_replace *file)
{
    if (file->slot == UNFINISHED_MOST || atomic_exchange(&unfinished[file->slot], NULL))
        mem_free(file->temporary);
    file->temporary = NULL;
}

void sph_remove_unfinished(void)
{
    for (size_t i = 0; i < UNFINISHED_MOST; i++) {
        char *path = atomic_exchange(&unfinished[i], NULL);
        if (path)
            unlink(path);
    }
}

/* ---------------------------------------------------------------- replacing */

/* Creates out->temporary beside path. */
static int create(struct file_replace *out, const char *dir, const char *stem, size_t length)
{
    for (;;) {
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return file_fail_to("create", out->path);
        out->temporary = mem_format("%s%.*s.%016" PRIx64 FILE_SUFFIX, dir, (int)length, stem, number);
        if (!out->temporary)
            return SPH_EMEMORY;
        note_unfinished(out); /* before it is there: a signal may come at once */
        out->fd = file_open_retrying(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
        struct stat info = {.st_nlink = 1};
        if (out->fd >= 0 && (flock(out->fd, LOCK_EX) < 0 || (!fstat(out->fd, &info) && info.st_nlink)))
            return 0;
        /* taken already, or swept away before it was locked: another name */
        int again = out->fd >= 0 || errno == EEXIST, err = again ? 0 : file_fail_to("create", out->path);
        if (out->fd >= 0)
            close(out->fd);
        out->fd = -1;
        free_temporary(out);
        if (!again)
            return err;
    }
}

static int begin_file(struct file_replace *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path;
    size_t length = strlen(stem) < STEM_MOST ? strlen(stem) : STEM_MOST;
    char *dir = mem_text_of(path, (size_t)(stem - path));
    if (!dir)
        return SPH_EMEMORY;
    remove_left(*dir ? dir : ".", stem, length);
    int err = create(out, dir, stem, length);
    mem_free(dir);
    return err;
}

static int begin_stream(struct file_replace *out, const char *path)
{
    out->fd = file_open_retrying(path, O_WRONLY | O_NOCTTY);
    return out->fd < 0 ? file_fail_to("open", path) : 0;
}

/* A new file in the place of /dev/stdout, which is a link, would take it away from everybody. */
int file_replace_begin(struct file_replace *out, const char *path)
{
    struct stat info;
    int err, file = file_look(&info, path) < 0 || S_ISREG(info.st_mode);
    *out = (struct file_replace){.fd = -1};
    if (!(out->path = mem_text(path)))
        err = SPH_EMEMORY;
    else if (!file && S_ISDIR(info.st_mode))
        err = sph_fail_at(SPH_EIO, path, "cannot write: it is a directory");
    else if (file || file_is_inside(path))
        err = begin_file(out, path);
    else if (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))
        err = begin_stream(out, path);
    else
        err = sph_fail_at(SPH_EIO, path, "cannot write: it is a socket or a block device, expected a file");
    if (err < 0)
        file_replace_abort(out);
    return err;
}

static int replace_failed(struct file_replace *file, const char *what)
{
    int err = file_fail_to(what, file->path);
    file_replace_abort(file);
    return err;
}

int file_replace_write(struct file_replace *file, const void *bytes, size_t length)
{
    assert(file->path);
    return file_write_all(file->fd, bytes, length) < 0 ? replace_failed(file, "write") : 0;
}

int file_replace_sink(void *file, const void *bytes, size_t length)
{
    return file_replace_write(file, bytes, length);
}

static int move(const char *from, const char *to)
{
    struct file_spot old, new;
    if (file_spot(&old, from) < 0)
        return -1;
    int err = file_spot(&new, to);
    if (!err) {
        err = file_sys_rename(old.dir, old.name, new.dir, new.name);
        int reason = errno;
        file_spot_close(&new);
        errno = reason;
    }
    int reason = errno;
    file_spot_close(&old);
    errno = reason;
    return err;
}

int file_replace_commit(struct file_replace *file)
{
    assert(file->path);
    if (!file->temporary) { /* a pipe or a device: it has all there is */
        file_replace_abort(file);
        return 0;
    }
    if (file_sync_retrying(file->fd) < 0)
        return replace_failed(file, "sync");
    int dir = file_open_parent(file->path), err = 0; /* now: after the rename it would be too late to fail */
    if (dir < 0) {
        file_replace_abort(file);
        return dir;
    }
    if (move(file->temporary, file->path) < 0) {
        err = file_fail_to("replace", file->path);
    } else {
        free_temporary(file); /* it has become path */
        err = file_sync_directory(dir, file->path);
    }
    close(dir);
    file_replace_abort(file);
    return err;
}

int file_give_name(const char *from, const char *path)
{
    int dir = file_open_parent(path); /* now: after the rename it would be too late to fail */
    if (dir < 0)
        return dir;
    int err = move(from, path) < 0 ? file_fail_to("replace", path) : file_sync_directory(dir, path);
    close(dir);
    return err;
}

void file_replace_abort(struct file_replace *file)
{
    if (file->path && file->fd >= 0)
        close(file->fd);
    if (file->temporary) {
        file_remove(file->temporary);
        free_temporary(file);
    }
    mem_free(file->path);
    *file = (struct file_replace){.fd = -1};
}

int file_replace_with(const char *path, const void *bytes, size_t length)
{
    struct file_replace file;
    int err = file_replace_begin(&file, path);
    if (!err)
        err = file_replace_write(&file, bytes, length);
    if (!err)
        err = file_replace_commit(&file);
    return err;
}
