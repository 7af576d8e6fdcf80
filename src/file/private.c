/* SPDX-License-Identifier: MIT
 *
 * A folder for what another program writes: of a name that nobody can guess, open to this user alone, so that no link
 * can be planted where the program will write. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/file_inside.h"

static const char stem[] = ".drawing.";

static int is_ours(const char *name)
{
    return !strncmp(name, stem, sizeof stem - 1) &&
           strspn(name + sizeof stem - 1, "0123456789abcdef") == FILE_DIGITS &&
           !strcmp(name + sizeof stem - 1 + FILE_DIGITS, FILE_SUFFIX);
}

/* The files of the folder behind fd, which is closed, and the folder itself. */
static void remove_all(int parent, const char *name, int fd)
{
    DIR *open = fdopendir(fd);
    if (!open) { /* no memory: the one file that most drawings have */
        unlinkat(fd, FILE_PRIVATE_NAME, 0);
        unlinkat(parent, name, AT_REMOVEDIR);
        close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(open));)
        unlinkat(dirfd(open), entry->d_name, 0); /* not . and .., which are folders */
    unlinkat(dirfd(open), FILE_PRIVATE_NAME, 0); /* where it could not be read */
    unlinkat(parent, name, AT_REMOVEDIR);
    closedir(open);
}

/* Whoever draws holds a lock on the folder, and the system lets go when it dies. */
static void remove_left(const char *dir)
{
    DIR *open = file_open_list(dir);
    if (!open)
        return;
    for (struct dirent *entry; (entry = readdir(open));) {
        struct stat info;
        if (!is_ours(entry->d_name))
            continue;
        int fd = openat(dirfd(open), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (!fstat(fd, &info) && info.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
            remove_all(dirfd(open), entry->d_name, fd);
        else
            close(fd);
    }
    closedir(open);
}

static int create(struct file_private *out, const char *dir)
{
    for (;;) {
        uint64_t number;
        struct stat info = {.st_nlink = 1};
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return file_fail_to("make a folder in", dir);
        snprintf(out->name, sizeof out->name, "%s%016" PRIx64 FILE_SUFFIX, stem, number);
        if (mkdirat(out->parent, out->name, 0700) < 0) {
            if (errno == EEXIST)
                continue;
            *out->name = '\0';
            return file_fail_to("make a folder in", dir);
        }
        do
            out->fd = openat(out->parent, out->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        while (out->fd < 0 && errno == EINTR);
        if (out->fd >= 0 && (flock(out->fd, LOCK_EX) < 0 || (!fstat(out->fd, &info) && info.st_nlink)))
            return 0;
        if (out->fd < 0 && errno != ENOENT)
            return file_fail_to("open a folder in", dir);
        if (out->fd >= 0) /* swept away before it was locked: another name */
            close(out->fd);
    }
}

int file_private_begin(struct file_private *out, const char *dir)
{
    *out = (struct file_private){.parent = -1, .fd = -1};
    remove_left(dir);
    out->parent = file_open_directory(dir);
    int err = out->parent < 0 ? file_fail_to("open directory", dir) : create(out, dir);
    if (!err && !(out->path = file_join(dir, out->name)))
        err = SPH_EMEMORY;
    if (err < 0)
        file_private_end(out);
    return err;
}

void file_private_end(struct file_private *folder)
{
    if (folder->fd >= 0)
        remove_all(folder->parent, folder->name, folder->fd);
    else if (folder->parent >= 0 && *folder->name)
        unlinkat(folder->parent, folder->name, AT_REMOVEDIR);
    if (folder->parent >= 0)
        close(folder->parent);
    mem_free(folder->path);
    *folder = (struct file_private){.parent = -1, .fd = -1};
}
