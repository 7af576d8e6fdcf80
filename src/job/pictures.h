/* SPDX-License-Identifier: MIT
 *
 * The options of images, and those of folders of pictures. */
#ifndef SPH_JOB_PICTURES_H
#define SPH_JOB_PICTURES_H

#include "job/options.h"

/* Refuses what does not fit the data: options of images where they are a table, those of folders where they are none, another
 * way of decoding than a packed set was made with. */
int pictures_check(const struct sph_job *job, const sph_data *data);

/* Gives those that were not given their values, and unsets what has no meaning for the data. */
void pictures_settle(struct sph_job *job, const sph_data *data);

#endif
