/* SPDX-License-Identifier: MIT
 *
 * Lists an image folder: its classes and files. As in torchvision's ImageFolder, a sub-folder is a class;
 * classes are sorted by name, and so are the files of each class, including those in its sub-folders. Names
 * that begin with a dot are ignored; links are followed. */
#ifndef SPH_DATA_FOLDER_H
#define SPH_DATA_FOLDER_H

#include <stdint.h>

#include "data/names.h"

/* One of the two parts: rows [first[c], first[c + 1]) are of class c. */
struct folder_part {
    char *root;    /* NULL: the folder has no such part  */
    size_t *first; /* (classes + 1), of all rows         */
};

struct folder {
    size_t holders; /* beside the first */
    char *path;     /* what was asked for */
    char **classes; /* (class_count) sorted; none: pictures without classes */
    size_t class_count;
    struct folder_part part[2]; /* training, test */
    struct names names;         /* (rows) below the folder of the class */
    size_t rows, test_from;     /* test_from 0: it has no test part */
    uint64_t content;           /* of names and sizes of all files */
};

/* Classes, each with at least one picture, the same in both parts where there are two: path itself holds them, or its
 * folders train and val (valid, validation, test). */
int folder_open(struct folder **out, const char *path);

/* Pictures for a model that has these classes. with_classes: as above, of the test part where there is one, each class
 * one of those; some may be absent. Otherwise all pictures below path, or path itself where it is one. */
int folder_open_like(struct folder **out, const char *path, char *const *classes, size_t class_count,
                     int with_classes);

/* As a shelf takes them: of a struct folder. */
void *folder_share(void *folder);
void folder_free(void *folder); /* NULL is fine */
size_t folder_class(const void *folder, size_t row);

/* The file of a row; whole: its path, otherwise as seen from the folder that was asked for. Caller frees. */
char *folder_name(const struct folder *folder, size_t row, int whole);

#endif
