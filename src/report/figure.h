/* SPDX-License-Identifier: MIT
 *
 * One figure: numbers, words and data columns on one side, a gnuplot script of figures/ on the other. In DIR
 * it becomes
 *
 *   NAME.gp               variables, figures/style.gp and the script, in one file that a user may edit and
 *                         run: `gnuplot NAME.gp`, or `gnuplot -e "format='svg'" NAME.gp` (png, svg, pdf)
 *   NAME.PART.dat         the data, one file per part: columns, `#` comments, blank lines between blocks
 *   NAME.png, .svg, .pdf  the picture
 *
 * Each file is the old one or the new one at every moment.
 *
 * A script finds `name` and the figure's own variables defined, and its parts under part('PART').
 * $SPHERELU_FIGURES, when set, is a folder whose scripts replace those built in, one by one.
 *
 * What is added gathers in memory: add freely, figure_draw reports a failed allocation. */
#ifndef SPH_REPORT_FIGURE_H
#define SPH_REPORT_FIGURE_H

#include <stddef.h>

struct figure;

/* name: letters, digits, `-` and `_`; script: a file of figures/ without .gp. Caller frees. */
int figure_new(struct figure **out, const char *dir, const char *name, const char *script);
void figure_free(struct figure *figure);
int figure_script(struct figure *figure, const char *script); /* another one */

/* Variables at the head of the script. */
void figure_number(struct figure *figure, const char *key, double value);
void figure_text(struct figure *figure, const char *key, const char *value);

/* Begins NAME.PART.dat; header: what its columns are, one line, or NULL. The functions below add to the part
 * begun last. */
void figure_columns(struct figure *figure, const char *part, const char *header);
void figure_row(struct figure *figure, const double *values, size_t count); /* what is not finite is a gap */
void figure_gap(struct figure *figure, int lines); /* 1: a new block; 2: a new data set (index) */

/* FIGURE_NO_GNUPLOT: data and script are there, sph_error() says how to get gnuplot. */
enum { FIGURE_DRAWN = 0, FIGURE_NO_GNUPLOT = 1 };
int figure_draw(struct figure *figure);

/* As figure_draw, for a script that draws `frames` pages, each opened by `eval frame(k)`, k from 1: NAME.gif is an animation that
 * shows each page for `seconds` and repeats; the other formats show the last page. */
int figure_animate(struct figure *figure, size_t frames, double seconds);

#endif
