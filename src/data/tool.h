/* SPDX-License-Identifier: MIT
 *
 * For the tool: built-in datasets and packed image folders (`spherelu data` and `spherelu pack`). Not
 * installed, not part of the API. */
#ifndef SPH_DATA_TOOL_H
#define SPH_DATA_TOOL_H

#include "spherelu/data.h"

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
int sph_data_pack(sph_packed *result, const char *source, const char *out, const sph_data_opts *opts,
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

size_t sph_data_sets(const sph_data_set **out); /* the table, borrowed; returns its length */

/* Where the set's file (packed by gzip or not) or folder lies: in the folders of the variable SPHERELU_DATA,
 * parted by colons; in the cache, which is the folder SPHERELU_CACHE, else spherelu in XDG_CACHE_HOME, else
 * ~/.cache/spherelu; in share/spherelu/data, installed with the program or the library, which holds banana and
 * the tables of UCI. The first that has it counts. "" for one that is made. */
int sph_data_set_path(const sph_data_set *set, char *path, size_t size);

/* Downloads the set's files into the cache, unless the set lies somewhere already. What a call that was cut short
 * has got is kept there, and the next one goes on from it. A file gets its name when its digest is the one that
 * the row says, a folder when all its files are there; an archive is unpacked and not kept. A digest that is
 * another one (SPH_EFORMAT, key sha256) removes what came. mirror: an address under which files of the same
 * names lie, or NULL. progress: may be NULL; 1 is returned where it says to stop. */
int sph_data_get(const sph_data_set *set, const char *mirror, sph_progress_call *progress, void *self);

/* Compares the set's files, where they lie, with the digests of its row, and files out of an archive with those
 * that sph_data_get wrote down beside them. *files <- how many were compared: 0 where nothing is known of them.
 * SPH_EFORMAT, key sha256: one is another; SPH_EIO: the set is not there. */
int sph_data_verify(const sph_data_set *set, size_t *files);

#endif
