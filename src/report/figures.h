/* SPDX-License-Identifier: MIT
 *
 * Every figure is a row: what an experiment file's `figures:` calls it, what it needs, what a page says of it
 * and what fills it. A figure is one file with its row in it, one line below, one script in figures/. */
#ifndef SPH_REPORT_FIGURES_H
#define SPH_REPORT_FIGURES_H

#include "compare/experiment.h"
#include "report/panels.h"

#define EXPERIMENT_FIGURES "figures"
#define EXPERIMENT_NOTE    ".note"    /* NAME.note: why a figure was not drawn */
#define EXPERIMENT_CAPTION ".caption" /* NAME.caption: of which seed it is */

/* X(id, word, help): the row is `const struct figure_kind figure_<id>`. In the order of reading. */
#define FIGURES(X)                                                                                           \
    X(trajectories, "trajectories", "the path of every unit's phi; 1 or 2 features")                         \
    X(animation, "animation", "the trajectories as an animated GIF")                                         \
    X(turns, "turns", "the largest turn of each step, in degrees")                                           \
    X(decision, "decision", "decision regions of a classifier, data, and a star at each phi; 2 features")    \
    X(predictions, "predictions", "before and after training, with the spectrum; 1 feature, 1 target")       \
    X(spectrum, "spectrum", "the units' phi at eleven times during training; 1 feature")                     \
    X(moves, "moves", "the largest |dphi| of each step, on a log2 axis")                                     \
    X(convergence, "convergence", "losses and scores by epoch, mean and standard error over the seeds")      \
    X(confusion, "confusion", "confusion matrix of the test part; classes")                                  \
    X(wrong, "wrong", "wrongly classified test images with the highest probability; images with classes")    \
    X(sensitivity, "sensitivity", "the score over the learning rates of a grid")                             \
    X(tolerance, "tolerance", "learning rates at which each method is close to its best; table: all")        \
    X(ranks, "ranks", "average ranks over several datasets, and which methods differ significantly")         \
    X(width, "width", "sizes of gradients and shares of active units, over the widths of a grid")            \
    X(flips, "flips", "flipped bits of activation patterns, and distinct patterns, by layer")                \
    X(regions, "regions", "exact linear regions; 2 features, dense layers")                                  \
    X(boundary, "boundary", "what a boundary is: one unit on the plane (figure 1a)")                         \
    X(perturbation, "perturbation",                                                                          \
      "one unit's boundary after adding delta to all its parameters (figure 1b-e)")                          \
    X(points, "points", "what a boundary is: units on the line (figures 2a, 2b and 5)")                      \
    X(lines, "lines", "what a boundary is: units on the plane (figure 6)")

#define FIGURE_ONE(id, word, help) +1
enum { FIGURE_COUNT = 0 FIGURES(FIGURE_ONE) };

/* What a figure needs: the parts of a training that are opened for it, one panel at a time, and more. None
 * of it: it shows nothing that was trained. */
enum figure_needs {
    FIGURE_RECORD = RUN_RECORD, /* where there is one */
    FIGURE_DATA = RUN_DATA,
    FIGURE_FIRST = RUN_FIRST,   /* the net before training */
    FIGURE_LAST = RUN_MODEL,    /* and after, where the run left one */
    FIGURE_BOUNDARIES = 1 << 4, /* a record of these */
    FIGURE_PATTERNS = 1 << 5,   /* or of these */
    FIGURE_REGIONS = 1 << 6,    /* a net that is linear in pieces */
    FIGURE_METRICS = 1 << 7,    /* metrics.jsonl of every seed */
    FIGURE_SCORES = 1 << 8,     /* the scores of all jobs of an experiment */
    FIGURE_GRADIENTS = 1 << 9,  /* a record of these */
    FIGURE_TESTED = 1 << 10,    /* a model, and rows that it was not trained on */
    FIGURE_TURNS = 1 << 11      /* boundaries that can turn: not only those of units with one input */
};

enum figure_task { FIGURE_ANY_TASK, FIGURE_CLASSES, FIGURE_ONE_TARGET, FIGURE_IMAGES };

struct figure_kind {
    unsigned needs;                       /* bits of figure_needs */
    size_t features_least, features_most; /* of the data; 0: any */
    enum figure_task task;                /* of the data */
    int all_sets;                         /* of several sets of data it is one figure; else one for each */
    size_t sets_least;                    /* sets that it takes; 0: any number */
    const char *axis;                     /* the key that the grid has to have; NULL: none */
    int all_points;                       /* table: all */
    size_t pages;                         /* above 0: an animation of so many */
    const char *script;                   /* a file of figures/ without .gp; NULL: its word */
    const char *caption;                  /* in a page */
    const char *caption_of_one;           /* in the page of a single run; NULL: the same */
    const char *letters;                  /* of its panels, where the experiment's file gives none */
    int (*fill)(struct figure *figure, struct panels *panels);
};

#define FIGURE_ROW(id, word, help) extern const struct figure_kind figure_##id;
FIGURES(FIGURE_ROW)

extern const struct figure_kind *const figure_kinds[FIGURE_COUNT];
extern const char *const figure_names[FIGURE_COUNT];

/* What the room that reads experiment files has to know. */
extern const struct figure_list figure_list;

/* The parts of a training that are opened for it (RUN_...); a failure without a place where an opened
 * one lacks what the figure needs. */
unsigned figure_parts(const struct figure_kind *kind);
int figure_check_panel(const char *word, const struct figure_kind *kind, const struct panel *panel);

static inline int figure_stands_alone(const struct figure_kind *kind)
{
    return !kind->needs;
}

/* Where the figure that panels are at needs an experiment, or a key of its grid. */
int figure_check_grid(const struct panels *panels);

/* Of one run that names none: wanted <- all that its data and its record allow. Else fails where there can be no figures, or what they
 * need was not recorded. */
int figures_choose(struct panels *panels, int named, unsigned char wanted[FIGURE_COUNT]);

/* wanted <- figures by their words. */
int figures_read(const char *const *names, size_t count, unsigned char wanted[FIGURE_COUNT]);

/* ---------------------------------------------------------------- figures_draw.c */

/* Draws the wanted words of a finished experiment, or, without results, of the run in dir, into dir/figures, as
 * WORD or, for one of several sets, WORD-SET.
 * seed: of the trainings shown, NULL: the median one. made: told of each path without its ending, or NULL. A figure that cannot be drawn does not stop the others.
 * Returns 0; 1 where gnuplot is missing (data and scripts are there); 2 where wanted is NULL and some were not
 * drawn, and sph_error() says which and why; or a failure, also where one that was wanted by name was not
 * drawn. */
int figures_draw(const struct results *results, const char *dir, const unsigned char wanted[FIGURE_COUNT],
                 const uint64_t *seed, sph_progress_call *made, void *self);

#endif
