/* SPDX-License-Identifier: MIT
 *
 * Experiments in a temporary folder: writing the file, running it, comparing what two runs left. */
#ifndef TESTS_EXPERIMENT_FILES_H
#define TESTS_EXPERIMENT_FILES_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file.h"
#include "base/memory.h"
#include "spherelu.h"

static char home[64];

/* home/name, in one of a few buffers that are used in turn. */
static inline const char *in_home(const char *name)
{
    static char paths[8][320];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", home, name);
    return path;
}

static inline int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
    (void)info;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int make_home(void **state)
{
    (void)state;
    strcpy(home, "/dev/shm/spherelu-experiment-XXXXXX"); /* thousands of small files: memory, if it may be */
    if (mkdtemp(home))
        return 0;
    strcpy(home, "/tmp/spherelu-experiment-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static inline int remove_home(void **state)
{
    (void)state;
    remove_tree(home);
    return 0;
}

static inline const char *write_file(const char *name, const char *text)
{
    const char *path = in_home(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline sph_experiment *opened(const char *text)
{
    sph_experiment *e = NULL;
    if (sph_experiment_open(&e, write_file("file.yaml", text)) < 0)
        fail_msg("%s", sph_error());
    return e;
}

/* Opens, runs, frees. */
static inline int run_file(const char *out, int resume, size_t workers, sph_experiment_result *result)
{
    sph_experiment *e = NULL;
    sph_experiment_opts opts = {
        .size = sizeof(sph_experiment_opts), .out = in_home(out), .resume = resume, .workers = workers};
    int err = sph_experiment_open(&e, in_home("file.yaml"));
    if (!err)
        err = sph_experiment_run(e, &opts, result);
    sph_experiment_free(e);
    return err;
}

/* A file below home without its clock readings; caller frees with mem_free. */
static inline char *content(const char *dir, const char *name, size_t *length)
{
    char path[640], *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (file_read(&bytes, length, path) < 0)
        fail_msg("%s", sph_error());
    if (!strstr(name, ".json"))
        return bytes;
    for (char *at = bytes; (at = strstr(at, "\"seconds\":"));) {
        size_t cut = strcspn(at, ",}\n");
        memmove(at, at + cut, strlen(at + cut) + 1);
        *length -= cut;
    }
    return bytes;
}

/* Two folders have the same entries with the same bytes, but for seconds and checkpoints, which hold some. */
static inline void assert_same_tree(const char *a, const char *b)
{
    struct dirent **names, **others;
    int count = scandir(a, &names, NULL, alphasort), other = scandir(b, &others, NULL, alphasort);
    if (count != other)
        fail_msg("%s has %d entries, %s %d", a, count, b, other);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        assert_string_equal(name, others[i]->d_name);
        char pa[320], pb[320];
        if (snprintf(pa, sizeof pa, "%s/%s", a, name) >= (int)sizeof pa ||
            snprintf(pb, sizeof pb, "%s/%s", b, name) >= (int)sizeof pb)
            fail_msg("%s: too long a path", a);
        if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "checkpoint.safetensors")) {
        } else if (file_is_directory(pa)) {
            assert_same_tree(pa, pb);
        } else {
            size_t la, lb;
            char *ca = content(a, name, &la), *cb = content(b, name, &lb);
            if (la != lb || memcmp(ca, cb, la) != 0)
                fail_msg("%s and %s differ", pa, pb);
            mem_free(ca);
            mem_free(cb);
        }
        free(names[i]);
        free(others[i]);
    }
    free(names);
    free(others);
}

#endif
