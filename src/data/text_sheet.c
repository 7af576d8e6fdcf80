/* SPDX-License-Identifier: MIT
 *
 * A text file as a table: the first pass finds its shape, whether it has a header, and what each column
 * holds. */
#include "base/order.h"
#include "data/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/csv.h"
#include "base/levels.h"

/* ---------------------------------------------------------------- the first pass */

struct first_pass {
    struct sheet *sheet;
    char **first; /* (columns) the first row's fields */
    size_t first_line;
    size_t *again; /* (columns) how often a later cell equals the first */
    size_t width;
    size_t rows;

    /* (rows, width) of the rows but the first, whose place is kept; NULL: there is no room for them */
    double *cells;
    size_t capacity; /* rows */
    struct met *met; /* (1 << MET_BITS) words and missing cells met before */
    char *text;      /* a field with NUL behind it */
    size_t text_capacity;
};

/* A text of a column's cells, as it stands in the file, and the number that was kept for it. */
enum { MET_BITS = 11 };
struct met {
    const char *text; /* (length) NULL: free */
    size_t length, column;
    double value;
};

/* ---------------------------------------------------------------- missing words */

/* comma: the decimal mark of its column is a comma. */
static void read_cell(const struct sheet *sheet, struct cell *out, const char *text, int comma)
{
    (comma ? cell_read_decimal : cell_read)(out, text);
    if (out->kind == CELL_TEXT && sheet->text.missing_words &&
        cell_is_listed(sheet->text.missing_words, text))
        out->kind = CELL_MISSING;
}

/* ---------------------------------------------------------------- cells, kept */

enum { WORDS_MOST = 1 << 12 }; /* of a column; a word beyond them is kept as number WORDS_MOST + 1 */

void text_sheet_forget(struct sheet *sheet)
{
    for (size_t i = 0; sheet->text.words && i < sheet->columns; i++)
        levels_free(&sheet->text.words[i]);
    mem_free(sheet->text.words);
    mem_free(sheet->text.parsed_own);
    sheet->text.words = NULL;
    sheet->text.parsed = sheet->text.parsed_own = NULL;
}

/* About as many rows as there are: by the lines of the first bytes. */
static size_t guess_rows(const struct sheet *sheet)
{
    enum { LOOK = 1 << 16 };
    size_t look = sheet->length < LOOK ? sheet->length : LOOK, lines = 1;
    for (const char *p = sheet->bytes, *end = p + look; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        lines++;
    return (size_t)((double)lines * (double)sheet->length / (double)look * 1.02) + 16;
}

static void forget_cells(struct first_pass *pass)
{
    mem_free(pass->cells);
    pass->cells = NULL;
}

/* Where memory is short the file is read twice instead. */
static int expect_cells(struct first_pass *pass)
{
    struct sheet *sheet = pass->sheet;
    size_t rows = guess_rows(sheet), count, bytes;
    if (!size_times(&count, rows, pass->width) || !size_times(&bytes, count, 3 * sizeof(double)) ||
        !mem_allows(bytes))
        return 0;
    sheet->text.words = mem_get(pass->width, sizeof *sheet->text.words);
    pass->cells = mem_get_large(count, sizeof *pass->cells);
    pass->capacity = rows;
    for (size_t i = 0; sheet->text.words && i < pass->width; i++)
        sheet->text.words[i].limit = WORDS_MOST;
    if (!sheet->text.words || !pass->cells)
        return SPH_EMEMORY;
    return 0;
}

/* row: among all of the file. *value: what is kept of the cell, of a word or a missing one also where there is no room. */
static int keep_cell(struct first_pass *pass, size_t row, size_t column, const struct cell *cell,
                     double *value)
{
    *value = cell->kind == CELL_TEXT ? kept_word(1) : cell->kind == CELL_MISSING ? kept_word(0) : cell->value;
    if (!pass->cells)
        return 0;
    if (row >= pass->capacity || cell->kind == CELL_INFINITE) {
        forget_cells(pass);
        return 0;
    }
    if (cell->kind == CELL_TEXT) {
        size_t word;
        int err = levels_place(&pass->sheet->text.words[column], cell->text, &word);
        if (err < 0)
            return err;
        *value = kept_word(word < WORDS_MOST ? word + 1 : WORDS_MOST + 1);
    }
    pass->cells[row * pass->width + column] = *value;
    return 0;
}

static int keep_example(char **example, size_t *example_line, size_t line, const char *text)
{
    char *copy = mem_text(text);
    if (!copy)
        return SPH_EMEMORY;
    mem_free(*example);
    *example = copy;
    *example_line = line;
    return 0;
}

/* Keeps the first cell with a decimal comma as an example, where there is none the first unclear one. */
static int see_mark(struct profile *profile, size_t line, enum mark mark, const char *text)
{
    int better = mark == MARK_COMMA && (!profile->decimal || line < profile->mark_line);
    int first =
        mark != MARK_COMMA && !profile->decimal && (!profile->mark_example || line < profile->mark_line);
    int err = better || first ? keep_example(&profile->mark_example, &profile->mark_line, line, text) : 0;
    profile->decimal += mark == MARK_COMMA;
    profile->unclear += mark == MARK_UNCLEAR_COMMA;
    profile->unclear_points |= mark == MARK_UNCLEAR_POINT;
    return err;
}

/* commas: they do not part the cells. */
static int add_marks(struct profile *profile, size_t line, const struct cell *cell, int commas)
{
    enum mark mark = cell->mark;
    if (!commas && mark == MARK_UNCLEAR_POINT)
        mark = MARK_NONE;
    profile->points |= mark == MARK_POINT;
    profile->money |= mark == MARK_UNCLEAR_COMMA && cell->unit > UNIT_PERCENT;
    profile->other += commas && (mark == MARK_POINT || mark == MARK_NONE) && strchr(cell->text, ',') != NULL;
    return mark == MARK_COMMA || mark == MARK_UNCLEAR_COMMA || mark == MARK_UNCLEAR_POINT
               ? see_mark(profile, line, mark, cell->text)
               : 0;
}

static int add_to_profile(struct profile *profile, size_t line, const struct cell *cell, int commas)
{
    int err = add_marks(profile, line, cell, commas);
    if (err < 0)
        return err;
    if (cell->unit && cell->kind != CELL_INFINITE &&
        (!profile->units[cell->unit].cells++ || line < profile->units[cell->unit].line))
        profile->units[cell->unit].line = line;
    if (cell->mark == MARK_COMMA) /* number or text: known at the end */
        return 0;
    switch (cell->kind) {
    case CELL_MISSING:
        profile->missing++;
        return 0;
    case CELL_NUMBER:
        profile->numbers++;
        return 0;
    case CELL_INFINITE:
        profile->infinite++;
        return 0;
    case CELL_TEXT:
        break;
    }
    if (!profile->texts++ || line < profile->text_line)
        return keep_example(&profile->text_example, &profile->text_line, line, cell->text);
    return 0;
}

/* Evidence of the columns about the file's decimal mark. */
struct marks {
    char delimiter;
    int commas, points; /* some column has decimal commas, points */
};

static int settle_column(struct profile *profile, const struct marks *file)
{
    enum mark by_file = !file->commas ? MARK_NONE : file->points ? MARK_OTHER : MARK_COMMA;
    if (profile->decimal && !profile->other) {
        profile->mark = MARK_COMMA;
        profile->numbers += profile->decimal;
    } else if (profile->decimal) {
        int none = !profile->texts;
        profile->texts += profile->decimal;
        if (none || profile->mark_line < profile->text_line)
            return keep_example(&profile->text_example, &profile->text_line, profile->mark_line,
                                profile->mark_example);
    } else if (profile->points || profile->other || profile->money)
        profile->mark = MARK_NONE;
    else if (profile->unclear && (by_file || file->delimiter != ','))
        profile->mark = by_file == MARK_COMMA ? MARK_COMMA : MARK_UNCLEAR_COMMA;
    else if (profile->unclear_points && (by_file || (file->delimiter == ';' && !file->points)))
        profile->mark = by_file == MARK_COMMA ? MARK_COMMA : MARK_UNCLEAR_POINT;
    return 0;
}

/* Notes the point of a plain number, until the column is known to have decimal points. */
static int see_point(struct profile *profile, size_t line, const struct csv_field *field)
{
    enum mark mark = cell_point(field->text, field->length);
    profile->points = mark == MARK_POINT;
    if (mark != MARK_UNCLEAR_POINT || profile->unclear_points)
        return 0;
    char *text = mem_text_of(field->text, field->length);
    int err = text ? see_mark(profile, line, mark, text) : SPH_EMEMORY;
    mem_free(text);
    return err;
}

static int see_points(void *user, size_t line, const struct csv_field *fields, size_t count)
{
    struct sheet *sheet = user;
    int err = 0;
    for (size_t i = 0; i < count && i < sheet->columns && !err; i++)
        if (fields[i].kind == CSV_NUMBER && !sheet->text.profile[i].points)
            err = see_point(&sheet->text.profile[i], line, &fields[i]);
    return err;
}

/* Where commas part the cells, points are looked at only if quoted cells have decimal commas. */
static int settle_marks(struct first_pass *pass)
{
    struct sheet *sheet = pass->sheet;
    struct marks file = {.delimiter = sheet->text.delimiter};
    int err = 0;
    for (size_t i = 0; i < pass->width; i++)
        file.commas |= sheet->text.profile[i].decimal && !sheet->text.profile[i].other;
    if (file.commas && file.delimiter == ',')
        err = csv_read(sheet->path, sheet->bytes, sheet->length, file.delimiter, see_points, sheet);
    for (size_t i = 0; i < pass->width; i++)
        file.points |= sheet->text.profile[i].points && !sheet->text.profile[i].decimal;
    for (size_t i = 0; i < pass->width && !err; i++) {
        err = settle_column(&sheet->text.profile[i], &file);
        if (sheet->text.profile[i].mark == MARK_COMMA)
            forget_cells(pass);
    }
    return err;
}

static int keep_first(struct first_pass *pass, size_t line, const struct csv_field *fields, size_t count)
{
    pass->first_line = line;
    pass->first = mem_get(count, sizeof *pass->first);
    pass->again = mem_get(count, sizeof *pass->again);
    pass->met = mem_get((size_t)1 << MET_BITS, sizeof *pass->met);
    pass->sheet->text.profile = mem_get(count, sizeof *pass->sheet->text.profile);
    if (!pass->first || !pass->again || !pass->met || !pass->sheet->text.profile)
        return SPH_EMEMORY;
    pass->width = pass->sheet->columns = count;
    for (size_t i = 0; i < count; i++)
        if (!(pass->first[i] = mem_text_of(fields[i].text, fields[i].length)))
            return SPH_EMEMORY;
    return expect_cells(pass);
}

static int wrong_width(const struct sheet *sheet, size_t line, size_t count)
{
    return sheet_fail(sheet, line, "", "%zu column%s, expected %zu as in the first row", count,
                      count == 1 ? "" : "s", sheet->columns);
}

/* Where the field is looked up; NULL: it is not in the file as it is, or commas in it have to be counted. */
static struct met *place_of(const struct first_pass *pass, size_t column, const struct csv_field *field)
{
    uint64_t head = 0;
    if (field->kind != CSV_TEXT ||
        (pass->sheet->text.delimiter != ',' && memchr(field->text, ',', field->length)))
        return NULL;
    memcpy(&head, field->text, field->length < sizeof head ? field->length : sizeof head);
    head ^= (uint64_t)field->length << 56 ^ column * UINT64_C(0x9e3779b97f4a7c15);
    return &pass->met[head * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MET_BITS)];
}

/* A field that is no plain number, with care. */
static int add_field(struct first_pass *pass, size_t line, size_t column, const struct csv_field *field)
{
    struct cell cell;
    double value;
    struct met *met = place_of(pass, column, field);
    struct profile *profile = &pass->sheet->text.profile[column];
    size_t row = pass->rows - 1;
    if (met && met->text && met->length == field->length && met->column == column &&
        !memcmp(met->text, field->text, field->length) && (!pass->cells || row < pass->capacity)) {
        *(kept_word_of(met->value) ? &profile->texts : &profile->missing) += 1;
        if (pass->cells)
            pass->cells[row * pass->width + column] = met->value;
        return 0;
    }
    if (!mem_reserve((void **)&pass->text, &pass->text_capacity, (size_t)field->length + 1, 1))
        return SPH_EMEMORY;
    memcpy(pass->text, field->text, field->length);
    pass->text[field->length] = '\0';
    read_cell(pass->sheet, &cell, pass->text, 0);
    pass->again[column] += !strcmp(pass->text, pass->first[column]);
    int err = add_to_profile(profile, line, &cell, pass->sheet->text.delimiter != ',');
    if (!err)
        err = keep_cell(pass, row, column, &cell, &value);
    if (!err && met && isnan(value) && !cell.mark)
        *met = (struct met){field->text, field->length, column, value};
    return err;
}

static int first_row(void *user, size_t line, const struct csv_field *fields, size_t count)
{
    struct first_pass *pass = user;
    struct profile *profile = pass->sheet->text.profile;
    int points = pass->sheet->text.delimiter != ',', err = 0;
    if (!pass->rows++)
        return keep_first(pass, line, fields, count);
    if (count != pass->width)
        return wrong_width(pass->sheet, line, count);
    if (pass->rows > pass->capacity)
        forget_cells(pass);
    double *out = pass->cells ? pass->cells + (pass->rows - 1) * count : NULL;
    for (size_t i = 0; i < count && !err; i++) {
        const struct csv_field *field = &fields[i];
        if (field->kind != CSV_NUMBER) {
            err = add_field(pass, line, i, field);
            out = pass->cells ? out : NULL;
            continue;
        }
        profile[i].numbers++;
        if (points && !profile[i].points)
            err = see_point(&profile[i], line, field);
        if (out)
            out[i] = field->number;
    }
    return err;
}

/* A copy of the list in bytewise order; caller frees. */
static const char **sort_texts(const char *const *texts, size_t count)
{
    const char **sorted = mem_get(count, sizeof *sorted);
    if (sorted && count) {
        memcpy(sorted, texts, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_text);
    }
    return sorted;
}

/* 1: no two of the first row's cells are equal. */
static int first_is_distinct(const struct first_pass *pass)
{
    const char **sorted = sort_texts((const char *const *)pass->first, pass->width);
    int distinct = sorted ? 1 : SPH_EMEMORY;
    for (size_t i = 1; distinct > 0 && i < pass->width; i++)
        distinct = strcmp(sorted[i - 1], sorted[i]) != 0;
    mem_free(sorted);
    return distinct;
}

/* A header has a word over a column of numbers. Where no column is of numbers, it has distinct words that its
 * columns do not hold. Names that are expected (in bytewise order) settle it. */
static int has_header(const struct first_pass *pass, const char *const *expected, size_t expected_count)
{
    size_t words = 0, number_columns = 0;
    for (size_t i = 0; i < pass->width; i++) {
        struct cell cell;
        cell_read(&cell, pass->first[i]);
        if (cell.mark == MARK_COMMA)
            cell.kind = CELL_NUMBER;
        if (cell.kind == CELL_TEXT && !pass->again[i] &&
            levels_find((char *const *)(uintptr_t)expected, expected_count, pass->first[i]) >= 0)
            return 1;
        const struct profile *profile = &pass->sheet->text.profile[i];
        /* "mostly": a stray word in a column of numbers is reported later, it does not make its header a
         * value. */
        int numbers = profile->numbers + profile->decimal > profile->texts;
        number_columns += (size_t)numbers;
        if (cell.kind == CELL_TEXT) {
            if (numbers && !pass->again[i])
                return 1;
            words += !pass->again[i];
        }
    }
    return words == pass->width && !number_columns ? first_is_distinct(pass) : 0;
}

static int finish(struct first_pass *pass, const char *const *expected, size_t expected_count)
{
    struct sheet *sheet = pass->sheet;
    if (!pass->rows)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "the file has only empty lines");
    const char **sorted = sort_texts(expected, expected_count);
    int header = sorted ? has_header(pass, sorted, expected_count) : SPH_EMEMORY;
    mem_free(sorted);
    if (header < 0)
        return header;
    sheet->text.header = header;
    sheet->rows = pass->rows - (size_t)sheet->text.header;
    sheet->named = sheet->text.header;
    if (!sheet->text.header) {
        for (size_t i = 0; i < pass->width; i++) {
            struct cell cell;
            double value;
            read_cell(pass->sheet, &cell, pass->first[i], 0);
            int err = keep_cell(pass, 0, i, &cell, &value);
            if (!err)
                err = add_to_profile(&sheet->text.profile[i], pass->first_line, &cell,
                                     sheet->text.delimiter != ',');
            if (err < 0)
                return err;
        }
    }
    int err = settle_marks(pass);
    if (err < 0)
        return err;
    if (pass->cells) {
        sheet->text.parsed_own = pass->cells;
        sheet->text.parsed = pass->cells + (sheet->text.header ? pass->width : 0);
        pass->cells = NULL;
    }
    return sheet_set_names(sheet, sheet->text.header ? (const char *const *)pass->first : NULL);
}

/* ---------------------------------------------------------------- opening */

static int check_bytes(struct sheet *sheet)
{
    const unsigned char *b = (const unsigned char *)sheet->bytes;
    if (!sheet->length)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "the file is empty");
    if (sheet->length >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF)))
        return sph_fail_at(SPH_EFORMAT, sheet->path, "the text is UTF-16: save it as UTF-8");
    const unsigned char *nul = memchr(b, 0, sheet->length);
    if (nul)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "not a text table: byte %zu is zero", (size_t)(nul - b));
    if (sheet->length >= 3 && !memcmp(b, "\xEF\xBB\xBF", 3)) {
        sheet->bytes += 3;
        sheet->length -= 3;
    }
    return 0;
}

/* Reads the bytes once for their shape, header and profile. */
static int open_text(struct sheet *sheet, const struct sheet_hints *hints)
{
    char delimiter = hints->delimiter;
    struct first_pass pass = {.sheet = sheet};
    int err = check_bytes(sheet);
    if (err < 0)
        return err;
    if (delimiter == '"' || delimiter == '\n' || delimiter == '\r')
        return sph_fail_key(SPH_EARG, "delimiter", "a quote or line end cannot be one");
    sheet->is_text = 1;
    sheet->text.delimiter =
        delimiter && !hints->expected ? delimiter : csv_sniff(sheet->bytes, sheet->length, delimiter);
    err = csv_read(sheet->path, sheet->bytes, sheet->length, sheet->text.delimiter, first_row, &pass);
    if (!err)
        err = finish(&pass, hints->expected, hints->expected_count);
    mem_free_texts(pass.first, pass.width);
    mem_free(pass.again);
    mem_free(pass.cells);
    mem_free(pass.met);
    mem_free(pass.text);
    return err;
}

static int knows_any(const struct reader_file *file)
{
    (void)file;
    return 1;
}

const struct reader reader_text = {.knows = knows_any, .open_sheet = open_text};

/* ---------------------------------------------------------------- later passes */

struct later_pass {
    const struct sheet *sheet;
    struct cell *cells;
    char *text; /* the row's fields, NUL behind each */
    size_t text_capacity;
    sheet_row *row;
    void *user;
    size_t rows;
};

static int later_row(void *user, size_t line, const struct csv_field *fields, size_t count)
{
    struct later_pass *pass = user;
    size_t length = count;
    if (!pass->rows++ && pass->sheet->text.header)
        return 0;
    if (count != pass->sheet->columns) /* a file that changes while it is read */
        return wrong_width(pass->sheet, line, count);
    for (size_t i = 0; i < count; i++)
        length += fields[i].length;
    if (!mem_reserve((void **)&pass->text, &pass->text_capacity, length, 1))
        return SPH_EMEMORY;
    char *text = pass->text;
    for (size_t i = 0; i < count; i++) {
        memcpy(text, fields[i].text, fields[i].length);
        text[fields[i].length] = '\0';
        int comma = pass->sheet->text.profile[i].mark == MARK_COMMA;
        if (fields[i].kind == CSV_NUMBER && !comma)
            pass->cells[i] = (struct cell){.kind = CELL_NUMBER, .value = fields[i].number, .text = text};
        else
            read_cell(pass->sheet, &pass->cells[i], text, comma);
        text += fields[i].length + 1;
    }
    return pass->row(pass->user, line, pass->cells);
}

static int scan_with(const struct sheet *sheet, sheet_row *row, void *user, struct cell *cells)
{
    struct later_pass pass = {.sheet = sheet, .row = row, .user = user, .cells = cells};
    int err = csv_read(sheet->path, sheet->bytes, sheet->length, sheet->text.delimiter, later_row, &pass);
    mem_free(pass.text);
    return err;
}

struct one_row {
    sheet_row *row;
    void *user;
    size_t left; /* rows before it */
};

static int take_one(void *user, size_t line, const struct cell *cells)
{
    struct one_row *one = user;
    return one->left-- ? 0 : one->row(one->user, line, cells);
}

/* value: no number. */
static void set_word(struct cell *cell, const struct levels *words, double value)
{
    size_t word = kept_word_of(value);
    cell->kind = word ? CELL_TEXT : CELL_MISSING;
    cell->text = word && word <= words->count ? words->text[word - 1] : "";
}

static void set_cells(const struct sheet *sheet, const double *value, struct cell *cells)
{
    for (size_t i = 0; i < sheet->columns; i++) {
        cells[i] = (struct cell){.kind = CELL_NUMBER, .value = value[i]};
        if (isnan(value[i]))
            set_word(&cells[i], &sheet->text.words[i], value[i]);
    }
}

/* A row that is refused is looked up in the text, for its line and its words. */
int text_sheet_scan_parsed(const struct sheet *sheet, sheet_row *row, void *user)
{
    int err = 0;
    struct cell *cells = mem_get(sheet->columns, sizeof *cells);
    if (!cells)
        return SPH_EMEMORY;
    const double *value = sheet->text.parsed;
    for (size_t i = 0; i < sheet->rows && !err; i++, value += sheet->columns) {
        set_cells(sheet, value, cells);
        err = row(user, 0, cells);
        if (err == SPH_EFORMAT) {
            struct one_row one = {.row = row, .user = user, .left = i};
            int found = scan_with(sheet, take_one, &one, cells);
            err = found < 0 ? found : err;
        }
    }
    mem_free(cells);
    return err;
}

int text_sheet_scan(const struct sheet *sheet, sheet_row *row, void *user)
{
    struct cell *cells = mem_get(sheet->columns, sizeof *cells);
    if (!cells)
        return SPH_EMEMORY;
    int err = scan_with(sheet, row, user, cells);
    mem_free(cells);
    return err;
}
