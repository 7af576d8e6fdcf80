/* SPDX-License-Identifier: MIT
 *
 * Several processes of one command under mpirun or srun. */
#ifndef SPHERELU_CLI_RANKS_H
#define SPHERELU_CLI_RANKS_H

#include "cli.h"
#include "launch/tool.h"

/* *out <- the other processes, where a launcher or --mpi says that there are some; else NULL. Returns 0 or an exit code, with the
 * error printed. */
int ranks_open(const struct args *args, struct comm **out);

#endif
