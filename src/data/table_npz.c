/* SPDX-License-Identifier: MIT
 *
 * A table of an NPZ file: x holds the features, y the targets. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/npz.h"
#include "data/registry.h"

static int is_features(const char *name)
{
    static const char *const names[] = {"x", "X", "data"};
    return text_find(name, names, sizeof names / sizeof *names) >= 0;
}

static int is_targets(const char *name)
{
    static const char *const names[] = {"y", "Y", "labels", "target"};
    return text_find(name, names, sizeof names / sizeof *names) >= 0;
}

static int is_either(const char *name)
{
    return is_features(name) || is_targets(name);
}

/* array <- the one whose name is; its bytes are NULL where there is none. */
static int take(struct array *array, const struct sheet *sheet, npz_wanted *is, const char *what)
{
    const char *name, *found = NULL;
    const struct npy_header *header;
    const unsigned char *numbers;
    for (size_t i = 0; (name = npz_name(sheet->npz, i)); i++) {
        if (!is(name))
            continue;
        if (found)
            return sph_fail_of(SPH_EFORMAT, sheet->path, 0, name, "%s: a second array that could be the %s",
                               name, what);
        found = name;
    }
    int err = found ? npz_numbers(sheet->npz, found, &header, &numbers) : 0;
    if (!found || err < 0)
        return err;
    if ((err = npy_array(array, header, sheet->path)) < 0)
        return sph_fail_about(err, found, "%s", found);
    array->bytes = numbers;
    return 0;
}

static int name_columns(struct sheet *sheet)
{
    char **names = mem_get(sheet->columns, sizeof *names);
    int err = names ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < sheet->columns && !err; i++) {
        if (i < sheet->x.columns)
            names[i] = mem_format("x%zu", i);
        else
            names[i] = sheet->y.columns == 1 ? mem_text("y") : mem_format("y%zu", i - sheet->x.columns);
        err = names[i] ? 0 : SPH_EMEMORY;
    }
    if (!err)
        err = sheet_set_names(sheet, (const char *const *)names);
    for (size_t i = 0; names && i < sheet->columns; i++)
        mem_free(names[i]);
    mem_free(names);
    sheet->named = 1;
    return err;
}

static int fail_absent(const struct sheet *sheet, const char *expected)
{
    struct text names = {0};
    const char *name;
    for (size_t i = 0; (name = npz_name(sheet->npz, i)); i++)
        text_add(&names, "%s%s", i ? ", " : "", name);
    int err = names.failed ? SPH_EMEMORY
                           : sph_fail_at(SPH_EFORMAT, sheet->path, "no array named %s; found: %s", expected,
                                         names.chars ? names.chars : "none");
    text_free(&names);
    return err;
}

static int open_npz(struct sheet *sheet, const struct sheet_hints *hints)
{
    int err = npz_open_bytes(&sheet->npz, sheet->path, sheet->bytes, sheet->length, is_either);
    if (err < 0 || (err = take(&sheet->x, sheet, is_features, "features")) < 0 ||
        (err = take(&sheet->y, sheet, is_targets, "targets")) < 0)
        return err;
    if (!sheet->x.bytes)
        return fail_absent(sheet, "x or data");
    if (!sheet->y.bytes && hints->need_targets)
        return fail_absent(sheet, "y, labels or target");
    if (sheet->y.bytes && sheet->y.rows != sheet->x.rows)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "%zu rows of features and %zu of targets", sheet->x.rows,
                           sheet->y.rows);
    sheet->rows = sheet->x.rows;
    if (!size_plus(&sheet->columns, sheet->x.columns, sheet->y.columns))
        return sph_fail_at(SPH_EFORMAT, sheet->path, "too many columns");
    sheet->default_targets = sheet->y.columns;
    return name_columns(sheet);
}

static int knows_npz(const struct reader_file *file)
{
    return reader_ends(file, ".npz") || (file->length >= 4 && !memcmp(file->bytes, "PK\3\4", 4));
}

const struct reader reader_npz = {.knows = knows_npz, .open_sheet = open_npz};
