/* SPDX-License-Identifier: MIT
 *
 * The page of one run: scores, curves, data, predictions, figures, and the command that repeats it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "job/defaults.h"
#include "job/resolve.h"
#include "job/run.h"
#include "job/job.h"
#include "net/zoo.h"
#include "report/figures.h"
#include "report/pages.h"
#include "report/show.h"
#include "report/tool.h"
#include "store/runfolder.h"
#include "train/optimizer.h"

/* Quotes the word for a shell if necessary. */
static void add_word(struct text *out, const char *word)
{
    if (*word &&
        word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%")] ==
            '\0') {
        text_add(out, "%s", word);
        return;
    }
    text_add(out, "'");
    for (; *word; word++)
        text_add(out, *word == '\'' ? "'\\''" : "%c", *word);
    text_add(out, "'");
}

/* The option has the value that the command uses without it. */
static int is_default(const struct job_spec *spec, enum option_id id)
{
    const char *value = options_text(spec, id);
    if (id == OPTION_MOMENTUM)
        return spec->options.momentum == optimizer_ops((sph_optimizer)spec->options.optimizer)->momentum;
    if (defaults_vary(id)) /* the default depends on the data and the network */
        return 0;
    return value && !strcmp(value, option_row(id)->initial);
}

void run_add_command(struct text *out, const struct job_spec *spec)
{
    text_add(out, "spherelu train");
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        const sph_option *option = option_row(id);
        const char *value = options_text(spec, id);
        if (id == OPTION_OUT || id == OPTION_CHECKPOINT_SECONDS || !options_has(spec, id) ||
            !job_reads(spec, id) || is_default(spec, id))
            continue;
        if (!value) {
            out->failed = 1;
            return;
        }
        text_add(out, " --%s", option->name);
        if (option->argument) {
            text_add(out, " ");
            add_word(out, value);
        }
    }
    text_add(out, " --out again");
}

/* How uncertain the share of hits is, and what the names of the other scores leave open. */
static void explain_scores(struct report *report, sph_run *run)
{
    double share = result_score(run->result, "test", "accuracy");
    int two = !isnan(result_score(run->result, "test", "recall"));
    int err = run_open_model(run);
    const char *second = err ? NULL : sph_run_second_class(run);
    struct text words = {0};
    if (isnan(share))
        return;
    if (share > 0 && share < 1 && !run_own_data(run, NULL) && !run_own_split(run) && run->split.test_rows) {
        text_add(&words, "The test accuracy has a standard error of ");
        text_add_general(&words, 2, sqrt(share * (1 - share) / (double)run->split.test_rows));
        text_add(&words, " with %zu rows. ", run->split.test_rows);
    }
    text_add(&words, "f1 is the macro F1, the mean over classes");
    if (two && second)
        text_add(&words, "; precision and recall are those of class '%s'", second);
    else if (two)
        text_add(&words, "; precision and recall are those of the second class");
    text_add(&words, ".");
    report_fail(report, words.failed || err == SPH_EMEMORY ? SPH_EMEMORY : 0);
    report_note(report, "%s", words.chars ? words.chars : "");
    text_free(&words);
}

static void add_scores(struct report *report, const json_t *result)
{
    static const char *const parts[] = {"train", "val", "test", "baseline"}, *const names[] = {
                                                                                 "training", "validation",
                                                                                 "test", "test, baseline"};
    enum { PARTS = sizeof parts / sizeof *parts };
    json_t *first = json_object_get(result, "train"), *value;
    const char *key;
    struct table table = {0};
    size_t row = 0, rows = 0;
    for (size_t p = 0; p < PARTS; p++)
        rows += json_object_get(result, parts[p]) ? 1 : 0;
    table_column(&table, (struct table_column){.head = "part"});
    json_object_foreach(first, key, value)
    {
        table_column(&table, (struct table_column){.head = key, .number = 1, .digits = 5, .plain = 1});
    }
    table_rows(&table, rows);
    for (size_t p = 0; p < PARTS; p++) {
        const json_t *part = json_object_get(result, parts[p]);
        if (!part)
            continue;
        table_words(&table, row, 0, names[p]);
        for (size_t c = 1; c < table.column_count; c++) {
            const json_t *number = json_object_get(part, table.columns[c].head);
            if (json_is_number(number))
                table_number(&table, row, c, json_number_value(number));
        }
        row++;
    }
    report_take_table(report, &table);
    if (json_object_get(result, "baseline"))
        report_note(report, "Baseline: a prediction without features (the mean or the class frequencies of "
                            "the training rows).");
}

static void add_result(struct report *report, sph_run *run)
{
    const json_t *result = run->result;
    size_t epochs = 0, best = 0;
    int diverged = 0, err = json_member_size(result, RUNFOLDER_RESULT, "epochs", &epochs);
    const char *warning = json_string_value(json_object_get(result, "warning"));
    const char *reason = json_string_value(json_object_get(result, "reason"));
    if (err < 0 || (err = json_member_size(result, RUNFOLDER_RESULT, "best_epoch", &best)) < 0 ||
        (err = json_member_bool(result, RUNFOLDER_RESULT, "diverged", &diverged)) < 0) {
        report_fail(report, err);
        return;
    }
    int several = json_object_get(result, "members") != NULL;
    if (warning)
        report_warning(report, "%s", warning);
    report_section(report, "Result");
    if (diverged) {
        report_warning(report, "It diverged%s%s.", reason ? ": " : "", reason ? reason : "");
        return;
    }
    report_paragraph(report, "Trained for %zu epoch%s; %s%zu%s.", epochs, epochs == 1 ? "" : "s",
                     several ? "each network keeps its best, on average " : "the best, ", best,
                     several ? "" : ", is kept");
    add_scores(report, result);
    explain_scores(report, run);
}

/* Training and validation loss in one chart, with the best epoch marked. */
static void add_curves(struct report *report, const char *dir, const json_t *result)
{
    const char *const dirs[] = {dir, dir}, *const names[] = {"train_loss", "val_loss"},
                      *const labels[] = {"training loss", "validation loss"};
    size_t best = (size_t)json_integer_value(json_object_get(result, "best_epoch"));
    report_section(report, "Curves");
    page_add_curves(report, dirs, names, labels, 2, best,
                    "Losses by epoch, in the units of training; the training loss is the mean over the steps "
                    "of an epoch.");
}

/* In a build without charts, gnuplot draws the curves if it is installed. */
static int draw_curves(const char *dir)
{
    unsigned char wanted[FIGURE_COUNT] = {0};
    wanted[text_find("convergence", figure_names, FIGURE_COUNT)] = 1;
    int err = charts_drawn() ? 0 : figures_draw(NULL, dir, wanted, NULL, NULL, NULL);
    return err == SPH_EMEMORY ? err : 0;
}

static int begin_report(struct report **out, const struct job_spec *spec)
{
    const char *title = show_data(spec);
    struct text subtitle = {0};
    if (spec->options.ensemble > 1)
        text_add(&subtitle, "The mean of %zu networks: ", spec->options.ensemble);
    else
        text_add(&subtitle, "One network: ");
    enum option_id size =
        net_kind((sph_net_kind)spec->options.net)->make ? OPTION_WIDTH : OPTION_HIDDEN; /* a net has one */
    text_add(&subtitle, "%s", options_word(spec, OPTION_NET));
    if (options_has(spec, size))
        text_add(&subtitle, " with %s ", option_key(size));
    options_add(&subtitle, spec, size);
    text_add(&subtitle, ", param %s, norm %s, seed %llu", options_word(spec, OPTION_PARAM),
             options_word(spec, OPTION_NORM), (unsigned long long)spec->options.seed);
    int err = subtitle.failed ? SPH_EMEMORY : report_new(out, title ? title : "run", subtitle.chars);
    text_free(&subtitle);
    return err;
}

static void add_repeating(struct report *report, const char *dir, const struct job_spec *spec)
{
    struct text command = {0};
    report_section(report, "Repeat this");
    run_add_command(&command, spec);
    report_fail(report, command.failed ? SPH_EMEMORY : 0);
    report_command(
        report,
        "Run this in the folder in which it was started, because the path of the data may be relative:",
        command.chars ? command.chars : "");
    text_free(&command);
    page_add_file(report, dir, RUNFOLDER_CONFIG, RUNFOLDER_CONFIG ": every option, including defaults");
}

/* The mistakes of a run on images, which its page shows. Without gnuplot, or if the data have moved, it does without them. */
static int draw_wrong(const sph_run *run)
{
    unsigned char wanted[FIGURE_COUNT] = {0};
    char program[4096];
    if (!run->result || isnan(result_score(run->result, "test", "accuracy")) ||
        !json_object_get(run->schema, "images") || !sph_gnuplot(program, sizeof program))
        return 0;
    wanted[text_find("wrong", figure_names, FIGURE_COUNT)] = 1;
    int err = figures_draw(NULL, run->dir, wanted, NULL, NULL, NULL);
    return err == SPH_EMEMORY ? err : 0;
}

static int write_page(sph_run *run)
{
    struct report *report = NULL;
    char *path = file_join(run->dir, REPORT_PAGE);
    int err = path ? begin_report(&report, run->spec) : SPH_EMEMORY;
    if (!err)
        err = draw_curves(run->dir);
    if (!err) {
        if (run->result)
            add_result(report, run);
        else
            report_warning(report,
                           "The run is not finished and has no scores yet. Continue with train --resume.");
        add_curves(report, run->dir, run->result);
        page_add_data(report, run);
        if (run->result) {
            page_add_rows(report, run);
            page_add_importance(report, run);
        }
        page_add_tuning(report, run);
        page_add_figures(report, run->dir);
        add_repeating(report, run->dir, run->spec);
        err = report_write(report, path);
    }
    report_free(report);
    mem_free(path);
    return err;
}

int sph_run_page(sph_run *run)
{
    int err = run_open_model(run);
    if (err != SPH_EMEMORY) /* a diverged run has no model */
        err = draw_wrong(run);
    return err ? err : write_page(run);
}

int run_write_page(const char *dir)
{
    struct sph_run run;
    int err = file_enter(dir);
    if (err < 0)
        return err;
    if (!(err = run_read(&run, dir, 0, NULL))) {
        err = write_page(&run);
        run_close(&run);
    }
    file_leave(dir);
    return err;
}
