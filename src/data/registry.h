/* SPDX-License-Identifier: MIT
 *
 * The known sets: what they are called, where their files may lie, which columns are what. */
#ifndef SPH_DATA_REGISTRY_H
#define SPH_DATA_REGISTRY_H

#include "data/sheet.h"

struct known_set {
    const char *name;
    const char *file;     /* below a data folder; NULL: it is made   */
    const char *stand_in; /* a file or folder that will do where `file` is not there, or NULL */
    const char
        *names; /* of the columns, comma-separated; NULL: the file has a header; of the classes of images */
    const char *target, *drop;
    int made;       /* by a seed (rows/synthetic.h) */
    int images;     /* a folder of images (images.h) */
    size_t classes; /* that the images have; 0: their files say */
};

const struct known_set *registry_find(const char *name); /* NULL: none */

/* The path of a set's file: $SPHERELU_DATA (a list separated by colons), then the cache: $SPHERELU_CACHE,
 * else $XDG_CACHE_HOME/spherelu, else ~/.cache/spherelu. Caller frees. Not found: an error that says where it
 * looked. */
int registry_path(char **out, const struct known_set *set);

#endif
