/* SPDX-License-Identifier: MIT
 *
 * A table in memory, whose columns say themselves what they are: encoded as the columns of a file are. */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/levels.h"
#include "base/memory.h"
#include "data/build.h"
#include "data/date.h"

static const char where[] = "columns";

static int learn_levels(struct column *column, const sph_cells *cells, size_t rows)
{
    struct levels levels = {0};
    int err = 0;
    for (size_t i = 0; i < rows && !err; i++)
        if (cells->texts[i])
            err = levels_add(&levels, cells->texts[i]);
    if (!err) {
        levels_sort(&levels);
        column->levels = levels.text;
        column->level_count = levels.count;
        levels.text = NULL;
        levels.count = 0;
    }
    levels_free(&levels);
    return err;
}

static void learn_dates(struct column *column, const double *days, size_t rows)
{
    int any = 0;
    for (size_t i = 0; i < rows; i++)
        if (!isnan(days[i])) {
            column->first = any++ ? fmin(column->first, days[i]) : days[i];
            column->times |= days[i] != floor(days[i]);
        }
}

static int learn(sph_data *data, const sph_cells *cells, size_t count, size_t rows)
{
    int err = 0;
    if (!(data->columns = mem_get(count, sizeof *data->columns)))
        return SPH_EMEMORY;
    data->column_count = count;
    for (size_t i = 0; i < count && !err; i++) {
        struct column *column = &data->columns[i];
        column->kind = (enum column_kind)cells[i].kind;
        if (!(column->name = mem_text(cells[i].name)))
            err = SPH_EMEMORY;
        else if (column->kind == COLUMN_TEXT)
            err = learn_levels(column, &cells[i], rows);
        else if (column->kind == COLUMN_DATE)
            learn_dates(column, cells[i].numbers, rows);
    }
    return err;
}

static int fill(sph_data *data, const struct column *column, const sph_cells *cells)
{
    for (size_t row = 0; row < data->rows; row++) {
        double *x = data->x + row * data->features + column->at,
               number = cells->numbers ? cells->numbers[row] : (double)NAN;
        const char *text = cells->texts ? cells->texts[row] : NULL;
        if (column->kind == COLUMN_TEXT) {
            column_fill_text(column, text, x);
            continue;
        }
        if (text && (column->kind != COLUMN_DATE || !date_read(&number, text, column->order)))
            return sph_fail_of(SPH_EARG, where, 0, column->name, "column '%s' holds '%.60s', expected a %s",
                               column->name, text, column->kind == COLUMN_DATE ? "date" : "number");
        if (column->kind == COLUMN_DATE && !isnan(number))
            date_numbers(x, column, number);
        else
            for (size_t i = 0; i < column_width(column); i++)
                x[i] = number;
    }
    return 0;
}

static int encode(sph_data *data, const char *note, const sph_cells *cells, size_t count, size_t rows)
{
    size_t numbers;
    int err = note ? schema_columns(data, note) : learn(data, cells, count, rows);
    if (!err && data->column_count != count)
        err = sph_fail_key(SPH_EARG, where, "%zu columns, expected %zu", count, data->column_count);
    for (size_t i = 0; i < count && !err; i++) {
        struct column *column = &data->columns[i];
        column->role = COLUMN_FEATURE;
        column->at = data->features;
        data->features += column_width(column);
        if (column->kind == COLUMN_TEXT ? !cells[i].texts : !cells[i].numbers && !cells[i].texts)
            err = sph_fail_of(SPH_EARG, where, 0, column->name, "column '%s' has no cells of its type",
                              column->name);
    }
    if (err < 0)
        return err;
    data->rows = rows;
    if (!size_times(&numbers, rows, data->features) ||
        !(data->x = mem_get_large(numbers ? numbers : 1, sizeof *data->x)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++)
        err = fill(data, &data->columns[i], &cells[i]);
    return err;
}

int sph_data_from_columns(sph_data **out, const char *note, const sph_cells *cells, size_t count, size_t rows,
                          const sph_sink *learned)
{
    NEED(out, cells);
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (!cells[i].name || (unsigned)cells[i].kind > COLUMN_DATE ||
            (!note && !(cells[i].kind == COLUMN_TEXT ? (const void *)cells[i].texts : cells[i].numbers)))
            return sph_fail_key(SPH_EARG, where, "column %zu has no name, no type or no cells of its type",
                                i);
    sph_data *data = mem_get(1, sizeof *data);
    int err = data ? encode(data, note, cells, count, rows) : SPH_EMEMORY;
    if (!err && learned)
        err = schema_write_columns(data, learned);
    if (err < 0)
        sph_data_free(data);
    else
        *out = data;
    return err;
}
