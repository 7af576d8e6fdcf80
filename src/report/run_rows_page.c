/* SPDX-License-Identifier: MIT
 *
 * What a run's page shows of single rows: predictions against targets, probabilities against how often they come true. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "job/run_rows.h"
#include "job/tool.h"
#include "report/pages.h"
#include "report/sketch.h"

static void add_residuals(struct report *report, const struct run_rows *rows, double *x, double *y)
{
    for (size_t t = 0; t < rows->targets; t++) {
        const char *name = data_target_name(rows->data, t);
        struct text svg = {0}, title = {0};
        for (size_t i = 0; i < rows->count; i++) {
            x[i] = rows->y[i * rows->targets + t];
            y[i] = rows->p[i * rows->outputs + t];
        }
        text_add(&title, "Predictions of %s against what it is, test rows", name);
        struct sketch_series series = {.x = x, .y = y, .count = rows->count, .dots = 1};
        struct sketch sketch = {.title = title.chars ? title.chars : "",
                                .x_name = "target",
                                .y_name = "prediction",
                                .series = &series,
                                .count = 1,
                                .diagonal = 1,
                                .mark = (double)NAN};
        sketch_draw(&svg, &sketch);
        report_sketch(report, svg.failed || title.failed ? NULL : svg.chars, title.chars);
        text_free(&svg);
        text_free(&title);
    }
}

static int add_targets(struct report *report, const struct run_rows *rows)
{
    struct table table = {0};
    static const char *const heads[] = {"rmse", "mae", "mean error", "correlation"};
    table_column(&table, (struct table_column){.head = "target"});
    for (size_t c = 0; c < 4; c++)
        table_column(&table, (struct table_column){.head = heads[c], .number = 1, .digits = 5});
    table_rows(&table, rows->targets);
    for (size_t t = 0; t < rows->targets; t++) {
        double squares = 0, sizes = 0, sum = 0, ty = 0, tp = 0, yy = 0, pp = 0, yp = 0,
               n = (double)rows->count;
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
        table_words(&table, t, 0, data_target_name(rows->data, t));
        table_number(&table, t, 1, sqrt(squares / n));
        table_number(&table, t, 2, sizes / n);
        table_number(&table, t, 3, sum / n);
        table_number(&table, t, 4, yp / sqrt(yy * pp));
    }
    int err = report_table(report, &table);
    table_free(&table);
    return err;
}

/* The class that the net speaks for. */
static size_t class_given(const struct run_rows *rows, size_t i)
{
    size_t best = 0;
    for (size_t c = 1; c < rows->data->classes; c++)
        best = run_rows_probability(rows, i, c) > run_rows_probability(rows, i, best) ? c : best;
    return best;
}

enum { BINS = 10 };

/* In tenths of probability: how sure the net was of a class on average, and how often it was right. Of several classes
 * the one it speaks for. */
static void add_calibration(struct report *report, const struct run_rows *rows)
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
    struct text svg = {0}, caption = {0};
    struct sketch_series series[] = {{.x = sure, .y = right, .count = BINS, .dots = 1}};
    sketch_draw(&svg, &(struct sketch){.title = "Calibration of the test rows",
                                       .x_name = "probability, mean of each tenth",
                                       .y_name = "share that is so",
                                       .series = series,
                                       .count = 1,
                                       .diagonal = 1,
                                       .mark = (double)NAN});
    text_add(
        &caption,
        "Calibration, test rows: %s. On the line, probabilities come true as often as they say; the mean "
        "distance (expected calibration error) is ",
        rows->outputs > 1 ? "of the class that the net speaks for" : "of the second class");
    text_add_general(&caption, 3, gap);
    text_add(&caption, ".");
    report_sketch(report, svg.failed || caption.failed ? NULL : svg.chars, caption.chars);
    text_free(&svg);
    text_free(&caption);
}

enum { MATRIX_MOST = 20, PAIRS_MOST = 20 };

/* Of many classes what is taken for what most often, of equals the first; matrix loses what is told. */
static void fill_pairs(struct table *table, size_t *matrix, size_t classes, char *const *labels)
{
    table_column(table, (struct table_column){.head = "true class"});
    table_column(table, (struct table_column){.head = "class given"});
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
    report_paragraph(report, many ? "Classes that were taken for another most often, test rows."
                                  : "Confusion matrix, test rows: a line for each true class, a column for "
                                    "each class that the net gives.");
    int err = report_table(report, &table);
    table_free(&table);
    return err;
}

static int add_confusion(struct report *report, const struct run_rows *rows)
{
    size_t classes = rows->data->classes, *matrix = mem_get(classes * classes, sizeof *matrix);
    if (!matrix)
        return SPH_EMEMORY;
    for (size_t i = 0; i < rows->count; i++)
        matrix[(size_t)rows->y[i] * classes + class_given(rows, i)]++;
    int err = add_matrix(report, matrix, classes, rows->data->labels);
    mem_free(matrix);
    return err;
}

/* Images are scored once more: that costs little beside a training. */
static int add_confusion_of_images(struct report *report, sph_run *run)
{
    sph_confusion confusion;
    int err = sph_run_confusion(run, NULL, &confusion);
    if (!err) {
        report_section(report, "Row by row");
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

static int add_rows(struct report *report, const struct run_rows *rows)
{
    double *x = mem_get(rows->count, sizeof *x), *y = mem_get(rows->count, sizeof *y);
    int err = x && y ? 0 : SPH_EMEMORY;
    report_section(report, "Row by row");
    if (!err && rows->data->task != SPH_TASK_REGRESSION) {
        err = add_confusion(report, rows);
        add_calibration(report, rows);
    } else if (!err) {
        if (rows->targets > 1)
            err = add_targets(report, rows);
        add_residuals(report, rows, x, y);
    }
    mem_free(x);
    mem_free(y);
    return err;
}

int page_add_rows(struct report *report, const char *dir)
{
    sph_run *run = NULL;
    struct run_rows rows = {0};
    int err = sph_run_open(&run, dir), there = err ? 0 : run_rows_at_hand(run);
    if (err == SPH_EFORMAT)
        err = 0; /* diverged: it left no model */
    if (!err)
        err = there < 0 ? there : there ? open_rows(&rows, run) : 0;
    if (!err && rows.p && rows.count)
        err = add_rows(report, &rows);
    else if (!err && run && json_object_get(run->schema, "images"))
        err = add_confusion_of_images(report, run);
    run_rows_free(&rows);
    sph_run_free(run);
    return err;
}
