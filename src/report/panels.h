/* SPDX-License-Identifier: MIT
 *
 * The panels of a figure: one for each training, methods across and points of a grid down. The functions that fill a figure use
 * these helpers. Panel i writes the parts p<i>... and the variables title_<i>, ... of the script. */
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
    char *point;        /* "lr 0.1", or "" */
    struct sph_run run; /* the parts that the figure needs */
    const char *metric; /* the metric of the experiment, or of the task */
    double score;       /* on the test part, or NaN */
    double
        median; /* of the test scores of this method and point over `seeds`; NaN with one seed or without scores */
    size_t seeds;
};

struct panels {
    const struct results *results;  /* of a finished experiment; NULL: one run */
    const struct sph_experiment *e; /* of the results; NULL: one run */
    const char *dir;                /* of the experiment or the run */
    const struct figure_kind *kind; /* the figure that is drawn */
    const char *word;               /* its name */
    size_t rows, columns;           /* points of a grid; methods */
    size_t seed;                    /* index of the shown seed */
    int is_median;                  /* it is the median of several */
    struct panel open;              /* the panel that was opened last */
    int is_open;                    /* there is one */
    size_t number;                  /* its number */
    unsigned parts;                 /* its opened parts */
    char *method;                   /* name of the method of a single run */
};

/* With more panels, a picture is not readable. */
enum { PANELS_MOST = 64 };

/* results NULL: the run in dir. seed NULL: the median seed. Fails if the seed does not exist. Set kind and word before opening a
 * panel. */
int panels_begin(struct panels *panels, const struct results *results, const char *dir, const uint64_t *seed);
void panels_end(struct panels *panels);

/* panels_open opens panel i with the parts that the figure needs and closes the one before. It fails if a part is missing and names the
 * folder. panels_look opens only the given parts (RUN_...). */
int panels_open(struct panels *panels, size_t i, const struct panel **out);
int panels_look(struct panels *panels, size_t i, unsigned parts, const struct panel **out);
size_t panels_count(const struct panels *panels);

/* ---------------------------------------------------------------- along a key of the grid
 * panels_axis: the axis for the key in kind->axis. panels_row sets title_<row> to the dataset, if there are several, and the other keys
 * of a point, such as "boston, hidden 100". */
size_t panels_axis(const struct panels *panels);
int panels_row(struct figure *figure, const struct panels *panels, size_t row, size_t set, size_t point);

/* ---------------------------------------------------------------- into the script */

/* Sets the variables down and across. */
void panels_head(struct figure *figure, size_t rows, size_t columns);
void panels_text(struct figure *figure, const char *key, size_t number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void panels_number(struct figure *figure, const char *key, size_t number, double value);
void panels_columns(struct figure *figure, size_t number, const char *tail, const char *header);

/* Sets foot_seed, such as "seed 3, closest to the median scores of 5 seeds", or "" if the figure shows all seeds; foot_leak, the selection that used the test
 * part, or ""; and seeds, their number. caption: the same as sentences for a page, or NULL; free it with mem_free. */
int panels_foot(struct figure *figure, struct panels *panels, char **caption);

/* panels_title sets title_<number>, such as "GmP, lr 0.1". panels_score sets score_<number>, such as "test accuracy 0.885", with "(leak)"
 * if the test part chose the epoch, and median_<number>, such as "median of 5: 0.880", or "" for one seed. */
void panels_title(struct figure *figure, const struct panel *panel, size_t number);
const char *panel_without_model(const struct panel *panel); /* the reason, in two or three words */
void panels_score(struct figure *figure, const struct panel *panel, size_t number);

/* Sets x_name and y_name: the names of the feature and the target, or x and y in italics. */
int panels_axes(struct figure *figure, const struct panel *panel);

/* Sets method_<column>, which determines the colour of a line, and label_<column>, its name in the key. */
void panels_method(struct figure *figure, size_t column, const char *method, const char *point);

/* Sets note_<number>, the text of an empty panel, or "". */
void panels_note(struct figure *figure, size_t number, const char *note);

/* ---------------------------------------------------------------- from the record */

/* The shape of an array of a panel's record with ndim axes. Fails without a record or without the array. */
int panel_shape(const struct panel *panel, const char *name, size_t ndim, size_t shape[4]);

/* A whole array as f64; caller frees with mem_free. */
int panel_read(const struct panel *panel, const char *name, size_t ndim, size_t shape[4], double **values);

/* Scale and mean (n each) that convert the input of the first layer to data units: x * scale + mean. They are 1 and 0 without
 * standardization. */
int panel_scale(const struct panel *panel, size_t n, double *scale, double *mean);

/* 1 if the record has the array. */
int panel_has(const struct panel *panel, const char *name);

/* The k-th array of this kind, such as "layers.0.phi" for "phi"; NULL past the last. */
const char *panel_array(const struct panel *panel, size_t k, const char *what);

/* The reason why the record has nothing to draw of the first layer: "no hyperplanes" (with a norm that uses statistics of each sample) or
 * "no recorded positions". NULL otherwise, also without a record. */
const char *panel_empty(const struct panel *panel);

/* Writes the part p<number>spectrum, one block for each moment, and bars_<number>. Also used by the figure predictions. */
int spectrum_write(struct figure *figure, const struct panel *panel, size_t number);

/* The failure of a figure with only empty panels. */
int panels_all_empty(const struct panels *panels, const char *note);

/* ---------------------------------------------------------------- from the data */

/* The range of a feature over all rows, extended on both sides by a share of its width. */
void panel_window(const struct panel *panel, size_t feature, double share, double *low, double *high);

/* classes: the number of classes, 0 for a regression; class_<k>: the name of class k as in predictions, with "class" before
 * a number. */
void panels_classes(struct figure *figure, char *const *names, size_t count);

/* For data with two features: sets x_name, y_name, x_low, x_high, y_low and y_high, and stores the limits in window. */
int panels_plane(struct figure *figure, const struct panel *first, double share, double window[4]);

#endif
