/* SPDX-License-Identifier: MIT
 *
 * spherelu train: one network on one's own data. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tool.h"
#include "cli.h"
#include "job/tool.h"
#include "layer/tool.h"
#include "progress.h"
#include "ranks.h"
#include "report/tool.h"
#include "stop.h"
#include "train/tool.h"

/* self: the folder; NULL: another process says how to go on. */
static int catch_stop(void *self, const sph_view *view)
{
    char words[4096];
    (void)view;
    snprintf(words, sizeof words, "continue with: spherelu train --resume --out %s",
             self ? (const char *)self : "");
    stop_catch(&command_train, self ? words : NULL);
    return 0;
}

static int stop_if_asked(void *self, const sph_view *view)
{
    (void)self;
    (void)view;
    return stop_signal() != 0;
}

/* ---------------------------------------------------------------- before */

static int set_options(sph_job *job, const struct args *args)
{
    const sph_option *table;
    size_t count = sph_options(&table);
    for (size_t i = 0; i < count; i++) {
        const char *value = args_value(args, table[i].name);
        if (!value)
            continue;
        int err = sph_job_set(job, table[i].name, value);
        if (err)
            return cli_fail_with(args->command, err);
    }
    if (!args_value(args, "out") && !args_on(args, "dry-run"))
        return cli_fail(args->command, EXIT_USAGE, "out", "--out is missing, expected a run folder");
    if (args_on(args, "dry-run") && args_on(args, "resume"))
        return cli_fail_option(args->command, "dry-run", "cannot be combined with --resume");
    if (!args_value(args, "data") && !args_on(args, "resume"))
        return cli_fail(args->command, EXIT_USAGE, "data",
                        "--data is missing, expected a file or a built-in dataset");
    return 0;
}

/* Makes the text of every option: until one is set again, sph_job_get has an answer, however short memory is. */
static int make_texts(const sph_job *job)
{
    const sph_option *option;
    size_t count = sph_options(&option);
    for (size_t i = 0; i < count; i++)
        if (!sph_job_get(job, option[i].name))
            return SPH_EMEMORY;
    return 0;
}

struct notes {
    const sph_job *job;
    const struct args *args;
    const struct command *command;
    int quiet, verbose;
    int begins; /* --resume found nothing */
};

/* Steps that never come, among those that the option names. */
static void note_missed(const struct notes *notes, uint64_t steps)
{
    const char *at = sph_job_get(notes->job, "record");
    while (*(at += strcspn(at, "0123456789"))) {
        char *end;
        unsigned long long step = strtoull(at, &end, 10);
        if (step > steps) {
            cli_note(notes->command, "record",
                     "step %llu does not exist and is not recorded; the last step is %llu", step,
                     (unsigned long long)steps);
            return;
        }
        at = end;
    }
}

enum { LARGE_MOMENT = 1 << 20 }; /* bytes: a run may have thousands of them */

static void note_size(const struct notes *notes, const char *what, uint64_t bytes)
{
    if (bytes >= LARGE_MOMENT || (bytes && notes->verbose))
        cli_note(notes->command, "record", "%s need %.3g MB for each recorded step", what,
                 1e-6 * (double)bytes);
}

/* What the last bits depend on, besides the seed and the number of threads. */
static void note_kernels(const struct notes *notes)
{
    enum { KERNELS = 5 }; /* the first lines */
    char text[400];
    size_t used = 0;
    const char *line = sph_features();
    for (int i = 0; i < KERNELS && *line; i++) {
        size_t length = strcspn(line, "\n");
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", i ? "; " : "", (int)length, line);
        if (used >= sizeof text)
            break;
        line += length + (line[length] == '\n');
    }
    cli_note(notes->command, "kernels", "%s", text);
}

/* What takes long says so before it begins. */
static void note_time(const struct notes *notes, const sph_view *view)
{
    static const double minute = 60, hour = 3600;
    double left =
        sph_job_seconds(notes->job) * ((double)view->steps - (double)view->step) / (double)view->steps;
    char time[32];
    if (!(left >= minute)) /* or not known, or resumed behind the last epoch asked for */
        return;
    progress_time(time, sizeof time, left);
    cli_note(notes->command, "epochs", "about %s for %zu epoch%s, unless it stops early%s", time,
             view->epochs, cli_plural(view->epochs),
             left < hour
                 ? ""
                 : "; to save time, use fewer --epochs or --rows, a smaller network or more --threads");
}

/* What would surprise a user who does not know the method by heart; said once everything else is accepted. */
static int print_notes(void *self, const sph_view *view)
{
    const struct notes *notes = self;
    int err = notes->quiet ? 0 : make_texts(notes->job);
    if (err || notes->quiet)
        return err;
    if (notes->begins)
        cli_note(notes->command, "resume", "nothing to resume in %s; starting a new run",
                 sph_job_get(notes->job, "out"));
    cli_note_lines(notes->args, sph_core_lacks());
    if (notes->verbose)
        note_kernels(notes);
    const char *norm = sph_job_get(notes->job, "norm");
    const char *micro = sph_job_get(notes->job, "micro");
    sph_norm kind = (sph_norm)sph_word_find(SPH_WORDS_NORM, norm);
    if (sph_norm_is_at_input(kind) && sph_net_layers(view->net) <= 2 &&
        strcmp(sph_job_get(notes->job, "imn-at"), "output") != 0)
        cli_note(notes->command, "norm",
                 "%s normalizes the input of every hidden layer except the first, so it has no effect with "
                 "one hidden layer",
                 norm);
    if (*micro && sph_norm_is_batch(kind))
        cli_note(notes->command, "micro",
                 "with --micro, %s computes its statistics from %s rows instead of the batch", norm, micro);
    const char *batch = sph_job_get(notes->job, "batch");
    if (notes->verbose && view->epochs && view->steps == view->epochs && strcmp(batch, "full") != 0)
        cli_note(notes->command, "batch",
                 "the training set has at most %s rows, so each step uses all of them", batch);
    sph_record_size size;
    sph_job_record_size(notes->job, &size);
    cli_note_lines(notes->args, sph_job_notes(notes->job));
    note_missed(notes, view->steps);
    cli_note_left_out(notes->command, sph_job_left_out(notes->job));
    note_size(notes, "boundaries", size.frame);
    note_size(notes, "patterns", size.patterns);
    note_size(notes, "gradients", size.gradients);
    note_time(notes, view);
    return 0;
}

/* ---------------------------------------------------------------- after */

enum {
    RARE_PERCENT = 20
}; /* classes of which one has more than the rest of 100 are judged by auc and balanced accuracy */

static double score_of(const sph_scores *scores, const char *name)
{
    for (size_t i = 0; i < scores->count; i++)
        if (!strcmp(scores->name[i], name))
            return scores->value[i];
    return NAN;
}

/* The scores that an epoch shows, what is monitored and, where a class is rare, first those that are fair to it; eval and --json
 * have the others too. */
static void print_scores(const sph_job *job, const char *part, const sph_result *result,
                         const sph_scores *scores)
{
    static const char *const fair[] = {"auc", "balanced_accuracy"};
    const char *monitor = sph_job_get(job, "monitor");
    int rare = 100 * score_of(&result->baseline, "accuracy") > 100 - RARE_PERCENT;
    if (!scores->rows)
        return;
    printf("%-9s %zu row%s", part, scores->rows, cli_plural(scores->rows));
    for (size_t i = 0; rare && i < sizeof fair / sizeof *fair; i++)
        if (!isnan(score_of(scores, fair[i])))
            printf(", %s %.5g", fair[i], score_of(scores, fair[i]));
    for (size_t i = 0; i < scores->count; i++) {
        int metric = sph_word_find(SPH_WORDS_METRIC, scores->name[i]);
        int monitored = !strncmp(monitor, "val_", 4) && !strcmp(monitor + 4, scores->name[i]);
        int shown = rare && (!strcmp(scores->name[i], fair[0]) || !strcmp(scores->name[i], fair[1]));
        if (isnan(scores->value[i]) || shown ||
            !(monitored || sph_metric_about((sph_metric)metric)->every_epoch))
            continue;
        printf(", %s %.5g", scores->name[i], scores->value[i]);
    }
    int folds = !strcmp(sph_job_get(job, "ensemble-val"), "folds");
    if (folds && scores == &result->train)
        printf(" (the training rows of the first network)");
    if (folds && scores == &result->val)
        printf(" (each row predicted by the networks that were not trained on it)");
    if (scores == &result->baseline)
        printf(" (%s)",
               !strcmp(sph_job_get(job, "task"), "regression")
                   ? "predicts the training mean"
                   : "always predicts the most frequent class; its loss is that of the class frequencies");
    putchar('\n');
}

enum { LARGE_RECORD = 100 }; /* MB */

/* What --record left, and what to do with it. */
static void print_record(const sph_job *job, int table, const struct args *args)
{
    const char *out = sph_job_get(job, "out"), *record = sph_job_get(job, "record");
    char path[4096];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s/boundaries.npz", out);
    if (!record || !*record || length < 0 || (size_t)length >= sizeof path || stat(path, &status))
        return;
    double mega = 1e-6 * (double)status.st_size;
    if (table)
        printf("recorded  %s: %s, %.3g %s; draw with: spherelu figures %s\n", record, path,
               mega < 0.1 ? 1e3 * mega : mega, mega < 0.1 ? "kB" : "MB", out);
    if (mega > LARGE_RECORD && !args_on(args, "quiet"))
        cli_note(args->command, "record",
                 "%s has %.3g MB; --record boundaries:0,100,1000 records only these steps", path, mega);
}

enum { COLUMNS_TOLD = 20 };

/* Prints the use of each column before the summary. */
static void print_columns(const sph_run *run)
{
    const sph_sink sink = {stdout, cli_write};
    if (!sph_run_columns(run, COLUMNS_TOLD, &sink))
        putchar('\n');
}

static void print_table(const sph_job *job, sph_run *run, const sph_result *result, int reported)
{
    const char *out = sph_job_get(job, "out"), *kind = sph_job_get(job, "net");
    char network[256] = "";
    const sph_net *net = sph_run_net(run);
    cli_network(network, sizeof network, kind, net);

    size_t rows = sph_job_rows(job), features = sph_net_inputs(net);
    int hidden = sph_net_layers(net) > 1;
    printf("data      %s: %zu row%s, %zu feature%s\n", sph_job_get(job, "data"), rows, cli_plural(rows),
           features, cli_plural(features));
    for (const char *line = sph_job_counts(job), *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        printf("          %.*s\n", (int)(end - line), line);
    }
    if (sph_run_members(run) > 1)
        printf("ensemble  the mean of %zu networks%s\n", sph_run_members(run),
               !strcmp(sph_job_get(job, "ensemble-val"), "folds") ? ", each with a different validation fold"
                                                                  : "");
    char times[32] = "";
    if (sph_run_members(run) > 1)
        snprintf(times, sizeof times, "%zu x ", sph_run_members(run));
    printf("network   %s%s%s, %s%zu parameters\n", network, hidden ? ", " : "",
           hidden ? sph_job_get(job, "activation") : "", times, sph_net_learned(net));
    const char *freeze = sph_job_get(job, "freeze");
    printf("training  %s, %s, %s, lr %s%s%s\n", sph_job_get(job, "task"), sph_job_get(job, "loss"),
           sph_job_get(job, "optimizer"), sph_job_get(job, "lr"), *freeze ? ", frozen " : "", freeze);
    printf("epochs    %zu, best %zu%s\n", result->epochs, result->best_epoch,
           sph_run_members(run) > 1 ? " (mean of the networks)" : "");
    print_scores(job, "train", result, &result->train);
    print_scores(job, "val", result, &result->val);
    print_scores(job, "test", result, &result->test);
    print_scores(job, "baseline", result, &result->baseline);
    if (result->test.rows && !strcmp(sph_job_get(job, "task"), "regression"))
        cli_print_targets(run, NULL, "test");
    if (*result->warning)
        printf("warning   %s\n", result->warning);
    printf("seconds   %.3g", result->seconds);
    if (result->waited > 0)
        printf(", %.2g %% of it waiting for images", 100 * result->waited / result->seconds);
    putchar('\n');
    printf("run       %s\n", out);
    if (reported)
        printf("report    %s/report.html\n", out);
}

/* A resumed run whose data is not where config.yaml says, seen from here. */
static int fail_run(const sph_job *job, const struct args *args, int err)
{
    const char *data = sph_job_get(job, "data"), *out = sph_job_get(job, "out");
    if (args_on(args, "resume") && data && out && *data && *data != '/' && access(data, F_OK) &&
        !strcmp(sph_failure()->path, data))
        return cli_fail_more(
            args->command, err,
            "; the path in %s/config.yaml is relative to the folder in which the run was started", out);
    return cli_fail_with(args->command, err);
}

/* The folder's own result.json, and where it lies. */
static int print_result(const sph_job *job, const struct command *command)
{
    const char *out = sph_job_get(job, "out");
    size_t size = strlen(out) + sizeof "/result.json";
    char *path = malloc(size);
    json_error_t error;
    if (!path)
        return cli_no_memory(command);
    snprintf(path, size, "%s/result.json", out);
    json_t *object = json_load_file(path, 0, &error);
    int code;
    if (!json_is_object(object)) {
        code = cli_fail_at(command, path, "cannot be read back: %s", error.text);
        json_decref(object);
    } else {
        json_object_set_new(object, "out", json_string(out));
        if (*sph_job_counts(job)) /* lines: cells that were filled, rows left out */
            json_object_set_new(object, "counts", json_string(sph_job_counts(job)));
        code = cli_print_json(command, object, 17);
    }
    free(path);
    return code;
}

/* What a training would be, and nothing is written. */
static int dry_run(sph_job *job, const struct args *args, int first)
{
    sph_job_size size;
    int err = sph_job_dry_run(job, &size);
    if (err)
        return cli_fail_with(args->command, err);
    if (!first)
        return EXIT_DONE;
    if (args_on(args, "json")) {
        json_t *object =
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "train_rows", (json_int_t)size.train_rows,
                      "val_rows", (json_int_t)size.val_rows, "test_rows", (json_int_t)size.test_rows,
                      "features", (json_int_t)size.features, "learned", (json_int_t)size.learned, "frozen",
                      (json_int_t)size.frozen, "steps", (json_int_t)size.steps);
        if (object) {
            json_object_set_new(object, "epochs", json_integer((json_int_t)size.epochs));
            json_object_set_new(object, "step_seconds", cli_number(size.step_seconds));
            json_object_set_new(object, "seconds", cli_number(size.seconds));
            json_object_set_new(object, "disk_bytes", json_integer((json_int_t)size.disk_bytes));
        }
        if (object && isfinite(size.peak_bytes))
            json_object_set_new(object, "peak_bytes", json_integer((json_int_t)size.peak_bytes));
        return cli_print_json(args->command, object, 17);
    }
    printf("data      %zu training row%s, %zu validation, %zu test, %zu feature%s\n", size.train_rows,
           cli_plural(size.train_rows), size.val_rows, size.test_rows, size.features,
           cli_plural(size.features));
    printf("network   %zu parameters", size.learned);
    if (size.frozen)
        printf(", %zu of them frozen", size.frozen);
    printf("\nepoch     %zu step%s of %.3g ms\n", size.steps, cli_plural(size.steps),
           1e3 * size.step_seconds);
    char time[32];
    progress_time(time, sizeof time, size.seconds);
    printf("time      about %s for %zu epoch%s, unless it stops early\n", time, size.epochs,
           cli_plural(size.epochs));
    if (isfinite(size.peak_bytes))
        printf("memory    %.0f MB at most\n", size.peak_bytes / 1e6);
    printf("disk      %.3g MB without recordings\n", size.disk_bytes / 1e6);
    return EXIT_DONE;
}

/* The report, the summary, and what to do next. */
static int tell(sph_job *job, const sph_result *result, const struct args *args, struct progress *progress)
{
    const struct command *command = args->command;
    int json = args_on(args, "json"), reports = !args_on(args, "no-report"), code = EXIT_DONE;
    sph_run *run = sph_job_take_run(job);
    progress_say(progress, "drawing the report");
    /* a page that cannot be written costs no run, but it was asked for */
    int page = reports ? sph_run_page(run) : 0;
    progress_clear(progress);
    int failed = page < 0 ? cli_fail_with(command, page) : EXIT_DONE;
    if (json)
        code = print_result(job, command);
    else {
        if (!args_on(args, "quiet"))
            print_columns(run);
        print_table(job, run, result, reports && !failed);
    }
    sph_run_free(run);
    code = failed ? failed : code;
    if (code == EXIT_DONE)
        print_record(job, !json, args);
    /* no advice where the results were lost */
    if (code == EXIT_DONE && fflush(stdout))
        return cli_fail_at(command, "stdout", "cannot be written: %s", strerror(errno));
    if (!args_on(args, "quiet") && result->improving)
        cli_note(command, "epochs",
                 "the monitored score was still improving at the last epoch; use more --epochs");
    return code;
}

enum resumes { RESUMES, RESUMES_NOTHING, RESUMES_FINISHED };

/* What --resume finds in the folder. */
static enum resumes find_resumed(const struct args *args)
{
    const char *out = args_value(args, "out");
    char path[4096];
    if (!args_on(args, "resume") || !out || args_on(args, "quiet"))
        return RESUMES;
    int length = snprintf(path, sizeof path, "%s/result.json", out);
    int finished = length > 0 && (size_t)length < sizeof path && !access(path, F_OK);
    return access(out, F_OK)                         ? RESUMES_NOTHING
           : finished && !args_value(args, "epochs") ? RESUMES_FINISHED
                                                     : RESUMES;
}

/* The part of train that other processes than the first have. The first one prints what happened and has the exit code: a
 * launcher ends all of them when one of them fails. */
static int follow(sph_job *job, const struct args *args)
{
    sph_result result = {0};
    const sph_observer observer = {.start = catch_stop, .step = stop_if_asked};
    if (!args_on(args, "quiet"))
        sph_job_foresee(job);
    sph_job_run(job, args_on(args, "resume"), &observer, 1, &result);
    stop_over();
    return EXIT_DONE;
}

static int train(sph_job *job, const struct args *args, const struct comm *comm)
{
    const struct command *command = args->command;
    struct progress progress;
    sph_result result = {0};
    int code;
    progress_init(&progress, args_on(args, "quiet"), args_on(args, "verbose"));
    if (!args_on(args, "quiet"))
        sph_job_foresee(job);
    enum resumes resumes = find_resumed(args);
    struct notes notes = {
        job, args, command, args_on(args, "quiet"), args_on(args, "verbose"), resumes == RESUMES_NOTHING};
    const sph_observer observers[] = {
        {.self = &notes, .start = print_notes},
        {.self = (void *)(uintptr_t)args_value(args, "out"), .start = catch_stop, .step = stop_if_asked},
        progress_observer(&progress)};
    int err =
        sph_job_run(job, args_on(args, "resume"), observers, sizeof observers / sizeof *observers, &result);
    stop_over();
    progress_clear(&progress);
    if (!err || err == SPH_EDIVERGED)
        err = make_texts(job) < 0 ? SPH_EMEMORY : err;
    if ((stop_signal() || comm) && !err && result.stopped)
        return stop_end();
    if (!err && resumes == RESUMES_FINISHED && !args_on(args, "json"))
        cli_note(command, "resume", "the run was already finished; to continue it, use --epochs");
    if (!err)
        return tell(job, &result, args, &progress);
    if (err != SPH_EDIVERGED)
        return fail_run(job, args, err);
    code = cli_fail_with(command, err);
    if (args_on(args, "json"))
        print_result(job, command);
    return code;
}

static int run_train(const struct args *args)
{
    sph_job *job = NULL;
    struct comm *comm = NULL;
    int code = ranks_open(args, &comm), err = code ? 0 : sph_job_new(&job);
    if (err)
        code = cli_fail_with(args->command, err);
    if (code)
        goto out;
    int first = !sph_comm_rank(comm);
    sph_job_set_comm(job, comm);
    if (!(code = set_options(job, args)))
        code = args_on(args, "dry-run") ? dry_run(job, args, first)
               : first                  ? train(job, args, comm)
                                        : follow(job, args);
out:
    sph_job_free(job);
    sph_comm_close(comm); /* behind the last line: others wait here for this process */
    return code;
}

static const sph_option options[] = {
    {"no-report", NULL, "", "run", "do not write report.html, the page with scores, curves and predictions"},
    {"resume", NULL, "", "run",
     "continue an interrupted run from the checkpoint in --out\n"
     "you need not repeat the other options; if you do, they must have the same values\n"
     "exception: --epochs can be larger than before, unless --schedule is cosine"},
    {"dry-run", NULL, "", "run",
     "measure a few steps, print the sizes of the three sets and the expected time, memory and disk space, "
     "and write nothing"},
    {"mpi", NULL, "", "run",
     "train with the other processes of the same mpirun or srun, also if its variables are not recognized "
     "(docs/scale.md)"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

static const struct help_group groups[] = {
    {"images", "size augment eval-side gray decode workers skip-bad width stem conv"},
    {"optimizer constants",
     "lr-theta lr-lambda lr-r momentum nesterov beta1 beta2 epsilon natural norm-momentum"},
    {"constants of the papers' code (see also --protocol reference)",
     "permute columns draw norm-epsilon norm-variance imn-at mbn-bias wn-output angle-order fan-out "
     "adam-form"},
    {0}};

const struct command command_train = {
    .name = "train",
    .summary = "train a network on a table or on images",
    .usage = "--data FILE|NAME [--target COL] ... --out DIR",
    .about = "Splits the data into a training, a validation and a test set, trains a network on the CPU, and "
             "writes the model, its scores and a report into the run folder --out.\n"
             "For a table, the default is an ensemble of five networks. If you set an option of the groups "
             "'network' or 'training' below (other than --tune), a single network is trained; add "
             "--ensemble 5 to train five.\n"
             "Ctrl-C stops after the current step and writes a checkpoint; --resume continues.",
    .often = 1,
    .main_options = "data target missing test val group net hidden param norm optimizer lr batch "
                    "epochs schedule patience ensemble tune record out seed threads resume size json",
    .groups = groups,
    .listed = "metrics for --monitor val_NAME",
    .list = cli_metric,
    .examples = "  spherelu train --data crescents --out runs/first\n"
                "  spherelu train --data prices.csv --target price --out runs/prices\n"
                "  spherelu train --data prices.csv --target price --hidden 64,64 --param sp --norm bn \\\n"
                "      --lr 0.01 --epochs 500 --out runs/prices-sp\n",
    .more_examples =
        "  spherelu train --data prices.csv --target price --ensemble 5 --threads 2 --out runs/five\n"
        "  spherelu train --data prices.csv --target price --tune 20 --refit --out runs/tuned\n"
        "  spherelu train --data cifar10 --net vgg6 --param gmp --norm imn --optimizer sgd --lr 0.1 \\\n"
        "      --schedule step:30,60:0.1 --epochs 90 --out runs/cifar10     (needs cifar10)\n"
        "  spherelu train --data banana --hidden 10 --record boundaries:every --out runs/moving\n"
        "  spherelu train --resume --out runs/prices\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .takes_job = 1,
    .ranks = 1,
    .run = run_train,
};
