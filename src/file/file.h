/* SPDX-License-Identifier: MIT
 *
 * Files: read whole, map, replace whole, append. A replaced file is the old one or the new one at every
 * moment. A failure is SPH_EIO with "path: cannot do this: the system's reason", or SPH_EMEMORY. A write past
 * a file size limit is such a failure only where SIGXFSZ is ignored: programs that set limits ignore it, the
 * library leaves signals alone. */
#ifndef SPH_FILE_FILE_H
#define SPH_FILE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Between enter and leave no path below `dir` (or another name that begins so) is reached through a symbolic link:
 * reading one fails, writing to its place replaces it. For folders that somebody else may have filled, such as runs. The
 * name `dir` itself may be a link: the user chose it. Enters are counted, and the outermost folder decides. The folders are
 * known to the whole process: a name that the user gives below such a folder is treated in the same way. Leave accepts
 * a folder that was not entered. */
int file_enter(const char *dir);
void file_leave(const char *dir); /* NULL is fine */
int file_is_inside(const char *path);

/* All bytes of path, a regular file, plus a NUL that *length does not count. Caller frees with mem_free. length may be NULL. */
int file_read(char **out, size_t *length, const char *path);

/* The same, and pipes and devices are read to their end, which may take long: for names that come from the user. */
int file_read_stream(char **out, size_t *length, const char *path);

/* The same into *bytes, which has *room and grows where that is not enough: for one file after another. */
int file_read_again(char **bytes, size_t *room, size_t *length, const char *path);

/* A read-only mapping of a regular file; an empty file maps to data != NULL, length 0. A file that another
 * process cuts short while it is mapped kills the reader (SIGBUS): map what file_replace wrote, it is never
 * cut. */
struct file_map {
    const unsigned char *data;
    size_t length;
};
int file_map(struct file_map *out, const char *path);
void file_unmap(struct file_map *map); /* twice, or of zeroes, is fine */

/* For a mapping that is read in parts, in random order: the system reads no more than these parts. Without this it reads ahead
 * up to 8 MB for each. Call file_map_soon before each part, which reads it at once instead of page by page. */
void file_map_by_parts(const struct file_map *map);
void file_map_soon(const struct file_map *map, const void *from, size_t length);

/* Pages that lie whole in these bytes of the mapping need not stay in memory: they were read. */
void file_map_done(const struct file_map *map, const void *from, size_t length);

/* What this process holds of the machine's memory: bytes now, and the most there were; NaN where the system does not say. */
void resident_bytes(double *now, double *most);

int file_exists(const char *path);
/* A failure about this path is none that can be told in passing, as that of a file which is gone or says something else: memory
 * was short, or the file is there and was not read. */
int file_unread(int err, const char *path);
int file_is_directory(const char *path);
/* When it was last written, in seconds since 1970; 0: it is not there. */
int file_time(const char *path, double *seconds);
/* 1: this user's or root's, and nobody else may write it. */
int file_is_own(const char *path);
int file_make_directory(const char *path); /* with parents, each on the disk; existing is fine */

/* Names of all that lies in a directory, in the order of their bytes. Caller frees. */
int file_list(char ***out, size_t *count, const char *dir);

/* SPH_EARG where a directory holds anything but the temporaries of killed writers and names that begin with a
 * dot: who begins something in it would mix it with others' files, or overwrite them. Not there is fine. */
int file_check_empty(const char *dir);
int file_is_temporary(const char *name); /* whether it is called as one */

/* Holds a directory for this process and the children it forks: whoever asks for it meanwhile is refused, or
 * waits for as long as patience says. The system lets go when the last of them ends, however that happens;
 * nothing is left on the disk. A file system that knows no locks holds nothing, and *out is -1. */
int file_hold(int *out, const char *dir, double patience);
void file_let_go(int held); /* -1 is fine */

/* Whether this is the name of one file: not empty, without a slash, and neither . nor .. */
int file_is_name(const char *name);

/* Removes a file, or a link itself. 0, or -1: errno says why. */
int file_remove(const char *path);

/* dir/name, caller frees. */
char *file_join(const char *dir, const char *name);

/* *out <- the relative path from one folder to another, "." for the same; both must exist. Caller frees. */
int file_between(char **out, const char *from, const char *to);

/* What was installed with the program, or lies in its build folder: `name` in the folder that this program or
 * this library was started from, in the one above it or in the one above that. 1: *out is its path, caller
 * frees; 0: it is in none of them. */
int file_beside_program(char **out, const char *name);

/* Replace a file. A pipe or a character device, such as /dev/stdout, also behind a link, is written as it is; but in a folder
 * that was entered (file_enter) it is replaced. begin creates "path.NUMBER.tmp", a new file of a name that cannot be guessed, commit syncs,
 * renames onto path (a link there is replaced, not followed) and syncs the directory, abort removes the
 * temporary. A failing write or commit has already aborted: the old file stands and no temporary is left.
 * (Only when the very last step, the sync of the directory, fails is the new file in place already.) abort
 * after commit, after a failure, or of zeroes does nothing. The temporary of a writer that was killed is
 * removed by the next one of the same path; two that write it side by side do not meet. */
struct file_replace {
    char *path, *temporary;
    int fd, slot; /* slot: in the table of temporaries that sph_remove_unfinished goes through */
};
int file_replace_begin(struct file_replace *out, const char *path);

int file_replace_write(struct file_replace *file, const void *bytes, size_t length);
int file_replace_commit(struct file_replace *file);
int file_replace_sink(void *file, const void *bytes, size_t length); /* write, for a sph_sink */
void file_replace_abort(struct file_replace *file);

/* Gives what was written whole and synced under another name, a file or a folder, its own. */
int file_give_name(const char *from, const char *path);

/* begin, write, commit. */
int file_replace_with(const char *path, const void *bytes, size_t length);

/* A new folder in dir for what another program writes: of a name that cannot be guessed, open to this user alone. end
 * removes it with the files in it; that of a process that was killed goes with the next begin in dir. */
struct file_private {
    char *path;    /* dir/name */
    char name[40]; /* begins with a dot; letters, digits and dots */
    int parent, fd;
};
#define FILE_PRIVATE_NAME "picture" /* what the program is to call its file, or its first ones */
int file_private_begin(struct file_private *out, const char *dir);
void file_private_end(struct file_private *folder); /* after end or a failed begin it does nothing */

/* An append-only log: text gathers in memory and reaches the file when flushed; cut to an offset on resume. A
 * symbolic link is not followed, and what is no regular file is refused.
 * A failed flush cuts the file back to what it held before and keeps the text pending. */
struct file_log {
    char *path;
    int fd;
    char *pending;
    size_t length, capacity;
    uint64_t offset; /* bytes of the file that are known to be written */
};
int file_log_open(struct file_log *out, const char *path, uint64_t keep_bytes);
int file_log_add(struct file_log *log, const char *bytes, size_t length);
int file_log_flush(struct file_log *log);
int file_log_sync(struct file_log *log);   /* flush, and onto the disk: before another file records offset */
void file_log_close(struct file_log *log); /* does not flush */

/* bytes <- length bytes of the file from offset on, all of them flushed before. */
int file_log_read(const struct file_log *log, uint64_t offset, void *bytes, size_t length);

#endif
