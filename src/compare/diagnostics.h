/* SPDX-License-Identifier: MIT
 *
 * Dead and always active units of the trained networks that the tables report, on their training rows. */
#ifndef SPH_COMPARE_DIAGNOSTICS_H
#define SPH_COMPARE_DIAGNOSTICS_H

#include <stddef.h>

#define DIAGNOSTICS_FILE "diagnostics" /* .txt, .csv, .json */

/* A unit of gmp is near a pole of its coordinates where one of its sines but the last is below this. */
static const double diagnostics_near_pole = 0.1;

/* Of one training, all hidden layers together. */
struct unit_counts {
    size_t units;  /* that have an activation; 0: there is no model, or it is of images */
    size_t dead;   /* on for no training row                                            */
    size_t always; /* on for all                                                        */
    size_t angled; /* that have coordinates with poles                                  */
    size_t poles;  /* of these near one                                                 */
};

/* Counts the units of a job that the tables report. Opens its data and makes its net: for a process that may have
 * threads. */
struct results;
int diagnostics_count(struct unit_counts *out, const struct results *results, size_t job);

/* Of a line of the tables, over its seeds. NaN: no training has a number. */
struct diagnostics {
    size_t runs;                        /* with units */
    double units, dead, always, poles;  /* units of a training; shares of them; of those that have poles */
    double best_epoch, epochs, seconds; /* means */
};
void diagnostics_of(struct diagnostics *out, const struct results *results, size_t method, size_t line);

/* Reads diagnostics.json of the folder where it is there: counts (reports). */
int diagnostics_load(struct results *results);

#endif
