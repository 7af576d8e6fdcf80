/* SPDX-License-Identifier: MIT
 *
 * The lists of tests/bad that hold inputs rather than name files: one case a line, columns parted by tabs, with
 * \n \t \\ and \xHH for what would not show; a line that begins with # is a comment. Include it behind cmocka.h.
 *
 *     struct bad_list list = bad_list("options");
 *     for (char *column[3]; bad_list_next(&list, column, 3);)
 *         ... */
#ifndef SPH_TESTS_BAD_LIST_H
#define SPH_TESTS_BAD_LIST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bad_list {
    FILE *file;
    char line[1024];
    size_t cases; /* so far */
};

static inline struct bad_list bad_list(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/bad/%s/expect.txt", SPH_TESTS_DIR, name);
    struct bad_list list = {.file = fopen(path, "r")};
    assert_non_null(list.file);
    return list;
}

static inline void bad_list_unescape(char *text)
{
    char *out = text;
    for (; *text; text++) {
        if (*text != '\\') {
            *out++ = *text;
        } else if (*++text == 'x') {
            char digits[] = {text[1], text[2], '\0'};
            *out++ = (char)strtoul(digits, NULL, 16);
            text += 2;
        } else {
            *out++ = *text == 'n' ? '\n' : *text == 't' ? '\t' : *text;
        }
    }
    *out = '\0';
}

/* The columns of the next case; 0: the list is at its end, and is closed. */
static inline int bad_list_next(struct bad_list *list, char **column, size_t columns)
{
    do {
        if (!fgets(list->line, sizeof list->line, list->file)) {
            fclose(list->file);
            return 0;
        }
    } while (*list->line == '#');
    char *rest = list->line;
    rest[strcspn(rest, "\n")] = '\0';
    for (size_t i = 0; i < columns; i++) {
        column[i] = strsep(&rest, "\t");
        assert_non_null(column[i]);
        bad_list_unescape(column[i]);
    }
    assert_null(rest);
    list->cases++;
    return 1;
}

#endif
