/* SPDX-License-Identifier: MIT
 *
 * A comparison of runs: scores, and differences by row between runs with the same test rows. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/statistics.h"
#include "file/file.h"
#include "job/run_rows.h"
#include "report/pages.h"
#include "report/show.h"
#include "report/tool.h"
#include "store/runfolder.h"
#include "train/tool.h"

enum {
    COMPARE_RUN,
    COMPARE_DATA,
    COMPARE_METHOD,
    COMPARE_METRIC,
    COMPARE_SCORE,
    COMPARE_ROWS,
    COMPARE_OF,
    COMPARE_DIFFERENCE,
    COMPARE_ERROR,
    COMPARE_SCORES,
    COMPARE_AHEAD,
    COMPARE_BEHIND,
    COMPARE_NOTE
};

/* The run with which the others are compared. */
struct first {
    struct run_rows rows;
    int there;
    size_t pairs;   /* runs that were compared with it */
    size_t members; /* its number of networks */
    int mixed;      /* another run has another number of networks */
};

static int same_rows(const struct run_rows *a, const struct run_rows *b)
{
    const sph_data *p = a->data, *q = b->data;
    return p->task == q->task && p->rows == q->rows && p->targets == q->targets && p->classes == q->classes &&
           a->count == b->count && !memcmp(p->y, q->y, p->rows * p->targets * sizeof *p->y) &&
           !memcmp(a->row, b->row, a->count * sizeof *a->row);
}

/* The squared error of a row, averaged over the targets, or its log loss. */
static double cost_at(const struct run_rows *rows, size_t i)
{
    return run_rows_loss(rows, i) / (rows->data->task == SPH_TASK_REGRESSION ? (double)rows->targets : 1);
}

/* The difference of the costs of a row, each multiplied by a factor. It has the standard error of the difference of the scores. */
static double difference_at(const struct run_rows *rows, const struct run_rows *first, const double factor[2],
                            size_t i)
{
    return factor[0] * cost_at(rows, i) - factor[1] * cost_at(first, i);
}

/* The difference is below 0 if the run is better than the first. For regression it is the difference of the RMSEs, in the units of the
 * target, with the standard error of its linear part; for classes, that of the mean log losses. */
static void put_pairs(struct table *table, size_t row, const struct run_rows *first,
                      const struct run_rows *rows)
{
    double mean[2] = {0}, factor[2] = {1, 1}, squares = 0, n = (double)rows->count;
    size_t ahead = 0, behind = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double own = cost_at(rows, i), other = cost_at(first, i);
        mean[0] += own / n;
        mean[1] += other / n;
        if (!same_number(own, other)) {
            ahead += own < other;
            behind += own > other;
        }
    }
    double difference = mean[0] - mean[1];
    if (rows->data->task == SPH_TASK_REGRESSION && mean[0] > 0 && mean[1] > 0) {
        difference = sqrt(mean[0]) - sqrt(mean[1]);
        for (int k = 0; k < 2; k++)
            factor[k] = 0.5 / sqrt(mean[k]);
    }
    double centre = factor[0] * mean[0] - factor[1] * mean[1];
    for (size_t i = 0; i < rows->count; i++) {
        double off = difference_at(rows, first, factor, i) - centre;
        squares += off * off;
    }
    double error = n > 1 ? sqrt(squares / (n - 1) / n) : (double)NAN;
    table_words(table, row, COMPARE_OF, rows->data->task == SPH_TASK_REGRESSION ? "rmse" : "log loss");
    table_mean(table, row, COMPARE_DIFFERENCE, difference, error);
    table_number(table, row, COMPARE_ERROR, error);
    table_text(table, row, COMPARE_SCORES, "%zu : %zu", ahead, behind);
    table_count(table, row, COMPARE_AHEAD, ahead);
    table_count(table, row, COMPARE_BEHIND, behind);
}

static void put_score(struct table *table, size_t row, const sph_run *run)
{
    const char *word =
        sph_word(SPH_WORDS_METRIC, (int)sph_metric_of((sph_task)run->spec->options.task))->word;
    double score = result_score(run->result, "test", word);
    if (run->result)
        table_words(table, row, COMPARE_METRIC, word);
    if (!isnan(score))
        table_number(table, row, COMPARE_SCORE, score);
}

/* A run that cannot be opened is a failure. If its data are gone, its row says so. */
static int put_run(struct table *table, size_t row, const char *dir, struct first *first)
{
    sph_run *run = NULL;
    struct run_rows rows = {0};
    struct text words = {0};
    int err = sph_run_open(&run, dir);
    if (err < 0)
        return err;
    table_words(table, row, COMPARE_RUN, dir);
    table_words(table, row, COMPARE_DATA, show_data(run->spec));
    show_method(&words, run->spec);
    table_take(table, row, COMPARE_METHOD, &words);
    put_score(table, row, run);
    first->members = row ? first->members : run->members;
    first->mixed |= run->members != first->members;
    if ((err = run_rows_open(&rows, run, NULL)) < 0 && !file_unread(err, sph_failure()->path)) {
        table_words(table, row, COMPARE_NOTE, sph_failure()->what);
        err = 0;
    } else if (!err) {
        table_count(table, row, COMPARE_ROWS, rows.count);
        if (!row) {
            first->rows = rows;
            first->there = 1;
            rows = (struct run_rows){0};
        } else if (!first->there)
            table_words(table, row, COMPARE_NOTE, "not compared: the first run has no test rows");
        else if (same_rows(&first->rows, &rows)) {
            put_pairs(table, row, &first->rows, &rows);
            first->pairs++;
        } else
            table_words(table, row, COMPARE_NOTE,
                        "not compared: its test rows differ from those of the first run");
    }
    run_rows_free(&rows);
    sph_run_free(run);
    return err;
}

static int write_page(const char *path, const char *const *dirs, size_t count, const struct table *table)
{
    struct report *report = NULL;
    const char **names = mem_get(count, sizeof *names);
    int err = names ? report_new(&report, "Runs compared", NULL) : SPH_EMEMORY;
    for (size_t i = 0; i < count && names; i++)
        names[i] = "val_loss";
    if (!err) {
        report_section(report, "Scores");
        report_table(report, table);
        report_section(report, "Curves");
        page_add_curves(report, dirs, names, dirs, count, 0,
                        "Validation losses by epoch, in the units of each run.");
        err = report_write(report, path);
    }
    report_free(report);
    mem_free(names);
    return err;
}

static void add_notes(struct table *table, const struct first *first, const char *dir)
{
    if (first->pairs)
        table_line(&table->notes,
                   "difference: test %s minus that of %s, +- its standard error over the test rows; below 0 "
                   "is better",
                   first->rows.data->task == SPH_TASK_REGRESSION ? "RMSE, in the units of the target,"
                                                                 : "log loss",
                   dir);
    if (first->mixed)
        table_line(&table->notes,
                   "warning: an ensemble is compared with fewer networks, and averaging alone lowers the "
                   "error; to compare methods, use the same --ensemble for all runs");
}

int sph_compare(const char *const *dirs, size_t count, const char *page, int json, const sph_sink *sink)
{
    static const struct table_column columns[] = {
        {.head = "run", .json = "run"},
        {.head = "data", .json = "data"},
        {.head = "method", .json = "method"},
        {.head = "metric", .json = "metric"},
        {.head = "test", .json = "test", .number = 1, .digits = 5},
        {.head = "rows", .json = "rows", .number = 1},
        {.head = "compared by", .json = "difference_of"},
        {.head = "difference", .json = "difference", .number = 1, .digits = 4},
        {.json = "difference_error"},
        {.head = "ahead : behind", .json = "ahead_behind"},
        {.json = "ahead"},
        {.json = "behind"},
        {.head = "", .json = "note"}};
    struct table table = {0};
    struct first first = {0};
    size_t entered = 0;
    int err = 0;
    table_columns(&table, columns, sizeof columns / sizeof *columns);
    table_rows(&table, count);
    for (; entered < count && !err && !(err = file_enter(dirs[entered])); entered++) {
    }
    for (size_t i = 0; i < count && !err; i++)
        err = put_run(&table, i, dirs[i], &first);
    if (!err)
        add_notes(&table, &first, dirs[0]);
    if (!err && page)
        err = write_page(page, dirs, count, &table);
    if (!err)
        err = show_table(&table, json, sink);
    while (entered)
        file_leave(dirs[--entered]);
    run_rows_free(&first.rows);
    table_free(&table);
    return err;
}
