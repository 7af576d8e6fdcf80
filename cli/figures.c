/* SPDX-License-Identifier: MIT
 *
 * spherelu figures: the figures of an experiment or a run, drawn again. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"
#include "report/tool.h"

struct drawing {
    json_t *paths;
    struct progress progress;
};

static int remember(void *self, const sph_progress *view)
{
    struct drawing *drawing = self;
    char text[64];
    json_array_append_new(drawing->paths, json_string(view->what));
    snprintf(text, sizeof text, "drawing figures, %zu made", view->done);
    progress_say(&drawing->progress, text);
    return 0;
}

static int has_file(const char *dir, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", dir, name);
    return length > 0 && (size_t)length < sizeof path && !access(path, F_OK);
}

/* Without names a run gives what it can: what it would give otherwise. */
static void note_record(const struct args *args)
{
    const char *dir = args->word[0];
    if (args->words == 1 && !args_on(args, "quiet") && !has_file(dir, "experiment.yaml") &&
        !has_file(dir, "boundaries.npz"))
        cli_note(args->command, "record",
                 "%s: nothing was recorded in this run; train --record boundaries adds how boundaries "
                 "move (trajectories, turns, moves, spectrum), --record patterns adds flips",
                 dir);
}

/* *given points to the seed, and stays NULL where it is the median one. */
static int read_seed(const struct args *args, uint64_t *seed, const uint64_t **given)
{
    const char *value = args_value(args, "seed");
    char *end;
    if (!value || !strcmp(value, "median"))
        return 0;
    errno = 0;
    *seed = strtoull(value, &end, 10);
    if (errno || *end || !isdigit((unsigned char)*value))
        return cli_fail_option(args->command, "seed", "found '%s', expected a seed of DIR or median", value);
    *given = seed;
    return 0;
}

static int run_figures(const struct args *args)
{
    const json_t *path;
    size_t i;
    uint64_t seed = 0;
    sph_figures_opts opts = {.names = args->word + 1, .count = args->words - 1};
    int code = read_seed(args, &seed, &opts.seed);
    if (code)
        return code;
    json_t *list = json_array();
    struct drawing drawing = {.paths = list};
    progress_init(&drawing.progress, args_on(args, "quiet"), 0);
    progress_say(&drawing.progress, "drawing figures");
    int err = sph_figures(args->word[0], &opts, &drawing, remember), json = args_on(args, "json");
    progress_clear(&drawing.progress);
    if (err >= 0 && cli_json_is_short()) {
        json_decref(list);
        return cli_no_memory(args->command);
    }
    json_array_foreach(list, i, path) if (!json)
        printf("%s.%s\n", json_string_value(path), err == 1 ? "gp" : "png"); /* what is there */
    if (err < 0) {
        json_decref(list);
        return cli_fail_with(args->command, err);
    }
    if (err > 0)
        cli_note(args->command, sph_failure()->key, "%s", sph_error());
    note_record(args);
    if (json)
        return cli_print_json(args->command, json_pack("{s:o, s:b}", "figures", list, "drawn", err == 0), 6);
    json_decref(list);
    printf("%s/report.html\n", args->word[0]);
    return EXIT_DONE;
}

static const sph_option options[] = {
    {"seed", "S|median", "median", "output and resources",
     "seed of the training run in figures that show a single one; median: the seed whose test scores are "
     "nearest to the median over all methods. Figures over seeds show all of them"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_figures = {
    .name = "figures",
    .summary = "draw the figures of an experiment or a run",
    .usage = "DIR [NAME...]",
    .about = "DIR is the folder of a finished experiment or of a run. Without NAME, an experiment gives the "
             "figures that its file lists, and a run gives all that its data and its record allow (figures "
             "of motion need train --record boundaries). Each figure is written to DIR/figures as data "
             "files, a gnuplot script, PNG, SVG and PDF, and DIR/report.html is written again. Without "
             "gnuplot, the data files and scripts are still written. Points called phi are the phi_net of "
             "spherelu boundaries. To change a figure, copy its script from figures/ in the sources into a "
             "folder, edit it, and set SPHERELU_FIGURES to that folder.",
    .listed = "names",
    .list = sph_figure_word,
    .examples =
        "  spherelu figures runs/banana                 an experiment: spherelu run experiments/banana.yaml\n"
        "  spherelu figures runs/moving turns decision\n"
        "  spherelu figures runs/banana decision --seed 3\n"
        "  spherelu figures runs/prices convergence\n"
        "  SPHERELU_FIGURES=my-scripts spherelu figures runs/moving turns\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"DIR", "NAME"},
    .words_needed = 1,
    .last_repeats = 1,
    .run = run_figures,
};
