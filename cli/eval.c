/* SPDX-License-Identifier: MIT
 *
 * spherelu eval: scores of a run, also on other data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "job/tool.h"
#include "progress.h"
#include "report/tool.h"
#include "train/tool.h"

/* The row of a score; the loss has none. */
static const sph_metric_facts *about(const char *name)
{
    static const sph_metric_facts none = {0};
    int metric = sph_word_find(SPH_WORDS_METRIC, name);
    return metric < 0 ? &none : sph_metric_about((sph_metric)metric);
}

/* "because a class has no rows". The loss is undefined only if a prediction is not finite. */
static const char *why_undefined(const sph_scores *scores, size_t i)
{
    const char *why = about(scores->name[i])->undefined;
    return isnan(scores->value[0]) || !why ? "because a prediction is not a finite number" : why;
}

/* Prints what the name of a score leaves open. */
static void print_about(const char *name, const sph_run *run)
{
    const char *second = sph_run_second_class(run);
    if (about(name)->mean)
        printf(" (%s)", about(name)->mean);
    else if (about(name)->second_class && second)
        printf(" (of class '%s')", second);
    else if (about(name)->second_class)
        printf(" (of the second class)");
}

static json_t *confusion_object(const sph_confusion *confusion)
{
    json_t *labels = json_array(), *rows = json_array();
    for (size_t c = 0; c < confusion->classes; c++) {
        json_t *row = json_array();
        for (size_t k = 0; k < confusion->classes; k++)
            json_array_append_new(row,
                                  json_integer((json_int_t)confusion->count[c * confusion->classes + k]));
        json_array_append_new(labels, json_string(confusion->label[c]));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:o, s:o}", "classes", labels, "counts", rows);
}

/* ---------------------------------------------------------------- scores */

/* confusion: NULL without --confusion. */
static int print_scores(const struct args *args, const sph_scores *scores, sph_run *run, const char *data,
                        const sph_confusion *confusion)
{
    if (args_on(args, "json")) {
        json_t *each = cli_targets(run, data);
        json_t *object = json_object();
        json_object_set_new(object, "rows", json_integer((json_int_t)scores->rows));
        for (size_t i = 0; i < scores->count; i++)
            json_object_set_new(object, scores->name[i], cli_number(scores->value[i]));
        if (confusion)
            json_object_set_new(object, "confusion", confusion_object(confusion));
        if (each)
            json_object_set_new(object, "targets", each);
        return cli_print_json(args->command, object, 17);
    }
    int width = 9;
    for (size_t i = 0; i < scores->count; i++)
        width = (int)strlen(scores->name[i]) > width ? (int)strlen(scores->name[i]) : width;
    printf("%-*s %zu\n", width, "rows", scores->rows);
    for (size_t i = 0; i < scores->count; i++)
        if (isnan(scores->value[i]))
            printf("%-*s undefined %s\n", width, scores->name[i], why_undefined(scores, i));
        else {
            printf("%-*s %.6g", width, scores->name[i], scores->value[i]);
            print_about(scores->name[i], run);
            printf("\n");
        }
    cli_print_targets(run, data, "target");
    return EXIT_DONE;
}

static int run_eval(const struct args *args)
{
    const char *data = args_value(args, "data");
    sph_run *run = NULL;
    sph_scores scores = {0};
    sph_confusion confusion = {0};
    int code = cli_open_run(args->command, args->word[0], &run);
    if (code)
        return code;
    int err = 0;
    if (!(code = cli_take_member(args, run)) && !(code = cli_set_reading(args, run))) {
        int matrix = args_on(args, "confusion");
        struct progress progress;
        progress_init(&progress, args_on(args, "quiet"), 0);
        progress_say(&progress, "scoring");
        err = sph_run_eval(run, data, &scores);
        if (!err && matrix)
            err = sph_run_confusion(run, data, &confusion);
        progress_clear(&progress);
        code = err ? cli_fail_with(args->command, err)
                   : print_scores(args, &scores, run, data, matrix ? &confusion : NULL);
        if (!code && matrix && !args_on(args, "json"))
            code = cli_written(args->command, sph_confusion_print(&confusion, &(sph_sink){stdout, cli_write}),
                               stdout, "the confusion matrix");
        sph_confusion_free(&confusion);
        if (code == EXIT_DONE && !fflush(stdout)) /* without an error message before */
            cli_note_run(args, run);
        cli_note_left_out(args->command, sph_run_left_out(run));
    }
    sph_run_free(run);
    return code;
}

static const sph_option options[] = {
    CLI_MEMBER,
    {"data", "FILE|NAME", "", "data",
     "table with the columns of the training data, images, or an image folder with one folder per class; for "
     "a dataset with its own test set, that set is used (default: the run's test set)"},
    CLI_STRICT,
    CLI_READING,
    {"confusion", NULL, "", "data",
     "also print the confusion matrix; with more than 20 classes, the most frequent confusions"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_eval = {
    .name = "eval",
    .summary = "score a model on its test set or on other data",
    .usage = "RUN [--data FILE|NAME] [--json]",
    .about = "Reads the data as in training (same columns, targets and standardization) and prints the "
             "number of rows, the loss and the metrics of the task, in the target's units. Without --data, "
             "it scores the run's test set.",
    .listed = "metrics, where defined for the task",
    .list = cli_metric,
    .examples = "  spherelu eval runs/prices\n"
                "  spherelu eval runs/prices --data more-prices.csv\n"
                "  spherelu eval runs/prices --data more-prices.csv --json\n"
                "  spherelu eval runs/photos --confusion\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 1,
    .run = run_eval,
};
