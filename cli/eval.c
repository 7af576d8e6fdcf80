/* SPDX-License-Identifier: MIT
 *
 * spherelu eval: a run's scores on other data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* "where a class has no row": only such a score is no number in a finished run. */
static const char *why_undefined(const char *name)
{
    const char *why = sph_metric_about((sph_metric)sph_word_find(SPH_WORDS_METRIC, name))->undefined;
    return why ? why : "";
}

static int print_scores(const struct args *args, const sph_scores *scores)
{
    if (args_on(args, "json")) {
        json_t *object = json_object();
        json_object_set_new(object, "rows", json_integer((json_int_t)scores->rows));
        for (size_t i = 0; i < scores->count; i++)
            json_object_set_new(object, scores->name[i], cli_number(scores->value[i]));
        return cli_print_json(args->command, object, 17);
    }
    int width = 9;
    for (size_t i = 0; i < scores->count; i++)
        width = (int)strlen(scores->name[i]) > width ? (int)strlen(scores->name[i]) : width;
    printf("%-*s %zu\n", width, "rows", scores->rows);
    for (size_t i = 0; i < scores->count; i++)
        if (isnan(scores->value[i]))
            printf("%-*s undefined %s\n", width, scores->name[i], why_undefined(scores->name[i]));
        else
            printf("%-*s %.6g\n", width, scores->name[i], scores->value[i]);
    return EXIT_DONE;
}

static int run_eval(const struct args *args)
{
    const char *data = args_value(args, "data");
    sph_run *run = NULL;
    sph_scores scores = {0};
    int code = args_check_common(args);
    if (code)
        return code;
    if ((code = cli_open_run(args->command, args->word[0], &run)))
        return code;
    int err = 0;
    if (!(code = cli_take_member(args, run)) && !(code = cli_set_reading(args, run))) {
        err = sph_run_eval(run, data, &scores);
        code = err ? cli_fail_with(args->command, err) : print_scores(args, &scores);
        cli_note_left_out(args->command, sph_run_left_out(run));
    }
    sph_run_free(run);
    return code;
}

static const sph_option options[] = {
    CLI_MEMBER,
    {"data", "FILE|NAME", "", "data",
     "table with the columns the run was trained on, or images; of a set with its own test part, that part; "
     "or a folder of pictures, with a folder for each class; if not given, the run's own test part"},
    CLI_READING,
    {"threads", "N", "", "common", "taken by every command; one thread works here"},
    {"seed", "S", "", "common", "taken by every command; nothing is random here"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "", "common",
     "taken by every command; the run's own precision holds here"},
};

const struct command command_eval = {
    .name = "eval",
    .summary = "score a run on its test part, or on other data",
    .usage = "RUN [--data FILE|NAME] [--json]",
    .about =
        "Reads the table as the run's training did (same columns, same targets, same standardisation) "
        "and prints "
        "the number of rows, the loss and the metrics of the task, in the target's own units. With no --data "
        "it "
        "scores the run's own test part: the rows that split.json names, of the data that config.yaml names.",
    .listed = "metrics, as far as the task has them",
    .list = cli_metric,
    .examples = "  spherelu eval runs/prices\n"
                "  spherelu eval runs/prices --data more-prices.csv\n"
                "  spherelu eval runs/prices --data more-prices.csv --json\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 1,
    .run = run_eval,
};
