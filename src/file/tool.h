/* SPDX-License-Identifier: MIT
 *
 * For the tool: functions for signal handlers. Not installed, not part of the API. */
#ifndef SPH_FILE_TOOL_H
#define SPH_FILE_TOOL_H

#include "spherelu/base.h"

/* Removes the temporary files of calls that are under way. For the signal handler of a program that is about to end: it
 * only calls unlink. Such calls then fail. */
void sph_remove_unfinished(void);

#endif
