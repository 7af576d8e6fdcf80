/* SPDX-License-Identifier: MIT
 *
 * spherelu list: the runs and experiments below a folder. */
#include "cli.h"
#include "report/tool.h"

static int run_list(const struct args *args)
{
    const sph_sink sink = {stdout, cli_write};
    int err = sph_list(args->words ? args->word[0] : "runs", args_on(args, "json"), &sink);
    return cli_written(args->command, err, stdout, "the list");
}

static const sph_option options[] = {
    CLI_JSON,
};

const struct command command_list = {
    .name = "list",
    .summary = "list the runs in a folder with their scores",
    .usage = "[DIR] [--json]",
    .about = "Prints one row for each run and experiment in DIR (default: runs) and its subfolders: data, "
             "network, method, test score, epochs, date. To list the jobs of an experiment, give its folder "
             "jobs. If something cannot be read, its row says why.",
    .examples = "  spherelu list\n"
                "  spherelu list runs/crescents/jobs\n"
                "  spherelu list runs --json\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"DIR"},
    .words_needed = 0,
    .run = run_list,
};
