/* SPDX-License-Identifier: MIT
 *
 * Opening a source as a table, whatever it is, and going through its rows. */
#include "data/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data.h"
#include "data/registry.h"

int table_fail(const struct table *table, size_t line, const char *format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (table->is_text)
        return sph_fail_line(SPH_EFORMAT, table->path, line, "%s", text);
    return sph_fail_at(SPH_EFORMAT, table->path, "row %zu: %s", line, text);
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
static int part_repetitions(struct table *table)
{
    size_t n = table->columns;
    int err = 0;
    char ***order = mem_get(n, sizeof *order); /* into names, sorted */
    if (!order)
        return SPH_EMEMORY;
    for (size_t i = 0; i < n; i++)
        order[i] = &table->names[i];
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
        table->repeat[order[i] - table->names] = end - i;
    }
    if (!err) {
        qsort(order, n, sizeof *order, compare_names);
        for (size_t i = 1; i < n && !err; i++)
            if (!strcmp(*order[i], *order[i - 1]))
                err = sph_fail_at(SPH_EFORMAT, table->path, "more than one column is named '%s'", *order[i]);
    }
    mem_free(order);
    return err;
}

static void free_names(struct table *table)
{
    for (size_t i = 0; table->names && i < table->columns; i++)
        mem_free(table->names[i]);
    mem_free(table->names);
    mem_free(table->repeat);
    table->names = NULL;
    table->repeat = NULL;
}

int table_set_names(struct table *table, const char *const *names)
{
    free_names(table);
    table->names = mem_get(table->columns, sizeof *table->names);
    table->repeat = mem_get(table->columns, sizeof *table->repeat);
    if (!table->names || !table->repeat)
        return SPH_EMEMORY;
    for (size_t i = 0; i < table->columns; i++) {
        table->names[i] = names && *names[i] ? mem_text(names[i]) : mem_format("%zu", i);
        if (!table->names[i])
            return SPH_EMEMORY;
    }
    return part_repetitions(table);
}

/* The names a known set's columns have, when the file has as many columns and no header. */
static int set_known_names(struct table *table, const char *list)
{
    if (table->header)
        return 0;
    size_t count = 1;
    for (const char *p = list; (p = strchr(p, ',')); p++)
        count++;
    if (count != table->columns)
        return sph_fail_at(SPH_EFORMAT, table->path, "%zu columns, expected %zu", table->columns, count);
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
        err = table_set_names(table, names);
        table->named = 1;
    }
    mem_free(copy);
    mem_free(names);
    return err;
}

/* ---------------------------------------------------------------- opening */

static int unknown_source(const char *source)
{
    const char *const *names;
    size_t count = data_known(&names);
    struct text list = {0};
    for (size_t i = 0; i < count; i++)
        text_add(&list, "%s%s", i ? ", " : "", names[i]);
    const char *near = text_nearest(source, names, count);
    int err = list.failed ? SPH_EMEMORY
              : near ? sph_fail_at(SPH_EIO, source, "no such file, nor a known set (%s); do you mean %s?",
                                   list.chars, near)
                     : sph_fail_at(SPH_EIO, source, "no such file, nor a known set (%s)", list.chars);
    text_free(&list);
    return err;
}

static int read_bytes(struct table *table)
{
    struct stat info;
    int err;
    if (!stat(table->path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        if ((err = file_read(&table->pipe, &table->length, table->path)) < 0)
            return err;
        table->bytes = table->pipe;
        return 0;
    }
    if ((err = file_map(&table->map, table->path)) < 0)
        return err;
    table->bytes = (const char *)table->map.data;
    table->length = table->map.length;
    return 0;
}

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcasecmp(text + n - m, end);
}

static int open_bytes(struct table *table, char delimiter, int need_targets, const char *const *expected,
                      size_t expected_count)
{
    int err = read_bytes(table);
    if (err < 0)
        return err;
    if (ends_with(table->path, ".npy") || (table->length >= 6 && !memcmp(table->bytes, "\x93NUMPY", 6)))
        return npy_open(table);
    if (ends_with(table->path, ".npz") || (table->length >= 4 && !memcmp(table->bytes, "PK\3\4", 4)))
        return npz_table_open(table, need_targets);
    return text_table_open(table, delimiter, expected, expected_count);
}

int table_open(struct table *out, const char *source, const sph_data_opts *opts, int need_targets,
               const char *const *expected, size_t expected_count)
{
    *out = (struct table){.default_targets = 1};
    const struct known_set *set = registry_find(source);
    struct stat info;
    if (set && !stat(source, &info) && S_ISREG(info.st_mode))
        set = NULL; /* a file of that name is meant */
    int err = 0;
    if (set && set->images)
        return sph_fail_at(SPH_EFORMAT, source, "a set of images, expected a table");
    if (opts->noise > 0 && !(set && set->made))
        return sph_fail_key(SPH_EARG, "noise", "%s is as it is; crescents and levy are made with noise",
                            source);
    if (set) {
        out->default_target = set->target;
        out->default_drop = set->drop;
    } else if (!file_exists(source))
        return unknown_source(source);
    if (set && set->file)
        err = registry_path(&out->path, set);
    else if (!(out->path = mem_text(source)))
        err = SPH_EMEMORY;
    if (!err)
        err = set && set->made ? synthetic_table(out, set->name, opts)
                               : open_bytes(out, opts->delimiter, need_targets, expected, expected_count);
    if (!err && set && set->names)
        err = set_known_names(out, set->names);
    out->made = set && set->made;
    if (!err && !out->rows)
        err = sph_fail_at(SPH_EFORMAT, out->path, "%s", out->header ? "a header and no rows" : "no rows");
    if (err < 0)
        table_free(out);
    return err;
}

void table_free(struct table *table)
{
    free_names(table);
    for (size_t i = 0; table->profile && i < table->columns; i++) {
        mem_free(table->profile[i].text_example);
        mem_free(table->profile[i].comma_example);
    }
    mem_free(table->profile);
    mem_free(table->own[0]);
    mem_free(table->own[1]);
    mem_free(table->pipe);
    mem_free(table->path);
    if (table->map.data)
        file_unmap(&table->map);
    *table = (struct table){0};
}

void table_keep_test_part(struct table *table)
{
    if (!table->test_from)
        return;
    table->x.bytes += table->test_from * table->x.columns * table->x.size;
    table->rows -= table->test_from;
    table->x.rows = table->rows;
    table->test_from = 0;
}

/* ---------------------------------------------------------------- rows */

static int scan_numbers(const struct table *table, table_row *row, void *user)
{
    struct cell *cells = mem_get(table->columns, sizeof *cells);
    if (!cells)
        return SPH_EMEMORY;
    int err = 0;
    for (size_t i = 0; i < table->rows && !err; i++) {
        for (size_t j = 0; j < table->columns; j++) {
            double value = j < table->x.columns ? array_at(&table->x, i, j)
                                                : array_at(&table->y, i, j - table->x.columns);
            cells[j].value = value;
            cells[j].kind = isnan(value) ? CELL_MISSING : isinf(value) ? CELL_INFINITE : CELL_NUMBER;
        }
        err = row(user, i, cells);
    }
    mem_free(cells);
    return err;
}

int table_scan(const struct table *table, table_row *row, void *user)
{
    return table->is_text ? text_table_scan(table, row, user) : scan_numbers(table, row, user);
}
