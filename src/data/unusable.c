/* SPDX-License-Identifier: MIT */
#include "data/unusable.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/odd_cells.h"

/* So many are named. */
enum { NAMED_MOST = 6 };

int unusable_refuse(struct unusable *u, const struct column *column, const char *reason)
{
    enum { MOST = 200 }; /* characters of all names */
    if (!u->count++)
        text_add(&u->first_reason, "%s", reason);
    if (!u->first)
        u->first = column;
    if (!u->names.length || u->names.length + strlen(column->name) < MOST)
        text_add(&u->names, "%s%s", u->names.length ? "," : "", column->name);
    else
        u->unnamed++;
    if (u->count + u->slips <= NAMED_MOST)
        text_add(&u->list, "%s'%.60s' %s", u->list.length ? "; " : "", column->name, reason);
    return 0;
}

int unusable_add(struct unusable *u, struct column *column, const char *reason)
{
    return u->automatic && !(column->marks & COLUMN_NEEDED) ? data_leave_out(u->data, column, reason)
                                                            : unusable_refuse(u, column, reason);
}

int unusable_odd(struct unusable *u, const struct column *column)
{
    char reason[200];
    struct odd_cell odd;
    int err = odd_find(&odd, u->sheet, (size_t)(column - u->data->columns), NULL);
    if (err < 0)
        return err;
    snprintf(reason, sizeof reason,
             "looks like numbers or dates in a format that cannot be read, such as '%.40s' in line %zu",
             odd.text, odd.line);
    mem_free(odd.text);
    u->odd++;
    return unusable_refuse(u, column, reason);
}

int unusable_slip(struct unusable *u, struct column *column, const struct profile *profile)
{
    u->slips++;
    if (!u->first)
        u->first = column;
    column->marks |= COLUMN_SLIPS;
    if (u->count + u->slips <= NAMED_MOST)
        text_add(&u->list, "%s'%.60s' contains '%.60s' in line %zu, expected a number",
                 u->list.length ? "; " : "", column->name, profile->text_example, profile->text_line);
    return 0;
}

/* What to do about columns that cannot be used; their slips have a remedy of their own. */
static void add_remedy(const struct unusable *u, struct text *out)
{
    int all_named = u->count + u->slips <= NAMED_MOST && !u->unnamed;
    const char *names = u->names.chars, *more = u->unnamed ? ",..." : "";
    const char *them = u->count > 1 ? "them" : "it";
    const char *quote = strpbrk(names, " \t&;()$|<>*?") ? "'" : "";
    if (u->slips)
        them = u->count > 1 ? "the other columns" : "the other column";
    if (u->odd)
        text_add(
            out,
            "; correct the cells, use --text %s%s%s%s to read %s as categories, or leave %s out with --drop "
            "%s%s%s%s",
            quote, names, more, quote, them, them, quote, names, more, quote);
    else if (all_named && u->count > 1)
        text_add(out, "; leave %s out with --drop %s%s%s, or with --drop auto", them, quote, names, quote);
    else if (u->count > 1)
        text_add(out, "; leave %s out with --drop auto", them);
    else
        text_add(out, "; leave %s out with --drop %s%s%s", them, quote, names, quote);
}

int unusable_fail(struct unusable *u, int before)
{
    const char *path = u->sheet->path;
    size_t all = u->count + u->slips;
    struct text remedy = {0};
    int err = before == SPH_EMEMORY ? before : 0;
    if (u->slips && !err)
        err = odd_remedy(&remedy, u->sheet, u->data);
    if (u->count && !u->names.failed)
        add_remedy(u, &remedy);
    if (err == SPH_EMEMORY || u->list.failed || u->names.failed || u->first_reason.failed || remedy.failed)
        err = SPH_EMEMORY;
    else if (!err && all == 1 && u->slips)
        err =
            odd_fail(u->sheet, u->first, &u->sheet->text.profile[u->first - u->data->columns], remedy.chars);
    else if (!err && all == 1)
        err = sph_fail_of(SPH_EFORMAT, path, 0, u->first->name, "column '%s' %s%s", u->first->name,
                          u->first_reason.chars, remedy.chars ? remedy.chars : "");
    else if (!err && all) {
        if (all > NAMED_MOST)
            text_add(&u->list, "; and %zu more", all - NAMED_MOST);
        err = u->list.failed
                  ? SPH_EMEMORY
                  : sph_fail_of(SPH_EFORMAT, path, 0, u->first->name, "%zu columns cannot be used: %.640s%s",
                                all, u->list.chars, remedy.chars ? remedy.chars : "");
    }
    text_free(&u->list);
    text_free(&u->names);
    text_free(&u->first_reason);
    text_free(&remedy);
    return err;
}
