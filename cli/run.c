/* SPDX-License-Identifier: MIT
 *
 * spherelu run: an experiment file to a table. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tool.h"
#include "cli.h"
#include "compare/tool.h"
#include "launch/tool.h"
#include "progress.h"
#include "stop.h"

enum { SHARDS_MOST = 1000000 };

/* ---------------------------------------------------------------- before */

static int set_key(sph_experiment *experiment, const struct command *command, const char *text)
{
    size_t length = strcspn(text, "=");
    if (!text[length] || !length)
        return cli_fail_option(command, "set", "found '%s', expected key=value such as train.epochs=10",
                               text);
    char *key = strndup(text, length);
    if (!key)
        return cli_no_memory(command);
    int err = sph_experiment_set(experiment, key, text + length + 1);
    free(key);
    return err ? cli_fail_with(command, err) : 0;
}

static int set_options(sph_experiment *experiment, const struct args *args)
{
    static const char *const direct[] = {"threads", "dtype"};
    size_t seed = 0;
    int code = args_size(args, "seed", 0, &seed);
    for (size_t i = 0; i < args->repeats && !code; i++)
        code = set_key(experiment, args->command, args->repeated[i]);
    for (size_t i = 0; i < 2 && !code; i++) {
        const char *value = args_value(args, direct[i]);
        int err = value ? sph_experiment_set(experiment, direct[i], value) : 0;
        code = err ? cli_fail_with(args->command, err) : 0;
    }
    if (args_value(args, "seed") && !code) {
        char list[40];
        snprintf(list, sizeof list, "[%zu]", seed);
        int err = sph_experiment_set(experiment, "seeds", list);
        code = err ? cli_fail_with(args->command, err) : 0;
    }
    return code;
}

/* Options that change the experiment: experiment.yaml in the results folder includes them, the user's file does not. */
static int changes(const struct args *args)
{
    return args->repeats || args_value(args, "threads") || args_value(args, "dtype") ||
           args_value(args, "seed");
}

/* How the work is shared out: among jobs side by side, and among processes like this one. */
struct division {
    size_t workers;
    size_t shard, shards; /* shards 0: this process is alone */
    int together;         /* a launcher started all shards */
};

/* I/N */
static int read_shard(const struct args *args, struct division *division)
{
    const char *text = args_value(args, "shard");
    char *slash = NULL, *end = NULL;
    if (!text)
        return 0;
    unsigned long long shard = isdigit((unsigned char)*text) ? strtoull(text, &slash, 10) : 0,
                       shards = slash && *slash == '/' && isdigit((unsigned char)slash[1])
                                    ? strtoull(slash + 1, &end, 10)
                                    : 0;
    if (!end || *end || !shard || shard > shards || shards > SHARDS_MOST)
        return cli_fail_option(args->command, "shard",
                               "found '%s', expected I/N such as 2/8, with I from 1 to N", text);
    if (!args_value(args, "out"))
        return cli_fail_option(args->command, "shard", "needs --out DIR, the folder that all shards work in");
    if (args_on(args, "dry-run"))
        return cli_fail_option(args->command, "shard", "not used with --dry-run; remove one of them");
    division->shard = (size_t)shard;
    division->shards = (size_t)shards;
    return 0;
}

/* One job a core; one at a time where a job is to have several threads, or where the other processes have the cores. */
static int divide(const struct args *args, struct division *division)
{
    size_t threads = 1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct sph_launcher launcher = sph_launcher_find();
    int code = args_size(args, "threads", 1, &threads);
    *division = (struct division){0};
    if (!code)
        code = read_shard(args, division);
    if (!division->shards && launcher.size > 1)
        *division = (struct division){.shard = launcher.rank + 1, .shards = launcher.size, .together = 1};
    division->workers = threads > 1 || cores < 1 || division->shards ? 1 : (size_t)cores;
    return code ? code : args_size(args, "jobs", 1, &division->workers);
}

/* Other processes of the launcher are silent. */
static int is_first(const struct division *division)
{
    return !division->together || division->shard == 1;
}

/* Advice of the readers is about options of train; an experiment sets them by its file. */
static int fail_run(const struct args *args, int err)
{
    const char *said = sph_error(), *here = "";
    if (strstr(said, "--missing-words") || strstr(said, "--text"))
        here = " (here: missing_words, text or drop under data in the file, or --set data.KEY=VALUE)";
    else if (strstr(said, "--drop"))
        here = " (here: --set data.drop=auto, or drop under data in the file)";
    return cli_fail_more(args->command, err, "%s", here);
}

/* ---------------------------------------------------------------- a dry run */

/* The jobs of one method and set. */
struct group {
    const char *set, *method;
    size_t jobs;
    double seconds;
};

/* groups (*count, room for one more) */
static void add_to_group(struct group *groups, size_t *count, const sph_experiment_job *job)
{
    size_t g = 0;
    while (g < *count &&
           (strcmp(groups[g].method, job->method) || (job->set && strcmp(groups[g].set, job->set))))
        g++;
    if (g == *count)
        groups[(*count)++] = (struct group){.set = job->set ? job->set : "", .method = job->method};
    groups[g].jobs++;
    groups[g].seconds += isnan(job->seconds) ? 0 : job->seconds;
}

static void print_groups(const struct group *groups, size_t count)
{
    for (size_t g = 0; g < count; g++)
        printf("%s%s%-*s %zu job%s, about %.2g s each\n", groups[g].set, *groups[g].set ? " " : "",
               40 - (int)(*groups[g].set ? strlen(groups[g].set) + 1 : 0), groups[g].method, groups[g].jobs,
               cli_plural(groups[g].jobs), groups[g].seconds / (double)groups[g].jobs);
}

static int print_plan(sph_experiment *experiment, const struct args *args, size_t workers)
{
    size_t count;
    double sum = 0, most = 0, disk = 0;
    int err = sph_experiment_check(experiment);
    if (err || (err = sph_experiment_plan(experiment, 1, &count)))
        return fail_run(args, err);
    int json = args_on(args, "json"), each = args_on(args, "verbose"), folds = 0;
    size_t grouped = 0;
    struct group *groups = calloc(count + 1, sizeof *groups);
    json_t *jobs = json_array();
    if (!groups || !jobs) {
        free(groups);
        json_decref(jobs);
        return cli_no_memory(args->command);
    }
    for (size_t i = 0; i < count; i++) {
        sph_experiment_job job;
        if ((err = sph_experiment_job_at(experiment, i, &job))) {
            json_decref(jobs);
            free(groups);
            return cli_fail_with(args->command, err);
        }
        sum += isnan(job.seconds) ? 0 : job.seconds;
        most = job.peak_bytes > most ? job.peak_bytes : most;
        disk += isnan(job.disk_bytes) ? 0 : job.disk_bytes;
        folds |= job.fold >= 0;
        if (json) {
            json_t *object =
                json_pack("{s:s, s:s, s:s, s:I, s:o}", "folder", job.folder, "method", job.method, "grid",
                          job.point, "seed", (json_int_t)job.seed, "seconds", cli_number(job.seconds));
            if (job.set)
                json_object_set_new(object, "set", json_string(job.set));
            json_array_append_new(jobs, object);
        } else if (each)
            printf("%-50s about %.2g s\n", job.folder, job.seconds);
        else
            add_to_group(groups, &grouped, &job);
    }
    print_groups(groups, grouped);
    free(groups);
    if (json)
        return cli_print_json(args->command,
                              json_pack("{s:o, s:f, s:I, s:I, s:I}", "jobs", jobs, "seconds",
                                        sum / (double)workers, "workers", (json_int_t)workers, "peak_bytes",
                                        (json_int_t)(most * (double)workers), "disk_bytes", (json_int_t)disk),
                              6);
    json_decref(jobs);
    char left[32];
    progress_time(left, sizeof left, sum / (double)workers);
    printf("%zu job%s%s, %zu at a time: about %s, unless some stop early\n", count, cli_plural(count),
           folds ? " and a refit of each method and seed" : "", workers, left);
    printf("memory at most about %.3g MB (shared memory counted for each job); disk about %.3g MB without "
           "recordings\n",
           most * (double)workers / 1e6, disk / 1e6);
    return EXIT_DONE;
}

/* ---------------------------------------------------------------- after */

static char *path_in(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", dir, name);
    return path;
}

/* The tables, once progress has left the line. */
static int write_tables(void *self, const void *bytes, size_t length)
{
    progress_clear(self);
    return cli_write(stdout, bytes, length);
}

static void print_places(const char *out, size_t figures)
{
    printf("\nresults   %s\n", out);
    if (figures)
        printf("figures   %s/figures\n", out);
    printf("report    %s/report.html\n", out);
}

static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? strndup(file, slash > file ? (size_t)(slash - file) : 1) : strdup(".");
}

/* Whether the file is the one that an experiment left in its folder. */
static int is_results_file(const char *file)
{
    const char *slash = strrchr(file, '/');
    if (strcmp(slash ? slash + 1 : file, "experiment.yaml") != 0)
        return 0;
    char *dir = folder_of(file), *results = dir ? path_in(dir, "results.json") : NULL;
    int is = results && !access(results, F_OK);
    free(results);
    free(dir);
    return is;
}

/* ---------------------------------------------------------------- the command */

struct jobs {
    struct progress progress;
    const struct args *args;
    const sph_experiment *experiment;
    const char *file, *out;
    const struct division *division;
    int told; /* the notes */
};

/* train leaves these columns out by default; experiments keep them, so that published tables stay the same. */
static void note_useless(const struct args *args, const sph_experiment *experiment)
{
    const char *name, *columns;
    for (size_t i = 0; (columns = sph_experiment_useless(experiment, i, &name)); i++)
        if (*columns && !args_on(args, "quiet"))
            cli_note(
                args->command, "drop",
                "%s: the IDs, row numbers and constant columns %s are features here, although train leaves "
                "them out; use --set data.drop=auto to leave them out",
                name, columns);
}

/* What --resume finds, where it is not jobs to be continued. */
static void note_resume(const struct args *args, const char *out)
{
    char path[4096];
    if (!args_on(args, "resume") || args_on(args, "quiet") || args_value(args, "shard"))
        return;
    int length = snprintf(path, sizeof path, "%s/experiment.yaml", out);
    if (length > 0 && (size_t)length < sizeof path && access(path, F_OK))
        cli_note(args->command, "resume", "nothing to resume in %s; starting the experiment", out);
}

/* Tells the user how to continue after a signal. */
static void advise(const struct jobs *jobs, char *words, size_t size)
{
    const struct division *division = jobs->division;
    char shard[64] = "--resume";
    if (division->together)
        snprintf(words, size, "continue with the same command");
    else if (division->shards)
        snprintf(shard, sizeof shard, "--shard %zu/%zu", division->shard, division->shards);
    if (!division->together)
        snprintf(words, size, "continue with: spherelu run %s %s --out %s", jobs->file, shard, jobs->out);
}

static int on_progress(void *self, const sph_progress *view)
{
    struct jobs *jobs = self;
    char words[4096];
    if (!jobs->told++ && is_first(jobs->division)) {
        progress_clear(&jobs->progress);
        note_useless(jobs->args, jobs->experiment);
    }
    advise(jobs, words, sizeof words);
    stop_catch(&command_run, words);
    progress_jobs(&jobs->progress, view);
    return stop_signal() != 0;
}

/* Prints the work of a shard and how to continue. */
static int print_shard(const struct args *args, const struct jobs *jobs, const sph_experiment_result *result)
{
    const struct division *division = jobs->division;
    int code = EXIT_DONE;
    if (args_on(args, "json"))
        code = cli_print_json(
            args->command,
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "shard", (json_int_t)division->shard,
                      "shards", (json_int_t)division->shards, "jobs", (json_int_t)result->jobs, "run",
                      (json_int_t)result->repeated, "diverged", (json_int_t)result->diverged, "failed",
                      (json_int_t)result->failed, "left", (json_int_t)result->left, "out", jobs->out),
            6);
    else
        printf("shard %zu of %zu: ran %zu job%s, %zu left for other shards or the last run\n"
               "tables    when all shards have ended: spherelu run %s --resume --out %s\n",
               division->shard, division->shards, result->repeated, cli_plural(result->repeated),
               result->left, jobs->file, jobs->out);
    if (result->failed && !code)
        code = cli_fail(args->command, EXIT_FAILED, NULL,
                        "%zu job%s failed, the first: %s; the run with --resume tries again", result->failed,
                        cli_plural(result->failed), result->failed_note);
    return code;
}

static int print_end(const struct args *args, const char *out, const sph_experiment_result *result)
{
    const struct command *command = args->command;
    if (!args_on(args, "json"))
        print_places(out, result->figures);
    cli_note_lines(args, sph_core_lacks());
    int code = EXIT_DONE;
    if (args_on(args, "resume") && result->jobs && !result->repeated && !args_on(args, "quiet"))
        cli_note(command, "resume", "all %zu jobs had finished; the tables were written again", result->jobs);
    if (result->not_drawn)
        code = cli_fail(command, EXIT_FAILED, "figures", "figures: %s", result->figures_note);
    else if (*result->figures_note)
        cli_note(command, "figures", "%s", result->figures_note);
    if (result->failed && !code)
        code = cli_fail(
            command, EXIT_FAILED, NULL,
            "%zu of %zu jobs failed; see %s/results.json for the reasons; run them again with --resume",
            result->failed, result->jobs, out);
    return code;
}

/* file: the one to continue with. */
static int run_jobs(sph_experiment *experiment, const struct args *args, const char *file, const char *out,
                    const struct division *division)
{
    struct jobs jobs = {
        .args = args, .experiment = experiment, .file = file, .out = out, .division = division};
    sph_experiment_result result;
    progress_init(&jobs.progress, args_on(args, "quiet") || !is_first(division), 0);
    sph_experiment_opts opts = {.size = sizeof(sph_experiment_opts),
                                .out = out,
                                .resume = args_on(args, "resume"),
                                .workers = division->workers,
                                .self = &jobs,
                                .progress = on_progress,
                                .table = &(sph_sink){&jobs.progress, write_tables},
                                .json = args_on(args, "json"),
                                .shard = division->shard,
                                .shards = division->shards,
                                .together = division->together};
    if (is_first(division))
        note_resume(args, out);
    int err = sph_experiment_run(experiment, &opts, &result);
    stop_over();
    progress_clear(&jobs.progress);
    if (err)
        return fail_run(args, err);
    if (result.stopped)
        return stop_end();
    if (!is_first(division))
        return EXIT_DONE;
    return division->shards && !division->together ? print_shard(args, &jobs, &result)
                                                   : print_end(args, out, &result);
}

/* Without --out, a run of an experiment's own file would go to another folder, or to the one that it is in. */
static int need_out(const struct args *args, const char *file)
{
    char *dir = folder_of(file);
    int code =
        !dir ? cli_no_memory(args->command)
        : args_on(args, "resume")
            ? cli_fail_option(args->command, "out",
                              "is missing, and %s is in the folder of an experiment; use --out %s to "
                              "continue it",
                              file, dir)
            : cli_fail_option(args->command, "out",
                              "is missing, and %s is in the folder of an experiment; use --out DIR for "
                              "a new folder, for example --out again",
                              file);
    free(dir);
    return code;
}

static int run_run(const struct args *args)
{
    const struct command *command = args->command;
    sph_experiment *experiment = NULL;
    struct division division;
    int code = divide(args, &division), err;
    if (code)
        return code;
    if ((err = sph_experiment_open(&experiment, args->word[0])))
        return cli_fail_with(command, err);
    if ((code = set_options(experiment, args)))
        goto out;
    if (args_on(args, "dry-run")) {
        code = is_first(&division) ? print_plan(experiment, args, division.workers) : EXIT_DONE;
        goto out;
    }
    const char *given = args_value(args, "out"), *file = args->word[0];
    if (!given && is_results_file(file)) {
        code = need_out(args, file);
        goto out;
    }
    char *out = given ? strdup(given) : path_in("runs", sph_experiment_name(experiment));
    char *with_options = out && changes(args) ? path_in(out, "experiment.yaml") : NULL;
    code = out && (with_options || !changes(args))
               ? run_jobs(experiment, args, with_options ? with_options : args->word[0], out, &division)
               : cli_no_memory(command);
    free(with_options);
    free(out);
out:
    sph_experiment_free(experiment);
    return code;
}

static const sph_option options[] = {
    {"out", "DIR", "", "run",
     "folder for jobs, results and tables (default: runs/NAME, where NAME is the name in the file)"},
    {"set", "KEY=VALUE", "", "run",
     "change a key of the file, or set an option of train: train.epochs=10, methods.GmP.lr=0.1, "
     "'grid.lr=[0.1,0.3]' (in quotes, because of the brackets), seeds=3; can be given several times"},
    {"resume", NULL, "", "run", "keep finished jobs and continue the others from their checkpoints"},
    {"dry-run", NULL, "", "run",
     "list the jobs, measure a few steps of each method, print the expected time, memory and disk space, and "
     "train nothing"},
    {"jobs", "N", "", "run",
     "number of jobs that run at the same time, each in a process; does not change results (default: number "
     "of processor cores; 1 with --shard and under mpirun or srun)"},
    {"shard", "I/N", "", "run",
     "run shard I of N (I = 1..N), also on several machines; all shards use the same --out; when all shards "
     "have ended, run again with --resume and without --shard to print the tables"},
    {"threads", "N", "", "run", "threads of each job; above 1, the default of --jobs is 1 (default: 1)"},
    {"seed", "S", "", "run", "use only this seed instead of those in the file"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "", "run", "precision (default: that of the file, or f32)"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_run = {
    .name = "run",
    .summary = "run an experiment file: train several methods and compare them",
    .usage = "FILE.yaml [--out DIR] [--set KEY=VALUE]... [--resume]",
    .about =
        "Trains every method of the file with every seed and every point of its grid, each in a run folder, "
        "and compares the methods on the same splits. The table has means with standard errors, paired "
        "differences with a bootstrap interval, Wilcoxon's test corrected for the number of comparisons, and "
        "average ranks. With several datasets, each has a table, followed by tests over the datasets. "
        "Results are printed and written as text, Markdown, LaTeX, CSV and JSON, figures into DIR/figures, "
        "and a page with all of it to DIR/report.html. A job that diverges or fails is reported in the "
        "table. "
        "Ctrl-C writes checkpoints; --resume continues.\n"
        "By default, the validation set selects the epoch and the point of the grid, and the "
        "test set is used once (protocol: holdout). protocol: cv selects by cross-validation; protocol: "
        "reference selects on the test set, as the authors' code does. docs/experiments.md describes all "
        "keys.",
    .examples =
        "  spherelu run experiments/crescents.yaml\n"
        "  spherelu run experiments/banana.yaml --dry-run\n"
        "  spherelu run experiments/banana.yaml --set seeds=20 --set protocol=holdout --set data.val=0.2 \\\n"
        "      --out runs/banana-holdout\n"
        "  spherelu run experiments/banana.yaml --set 'grid.lr=[0.03]' --jobs 4 --out runs/slower\n"
        "  spherelu run experiments/crescents.yaml --resume\n"
        "  spherelu run experiments/banana.yaml --shard 2/8 --out runs/shared\n"
        "  mpirun -n 8 spherelu run experiments/banana.yaml\n\n"
        "  a minimal file, mine.yaml\n"
        "    name: mine\n"
        "    data: {file: houses.csv, target: price}\n"
        "    methods:\n"
        "      - {name: SP, param: sp}\n"
        "      - {name: GmP, param: gmp}\n"
        "    grid: {lr: [0.003, 0.01, 0.03, 0.1]}\n"
        "    seeds: 5\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"FILE.yaml"},
    .words_needed = 1,
    .repeats = "set",
    .run = run_run,
};
