/* SPDX-License-Identifier: MIT
 *
 * One figure: variables and data for a gnuplot script of figures/. It is written to DIR as
 *
 *   NAME.gp               variables, figures/style.gp and the script, in one file that users can edit and run:
 *                         `gnuplot NAME.gp`, or `gnuplot -e "format='svg'" NAME.gp` (png, svg, pdf)
 *   NAME.PART.dat         data, one file for each part: columns, `#` comments, blank lines between blocks
 *   NAME.png, .svg, .pdf  pictures
 *
 * Files are replaced as a whole. A script can use `name`, the variables of the figure, and part('PART') for the path of a part. Scripts
 * in the folder $SPHERELU_FIGURES replace built-in scripts of the same name.
 *
 * Data are kept in memory until figure_draw, which also reports failed allocations. */
#ifndef SPH_REPORT_FIGURE_H
#define SPH_REPORT_FIGURE_H

#include <stddef.h>

struct figure;

/* name: letters, digits, `-` and `_`; script: a file of figures/ without .gp. Caller frees. */
int figure_new(struct figure **out, const char *dir, const char *name, const char *script);
void figure_free(struct figure *figure);
int figure_script(struct figure *figure, const char *script); /* replaces the script */

/* Variables at the head of the script. */
void figure_number(struct figure *figure, const char *key, double value);
void figure_text(struct figure *figure, const char *key, const char *value);

/* Begins the part NAME.PART.dat. header: a line with the names of the columns, or NULL. The functions below append to the latest part. */
void figure_columns(struct figure *figure, const char *part, const char *header);
void figure_row(struct figure *figure, const double *values,
                size_t count);                     /* values that are not finite are gaps */
void figure_gap(struct figure *figure, int lines); /* 1: a new block; 2: a new data set (index) */

/* FIGURE_NO_GNUPLOT: data and script were written, and sph_error() says how to install gnuplot. */
enum { FIGURE_DRAWN = 0, FIGURE_NO_GNUPLOT = 1 };
int figure_draw(struct figure *figure);

/* Like figure_draw, for a script with `frames` pages, each begun by `eval frame(k)`, k from 1. NAME.gif is an animation that shows each
 * page for `seconds`; the other formats have the last page. */
int figure_animate(struct figure *figure, size_t frames, double seconds);

#endif
