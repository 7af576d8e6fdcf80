/* SPDX-License-Identifier: MIT
 *
 * For the tool: whether mpirun, srun or another launcher started several processes of this command, and how
 * they communicate. Not installed, not part of the API. */
#ifndef SPH_LAUNCH_TOOL_H
#define SPH_LAUNCH_TOOL_H

#include <stddef.h>

/* As the launcher's variables tell; no MPI library is needed for this. */
struct sph_launcher {
    size_t rank, size; /* rank: from 0 on; size 1: no launcher, or one process */
};
struct sph_launcher sph_launcher_find(void);

/* What one process and the others exchange (comm/comm.h). */
struct comm;

/* Loads the module of the launcher's MPI and begins; the environment variable SPHERELU_MPI names another: a family (openmpi,
 * mpich) or a file. Fails where there is none, and where the module's MPI is not the launcher's: it would see one
 * process. The caller ends it with sph_comm_close, which waits for the other processes. */
int sph_comm_open(struct comm **out);
void sph_comm_close(struct comm *comm); /* NULL is fine */

size_t sph_comm_rank(const struct comm *comm); /* NULL: 0 */

#endif
