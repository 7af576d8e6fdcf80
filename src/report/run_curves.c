/* SPDX-License-Identifier: MIT */
#include "report/run_curves.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "file/file.h"
#include "file/json.h"
#include "report/pages.h"
#include "report/sketch.h"
#include "store/runfolder.h"

static int add_line(struct run_curve *out, const char *path, const char *line, size_t length,
                    const char *name)
{
    json_t *object = NULL;
    int err = json_parse(&object, path, line, length);
    const json_t *epoch = json_object_get(object, "epoch"), *value = json_object_get(object, name);
    if (!err && json_is_number(epoch) && json_is_number(value)) {
        if (!mem_reserve((void **)&out->epoch, &out->capacity, out->count + 1, sizeof *out->epoch) ||
            !mem_reserve((void **)&out->value, &out->value_capacity, out->count + 1, sizeof *out->value))
            err = SPH_EMEMORY;
        else {
            out->epoch[out->count] = json_number_value(epoch);
            out->value[out->count++] = json_number_value(value);
        }
    }
    json_decref(object);
    return err;
}

int run_curve_read(struct run_curve *out, const char *dir, const char *name)
{
    char *path = file_join(dir, RUNFOLDER_METRICS), *text = NULL;
    size_t length = 0;
    *out = (struct run_curve){0};
    int err = path ? 0 : SPH_EMEMORY;
    if (!err && file_exists(path))
        err = file_read(&text, &length, path);
    for (char *at = text, *end; !err && at && at < text + length; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + length - at));
        if (!end) /* a line that is being written */
            break;
        if (end > at)
            err = add_line(out, path, at, (size_t)(end - at), name);
    }
    mem_free(text);
    mem_free(path);
    return err;
}

void run_curve_free(struct run_curve *curve)
{
    mem_free(curve->epoch);
    mem_free(curve->value);
    *curve = (struct run_curve){0};
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
        err = run_curve_read(&curves[i], dirs[i], names[i]);
        if (!err && curves[i].count)
            series[drawn++] = (struct sketch_series){
                .name = labels[i], .x = curves[i].epoch, .y = curves[i].value, .count = curves[i].count};
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
    for (size_t i = 0; curves && i < count; i++)
        run_curve_free(&curves[i]);
    text_free(&svg);
    mem_free(series);
    mem_free(curves);
    return err;
}
