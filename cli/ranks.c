/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <unistd.h>

int ranks_open(const struct args *args, struct comm **out)
{
    struct sph_launcher launcher = sph_launcher_find();
    int err = 0;
    *out = NULL;
    if (launcher.size > 1 || args_on(args, "mpi"))
        err = sph_comm_open(out);
    if (err &&
        launcher
            .rank) { /* if rank 0 fails as well, the launcher ends this process before it repeats the message */
        sleep(1);
        cli_silence(0);
    }
    return err ? cli_fail_with(args->command, err) : 0;
}
