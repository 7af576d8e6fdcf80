/* SPDX-License-Identifier: MIT
 *
 * A folder of pictures as rows of a data set (rows/pictures.h). */
#ifndef SPH_DATA_PICTURES_H
#define SPH_DATA_PICTURES_H

#include "data/data.h"
#include "data/folder.h"

enum { PICTURES_SIZE = 224, PICTURES_SIZE_MOST = 4096, PICTURES_WORKERS_MOST = 256 };

/* data (zeroed, or from a schema, with channels, height, width and classes) <- the folder's rows and their classes
 * (with_targets), of opts' size and number of workers; files that cannot be decoded are counted in data->left_out and
 * left out where opts say so. The folder is shared. */
int pictures_fill(sph_data *data, struct folder *folder, const sph_data_opts *opts, int with_targets);

#endif
