/* SPDX-License-Identifier: MIT
 *
 * Trainings side by side, as figures show them: a panel each, methods across, points of a grid down. What a
 * figure is made of comes in here, and nothing else: the functions fill a figure (figure.h) and leave drawing
 * it to the caller. Panel i of the list writes the parts p<i>..., and its words and numbers are title_<i>,
 * ... in the script. */
#ifndef SPH_REPORT_PANELS_H
#define SPH_REPORT_PANELS_H

#include <stddef.h>

#include "report/figure.h"
#include "spherelu.h"
#include "store/npz.h"

/* One training. Everything is borrowed. */
struct panel {
    const char *method;    /* "GmP" */
    const char *point;     /* "lr 0.1"; "": nothing to say */
    const char *where;     /* its folder, for messages */
    struct npz *record;    /* its boundaries.npz; NULL: none */
    sph_net *first, *last; /* before and after the training; last NULL: it left no model */
    const sph_data *data;
    const sph_split *split;
    const char *metric; /* "rmse" */
    double score;       /* on the test part; NaN: none */
    int finished;       /* 0: it was stopped, and may go on */
};

struct panels {
    const struct panel *list; /* (rows, columns) */
    size_t rows, columns;     /* points of a grid; methods */
};

/* More panels than this are no picture any more. */
enum { PANELS_MOST = 64 };

/* What the words of an experiment's `figures:` draw. Each fails where a panel lacks what it needs, naming the
 * panel's folder. */
/* 1 or 2 features; pages above 0: also what an animation of so many pages needs */
int trajectories_fill(struct figure *figure, const struct panels *panels, size_t pages);
int spectrum_fill(struct figure *figure, const struct panels *panels);    /* 1 feature       */
int predictions_fill(struct figure *figure, const struct panels *panels); /* 1 feature, 1 real target */
int decision_fill(struct figure *figure, const struct panels *panels);    /* 2 features, classes */
int moves_fill(struct figure *figure, const struct panels *panels);
int turns_fill(struct figure *figure, const struct panels *panels);
int flips_fill(struct figure *figure, const struct panels *panels);
int region_maps_fill(struct figure *figure, const struct panels *panels); /* 2 features, dense */

/* Curves of metrics.jsonl: panels[metric], a line for each method with mean and standard error over its runs.
 * A run that has ended goes on with its last value, so that a mean is of the same runs all the way. */
struct convergence_line {
    const char *method, *point;
    const char *const *files; /* (count) metrics.jsonl, one a seed */
    size_t count;
};
int convergence_fill(struct figure *figure, const struct convergence_line *lines, size_t rows, size_t columns,
                     const char *metric);

/* A score over learning rates: a line for each method. */
struct sensitivity_point {
    double lr, mean, error; /* NaN: no run gave a number */
    size_t runs, failed;
};
struct sensitivity_line {
    const char *method, *point;             /* point: of the grid's other keys */
    const struct sensitivity_point *points; /* (count) by lr */
    size_t count;
};
int sensitivity_fill(struct figure *figure, const struct sensitivity_line *lines, size_t rows, size_t columns,
                     const char *metric);

/* ---------------------------------------------------------------- what they share (panels.c) */

/* down and across: the numbers of rows and columns. */
void panels_head(struct figure *figure, size_t rows, size_t columns);
void panels_text(struct figure *figure, const char *key, size_t number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void panels_number(struct figure *figure, const char *key, size_t number, double value);
void panels_columns(struct figure *figure, size_t number, const char *tail, const char *header);

/* "GmP, lr 0.1" under title_<number>; "test accuracy 0.885" under score_<number>. */
void panels_title(struct figure *figure, const struct panel *panel, size_t number);
const char *panel_without_model(const struct panel *panel); /* why: in two or three words */
void panels_score(struct figure *figure, const struct panel *panel, size_t number);

/* x_name and y_name: of the feature and the target where the data name them, else x and y, in italics. */
int panels_axes(struct figure *figure, const struct panel *panel);

/* A line for a method: method_<column> gives it its colour, label_<column> its name in the key. */
void panels_method(struct figure *figure, size_t column, const char *method, const char *point);

/* The shape of an array of a panel's record, which must have ndim axes; fails where there is no record or no
 * such array. */
int panel_shape(const struct panel *panel, const char *name, size_t ndim, size_t shape[4]);

/* A whole array as f64; caller frees with mem_free. */
int panel_read(const struct panel *panel, const char *name, size_t ndim, size_t shape[4], double **values);

/* Scale and mean of the features as the first layer sees them: raw = net * scale + mean (n each); 1 and 0
 * where nothing was standardised. */
int panel_scale(const struct panel *panel, size_t n, double *scale, double *mean);

/* "layers.0.phi" for a layer of the net. */
void panel_name(char name[128], const struct panel *panel, size_t layer, const char *what);

/* Whether the record has that array. */
int panel_has(const struct panel *panel, const char *name);

/* Why the record holds nothing to draw of the first layer: "no hyperplanes" (a norm that treats each row on
 * its own leaves none), "no frame recorded"; NULL where there is something, or no record at all. */
const char *panel_empty(const struct panel *panel);

/* note_<number>: what stands in a panel that stays empty, or "". */
void panels_note(struct figure *figure, size_t number, const char *note);

/* The failure of a figure all of whose panels stay empty. */
int panels_all_empty(const struct panels *panels, const char *note);

/* Least and largest of a feature over all rows, widened by a share of their distance. */
void panel_window(const struct panel *panel, size_t feature, double share, double *low, double *high);

/* The plane of data with 2 features: their names, and its borders x_low, x_high, y_low, y_high, also in
 * window. */
int panels_plane(struct figure *figure, const struct panel *first, double window[4]);

#endif
