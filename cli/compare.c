/* SPDX-License-Identifier: MIT
 *
 * spherelu compare: runs side by side. */
#include "cli.h"
#include "report/tool.h"

static int run_compare(const struct args *args)
{
    const sph_sink sink = {stdout, cli_write};
    const char *page = args_value(args, "out");
    int err = sph_compare(args->word, args->words, page, args_on(args, "json"), &sink);
    return cli_written(args->command, err, stdout, "the comparison");
}

static const sph_option options[] = {
    {"out", "FILE.html", "", "run",
     "HTML page to write, with the table and the validation curves of all runs"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_compare = {
    .name = "compare",
    .summary = "compare runs on the same test rows",
    .usage = "RUN RUN... [--out FILE.html] [--json]",
    .about = "Prints one row for each run: data, method, test score. Runs with the same test rows are "
             "compared with the first run: difference of the RMSE (for classes: of the log loss), its "
             "standard error over the test rows, and the number of rows on which the run is better and "
             "worse. Runs with other test rows are not compared; train them with the same --seed, --test and "
             "--split. A warning is printed if an ensemble is compared with a single network.",
    .examples = "  spherelu compare runs/prices runs/first\n"
                "  spherelu compare runs/prices runs/first --out compared.html\n"
                "  spherelu compare runs/prices runs/first --json\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN", "RUN"},
    .last_repeats = 1,
    .words_needed = 2,
    .run = run_compare,
};
