/* SPDX-License-Identifier: MIT */
#include "job/recorder.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

void columns_add(struct columns *columns, const char *path, const char *name, const char *type, size_t ndim,
                 const size_t *shape)
{
    if (!mem_reserve((void **)&columns->list, &columns->capacity, columns->count + 1, sizeof *columns->list))
        columns->failed = 1;
    if (columns->failed)
        return;
    struct series_column *column = &columns->list[columns->count++];
    *column = (struct series_column){.ndim = ndim};
    snprintf(column->name, sizeof column->name, "%s%s%s", path ? path : "", path ? "." : "", name);
    memcpy(column->type, type, sizeof column->type);
    for (size_t i = 0; i < ndim; i++)
        column->shape[i] = shape[i];
}

int recorder_open(struct recorder *recorder, const char *path, struct columns *columns, uint64_t keep_rows,
                  int packs)
{
    int err = columns->failed
                  ? SPH_EMEMORY
                  : series_open(&recorder->series, path, columns->list, columns->count, keep_rows);
    if (!err && packs && !(recorder->row = mem_get(series_row_bytes(recorder->series), 1)))
        err = SPH_EMEMORY;
    mem_free(columns->list);
    return err;
}

void recorder_close(struct recorder *recorder)
{
    series_close(recorder->series);
    mem_free(recorder->row);
    if (recorder->free)
        recorder->free(recorder->self);
    *recorder = (struct recorder){0};
}
