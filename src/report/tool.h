/* SPDX-License-Identifier: MIT
 *
 * For the command-line tool: tables, figures and pages. Not installed, and not part of the API. */
#ifndef SPH_REPORT_TOOL_H
#define SPH_REPORT_TOOL_H

#include "boundary/tool.h"
#include "job/tool.h"
#include "spherelu/compare.h"

/* ---------------------------------------------------------------- figures */

typedef struct sph_figures_opts {
    const char *const *names; /* (count) names of figures */
    size_t count;             /* 0: the figures of the experiment's file, or all that a run allows */
    const uint64_t *seed;     /* of the shown trainings; NULL: the median seed */
} sph_figures_opts;

/* Draws figures of a finished experiment or a run into dir/figures, each as data files, a gnuplot script, PNG, SVG and PDF, then writes
 * dir/report.html again. opts NULL: all 0. progress: gets the path of each figure without its ending, or NULL. A figure that cannot be
 * drawn does not stop the others. Returns 1 if gnuplot is missing (data and scripts are written); 2 if some figures that were not named
 * could not be drawn; sph_error() has the reasons. A named figure that cannot be drawn is a failure. */
int sph_figures(const char *dir, const sph_figures_opts *opts, void *self, sph_progress_call *progress);

/* out <- the path of gnuplot, the only program that the library starts, searched in the absolute folders of PATH; NULL: not found. */
const char *sph_gnuplot(char *out, size_t size);

/* The i-th figure and its description; NULL past the last. */
const sph_word_row *sph_figure_word(size_t i);

/* Writes regions.json and the picture regions.png, .svg, .pdf into dir. 1: the picture was not drawn; sph_error() says why. */
int sph_regions_save(const sph_regions *regions, const char *dir);

/* ---------------------------------------------------------------- show and list */

/* Prints the contents of path as text, or with json as one object on one line. For a run folder: options, scores, network and the command
 * that repeats it. For an experiment: its table. For a model file: its network. */
int sph_show(const char *path, int json, const sph_sink *sink);

/* Prints how the first `most` columns of a run's table are used; nothing for images. */
int sph_run_columns(const sph_run *run, size_t most, const sph_sink *sink);

/* Prints one row for each run and experiment in and below dir; with json, a list of objects on one line. The jobs of an experiment are
 * listed only if dir is its folder `jobs`. The row of a folder that cannot be read says why. */
int sph_list(const char *dir, int json, const sph_sink *sink);

/* ---------------------------------------------------------------- report, importance, comparison */

/* Writes report.html of the run. */
int sph_run_page(sph_run *run);

typedef struct sph_importance_opts {
    const char *data;   /* file or name; NULL: the test part of the run */
    const char *metric; /* NULL: the main metric of the task */
    size_t repeats;     /* number of shuffles of each column; 0: 10 */
    uint64_t seed;
    void *self;
    sph_progress_call *progress; /* or NULL; if it asks to stop, 1 is returned */
} sph_importance_opts;

/* Prints the permutation importance of each column of a run's table: mean and standard deviation of the increase of the error when the
 * column is shuffled, in descending order. */
int sph_importance(const char *dir, const sph_importance_opts *opts, int json, const sph_sink *sink);

/* Prints the scores of `count` (2 or more) runs. Runs with the same test rows are compared with the first one: difference of the scores,
 * its standard error, and the number of rows on which each is better. page: an HTML file with table and curves, or NULL. */
int sph_compare(const char *const *dirs, size_t count, const char *page, int json, const sph_sink *sink);

/* ---------------------------------------------------------------- tables */

/* One row for each unit: a rounded table for a terminal, CSV or JSON. columns: the columns of the run's data, whose names JSON has, or
 * NULL. vectors: also phi and direction, for one layer. */
enum sph_print_format { SPH_PRINT_TEXT, SPH_PRINT_CSV, SPH_PRINT_JSON };
int sph_boundaries_print(const sph_boundaries *all, const sph_data *columns, int vectors,
                         enum sph_print_format format, const sph_sink *sink);

/* *out <- the path of the playground's page; 1, 0 if it is not installed, or a failure. Free with sph_playground_free. */
int sph_playground_find(char **out);
void sph_playground_free(char *path);

/* Writes the page to `path`, with the recorded boundaries of the run if run is not NULL. */
int sph_playground_write(const char *page, sph_run *run, const char *path);

/* The confusion matrix as text, or the most frequent confusions if there are more than 20 classes. */
int sph_confusion_print(const sph_confusion *confusion, const sph_sink *sink);

/* Prints the results of sph_perturb and sph_theory as one JSON object on one line. */
int sph_perturb_json(const sph_perturb_result *result, const sph_perturb_opts *opts,
                     const sph_theory_result *theory, const sph_sink *sink);

#endif
