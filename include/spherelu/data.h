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
    size_t size;        /* of this struct: set by sph_data_defaults                                       */
    const char *target; /* column names or zero-based numbers, comma-separated; NULL: the last column   */
    const char *drop; /* columns to leave out; auto: what is constant, an id or free text; none: no column */
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
    size_t side; /* height and width of images; 0: 224 for folders of pictures, otherwise as stored */
    size_t eval_side;  /* likewise: what the shorter side becomes in evaluation; 0: 256 / 224 of size       */
    sph_decode decode; /* likewise: JPEG files are decoded whole, or smaller where that is enough          */
    size_t workers;    /* likewise: threads that decode them ahead; 0: one less than there are processors */
    int skip_bad;      /* likewise: files that cannot be decoded are left out, not refused               */
    int strict; /* of a trained net's data: words that training did not see are refused                   */
    const char *keep; /* likewise: columns whose cells go into predictions as they are, or NULL           */
    int encode; /* for jobs, which finish it: text columns with many values are taken, not refused        */
    size_t folder_side; /* side of folders of pictures alone; 0: 224                                  */
} sph_data_opts;

#define sph_data_defaults(out) sph_data_defaults_sized(out, sizeof *(out))
SPH_API void sph_data_defaults_sized(sph_data_opts *out, size_t size);

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

#ifdef __cplusplus
}
#endif

#endif
