/* SPDX-License-Identifier: MIT
 *
 * spherelu show: what lies in a run folder, an experiment's folder or a model file. */
#include "cli.h"
#include "report/tool.h"

static int run_show(const struct args *args)
{
    const sph_sink sink = {stdout, cli_write};
    int err = sph_show(args->word[0], args_on(args, "json"), &sink);
    return cli_written(args->command, err, stdout, "the description");
}

static const sph_option options[] = {
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_show = {
    .name = "show",
    .summary = "say what a run folder or a model file holds",
    .usage = "RUN|FILE [--json]",
    .about = "Of a run: the options it was trained with, its scores, its network layer by layer and the "
             "command that repeats it. Of an experiment's folder: its table. Of a model file: the columns it "
             "takes and its network.",
    .examples = "  spherelu show runs/prices\n"
                "  spherelu show runs/prices/model.safetensors\n"
                "  spherelu show runs/prices --json\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN|FILE"},
    .words_needed = 1,
    .run = run_show,
};
