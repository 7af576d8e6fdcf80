/* SPDX-License-Identifier: MIT
 *
 * spherelu predict: a run's predictions for new rows, as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "job/tool.h"

/* Whether path names one of the files a run consists of, in this run, there or not. */
static int is_run_file(const char *run, const char *path)
{
    static const char *const files[] = {"config.yaml",   "model.safetensors", "checkpoint.safetensors",
                                        "metrics.jsonl", "result.json",       "split.json"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat a, b;
    size_t i = 0;
    while (i < sizeof files / sizeof *files && strcmp(name, files[i]))
        i++;
    if (i == sizeof files / sizeof *files)
        return 0;
    char *folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
    int same = folder && !stat(folder, &a) && !stat(run, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    free(folder);
    return same;
}

static int predict(const struct args *args, sph_run *run, const char *data, const char *out)
{
    if (!out) {
        int err = sph_run_predict(run, data, &(sph_sink){stdout, cli_write});
        return cli_written(args->command, err, stdout, "the predictions");
    }
    int err = sph_run_predict_file(run, data, out);
    if (err < 0)
        return cli_fail_with(args->command, err);
    if (!args_on(args, "json"))
        return 0;
    json_t *object = json_object();
    json_object_set_new(object, "out", json_string(out));
    return cli_print_json(args->command, object, 17);
}

static int run_predict(const struct args *args)
{
    const char *data = args_value(args, "data"), *out = args_value(args, "out");
    sph_run *run = NULL;
    if (!data)
        return cli_fail(args->command, EXIT_USAGE, "data",
                        "--data is missing, expected a file or a built-in dataset");
    if (!out && args_on(args, "json"))
        return cli_fail_option(args->command, "json", "needs --out, because predictions are CSV");
    int code = cli_open_run(args->command, args->word[0], &run);
    if (code)
        return code;
    if (out && is_run_file(args->word[0], out))
        code = cli_fail_option(args->command, "out", "%s is a file of the run, expected another file", out);
    else if (!(code = cli_take_member(args, run)) && !(code = cli_set_reading(args, run))) {
        code = predict(args, run, data, out);
        if (code == EXIT_DONE) /* a failure has one line */
            cli_note_run(args, run);
        cli_note_left_out(args->command, sph_run_left_out(run));
    }
    sph_run_free(run);
    return code;
}

static const sph_option options[] = {
    CLI_MEMBER,
    {"data", "FILE|NAME", "", "data",
     "table with the feature columns of the training data, with or without targets; images; an image folder, "
     "with or without classes; or one image; for a dataset with its own test set, that set is used"},
    {"out", "FILE.csv", "", "data", "file to write (default: stdout)"},
    {"keep", "COL,...", "", "data",
     "columns of the data, such as an id, to copy in front of the predictions; columns unknown to the run "
     "are allowed"},
    CLI_STRICT,
    CLI_READING,
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_predict = {
    .name = "predict",
    .summary = "predict the targets of new rows",
    .usage = "RUN --data FILE|NAME [--out FILE.csv]",
    .about =
        "Writes CSV with one line per row of the data. Regression: column prediction, or prediction_TARGET "
        "for each target. Two classes: class,probability, with the probability of the second class in sorted "
        "order (with classes no and yes, of yes). More classes: class,p_LABEL,... For image folders, the "
        "first column is the file name. For ensembles, the last column spread is the standard deviation "
        "among the members' predictions. The file given by --out is replaced only when it is complete.",
    .examples = "  spherelu predict runs/prices --data new-houses.csv > predictions.csv\n"
                "  spherelu predict runs/prices --data new-houses.csv --out predictions.csv\n"
                "  spherelu predict runs/first --data crescents | head\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 1,
    .run = run_predict,
};
