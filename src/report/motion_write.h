/* SPDX-License-Identifier: MIT */
#ifndef SPH_REPORT_MOTION_WRITE_H
#define SPH_REPORT_MOTION_WRITE_H

#include "compare/motion.h"

/* motion.txt, .csv and .json in dir; removed, or never made, where there is nothing to say. */
int motion_write(const struct motion *motion, const char *dir);

#endif
