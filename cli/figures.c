/* SPDX-License-Identifier: MIT
 *
 * spherelu figures: the figures of an experiment or a run, drawn again. */
#include <stdio.h>

#include "cli.h"

struct drawn {
    json_t *list; /* NULL: print */
};

static void show(void *self, const char *path)
{
    const struct drawn *drawn = self;
    if (drawn->list)
        json_array_append_new(drawn->list, json_string(path));
    else
        printf("%s.png\n", path);
}

static int run_figures(const struct args *args)
{
    struct drawn drawn = {0};
    int code = args_check_common(args);
    if (code)
        return code;
    if (args_on(args, "json"))
        drawn.list = json_array();
    int err = sph_figures(args->word[0], args->word + 1, args->words - 1, &drawn, show);
    if (err < 0) {
        json_decref(drawn.list);
        return cli_fail_with(args->command, err);
    }
    if (err > 0)
        cli_fail(args->command, 0, "%s", sph_error());
    if (drawn.list)
        return cli_print_json(args->command,
                              json_pack("{s:o, s:b}", "figures", drawn.list, "drawn", err == 0), 6);
    printf("%s/report.html\n", args->word[0]);
    return EXIT_DONE;
}

static const sph_option options[] = {
    {"threads", "N", "", "common", "taken by every command; one thread works here"},
    {"seed", "S", "", "common", "taken by every command; the figures show the experiment's first seed"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "", "common",
     "taken by every command; the run's own precision holds here"},
};

const struct command command_figures = {
    .name = "figures",
    .summary = "draw the figures of an experiment or a run",
    .usage = "DIR [NAME...]",
    .about =
        "DIR is the folder of a finished experiment, whose file says which figures there are, or a run "
        "folder of train --record boundaries, which gives all that its data allow; names say which "
        "instead. Into DIR/figures go, for each, its data files, a gnuplot script that can be edited and run "
        "again, and a PNG, SVG and PDF. Names: trajectories, turns, decision, predictions, spectrum, moves, "
        "convergence, sensitivity, flips, regions; docs/experiments.md says what each shows and needs. "
        "Without gnuplot the data and the scripts are written all the same. DIR/report.html, one page with "
        "the figures inside, is written again.",
    .examples = "  spherelu figures runs/banana\n"
                "  spherelu figures runs/banana turns decision\n"
                "  spherelu figures runs/prices convergence\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"DIR", "NAME"},
    .words_needed = 1,
    .last_repeats = 1,
    .run = run_figures,
};
