/* SPDX-License-Identifier: MIT */
#include "data/date.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "data/odd_cells.h"

/* ---------------------------------------------------------------- one date */

struct fields {
    int part[3]; /* as they stand */
    int year_first;
    char mark;
    int timed;
    double seconds; /* of the day, in UTC where an offset says how far that is */
};

/* A number of at least `least` and at most `most` digits; returns what is behind it, or NULL. */
static const char *digits(const char *text, int least, int most, int *out)
{
    int n = 0;
    *out = 0;
    while (n < most && isdigit((unsigned char)text[n]))
        *out = *out * 10 + (text[n++] - '0');
    return n < least ? NULL : text + n;
}

/* Z, or +hh:mm; *seconds <- what it is ahead of UTC. */
static const char *zone(const char *text, double *seconds)
{
    int hours, minutes = 0, sign = *text == '-' ? -1 : 1;
    *seconds = 0;
    if (*text == 'Z' || *text == 'z')
        return text + 1;
    if (*text != '+' && *text != '-')
        return text;
    if (!(text = digits(text + 1, 2, 2, &hours)))
        return NULL;
    text += *text == ':';
    if (isdigit((unsigned char)*text) && !(text = digits(text, 2, 2, &minutes)))
        return NULL;
    *seconds = sign * (hours * 3600.0 + minutes * 60.0);
    return hours <= 14 && minutes < 60 ? text : NULL;
}

/* AM or PM behind a time from 1 to 12 o'clock. */
static const char *half_of_day(const char *text, int *hours)
{
    const char *p = text + strspn(text, " ");
    if (strncasecmp(p, "am", 2) != 0 && strncasecmp(p, "pm", 2) != 0)
        return text;
    if (*hours < 1 || *hours > 12)
        return NULL;
    *hours = *hours % 12 + (tolower((unsigned char)*p) == 'p' ? 12 : 0);
    return p + 2;
}

static const char *time_of_day(const char *text, struct fields *out)
{
    int hours, minutes, whole = 0;
    double part = 0, ahead;
    if (!(text = digits(text, 1, 2, &hours)) || *text != ':' || !(text = digits(text + 1, 2, 2, &minutes)))
        return NULL;
    if (*text == ':' && !(text = digits(text + 1, 2, 2, &whole)))
        return NULL;
    if (*text == '.')
        for (double place = 0.1; isdigit((unsigned char)*++text); place /= 10)
            part += place * (*text - '0');
    if (!(text = half_of_day(text, &hours)))
        return NULL;
    text += strspn(text, " ");
    if (hours > 23 || minutes > 59 || whole > 60 || !(text = zone(text, &ahead)))
        return NULL;
    out->timed = 1;
    out->seconds = hours * 3600.0 + minutes * 60.0 + whole + part - ahead;
    return text;
}

/* Jan, January, ... in any case, the whole word; returns what is behind it, or NULL. */
static const char *month_name(const char *text, int *month)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    size_t n = 0;
    while (isalpha((unsigned char)text[n]))
        n++;
    for (int i = 0; i < 12 && n >= 3; i++)
        if ((n == 3 || n == strlen(names[i]) || (i == 8 && n == 4)) && !strncasecmp(text, names[i], n)) {
            *month = i + 1;
            return text + n;
        }
    return NULL;
}

/* 30 Mar 2023, 30-Mar-2023, Mar 30 2023, March 30, 2023: part and year_first as of 2023-03-30. */
static const char *named_month(struct fields *out, const char *text)
{
    const char *p = month_name(text, &out->part[1]), *day_first = digits(text, 1, 2, &out->part[2]);
    if (p) {
        p = *p == ' ' ? digits(p + 1, 1, 2, &out->part[2]) : NULL;
        p = p && *p == ',' ? p + 1 : p;
        p = p && *p == ' ' ? p + 1 : NULL;
    } else if (day_first && (*day_first == ' ' || *day_first == '-')) {
        p = month_name(day_first + 1, &out->part[1]);
        p = p && *p == *day_first ? p + 1 : NULL;
    }
    out->year_first = 1;
    return p ? digits(p, 4, 4, &out->part[0]) : NULL;
}

static const char *numbered_month(struct fields *out, const char *text)
{
    const char *p = digits(text, 1, 4, &out->part[0]);
    if (!p || !*p || !strchr("-/.", *p) || (p - text == 3))
        return NULL;
    out->year_first = p - text == 4;
    out->mark = *p;
    if (!(p = digits(p + 1, 1, 2, &out->part[1])) || *p != out->mark)
        return NULL;
    return digits(p + 1, out->year_first ? 1 : 4, out->year_first ? 2 : 4, &out->part[2]);
}

static int split_fields(struct fields *out, const char *text)
{
    *out = (struct fields){0};
    text += strspn(text, " ");
    const char *p = numbered_month(out, text);
    if (!p && !(p = named_month(out, text)))
        return 0;
    if ((*p == 'T' || *p == 't' || *p == ' ') && isdigit((unsigned char)p[1 + strspn(p + 1, " ")]))
        p = time_of_day(p + 1 + strspn(p + 1, " "), out);
    return p && !p[strspn(p, " ")];
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* (year, month, day) of the fields in an order; 0: there is no such day. A year that comes first, or the name of a month, tells
 * the order of its cell, which may stand among others of a column. */
static int place(const struct fields *f, enum date_order order, int *year, int *month, int *day)
{
    if (f->year_first)
        order = DATE_YMD;
    else if (order == DATE_YMD || (order == DATE_MDY && f->mark == '.'))
        return 0;
    *year = f->part[f->year_first ? 0 : 2];
    *month = f->part[order == DATE_MDY ? 0 : 1];
    *day = f->part[order == DATE_YMD ? 2 : order == DATE_MDY ? 1 : 0];
    return *year >= 1 && *month >= 1 && *month <= 12 && *day >= 1 && *day <= days_of_month(*year, *month);
}

unsigned date_orders(const char *text, int *timed)
{
    struct fields fields;
    unsigned orders = 0;
    int year, month, day;
    if (!split_fields(&fields, text))
        return 0;
    *timed = fields.timed;
    for (int order = 0; order < DATE_ORDERS; order++)
        if (place(&fields, (enum date_order)order, &year, &month, &day))
            orders |= 1u << order;
    return orders;
}

/* Days since 1970-01-01 by the proleptic Gregorian calendar; years begin in March here. */
static double days_since_1970(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    return 365.0 * y + floor(y / 4.0) - floor(y / 100.0) + floor(y / 400.0) + (153 * m + 2) / 5 + day -
           719469;
}

int date_read(double *days, const char *text, enum date_order order)
{
    struct fields fields;
    int year, month, day;
    if (order >= DATE_ORDERS || !split_fields(&fields, text) || !place(&fields, order, &year, &month, &day))
        return 0;
    *days = days_since_1970(year, month, day) + fields.seconds / 86400.0;
    return 1;
}

void date_numbers(double *x, const struct column *column, double days)
{
    double whole = floor(days), shifted = whole + 719468;
    double era = floor(shifted / 146097), of_era = shifted - era * 146097;
    double of_400 =
        floor((of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365);
    double of_year = of_era - (365 * of_400 + floor(of_400 / 4) - floor(of_400 / 100));
    double from_march = floor((5 * of_year + 2) / 153);
    double month = from_march < 10 ? from_march + 3 : from_march - 9;
    x[0] = of_400 + era * 400 + (month <= 2);
    x[1] = month;
    x[2] = whole + 3 - 7 * floor((whole + 3) / 7);
    x[3] = days - column->first;
    if (column->times)
        x[4] = (days - whole) * 24;
}

/* ---------------------------------------------------------------- columns of them */

struct finding {
    sph_data *data;
    const struct sheet *sheet;
    struct found {
        int candidate;
        unsigned orders;
        int times;
        size_t dates, others;
        char *other; /* the first cell that is none */
        double first[DATE_ORDERS];
    } * found; /* (columns) */
};

static int look(void *user, size_t line, const struct cell *cells)
{
    struct finding *f = user;
    (void)line;
    for (size_t i = 0; i < f->data->column_count; i++) {
        struct found *found = &f->found[i];
        int timed = 0;
        if (!found->candidate || cells[i].kind == CELL_MISSING)
            continue;
        unsigned orders = cells[i].text ? date_orders(cells[i].text, &timed) : 0;
        if (!(orders & found->orders)) {
            if (!found->others++ && !(found->other = mem_text(cells[i].text)))
                return SPH_EMEMORY;
            continue;
        }
        found->dates++;
        found->orders &= orders;
        found->times |= timed;
        for (int order = 0; order < DATE_ORDERS; order++) {
            double days;
            if (date_read(&days, cells[i].text, (enum date_order)order))
                found->first[order] = fmin(found->first[order], days);
        }
    }
    return 0;
}

static int settle(const struct finding *f, size_t i)
{
    const struct found *found = &f->found[i];
    struct column *column = &f->data->columns[i];
    if (found->others >= found->dates)
        return 0; /* words */
    if (found->others && (column->marks & COLUMN_ACCEPTED))
        return 0;
    if (found->others) {
        struct text remedy = {0};
        column->marks |= COLUMN_SLIPS;
        struct odd_cell odd = {0};
        int err = odd_remedy(&remedy, f->sheet, f->data);
        if (!err)
            err = odd_find(&odd, f->sheet, i, found->other);
        if (!err)
            err = remedy.failed
                      ? SPH_EMEMORY
                      : sheet_fail(f->sheet, odd.line, column->name,
                                   "column '%s' contains '%.60s', expected a date as in its other cells%s",
                                   column->name, found->other, remedy.chars ? remedy.chars : "");
        mem_free(odd.text);
        text_free(&remedy);
        return err;
    }
    column->kind = COLUMN_DATE;
    column->times = found->times;
    column->order = found->orders & (1u << DATE_YMD)                                           ? DATE_YMD
                    : (found->orders & (1u << DATE_DMY)) && (found->orders & (1u << DATE_MDY)) ? DATE_ORDERS
                    : found->orders & (1u << DATE_DMY)                                         ? DATE_DMY
                                                                                               : DATE_MDY;
    if (column->order < DATE_ORDERS)
        column->first = found->first[column->order];
    return 0;
}

/* Whether some text of the column is a date, or it is not known. */
static int has_dates(const struct sheet *sheet, size_t column)
{
    const struct levels *words = sheet->text.parsed ? &sheet->text.words[column] : NULL;
    int timed, dates = !words;
    for (size_t i = 0; words && i < words->count && !dates; i++)
        dates = date_orders(words->text[i], &timed) != 0;
    return dates;
}

int dates_find(sph_data *data, const struct sheet *sheet)
{
    struct finding f = {.data = data, .sheet = sheet};
    int any = 0, err = 0;
    if (!(f.found = mem_get(data->column_count, sizeof *f.found)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count; i++) {
        const struct profile *profile = &sheet->text.profile[i];
        const struct column *column = &data->columns[i];
        int asked = column->role == COLUMN_FEATURE || column->use == COLUMN_TIME;
        /* more cells that are numbers than words: a slip, or a column of codes */
        if (!asked || (column->marks & COLUMN_AS_TEXT) || !profile->texts ||
            profile->numbers > profile->texts || !has_dates(sheet, i))
            continue;
        f.found[i] = (struct found){
            .candidate = 1, .orders = (1u << DATE_ORDERS) - 1, .first = {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
        any = 1;
    }
    if (any)
        err = sheet_scan_text(sheet, look, &f);
    for (size_t i = 0; i < data->column_count && any && !err; i++)
        if (f.found[i].candidate)
            err = settle(&f, i);
    for (size_t i = 0; i < data->column_count; i++)
        mem_free(f.found[i].other);
    mem_free(f.found);
    return err;
}
