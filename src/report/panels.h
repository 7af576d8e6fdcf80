/* SPDX-License-Identifier: MIT
 *
 * Trainings side by side, as figures show them: a panel each, methods across, points of a grid down. Functions
 * that fill a figure (figure.h) take what it is made of from here, and leave drawing it to the caller. Panel i
 * writes the parts p<i>..., and its words and numbers are title_<i>, ... in the script. */
#ifndef SPH_REPORT_PANELS_H
#define SPH_REPORT_PANELS_H

#include <stddef.h>

#include "compare/results.h"
#include "job/run.h"
#include "report/figure.h"
#include "spherelu.h"

/* One training, of the seed that is shown. */
struct panel {
    const char *method; /* "GmP" */
    char *point;        /* "lr 0.1"; "": nothing to say */
    struct sph_run run; /* as much of it as the figure needs */
    const char *metric; /* of the task, or the one that the experiment compares */
    double score;       /* on the test part; NaN: none */
    double
        median; /* of the test scores of this method and point over `seeds`; NaN: one seed, or none has one */
    size_t seeds;
};

struct panels {
    const struct results *results;  /* of a finished experiment; NULL: one run */
    const struct sph_experiment *e; /* the results'; NULL: one run */
    const char *dir;                /* of the experiment or the run */
    const struct figure_kind *kind; /* the figure that is drawn, */
    const char *word;               /* and its name */
    size_t rows, columns;           /* points of a grid; methods */
    size_t seed;                    /* the place of the seed shown, */
    int is_median;                  /* which is the median one of several */
    struct panel open;              /* the one that was opened last, */
    int is_open;                    /* if any, */
    size_t number;                  /* its number, */
    unsigned parts;                 /* and what of it */
    char *method;                   /* of the one run */
};

/* More panels than this are no picture any more. */
enum { PANELS_MOST = 64 };

/* results NULL: of the run in dir. seed NULL: the median one. Fails where there is no such seed. Set kind and
 * word before the first panel is opened. */
int panels_begin(struct panels *panels, const struct results *results, const char *dir, const uint64_t *seed);
void panels_end(struct panels *panels);

/* Opens panel number i with what the figure needs, in place of the one before. Fails where it lacks that,
 * naming its folder. The second opens these parts alone (RUN_...), for a look at all before the first. */
int panels_open(struct panels *panels, size_t i, const struct panel **out);
int panels_look(struct panels *panels, size_t i, unsigned parts, const struct panel **out);
size_t panels_count(const struct panels *panels);

/* ---------------------------------------------------------------- along a key of the grid
 * The axis that the figure's row asks for; the point k values along it from one where it has its first; the
 * other keys of a point, "hidden 100", "" where there are none, to be freed with mem_free. */
size_t panels_axis(const struct panels *panels);
size_t panels_along(const struct panels *panels, size_t point, size_t axis, size_t k);
int panels_other_keys(const struct panels *panels, size_t point, size_t axis, char **out);

/* ---------------------------------------------------------------- into the script */

/* down and across: the numbers of rows and columns. */
void panels_head(struct figure *figure, size_t rows, size_t columns);
void panels_text(struct figure *figure, const char *key, size_t number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void panels_number(struct figure *figure, const char *key, size_t number, double value);
void panels_columns(struct figure *figure, size_t number, const char *tail, const char *header);

/* foot_seed: "seed 3, the median of 5", "" where a figure shows all seeds; foot_leak: what saw the test rows, or
 * ""; seeds: how many there are. caption: the same as a sentence or two for a page, to be freed with mem_free,
 * NULL: nothing. */
int panels_foot(struct figure *figure, struct panels *panels, char **caption);

/* "GmP, lr 0.1" under title_<number>; "test accuracy 0.885" under score_<number>, with
 * "(leak)" where the test part chose the epoch; "median of 5: 0.880" under median_<number>, "" of one seed. */
void panels_title(struct figure *figure, const struct panel *panel, size_t number);
const char *panel_without_model(const struct panel *panel); /* why: in two or three words */
void panels_score(struct figure *figure, const struct panel *panel, size_t number);

/* x_name and y_name: of the feature and the target where the data name them, else x and y, in italics. */
int panels_axes(struct figure *figure, const struct panel *panel);

/* A line for a method: method_<column> gives it its colour, label_<column> its name in the key. */
void panels_method(struct figure *figure, size_t column, const char *method, const char *point);

/* note_<number>: what stands in a panel that stays empty, or "". */
void panels_note(struct figure *figure, size_t number, const char *note);

/* ---------------------------------------------------------------- from the record */

/* The shape of an array of a panel's record, which must have ndim axes; fails where there is no record or no
 * such array. */
int panel_shape(const struct panel *panel, const char *name, size_t ndim, size_t shape[4]);

/* A whole array as f64; caller frees with mem_free. */
int panel_read(const struct panel *panel, const char *name, size_t ndim, size_t shape[4], double **values);

/* Scale and mean of the features as the first layer sees them: raw = net * scale + mean (n each); 1 and 0
 * where nothing was standardised. */
int panel_scale(const struct panel *panel, size_t n, double *scale, double *mean);

/* Whether the record has that array. */
int panel_has(const struct panel *panel, const char *name);

/* The k-th array of a layer, "layers.0.phi" for what "phi"; NULL: there are no more. */
const char *panel_array(const struct panel *panel, size_t k, const char *what);

/* Why the record holds nothing to draw of the first layer: "no hyperplanes" (a norm that treats each row on
 * its own leaves none), "no frame recorded"; NULL where there is something, or no record at all. */
const char *panel_empty(const struct panel *panel);

/* Part p<number>spectrum, and bars_<number>: blocks of a moment each (spectrum.c; predictions show them too). */
int spectrum_write(struct figure *figure, const struct panel *panel, size_t number);

/* The failure of a figure all of whose panels stay empty. */
int panels_all_empty(const struct panels *panels, const char *note);

/* ---------------------------------------------------------------- from the data */

/* Least and largest of a feature over all rows, widened by a share of their distance. */
void panel_window(const struct panel *panel, size_t feature, double share, double *low, double *high);

/* classes: the number of classes, 0 for a regression; class_<k>: the name of class k as in predictions, with "class" before
 * a number. */
void panels_classes(struct figure *figure, char *const *names, size_t count);

/* The plane of data with 2 features: their names, and its borders x_low, x_high, y_low, y_high, also in
 * window. */
int panels_plane(struct figure *figure, const struct panel *first, double share, double window[4]);

#endif
