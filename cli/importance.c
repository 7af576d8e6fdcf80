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
     "table with the columns and targets of the training data (default: the run's test set)"},
    {"metric", "METRIC", "", "data",
     "metric to compute: rmse, mae, r2, accuracy, auc, ... (default: rmse for regression, accuracy for "
     "classes; if one class has more than 80 % of the rows, auc or balanced_accuracy)"},
    {"repeats", "N", "", "data", "number of times each column is shuffled (default: 10)"},
    {"seed", "S", "", "output and resources", "random seed (default: 0)"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_importance = {
    .name = "importance",
    .summary = "measure how much the predictions depend on each column",
    .usage = "RUN [--data FILE|NAME] [--metric METRIC] [--repeats N] [--json]",
    .about = "Permutation importance: the values of one column are shuffled among the rows, and the metric "
             "is computed again. The importance of the column is the mean increase of the error over the "
             "repeats, with its standard deviation; about 0 means that the network does not use the column. "
             "Text and date columns are shuffled as a whole. Columns with the same information share their "
             "importance, so each may look unimportant.",
    .examples = "  spherelu importance runs/prices\n"
                "  spherelu importance runs/prices --data more-prices.csv --metric r2\n"
                "  spherelu importance runs/prices --repeats 30 --json\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 1,
    .run = run_importance,
};
