/* SPDX-License-Identifier: MIT
 *
 * Loads the module that talks to other processes. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "comm/comm.h"
#include "launch/launch.h"

/* Folders from that of the program on. */
static const char *const places[] = {"", "../libexec/spherelu/", "../lib/spherelu/", "../"};

/* out <- the module's file of a family; returns whether it is there. */
static int find_module(char *out, size_t size, const char *family)
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length < 0 ? 0 : length] = '\0';
    char *name = strrchr(own, '/');
    if (name)
        name[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(out, size, "%s%sspherelu-%s.so", own, places[i], family);
        if (!access(out, R_OK))
            return 1;
    }
    return 0;
}

/* The family that is asked for, or else the launcher's. A file is taken as it is. */
static int choose_module(char *out, size_t size, const char *family)
{
    const char *asked = getenv("SPHERELU_MPI");
    if (asked && strchr(asked, '/')) {
        snprintf(out, size, "%s", asked);
        return 0;
    }
    if (asked && *asked)
        family = asked;
    if (find_module(out, size, family))
        return 0;
    return sph_fail_key(SPH_EIO, "mpi",
                        "several processes were started together, but there is no module for %s; install "
                        "spherelu-mpi, or build where mpicc is installed",
                        family);
}

static int load_row(const struct comm_row **row, const char *path)
{
    /* Open MPI's own modules look for its names among those that everybody sees. */
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!module)
        return sph_fail_key(SPH_EIO, "mpi", "%s", dlerror());
    *row = dlsym(module, "spherelu_comm");
    if (!*row || (*row)->version != COMM_VERSION)
        return sph_fail_key(SPH_EFORMAT, "mpi", "%s belongs to another version of spherelu", path);
    return 0;
}

int sph_comm_open(struct comm **out)
{
    char path[2 * PATH_MAX];
    const char *family;
    struct sph_launcher launcher = launch_find(&family);
    const struct comm_row *row = NULL;
    struct comm *comm = mem_get(1, sizeof *comm);
    int err = comm ? choose_module(path, sizeof path, family) : SPH_EMEMORY;
    if (!err)
        err = load_row(&row, path);
    if (!err && row && row->begin(&comm->self, &comm->rank, &comm->size) < 0)
        err = sph_fail_key(SPH_EIO, "mpi", "%s cannot be started", row->name);
    if (err < 0 || !row) {
        mem_free(comm);
        return err;
    }
    comm->row = row;
    if (launcher.size > 1 && comm->size != launcher.size) {
        err = sph_fail_key(
            SPH_EARG, "mpi",
            "the launcher started %zu processes, but %s sees %zu: the launcher belongs to another "
            "MPI library; use its own mpirun, or set SPHERELU_MPI to openmpi or mpich",
            launcher.size, row->name, comm->size);
        sph_comm_close(comm);
        return err;
    }
    *out = comm;
    return 0;
}

void sph_comm_close(struct comm *comm)
{
    if (!comm)
        return;
    comm->row->end(comm->self);
    mem_free(comm);
}

size_t sph_comm_rank(const struct comm *comm)
{
    return comm ? comm->rank : 0;
}
