/* SPDX-License-Identifier: MIT
 *
 * Folders that are not left. Every path that this room opens, examines, renames or removes passes through file_spot():
 * below a folder that was entered it goes from folder to folder, none of them a link. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/file_inside.h"

/* The folders that are entered now, by the names they were given: a few at a time. */
static struct entered {
    char *path;
    size_t length, uses;
} * entered;
static size_t count, capacity;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Slashes at the end do not count; of "/" nothing is left. */
static size_t length_of(const char *dir)
{
    size_t length = strlen(dir);
    while (length && dir[length - 1] == '/')
        length--;
    return length;
}

static struct entered *find(const char *dir, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (entered[i].length == length && !memcmp(entered[i].path, dir, length))
            return &entered[i];
    return NULL;
}

int file_enter(const char *dir)
{
    size_t length = length_of(dir);
    int err = 0;
    pthread_mutex_lock(&lock);
    struct entered *known = find(dir, length);
    if (known)
        known->uses++;
    else if (length) {
        char *path = mem_text_of(dir, length);
        if (path && mem_reserve((void **)&entered, &capacity, count + 1, sizeof *entered))
            entered[count++] = (struct entered){path, length, 1};
        else {
            mem_free(path);
            err = SPH_EMEMORY;
        }
    }
    pthread_mutex_unlock(&lock);
    return err;
}

void file_leave(const char *dir)
{
    pthread_mutex_lock(&lock);
    struct entered *known = dir ? find(dir, length_of(dir)) : NULL;
    if (known && !--known->uses) {
        mem_free(known->path);
        *known = entered[--count];
        if (!count) {
            mem_free(entered);
            entered = NULL;
            capacity = 0;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* The next name of a path; *at <- where it ends, NULL: there is none. "." is none. */
static const char *next_name(const char *path, const char **end)
{
    do {
        path += strspn(path, "/");
        *end = path + strcspn(path, "/");
        if (*end == path)
            return NULL;
    } while (*end - path == 1 && *path == '.' && (path = *end));
    return path;
}

/* Whether the names lead to something below where they start: not to it, and by no .. above it. */
static int is_below(const char *path)
{
    long depth = 0;
    for (const char *end, *name; (name = next_name(path, &end)); path = end) {
        depth += end - name == 2 && !memcmp(name, "..", 2) ? -1 : 1;
        if (depth < 0)
            return 0;
    }
    return depth > 0;
}

/* The bytes of path that name the outermost folder that was entered and that it lies below; 0: none. */
static size_t folder_of(const char *path)
{
    size_t found = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        size_t length = entered[i].length;
        if ((!found || length < found) && !strncmp(path, entered[i].path, length) && path[length] == '/' &&
            is_below(path + length))
            found = length;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int file_is_inside(const char *path)
{
    return folder_of(path) > 0;
}

/* out->own <- these bytes. */
static int own_name(struct file_spot *out, const char *from, const char *end)
{
    size_t length = (size_t)(end - from);
    if (length >= sizeof out->own) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(out->own, from, length);
    out->own[length] = '\0';
    return 0;
}

/* From the folder out->dir into out->own, which lies in it. */
static int step_into(struct file_spot *out)
{
    int fd;
    do
        fd = openat(out->dir, out->own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        file_tell_link(out->dir, out->own);
    int reason = errno;
    file_spot_close(out);
    errno = reason;
    out->dir = fd;
    return fd < 0 ? -1 : 0;
}

/* The folder that was entered is part of the first name: a call that does not follow a link follows those before the last
 * slash, and a slash at the end would make it follow the last one too. */
int file_spot(struct file_spot *out, const char *path)
{
    size_t length = folder_of(path);
    *out = (struct file_spot){.dir = AT_FDCWD, .name = path};
    if (!length)
        return 0;
    const char *end, *after, *from = path, *name = next_name(path + length, &end);
    out->inside = 1;
    out->name = out->own;
    for (;;) {
        const char *next = next_name(end, &after);
        int up = end - name == 2 && !memcmp(name, "..", 2);
        if (up)
            errno = EXDEV;
        if (up || own_name(out, from, end) < 0 || (next && step_into(out) < 0)) {
            int reason = errno;
            file_spot_close(out);
            errno = reason;
            return -1;
        }
        if (!next)
            return 0;
        from = name = next;
        end = after;
    }
}

int file_look(struct stat *out, const char *path)
{
    struct file_spot spot = {.dir = AT_FDCWD};
    const char *end, *name = path + folder_of(path);
    if (name == path)
        return stat(path, out);
    while ((name = next_name(name, &end))) {
        if (own_name(&spot, path, end) < 0 || fstatat(AT_FDCWD, spot.own, out, AT_SYMLINK_NOFOLLOW) < 0)
            return -1;
        name = end;
        const char *after;
        if (next_name(end, &after) && !S_ISDIR(out->st_mode)) {
            errno = S_ISLNK(out->st_mode) ? ELOOP : ENOTDIR;
            return -1;
        }
    }
    return 0;
}

void file_spot_close(struct file_spot *spot)
{
    if (spot->dir >= 0)
        close(spot->dir);
    spot->dir = -1;
}
