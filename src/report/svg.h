/* SPDX-License-Identifier: MIT
 *
 * gnuplot's SVG, made fit to stand beside others in one page and to be read anywhere. */
#ifndef SPH_REPORT_SVG_H
#define SPH_REPORT_SVG_H

#include "base/text.h"

/* The picture with `name-` before every id and every reference to one, a generic family behind every lone
 * font, and blanks at the ends of text kept. svg is NUL-terminated. */
void svg_finish(struct text *out, const char *svg, const char *name);

#endif
