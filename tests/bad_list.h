/* SPDX-License-Identifier: MIT
 *
 * The lists of tests/bad, expect.txt in each folder: one case a line, columns parted by tabs, with \n \t \\ and \xHH for
 * what would not show; a line that begins with # is a comment. The first columns are the input: a file of the folder, or
 * the text itself. The last four are the failure that it must give: code (argument, file, format, memory; ok: none), key,
 * line and path. "-" is no key and no line; as a path it is the input itself. Include it behind cmocka.h.
 *
 *     struct bad_list list = bad_list("options");
 *     for (char *column[6]; bad_list_next(&list, column, 6);)
 *         bad_list_check(&list, sph_job_set(job, column[0], column[1]), column, 6, NULL);
 *     bad_list_end(&list, 30); */
#ifndef SPH_TESTS_BAD_LIST_H
#define SPH_TESTS_BAD_LIST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

enum { BAD_LIST_FAILURE = 4 }; /* columns of a failure */

struct bad_list {
    FILE *file;
    char line[1024];
    size_t cases, wrong; /* so far */
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

static inline int bad_list_code(const char *word)
{
    static const char *const words[] = {"ok", "argument", "file", "format", "memory"};
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
        if (!strcmp(words[i], word))
            return -i;
    fail_msg("expect.txt: no code '%s'", word);
    return 0;
}

/* err: what the call returned. path: what "-" stands for, NULL for none. */
static inline void bad_list_check(struct bad_list *list, int err, char **column, size_t columns,
                                  const char *path)
{
    char **last = column + columns - BAD_LIST_FAILURE, differs[3000] = "it is not accepted";
    struct expected_failure expected = {.code = bad_list_code(last[0]),
                                        .key = strcmp(last[1], "-") ? last[1] : "",
                                        .line = strtoul(last[2], NULL, 10),
                                        .path = strcmp(last[3], "-") ? last[3]
                                                : path               ? path
                                                                     : ""};
    int same = expected.code ? !*failure_differs(differs, sizeof differs, err, &expected) : !err;
    if (same)
        return;
    print_error("%s: %s\n", column[0], differs);
    list->wrong++;
}

static inline void bad_list_end(const struct bad_list *list, size_t at_least)
{
    assert_int_equal(list->wrong, 0);
    assert_true(list->cases >= at_least);
}

#endif
