/* SPDX-License-Identifier: MIT
 *
 * The columns of a run's metrics.jsonl, drawn in a page. */
#include <math.h>

#include "base/memory.h"
#include "file/json.h"
#include "report/pages.h"
#include "report/sketch.h"
#include "store/runfolder.h"

struct run_curve {
    const char *name;      /* of its values */
    double *epoch, *value; /* (count) */
    size_t count, capacity, value_capacity;
};

static int add_line(void *self, const json_t *line)
{
    struct run_curve *out = self;
    const json_t *epoch = json_object_get(line, "epoch"), *value = json_object_get(line, out->name);
    if (!json_is_number(epoch) || !json_is_number(value))
        return 0;
    if (!mem_reserve((void **)&out->epoch, &out->capacity, out->count + 1, sizeof *out->epoch) ||
        !mem_reserve((void **)&out->value, &out->value_capacity, out->count + 1, sizeof *out->value))
        return SPH_EMEMORY;
    out->epoch[out->count] = json_number_value(epoch);
    out->value[out->count++] = json_number_value(value);
    return 0;
}

int page_add_curves(struct report *report, const char *const *dirs, const char *const *names,
                    const char *const *labels, size_t count, size_t best, const char *caption)
{
    struct run_curve *curves = mem_get(count, sizeof *curves);
    struct sketch_series *series = mem_get(count, sizeof *series);
    struct text svg = {0};
    size_t drawn = 0;
    int err = curves && series ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        curves[i].name = names[i];
        err = metrics_read(dirs[i], add_line, &curves[i]);
        err = err < 0 ? err : 0;
        if (!err && curves[i].count)
            series[drawn++] =
                (struct sketch_series){.name = labels[i],
                                       .x = curves[i].epoch,
                                       .y = curves[i].value,
                                       .count = curves[i].count,
                                       .dots = curves[i].count == 1}; /* no line goes through one epoch */
    }
    if (!err && drawn) {
        sketch_draw(&svg, &(struct sketch){.title = caption,
                                           .x_name = "epoch",
                                           .y_name = "loss",
                                           .series = series,
                                           .count = drawn,
                                           .log_y = 1,
                                           .mark = best ? (double)best : (double)NAN,
                                           .marked = "the epoch that is kept"});
        err = svg.failed ? SPH_EMEMORY : 0;
    }
    if (!err && drawn)
        report_sketch(report, svg.chars, caption);
    else if (!err)
        report_paragraph(report, "There is no epoch yet.");
    for (size_t i = 0; curves && i < count; i++) {
        mem_free(curves[i].epoch);
        mem_free(curves[i].value);
    }
    text_free(&svg);
    mem_free(series);
    mem_free(curves);
    return err;
}
