/* SPDX-License-Identifier: MIT */
#ifndef SPH_BASE_CLOCK_H
#define SPH_BASE_CLOCK_H

double clock_seconds(void); /* monotonic, from no moment in particular */

#endif
