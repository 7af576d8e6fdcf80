/* SPDX-License-Identifier: MIT
 *
 * The pass that stores numbers: cells to x and y. */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/build.h"
#include "data/date.h"
#include "data/odd_cells.h"
#include "base/levels.h"

struct filling {
    sph_data *data;
    const struct sheet *sheet;
    const size_t *from;
    int with_targets;
    const struct data_refusal *refusal;
    struct row_cell {
        int missing, unseen; /* of the row */
        size_t all_unseen;
        char *example;    /* the first unseen word */
    } * cells;            /* (column_count) */
    struct levels groups; /* words of the column of groups */
    int again;            /* what was kept of the cells was read with another decimal mark */
};

enum { LEFT_OUT = 1 };

static int fail_missing(const struct filling *f, size_t line, const struct column *column, const char *hint)
{
    return sheet_fail(f->sheet, line, column->name, "column '%s' has a missing cell; %s", column->name, hint);
}

static int fail_infinite(const struct filling *f, size_t line, const struct column *column,
                         const struct cell *cell)
{
    if (cell->text)
        return sheet_fail(f->sheet, line, column->name,
                          "column '%s' contains '%.60s', expected a finite number", column->name, cell->text);
    return sheet_fail(f->sheet, line, column->name, "column '%s' contains %g, expected a finite number",
                      column->name, cell->value);
}

static int fail_text(const struct filling *f, size_t line, const struct column *column,
                     const struct cell *cell)
{
    return sheet_fail(
        f->sheet, line, column->name, "column '%s' contains '%.60s', expected a number%s", column->name,
        cell->text, column->decimal_comma && cell->mark ? " with a decimal comma as in its other cells" : "");
}

static int fail_unknown(const struct filling *f, size_t line, const struct column *column,
                        const struct cell *cell, char *const *known, size_t count)
{
    char list[200];
    targets_list(known, count, list, sizeof list);
    if (cell->text)
        return sheet_fail(f->sheet, line, column->name,
                          "column '%s' contains '%.60s', which did not occur in training; known values: %s",
                          column->name, cell->text, list);
    return sheet_fail(f->sheet, line, column->name,
                      "column '%s' contains %g, which did not occur in training; known values: %s",
                      column->name, cell->value, list);
}

static int fill_number(const struct filling *f, size_t line, const struct column *column,
                       const struct cell *cell, double *out)
{
    switch (cell->kind) {
    case CELL_NUMBER:
        *out = cell->value;
        return 0;
    case CELL_INFINITE:
        return fail_infinite(f, line, column, cell);
    case CELL_TEXT:
        return fail_text(f, line, column, cell);
    case CELL_MISSING:
        break;
    }
    *out = NAN;
    return 0;
}

static int fail_date(const struct filling *f, size_t line, const struct column *column,
                     const struct cell *cell)
{
    static const char *const like[DATE_ORDERS] = {"2024-12-31", "31/12/2024", "12/31/2024"};
    return sheet_fail(f->sheet, line, column->name,
                      "column '%s' contains '%.60s', expected a date such as %s", column->name,
                      cell->text ? cell->text : "a number", like[column->order]);
}

static int fill_date(const struct filling *f, size_t line, const struct column *column,
                     const struct cell *cell, double *x)
{
    double days;
    for (size_t i = 0; i < column_width(column); i++)
        x[column->at + i] = NAN;
    if (cell->kind == CELL_MISSING)
        return 0;
    if (!cell->text || !date_read(&days, cell->text, column->order))
        return fail_date(f, line, column, cell);
    date_numbers(x + column->at, column, days);
    return 0;
}

/* Whether the word is one of the rare words of the column, which share a level. */
static int training_saw(const struct column *column, const char *text)
{
    return !column->rare || levels_find(column->rare, column->rare_count, text) >= 0 ||
           levels_find(column->levels, column->level_count, text) >= 0;
}

static int fill_feature(const struct filling *f, size_t line, const struct column *column,
                        const struct cell *cell, double *x)
{
    sph_data *data = f->data;
    if (cell->kind == CELL_MISSING) {
        if (data->reading.missing == SPH_MISSING_ERROR)
            return fail_missing(f, line, column, "use --missing mean or --missing drop");
        if (data->reading.missing == SPH_MISSING_DROP)
            return f->with_targets
                       ? LEFT_OUT
                       : fail_missing(f, line, column,
                                      "the network was trained with --missing drop and cannot fill it");
        data->has_missing = 1;
        data->counts.filled++;
    }
    if (column->kind == COLUMN_NUMBER)
        return fill_number(f, line, column, cell, &x[column->at]);
    if (column->kind == COLUMN_DATE)
        return fill_date(f, line, column, cell, x);
    int missing = cell->kind == CELL_MISSING;
    if ((missing || cell->text) && column_fill_text(column, missing ? NULL : cell->text, x + column->at) &&
        (missing || !data->reading.like || training_saw(column, cell->text)))
        return 0;
    if (data->reading.refuse_unseen || !cell->text)
        return fail_unknown(f, line, column, cell, column->levels, column->level_count);
    data->counts.unseen++; /* none of its indicators, as a missing cell has, or that of all others */
    return 0;
}

static int fill_group(struct filling *f, const struct cell *cell, double *out)
{
    size_t place;
    int err = 0;
    *out = cell->value;
    if (cell->text && !(err = levels_place(&f->groups, cell->text, &place)))
        *out = (double)place;
    return err;
}

static int fill_weight(struct filling *f, size_t line, const struct column *column, const struct cell *cell,
                       double *out)
{
    int err = fill_number(f, line, column, cell, out);
    if (!err && *out < 0)
        err = sheet_fail(f->sheet, line, column->name,
                         "column '%s' contains %g, expected a weight of 0 or more", column->name, *out);
    return err;
}

static int fill_time(struct filling *f, size_t line, const struct column *column, const struct cell *cell,
                     double *out)
{
    if (column->kind != COLUMN_DATE)
        return fill_number(f, line, column, cell, out);
    if (cell->text && date_read(out, cell->text, column->order))
        return 0;
    return fail_date(f, line, column, cell);
}

/* A column of groups, times or weights: it must be there in every row. */
static int fill_side(struct filling *f, size_t line, const struct column *column, const struct cell *cell)
{
    double *out = &f->data->side[column->use][f->data->rows];
    if (cell->kind == CELL_MISSING)
        return fail_missing(f, line, column, "every row needs a value");
    return column->use == COLUMN_GROUP  ? fill_group(f, cell, out)
           : column->use == COLUMN_TIME ? fill_time(f, line, column, cell, out)
                                        : fill_weight(f, line, column, cell, out);
}

static int fill_target(const struct filling *f, size_t line, const struct column *column,
                       const struct cell *cell, double *y)
{
    const sph_data *data = f->data;
    if (cell->kind == CELL_MISSING) {
        if (data->reading.missing == SPH_MISSING_ERROR)
            return fail_missing(f, line, column, "--missing drop or --missing mean leaves the row out");
        return LEFT_OUT;
    }
    if (!data->labels)
        return fill_number(f, line, column, cell, &y[column->at]);
    ptrdiff_t number = targets_find(data, cell);
    if (number < 0)
        return fail_unknown(f, line, column, cell, data->labels, data->classes);
    y[column->at] = (double)number;
    return 0;
}

static int refuse(const struct filling *f, size_t line, const double *x, const double *y)
{
    const struct data_refusal *r = f->refusal;
    if (!(r->target ? y && y[r->column] == r->value : x[r->column] == r->value))
        return 0;
    char *name =
        r->target ? mem_text(data_target_name(f->data, r->column)) : data_feature_name(f->data, r->column);
    if (!name)
        return SPH_EMEMORY;
    int err = sheet_fail(f->sheet, line, name, "column '%s' contains %g, %s", name, r->value, r->why);
    mem_free(name);
    return err;
}

static int fill_row(void *user, size_t line, const struct cell *cells)
{
    struct filling *f = user;
    sph_data *data = f->data;
    int had_missing = data->has_missing;
    size_t filled = data->counts.filled, unseen = data->counts.unseen;
    double *x = data->x + data->rows * data->features;
    double *y = data->y ? data->y + data->rows * data->targets : NULL;
    for (size_t i = 0; i < data->column_count; i++) {
        const struct column *column = &data->columns[i];
        size_t unseen_before = data->counts.unseen;
        int err = 0;
        if (column->role == COLUMN_FEATURE)
            err = fill_feature(f, line, column, &cells[f->from[i]], x);
        else if (column->role == COLUMN_TARGET && y)
            err = fill_target(f, line, column, &cells[f->from[i]], y);
        else if (column->use && data->side[column->use])
            err = fill_side(f, line, column, &cells[f->from[i]]);
        if (err < 0)
            return err;
        if (err == LEFT_OUT) {
            data->has_missing = had_missing;
            data->counts.filled = filled;
            data->counts.unseen = unseen;
            data->counts.left_out++;
            data->counts.without_target += column->role == COLUMN_TARGET;
            return 0;
        }
        f->cells[i].missing = column->role == COLUMN_FEATURE && cells[f->from[i]].kind == CELL_MISSING;
        f->cells[i].unseen = data->counts.unseen > unseen_before;
    }
    int err = f->refusal ? refuse(f, line, x, y) : 0;
    if (err < 0)
        return err;
    int odd = data->counts.filled > filled || data->counts.unseen > unseen;
    for (size_t i = 0; odd && i < data->column_count; i++) {
        struct row_cell *cell = &f->cells[i];
        data->columns[i].filled += (size_t)cell->missing;
        if (cell->unseen && !cell->all_unseen++ && !(cell->example = mem_text(cells[f->from[i]].text)))
            return SPH_EMEMORY;
    }
    data->rows++;
    return 0;
}

/* ---------------------------------------------------------------- all rows */

static int fail_mark(const struct filling *f, const struct column *column, const struct profile *profile)
{
    int comma = profile->mark == MARK_UNCLEAR_COMMA;
    return sheet_fail(f->sheet, profile->mark_line, column->name,
                      "column '%s' contains '%.60s', in which the %s is ambiguous (decimal %s or thousands "
                      "separator); write %s",
                      column->name, profile->mark_example, comma ? "comma" : "point",
                      comma ? "comma" : "point",
                      comma ? "a decimal point, or thousands without a comma"
                            : "thousands without a point, or another number of decimals");
}

/* A column with per cent signs has them in all cells; several currencies, or others than in training, are noted. */
static int check_units(const struct filling *f, struct column *column, const struct profile *profile)
{
    enum unit unit = UNIT_NONE, other = UNIT_NONE;
    size_t with = profile->units[UNIT_PERCENT].cells;
    if (with && with < profile->numbers)
        return sheet_fail(f->sheet, profile->units[UNIT_PERCENT].line, column->name,
                          "column '%s' has a per cent sign in %zu of %zu cells; write all cells the same way",
                          column->name, with, profile->numbers);
    for (enum unit u = UNIT_PERCENT; u < UNITS; u++)
        if (profile->units[u].cells)
            *(unit ? &other : &unit) = u;
    if (other)
        data_note(f->data, "column '%.60s' has amounts in %s and in %s, which are not converted",
                  column->name, cell_unit(unit), cell_unit(other));
    if (f->data->reading.like && f->data->reading.units && profile->numbers &&
        unit != (enum unit)column->unit)
        data_note(f->data,
                  "column '%.60s' has numbers %s%s here and %s%s in training, which are not converted",
                  column->name, unit ? "in " : "without a unit", cell_unit(unit),
                  column->unit ? "in " : "without a unit", cell_unit((enum unit)column->unit));
    if (!f->data->reading.like)
        column->unit = (int)unit;
    return 0;
}

/* Commas and points in columns of numbers must mean one thing; what they meant in training settles unclear ones. */
static int check_cells(struct filling *f)
{
    if (!f->data->reading.like)
        f->data->reading.units = f->sheet->is_text;
    for (size_t i = 0; f->sheet->is_text && i < f->data->column_count; i++) {
        struct column *column = &f->data->columns[i];
        if (column->role == COLUMN_DROPPED || column->kind != COLUMN_NUMBER ||
            (column->role == COLUMN_TARGET && !f->with_targets))
            continue;
        struct profile *profile = &f->sheet->text.profile[f->from[i]];
        int unclear = profile->unclear || profile->unclear_points;
        if (profile->points && (profile->mark == MARK_COMMA || (column->decimal_comma && profile->unclear)))
            return sheet_fail(f->sheet, profile->mark_line, column->name, ODD_MARKS, column->name,
                              profile->mark_example);
        if (column->decimal_comma && profile->mark != MARK_COMMA && unclear && !profile->money &&
            !profile->points && (profile->unclear || f->sheet->text.delimiter != ',')) {
            profile->mark = MARK_COMMA;
            f->again = 1;
        }
        if (profile->mark == MARK_UNCLEAR_POINT && f->data->reading.like)
            profile->mark = MARK_NONE; /* as in training */
        if (profile->mark == MARK_UNCLEAR_COMMA || profile->mark == MARK_UNCLEAR_POINT)
            return fail_mark(f, column, profile);
        column->decimal_comma |= profile->mark == MARK_COMMA;
        int err = check_units(f, column, profile);
        if (err < 0)
            return err;
    }
    return 0;
}

/* 1: of some column the words are looked up, and it is not known to have been kept with them. */
static int asks_text(const struct filling *f)
{
    const sph_data *data = f->data;
    int words = data->labels && !targets_are_numbers(data->labels, data->classes), asks = 0;
    for (size_t i = 0; i < data->column_count && f->sheet->is_text; i++) {
        const struct column *column = &data->columns[i];
        int looked_up = column->role == COLUMN_FEATURE
                            ? column->kind == COLUMN_TEXT
                            : column->role == COLUMN_TARGET && f->with_targets && words;
        int read = column->role == COLUMN_FEATURE && column->kind == COLUMN_DATE;
        asks |= read || (column->use && f->with_targets) || (looked_up && !sheet_tells(f->sheet, f->from[i]));
    }
    return asks;
}

static void note_unseen(const struct filling *f)
{
    for (size_t i = 0; i < f->data->column_count; i++) {
        const struct row_cell *cell = &f->cells[i];
        const struct column *column = &f->data->columns[i];
        if (cell->all_unseen)
            data_note(f->data,
                      "column '%.60s': %zu cell%s with a value that did not occur in training, such as "
                      "'%.60s', treated as %s",
                      column->name, cell->all_unseen, cell->all_unseen == 1 ? "" : "s", cell->example,
                      column->other ? "the values that were rare in training" : "no known value");
    }
}

int fill_rows(sph_data *data, const struct sheet *sheet, const size_t *from, int with_targets,
              const struct data_refusal *refusal)
{
    struct filling f = {
        .data = data, .sheet = sheet, .from = from, .with_targets = with_targets, .refusal = refusal};
    size_t x_count, y_count;
    if (!size_times(&x_count, sheet->rows, data->features) ||
        !size_times(&y_count, sheet->rows, data->targets))
        return sph_fail_at(SPH_EMEMORY, sheet->path, "out of memory: %zu rows of %zu numbers", sheet->rows,
                           data->features);
    data->rows = 0;
    data->x = mem_get_large(x_count, sizeof *data->x);
    if (!data->x)
        return SPH_EMEMORY;
    if (with_targets && !(data->y = mem_get_large(y_count, sizeof *data->y)))
        return SPH_EMEMORY;
    for (size_t i = 0; with_targets && i < data->column_count; i++)
        if (data->columns[i].use &&
            !(data->side[data->columns[i].use] = mem_get_large(sheet->rows, sizeof(double))))
            return SPH_EMEMORY;
    if (!(f.cells = mem_get(data->column_count, sizeof *f.cells)))
        return SPH_EMEMORY;
    int err = check_cells(&f);
    if (!err)
        err = (f.again || asks_text(&f) ? sheet_scan_text : sheet_scan)(sheet, fill_row, &f);
    note_unseen(&f);
    levels_free(&f.groups);
    for (size_t i = 0; i < data->column_count; i++)
        mem_free(f.cells[i].example);
    mem_free(f.cells);
    if (err < 0)
        return err;
    if (!data->rows)
        return sph_fail_at(SPH_EFORMAT, sheet->path,
                           "all %zu rows have missing cells, so no row remains; use --missing mean",
                           data->counts.left_out);
    return 0;
}
