/* SPDX-License-Identifier: MIT
 *
 * Which class the rows of each class are given. */
#include "base/error.h"
#include "base/memory.h"
#include "job/run.h"
#include "job/tool.h"
#include "job/verdicts.h"

void sph_confusion_free(sph_confusion *confusion)
{
    if (!confusion)
        return;
    mem_free_texts(confusion->label, confusion->classes);
    mem_free(confusion->count);
    *confusion = (sph_confusion){0};
}

static int fill(sph_confusion *out, sph_run *run, const sph_data *data, const uint32_t *rows, size_t count)
{
    struct verdict *list = mem_get(count, sizeof *list);
    out->count = mem_get(data->classes * data->classes, sizeof *out->count);
    out->label = mem_copy_texts(data->labels, data->classes);
    int err = list && out->count && out->label ? 0 : SPH_EMEMORY;
    out->classes = err ? 0 : data->classes;
    if (!err && !(err = verdicts_make(list, run->nets, run->members, data, rows, count)))
        verdicts_count(out->count, out->classes, list, count);
    mem_free(list);
    return err;
}

int sph_run_confusion(sph_run *run, const char *source, sph_confusion *out)
{
    NEED(run, out);
    sph_data *data = NULL;
    const uint32_t *rows = NULL;
    size_t count = 0;
    *out = (sph_confusion){0};
    int err = run_open_data(run, source, 1, &data);
    if (!err && (data->task == SPH_TASK_REGRESSION || data->targets != 1))
        err = sph_fail_key(SPH_EARG, "confusion", "%s is not a classifier", run->dir);
    if (!err)
        err = run_scored_rows(run, source, data, &rows, &count);
    if (!err)
        err = fill(out, run, data, rows, count);
    sph_data_free(data);
    return err;
}
