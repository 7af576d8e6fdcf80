/* SPDX-License-Identifier: MIT
 *
 * Data sets from files. */
#ifndef SPHERELU_DATA_H
#define SPHERELU_DATA_H

#include "spherelu/train.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sph_data_opts {
    const char *target; /* column names or zero-based numbers, comma-separated; NULL: the last column   */
    const char *
        drop; /* columns to leave out; auto: those that are constant, ids or free text; NULL or none: no column */
    const char *needed;  /* columns that auto does not leave out, or NULL                                  */
    const char *group;   /* column of groups, which a split keeps together; no feature, or NULL            */
    const char *time;    /* column of dates or numbers: a split's last rows by it are the test part        */
    const char *weights; /* column of weights of the rows in training                                     */
    char delimiter;      /* 0: find out; ' ' means runs of blanks and tabs                                 */
    int task;            /* sph_task, or -1: find out                                                      */
    sph_missing missing;
    const char *
        missing_words; /* comma-separated: cells that are missing beside the empty ones, NA, N/A, NaN, null, ? and - */
    uint64_t seed; /* of the synthetic sets and of `rows`                                            */
    size_t rows;   /* take this many rows only (tables: numpy's RandomState(seed).choice); 0: all    */
    double noise;  /* standard deviation of the noise in the synthetic sets; NaN: 0.1                */
    int by_numpy;  /* levy: as numpy draws it after random.seed(draw), whatever the seed             */
    uint32_t draw;
    int permutes; /* the rows are put into the order of numpy's RandomState(permute).permutation first */
    uint32_t permute;
    sph_column_order columns; /* of the features                                                       */
    int gray;    /* images in one channel, the luma of their red, green and blue                        */
    size_t size; /* folders of pictures: height and width that they are brought to; 0: 224         */
    size_t eval_side;  /* likewise: what the shorter side becomes in evaluation; 0: 256 / 224 of size       */
    sph_decode decode; /* likewise: JPEG files are decoded whole, or smaller where that is enough          */
    size_t workers;    /* likewise: threads that decode them ahead; 0: one less than there are processors */
    int skip_bad;      /* likewise: files that cannot be decoded are left out, not refused               */
    int strict; /* of a trained net's data: words that training did not see are refused                   */
    const char *keep; /* likewise: columns whose cells go into predictions as they are, or NULL           */
} sph_data_opts;

SPH_API void sph_data_defaults(sph_data_opts *out);

/* source: a file (.csv .tsv .txt .npy .npz .libsvm, packed by gzip or zstd or not), - for standard input, or the name of a known
 * set (crescents, levy, banana, boston, ...). Or images, which stay bytes in memory: a known set (cifar10, cifar100, mnist,
 * fashion-mnist, imagenet32), or a folder or file as these are distributed: CIFAR binary and IDX, gzip or
 * not, and ImageNet32's npz. Or a folder of pictures (.jpg, .png), a folder in it for each class, or train and
 * val (or test) with those in each: they stay files, and are decoded when they are needed. Of images `rows`
 * keeps the classes in proportion, and of a set with its own test part takes that many training images, and test
 * images in proportion. opts may be NULL: the defaults. */
SPH_API int sph_data_open(sph_data **out, const char *source, const sph_data_opts *opts);

/* The data that a net was trained on, without rows: sph_data_features and sph_data_feature give the names of
 * the net's inputs, in the order in which it takes them. note: that of the net (sph_net_note). */
SPH_API int sph_data_of_note(sph_data **out, const char *note);

/* A column of a table in memory. kind: 0 numbers; 1 text, an indicator for each of its words; 2 dates, as days since 1970 or as
 * text. Missing: NaN or NULL. */
typedef struct sph_cells {
    const char *name;
    int kind;
    const double *numbers;    /* (rows) or NULL */
    const char *const *texts; /* (rows) UTF-8, or NULL */
} sph_cells;

/* The features of a table in memory, encoded as those of a file are: sph_data_x has them, and there are no targets. note: the
 * columns, in this order, as the member "columns" of a model's note has them; words that it does not name set no indicator.
 * NULL: they are learned from the cells (dates then are numbers). learned: takes these columns as JSON, or NULL. */
SPH_API int sph_data_from_columns(sph_data **out, const char *note, const sph_cells *cells, size_t count,
                                  size_t rows, const sph_sink *learned);

/* What was packed. */
typedef struct sph_packed {
    size_t train_images, test_images, classes;
    size_t side, channels; /* of an image        */
    size_t left_out;       /* files that could not be decoded (skip_bad) */
    uint64_t bytes;        /* of the images      */
} sph_packed;

/* Decodes a folder of pictures once for many epochs: into the new folder out, as arrays that numpy reads too
 * (docs/images.md), which sph_data_open then takes in place of it, and maps. Of opts size (of the net it is for: the
 * shorter side becomes 256 / 224 of it, and the middle square is kept), gray, decode, workers and skip_bad count. opts and
 * progress may be NULL; 1 is returned where it says to stop, and out is no set then. */
SPH_API int sph_data_pack(sph_packed *result, const char *source, const char *out, const sph_data_opts *opts,
                          sph_progress_call *progress, void *self);

/* A file of a set, as it is published. */
typedef struct sph_data_file {
    const char *url;
    const char *sha256; /* of its bytes, 64 digits                                                       */
    const char *path;   /* where it is looked for, below a folder; of an archive: the folder of its files */
    int archive;
    int cited; /* the digest is what others have published; 0: it was worked out from the file           */
    uint64_t bytes; /* its size: a download that exceeds it is stopped; 0: not known, and 1 GB is the limit */
} sph_data_file;

/* A set that has a name. */
typedef struct sph_data_set {
    const char *name;
    const char *file;     /* or folder, below one of those that are looked in; NULL: it is made by a seed  */
    const char *stand_in; /* what will do where it is not there, or NULL                                   */
    const char *names;    /* of its columns, comma-separated; NULL: the file has a header; of images: of its
                             classes; NULL: a file of the folder has them, or they are numbers             */
    const char *target, *drop; /* columns; NULL: images, or none is dropped                                */
    const char *from;          /* who made it, and under what licence                                      */
    sph_task task;
    size_t rows, features, classes; /* as published: a folder may hold a part; 0 classes: found out        */
    int images; /* 1: a set of images; 2: a folder of pictures, features are those of 224 x 224           */
    const sph_data_file *files; /* (file_count) NULL: it is made, or nobody may hand it on                 */
    size_t file_count;
    const char *how; /* to come by it where there is no file to download, or NULL                          */
} sph_data_set;

SPH_API size_t sph_data_sets(const sph_data_set **out); /* the table, borrowed; returns its length */

/* Where the set's file (packed by gzip or not) or folder lies: in the folders of the variable SPHERELU_DATA,
 * parted by colons; in the cache, which is the folder SPHERELU_CACHE, else spherelu in XDG_CACHE_HOME, else
 * ~/.cache/spherelu; in share/spherelu/data, installed with the program or the library, which holds banana and
 * the tables of UCI. The first that has it counts. "" for one that is made. */
SPH_API int sph_data_set_path(const sph_data_set *set, char *path, size_t size);

/* Downloads the set's files into the cache, unless the set lies somewhere already. What a call that was cut short
 * has got is kept there, and the next one goes on from it. A file gets its name when its digest is the one that
 * the row says, a folder when all its files are there; an archive is unpacked and not kept. A digest that is
 * another one (SPH_EFORMAT, key sha256) removes what came. mirror: an address under which files of the same
 * names lie, or NULL. progress: may be NULL; 1 is returned where it says to stop. */
SPH_API int sph_data_get(const sph_data_set *set, const char *mirror, sph_progress_call *progress,
                         void *self);

/* Compares the set's files, where they lie, with the digests of its row, and files out of an archive with those
 * that sph_data_get wrote down beside them. *files <- how many were compared: 0 where nothing is known of them.
 * SPH_EFORMAT, key sha256: one is another; SPH_EIO: the set is not there. */
SPH_API int sph_data_verify(const sph_data_set *set, size_t *files);

#ifdef __cplusplus
}
#endif

#endif
