/* SPDX-License-Identifier: MIT
 *
 * Whether mpirun, srun or the like started several processes of this command, and which of them this is. Their variables tell:
 * no MPI library is needed. */
#ifndef SPHERELU_CLI_LAUNCHER_H
#define SPHERELU_CLI_LAUNCHER_H

#include <stddef.h>

struct launcher {
    size_t rank, size; /* rank: from 0 on; size 1: no launcher, or one process */
};
struct launcher launcher_find(void);

#endif
