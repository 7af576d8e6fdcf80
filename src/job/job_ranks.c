/* SPDX-License-Identifier: MIT
 *
 * A run by several processes (comm/comm.h): all of them read the data and train, rank 0 alone writes. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "job/config.h"
#include "job/job.h"
#include "job/job_run.h"

void sph_job_set_comm(sph_job *job, struct comm *comm)
{
    job->comm = comm;
}

int job_writes(const struct job_run *run)
{
    return comm_first(run->job->comm);
}

int job_ranks_agree(const struct job_run *run, int err)
{
    return comm_agree(run->job->comm, err);
}

/* All ranks return the same: this is agreed. */
static int differs(const struct job_run *run, const void *data, size_t bytes, const char *key,
                   const char *what)
{
    size_t rank = comm_differs(run->job->comm, data, bytes);
    return rank ? sph_fail_key(SPH_EARG, key, "rank %zu %s", rank, what) : 0;
}

int job_ranks_check(const struct job_run *run)
{
    const char *version = sph_version();
    char *options = NULL;
    if (!comm_many(run->job->comm))
        return 0;
    int err = differs(run, version, strlen(version), "mpi", "runs another version of spherelu than rank 0");
    if (!err)
        err = differs(run, &run->content, sizeof run->content, "data",
                      "reads other data than rank 0: all processes must see the same files");
    if (!err)
        err = job_ranks_agree(run, config_write(&run->job->spec, &options));
    if (!err)
        err = differs(run, options, strlen(options), "mpi", "was started with other options than rank 0");
    mem_free(options);
    return err;
}

int job_ranks_check_folder(const struct job_run *run)
{
    char there[2] = {(char)file_exists(run->folder.config), (char)file_exists(run->folder.checkpoint)};
    return differs(
        run, there, sizeof there, "out",
        "does not see the run folder that rank 0 sees: --resume needs a folder that all processes share");
}

struct fit_team job_ranks_team(const struct job_run *run)
{
    return (struct fit_team){.comm = run->count > 1 ? NULL : run->job->comm,
                             .local_norm = run->job->spec.options.sync_norm == SYNC_NORM_OFF};
}

int job_ranks_begin(struct job_run *run)
{
    struct comm *comm = run->job->comm;
    if (!comm_many(comm))
        return 0;
    if (!comm_first(comm)) {
        file_leave(run->folder.dir);
        run->folder.dir = NULL;
    }
    if (!run->members) {
        trainer_share(run->trainers[0]->loop);
        return 0;
    }
    size_t given = members_given(run->members);
    comm_broadcast(comm, 0, &given, sizeof given);
    members_set_given(run->members, given);
    return job_ranks_agree(run, members_begin_ranks(run->members, comm));
}
