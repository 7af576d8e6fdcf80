/* SPDX-License-Identifier: MIT
 *
 * A table for programs: CSV and JSON with all digits. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report/table.h"

/* ---------------------------------------------------------------- CSV */

static void add_value(struct text *out, const struct table *table, size_t row, size_t column)
{
    const struct table_cell *cell = table_at(table, row, column);
    if (cell->kind == CELL_NUMBER || cell->kind == CELL_MEAN || cell->kind == CELL_WITHIN ||
        (cell->kind == CELL_P && isfinite(cell->a)))
        text_add_exact(out, cell->a);
    else if (cell->kind == CELL_TEXT)
        text_add_csv(out, cell->text);
    else if (cell->kind == CELL_COUNT)
        text_add(out, "%zu", cell->count);
    else if (cell->kind == CELL_FLAG)
        text_add(out, "%s", cell->count ? "true" : "false");
}

void table_add_csv(const struct table *table, struct text *out)
{
    const char *between = "";
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].csv) {
            text_add(out, "%s", between);
            text_add_csv(out, table->columns[c].csv);
            between = ",";
        }
    text_add(out, "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        between = "";
        for (size_t c = 0; c < table->column_count; c++)
            if (table->columns[c].csv) {
                text_add(out, "%s", between);
                add_value(out, table, row, c);
                between = ",";
            }
        text_add(out, "\n");
    }
}

/* ---------------------------------------------------------------- JSON */

static json_t *json_value(const struct table_cell *cell)
{
    switch (cell->kind) {
    case CELL_TEXT:
        return json_words(cell->text);
    case CELL_FLAG:
        return json_boolean(cell->count);
    case CELL_COUNT:
        return json_integer((json_int_t)cell->count);
    case CELL_NUMBER:
    case CELL_MEAN:
    case CELL_WITHIN:
    case CELL_P:
        return json_number(cell->a);
    case CELL_INTERVAL:
        return json_numbers((double[]){cell->a, cell->b}, 2);
    case CELL_LIST:
        return json_numbers(cell->list, cell->count);
    default:
        return json_null();
    }
}

/* The end of the group of columns from `from` on whose names share the first `length` bytes. */
static size_t group_end(const struct table *table, size_t from, size_t length)
{
    size_t end = from + 1;
    for (size_t c = end; c < table->column_count; c++) {
        if (!table->columns[c].json)
            continue;
        if (strncmp(table->columns[c].json, table->columns[from].json, length) != 0)
            break;
        end = c + 1;
    }
    return end;
}

static int all_empty(const struct table *table, size_t row, size_t from, size_t end)
{
    while (from < end && (!table->columns[from].json || table_at(table, row, from)->kind == CELL_EMPTY))
        from++;
    return from == end;
}

/* An object of the columns in [from, end), without the first `skip` bytes of their names. */
static json_t *json_object_of(const struct table *table, size_t row, size_t from, size_t end, size_t skip)
{
    json_t *object = json_object();
    int bad = !object;
    for (size_t c = from; c < end && !bad;) {
        const char *name = table->columns[c].json;
        size_t length = name ? strcspn(name + skip, ".") : 0, next = c + 1;
        if (name && !name[skip + length])
            bad = json_object_set_new(object, name + skip, json_value(table_at(table, row, c)));
        else if (name) {
            next = group_end(table, c, skip + length + 1);
            char *key = mem_text_of(name + skip, length);
            json_t *inner = all_empty(table, row, c, next)
                                ? json_null()
                                : json_object_of(table, row, c, next, skip + length + 1);
            bad = !key || json_object_set_new(object, key, inner);
            if (!key)
                json_decref(inner);
            mem_free(key);
        }
        c = next;
    }
    return json_whole(object, bad);
}

json_t *table_to_json(const struct table *table)
{
    json_t *rows = json_array();
    int bad = !rows || table_failed(table);
    for (size_t row = 0; row < table->row_count && !bad; row++)
        bad = json_array_append_new(rows, json_object_of(table, row, 0, table->column_count, 0));
    return json_whole(rows, bad);
}
