/* SPDX-License-Identifier: MIT
 *
 * gnuplot as a child process. It is looked for on PATH when it is needed, not when the library is built. */
#ifndef SPH_REPORT_GNUPLOT_H
#define SPH_REPORT_GNUPLOT_H

#include <stddef.h>

/* Runs `gnuplot -d -e commands script` in the open folder, which messages call dir, without a shell and without the user's start-up files, for five
 * minutes at most (or the seconds that SPHERELU_GNUPLOT_SECONDS says). 0; 1 when there is no gnuplot; SPH_EIO with "dir/script: what gnuplot said". */
int gnuplot_run(const char *dir, int folder, const char *script, const char *commands);

#endif
