/* SPDX-License-Identifier: MIT
 *
 * The columns of a run's metrics.jsonl, for the pages that draw them. */
#ifndef SPH_REPORT_RUN_CURVES_H
#define SPH_REPORT_RUN_CURVES_H

#include <stddef.h>

struct run_curve {
    double *epoch, *value; /* (count) */
    size_t count, capacity, value_capacity;
};

/* The values called name in dir/metrics.jsonl; none is no failure. Free with run_curve_free, also after one. */
int run_curve_read(struct run_curve *out, const char *dir, const char *name);
void run_curve_free(struct run_curve *curve);

#endif
