/* SPDX-License-Identifier: MIT
 *
 * Image datasets: image folders, whose files are decoded when needed (pictures.h); CIFAR-10 and CIFAR-100
 * binary files, IDX (MNIST, Fashion-MNIST) and ImageNet32 npz and pickles, from a file or a folder,
 * compressed or not, into bytes in memory (rows/data.h: pixels). images.c finds the files and combines
 * them, each format reads one file (registry.h), and bytes.c unpacks it. */
#ifndef SPH_DATA_IMAGES_H
#define SPH_DATA_IMAGES_H

#include "file/file.h"
#include "spherelu/data.h"
#include "data/open.h"

enum { IMAGES_FILES = 100, IMAGES_SIDE = 65536 };

struct reader;

/* The files of a set. The caller frees with images_free; a zeroed one holds nothing. */
struct images_source {
    const struct reader *reader;
    char *path;               /* file or folder, for messages                           */
    char *file[IMAGES_FILES]; /* (count) training files, then test files; IDX: images   */
    size_t count;
    size_t test_at;    /* files from here on are the set's own test part; count: it has none */
    char *names_file;  /* names of the classes, or NULL                            */
    const char *names; /* likewise, of a known set: comma-separated, or NULL       */
    size_t classes;    /* that labels must stay below; 0: found out                */
    int pictures;      /* path is a folder of pictures, or one of them: no more is known here */
};

/* source: a known set, a folder or a file. 1: a set of images. 0: something else. expected: what is no table
 * for certain is asked of the formats of images alone. */
int images_find(struct images_source *out, const char *source, int expected);
void images_free(struct images_source *source);

/* Reads all of it, whatever opts.rows. A set with test files has test_from set. */
int images_open(sph_data **out, const struct images_source *source, const sph_data_opts *opts);

/* Reads the test part, or all where there is none, as images and classes of like (which comes from a schema
 * and stays as it is). need_targets 0: labels are not read, and may be absent where they are a file or an
 * array of their own. */
int images_open_like(sph_data *like, const struct images_source *source, int need_targets,
                     const sph_data_opts *how);

/* Rows of three channels become rows of one, in place: PIL's luma. Other rows stay. */
void images_to_gray(sph_data *data);

/* ---------------------------------------------------------------- a set in the making */

struct images {
    sph_data *data;    /* pixels and y grow */
    size_t capacity;   /* rows there is room for */
    size_t files_left; /* this file included: a guess at what is to come */
    size_t limit;      /* labels must stay below; 0: any */
    int with_labels;
};

/* Room for rows more images of that shape, which must be the shape of those before; *pixels and *y (NULL
 * without labels) are where they go. The caller fills all of it. */
int images_add(struct images *images, const char *path, size_t rows, size_t channels, size_t height,
               size_t width, uint8_t **pixels, double **y);

/* image_npz.c: images of ImageNet32's arrays, data (N, 3 s s) and, where they are wanted, labels (N). */
struct array;
int images_take_arrays(struct images *images, const char *path, const struct array *x,
                       const struct array *labels);

/* Checks a label (row counts from 0 in path, first is the lowest label of the format) and keeps it. */
int images_label(const struct images *images, const char *path, size_t row, double label, double first,
                 double *y);

#endif
