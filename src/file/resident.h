/* SPDX-License-Identifier: MIT
 *
 * What this process holds of the machine's memory. */
#ifndef SPH_FILE_RESIDENT_H
#define SPH_FILE_RESIDENT_H

/* Bytes now, and the most there were; NaN where the system does not say. */
void resident_bytes(double *now, double *most);

#endif
