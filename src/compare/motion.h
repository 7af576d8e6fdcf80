/* SPDX-License-Identifier: MIT
 *
 * How far training moves and turns boundaries, over all seeds: a row for each method (and point of the grid,
 * and layer), made of the boundaries.npz of the jobs that the tables report. */
#ifndef SPH_COMPARE_MOTION_H
#define SPH_COMPARE_MOTION_H

#include "base/text.h"
#include "compare/experiment.h"

/* A step's number is the largest over the units of the layer. */
#define MOTION_NUMBERS(X)                                                                                    \
    X(MAX_MOVE, "max_move", "largest |dphi| of any step")                                                    \
    X(MEDIAN_MOVE, "median_move", "median of the steps' largest |dphi|")                                     \
    X(MAX_TURN, "max_turn", "largest turn of any step, degrees")                                             \
    X(TURN_99, "turn_99", "99 % of the steps turn no unit further, degrees")

#define MOTION_ENUM(id, word, help) MOTION_##id,
enum motion_number { MOTION_NUMBERS(MOTION_ENUM) MOTION_COUNT };
extern const char *const motion_words[MOTION_COUNT];

struct motion_row {
    const char *method;         /* borrowed of the experiment */
    char *point;                /* "lr 0.1"; "" */
    char *layer;                /* "layers.0" */
    size_t runs;                /* of its seeds, those with a record  */
    size_t steps;               /* of all of them                     */
    double value[MOTION_COUNT]; /* NaN: no step has one */
};

/* What the papers say beside what came out here. */
struct motion_paper {
    const char *metric, *method, *text; /* borrowed of the experiment */
    const char *point;                  /* of the row, borrowed; "" */
    double ours; /* a number of the first layer's row, or the mean score on the test part */
};

struct motion {
    const struct sph_experiment *experiment;
    int raw; /* moves are in the feature's own units: there is but one; else standardised ones */
    int standardised;
    struct motion_row *rows;
    size_t count, layers; /* layers: rows of one method and point, at most */
    struct motion_paper *papers;
    size_t paper_count;
    char **points; /* (point_count) that the papers' rows borrow */
    size_t point_count;
};

/* Of the finished experiment in dir. No rows: nothing was recorded. Free also after a failure. */
int motion_read(struct motion *out, const struct sph_experiment *e, const char *dir);
void motion_free(struct motion *motion);

#endif
