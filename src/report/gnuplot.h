/* SPDX-License-Identifier: MIT
 *
 * gnuplot as a child process. It is looked for on PATH when it is needed, not when the library is built. */
#ifndef SPH_REPORT_GNUPLOT_H
#define SPH_REPORT_GNUPLOT_H

/* Runs `gnuplot -d -e commands script` in dir, without the user's start-up files. 0; 1 when there is no
 * gnuplot; SPH_EIO with "dir/script: what gnuplot said". */
int gnuplot_run(const char *dir, const char *script, const char *commands);

/* 1 if PATH has a gnuplot. */
int gnuplot_found(void);

#endif
