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
    .summary = "print the contents of a run folder or model file",
    .usage = "RUN|FILE [--json]",
    .about = "For a run: its options, scores, network layer by layer, and the command that repeats it. For "
             "an experiment: its table. For a model file: its input columns and its network.",
    .examples = "  spherelu show runs/prices\n"
                "  spherelu show runs/prices/model.safetensors\n"
                "  spherelu show runs/prices --json\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN|FILE"},
    .words_needed = 1,
    .run = run_show,
};
