/* SPDX-License-Identifier: MIT
 *
 * Opening a source as a sheet, whatever it is, and going through its rows. */
#include "data/sheet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/levels.h"
#include "data/npz.h"
#include "data/registry.h"
#include "data/tool.h"

int sheet_fail(const struct sheet *sheet, size_t line, const char *column, const char *format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (sheet->is_text)
        return sph_fail_of(SPH_EFORMAT, sheet->path, line, column, "%s", text);
    return sph_fail_of(SPH_EFORMAT, sheet->path, 0, column, "row %zu: %s", line, text);
}

/* ---------------------------------------------------------------- names */

/* By name, then by position. */
static int compare_names(const void *a, const void *b)
{
    char **left = *(char **const *)a, **right = *(char **const *)b;
    int order = strcmp(*left, *right);
    return order ? order : (left > right) - (left < right);
}

/* repeat of the first of equal names counts them, that of the others is 0, and they are renamed. */
static int part_repetitions(struct sheet *sheet)
{
    size_t n = sheet->columns;
    int err = 0;
    char ***order = sheet->by_name = mem_get(n, sizeof *order);
    if (!order)
        return SPH_EMEMORY;
    for (size_t i = 0; i < n; i++)
        order[i] = &sheet->names[i];
    qsort(order, n, sizeof *order, compare_names);
    for (size_t i = 0, end; i < n && !err; i = end) {
        for (end = i + 1; end < n && !strcmp(*order[end], *order[i]); end++) {
            char *renamed = mem_format("%s.%zu", *order[i], end - i);
            if (!renamed) {
                err = SPH_EMEMORY;
                break;
            }
            mem_free(*order[end]);
            *order[end] = renamed;
        }
        sheet->repeat[order[i] - sheet->names] = end - i;
    }
    if (!err) {
        qsort(order, n, sizeof *order, compare_names);
        for (size_t i = 1; i < n && !err; i++)
            if (!strcmp(*order[i], *order[i - 1]))
                err = sph_fail_of(SPH_EFORMAT, sheet->path, 0, *order[i],
                                  "more than one column is named '%s'", *order[i]);
    }
    return err;
}

ptrdiff_t sheet_find(const struct sheet *sheet, const char *name)
{
    for (size_t low = 0, high = sheet->columns; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, *sheet->by_name[middle]);
        if (!order)
            return sheet->by_name[middle] - sheet->names;
        *(order < 0 ? &high : &low) = order < 0 ? middle : middle + 1;
    }
    return -1;
}

static void free_names(struct sheet *sheet)
{
    mem_free_texts(sheet->names, sheet->columns);
    mem_free(sheet->by_name);
    mem_free(sheet->repeat);
    sheet->names = NULL;
    sheet->by_name = NULL;
    sheet->repeat = NULL;
}

int sheet_set_names(struct sheet *sheet, const char *const *names)
{
    free_names(sheet);
    sheet->names = mem_get(sheet->columns, sizeof *sheet->names);
    sheet->repeat = mem_get(sheet->columns, sizeof *sheet->repeat);
    if (!sheet->names || !sheet->repeat)
        return SPH_EMEMORY;
    for (size_t i = 0; i < sheet->columns; i++) {
        sheet->names[i] = names && *names[i] ? mem_text(names[i]) : mem_format("%zu", i);
        if (!sheet->names[i])
            return SPH_EMEMORY;
    }
    return part_repetitions(sheet);
}

int sheet_number_names(struct sheet *sheet, size_t first)
{
    char **names = mem_get(sheet->columns, sizeof *names);
    int err = names ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < sheet->columns && !err; i++) {
        size_t target = i - sheet->x.columns;
        names[i] = i < sheet->x.columns    ? mem_format("x%zu", i + first)
                   : sheet->y.columns == 1 ? mem_text("y")
                                           : mem_format("y%zu", target);
        err = names[i] ? 0 : SPH_EMEMORY;
    }
    if (!err)
        err = sheet_set_names(sheet, (const char *const *)names);
    mem_free_texts(names, names ? sheet->columns : 0);
    sheet->named = 1;
    return err;
}

/* The names a known set's columns have, when the file has as many columns and no header. */
static int set_known_names(struct sheet *sheet, const char *list)
{
    if (sheet->text.header)
        return 0;
    size_t count = 1;
    for (const char *p = list; (p = strchr(p, ',')); p++)
        count++;
    if (count != sheet->columns)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "%zu columns, expected %zu", sheet->columns, count);
    char *copy = mem_text(list);
    const char **names = mem_get(count, sizeof *names);
    int err = copy && names ? 0 : SPH_EMEMORY;
    if (!err) {
        char *p = copy;
        for (size_t i = 0; i < count; i++) {
            names[i] = p;
            p += strcspn(p, ",");
            *p++ = '\0';
        }
        err = sheet_set_names(sheet, names);
        sheet->named = 1;
    }
    mem_free(copy);
    mem_free(names);
    return err;
}

/* ---------------------------------------------------------------- opening */

/* Tables of other programs, which have an export to CSV. */
static int check_foreign(const struct reader_file *named)
{
    static const char *const ends[][2] = {
        {".xlsx", "an Excel"},     {".xls", "an Excel"},      {".ods", "an OpenDocument"},
        {".parquet", "a Parquet"}, {".feather", "a Feather"}, {".arrow", "an Arrow"},
        {".sqlite", "an SQLite"},  {".sav", "an SPSS"},       {".dta", "a Stata"},
        {".json", "a JSON"},       {".jsonl", "a JSON"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (reader_ends(named, ends[i][0]))
            return sph_fail_at(SPH_EFORMAT, named->path,
                               "%s file, which cannot be read; save the table as CSV", ends[i][1]);
    return 0;
}

static int open_bytes(struct sheet *sheet, const struct sheet_hints *hints)
{
    const struct reader *reader;
    struct reader_file named = {.path = sheet->path};
    int foreign = check_foreign(&named);
    if (foreign < 0)
        return foreign;
    int arrays = reader_ends(&named, ".npy") || reader_ends(&named, ".npz");
    int err = (arrays ? data_bytes_read : data_bytes_read_stream)(&sheet->file, sheet->path);
    if (err < 0)
        return err;
    sheet->bytes = (const char *)sheet->file.data;
    sheet->length = sheet->file.length;
    if (sheet->length > 4 && !memcmp(sheet->bytes, "PK\3\4", 4) &&
        memmem(sheet->bytes, sheet->length, "[Content_Types].xml", 19))
        return sph_fail_at(SPH_EFORMAT, sheet->path,
                           "an Excel file, which cannot be read; save the table as CSV");
    struct reader_file file = {sheet->path, sheet->bytes, sheet->length};
    err = registry_reader(&reader, &file, READ_SHEET);
    return err ? err : reader->open_sheet(sheet, hints);
}

int sheet_open(struct sheet *out, const char *source, const sph_data_opts *opts,
               const struct sheet_hints *hints)
{
    struct sheet_hints all = *hints;
    all.delimiter = opts->delimiter;
    *out = (struct sheet){.default_targets = 1, .text.missing_words = opts->missing_words};
    const sph_data_set *set = registry_find(source);
    struct stat info;
    if (set && !stat(source, &info) && S_ISREG(info.st_mode))
        set = NULL; /* a file of that name is meant */
    int err = 0;
    if (set && set->images)
        return sph_fail_at(SPH_EFORMAT, source, "a dataset of images, expected a table");
    if (opts->noise > 0 && !(set && !set->file))
        return sph_fail_key(SPH_EARG, "noise",
                            "only used with crescents, spirals and levy, not with %s; remove this option",
                            source);
    if (opts->by_numpy && !(set && !set->file))
        return sph_fail_key(SPH_EARG, "draw", "only used with levy, not with %s; remove this option", source);
    if (set)
        out->set = set;
    else if (!file_exists(source))
        return registry_unknown(source);
    if (set && set->file)
        err = registry_path(&out->path, set);
    else if (!(out->path = mem_text(source)))
        err = SPH_EMEMORY;
    if (!err)
        err = set && !set->file ? synthetic_sheet(out, set->name, opts) : open_bytes(out, &all);
    if (!err && set && set->names)
        err = set_known_names(out, set->names);
    out->made = set && !set->file;
    if (!err && !out->rows)
        err = sph_fail_at(SPH_EFORMAT, out->path, "%s",
                          out->text.header ? "the file has a header but no rows" : "no rows");
    if (err == SPH_EMEMORY && out->path && !*sph_failure()->path)
        sph_fail_move(err, out->path, 0, 0);
    if (err < 0)
        sheet_free(out);
    return err;
}

void sheet_free(struct sheet *sheet)
{
    free_names(sheet);
    for (size_t i = 0; sheet->text.profile && i < sheet->columns; i++) {
        mem_free(sheet->text.profile[i].text_example);
        mem_free(sheet->text.profile[i].mark_example);
    }
    text_sheet_forget(sheet);
    mem_free(sheet->text.profile);
    mem_free(sheet->own[0]);
    mem_free(sheet->own[1]);
    npz_free(sheet->npz);
    mem_free(sheet->path);
    data_bytes_free(&sheet->file);
    *sheet = (struct sheet){0};
}

void sheet_keep_test_part(struct sheet *sheet)
{
    if (!sheet->test_from)
        return;
    sheet->x.bytes += sheet->test_from * sheet->x.columns * sheet->x.size;
    sheet->rows -= sheet->test_from;
    sheet->x.rows = sheet->rows;
    sheet->test_from = 0;
}

/* ---------------------------------------------------------------- rows */

static int scan_numbers(const struct sheet *sheet, sheet_row *row, void *user)
{
    struct cell *cells = mem_get(sheet->columns, sizeof *cells);
    if (!cells)
        return SPH_EMEMORY;
    int err = 0;
    for (size_t i = 0; i < sheet->rows && !err; i++) {
        for (size_t j = 0; j < sheet->columns; j++) {
            double value = j < sheet->x.columns ? array_at(&sheet->x, i, j)
                                                : array_at(&sheet->y, i, j - sheet->x.columns);
            cells[j].value = value;
            cells[j].kind = isnan(value) ? CELL_MISSING : isinf(value) ? CELL_INFINITE : CELL_NUMBER;
        }
        err = row(user, i, cells);
    }
    mem_free(cells);
    return err;
}

int sheet_scan(const struct sheet *sheet, sheet_row *row, void *user)
{
    return sheet->text.parsed ? text_sheet_scan_parsed(sheet, row, user) : sheet_scan_text(sheet, row, user);
}

int sheet_scan_text(const struct sheet *sheet, sheet_row *row, void *user)
{
    return sheet->is_text ? text_sheet_scan(sheet, row, user) : scan_numbers(sheet, row, user);
}

int sheet_tells(const struct sheet *sheet, size_t column)
{
    return !sheet->text.parsed ||
           (!sheet->text.profile[column].numbers && !sheet->text.words[column].overflow);
}
