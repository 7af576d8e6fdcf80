/* SPDX-License-Identifier: MIT
 *
 * For the tool. Pages, tables and figures: `show`, `list`, `compare`, `importance`, `regions`, `figures`, `perturb`. Not installed, not part of the API. */
#ifndef SPH_REPORT_TOOL_H
#define SPH_REPORT_TOOL_H

#include "boundary/tool.h"
#include "spherelu/compare.h"

/* ---------------------------------------------------------------- figures */

typedef struct sph_figures_opts {
    const char *const *names; /* (count) words of an experiment file's `figures` */
    size_t count;             /* 0: those of the experiment's file, or all that a run allows */
    const uint64_t
        *seed; /* of the trainings shown; NULL: the one whose test scores rank nearest to the middle */
} sph_figures_opts;

/* Draws figures of dir, a finished experiment's folder or a run's, into dir/figures: data files, a gnuplot
 * script, PNG, SVG and PDF each; then writes dir/report.html, a page with the figures inside. opts NULL: all of
 * them 0. progress: what is each figure's path without its ending; or NULL. A figure that cannot
 * be drawn does not stop the others. Returns 1 where gnuplot is missing: data and scripts are there, and
 * sph_error() says how to get it; 2 where, without names, some were not drawn, and sph_error() says which and
 * why; one that was named and cannot be drawn is a failure. */
int sph_figures(const char *dir, const sph_figures_opts *opts, void *self, sph_progress_call *progress);

/* The program that draws figures, the one foreign program that the library starts: its path in out, looked for in the
 * folders of PATH that begin with a slash; NULL: there is none. */
const char *sph_gnuplot(char *out, size_t size);

/* The i-th word that a file's `figures` may name, and what it shows; NULL past the last. */
const sph_word_row *sph_figure_word(size_t i);

/* The folder's regions.json and the picture regions.png, .svg, .pdf. 1: the picture was not drawn,
 * sph_error() says why. */
int sph_regions_save(const sph_regions *regions, const char *dir);

/* ---------------------------------------------------------------- runs one can find */

/* What lies at path, as text or, json, as one object on one line: of a run folder the options it was trained with, its
 * scores, its network and the command that repeats it; of an experiment's folder its table; of a model file the
 * network layer by layer. */
int sph_show(const char *path, int json, const sph_sink *sink);

/* What became of each column of a run's table, as text; nothing for images. Of more than `most` the first are told. */
int sph_run_columns(const sph_run *run, size_t most, const sph_sink *sink);

/* The runs and experiments at and below dir, a row each: data, network, method, test score, when; json: a list of
 * objects on one line. Jobs of an experiment are not listed with it, but below its folder `jobs` they are. A
 * folder that cannot be read is a row that says why. */
int sph_list(const char *dir, int json, const sph_sink *sink);

/* ---------------------------------------------------------------- runs one can judge */

/* Writes the run's report.html: scores, curves with the best epoch marked, of a table what the net predicts of its test
 * part, figures that were drawn, and how to repeat it. */
int sph_run_page(sph_run *run);

typedef struct sph_importance_opts {
    const char *data;   /* file or name; NULL: the run's own test part                     */
    const char *metric; /* word of a metric; NULL: the task's own                          */
    size_t repeats;     /* times that a column is shuffled; 0: 10                          */
    uint64_t seed;
    void *self;
    sph_progress_call *progress; /* or NULL; 1 is returned where it says to stop           */
} sph_importance_opts;

/* Permutation importance of each column of a run's table: how much worse the metric gets when the column is shuffled,
 * mean and standard deviation over the repeats, the most important first; text, or json: one object on one line. */
int sph_importance(const char *dir, const sph_importance_opts *opts, int json, const sph_sink *sink);

/* Scores of runs side by side. Those whose test parts hold the same rows of the same data are compared row by row with
 * the first: mean difference of the losses of single rows, its standard error, and in how many rows each is ahead; others
 * are told to be on other rows. page: a file for the curves of all in one figure, or NULL. */
int sph_compare(const char *const *dirs, size_t count, const char *page, int json, const sph_sink *sink);

/* ---------------------------------------------------------------- tables */

/* What sph_perturb found and sph_theory checked, as one JSON object on one line. */
int sph_perturb_json(const sph_perturb_result *result, const sph_perturb_opts *opts,
                     const sph_theory_result *theory, const sph_sink *sink);

#endif
