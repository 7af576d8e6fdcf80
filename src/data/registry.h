/* SPDX-License-Identifier: MIT
 *
 * The two tables of this module: formats that can be read, and built-in datasets. A new format is a file
 * with its row and a line in registry.c; a new dataset is a row of sets.c. */
#ifndef SPH_DATA_REGISTRY_H
#define SPH_DATA_REGISTRY_H

#include "data/images.h"
#include "data/sheet.h"
#include "data/tool.h"

/* ---------------------------------------------------------------- formats */

/* A file that looks for its reader. */
struct reader_file {
    const char *path;
    const char *bytes; /* (length) NULL: not looked at yet */
    size_t length;
};

struct reader {
    /* Whether the file is of this format, by its name or its first bytes: 1, 0, or a failure. */
    int (*knows)(const struct reader_file *file);

    /* A format of tables has the one, a format of images the other. */
    int (*open_sheet)(struct sheet *sheet, const struct sheet_hints *hints);
    int (*read_images)(struct images *images, const char *path);

    /* Images: the files of a folder. A pattern with %d stands for the numbers from 1; alternatives follow one
     * another, .gz may follow any of them. */
    const char *train[2], *test[2];
    const char *names;  /* the file that names the classes, a line each, or NULL */
    int names_numbered; /* its lines are: label from 1, identifier, words        */
    size_t classes;     /* that labels must stay below; 0: found out             */
};

enum reader_kind { READ_ANY, READ_SHEET, READ_IMAGES };

/* The first row of that kind that knows the file; *out is NULL where none does. */
int registry_reader(const struct reader **out, const struct reader_file *file, enum reader_kind kind);

/* All rows, in the order in which they are asked; returns their number. */
size_t registry_readers(const struct reader *const **out);

/* Whether the path ends so, in any case; the second one looks past a .gz or .zst. */
int reader_ends(const struct reader_file *file, const char *end);
int reader_ends_packed(const struct reader_file *file, const char *end);

extern const struct reader reader_cifar10, reader_cifar100; /* cifar.c     */
extern const struct reader reader_idx;                      /* idx.c       */
extern const struct reader reader_npy;                      /* npy.c       */
extern const struct reader reader_npz;                      /* table_npz.c */
extern const struct reader reader_imagenet32;               /* image_npz.c */
extern const struct reader reader_imagenet32_pickle;        /* pickle.c    */
extern const struct reader reader_libsvm;                   /* libsvm.c    */
extern const struct reader reader_text;                     /* text_sheet.c, last: it takes any file */

/* ---------------------------------------------------------------- sets */

const sph_data_set *registry_find(const char *name); /* NULL: none */

/* places.c: the path of a set's file, packed or not: in $SPHERELU_DATA (a list separated by colons), then in
 * the cache: $SPHERELU_CACHE, else $XDG_CACHE_HOME/spherelu, else ~/.cache/spherelu, then in what came with
 * the program (file_beside_program). Caller frees. Not found: an error that says where it looked. */
int registry_path(char **out, const sph_data_set *set);
int registry_cache(char **out); /* the cache; *out stays NULL when the environment names none; caller frees */

/* 1: FOLDER/FILEEND is there, and *out holds its path, which the caller frees. */
int registry_file(char **out, const char *folder, const char *file, const char *end);

/* The failure for a source that is neither file nor set. */
int registry_unknown(const char *source);

#endif
