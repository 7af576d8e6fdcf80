/* SPDX-License-Identifier: MIT
 *
 * A report: one HTML file with its style, its figures and its charts inside. It loads nothing else, has a script only for its charts,
 * follows the reader's light or dark scheme, fits a phone and prints.
 *
 * Add the parts in reading order. Texts are plain: characters with a meaning in HTML are escaped, invalid UTF-8 is replaced. A
 * failure of any part is kept and returned by report_write, so check only there. The same parts give the same bytes. */
#ifndef SPH_REPORT_REPORT_H
#define SPH_REPORT_REPORT_H

#include <stddef.h>

#include "report/chart.h"
#include "report/table.h"

struct report;

#define REPORT_WORDS __attribute__((format(printf, 2, 3)))

/* subtitle: a sentence below the title, or NULL. */
int report_new(struct report **out, const char *title, const char *subtitle);
void report_free(struct report *report); /* NULL is fine */

/* Keeps err if it is the first failure. */
void report_fail(struct report *report, int err);

/* Begins a section and adds its heading to the list of contents. */
void report_section(struct report *report, const char *format, ...) REPORT_WORDS;

void report_paragraph(struct report *report, const char *format, ...) REPORT_WORDS;
void report_text(struct report *report, struct text *words); /* a paragraph, or nothing; frees the words */
void report_note(struct report *report, const char *format,
                 ...) REPORT_WORDS; /* small print that explains a table */
void report_warning(struct report *report, const char *format, ...) REPORT_WORDS; /* in a box */
void report_list(struct report *report, const struct text *lines);
void report_notes(struct report *report, const struct text *lines); /* lines as one paragraph, typeset */

/* Parts between these two are hidden until the reader opens them, and are printed. They do not nest. */
void report_fold(struct report *report, const char *format, ...) REPORT_WORDS;
void report_unfold(struct report *report);

/* The first column names the row. report_take_table also frees the table. */
void report_table(struct report *report, const struct table *table);
void report_take_table(struct report *report, struct table *table);

/* Preformatted text, for files and commands. */
void report_code(struct report *report, const char *caption, const char *text);
void report_command(struct report *report, const char *caption, const char *command); /* wraps between options only */

/* The picture dir/name.svg with its caption and links to name.pdf, .svg, .png, .gif, the script name.gp and the data
 * name.PART.dat, as far as they exist. Write the report into the parent folder of dir. name.png replaces an SVG that is incomplete or
 * larger than REPORT_SVG_MOST bytes; if there is no picture, the reader is told how to draw it. An animation name.gif is shown
 * before the SVG, which serves print and readers who prefer no motion. */
enum { REPORT_SVG_MOST = 2 << 20, REPORT_MOVING_MOST = 4 << 20 };
void report_figure(struct report *report, const char *dir, const char *name, const char *caption);

/* Frees chart->table. */
void report_chart(struct report *report, const struct chart *chart);

/* Replaces path by the report, unless adding a part failed. */
int report_write(struct report *report, const char *path);

#endif
