/* SPDX-License-Identifier: MIT
 *
 * Losses and scores epoch by epoch, mean and standard error over the runs of a method. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/figures.h"

enum { NAMES = 4, EPOCHS_MOST = 600 }; /* in longer trainings every k-th epoch is shown */

/* The drawn columns of metrics.jsonl, if they exist. TRAIN_SCORE exists with train_scores and is then drawn first. */
enum { TRAIN_LOSS, VAL_LOSS, VAL_SCORE, TRAIN_SCORE };

static void choose_names(const char *metric, char names[NAMES][64])
{
    snprintf(names[TRAIN_LOSS], 64, "train_loss");
    snprintf(names[VAL_LOSS], 64, "val_loss");
    snprintf(names[VAL_SCORE], 64, "val_%s", metric);
    snprintf(names[TRAIN_SCORE], 64, "train_%s", metric);
    if (!strcmp(names[VAL_SCORE], names[VAL_LOSS])) /* the same curve */
        *names[VAL_SCORE] = *names[TRAIN_SCORE] = '\0';
}

/* A method at a point, with a curve for each seed. */
struct line {
    char *method, *point;
    size_t count;
};

/* The values of one metrics.jsonl: (epochs, NAMES), NaN if missing. */
struct curve {
    double *value;
    size_t epochs;
};

/* The value at an epoch (from 0), or the last value after the end of the run. */
static double value_at(const struct curve *curve, size_t epoch, size_t k)
{
    if (!curve->epochs)
        return (double)NAN;
    return curve->value[(epoch < curve->epochs ? epoch : curve->epochs - 1) * NAMES + k];
}

/* Writes a block of epoch, mean, error and number of runs. */
static void write_mean(struct figure *figure, const struct curve *curves, size_t count, size_t k)
{
    size_t epochs = 0;
    for (size_t i = 0; i < count; i++)
        epochs = curves[i].epochs > epochs ? curves[i].epochs : epochs;
    size_t every = epochs ? (epochs + EPOCHS_MOST - 1) / EPOCHS_MOST : 1;
    for (size_t e = 0; e < epochs; e++) {
        double sum = 0, squares = 0;
        size_t n = 0, running = 0;
        if (e && e + 1 < epochs && e % every)
            continue;
        for (size_t i = 0; i < count; i++) {
            double value = value_at(&curves[i], e, k);
            running += e < curves[i].epochs;
            if (!isnan(value)) {
                sum += value;
                n++;
            }
        }
        double mean = n ? sum / (double)n : (double)NAN;
        for (size_t i = 0; i < count; i++) {
            double off = value_at(&curves[i], e, k) - mean;
            squares += isnan(off) ? 0 : off * off;
        }
        double error = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : 0;
        figure_row(figure, (double[]){(double)e + 1, mean, error, (double)n, (double)running}, 5);
    }
    figure_gap(figure, 2);
}

static int has(const struct curve *curves, size_t count, size_t k)
{
    for (size_t i = 0; i < count; i++)
        for (size_t e = 0; e < curves[i].epochs; e++)
            if (!isnan(curves[i].value[e * NAMES + k]))
                return 1;
    return 0;
}

/* 1 if a log axis would have more than one tic. */
static int spans_decades(const struct curve *curves, size_t count, size_t k)
{
    double least = (double)INFINITY, most = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t e = 0; e < curves[i].epochs; e++) {
            double value = curves[i].value[e * NAMES + k];
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
    return least > 0 && most > 50 * least;
}

/* One panel for each existing column and each row of lines. */
static void write_all(struct figure *figure, const struct line *lines, size_t rows, size_t columns,
                      char names[NAMES][64], const struct curve *curves, size_t total)
{
    static const char *const axes[] = {"training loss", "validation loss", "validation ", "training "};
    static const size_t usual[] = {TRAIN_LOSS, VAL_LOSS, VAL_SCORE, TRAIN_SCORE},
                        scores_first[] = {TRAIN_SCORE, VAL_SCORE, TRAIN_LOSS, VAL_LOSS};
    const size_t *order = has(curves, total, TRAIN_SCORE) ? scores_first : usual;
    size_t shown = 0, epochs = 1;
    for (size_t i = 0; i < total; i++)
        epochs = curves[i].epochs > epochs ? curves[i].epochs : epochs;
    figure_number(figure, "x_most", (double)epochs);
    for (size_t i = 0; i < NAMES; i++) {
        size_t k = order[i];
        if (!has(curves, total, k))
            continue;
        panels_text(figure, "name", shown, "%s%s", axes[k],
                    k == VAL_SCORE     ? names[k] + strlen("val_")
                    : k == TRAIN_SCORE ? names[k] + strlen("train_")
                                       : "");
        panels_number(figure, "log", shown, spans_decades(curves, total, k));
        const struct curve *at = curves;
        for (size_t row = 0; row < rows; row++) {
            char tail[16];
            snprintf(tail, sizeof tail, "_%zu", shown);
            panels_columns(figure, row, tail, "epoch, mean, standard error, runs, runs that still trained");
            for (size_t column = 0; column < columns; column++) {
                size_t runs = lines[row * columns + column].count;
                write_mean(figure, at, runs, k);
                at += runs;
            }
        }
        shown++;
    }
    figure_number(figure, "shown_names", (double)shown);
}

/* The lines of the experiment or of the single run, and their curves in the same order. */
static int read_lines(struct panels *panels, struct line *lines, char names[NAMES][64], struct curve *curves,
                      size_t *total)
{
    const struct sph_experiment *e = panels->e;
    int chosen = e && e->grid.count && !e->table.all_points; /* seeds can have different points */
    int err = 0;
    for (size_t i = 0; i < panels_count(panels) && !err; i++) {
        struct line *line = &lines[i];
        const struct panel *panel;
        if ((err = panels_open(panels, i, &panel)) < 0)
            return err;
        choose_names(panel->metric, names);
        line->method = mem_text(panel->method);
        line->point = mem_text(chosen ? "" : panel->point);
        if (!line->method || !line->point)
            return SPH_EMEMORY;
        for (size_t s = 0; s < (e ? e->seed_count : 1) && !err; s++) {
            char *folder =
                e ? results_folder(panels->results, results_final(panels->results, i % panels->columns,
                                                                  i / panels->columns, s))
                  : mem_text(panels->dir);
            struct curve *curve = &curves[*total + line->count];
            const char *const wanted[NAMES] = {names[0], names[1], names[2], names[3]};
            int there =
                folder ? run_read_metrics(folder, wanted, NAMES, &curve->value, &curve->epochs) : SPH_EMEMORY;
            line->count += there != 0; /* fill frees the curve also after a failure */
            err = there < 0 ? there : 0;
            mem_free(folder);
        }
        *total += line->count;
    }
    return err;
}

static void write_heads(struct figure *figure, const struct line *lines, size_t rows, size_t columns)
{
    panels_head(figure, rows, columns);
    for (size_t column = 0; column < columns; column++)
        panels_method(figure, column, lines[column].method, rows == 1 ? lines[column].point : "");
    for (size_t row = 0; row < rows; row++)
        panels_text(figure, "title", row, "%s", rows > 1 ? lines[row * columns].point : "");
}

static int fill(struct figure *figure, struct panels *panels)
{
    size_t count = panels_count(panels), total = 0, room = count * (panels->e ? panels->e->seed_count : 1);
    char names[NAMES][64];
    struct line *lines = mem_get(count, sizeof *lines);
    struct curve *curves = mem_get(room, sizeof *curves);
    int err = lines && curves ? read_lines(panels, lines, names, curves, &total) : SPH_EMEMORY;
    if (!err) {
        write_heads(figure, lines, panels->rows, panels->columns);
        write_all(figure, lines, panels->rows, panels->columns, names, curves, total);
    }
    for (size_t i = 0; lines && i < count; i++) {
        mem_free(lines[i].method);
        mem_free(lines[i].point);
    }
    for (size_t i = 0; curves && i < room; i++)
        mem_free(curves[i].value);
    mem_free(lines);
    mem_free(curves);
    return err;
}

const struct figure_kind figure_convergence = {
    .needs = FIGURE_METRICS,
    .fill = fill,
    .caption = "Losses and scores by epoch: mean and standard error over the seeds; scores of the training "
               "set with train_scores.",
    .caption_of_one = "Losses and scores by epoch; scores of the training set with train_scores.",
};
