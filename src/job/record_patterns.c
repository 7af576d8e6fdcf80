/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/patterns.h"
#include "job/recorder.h"

struct self {
    struct patterns *patterns;
    struct npz_array *constants; /* (sites) */
    uint64_t *bits;              /* (sites) their numbers */
};

static void free_self(void *pointer)
{
    struct self *self = pointer;
    patterns_free(self->patterns);
    mem_free(self->constants);
    mem_free(self->bits);
    mem_free(self);
}

static int make_constants(struct recorder *recorder, struct self *self)
{
    size_t sites = recorder->constant_count = patterns_sites(self->patterns);
    recorder->constants = self->constants = mem_get(sites, sizeof *self->constants);
    self->bits = mem_get(sites, sizeof *self->bits);
    if (!self->constants || !self->bits)
        return SPH_EMEMORY;
    for (size_t i = 0; i < sites; i++) {
        const struct patterns_site *site = patterns_site(self->patterns, i);
        struct npz_array *array = &self->constants[i];
        self->bits[i] = site->features;
        *array = (struct npz_array){.type = "<u8", .bytes = &self->bits[i]};
        snprintf(array->name, sizeof array->name, "%s.bits", site->path);
    }
    return 0;
}

/* One column for each part of a record, in its order. */
static int open_series(struct recorder *recorder, const struct patterns *patterns, const char *path,
                       uint64_t keep_rows)
{
    struct columns columns = {0};
    columns_add(&columns, NULL, "pattern_step", "<u8", 0, NULL);
    for (size_t i = 0; i < patterns_sites(patterns); i++) {
        const struct patterns_site *site = patterns_site(patterns, i);
        const size_t shape[] = {patterns_rows(patterns), site->bytes};
        columns_add(&columns, site->path, "pattern", "|u1", 2, shape);
        columns_add(&columns, site->path, "flips", "<u8", 0, NULL);
        columns_add(&columns, site->path, "distinct", "<u8", 0, NULL);
    }
    columns_add(&columns, NULL, "flips", "<u8", 0, NULL);
    columns_add(&columns, NULL, "distinct", "<u8", 0, NULL);
    int err = recorder_open(recorder, path, &columns, keep_rows, 0);
    assert(err || series_row_bytes(recorder->series) == patterns_bytes(patterns));
    return err;
}

static int take(struct recorder *recorder, uint64_t step)
{
    const void *row;
    int err = patterns_take(((struct self *)recorder->self)->patterns, step, &row);
    return err ? err : series_add(recorder->series, row);
}

int recorder_patterns(struct recorder *out, const char *path, sph_net *net, const struct source *source,
                      uint64_t keep_rows)
{
    struct self *self = mem_get(1, sizeof *self);
    int err;
    if (!self)
        return SPH_EMEMORY;
    *out = (struct recorder){.self = self, .take = take, .free = free_self};
    if ((err = patterns_new(&self->patterns, net, source)) < 0 || (err = make_constants(out, self)) < 0 ||
        (err = open_series(out, self->patterns, path, keep_rows)) < 0 ||
        (keep_rows &&
         (err = series_read_row(out->series, keep_rows - 1, patterns_go_on(self->patterns))) < 0))
        recorder_close(out);
    return err;
}
