/* SPDX-License-Identifier: MIT
 *
 * A packed set: pictures decoded and brought to one size once, for many epochs. It is a folder of arrays as numpy
 * writes them,
 *
 *   train_images.npy   (N, height, width, 1 or 3) bytes      train_labels.npy   (N) integers, from 0
 *   val_images.npy, val_labels.npy                           its test part, or absent
 *   classes.txt        names of the classes, a line each; absent: they are numbers
 *   decode.txt         how their files were decoded, exact or scaled; absent: not known
 *   train_files.txt, val_files.txt                           what the pictures were called, or absent
 *
 * NPY since the numbers lie in the file as they lie in memory: it is mapped, every process that reads it shares the
 * same pages, and nothing of it is held. Its header takes files of any size, and numpy reads and writes it, so that a
 * set can be packed, or looked into, without this program. */
#ifndef SPH_DATA_PACK_H
#define SPH_DATA_PACK_H

#include "data/open.h"
#include "data/shelf.h"
#include "data/sheet.h"

#define PACK_CLASSES "classes.txt"
#define PACK_DECODE  "decode.txt"

struct pack_part {
    struct file_map images, labels, files;
    const unsigned char *pixels; /* (rows, height, width, channels) */
    struct array label;          /* (rows) rows 0: not read          */
    size_t rows;
    uint64_t *mark; /* where every PACK_MARK-th line of files begins; NULL: there are no names */
};

struct pack {
    size_t holders; /* beside the first */
    char *path;
    char **classes; /* (class_count) */
    size_t class_count;
    size_t *class_as; /* (class_count) what a class is to a model; NULL: itself */
    struct pack_part part[2];
    const char *stem[2];    /* of the parts' files: "train", "val" */
    size_t rows, test_from; /* test_from 0: it has no test part */
    size_t height, width, channels;
    int decode; /* sph_decode, or -1 */
    uint64_t content;
};

/* Whether the folder holds one. */
int pack_is_here(const char *path);

int pack_open(struct pack **out, const char *path);

/* Of the test part where there is one, for a model that has these classes. with_classes 0: labels are not read. */
int pack_open_like(struct pack **out, const char *path, char *const *classes, size_t class_count,
                   int with_classes);
void pack_free(void *pack); /* NULL is fine */

#endif
