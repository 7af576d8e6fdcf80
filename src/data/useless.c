/* SPDX-License-Identifier: MIT
 *
 * --drop auto: columns that nothing can be learned from. Constant: one value in all rows that have any. An id: whole numbers that
 * count the rows up or down by one in a column with the name of an index, or that never come twice in a column whose name ends in id.
 * A column that counts the rows under another name may be a time and stays. Free text is left out where text
 * columns are settled (columns.c). */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/order.h"
#include "data/build.h"

struct seen {
    int looked_at;
    int varies, counts, whole; /* so far */
    int named_id;
    double first, last, step;
    char *text;      /* the first cell, where it is a word */
    double *numbers; /* (count) of a column that is called id */
    size_t count, capacity;
};

struct looking {
    const sph_data *data;
    struct seen *seen; /* (columns) */
};

/* id, Id, ID at the end, and no letter of a longer word before it: customer_id, PassengerId, but not paid. */
int useless_named_id(const char *name)
{
    size_t n = strlen(name);
    if (n < 2 || tolower((unsigned char)name[n - 2]) != 'i' || tolower((unsigned char)name[n - 1]) != 'd')
        return 0;
    return n == 2 || !isalpha((unsigned char)name[n - 3]) ||
           (isupper((unsigned char)name[n - 2]) && islower((unsigned char)name[n - 3]));
}

static int is_called_index(const char *name)
{
    static const char *const names[] = {"index",  "row",        "rows",   "rownum", "row_number", "rownames",
                                        "row_id", "no",         "no.",    "nr",     "nr.",        "number",
                                        "#",      "sn",         "serial", "case",   "obs",        "sample",
                                        "record", "unnamed: 0", "key"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(name, names[i]))
            return 1;
    return useless_named_id(name);
}

/* The index that pandas writes has no name, and an empty name has become the column's number. */
static int has_no_name(const struct sheet *sheet, size_t column)
{
    return sheet->named && !column && !strcmp(sheet->names[0], "0") &&
           (sheet->columns < 2 || strcmp(sheet->names[1], "1"));
}

static int see_number(struct seen *seen, double value)
{
    if (!seen->count++ && !seen->text) {
        seen->first = seen->last = value;
        seen->whole = value == floor(value);
        seen->counts = seen->whole;
    } else {
        double step = value - seen->last;
        seen->varies |= seen->text || value != seen->first;
        seen->whole &= value == floor(value);
        if (seen->count == 2)
            seen->step = step;
        seen->counts &= step == seen->step && fabs(step) == 1;
        seen->last = value;
    }
    if (!seen->named_id || !seen->whole)
        return 0;
    if (!mem_reserve((void **)&seen->numbers, &seen->capacity, seen->count, sizeof *seen->numbers))
        return SPH_EMEMORY;
    seen->numbers[seen->count - 1] = value;
    return 0;
}

static int see_row(void *user, size_t line, const struct cell *cells)
{
    struct looking *looking = user;
    (void)line;
    for (size_t i = 0; i < looking->data->column_count; i++) {
        struct seen *seen = &looking->seen[i];
        const struct cell *cell = &cells[i];
        if (!seen->looked_at || cell->kind == CELL_MISSING)
            continue;
        if (cell->kind == CELL_NUMBER) {
            int err = see_number(seen, cell->value);
            if (err < 0)
                return err;
            continue;
        }
        const char *text = cell->text ? cell->text : "";
        seen->varies |=
            cell->kind == CELL_INFINITE || seen->count || (seen->text && strcmp(seen->text, text));
        seen->whole = seen->counts = 0;
        if (!seen->text && !(seen->text = mem_text(text)))
            return SPH_EMEMORY;
    }
    return 0;
}

static int never_twice(struct seen *seen)
{
    qsort(seen->numbers, seen->count, sizeof *seen->numbers, by_double);
    for (size_t i = 1; i < seen->count; i++)
        if (seen->numbers[i] == seen->numbers[i - 1])
            return 0;
    return 1;
}

int data_leave_out(sph_data *data, struct column *column, const char *why)
{
    column->role = COLUMN_DROPPED;
    data_note(data, "column '%s' is left out: it %s", column->name, why);
    return (column->why = mem_text(why)) ? 0 : SPH_EMEMORY;
}

/* Why nothing can be learned from a column, or NULL. */
static const char *why_useless(const struct sheet *sheet, size_t i, struct seen *seen)
{
    enum { FEW = 4 }; /* so many whole numbers count up by chance */
    if (!seen->looked_at || (!seen->count && !seen->text))
        return NULL;
    if (!seen->varies)
        return "is the same in all rows";
    if (seen->counts && seen->count > FEW && (is_called_index(sheet->names[i]) || has_no_name(sheet, i)))
        return "numbers the rows";
    if (seen->named_id && seen->whole && seen->count > FEW && never_twice(seen))
        return "is an id (no number occurs twice)";
    return NULL;
}

int useless_drop(sph_data *data, const struct sheet *sheet, int automatic)
{
    if (sheet->rows < 2)
        return 0;
    struct looking looking = {.data = data, .seen = mem_get(data->column_count, sizeof *looking.seen)};
    if (!looking.seen)
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count; i++) {
        looking.seen[i].looked_at =
            data->columns[i].role == COLUMN_FEATURE && !(data->columns[i].marks & COLUMN_NEEDED);
        looking.seen[i].named_id = useless_named_id(data->columns[i].name);
    }
    int err = sheet_scan(sheet, see_row, &looking);
    for (size_t i = 0; i < data->column_count; i++) {
        struct seen *seen = &looking.seen[i];
        struct column *column = &data->columns[i];
        const char *why = err ? NULL : why_useless(sheet, i, seen);
        if (why && automatic && seen->text)
            column->kind = COLUMN_TEXT;
        if (why && automatic)
            err = data_leave_out(data, column, why);
        else if (why)
            column->marks |= COLUMN_USELESS;
        mem_free(seen->text);
        mem_free(seen->numbers);
    }
    mem_free(looking.seen);
    return err;
}
