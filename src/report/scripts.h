/* SPDX-License-Identifier: MIT
 *
 * The files of figures/, embedded by the build (cmake/Scripts.cmake). */
#ifndef SPH_REPORT_SCRIPTS_H
#define SPH_REPORT_SCRIPTS_H

enum { SCRIPT_SHA256 = 32 };

struct figure_script {
    const char *name;           /* of the file, without .gp; "report.css", "charts.js" */
    const unsigned char *chars; /* NUL-terminated */
    const char *sha256;         /* (SCRIPT_SHA256) bytes */
};

extern const struct figure_script figure_scripts[]; /* ends with a NULL name */

/* NULL if there is no such file. charts.js and uplot.css exist only if the build found uPlot. */
const struct figure_script *figure_script_find(const char *name);

#endif
