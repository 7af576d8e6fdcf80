/* SPDX-License-Identifier: MIT
 *
 * Permutation importance as a table, for the command and for the page of a run. */
#include <stdio.h>

#include "base/error.h"
#include "base/tool.h"
#include "job/run_importance.h"
#include "job/run_rows.h"
#include "net/net.h"
#include "report/pages.h"
#include "report/show.h"
#include "report/tool.h"

static int tell(void *self, double share)
{
    const sph_importance_opts *opts = *(const sph_importance_opts **)self;
    return opts->progress(opts->self, &(sph_progress){.share = share});
}

#define IMPORTANCES(X)                                                                                       \
    X(COLUMN, (.head = "column", .json = "column"), words, found->list[row].column)                          \
    X(MEAN, (.head = "importance", .json = "importance", .number = 1, .digits = 4, .plain = 1), number,      \
      found->list[row].mean)                                                                                 \
    X(SPREAD, (.head = "spread", .json = "spread", .number = 1, .digits = 3, .plain = 1), number,            \
      found->list[row].spread)

TABLE_IDS(IMPORTANCES);

/* The first `rows` columns, the most important first. */
static void fill(struct table *out, const struct importances *found, size_t rows)
{
    TABLE_COLUMNS(out, IMPORTANCES);
    table_rows(out, rows);
    for (size_t row = 0; row < rows; row++) {
        IMPORTANCES(TABLE_CELL)
    }
}

/* Whether the run's network is no better than predicting the mean or the most frequent class. */
static int is_no_better(const sph_run *run)
{
    return json_is_true(json_object_get(run->result, "no_better_than_baseline"));
}

static const char no_better[] =
    "The network is not better than the baseline, so the importances are not meaningful.";

static int print(const struct importances *found, const sph_run *run, const char *dir, int json,
                 const sph_sink *sink)
{
    const char *word = sph_word(SPH_WORDS_METRIC, (int)found->metric)->word;
    struct table table = {0};
    fill(&table, found, found->count);
    table_line(&table.title, "%s: how much worse %s gets when a column is shuffled", dir, word);
    table_line(&table.notes, "%s %.5g on %zu rows; each column shuffled %zu times", word, found->score,
               found->rows, found->repeats);
    if (is_no_better(run))
        table_line(&table.notes, "%s", no_better);
    int err;
    if (json)
        err = show_json(json_pack("{s:s, s:I, s:s, s:f, s:I, s:o}", "run", dir, "rows",
                                  (json_int_t)found->rows, "metric", word, "score", found->score, "repeats",
                                  (json_int_t)found->repeats, "columns", table_to_json(&table)),
                        sink);
    else
        err = show_table(&table, 0, sink);
    table_free(&table);
    return err;
}

enum { REPEATS = 10 }; /* the same on the page, so that the numbers agree */

int sph_importance(const char *dir, const sph_importance_opts *opts, int json, const sph_sink *sink)
{
    struct importances found = {0};
    sph_run *run = NULL;
    int metric = opts->metric ? sph_word_find(SPH_WORDS_METRIC, opts->metric) : -1;
    if (opts->metric && metric < 0) {
        const char *nearest = sph_word_nearest(SPH_WORDS_METRIC, opts->metric);
        return sph_fail_key(SPH_EARG, "metric", "unknown metric '%s'%s%s", opts->metric,
                            nearest ? "; did you mean " : "", nearest ? nearest : "");
    }
    int err = sph_run_open(&run, dir);
    if (!err)
        err = importances_find(&found, run, opts->data, metric, opts->repeats ? opts->repeats : REPEATS,
                               opts->seed, opts->progress ? tell : NULL, &opts);
    if (!err)
        err = print(&found, run, dir, json, sink);
    importances_free(&found);
    sph_run_free(run);
    return err;
}

/* ---------------------------------------------------------------- on the page */

enum { PAGE_COLUMNS = 20, PAGE_COLUMNS_MOST = 1000 };

/* Limit on the number of products, about a second on one processor. Above it, the page names the command instead. */
static const double page_products = 5e9;

static int is_affordable(const sph_run *run)
{
    size_t columns = 0;
    double learned = (double)run->members * (double)sph_net_learned(run->net);
    for (size_t i = 0; i < run->data->column_count; i++)
        columns += run->data->columns[i].role == COLUMN_FEATURE;
    return columns <= PAGE_COLUMNS_MOST &&
           REPEATS * learned * (double)columns * (double)run->split.test_rows <= page_products;
}

static void add_importances(struct report *report, const struct importances *found)
{
    size_t rows = found->count < PAGE_COLUMNS ? found->count : PAGE_COLUMNS;
    char rest[96] = "";
    struct table table = {0};
    fill(&table, found, rows);
    report_take_table(report, &table);
    if (rows < found->count)
        snprintf(rest, sizeof rest, " The %zu most important of %zu columns are shown.", rows, found->count);
    report_note(report,
                "Importance: how much worse the %s of the test rows (%.5g) gets when the cells of the column "
                "are shuffled, mean and standard deviation of %zu shuffles. About 0 means that the network "
                "does not need the column. Columns with the same information share their importance.%s",
                sph_word(SPH_WORDS_METRIC, (int)found->metric)->word, found->score, found->repeats, rest);
}

void page_add_importance(struct report *report, sph_run *run)
{
    if (!run->net || !run->data || data_is_images(run->data) || !run->split.test_rows)
        return;
    int there = run_rows_at_hand(run);
    report_fail(report, there);
    if (there <= 0)
        return;
    report_section(report, "Importance of the columns");
    if (!is_affordable(run)) {
        report_paragraph(report, "It is not computed here because it would take long; run `spherelu "
                                 "importance` with the folder of this page.");
        return;
    }
    struct importances found = {0};
    int err = importances_find(&found, run, NULL, -1, REPEATS, 0, NULL, NULL);
    if (!err && is_no_better(run))
        report_warning(report, "%s", no_better);
    if (!err)
        add_importances(report, &found);
    else if (err != SPH_EMEMORY)
        report_paragraph(report, "%s", sph_error());
    report_fail(report, err == SPH_EMEMORY ? err : 0);
    importances_free(&found);
}
