/* SPDX-License-Identifier: MIT
 *
 * Images of a shelf as rows of a dataset (rows/picture_source.h). */
#ifndef SPH_DATA_PICTURES_H
#define SPH_DATA_PICTURES_H

#include "data/open.h"
#include "data/shelf.h"

enum { PICTURES_SIZE = 224, PICTURES_SIZE_MOST = 4096, PICTURES_WORKERS_MOST = 256 };

/* data (zeroed, or from a schema, with channels, height, width and classes) <- the shelf's rows and their classes
 * (with_targets), of opts' size and number of workers; files that cannot be decoded are counted in data->left_out and
 * left out where opts say so. The shelf is shared. */
int pictures_fill(sph_data *data, const struct shelf *shelf, const sph_data_opts *opts, int with_targets);

/* Each row in turn, its middle square brought to side x side pixels: take gets (channels, side, side). */
int pictures_squares(const struct pictures *pictures, size_t side,
                     int (*take)(void *self, uint32_t row, const uint8_t *planes), void *self);

#endif
