/* SPDX-License-Identifier: MIT
 *
 * gnuplot as a child process. It is searched on PATH at run time. */
#ifndef SPH_REPORT_GNUPLOT_H
#define SPH_REPORT_GNUPLOT_H

#include <stddef.h>

/* Runs `gnuplot -d -e commands script` in the open folder, without a shell and without the user's start-up files, for at most five minutes
 * (or SPHERELU_GNUPLOT_SECONDS). dir: the name of the folder for messages. Returns 0, 1 if there is no gnuplot, or SPH_EIO with
 * gnuplot's message. */
int gnuplot_run(const char *dir, int folder, const char *script, const char *commands);

#endif
