/* SPDX-License-Identifier: MIT
 *
 * spherelu show: what lies in a run folder, an experiment's folder or a model file. */
#include "cli.h"

static int run_show(const struct args *args)
{
    const sph_sink sink = {stdout, cli_write};
    int code = args_check_common(args);
    if (code)
        return code;
    int err = sph_show(args->word[0], args_on(args, "json"), &sink);
    return cli_written(args->command, err, stdout, "the description");
}

static const sph_option options[] = {
    {"threads", "N", "", "common", "taken by every command; one thread works here"},
    {"seed", "S", "", "common", "taken by every command; nothing is random here"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "", "common", "taken by every command; nothing is computed here"},
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
