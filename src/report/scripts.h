/* SPDX-License-Identifier: MIT
 *
 * The scripts of figures/, as the build put them into the library (cmake/Scripts.cmake). */
#ifndef SPH_REPORT_SCRIPTS_H
#define SPH_REPORT_SCRIPTS_H

struct figure_script {
    const char *name;           /* of the file, without .gp; "report.css" */
    const unsigned char *chars; /* NUL-terminated */
};

extern const struct figure_script figure_scripts[]; /* ends with a NULL name */

#endif
