/* SPDX-License-Identifier: MIT
 *
 * How far training moves and turns boundaries, over all seeds: one row for each method (and grid point, and
 * layer), computed from the boundaries.npz of the reported jobs. */
#ifndef SPH_COMPARE_MOTION_H
#define SPH_COMPARE_MOTION_H

#include "base/text.h"
#include "compare/experiment.h"

#define MOTION_FILE "motion" /* .txt, .csv, .json */

/* A step's number is the largest over the units of the layer. */
#define MOTION_NUMBERS(X)                                                                                    \
    X(MAX_MOVE, "max_move", "largest |dphi| of any step")                                                    \
    X(MEDIAN_MOVE, "median_move", "median of the steps' largest |dphi|")                                     \
    X(MAX_TURN, "max_turn", "largest turn of any step, degrees")                                             \
    X(TURN_99, "turn_99", "99 % quantile of the steps' largest turn, degrees")

#define MOTION_ENUM(id, word, help) MOTION_##id,
enum motion_number { MOTION_NUMBERS(MOTION_ENUM) MOTION_COUNT };
extern const char *const motion_words[MOTION_COUNT];
extern const char *const motion_paper_words[MOTION_COUNT]; /* "papers_max_move" */

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
    double off;  /* (ours - theirs) in their standard errors, of "a +- b"; NaN of any other text */
    double median, least, most; /* of that score, over the seeds; NaN of numbers of a row */
};

/* What moves of the first layer are measured in. */
#define MOTION_UNITS(X)                                                                                      \
    X(FEATURES, "the features' units")                                                                       \
    X(FEATURE, "the feature's units")                                                                        \
    X(STANDARDISED, "standardised features")
#define MOTION_UNIT_ENUM(id, words) MOTION_IN_##id,
enum motion_unit { MOTION_UNITS(MOTION_UNIT_ENUM) MOTION_UNIT_COUNT };
extern const char *const motion_units[MOTION_UNIT_COUNT];

struct motion {
    const struct sph_experiment *experiment;
    size_t set; /* of several */
    enum motion_unit unit;
    struct motion_row *rows;
    size_t count, capacity, layers; /* layers: rows of one method and point, at most */
    struct motion_paper *papers;
    size_t paper_count, paper_room;
    char **points; /* (point_count) that the papers' rows borrow */
    size_t point_count;
};

/* Of what the reported jobs have recorded, or of motion.json, where that is there. No rows: nothing was
 * recorded. Free also after a failure. */
struct results;
int motion_read(struct motion *out, const struct results *results);
int motion_load(struct motion *out, const struct results *results);
void motion_free(struct motion *motion);

#endif
