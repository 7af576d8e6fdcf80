/* SPDX-License-Identifier: MIT
 *
 * The scripts of figures/, as the build put them into the library (cmake/Scripts.cmake). */
#ifndef SPH_REPORT_SCRIPTS_H
#define SPH_REPORT_SCRIPTS_H

enum { SCRIPT_SHA256 = 32 };

struct figure_script {
    const char *name;           /* of the file, without .gp; "report.css", "charts.js" */
    const unsigned char *chars; /* NUL-terminated */
    const char *sha256;         /* (SCRIPT_SHA256) bytes */
};

extern const struct figure_script figure_scripts[]; /* ends with a NULL name */

/* NULL: there is none of that name. charts.js and uplot.css are there only if uPlot was at hand when this was built. */
const struct figure_script *figure_script_find(const char *name);

#endif
