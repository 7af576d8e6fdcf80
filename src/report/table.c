/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/comparison.h"

/* ---------------------------------------------------------------- columns and rows */

/* head: a name that the table takes, or NULL. for_csv: it is the name in CSV. */
static void add_column(struct table *table, struct table_column column, char *head, int for_csv)
{
    size_t count = table->column_count;
    if (!mem_reserve((void **)&table->columns, &table->column_room, count + 1, sizeof *table->columns) ||
        !mem_reserve((void **)&table->heads, &table->head_room, count + 1, sizeof *table->heads)) {
        mem_free(head);
        table->failed = 1;
        return;
    }
    if (head)
        *(for_csv ? &column.csv : &column.head) = head;
    table->columns[count] = column;
    table->heads[count] = head;
    table->column_count++;
}

void table_column(struct table *table, struct table_column column)
{
    add_column(table, column, NULL, 0);
}

void table_columns(struct table *table, const struct table_column *columns, size_t count)
{
    for (size_t c = 0; c < count; c++)
        table_column(table, columns[c]);
}

/* printf into a new string. */
static char *made(struct table *table, const char *format, va_list list)
{
    struct text text = {0};
    text_add_list(&text, format, list);
    table->failed |= text.failed;
    return text.chars;
}

/* Replaces control characters by blanks. */
static char *one_line(char *text)
{
    for (char *c = text; c && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return text;
}

void table_made_column(struct table *table, struct table_column column, const char *head, ...)
{
    va_list list;
    va_start(list, head);
    add_column(table, column, one_line(made(table, head, list)), 0);
    va_end(list);
}

void table_data_column(struct table *table, const char *csv, ...)
{
    va_list list;
    va_start(list, csv);
    add_column(table, (struct table_column){0}, one_line(made(table, csv, list)), 1);
    va_end(list);
}

void table_rows(struct table *table, size_t rows)
{
    if (table->failed)
        return;
    table->cells = mem_get(rows, table->column_count * sizeof *table->cells);
    table->below = mem_get(rows, sizeof *table->below);
    if (table->cells && table->below)
        table->row_count = rows;
    else
        table->failed = 1;
}

static void free_cell(const struct table_cell *cell)
{
    mem_free(cell->text);
    mem_free(cell->list);
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        free_cell(&table->cells[i]);
    mem_free(table->cells);
    mem_free_texts(table->below, table->row_count);
    mem_free_texts(table->heads, table->column_count);
    mem_free(table->columns);
    text_free(&table->title);
    text_free(&table->caption);
    text_free(&table->notes);
    text_free(&table->verdicts);
    *table = (struct table){0};
}

/* ---------------------------------------------------------------- cells */

const struct table_cell *table_at(const struct table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

static void put(struct table *table, size_t row, size_t column, struct table_cell cell)
{
    struct table_cell *at =
        row < table->row_count ? &table->cells[row * table->column_count + column] : NULL; /* out of memory */
    free_cell(at ? at : &cell);
    if (at)
        *at = cell;
}

void table_text(struct table *table, size_t row, size_t column, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    put(table, row, column, (struct table_cell){.kind = CELL_TEXT, .text = made(table, format, list)});
    va_end(list);
}

void table_words(struct table *table, size_t row, size_t column, const char *words)
{
    if (words)
        table_text(table, row, column, "%s", words);
    else
        table_missing(table, row, column);
}

void table_known_words(struct table *table, size_t row, size_t column, const char *words)
{
    if (words)
        table_words(table, row, column, words);
}

void table_known(struct table *table, size_t row, size_t column, double value)
{
    if (!isnan(value))
        table_number(table, row, column, value);
}

void table_take(struct table *table, size_t row, size_t column, struct text *words)
{
    table->failed |= words->failed;
    table_text(table, row, column, "%s", words->chars ? words->chars : "");
    text_free(words);
}

void table_flag(struct table *table, size_t row, size_t column, int flag)
{
    put(table, row, column, (struct table_cell){.kind = CELL_FLAG, .count = flag != 0});
}

void table_count(struct table *table, size_t row, size_t column, size_t count)
{
    put(table, row, column, (struct table_cell){.kind = CELL_COUNT, .count = count});
}

void table_number(struct table *table, size_t row, size_t column, double value)
{
    put(table, row, column,
        (struct table_cell){.kind = isfinite(value) ? CELL_NUMBER : CELL_MISSING, .a = value});
}

void table_mean(struct table *table, size_t row, size_t column, double mean, double error)
{
    put(table, row, column,
        (struct table_cell){.kind = isnan(mean) ? CELL_MISSING : CELL_MEAN, .a = mean, .b = error});
}

void table_within(struct table *table, size_t row, size_t column, double value, double spread)
{
    put(table, row, column,
        (struct table_cell){.kind = isfinite(value) ? CELL_WITHIN : CELL_MISSING, .a = value, .b = spread});
}

void table_interval(struct table *table, size_t row, size_t column, double low, double high)
{
    put(table, row, column, (struct table_cell){.kind = CELL_INTERVAL, .a = low, .b = high});
}

void table_p(struct table *table, size_t row, size_t column, double p, int approximate)
{
    put(table, row, column, (struct table_cell){.kind = CELL_P, .a = p, .count = approximate != 0});
}

void table_list(struct table *table, size_t row, size_t column, const double *values, size_t count)
{
    double *list = mem_get(count, sizeof *list);
    if (!list) {
        table->failed = 1;
        return;
    }
    memcpy(list, values, count * sizeof *list);
    put(table, row, column, (struct table_cell){.kind = CELL_LIST, .list = list, .count = count});
}

void table_missing(struct table *table, size_t row, size_t column)
{
    put(table, row, column, (struct table_cell){.kind = CELL_MISSING});
}

void table_mark(struct table *table, size_t row, size_t column, enum table_mark mark)
{
    if (row < table->row_count)
        table->cells[row * table->column_count + column].mark = mark;
}

void table_below(struct table *table, size_t row, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (row < table->row_count)
        table->below[row] = one_line(made(table, format, list));
    va_end(list);
}

void table_line(struct text *lines, const char *format, ...)
{
    va_list list;
    size_t from = lines->length;
    va_start(list, format);
    text_add_list(lines, format, list);
    va_end(list);
    if (!lines->failed)
        one_line(lines->chars + from);
    text_add(lines, "\n");
}

/* ---------------------------------------------------------------- a cell for readers */

static int clamp_decimals(int decimals)
{
    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

static void add_power(struct text *out, int power, enum table_style style)
{
    text_add(out, style == STYLE_MATH ? " \\times 10^{%d}" : "e%+03d", power);
}

/* With so many significant digits. */
static void add_general(struct text *out, int digits, double value, enum table_style style)
{
    size_t from = out->length;
    text_add_general(out, digits, value);
    char *power = out->failed || style != STYLE_MATH ? NULL : strchr(out->chars + from, 'e');
    if (!power)
        return;
    int exponent = (int)strtol(power + 1, NULL, 10);
    *power = '\0';
    out->length = (size_t)(power - out->chars);
    add_power(out, exponent, style);
}

/* 0.1234 +- 0.0056 or (1.23 +- 0.45)e-07: the error has two significant digits, and the mean has the same number of decimals. */
static void add_mean(struct text *out, double mean, double error, enum table_style style)
{
    const char *sign = style == STYLE_MATH ? " \\pm " : style == STYLE_HTML ? " ± " : " +- ";
    double size = fmax(fabs(mean), error);
    if (!(error > 0)) {
        add_general(out, isnan(error) ? 4 : 6, mean, style);
        text_add(out, "%s%s", isnan(error) ? "" : sign, isnan(error) ? "" : "0");
    } else if (size < 1e-4 || size >= 1e7) {
        int power = comparison_exponent(size),
            decimals = clamp_decimals(power - comparison_exponent(error) + 1);
        text_add(out, "(");
        text_add_fixed(out, decimals, mean / pow(10, power));
        text_add(out, "%s", sign);
        text_add_fixed(out, decimals, error / pow(10, power));
        text_add(out, ")");
        add_power(out, power, style);
    } else {
        int decimals = 1 - comparison_exponent(error);
        text_add_fixed(out, clamp_decimals(decimals), mean);
        text_add(out, "%s", sign);
        if (decimals > 9)
            add_general(out, 2, error, style);
        else
            text_add_fixed(out, clamp_decimals(decimals), error);
    }
}

static void add_within(struct text *out, double value, double spread, enum table_style style)
{
    int decimals = spread > 0 ? 1 - comparison_exponent(spread) : 10;
    if (decimals > 9 || fabs(value) >= 1e7)
        add_general(out, 3, value, style);
    else
        text_add_fixed(out, clamp_decimals(decimals), value);
}

static void add_number(struct text *out, const struct table_column *column, double value,
                       enum table_style style)
{
    if (value > 0 && value < column->least)
        text_add(out, "< %g", column->least);
    else if (column->digits &&
             !(column->plain && fabs(value) >= pow(10, column->digits) && fabs(value) < 1e9))
        add_general(out, column->digits, value, style);
    else
        text_add_fixed(out, column->fixed, value);
}

static void add_words(struct text *out, const char *words)
{
    size_t from = out->length;
    text_add(out, "%s", words);
    if (!out->failed)
        one_line(out->chars + from);
}

static void add_interval(struct text *out, double low, double high, enum table_style style)
{
    double spread = (high - low) / 2;
    if (isnan(spread)) {
        text_add(out, "-");
        return;
    }
    text_add(out, "[");
    add_within(out, low, spread, style);
    text_add(out, ", ");
    add_within(out, high, spread, style);
    text_add(out, "]");
}

void table_add_cell(struct text *out, const struct table *table, size_t row, size_t column,
                    enum table_style style)
{
    const struct table_cell *cell = table_at(table, row, column);
    switch (cell->kind) {
    case CELL_TEXT:
        add_words(out, cell->text);
        break;
    case CELL_FLAG:
        text_add(out, "%s", cell->count ? "true" : "false");
        break;
    case CELL_COUNT:
        text_add(out, "%zu", cell->count);
        break;
    case CELL_NUMBER:
        add_number(out, &table->columns[column], cell->a, style);
        break;
    case CELL_MEAN:
        add_mean(out, cell->a, cell->b, style);
        break;
    case CELL_WITHIN:
        add_within(out, cell->a, cell->b, style);
        break;
    case CELL_INTERVAL:
        add_interval(out, cell->a, cell->b, style);
        break;
    case CELL_P:
        text_add(out, "%s", !cell->count ? "" : style == STYLE_MATH ? "\\approx " : "~");
        comparison_add_p(out, cell->a);
        break;
    case CELL_MISSING:
        text_add(out, "-");
        break;
    case CELL_EMPTY:
    case CELL_LIST:
        break;
    }
    if (cell->mark == MARK_FIRST && style == STYLE_PLAIN)
        text_add(out, "*");
}

int table_shows(const struct table *table, size_t column)
{
    if (!table->columns[column].head)
        return 0;
    for (size_t row = 0; row < table->row_count; row++) {
        const struct table_cell *cell = table_at(table, row, column);
        if (cell->kind != CELL_EMPTY && (cell->kind != CELL_TEXT || *cell->text))
            return 1;
    }
    return !table->row_count;
}

int table_failed(const struct table *table)
{
    return table->failed || table->title.failed || table->caption.failed || table->notes.failed ||
           table->verdicts.failed;
}

int table_write(const struct table *table, enum table_format format, struct text *out)
{
    static void (*const writers[])(const struct table *,
                                   struct text *) = {[TABLE_TEXT] = table_add_text,
                                                     [TABLE_MARKDOWN] = table_add_markdown,
                                                     [TABLE_LATEX] = table_add_latex,
                                                     [TABLE_HTML] = table_add_html,
                                                     [TABLE_CSV] = table_add_csv};
    if (table_failed(table))
        return SPH_EMEMORY;
    writers[format](table, out);
    return out->failed ? SPH_EMEMORY : 0;
}
