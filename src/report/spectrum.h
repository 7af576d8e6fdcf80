/* SPDX-License-Identifier: MIT
 *
 * The bars of one panel, which predictions show as well. */
#ifndef SPH_REPORT_SPECTRUM_H
#define SPH_REPORT_SPECTRUM_H

#include "report/panels.h"

/* Part p<number>spectrum, and bars_<number>: blocks of a moment each. */
int spectrum_write(struct figure *figure, const struct panel *panel, size_t number);

#endif
