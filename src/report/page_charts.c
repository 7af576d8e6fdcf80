/* SPDX-License-Identifier: MIT
 *
 * The charts of a run's page: losses by epoch, and of single rows predictions against targets and probabilities against how often
 * they come true. */
#include <math.h>

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

/* Some epochs of the longest curve down, the last among them, and the curves across. */
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

static int add_curves_chart(struct report *report, const struct chart_series *series, size_t count,
                            size_t best, const char *caption)
{
    struct table table = {0};
    fill_curves(&table, series, count);
    return report_chart(report, &(struct chart){.caption = caption,
                                                .x_name = "epoch",
                                                .y_name = "loss",
                                                .series = series,
                                                .count = count,
                                                .log_y = 1,
                                                .mark = best ? (double)best : (double)NAN,
                                                .marked = "the epoch that is kept",
                                                .table = &table});
}

/* series <- the points of one curve, in memory of its own behind x: those where both are numbers. */
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

int page_add_curves(struct report *report, const char *const *dirs, const char *const *names,
                    const char *const *labels, size_t count, size_t best, const char *caption)
{
    struct chart_series *series = mem_get(count, sizeof *series);
    size_t drawn = 0;
    int err = series ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        err = read_curve(&series[drawn], dirs[i], names[i], labels[i]);
        if (!err && series[drawn].count)
            drawn++;
        else
            mem_free((void *)series[drawn].x);
    }
    if (!err && drawn)
        err = add_curves_chart(report, series, drawn, best, caption);
    else if (!err)
        report_paragraph(report, "No epoch is finished yet.");
    for (size_t i = 0; i < drawn; i++)
        mem_free((void *)series[i].x);
    mem_free(series);
    return err;
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

static int add_targets(struct report *report, const struct run_rows *rows)
{
    double *x = mem_get(2 * rows->count, sizeof *x), *y = x ? x + rows->count : NULL;
    int err = x ? 0 : SPH_EMEMORY;
    for (size_t t = 0; t < rows->targets && !err; t++) {
        struct table table = {0};
        struct text caption = {0};
        for (size_t i = 0; i < rows->count; i++) {
            x[i] = rows->y[i * rows->targets + t];
            y[i] = rows->p[i * rows->outputs + t];
        }
        fill_target(&table, rows, t);
        text_add(&caption, "Predictions of %s against its true values, test rows.",
                 data_target_name(rows->data, t));
        err =
            report_chart(report, &(struct chart){.caption = caption.failed ? "" : caption.chars,
                                                 .x_name = "target",
                                                 .y_name = "prediction",
                                                 .series = &(struct chart_series){NULL, x, y, rows->count, 1},
                                                 .count = 1,
                                                 .diagonal = 1,
                                                 .mark = (double)NAN,
                                                 .table = &table});
        err = err ? err : caption.failed ? SPH_EMEMORY : 0;
        text_free(&caption);
    }
    mem_free(x);
    return err;
}

/* ---------------------------------------------------------------- classes */

/* The class that the net speaks for. */
static size_t class_given(const struct run_rows *rows, size_t i)
{
    size_t best = 0;
    for (size_t c = 1; c < rows->data->classes; c++)
        best = run_rows_probability(rows, i, c) > run_rows_probability(rows, i, best) ? c : best;
    return best;
}

enum { BINS = 10 };

static void fill_calibration(struct table *table, const double *sure, const double *right,
                             const double *count)
{
    size_t row = 0, rows = 0;
    for (size_t b = 0; b < BINS; b++)
        rows += count[b] > 0;
    table_column(table, (struct table_column){.head = "mean probability", .number = 1, .digits = 4});
    table_column(table, (struct table_column){.head = "observed frequency", .number = 1, .digits = 4});
    table_column(table, (struct table_column){.head = "rows", .number = 1});
    table_rows(table, rows);
    for (size_t b = 0; b < BINS; b++)
        if (count[b] > 0) {
            table_number(table, row, 0, sure[b]);
            table_number(table, row, 1, right[b]);
            table_count(table, row++, 2, (size_t)count[b]);
        }
}

/* In tenths of probability: how sure the net was of a class on average, and how often it was right. Of several classes
 * the one it speaks for. */
static int add_calibration(struct report *report, const struct run_rows *rows)
{
    double sure[BINS] = {0}, right[BINS] = {0}, count[BINS] = {0}, gap = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t best = rows->outputs > 1 ? class_given(rows, i) : 1;
        double p = run_rows_probability(rows, i, best);
        size_t bin = (size_t)fmin(BINS - 1, floor(p * BINS));
        sure[bin] += p;
        right[bin] += (size_t)rows->y[i] == best;
        count[bin]++;
    }
    for (size_t b = 0; b < BINS; b++) {
        gap += fabs(sure[b] - right[b]) / (double)rows->count;
        sure[b] = count[b] > 0 ? sure[b] / count[b] : (double)NAN;
        right[b] = count[b] > 0 ? right[b] / count[b] : (double)NAN;
    }
    struct table table = {0};
    struct text caption = {0};
    fill_calibration(&table, sure, right, count);
    text_add(&caption,
             "Calibration on the test rows: %s. Points on the line are perfectly calibrated; the mean "
             "distance from the line (expected calibration error) is ",
             rows->outputs > 1 ? "the probability of the predicted class"
                               : "the probability of the second class");
    text_add_general(&caption, 3, gap);
    text_add(&caption, ".");
    int err =
        report_chart(report, &(struct chart){.caption = caption.failed ? "" : caption.chars,
                                             .x_name = "mean probability in each tenth",
                                             .y_name = "observed frequency",
                                             .series = &(struct chart_series){NULL, sure, right, BINS, 1},
                                             .count = 1,
                                             .diagonal = 1,
                                             .mark = (double)NAN,
                                             .table = &table});
    err = err ? err : caption.failed ? SPH_EMEMORY : 0;
    text_free(&caption);
    return err;
}

enum { MATRIX_MOST = 20, PAIRS_MOST = 20 };

/* Of many classes what is taken for what most often, of equals the first; matrix loses what is told. */
static void fill_pairs(struct table *table, size_t *matrix, size_t classes, char *const *labels)
{
    table_column(table, (struct table_column){.head = "true class"});
    table_column(table, (struct table_column){.head = "predicted class"});
    table_column(table, (struct table_column){.head = "rows", .number = 1});
    table_rows(table, PAIRS_MOST);
    for (size_t c = 0; c < classes; c++)
        matrix[c * classes + c] = 0;
    for (size_t row = 0; row < PAIRS_MOST; row++) {
        size_t best = 0;
        for (size_t i = 1; i < classes * classes; i++)
            best = matrix[i] > matrix[best] ? i : best;
        if (!matrix[best])
            return;
        table_words(table, row, 0, labels[best / classes]);
        table_words(table, row, 1, labels[best % classes]);
        table_count(table, row, 2, matrix[best]);
        matrix[best] = 0;
    }
}

static void fill_matrix(struct table *table, const size_t *matrix, size_t classes, char *const *labels)
{
    table_column(table, (struct table_column){.head = "true class"});
    for (size_t c = 0; c < classes; c++)
        table_made_column(table, (struct table_column){.number = 1}, "%s", labels[c]);
    table_rows(table, classes);
    for (size_t c = 0; c < classes; c++) {
        table_words(table, c, 0, labels[c]);
        for (size_t k = 0; k < classes; k++)
            table_count(table, c, k + 1, matrix[c * classes + k]);
    }
}

static int add_matrix(struct report *report, size_t *matrix, size_t classes, char *const *labels)
{
    struct table table = {0};
    int many = classes > MATRIX_MOST;
    if (many)
        fill_pairs(&table, matrix, classes, labels);
    else
        fill_matrix(&table, matrix, classes, labels);
    report_paragraph(report, many ? "The most frequent confusions on the test rows."
                                  : "Confusion matrix of the test rows: one row for each true class, one "
                                    "column for each predicted class.");
    int err = report_table(report, &table);
    table_free(&table);
    return err;
}

/* The rows are scored once more: that costs little beside a training. */
static int add_confusion(struct report *report, sph_run *run)
{
    sph_confusion confusion;
    int err = sph_run_confusion(run, NULL, &confusion);
    if (!err) {
        report_section(report, ROWS_HEADING);
        err = add_matrix(report, confusion.count, confusion.classes, confusion.label);
    } else if (err != SPH_EMEMORY)
        err = 0; /* no test part, or data that are gone */
    sph_confusion_free(&confusion);
    return err;
}

/* Rows of the test part, where there are any and the data are what they were. */
static int open_rows(struct run_rows *rows, sph_run *run)
{
    int err = run_rows_open(rows, run, NULL);
    return err == SPH_EFORMAT || err == SPH_EARG ? 0 : err;
}

static int add_rows(struct report *report, sph_run *run, const struct run_rows *rows)
{
    if (rows->data->task == SPH_TASK_REGRESSION) {
        report_section(report, ROWS_HEADING);
        return add_targets(report, rows);
    }
    int err = add_confusion(report, run);
    return err ? err : add_calibration(report, rows);
}

int page_add_rows(struct report *report, sph_run *run)
{
    struct run_rows rows = {0};
    int err = run_open_model(run);
    if (err == SPH_EFORMAT || (!err && !run->schema))
        return 0; /* diverged: it left no model */
    int there = err ? 0 : run_rows_at_hand(run);
    if (!err)
        err = there < 0 ? there : there ? open_rows(&rows, run) : 0;
    if (!err && rows.p && rows.count)
        err = add_rows(report, run, &rows);
    else if (!err && json_object_get(run->schema, "images"))
        err = add_confusion(report, run);
    run_rows_free(&rows);
    return err;
}
