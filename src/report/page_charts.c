/* SPDX-License-Identifier: MIT
 *
 * Charts of a run's page: losses by epoch, predictions against targets, and calibration. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/statistics.h"
#include "file/json.h"
#include "job/run_rows.h"
#include "report/pages.h"
#include "store/runfolder.h"

#define ROWS_HEADING "Predictions"

/* ---------------------------------------------------------------- curves */

enum { EPOCHS_LISTED = 20 };

/* Some epochs of the longest curve, including the last: one row for each epoch, one column for each curve. */
static void fill_curves(struct table *table, const struct chart_series *series, size_t count)
{
    size_t longest = 0;
    for (size_t i = 1; i < count; i++)
        longest = series[i].count > series[longest].count ? i : longest;
    size_t epochs = series[longest].count, rows = epochs < EPOCHS_LISTED ? epochs : EPOCHS_LISTED;
    table_column(table, (struct table_column){.head = "epoch"});
    for (size_t i = 0; i < count; i++)
        table_made_column(table, (struct table_column){.number = 1, .digits = 5}, "%s", series[i].name);
    table_rows(table, rows);
    for (size_t row = 0; row < rows; row++) {
        double epoch = series[longest].x[(row + 1) * epochs / rows - 1];
        table_count(table, row, 0, (size_t)epoch);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < series[i].count; k++)
                if (same_number(series[i].x[k], epoch))
                    table_number(table, row, i + 1, series[i].y[k]);
    }
}

/* series <- the points of one curve where both coordinates are numbers. x owns the memory of both. */
static int read_curve(struct chart_series *series, const char *dir, const char *name, const char *label)
{
    double *values = NULL;
    size_t rows = 0, count = 0;
    int there = run_read_metrics(dir, (const char *[]){"epoch", name}, 2, &values, &rows);
    double *x = there < 0 ? NULL : mem_get(2 * rows, sizeof *x);
    for (size_t i = 0; i < rows && x; i++)
        if (!isnan(values[2 * i]) && !isnan(values[2 * i + 1])) {
            x[count] = values[2 * i];
            x[rows + count++] = values[2 * i + 1];
        }
    mem_free(values);
    *series = (struct chart_series){.name = label, .x = x, .y = x ? x + rows : NULL, .count = count};
    return there < 0 ? there : x ? 0 : SPH_EMEMORY;
}

void page_add_curves(struct report *report, const char *const *dirs, const char *const *names,
                     const char *const *labels, size_t count, size_t best, const char *caption)
{
    struct chart_series *series = mem_get(count, sizeof *series);
    struct table table = {0};
    size_t drawn = 0;
    int err = series ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        err = read_curve(&series[drawn], dirs[i], names[i], labels[i]);
        if (!err && series[drawn].count)
            drawn++;
        else
            mem_free((void *)series[drawn].x);
    }
    if (!err && drawn) {
        fill_curves(&table, series, drawn);
        report_chart(report, &(struct chart){.caption = caption,
                                             .x_name = "epoch",
                                             .y_name = "loss",
                                             .series = series,
                                             .count = drawn,
                                             .log_y = 1,
                                             .mark = best ? (double)best : (double)NAN,
                                             .marked = "the epoch that is kept",
                                             .table = &table});
    } else if (!err) {
        report_paragraph(report, "No epoch is finished yet.");
    }
    report_fail(report, err);
    for (size_t i = 0; i < drawn; i++)
        mem_free((void *)series[i].x);
    mem_free(series);
}

/* Points around the line y = x, with their numbers as a table. Frees the caption and the table. */
static void add_points(struct report *report, struct text *caption, const char *x_name, const char *y_name,
                       const struct chart_series *points, struct table *table)
{
    report_fail(report, caption->failed ? SPH_EMEMORY : 0);
    report_chart(report, &(struct chart){.caption = caption->failed ? "" : caption->chars,
                                         .x_name = x_name,
                                         .y_name = y_name,
                                         .series = points,
                                         .count = 1,
                                         .diagonal = 1,
                                         .mark = (double)NAN,
                                         .table = table});
    text_free(caption);
}

/* ---------------------------------------------------------------- regression: predictions against targets */

static void fill_target(struct table *table, const struct run_rows *rows, size_t t)
{
    static const char *const heads[] = {"rmse", "mae", "mean error", "correlation"};
    double squares = 0, sizes = 0, sum = 0, ty = 0, tp = 0, yy = 0, pp = 0, yp = 0, n = (double)rows->count;
    table_column(table, (struct table_column){.head = "target"});
    for (size_t c = 0; c < 4; c++)
        table_column(table, (struct table_column){.head = heads[c], .number = 1, .digits = 5});
    table_rows(table, 1);
    for (size_t i = 0; i < rows->count; i++) {
        ty += rows->y[i * rows->targets + t] / n;
        tp += rows->p[i * rows->outputs + t] / n;
    }
    for (size_t i = 0; i < rows->count; i++) {
        double y = rows->y[i * rows->targets + t], p = rows->p[i * rows->outputs + t];
        squares += (p - y) * (p - y);
        sizes += fabs(p - y);
        sum += p - y;
        yy += (y - ty) * (y - ty);
        pp += (p - tp) * (p - tp);
        yp += (y - ty) * (p - tp);
    }
    table_words(table, 0, 0, data_target_name(rows->data, t));
    table_number(table, 0, 1, sqrt(squares / n));
    table_number(table, 0, 2, sizes / n);
    table_number(table, 0, 3, sum / n);
    table_number(table, 0, 4, yp / sqrt(yy * pp));
}

static void add_targets(struct report *report, const struct run_rows *rows)
{
    double *x = mem_get(2 * rows->count, sizeof *x), *y = x ? x + rows->count : NULL;
    report_fail(report, x ? 0 : SPH_EMEMORY);
    for (size_t t = 0; t < rows->targets && x; t++) {
        struct table table = {0};
        struct text caption = {0};
        for (size_t i = 0; i < rows->count; i++) {
            x[i] = rows->y[i * rows->targets + t];
            y[i] = rows->p[i * rows->outputs + t];
        }
        fill_target(&table, rows, t);
        text_add(&caption, "Predictions of %s against its true values, test rows.",
                 data_target_name(rows->data, t));
        add_points(report, &caption, "target", "prediction",
                   &(struct chart_series){NULL, x, y, rows->count, 1}, &table);
    }
    mem_free(x);
}

/* ---------------------------------------------------------------- classes */

/* The predicted class. */
static size_t class_given(const struct run_rows *rows, size_t i)
{
    size_t best = 0;
    for (size_t c = 1; c < rows->data->classes; c++)
        best = run_rows_probability(rows, i, c) > run_rows_probability(rows, i, best) ? c : best;
    return best;
}

enum { GROUPS = 10, GROUP_LEAST = 10 /* rows */ };

/* A row's probability, and whether it was right: 0 or 1, or the mean of rows with the same probability. */
struct sure {
    double p, right;
};

static int by_probability(const void *a, const void *b)
{
    const struct sure *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

/* A group may end between rows with the same probability. Their mean makes the result independent of their order. */
static void average_equal(struct sure *sorted, size_t count)
{
    for (size_t from = 0, to; from < count; from = to) {
        double sum = sorted[from].right;
        for (to = from + 1; to < count && same_number(sorted[to].p, sorted[from].p); to++)
            sum += sorted[to].right;
        for (size_t i = from; i < to; i++)
            sorted[i].right = sum / (double)(to - from);
    }
}

/* Groups of rows in the order of their probability, all of the same size up to one row. */
struct calibration {
    size_t groups, rows[GROUPS];
    double sure[GROUPS], right[GROUPS], gap; /* gap: mean distance of the two, weighted by rows */
};

static void calibrate(struct calibration *out, const struct sure *list, size_t count)
{
    size_t groups = count / GROUP_LEAST;
    *out = (struct calibration){.groups = groups < 1 ? 1 : groups > GROUPS ? GROUPS : groups};
    for (size_t g = 0; g < out->groups; g++) {
        size_t from = g * count / out->groups, to = (g + 1) * count / out->groups;
        double n = (double)(out->rows[g] = to - from);
        for (size_t i = from; i < to; i++) {
            out->sure[g] += list[i].p / n;
            out->right[g] += list[i].right / n;
        }
        out->gap += fabs(out->sure[g] - out->right[g]) * n / (double)count;
    }
}

static void fill_calibration(struct table *table, const struct calibration *c)
{
    table_column(table, (struct table_column){.head = "mean probability", .number = 1, .digits = 4});
    table_column(table, (struct table_column){.head = "observed frequency", .number = 1, .digits = 4});
    table_column(table, (struct table_column){.head = "rows", .number = 1});
    table_rows(table, c->groups);
    for (size_t g = 0; g < c->groups; g++) {
        table_number(table, g, 0, c->sure[g]);
        table_number(table, g, 1, c->right[g]);
        table_count(table, g, 2, c->rows[g]);
    }
}

/* Of the second of two classes, or of the predicted class of several. */
static void add_calibration(struct report *report, const struct run_rows *rows, const char *second)
{
    struct sure *list = mem_get(rows->count, sizeof *list);
    struct calibration found;
    struct table table = {0};
    struct text caption = {0};
    int several = rows->outputs > 1;
    if (!list) {
        report_fail(report, SPH_EMEMORY);
        return;
    }
    for (size_t i = 0; i < rows->count; i++) {
        size_t class = several ? class_given(rows, i) : 1;
        list[i] = (struct sure){run_rows_probability(rows, i, class), (double)((size_t)rows->y[i] == class)};
    }
    qsort(list, rows->count, sizeof *list, by_probability);
    average_equal(list, rows->count);
    calibrate(&found, list, rows->count);
    mem_free(list);
    fill_calibration(&table, &found);
    text_add(&caption, "Calibration: can the probability of %s%.60s%s be trusted? ",
             several ? "the predicted class" : "'", several ? "" : second, several ? "" : "'");
    text_add(&caption,
             "The test rows, in the order of that probability, are divided into %zu group%s of about %zu "
             "rows. Each "
             "point shows the mean probability of a group and the share of its rows that %s. Points on "
             "the line mean that the probabilities are right; the mean distance from it is ",
             found.groups, found.groups == 1 ? "" : "s", rows->count / found.groups,
             several ? "have that class" : "are of the class");
    text_add_general(&caption, 2, found.gap);
    text_add(&caption, ".");
    add_points(report, &caption, "mean probability of a group", "observed frequency",
               &(struct chart_series){NULL, found.sure, found.right, found.groups, 1}, &table);
}

/* The rows are scored again, which takes little time compared with training. Without a test part, or if the data have moved, the
 * page has no matrix. */
static void add_confusion(struct report *report, sph_run *run)
{
    sph_confusion confusion;
    struct table table = {0};
    int err = sph_run_confusion(run, NULL, &confusion);
    if (!err) {
        report_section(report, ROWS_HEADING);
        int pairs = confusion_table(&table, &confusion);
        report_paragraph(report, pairs
                                     ? "The most frequent confusions on the test rows."
                                     : "Confusion matrix of the test rows: one row for each true class, one "
                                       "column for each predicted class.");
        report_take_table(report, &table);
    }
    report_fail(report, err == SPH_EMEMORY ? err : 0);
    sph_confusion_free(&confusion);
}

/* Test rows, if there are any and the data have not changed. */
static int open_rows(struct run_rows *rows, sph_run *run)
{
    int err = run_rows_open(rows, run, NULL);
    return err == SPH_EFORMAT || err == SPH_EARG ? 0 : err;
}

void page_add_rows(struct report *report, sph_run *run)
{
    struct run_rows rows = {0};
    int err = run_open_model(run);
    if (err == SPH_EFORMAT || (!err && !run->schema))
        return; /* a diverged run has no model */
    if (!err && (err = run_rows_at_hand(run)) > 0)
        err = open_rows(&rows, run);
    if (!err && rows.p && rows.count && rows.data->task == SPH_TASK_REGRESSION) {
        report_section(report, ROWS_HEADING);
        add_targets(report, &rows);
    } else if (!err && rows.p && rows.count) {
        add_confusion(report, run);
        add_calibration(report, &rows, rows.data->labels ? rows.data->labels[1] : "");
    } else if (!err && json_object_get(run->schema, "images")) {
        add_confusion(report, run);
    }
    report_fail(report, err);
    run_rows_free(&rows);
}
