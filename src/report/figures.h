/* SPDX-License-Identifier: MIT
 *
 * What an experiment file's `figures:` may name, what each needs, and drawing them into DIR/figures/. */
#ifndef SPH_REPORT_FIGURES_H
#define SPH_REPORT_FIGURES_H

#include "compare/experiment.h"

#define EXPERIMENT_FIGURES "figures"
#define EXPERIMENT_NOTE    ".note" /* NAME.note: why a figure was not drawn */

/* X(ID, word, needs a record of, help) */
#define FIGURE_WORDS(X)                                                                                      \
    X(TRAJECTORIES, "trajectories", "boundaries", "the path of every unit's phi; 1 or 2 features")           \
    X(ANIMATION, "animation", "boundaries", "the trajectories in motion: an animated PNG")                   \
    X(TURNS, "turns", "boundaries", "the largest turn of each step, in degrees")                             \
    X(DECISION, "decision", "", "regions of a classifier, data, and a star at each phi; 2 features")         \
    X(PREDICTIONS, "predictions", "", "before and after training, with the spectrum; 1 feature, 1 target")   \
    X(SPECTRUM, "spectrum", "boundaries", "where the units' phi lie at eleven moments; 1 feature")           \
    X(MOVES, "moves", "boundaries", "the largest |dphi| of each step, on a log2 axis")                       \
    X(CONVERGENCE, "convergence", "", "losses and scores by epoch, mean and standard error over the seeds")  \
    X(SENSITIVITY, "sensitivity", "", "the score over the learning rates of a grid")                         \
    X(FLIPS, "flips", "patterns", "bits of activation patterns that flip, and distinct patterns, by layer")  \
    X(REGIONS, "regions", "", "exact linear regions; 2 features, dense layers")                              \
    X(BOUNDARY, "boundary", "", "what a boundary is: one unit on the plane (figure 1a)")                     \
    X(PERTURBATION, "perturbation", "", "one unit's boundary after eps on all its numbers (figure 1b-e)")    \
    X(POINTS, "points", "", "what a boundary is: units on the line (figures 2a, 2b and 5)")                  \
    X(LINES, "lines", "", "what a boundary is: units on the plane (figure 6)")

#define FIGURE_WORD_ENUM(id, word, record, help) FIGURE_##id,
enum figure_word { FIGURE_WORDS(FIGURE_WORD_ENUM) FIGURE_WORD_COUNT };
extern const char *const figure_names[FIGURE_WORD_COUNT];

/* Whether it shows nothing that was trained. */
int figure_stands_alone(enum figure_word word);

/* What experiment files may name, for the room that reads them. */
extern const struct figure_kinds figure_kinds;

/* Draws the wanted words of a finished experiment, or of one run, into dir/figures. made: told of each
 * path without its ending, or NULL. A figure that cannot be drawn does not stop the others. Returns 0; 1
 * where gnuplot is missing (data and scripts are there); 2 where wanted is NULL and some were not drawn, and
 * sph_error() says which and why; or a failure, also where one that was wanted by name was not drawn. */
int experiment_draw(const struct sph_experiment *e, const char *dir,
                    const unsigned char wanted[FIGURE_WORD_COUNT], sph_progress_call *made, void *self);

#endif
