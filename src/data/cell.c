/* SPDX-License-Identifier: MIT
 *
 * What a cell's text means: missing, a number, infinite, or text. */
#include "data/sheet.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/number.h"

enum { NUMBER_MAX = 400 }; /* longer than any sensible number */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The whole of text[length] as an unsigned decimal number. */
static int decimal(const char *text, size_t length, double *out)
{
    return length && *text != '-' && number_read_long(text, text + length, out) == text + length;
}

static size_t skip_digits(const char *text, size_t length, size_t at)
{
    while (at < length && is_digit(text[at]))
        at++;
    return at;
}

/* A decimal number such as 1.234 could be thousands in another file. */
static enum mark point_mark(const char *text, size_t length)
{
    size_t whole = skip_digits(text, length, 0);
    if (whole == length || text[whole] != '.')
        return MARK_NONE;
    int unclear = length == whole + 4 && whole && whole <= 3 && *text != '0' &&
                  skip_digits(text, length, whole + 1) == length;
    return unclear ? MARK_UNCLEAR_POINT : MARK_POINT;
}

enum mark cell_point(const char *text, size_t length)
{
    size_t sign = length && *text == '-';
    return point_mark(text + sign, length - sign);
}

/* ---------------------------------------------------------------- digits and what parts them */

/* Blanks of several widths; 0: the text begins with none of them. */
static size_t blank_at(const char *text, size_t length)
{
    static const char *const wide[] = {"\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89"};
    if (length && *text == ' ')
        return 1;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (length >= strlen(wide[i]) && !memcmp(text, wide[i], strlen(wide[i])))
            return strlen(wide[i]);
    return 0;
}

/* *sign: ',' '.' '\'' (two kinds) or ' ' (all kinds); returns its bytes, 0 where none is. */
static size_t separator_at(const char *text, size_t length, char *sign)
{
    size_t blank = blank_at(text, length);
    *sign = blank ? ' ' : length ? *text : '\0';
    if (blank)
        return blank;
    if (length >= 3 && !memcmp(text, "\xE2\x80\x99", 3)) {
        *sign = '\'';
        return 3;
    }
    return length && strchr(",.'", *text) ? 1 : 0;
}

/* A number without its sign and unit: 12'345,6 is two runs of digits, a third, and the signs between them. */
struct digits {
    char copy[NUMBER_MAX]; /* the digits of all runs, then the exponent */
    size_t length;
    size_t whole;     /* digits before the last sign */
    size_t last;      /* digits of the last run */
    size_t signs;     /* between runs */
    char group, mark; /* the sign between the first runs, where there are three; and the last sign */
    int thousands;    /* the first run has one to three digits, those between it and the last three */
    int zero;         /* it begins with 0 */
    int exponent;
};

static int read_digits(struct digits *out, const char *text, size_t length)
{
    size_t at = 0, run;
    char sign = '\0';
    *out = (struct digits){.thousands = 1, .zero = length && *text == '0'};
    if (length >= sizeof out->copy)
        return 0;
    for (size_t step = 0;; at += step) {
        run = skip_digits(text, length, at) - at;
        memcpy(out->copy + out->length, text + at, run);
        out->length += run;
        at += run;
        out->last = run;
        step = separator_at(text + at, length - at, &sign);
        if (!step)
            break;
        out->thousands &= out->signs ? run == 3 : run >= 1 && run <= 3;
        if (out->signs && out->group && out->group != out->mark)
            return 0;
        out->group = out->signs ? out->mark : '\0';
        out->whole = out->length;
        out->mark = sign;
        out->signs++;
    }
    out->exponent = at < length;
    if (!out->signs)
        out->whole = out->length;
    if (out->exponent && ((text[at] != 'e' && text[at] != 'E') || out->signs > 1))
        return 0;
    memcpy(out->copy + out->length, text + at, length - at);
    out->length += length - at;
    return 1;
}

/* The decimal mark that the signs show; MARK_OTHER: the text is no number. */
static enum mark mark_of(const struct digits *d)
{
    int groups = d->thousands && !d->zero && d->last == 3 && !d->exponent;
    if (!d->signs)
        return MARK_NONE;
    if ((!d->whole && (d->mark != '.' || !d->last)) || (!d->last && d->mark != '.'))
        return MARK_OTHER; /* .5 and 5. are numbers */
    if (d->mark == ' ' || d->mark == '\'')
        return groups && (!d->group || d->group == d->mark) ? MARK_NONE : MARK_OTHER;
    enum mark decimal = d->mark == ',' ? MARK_COMMA : MARK_POINT;
    if (d->group && d->group != d->mark)
        return d->thousands ? decimal : MARK_OTHER;
    if (d->group) /* 1,234,567: the other sign is left for decimals */
        return !groups ? MARK_OTHER : decimal == MARK_COMMA ? MARK_POINT : MARK_COMMA;
    if (!groups)
        return decimal;
    return decimal == MARK_COMMA ? MARK_UNCLEAR_COMMA : MARK_UNCLEAR_POINT;
}

/* The number, its last sign the decimal one or one more between thousands. */
static int digits_value(const struct digits *d, int has_decimals, double *out)
{
    char copy[NUMBER_MAX + 1];
    memcpy(copy, d->copy, d->whole);
    copy[d->whole] = '.';
    memcpy(copy + d->whole + has_decimals, d->copy + d->whole, d->length - d->whole);
    return decimal(copy, d->length + (size_t)has_decimals, out);
}

/* ---------------------------------------------------------------- signs and units */

static const struct {
    const char *text;
    enum unit unit;
} units[] = {{"$", UNIT_DOLLAR},     {"\xE2\x82\xAC", UNIT_EURO}, {"\xC2\xA3", UNIT_POUND},
             {"\xC2\xA5", UNIT_YEN}, {"USD", UNIT_DOLLAR},        {"EUR", UNIT_EURO},
             {"GBP", UNIT_POUND},    {"JPY", UNIT_YEN},           {"%", UNIT_PERCENT}};

const char *cell_unit(enum unit unit)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].unit == unit)
            return units[i].text;
    return "";
}

/* What is being read of a cell, and what was found so far. */
struct reading {
    const char *text;
    size_t length;
    int negative, is_signed;
    enum unit unit;
};

static void trim(struct reading *r)
{
    for (size_t n; (n = r->length && *r->text == '\t' ? 1 : blank_at(r->text, r->length)); r->length -= n)
        r->text += n;
    for (size_t n = 1; n;) {
        n = r->length && r->text[r->length - 1] == '\t';
        for (size_t width = 1; !n && width <= 3 && width <= r->length; width++)
            if (blank_at(r->text + r->length - width, width) == width)
                n = width;
        r->length -= n;
    }
}

static void take_sign(struct reading *r)
{
    if (r->is_signed || !r->length || (*r->text != '-' && *r->text != '+'))
        return;
    r->is_signed = 1;
    r->negative = *r->text == '-';
    r->text++;
    r->length--;
}

/* (12) is -12. */
static void take_parentheses(struct reading *r)
{
    if (r->is_signed || r->length < 3 || *r->text != '(' || r->text[r->length - 1] != ')')
        return;
    r->is_signed = r->negative = 1;
    r->text++;
    r->length -= 2;
    trim(r);
}

/* A currency before or behind, or a per cent sign behind. */
static void take_unit(struct reading *r)
{
    for (size_t i = 0; i < sizeof units / sizeof *units && !r->unit; i++) {
        size_t n = strlen(units[i].text);
        int before = r->length > n && units[i].unit != UNIT_PERCENT && !memcmp(r->text, units[i].text, n);
        if (!before && (r->length <= n || memcmp(r->text + r->length - n, units[i].text, n) != 0))
            continue;
        r->unit = units[i].unit;
        r->length -= n;
        r->text += before ? n : 0;
        trim(r);
        if (before) {
            take_sign(r);
            take_parentheses(r);
        }
    }
}

/* comma: the decimal mark of the column is a comma. 1: cell has value, mark and unit; 0: it is none, or one of a column of the
 * other kind, and then cell has mark and unit too. */
static int number(struct cell *cell, const char *text, size_t length, int comma)
{
    struct reading r = {.text = text, .length = length};
    struct digits digits;
    take_sign(&r);
    if (!comma && decimal(r.text, r.length, &cell->value)) {
        cell->mark = point_mark(r.text, r.length);
    } else {
        take_parentheses(&r);
        take_unit(&r);
        if (!r.length || (!is_digit(*r.text) && *r.text != '.') || !read_digits(&digits, r.text, r.length))
            return 0;
        enum mark mark = mark_of(&digits);
        int has_decimals = mark == (comma ? MARK_UNCLEAR_COMMA : MARK_UNCLEAR_POINT) ||
                           (mark == MARK_COMMA && digits.mark == ',') ||
                           (mark == MARK_POINT && digits.mark == '.');
        if (mark == MARK_OTHER || !digits_value(&digits, has_decimals, &cell->value))
            return 0;
        cell->mark = mark;
        cell->unit = r.unit;
    }
    if (r.negative)
        cell->value = -cell->value;
    return cell->mark != (comma ? MARK_POINT : MARK_COMMA);
}

static int same(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !strncasecmp(text, word, length);
}

/* A letter with which no currency, no missing cell and no infinity begins. */
static int begins_word(char c)
{
    char low = c | 0x20;
    return low >= 'a' && low <= 'z' && !strchr("UEGJ", c) && low != 'n' && low != 'i';
}

static void read_cell(struct cell *out, const char *text, int comma)
{
    static const char *const missing[] = {"na", "n/a", "nan", "null", "?", "-"};
    *out = (struct cell){.kind = CELL_TEXT, .text = text};
    if (begins_word(*text))
        return;
    struct reading all = {.text = text, .length = strlen(text)};
    trim(&all);
    size_t length = all.length;
    text = all.text;
    if (!length) {
        out->kind = CELL_MISSING;
        return;
    }
    if (number(out, text, length, comma)) {
        out->kind = isfinite(out->value) ? CELL_NUMBER : CELL_INFINITE;
        return;
    }
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (same(text, length, missing[i])) {
            out->kind = CELL_MISSING;
            return;
        }
    if (*text == '+' || *text == '-') {
        if (same(text + 1, length - 1, "nan"))
            out->kind = CELL_MISSING;
        text++;
        length--;
    }
    if (same(text, length, "inf") || same(text, length, "infinity"))
        out->kind = CELL_INFINITE;
}

void cell_read(struct cell *out, const char *text)
{
    read_cell(out, text, 0);
}

void cell_read_decimal(struct cell *out, const char *text)
{
    read_cell(out, text, 1);
}

int cell_looks_like_number(const char *text)
{
    struct reading r = {.text = text, .length = strlen(text)};
    size_t digits = 0, letters = 0;
    trim(&r);
    take_sign(&r);
    take_parentheses(&r);
    take_unit(&r);
    if (!r.length || !is_digit(*r.text))
        return 0;
    for (size_t i = 0; i < r.length; i++) {
        char c = r.text[i], low = c | 0x20;
        digits += is_digit(c) != 0;
        letters += (low >= 'a' && low <= 'z') || (c & 0x80);
    }
    return digits > letters;
}

int cell_is_listed(const char *list, const char *word)
{
    size_t blanks = strspn(word, " \t"), length;
    word += blanks;
    for (length = strlen(word); length && (word[length - 1] == ' ' || word[length - 1] == '\t'); length--)
        ;
    for (const char *p = list; length;) {
        size_t n = strcspn(p, ",");
        if (n == length && !strncasecmp(p, word, n))
            return 1;
        if (!p[n])
            return 0;
        p += n + 1;
    }
    return 0;
}
