/* SPDX-License-Identifier: MIT
 *
 * Text columns with many values: how many rows each value has. */
#include "data/many.h"

#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

struct counting {
    const sph_data *data;
    struct many *many; /* (columns) */
};

int many_asks(const struct column *column)
{
    return column->role == COLUMN_FEATURE && column->kind == COLUMN_TEXT && column->encoded &&
           !column->levels;
}

static int count_row(void *user, size_t line, const struct cell *cells)
{
    struct counting *counting = user;
    (void)line;
    for (size_t i = 0; i < counting->data->column_count; i++) {
        struct many *many = &counting->many[i];
        size_t place, before = many->levels.count;
        if (!many_asks(&counting->data->columns[i]) || !cells[i].text || cells[i].kind == CELL_MISSING)
            continue;
        int err = levels_place(&many->levels, cells[i].text, &place);
        if (err < 0)
            return err;
        many->cells++;
        if (place == SIZE_MAX)
            continue;
        if (!mem_reserve((void **)&many->rows, &many->capacity, many->levels.count, sizeof *many->rows))
            return SPH_EMEMORY;
        if (many->levels.count > before)
            many->rows[place] = 0;
        many->rows[place]++;
    }
    return 0;
}

/* The texts, sorted; not NULL where there are none. */
static int give(struct levels *levels, char ***out, size_t *count)
{
    levels_sort(levels);
    *out = levels->text ? levels->text : mem_get(0, sizeof **out);
    *count = levels->count;
    levels->text = NULL;
    levels->count = 0;
    return *out ? 0 : SPH_EMEMORY;
}

unsigned many_like_numbers(const struct many *many)
{
    size_t like = 0, all = 0;
    for (size_t i = 0; i < many->levels.count; i++) {
        like += cell_looks_like_number(many->levels.text[i]) ? many->rows[i] : 0;
        all += many->rows[i];
    }
    return all ? (unsigned)(100 * like / all) : 0;
}

int many_take_common(struct column *column, const struct many *many, size_t *covered)
{
    struct levels common = {0}, rare = {0};
    int err = 0;
    *covered = 0;
    for (size_t i = 0; i < many->levels.count && !err; i++) {
        int is_common = many->rows[i] >= LEVELS_RARE;
        *covered += is_common ? many->rows[i] : 0;
        err = levels_add(is_common ? &common : &rare, many->levels.text[i]);
    }
    if (!err)
        err = give(&common, &column->levels, &column->level_count);
    if (!err)
        err = give(&rare, &column->rare, &column->rare_count);
    levels_free(&common);
    levels_free(&rare);
    return err;
}

void many_free(struct many *many, size_t columns)
{
    for (size_t i = 0; many && i < columns; i++) {
        levels_free(&many[i].levels);
        mem_free(many[i].rows);
    }
    mem_free(many);
}

int many_count(struct many **out, const sph_data *data, const struct sheet *sheet)
{
    struct counting counting = {.data = data};
    int any = 0;
    *out = NULL;
    for (size_t i = 0; i < data->column_count; i++)
        any |= many_asks(&data->columns[i]);
    if (!any)
        return 0;
    if (!(counting.many = mem_get(data->column_count, sizeof *counting.many)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count; i++)
        counting.many[i].levels.limit = LEVELS_MANY;
    *out = counting.many;
    return sheet_scan_text(sheet, count_row, &counting);
}
