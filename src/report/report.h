/* SPDX-License-Identifier: MIT
 *
 * A report: one HTML file that needs nothing else. Figures are inside it as images, its style too; it
 * loads nothing, has a script only for its charts, follows the reader's light or dark, fits a phone and prints.
 *
 * Parts are added in the order of reading. Every text is plain text: what HTML would take for markup is
 * escaped, bytes that are no UTF-8 are replaced. A part that cannot be added for want of memory makes
 * report_write fail, so add freely and check once. The same parts give the same bytes. */
#ifndef SPH_REPORT_REPORT_H
#define SPH_REPORT_REPORT_H

#include <stddef.h>

#include "report/chart.h"
#include "report/table.h"

struct report;

/* subtitle: one sentence beneath the title, or NULL. */
int report_new(struct report **out, const char *title, const char *subtitle);
void report_free(struct report *report); /* NULL is fine */

/* Begins a section; its heading is in the list of contents as well. */
void report_section(struct report *report, const char *heading);

void report_paragraph(struct report *report, const char *text);
void report_note(struct report *report, const char *text);    /* smaller: what explains a table */
void report_warning(struct report *report, const char *text); /* in a box nobody overlooks */
void report_list(struct report *report, const struct text *lines);
void report_notes(struct report *report, const struct text *lines); /* in one paragraph, typeset */

/* What stands between these two is folded away until the reader opens it (or prints). They do not nest. */
void report_fold(struct report *report, const char *summary);
void report_unfold(struct report *report);

/* The first column names the row. */
int report_table(struct report *report, const struct table *table);

/* Lines as they are, for files and commands. */
void report_code(struct report *report, const char *caption, const char *text);

/* The picture dir/name.svg, with its caption and links to name.pdf, .svg, .png, .gif, the script name.gp and
 * the data name.PART.dat, as far as they are there. The report has to be written into the folder that dir
 * lies in. An SVG above REPORT_SVG_MOST bytes, or one that was cut short, is replaced by name.png; where
 * neither is there, the reader is told how to draw it from the script. name.gif, an animation, stands before the
 * SVG, which is then for paper and for readers who want no motion. */
enum { REPORT_SVG_MOST = 2 << 20, REPORT_MOVING_MOST = 4 << 20 };
void report_figure(struct report *report, const char *dir, const char *name, const char *caption);

int report_chart(struct report *report, const struct chart *chart);

/* Replaces path by the report. */
int report_write(struct report *report, const char *path);

#endif
