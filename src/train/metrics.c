/* SPDX-License-Identifier: MIT */
#include "train/metrics.h"
#include "train/tool.h"

#include <assert.h>
#include <math.h>

static double finish_loss(const struct metric_part *part, const double *sum)
{
    (void)sum;
    return part->loss;
}

const struct metric metric_LOSS = {
    .facts = {.tasks = SPH_IN_REGRESSION | SPH_IN_BINARY | SPH_IN_CLASSES, .every_epoch = 1},
    .finish = finish_loss,
};

static_assert((int)SPH_METRIC_COUNT <= (int)SPH_METRICS_MAX, "sph_scores holds all metrics");

const struct metric *metric_row(sph_metric metric)
{
#define METRIC_AT(id, word, help) [SPH_METRIC_##id] = &metric_##id,
    static const struct metric *const table[] = {SPH_METRICS(METRIC_AT)};
    return table[metric];
}

const sph_metric_facts *sph_metric_about(sph_metric metric)
{
    return (unsigned)metric < SPH_METRIC_COUNT ? &metric_row(metric)->facts : NULL;
}

size_t metric_list(sph_task task, size_t outputs, sph_metric list[SPH_METRICS_MAX])
{
    size_t count = 0;
    for (int m = 0; m < SPH_METRIC_COUNT; m++) {
        const sph_metric_facts *facts = sph_metric_about((sph_metric)m);
        if ((facts->tasks >> task & 1) && outputs >= facts->least_outputs)
            list[count++] = (sph_metric)m;
    }
    return count;
}

sph_metric sph_metric_of(sph_task task)
{
    sph_metric list[SPH_METRICS_MAX];
    if ((unsigned)task >= SPH_TASK_COUNT)
        return SPH_METRIC_LOSS;
    metric_list(task, 1, list);
    return list[1];
}

size_t metric_class(size_t outputs, const double *p)
{
    size_t top = 0;
    if (outputs == 1)
        return p[0] > 0;
    for (size_t c = 1; c < outputs; c++)
        if (p[c] > p[top])
            top = c;
    return top;
}

void metric_softmax(size_t classes, double *p)
{
    double largest = p[metric_class(classes, p)], sum = 0;
    for (size_t c = 0; c < classes; c++)
        sum += p[c] = exp(p[c] - largest);
    for (size_t c = 0; c < classes; c++)
        p[c] /= sum;
}
