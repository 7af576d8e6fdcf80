/* SPDX-License-Identifier: MIT
 *
 * spherelu importance: which columns a run's predictions rest on. */
#include <stdlib.h>

#include "cli.h"
#include "progress.h"
#include "report/tool.h"

static int on_progress(void *self, const sph_progress *view)
{
    progress_share(self, "shuffling columns", view->share);
    return 0;
}

static int run_importance(const struct args *args)
{
    const sph_sink sink = {stdout, cli_write};
    struct progress progress;
    sph_importance_opts opts = {.data = args_value(args, "data"),
                                .metric = args_value(args, "metric"),
                                .self = &progress,
                                .progress = on_progress};
    size_t seed = 0;
    int code;
    if ((code = args_size(args, "repeats", 1, &opts.repeats)) || (code = args_size(args, "seed", 0, &seed)))
        return code;
    opts.seed = seed;
    progress_init(&progress, args_on(args, "quiet"), 0);
    int err = sph_importance(args->word[0], &opts, args_on(args, "json"), &sink);
    progress_clear(&progress);
    return cli_written(args->command, err, stdout, "the table");
}

static const sph_option options[] = {
    {"data", "FILE|NAME", "", "data",
     "table with the columns and targets the run was trained on; if not given, the run's own test part"},
    {"metric", "METRIC", "", "data",
     "what is to get worse: rmse, mae, r2, accuracy, auc and so on; if not given rmse for numbers, accuracy "
     "for classes"},
    {"repeats", "N", "", "data", "times that each column is shuffled; 10 if not given"},
    {"seed", "S", "", "general", "of the shuffles; 0 if not given"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_importance = {
    .name = "importance",
    .summary = "tell how much a run's predictions rest on each column",
    .usage = "RUN [--data FILE|NAME] [--metric METRIC] [--repeats N] [--json]",
    .about =
        "Permutation importance: the cells of one column change places among the rows, and the metric is "
        "worked "
        "out again. How much worse it gets, mean and standard deviation over the repeats, is the column's "
        "importance; about 0 means that the net does without it. A text or date column is shuffled as a "
        "whole. "
        "Columns that say the same share their importance, so that each may look small.",
    .examples = "  spherelu importance runs/prices\n"
                "  spherelu importance runs/prices --data more-prices.csv --metric r2\n"
                "  spherelu importance runs/prices --repeats 30 --json\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 1,
    .run = run_importance,
};
