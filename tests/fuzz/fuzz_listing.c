/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a folder of pictures, listed. A line of the input is a file ("a/b/1.jpg", "a/b/" is a folder) or, with a '>'
 * in it, a link to what is behind it. */
#include <ftw.h>
#include <sys/types.h>

#include "data/folder.h"
#include "fuzz.h"
#include "base/memory.h"

enum { LINES = 48, LINE = 96 };

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* Nothing leads out of the folder. */
static int stays(const char *name, const char *target)
{
    return *name && *name != '/' && !strstr(name, "..") && *target != '/' &&
           count_of(target, "..") <= count_of(name, "/");
}

static void make_line(char *line)
{
    char path[FUZZ_PATH + LINE];
    char *target = strchr(line, '>');
    if (target)
        *target++ = '\0';
    if (!stays(line, target ? target : ""))
        return;
    int head = snprintf(path, sizeof path, "%s/", fuzz_path("set"));
    for (const char *slash = line; (slash = strchr(slash, '/')); slash++) {
        snprintf(path + head, sizeof path - (size_t)head, "%.*s", (int)(slash - line), line);
        struct stat info;
        if (lstat(path, &info) == 0 &&
            S_ISLNK(info.st_mode)) /* a file made behind a link might be anywhere */
            return;
        mkdir(path, 0700);
    }
    snprintf(path + head, sizeof path - (size_t)head, "%s", line);
    if (target)
        fuzz_sum += symlink(target, path);
    else if (line[strlen(line) - 1] != '/') {
        int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
        if (fd >= 0)
            close(fd);
    }
}

static void look(struct folder *list)
{
    for (size_t row = 0; row < list->rows && row < 64; row++) {
        char *name = folder_name(list, row, row % 2 != 0);
        if (!name || (list->class_count && folder_class(list, row) >= list->class_count))
            abort();
        fuzz_sum += (double)strlen(name);
        mem_free(name);
    }
    folder_free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static char names[2][2] = {"b", "a"};
    char *classes[] = {names[0], names[1]};
    char line[LINE];
    struct folder *list;
    mkdir(fuzz_path("set"), 0700);
    for (size_t at = 0, n = 0; at < length && n < LINES; n++) {
        size_t used = 0;
        for (; at < length && bytes[at] != '\n'; at++)
            if (used < LINE - 1 && bytes[at])
                line[used++] = (char)bytes[at];
        line[used] = '\0';
        at++;
        if (used)
            make_line(line);
    }
    if (folder_open(&list, fuzz_path("set")) == 0)
        look(list);
    if (folder_open_like(&list, fuzz_path("set"), classes, 2, 1) == 0)
        look(list);
    if (folder_open_like(&list, fuzz_path("set"), NULL, 0, 0) == 0)
        look(list);
    nftw(fuzz_path("set"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
