/* SPDX-License-Identifier: MIT
 *
 * Datasets from files. */
#ifndef SPHERELU_DATA_H
#define SPHERELU_DATA_H

#include "spherelu/train.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sph_data_opts {
    size_t size;        /* of this struct: set by sph_data_defaults                                       */
    const char *target; /* column names or zero-based numbers, comma-separated; NULL: the last column   */
    const char *drop;   /* columns to leave out; auto: constant columns, ids and free text; none: no column */
    const char *needed; /* columns that auto must keep, or NULL                                           */
    const char *group;  /* column of groups, which a split keeps together (not a feature), or NULL        */
    const char *time;   /* column of dates or numbers: the latest rows are the test part                  */
    const char *weights; /* column of sample weights                                                      */
    char delimiter;      /* 0: detect; ' ' means runs of blanks and tabs                                   */
    int task;            /* sph_task, or -1: detect                                                        */
    sph_missing missing;
    const char *
        missing_words; /* comma-separated: missing values in addition to empty cells, NA, N/A, NaN, null, ? and - */
    uint64_t seed; /* of synthetic datasets and of `rows`                                            */
    size_t rows;   /* use only this many rows (tables: numpy's RandomState(seed).choice); 0: all     */
    double noise;  /* standard deviation of the noise in synthetic datasets; NaN: 0.1                */
    int by_numpy;  /* levy: points as numpy draws them after random.seed(draw), for any seed         */
    uint32_t draw;
    int permutes; /* first order the rows by numpy's RandomState(permute).permutation */
    uint32_t permute;
    sph_column_order columns; /* of the features                                                       */
    int gray;    /* convert images to one channel (luma)                                                */
    size_t side; /* height and width of images; 0: 224 for folders of pictures, otherwise as stored */
    size_t eval_side; /* pictures: shorter side in evaluation; 0: 256 / 224 of side                         */
    sph_decode decode; /* pictures: decode JPEG files in full, or smaller if enough pixels remain          */
    size_t workers;    /* pictures: threads that decode ahead; 0: one less than there are processors      */
    int skip_bad;      /* pictures: leave out files that cannot be decoded instead of failing            */
    int strict; /* data of a trained net: fail at text values that did not occur in training              */
    const char *keep; /* data of a trained net: columns to copy into predictions, or NULL                 */
    int encode; /* for jobs, which finish it: text columns with many values are taken, not refused        */
    size_t folder_side; /* side of folders of pictures alone; 0: 224                                  */
    const char *text;   /* columns to read as text, even if their cells are numbers, or NULL            */
    int again; /* for jobs: training on these data began earlier; no text column is refused for its form */
} sph_data_opts;

#define sph_data_defaults(out) sph_data_defaults_sized(out, sizeof *(out))
SPH_API void sph_data_defaults_sized(sph_data_opts *out, size_t size);

/* source: a file (.csv .tsv .txt .npy .npz .libsvm, also compressed with gzip or zstd), - for standard input, or the name of a known
 * dataset (crescents, levy, banana, boston, ...). Or images, which stay bytes in memory: a built-in dataset (cifar10, cifar100, mnist,
 * fashion-mnist, imagenet32), or a folder or file in the format of these: CIFAR binary and IDX, also compressed
 * with gzip, and npz for ImageNet32. Or a folder of pictures (.jpg, .png) with one folder per class, or train and
 * val (or test) with such folders: they stay files and are decoded when they are needed. For images, `rows`
 * keeps the class proportions; for a dataset with a test part it is the number of training images, and the number of
 * test images is proportional. opts may be NULL: the defaults. */
SPH_API int sph_data_open(sph_data **out, const char *source, const sph_data_opts *opts);

/* The data of a net's training, without rows: sph_data_features and sph_data_feature give the names of
 * the net's inputs in their order. note: the note of the net (sph_net_note). */
SPH_API int sph_data_of_note(sph_data **out, const char *note);

/* A column of a table in memory. kind: 0 numbers; 1 text, with an indicator for each value; 2 dates, as days since 1970 or as
 * text. Missing values: NaN or NULL. */
typedef struct sph_cells {
    const char *name;
    int kind;
    const double *numbers;    /* (rows) or NULL */
    const char *const *texts; /* (rows) UTF-8, or NULL */
} sph_cells;

/* The features of a table in memory, encoded like those of a file: sph_data_x has them; there are no targets. note: the
 * columns, in this order, as in the member "columns" of a model's note; text values not in it set no indicator.
 * NULL: columns are learned from the cells (dates are then numbers). learned: receives these columns as JSON, or NULL. */
SPH_API int sph_data_from_columns(sph_data **out, const char *note, const sph_cells *cells, size_t count,
                                  size_t rows, const sph_sink *learned);

#ifdef __cplusplus
}
#endif

#endif
