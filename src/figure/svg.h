/* SPDX-License-Identifier: MIT
 *
 * SVG that can stand beside others in one page. */
#ifndef SPH_FIGURE_SVG_H
#define SPH_FIGURE_SVG_H

#include "base/text.h"

/* The picture with `name-` before every id and before every reference to one; svg is NUL-terminated. */
void svg_rename(struct text *out, const char *svg, const char *name);

#endif
