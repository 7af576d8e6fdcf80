/* SPDX-License-Identifier: MIT
 *
 * Which column is what: roles from the options, kinds from the cells. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/build.h"
#include "data/date.h"
#include "data/many.h"
#include "data/odd_cells.h"
#include "data/unusable.h"
#include "base/levels.h"

/* ---------------------------------------------------------------- roles */

static int unknown_column(const struct sheet *sheet, const char *word, const char *option)
{
    const char *near = text_nearest(word, (const char *const *)sheet->names, sheet->columns);
    if (near && sheet->named)
        return sph_fail_of(SPH_EARG, sheet->path, 0, option, "no column '%s' (%s); did you mean '%s'?", word,
                           option, near);
    char list[200];
    if (sheet->named)
        return sph_fail_of(SPH_EARG, sheet->path, 0, option, "no column '%s' (%s); the columns are %s", word,
                           option, targets_list(sheet->names, sheet->columns, list, sizeof list));
    return sph_fail_of(SPH_EARG, sheet->path, 0, option,
                       "no column '%s' (%s); the file has no header, so use a column number from 0 to %zu",
                       word, option, sheet->columns - 1);
}

/* By name, else by number; negative ones count from the end. */
static int find_column(const struct sheet *sheet, const char *word, const char *option, size_t *out)
{
    ptrdiff_t found = sheet_find(sheet, word);
    if (found >= 0) {
        *out = (size_t)found;
        if (sheet->repeat[found] > 1)
            return sph_fail_of(
                SPH_EARG, sheet->path, 0, option,
                "%zu columns are named '%s' (%s); use the column number instead, which is %td for the first",
                sheet->repeat[found], word, option, found);
        return 0;
    }
    size_t number;
    int back = *word == '-';
    if (!text_to_size(word + back, &number) ||
        (back ? number < 1 || number > sheet->columns : number >= sheet->columns))
        return unknown_column(sheet, word, option);
    *out = back ? sheet->columns - number : number;
    return 0;
}

static int find_list(const struct sheet *sheet, const char *list, const char *option, size_t *out,
                     size_t *count)
{
    *count = 0;
    if (sheet_find(sheet, list) >= 0) { /* a name with a comma, too */
        *count = 1;
        return find_column(sheet, list, option, out);
    }
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ","), head = strspn(p, " ");
        const char *next = p + length;
        if (head > length)
            head = length;
        p += head;
        length -= head;
        while (length && p[length - 1] == ' ')
            length--;
        char *word = mem_text_of(p, length);
        if (!word)
            return SPH_EMEMORY;
        int err = *count == sheet->columns ? sph_fail_key(SPH_EARG, option, "more columns than the file has")
                                           : find_column(sheet, word, option, &out[*count]);
        mem_free(word);
        if (err < 0)
            return err;
        ++*count;
        p = next;
        if (!*p)
            return 0;
    }
}

static int set_targets(sph_data *data, const struct sheet *sheet, const char *list, size_t *found)
{
    size_t count = 0;
    if (list) {
        int err = find_list(sheet, list, "target", found, &count);
        if (err < 0)
            return err;
    } else
        for (; count < sheet->default_targets; count++)
            found[count] = sheet->columns - sheet->default_targets + count;
    for (size_t i = 0; i < count; i++) {
        struct column *column = &data->columns[found[i]];
        if (column->role == COLUMN_TARGET)
            return sph_fail_of(SPH_EARG, sheet->path, 0, "target", "column '%s' is given twice as target",
                               column->name);
        column->role = COLUMN_TARGET;
        column->at = i;
    }
    data->targets = count;
    return 0;
}

/* Whether a list begins with the word; *list becomes the rest, NULL if there is none. A column of that name is a column. */
static int takes_word(const struct sheet *sheet, const char *word, const char **list)
{
    size_t length = strcspn(*list, ",");
    if (length != strlen(word) || strncmp(*list, word, length) || sheet_find(sheet, word) >= 0)
        return 0;
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return 1;
}

static int set_dropped(sph_data *data, const struct sheet *sheet, const char *list, int from_user,
                       size_t *found)
{
    size_t count = 0;
    int err = list ? find_list(sheet, list, "drop", found, &count) : 0;
    for (size_t i = 0; i < count && !err; i++) {
        struct column *column = &data->columns[found[i]];
        if (column->role != COLUMN_TARGET)
            column->role = COLUMN_DROPPED;
        else if (from_user)
            err = sph_fail_of(SPH_EARG, sheet->path, 0, "drop",
                              "column '%s' is both in --target and --drop; remove it from one of them",
                              column->name);
    }
    return err;
}

/* Columns that --drop auto must keep (option "keep"), or that are text even if their cells are numbers ("text"). */
static int set_listed(sph_data *data, const struct sheet *sheet, const char *list, const char *option,
                      size_t *found)
{
    size_t count = 0;
    int as_text = !strcmp(option, "text");
    if (as_text && !sheet->is_text)
        return sph_fail_of(SPH_EARG, sheet->path, 0, option,
                           "--text requires a text table; this file has numbers only");
    int err = find_list(sheet, list, option, found, &count);
    for (size_t i = 0; i < count && !err; i++) {
        struct column *column = &data->columns[found[i]];
        column->marks |= as_text ? COLUMN_AS_TEXT : COLUMN_NEEDED;
        if (column->role == COLUMN_DROPPED)
            err = sph_fail_of(SPH_EARG, sheet->path, 0, option,
                              "column '%s' is both in --%s and --drop; remove it from one of them",
                              column->name, option);
        else if (as_text && column->role == COLUMN_TARGET)
            err = sph_fail_of(SPH_EARG, sheet->path, 0, option,
                              "column '%s' is the target; use --task classes to read its values as classes",
                              column->name);
    }
    return err;
}

/* A column that is not learnt from, but serves in training. */
static int set_use(sph_data *data, const struct sheet *sheet, const char *word, const char *option,
                   enum column_use use)
{
    size_t at;
    if (!word || !*word)
        return 0;
    int err = find_column(sheet, word, option, &at);
    if (err < 0)
        return err;
    struct column *column = &data->columns[at];
    if (column->role == COLUMN_TARGET || column->use)
        return sph_fail_of(SPH_EARG, sheet->path, 0, option,
                           "column '%s' (%s) is already used for another option", column->name, option);
    if ((column->marks & COLUMN_AS_TEXT) && use != COLUMN_GROUP)
        return sph_fail_of(SPH_EARG, sheet->path, 0, option,
                           "column '%s' is both in --text and --%s; remove it from one of them", column->name,
                           option);
    column->role = COLUMN_DROPPED;
    column->use = use;
    return 0;
}

static int set_roles(sph_data *data, const struct sheet *sheet, const sph_data_opts *opts, int *automatic)
{
    const char *target = opts->target ? opts->target
                         : sheet->set ? sheet->set->target
                                      : NULL,
               *drop = opts->drop;
    size_t *found = mem_get(sheet->columns, sizeof *found);
    int err = found ? set_targets(data, sheet, target, found) : SPH_EMEMORY;
    *automatic = 0;
    if (!err && sheet->set)
        err = set_dropped(data, sheet, sheet->set->drop, 0, found);
    if (!err && drop && *drop) {
        *automatic = takes_word(sheet, "auto", &drop);
        if (*automatic || !takes_word(sheet, "none", &drop) || drop)
            err = set_dropped(data, sheet, drop, 1, found);
    }
    if (!err && opts->needed)
        err = set_listed(data, sheet, opts->needed, "keep", found);
    if (!err && opts->text && *opts->text)
        err = set_listed(data, sheet, opts->text, "text", found);
    if (!err && !(err = set_use(data, sheet, opts->group, "group", COLUMN_GROUP)) &&
        !(err = set_use(data, sheet, opts->time, "time", COLUMN_TIME)))
        err = set_use(data, sheet, opts->weights, "weights", COLUMN_WEIGHT);
    mem_free(found);
    return err;
}

/* ---------------------------------------------------------------- kinds */

struct collect {
    const sph_data *data;
    struct levels *levels; /* (columns) collected where profile has texts */
    const struct sheet *sheet;
};

static int wants_levels(const sph_data *data, const struct sheet *sheet, size_t i)
{
    return data->columns[i].role != COLUMN_DROPPED && data->columns[i].kind != COLUMN_DATE &&
           (sheet->text.profile[i].texts || (data->columns[i].marks & COLUMN_AS_TEXT));
}

static int collect_row(void *user, size_t line, const struct cell *cells)
{
    struct collect *collect = user;
    (void)line;
    for (size_t i = 0; i < collect->data->column_count; i++)
        if (wants_levels(collect->data, collect->sheet, i) && cells[i].kind != CELL_MISSING) {
            int err = levels_add(&collect->levels[i], cells[i].text);
            if (err < 0)
                return err;
        }
    return 0;
}

static int settle_feature(struct unusable *u, struct column *column, const struct profile *profile,
                          struct levels *levels)
{
    char reason[160];
    if (!column_is_settled(column) && odd_is_slip(profile, levels))
        return unusable_slip(u, column, profile);
    if (!column_is_settled(column) && !levels->overflow && odd_format(levels))
        return unusable_odd(u, column);
    size_t cells = profile->texts + profile->numbers + profile->infinite;
    if ((levels->overflow || levels->count * 2 > cells) && u->encodes) {
        column->kind = COLUMN_TEXT;
        column->encoded = 1; /* settle_many looks closer */
        return 0;
    }
    if (levels->overflow || levels->count * 2 > cells) {
        if (!column_is_settled(column) && odd_share(levels) >= ODD_SHARE)
            return unusable_odd(u, column);
        if (levels->overflow)
            snprintf(reason, sizeof reason,
                     "is text with more than %d different values, which is too many for indicator columns",
                     LEVELS_MAX);
        else
            snprintf(reason, sizeof reason,
                     "is text with %zu different values in %zu rows, which is too many for indicator columns",
                     levels->count, cells);
        return unusable_add(u, column, reason);
    }
    column->kind = COLUMN_TEXT;
    column->levels = levels->text;
    column->level_count = levels->count;
    levels->text = NULL;
    levels->count = 0;
    return 0;
}

static int settle_target(sph_data *data, struct column *column, const struct sheet *sheet,
                         const struct profile *profile, struct levels *levels, int task)
{
    if (task == SPH_TASK_REGRESSION || data->targets > 1 ||
        (task < 0 && !column_is_settled(column) && odd_is_slip(profile, levels))) {
        struct text remedy = {0};
        column->marks |= COLUMN_SLIPS;
        size_t cells = profile->texts + profile->numbers;
        int err = odd_remedy(&remedy, sheet, data);
        if (task < 0 && data->targets == 1 && levels->count <= LEVELS_MAX && levels->count * 2 <= cells)
            text_add(&remedy, "; if the values are classes, use --task classes");
        if (!err)
            err = remedy.failed ? SPH_EMEMORY : odd_fail(sheet, column, profile, remedy.chars);
        text_free(&remedy);
        return err;
    }
    column->kind = COLUMN_TEXT;
    data->labels = levels->text;
    data->classes = levels->count;
    levels->text = NULL;
    levels->count = 0;
    return 0;
}

/* A delimiter at the end of every line makes a column of nothing. */
static int settle_empty(struct unusable *u, struct column *column, size_t i)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    if (!strcmp(column->name, number))
        column->role = COLUMN_DROPPED;
    else
        return unusable_add(u, column, "has no value in any row");
    return 0;
}

static int settle_dates(struct unusable *u)
{
    sph_data *data = u->data;
    int err = dates_find(data, u->sheet);
    for (size_t i = 0; i < data->column_count && !err; i++) {
        struct column *column = &data->columns[i];
        char reason[200];
        if (column->kind != COLUMN_DATE || column->role != COLUMN_FEATURE || column->order != DATE_ORDERS)
            continue;
        snprintf(reason, sizeof reason,
                 "has dates such as '%.20s', in which day and month are ambiguous; write dates as 2024-12-31",
                 u->sheet->text.profile[i].text_example);
        err = unusable_refuse(u, column, reason);
        column->kind = COLUMN_TEXT; /* not to be asked again */
        column->role = COLUMN_DROPPED;
    }
    return err;
}

/* ---------------------------------------------------------------- text with many values */

/* Text most of whose cells are of values in fewer than LEVELS_RARE rows is no category. */
static int settle_many_column(struct unusable *u, struct column *column, const struct many *many)
{
    size_t covered, all = many->levels.count;
    char reason[160];
    int like_numbers = !column_is_settled(column) && many_like_numbers(many) >= ODD_SHARE;
    int odd = !column_is_settled(column) && odd_format(&many->levels);
    const char *example = u->sheet->text.profile[column - u->data->columns].text_example;
    if (odd && !useless_named_id(column->name))
        return unusable_odd(u, column);
    int err = many_take_common(column, many, &covered);
    if (err < 0)
        return err;
    if (many->levels.overflow || covered * 2 < many->cells) {
        column->encoded = 0;
        if (like_numbers && !useless_named_id(column->name))
            return unusable_odd(u, column);
        snprintf(reason, sizeof reason,
                 "is free text or an id: %s%zu different values in %zu rows, most of them in fewer than %d",
                 many->levels.overflow ? "more than " : "", all, many->cells, LEVELS_RARE);
        return unusable_add(u, column, reason);
    }
    column->other = 1;
    column->encoded = column->level_count > LEVELS_MAX;
    data_note(u->data,
              "column '%s': text with %zu different values, taken as %zu %s; the others, each in fewer than "
              "%d rows, and new values are one more%s%.40s%s",
              column->name, all, column->level_count,
              column->encoded ? "levels that are encoded by the mean target" : "indicators", LEVELS_RARE,
              like_numbers ? "; if they are numbers, their format cannot be read: '" : "",
              like_numbers ? example : "", like_numbers ? "'" : "");
    return 0;
}

static int settle_many(struct unusable *u)
{
    sph_data *data = u->data;
    struct many *many = NULL;
    int err = many_count(&many, data, u->sheet);
    for (size_t i = 0; many && i < data->column_count && !err; i++)
        if (many_asks(&data->columns[i]))
            err = settle_many_column(u, &data->columns[i], &many[i]);
    many_free(many, data->column_count);
    return err;
}

static int settle_levels(struct unusable *u, int told, int task)
{
    sph_data *data = u->data;
    const struct sheet *sheet = u->sheet;
    struct collect collect = {.data = data, .sheet = sheet};
    int err = 0;
    collect.levels = mem_get(data->column_count, sizeof *collect.levels);
    if (!collect.levels)
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count; i++)
        collect.levels[i].limit = data->columns[i].role == COLUMN_FEATURE ? LEVELS_MAX : 0;
    for (size_t i = 0; i < data->column_count && told && sheet->text.parsed && !err; i++)
        if (wants_levels(data, sheet, i))
            err = levels_add_all(&collect.levels[i], &sheet->text.words[i]);
    if (!told || !sheet->text.parsed)
        err = sheet_scan_text(sheet, collect_row, &collect);
    for (size_t i = 0; i < data->column_count && !err; i++) {
        struct column *column = &data->columns[i];
        if (!wants_levels(data, sheet, i))
            continue;
        levels_sort(&collect.levels[i]);
        err = column->role == COLUMN_FEATURE
                  ? settle_feature(u, column, &sheet->text.profile[i], &collect.levels[i])
                  : settle_target(data, column, sheet, &sheet->text.profile[i], &collect.levels[i], task);
    }
    for (size_t i = 0; i < data->column_count; i++)
        levels_free(&collect.levels[i]);
    mem_free(collect.levels);
    return err || !u->encodes ? err : settle_many(u);
}

static int settle_kinds(struct unusable *u, int task)
{
    sph_data *data = u->data;
    const struct sheet *sheet = u->sheet;
    int any = 0, told = 1, err = settle_dates(u);
    for (size_t i = 0; i < data->column_count && !err; i++) {
        const struct profile *profile = &sheet->text.profile[i];
        struct column *column = &data->columns[i];
        if (wants_levels(data, sheet, i)) {
            any = 1;
            told &= sheet_tells(sheet, i);
        }
        if (column->role == COLUMN_FEATURE && !(profile->texts + profile->numbers + profile->infinite))
            err = settle_empty(u, column, i);
    }
    return err || !any ? err : settle_levels(u, told, task);
}

struct keeping {
    sph_data *data;
    const size_t *columns; /* (kept_columns) of the sheet */
};

static int keep_row(void *user, size_t line, const struct cell *cells)
{
    const struct keeping *keeping = user;
    sph_data *data = keeping->data;
    (void)line;
    for (size_t i = 0; i < data->kept.columns; i++) {
        const struct cell *cell = &cells[keeping->columns[i]];
        struct text text = {0};
        if (cell->text || cell->kind == CELL_MISSING)
            text_add(&text, "%s", cell->text ? cell->text : "");
        else
            text_add_exact(&text, cell->value);
        if (text.failed) {
            text_free(&text);
            return SPH_EMEMORY;
        }
        data->kept.cells[data->kept.count++] = text.chars;
    }
    return 0;
}

int columns_keep(sph_data *data, const struct sheet *sheet, const char *list)
{
    size_t count = 0, *found = mem_get(sheet->columns, sizeof *found);
    int err = found ? find_list(sheet, list, "keep", found, &count) : SPH_EMEMORY;
    struct keeping keeping = {.data = data, .columns = found};
    if (!err) {
        data->kept.names = mem_get(count, sizeof *data->kept.names);
        data->kept.cells = mem_get(sheet->rows * count, sizeof *data->kept.cells);
        err = data->kept.names && data->kept.cells ? 0 : SPH_EMEMORY;
    }
    for (size_t i = 0; i < count && !err; i++) {
        data->kept.columns++;
        if (!(data->kept.names[i] = mem_text(sheet->names[found[i]])))
            err = SPH_EMEMORY;
    }
    if (!err)
        err = sheet_scan_text(sheet, keep_row, &keeping);
    mem_free(found);
    return err;
}

int columns_place(sph_data *data, const char *path)
{
    data->features = 0;
    for (size_t i = 0; i < data->column_count; i++) {
        struct column *column = &data->columns[data->reading.reversed ? data->column_count - 1 - i : i];
        if (column->role != COLUMN_FEATURE)
            continue;
        column->at = data->features;
        data->features += column_width(column);
    }
    if (data->features)
        return 0;
    return sph_fail_at(SPH_EFORMAT, path, "%zu column%s, none of which can be used as a feature",
                       data->column_count, data->column_count == 1 ? "" : "s");
}

int columns_choose(sph_data *data, const struct sheet *sheet, const sph_data_opts *opts)
{
    data->columns = mem_get(sheet->columns, sizeof *data->columns);
    if (!data->columns)
        return SPH_EMEMORY;
    data->column_count = sheet->columns;
    data->reading.named = sheet->named;
    for (size_t i = 0; i < sheet->columns; i++) {
        data->columns[i].marks = opts->again ? COLUMN_ACCEPTED : 0;
        if (!(data->columns[i].name = mem_text(sheet->names[i])))
            return SPH_EMEMORY;
    }
    struct unusable unusable = {.data = data, .sheet = sheet, .encodes = opts->encode};
    int err = set_roles(data, sheet, opts, &unusable.automatic);
    if (!err && (unusable.automatic || (opts->encode && !(opts->drop && *opts->drop))))
        err = useless_drop(data, sheet, unusable.automatic);
    if (!err && sheet->is_text)
        err = settle_kinds(&unusable, opts->task);
    int refused = unusable_fail(&unusable, err);
    err = err < 0 ? err : refused;
    if (err < 0 || !(err = columns_place(data, sheet->path)) || !unusable.automatic)
        return err;
    return sph_fail_more(err, "; columns without information were left out; keep them with --drop none");
}
