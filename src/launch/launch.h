/* SPDX-License-Identifier: MIT
 *
 * The inside of this module: the environment variables of launchers. */
#ifndef SPH_LAUNCH_LAUNCH_H
#define SPH_LAUNCH_LAUNCH_H

#include "launch/tool.h"

/* *family <- the MPI family whose module comes first: "openmpi" or "mpich". */
struct sph_launcher launch_find(const char **family);

#endif
