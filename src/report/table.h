/* SPDX-License-Identifier: MIT
 *
 * The table of an experiment: a comparison for readers and programs, one line per method, in five formats. */
#ifndef SPH_REPORT_TABLE_H
#define SPH_REPORT_TABLE_H

#include "compare/comparison.h"

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_LATEX, TABLE_CSV, TABLE_JSON };

/* Appends to out. The text form ends with a paired verdict in words, one line per compared method. Every
 * format has the warning, failures with their reason, and the verdicts (LaTeX as comments).
 *
 * Means stand with their standard error to two significant digits of the error; n counts the cases with a
 * number. Differences are method minus reference over the cases where both have one, with the 95 % bootstrap
 * interval of their mean and Wilcoxon's p, which is nowhere below what the number of cases can show,
 * approximate or not. CSV and JSON hold all digits; what is not there is an empty cell or null. */
int table_write(const struct comparison *comparison, enum table_format format, struct text *out);

int table_add_text(const struct comparison *comparison, struct text *out);
int table_add_markdown(const struct comparison *comparison, struct text *out);
int table_add_latex(const struct comparison *comparison, struct text *out);
int table_add_csv(const struct comparison *comparison, struct text *out);
int table_add_json(const struct comparison *comparison, struct text *out);

#endif
