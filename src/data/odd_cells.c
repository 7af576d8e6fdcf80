/* SPDX-License-Identifier: MIT */
#include "data/odd_cells.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/date.h"

/* ---------------------------------------------------------------- the form of one text */

/* CODE: it has digits, but is no number with a unit or in a known format. */
enum form { FORM_NUMBER, FORM_DATE, FORM_SHORT_DATE, FORM_GROUPED, FORM_UNIT, FORM_CODE, FORM_WORD, FORMS };

/* So many different numbers are a quantity, not a code. */
enum { CODES_MOST = 10 };

static size_t digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

/* In either order. */
static int day_and_month(int a, int b)
{
    return a >= 1 && b >= 1 && a <= 31 && b <= 31 && (a <= 12 || b <= 12);
}

/* 07/04/23, or 95/12/31; the version 1.0.10 is none. */
static int is_short_date(const char *text)
{
    int part[3];
    char mark = '\0';
    for (int i = 0; i < 3; i++) {
        size_t run = digits_at(text);
        if (run < 1 || run > 2)
            return 0;
        part[i] = run == 1 ? text[0] - '0' : 10 * (text[0] - '0') + text[1] - '0';
        text += run;
        if (i == 2)
            return run == 2 && (!*text || *text == ' ') &&
                   (day_and_month(part[0], part[1]) || (part[0] > 31 && day_and_month(part[1], part[2])));
        if (!*text || !strchr("/.-", *text) || (mark && *text != mark))
            return 0;
        mark = *text++;
    }
    return 0;
}

/* 738_241 */
static int is_grouped(const char *text)
{
    text += *text == '-';
    size_t run = digits_at(text), groups = 0;
    if (run < 1 || run > 3)
        return 0;
    for (text += run; *text == '_' && digits_at(text + 1) == 3; text += 4)
        groups++;
    return groups && (!*text || *text == '.');
}

/* Where the unit behind a number begins, or NULL: -0.5 kg, 1200cc. */
static const char *unit_of_text(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t number = strspn(text, "0123456789.,");
    const char *unit = text + number + strspn(text + number, " ");
    return digits_at(text) && *unit && *unit != '+' && !strpbrk(unit, "0123456789") ? unit : NULL;
}

static enum form form_of(const char *text)
{
    struct cell cell;
    int timed;
    cell_read(&cell, text);
    if (cell.kind != CELL_TEXT)
        return FORM_NUMBER;
    if (!strpbrk(text, "0123456789"))
        return FORM_WORD;
    if (date_orders(text, &timed))
        return FORM_DATE;
    if (is_short_date(text))
        return FORM_SHORT_DATE;
    if (is_grouped(text))
        return FORM_GROUPED;
    return unit_of_text(text) && cell_looks_like_number(text) ? FORM_UNIT : FORM_CODE;
}

/* ---------------------------------------------------------------- columns */

static void count_forms(const struct levels *levels, size_t *forms)
{
    memset(forms, 0, FORMS * sizeof *forms);
    for (size_t i = 0; i < levels->count; i++)
        forms[form_of(levels->text[i])]++;
}

int odd_is_slip(const struct profile *profile, const struct levels *levels)
{
    size_t forms[FORMS], cells = profile->texts + profile->numbers;
    count_forms(levels, forms);
    size_t words = levels->count - forms[FORM_NUMBER];
    if (profile->texts >= profile->numbers)
        return 0;
    if (levels->overflow || levels->count > LEVELS_MAX || profile->texts < 2 * words ||
        levels->count * 2 > cells)
        return 1;
    return forms[FORM_NUMBER] > CODES_MOST && !forms[FORM_CODE] &&
           profile->numbers * 100 >= cells * ODD_SHARE;
}

/* The unit of a number that cannot be read for it, or NULL. That of 4th is none. */
static const char *unknown_unit(const char *text)
{
    enum form form = form_of(text);
    const char *unit = form == FORM_UNIT || form == FORM_CODE ? unit_of_text(text) : NULL;
    return unit && !strncmp(unit, "th", 2) && (!unit[2] || unit[2] == ' ') ? NULL : unit;
}

/* How many texts have the unit that more than half of those with a unit have, which is voted for: each other text takes a vote away. */
static size_t same_unit(const struct levels *levels)
{
    const char *most = NULL;
    size_t votes = 0, same = 0;
    for (size_t i = 0; i < levels->count; i++) {
        const char *unit = unknown_unit(levels->text[i]);
        if (unit && !votes)
            most = unit;
        if (unit)
            votes = !votes || !strcmp(unit, most) ? votes + 1 : votes - 1;
    }
    for (size_t i = 0; most && i < levels->count; i++) {
        const char *unit = unknown_unit(levels->text[i]);
        same += unit && !strcmp(unit, most);
    }
    return same;
}

int odd_format(const struct levels *levels)
{
    size_t forms[FORMS], numbers, most;
    count_forms(levels, forms);
    numbers = forms[FORM_NUMBER];
    most = levels->count * ODD_SHARE;
    if (forms[FORM_SHORT_DATE] && (forms[FORM_SHORT_DATE] + forms[FORM_DATE]) * 100 >= most)
        return 1;
    if (forms[FORM_GROUPED] && (forms[FORM_GROUPED] + numbers) * 100 >= most)
        return 1;
    size_t same = levels->count > CODES_MOST ? same_unit(levels) : 0;
    return same > 1 && (same + numbers) * 100 >= most;
}

size_t odd_share(const struct levels *levels)
{
    size_t like = 0;
    for (size_t i = 0; i < levels->count; i++)
        like += cell_looks_like_number(levels->text[i]) != 0;
    return levels->count ? 100 * like / levels->count : 0;
}

/* ---------------------------------------------------------------- what to say */

enum { FOUND = 1 };
struct finding {
    struct odd_cell *out;
    size_t column;
    const char *text; /* to find, or NULL */
};

static int find_row(void *user, size_t line, const struct cell *cells)
{
    const struct finding *f = user;
    const struct cell *cell = &cells[f->column];
    int found = f->text ? cell->text && !strcmp(f->text, cell->text) /* a number among dates, too */
                        : cell->kind == CELL_TEXT && cell_looks_like_number(cell->text);
    if (!found)
        return 0;
    f->out->line = line;
    return (f->out->text = mem_text(cell->text)) ? FOUND : SPH_EMEMORY;
}

int odd_find(struct odd_cell *out, const struct sheet *sheet, size_t column, const char *text)
{
    const struct profile *profile = &sheet->text.profile[column];
    struct finding finding = {.out = out, .column = column, .text = text};
    *out = (struct odd_cell){.line = profile->text_line};
    int err = sheet_scan_text(sheet, find_row, &finding);
    if (err < 0)
        return err;
    return out->text || (out->text = mem_text(profile->text_example)) ? 0 : SPH_EMEMORY;
}

struct collecting {
    const sph_data *data;
    struct levels words;
    size_t columns, cells; /* cells: that hold words */
};

static int collect_word(void *user, size_t line, const struct cell *cells)
{
    struct collecting *c = user;
    int err = 0, timed;
    (void)line;
    for (size_t i = 0; i < c->data->column_count && !err; i++) {
        const char *text = cells[i].text;
        if (!(c->data->columns[i].marks & COLUMN_SLIPS) || cells[i].kind != CELL_TEXT ||
            cell_looks_like_number(text) || date_orders(text, &timed))
            continue;
        c->cells++;
        if (!strpbrk(text, ",'\"\n"))
            err = levels_add(&c->words, text);
    }
    return err;
}

int odd_remedy(struct text *out, const struct sheet *sheet, const sph_data *data)
{
    enum { WORDS_NAMED = 12 };
    const char *given = sheet->text.missing_words;
    struct collecting c = {.data = data, .words.limit = LEVELS_MAX};
    const struct column *last = NULL;
    for (size_t i = 0; i < data->column_count; i++)
        if (data->columns[i].marks & COLUMN_SLIPS) {
            last = &data->columns[i];
            c.columns++;
        }
    int err = sheet_scan_text(sheet, collect_word, &c);
    if (!err && c.words.count) {
        text_add(out, "; if %s, use --missing-words '%s%s",
                 c.cells == 1 ? "this is an empty cell" : "these are empty cells", given ? given : "",
                 given && *given ? "," : "");
        for (size_t i = 0; i < c.words.count && i < WORDS_NAMED; i++)
            text_add(out, "%s%.60s", i ? "," : "", c.words.text[i]);
        text_add(out, "'%s", c.words.count > WORDS_NAMED ? " and more" : "");
        if (c.columns == 1 && last->role == COLUMN_FEATURE && !c.words.overflow &&
            c.cells >= 2 * c.words.count)
            text_add(out, "; if they are categories, use --text '%s'", last->name);
    }
    levels_free(&c.words);
    return err;
}

int odd_fail(const struct sheet *sheet, const struct column *column, const struct profile *profile,
             const char *remedy)
{
    struct cell cell;
    cell_read(&cell, profile->text_example);
    if (cell.mark == MARK_COMMA)
        return sheet_fail(sheet, profile->text_line, column->name, ODD_MARKS, column->name,
                          profile->text_example);
    return sheet_fail(
        sheet, profile->text_line, column->name, "column '%s' contains '%.60s', expected a number%s%s",
        column->name, profile->text_example,
        profile->numbers > profile->texts ? " as in its other cells" : "", remedy ? remedy : "");
}
