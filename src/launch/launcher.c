/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>

#include "launch/launch.h"

/* A batch script of Slurm has a rank and a number of tasks, but is alone: only a step has SLURM_STEP_NUM_TASKS. */
static const struct {
    const char *rank, *size, *family;
} variables[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi"}, /* Open MPI */
    {"PMI_RANK", "PMI_SIZE", "mpich"},                           /* MPICH, Intel MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "mpich"},     /* MVAPICH */
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL},              /* srun */
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

struct sph_launcher launch_find(const char **family)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        struct sph_launcher found;
        if (read_number(variables[i].rank, &found.rank) && read_number(variables[i].size, &found.size) &&
            found.size > 1 && found.rank < found.size) {
            *family = variables[i].family ? variables[i].family : getenv("PMI_RANK") ? "mpich" : "openmpi";
            return found;
        }
    }
    *family = "openmpi";
    return (struct sph_launcher){.size = 1};
}

struct sph_launcher sph_launcher_find(void)
{
    const char *family;
    return launch_find(&family);
}
