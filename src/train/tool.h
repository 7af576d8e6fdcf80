/* SPDX-License-Identifier: MIT
 *
 * For the tool: properties of metrics. Not installed, not part of the API. */
#ifndef SPH_TRAIN_TOOL_H
#define SPH_TRAIN_TOOL_H

#include "spherelu/train.h"

enum {
    SPH_IN_REGRESSION = 1 << SPH_TASK_REGRESSION,
    SPH_IN_BINARY = 1 << SPH_TASK_BINARY,
    SPH_IN_CLASSES = 1 << SPH_TASK_CLASSES
};

typedef struct sph_metric_facts {
    unsigned tasks; /* SPH_IN_...: where it is computed */
    int larger_is_better;
    int every_epoch;       /* of the validation part; others when they are monitored, and at the end */
    size_t least_outputs;  /* of a net that has it                                                  */
    const char *mean;      /* "mean over classes"; NULL: its name says it                             */
    int second_class;      /* the score of the second class alone                                    */
    const char *undefined; /* "with fewer than 2 rows": where it is NaN; NULL: nowhere              */
    const char *beside;    /* the metric that tables show next to it, by its word; NULL: none       */
} sph_metric_facts;

const sph_metric_facts *sph_metric_about(sph_metric metric);
sph_metric sph_metric_of(sph_task task); /* what stands for the task if no other is asked for */

#endif
