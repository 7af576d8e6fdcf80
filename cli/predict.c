/* SPDX-License-Identifier: MIT
 *
 * spherelu predict: a run's predictions for new rows, as CSV. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* A file appears whole or not at all: it is written beside its place and renamed. */
struct output {
    const char *path;
    char *temporary; /* NULL: written in place, for pipes and devices */
    FILE *file;
};

static int cannot_write(const struct command *command, const char *path)
{
    return cli_fail(command, EXIT_FAILED, "%s: cannot be written: %s", path, strerror(errno));
}

static void output_abort(struct output *output)
{
    if (output->file)
        fclose(output->file);
    if (output->temporary) {
        unlink(output->temporary);
        free(output->temporary);
    }
    *output = (struct output){0};
}

static int output_open(struct output *output, const char *path, const struct command *command)
{
    static const char suffix[] = ".XXXXXX";
    struct stat status;
    size_t length = strlen(path);

    *output = (struct output){.path = path};
    if (!stat(path, &status) && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return cannot_write(command, path);
    }
    if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
        output->file = fopen(path, "w");
        return output->file ? 0 : cannot_write(command, path);
    }
    char *temporary = malloc(length + sizeof suffix);
    if (!temporary)
        return cli_fail(command, EXIT_FAILED, "out of memory");
    memcpy(temporary, path, length);
    memcpy(temporary + length, suffix, sizeof suffix);
    int fd = mkstemp(temporary);
    if (fd < 0) {
        free(temporary);
        return cannot_write(command, path);
    }
    output->temporary = temporary;
    mode_t mask = umask(0);
    umask(mask);
    if (!fchmod(fd, 0666 & ~mask))
        output->file = fdopen(fd, "w");
    if (!output->file) {
        int code = cannot_write(command, path);
        close(fd);
        output_abort(output);
        return code;
    }
    return 0;
}

static int output_commit(struct output *output, const struct command *command)
{
    int failed = ferror(output->file) || fflush(output->file);
    if (!failed && output->temporary)
        failed = fsync(fileno(output->file));
    failed |= fclose(output->file);
    output->file = NULL;
    if (!failed && output->temporary)
        failed = rename(output->temporary, output->path);
    if (failed) {
        int code = cannot_write(command, output->path);
        output_abort(output);
        return code;
    }
    free(output->temporary);
    *output = (struct output){0};
    return 0;
}

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
    struct output output;
    int err, code;
    if (!out) {
        err = sph_run_predict(run, data, &(sph_sink){stdout, cli_write});
        return cli_written(args->command, err, stdout, "the predictions");
    }
    if ((code = output_open(&output, out, args->command)))
        return code;
    err = sph_run_predict(run, data, &(sph_sink){output.file, cli_write});
    if ((code = cli_written(args->command, err, output.file, "the predictions"))) {
        output_abort(&output);
        return code;
    }
    if ((code = output_commit(&output, args->command)) || !args_on(args, "json"))
        return code;
    json_t *object = json_object();
    json_object_set_new(object, "out", json_string(out));
    return cli_print_json(args->command, object, 17);
}

static int run_predict(const struct args *args)
{
    const char *data = args_value(args, "data"), *out = args_value(args, "out");
    sph_run *run = NULL;
    int code = args_check_common(args);
    if (code)
        return code;
    if (!data)
        return cli_fail(args->command, EXIT_USAGE, "--data is missing, expected a file or the name of a set");
    if (!out && args_on(args, "json"))
        return cli_fail(args->command, EXIT_USAGE,
                        "--json needs --out, since predictions themselves are CSV");
    if ((code = cli_open_run(args->command, args->word[0], &run)))
        return code;
    if (out && is_run_file(args->word[0], out))
        code =
            cli_fail(args->command, EXIT_USAGE, "--out: %s belongs to the run, expected another file", out);
    else
        code = predict(args, run, data, out);
    sph_run_free(run);
    return code;
}

static const sph_option options[] = {
    {"data", "FILE|NAME", "", "data",
     "table with the feature columns the run was trained on; targets may be absent; or images, of a set with "
     "its own test part that part"},
    {"out", "FILE.csv", "", "data", "file to write; stdout if not given"},
    {"threads", "N", "", "common", "taken by every command; one thread works here"},
    {"seed", "S", "", "common", "taken by every command; nothing is random here"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "", "common",
     "taken by every command; the run's own precision holds here"},
};

const struct command command_predict = {
    .name = "predict",
    .summary = "predict the targets of new rows",
    .usage = "RUN --data FILE|NAME [--out FILE.csv]",
    .about =
        "Writes one line per row of the table, under a header: prediction (or prediction_TARGET for "
        "several), for "
        "two classes class,probability, where the probability is that of the second class in sorted order "
        "(of no and yes: yes), for more class,p_LABEL,... A file given by --out appears whole or not at all.",
    .examples = "  spherelu predict runs/prices --data new-houses.csv > predictions.csv\n"
                "  spherelu predict runs/prices --data new-houses.csv --out predictions.csv\n"
                "  spherelu predict runs/first --data crescents | head\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 1,
    .run = run_predict,
};
