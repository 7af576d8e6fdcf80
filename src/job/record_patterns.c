/* SPDX-License-Identifier: MIT */
#include "job/record_patterns.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

struct record_patterns {
    struct patterns *patterns;
    struct series *series;
    struct npz_array *constants; /* (sites) */
    uint64_t *bits;              /* (sites) their numbers */
};

static struct series_column number(const char *name)
{
    struct series_column column = {.type = "<u8"};
    snprintf(column.name, sizeof column.name, "%s", name);
    return column;
}

static struct series_column number_of(const char *path, const char *what)
{
    struct series_column column = {.type = "<u8"};
    snprintf(column.name, sizeof column.name, "%s.%s", path, what);
    return column;
}

/* One column for each part of a record, in its order. */
static int open_series(struct record_patterns *record, const char *path, uint64_t keep_rows)
{
    const struct patterns *patterns = record->patterns;
    size_t sites = patterns_sites(patterns), count = 0;
    struct series_column *columns = mem_get(3 * sites + 3, sizeof *columns);
    if (!columns)
        return SPH_EMEMORY;
    columns[count++] = number("pattern_step");
    for (size_t i = 0; i < sites; i++) {
        const struct patterns_site *site = patterns_site(patterns, i);
        struct series_column bits = {
            .type = "|u1", .shape = {patterns_rows(patterns), site->bytes}, .ndim = 2};
        snprintf(bits.name, sizeof bits.name, "%s.pattern", site->path);
        columns[count++] = bits;
        columns[count++] = number_of(site->path, "flips");
        columns[count++] = number_of(site->path, "distinct");
    }
    columns[count++] = number("flips");
    columns[count++] = number("distinct");
    int err = series_open(&record->series, path, columns, count, keep_rows);
    mem_free(columns);
    assert(err || series_row_bytes(record->series) == patterns_bytes(patterns));
    return err;
}

static int make_constants(struct record_patterns *record)
{
    size_t sites = patterns_sites(record->patterns);
    record->constants = mem_get(sites, sizeof *record->constants);
    record->bits = mem_get(sites, sizeof *record->bits);
    if (!record->constants || !record->bits)
        return SPH_EMEMORY;
    for (size_t i = 0; i < sites; i++) {
        const struct patterns_site *site = patterns_site(record->patterns, i);
        struct npz_array *array = &record->constants[i];
        record->bits[i] = site->features;
        *array = (struct npz_array){.type = "<u8", .bytes = &record->bits[i]};
        snprintf(array->name, sizeof array->name, "%s.bits", site->path);
    }
    return 0;
}

int record_patterns_open(struct record_patterns **out, const char *path, sph_net *net,
                         const struct source *source, uint64_t keep_rows)
{
    struct record_patterns *record = *out = mem_get(1, sizeof *record);
    int err = SPH_EMEMORY;
    if (!record)
        return err;
    if ((err = patterns_new(&record->patterns, net, source)) < 0 || (err = make_constants(record)) < 0 ||
        (err = open_series(record, path, keep_rows)) < 0 ||
        (keep_rows &&
         (err = series_read_row(record->series, keep_rows - 1, patterns_go_on(record->patterns))) < 0)) {
        record_patterns_free(record);
        *out = NULL;
    }
    return err;
}

void record_patterns_free(struct record_patterns *record)
{
    if (!record)
        return;
    series_close(record->series);
    patterns_free(record->patterns);
    mem_free(record->constants);
    mem_free(record->bits);
    mem_free(record);
}

int record_patterns_take(struct record_patterns *record, uint64_t step)
{
    const void *row;
    int err = patterns_take(record->patterns, step, &row);
    return err ? err : series_add(record->series, row);
}

struct series *record_patterns_series(const struct record_patterns *record)
{
    return record->series;
}

const struct npz_array *record_patterns_constants(const struct record_patterns *record, size_t *count)
{
    *count = patterns_sites(record->patterns);
    return record->constants;
}
