/* SPDX-License-Identifier: MIT */
#include "launcher.h"

#include <ctype.h>
#include <stdlib.h>

/* A batch script of Slurm has a rank and a number of tasks, but is alone: only a step has SLURM_STEP_NUM_TASKS. */
static const char *const variables[][2] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH */
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},         /* srun */
};

static int read_number(const char *name, size_t *out)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !isdigit((unsigned char)*text))
        return 0;
    *out = (size_t)strtoull(text, &end, 10);
    return !*end;
}

struct launcher launcher_find(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        struct launcher found;
        if (read_number(variables[i][0], &found.rank) && read_number(variables[i][1], &found.size) &&
            found.size > 1 && found.rank < found.size)
            return found;
    }
    return (struct launcher){.size = 1};
}
