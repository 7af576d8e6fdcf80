/* SPDX-License-Identifier: MIT
 *
 * Options of a training that are wrong whatever the data: SPH_EARG with the option as key. */
#ifndef SPH_TRAIN_OPTS_CHECK_H
#define SPH_TRAIN_OPTS_CHECK_H

#include "net/net.h"
#include "spherelu/core.h"

int opts_check(const sph_train_opts *opts, const sph_net *net);

#endif
