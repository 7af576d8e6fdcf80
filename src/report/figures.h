/* SPDX-License-Identifier: MIT
 *
 * The list of figures. Each has a file with its row, a line below and a script in figures/. */
#ifndef SPH_REPORT_FIGURES_H
#define SPH_REPORT_FIGURES_H

#include "compare/experiment.h"
#include "report/panels.h"

#define EXPERIMENT_FIGURES "figures"
#define EXPERIMENT_NOTE    ".note"    /* NAME.note: the reason why a figure was not drawn */
#define EXPERIMENT_CAPTION ".caption" /* NAME.caption: the seed that it shows */

/* X(id, word, help), in the order on a page. The row is `const struct figure_kind figure_<id>`. */
#define FIGURES(X)                                                                                           \
    X(trajectories, "trajectories", "the path of every unit's phi; 1 or 2 features")                         \
    X(animation, "animation", "the trajectories as an animated GIF")                                         \
    X(turns, "turns", "the largest turn of each step, in degrees")                                           \
    X(decision, "decision", "decision regions of a classifier, data, and a star at each phi; 2 features")    \
    X(predictions, "predictions", "before and after training, with the spectrum; 1 feature, 1 target")       \
    X(spectrum, "spectrum", "the units' phi at eleven times during training; 1 feature")                     \
    X(moves, "moves", "the largest |dphi| of each step, on a log2 axis")                                     \
    X(convergence, "convergence", "losses and scores by epoch, mean and standard error over the seeds")      \
    X(confusion, "confusion", "confusion matrix of the test set; classes")                                   \
    X(wrong, "wrong", "wrongly classified test images with the highest probability; images with classes")    \
    X(sensitivity, "sensitivity", "the score over the learning rates of a grid")                             \
    X(tolerance, "tolerance", "learning rates at which each method is close to its best; table: all")        \
    X(ranks, "ranks", "average ranks over several datasets, and which methods differ significantly")         \
    X(width, "width", "gradient norms and shares of active units, over the widths of a grid")                \
    X(flips, "flips", "flipped bits of activation patterns, and distinct patterns, by layer")                \
    X(regions, "regions", "exact linear regions; 2 features, dense layers")                                  \
    X(boundary, "boundary", "what a boundary is: one unit on the plane (figure 1a)")                         \
    X(perturbation, "perturbation",                                                                          \
      "one unit's boundary after adding delta to all its parameters (figure 1b-e)")                          \
    X(points, "points", "what a boundary is: units on the line (figures 2a, 2b and 5)")                      \
    X(lines, "lines", "what a boundary is: units on the plane (figure 6)")

#define FIGURE_ONE(id, word, help) +1
enum { FIGURE_COUNT = 0 FIGURES(FIGURE_ONE) };

/* The parts of a training that a figure needs, and other conditions. 0: it shows no training. */
enum figure_needs {
    FIGURE_RECORD = RUN_RECORD, /* if there is one */
    FIGURE_DATA = RUN_DATA,
    FIGURE_FIRST = RUN_FIRST,   /* the net before training */
    FIGURE_LAST = RUN_MODEL,    /* the net after training, if the run has a model */
    FIGURE_BOUNDARIES = 1 << 4, /* a record of boundaries */
    FIGURE_PATTERNS = 1 << 5,   /* a record of patterns */
    FIGURE_REGIONS = 1 << 6,    /* a piecewise linear network */
    FIGURE_METRICS = 1 << 7,    /* metrics.jsonl of every seed */
    FIGURE_SCORES = 1 << 8,     /* the scores of all jobs of an experiment */
    FIGURE_GRADIENTS = 1 << 9,  /* a record of gradients */
    FIGURE_TESTED = 1 << 10,    /* a model, and rows it was not trained on */
    FIGURE_TURNS = 1 << 11      /* boundaries that can turn: not only those of units with one input */
};

enum figure_task { FIGURE_ANY_TASK, FIGURE_CLASSES, FIGURE_ONE_TARGET, FIGURE_IMAGES };

struct figure_kind {
    unsigned needs;                       /* bits of figure_needs */
    size_t features_least, features_most; /* of the data; 0: any */
    enum figure_task task;                /* of the data */
    int all_sets;                         /* one figure for several datasets; otherwise one for each */
    size_t sets_least;                    /* minimum number of datasets */
    const char *axis;                     /* a required key of the grid, or NULL */
    int all_points;                       /* requires table: all */
    size_t pages;                         /* number of pages of an animation; 0: no animation */
    const char *script;                   /* a file of figures/ without .gp; NULL: its name */
    const char *caption;                  /* in a page */
    const char *caption_of_one;           /* for a single run; NULL: the same */
    const char *letters;                  /* default letters of its panels */
    int (*fill)(struct figure *figure, struct panels *panels);
};

#define FIGURE_ROW(id, word, help) extern const struct figure_kind figure_##id;
FIGURES(FIGURE_ROW)

extern const struct figure_kind *const figure_kinds[FIGURE_COUNT];
extern const char *const figure_names[FIGURE_COUNT];

/* For the module compare, which reads experiment files. */
extern const struct figure_list figure_list;

/* figure_parts: the parts of a training to open (RUN_...). figure_check_panel fails, without a path, if an opened training lacks something
 * that the figure needs. */
unsigned figure_parts(const struct figure_kind *kind);
int figure_check_panel(const char *word, const struct figure_kind *kind, const struct panel *panel);

static inline int figure_stands_alone(const struct figure_kind *kind)
{
    return !kind->needs;
}

/* Fails if the current figure needs an experiment or a key of the grid that is not there. */
int figure_check_grid(const struct panels *panels);

/* For a run without named figures: wanted <- all figures that its data and record allow. Otherwise fails if the wanted figures cannot be
 * drawn or their record is missing. */
int figures_choose(struct panels *panels, int named, unsigned char wanted[FIGURE_COUNT]);

/* wanted <- figures by their names. */
int figures_read(const char *const *names, size_t count, unsigned char wanted[FIGURE_COUNT]);

/* ---------------------------------------------------------------- figures_draw.c */

/* Draws figures of a finished experiment, or without results of the run in dir, into dir/figures, as NAME or, for one of several
 * datasets, NAME-SET. wanted NULL: the figures of the experiment's file, or all that the run allows. seed: of the shown trainings; NULL:
 * the median seed. made: gets each path without its ending, or NULL. A figure that cannot be drawn does not stop the others. Returns 0;
 * 1 if gnuplot is missing (data and scripts are written); 2 if wanted is NULL and some figures were not drawn (sph_error() has the
 * reasons); or a failure, also if a wanted figure was not drawn. */
int figures_draw(const struct results *results, const char *dir, const unsigned char wanted[FIGURE_COUNT],
                 const uint64_t *seed, sph_progress_call *made, void *self);

#endif
