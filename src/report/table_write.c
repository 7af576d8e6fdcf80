/* SPDX-License-Identifier: MIT
 *
 * A table for readers: aligned text, Markdown, LaTeX, HTML. */
#include <string.h>

#include "base/memory.h"
#include "report/html.h"
#include "report/table.h"

/* Appends any text in the syntax of a format. */
typedef void adder(struct text *out, const char *text);

static void add_plain(struct text *out, const char *text)
{
    text_add(out, "%s", text);
}

/* Appends each line after `begin`. */
static void add_lines(struct text *out, const struct text *lines, const char *begin, adder *add)
{
    for (const char *line = lines->chars; line && *line;) {
        size_t length = strcspn(line, "\n");
        char *copy = mem_text_of(line, length);
        if (!copy)
            out->failed = 1;
        text_add(out, "%s", begin);
        if (copy)
            add(out, copy);
        text_add(out, "\n");
        mem_free(copy);
        line += length + (line[length] == '\n');
    }
}

/* A cell, or the head if row is HEAD, in the syntax of the format. */
enum { HEAD = -1 };

static int has_first(const struct table *table, size_t column)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (table_at(table, row, column)->mark == MARK_FIRST)
            return 1;
    return 0;
}

static void add_cell(struct text *out, const struct table *table, long row, size_t column,
                     enum table_style style, adder *add)
{
    struct text cell = {0};
    if (row == HEAD)
        text_add(&cell, "%s", table->columns[column].head);
    else
        table_add_cell(&cell, table, (size_t)row, column, style);
    if (cell.failed)
        out->failed = 1;
    else if (cell.chars)
        add(out, cell.chars);
    text_free(&cell);
}

/* ---------------------------------------------------------------- text */

static size_t cell_width(struct text *scratch, const struct table *table, long row, size_t column)
{
    scratch->length = 0;
    add_cell(scratch, table, row, column, STYLE_PLAIN, add_plain);
    if (has_first(table, column) && (row == HEAD || table_at(table, (size_t)row, column)->mark != MARK_FIRST))
        text_add(scratch, " "); /* aligned with cells that have a star */
    return scratch->chars ? text_width(scratch->chars, scratch->length) : 0;
}

static size_t column_width(const struct table *table, size_t column, int *failed)
{
    struct text scratch = {0};
    size_t width = table->columns[column].wide;
    for (long row = HEAD; row < (long)table->row_count; row++) {
        size_t wide = cell_width(&scratch, table, row, column);
        width = wide > width ? wide : width;
    }
    *failed |= scratch.failed;
    text_free(&scratch);
    return width;
}

static void add_row(struct text *out, const struct table *table, const size_t *width, long row)
{
    int first = 1;
    for (size_t c = 0; c < table->column_count; c++) {
        if (!width[c])
            continue;
        struct text cell = {0};
        size_t blanks = width[c] - cell_width(&cell, table, row, c);
        text_add(out, "%s%*s", first ? "" : "  ", table->columns[c].number ? (int)blanks : 0, "");
        text_add(out, "%s%*s", cell.chars ? cell.chars : "", table->columns[c].number ? 0 : (int)blanks, "");
        out->failed |= cell.failed;
        text_free(&cell);
        first = 0;
    }
    while (out->length && !out->failed && out->chars[out->length - 1] == ' ')
        out->chars[--out->length] = '\0';
    text_add(out, "\n");
    if (row != HEAD && table->below[row])
        text_add(out, "  %s\n", table->below[row]);
}

void table_add_text(const struct table *table, struct text *out)
{
    size_t *width = mem_get(table->column_count, sizeof *width);
    if (!width) {
        out->failed = 1;
        return;
    }
    for (size_t c = 0; c < table->column_count; c++)
        width[c] = table_shows(table, c) ? column_width(table, c, &out->failed) : 0;
    add_lines(out, &table->title, "", add_plain);
    if (table->warning)
        text_add(out, "WARNING: %s\n", table->warning);
    if (table->title.chars || table->warning)
        text_add(out, "\n");
    add_lines(out, &table->caption, "", add_plain);
    for (long row = HEAD; row < (long)table->row_count; row++)
        add_row(out, table, width, row);
    text_add(out, "%s", table->notes.length ? "\n" : "");
    add_lines(out, &table->notes, "", add_plain);
    text_add(out, "%s", table->verdicts.length ? "\n" : "");
    add_lines(out, &table->verdicts, "", add_plain);
    mem_free(width);
}

/* ---------------------------------------------------------------- Markdown */

static void add_escaped(struct text *out, const char *text)
{
    for (; *text; text++)
        text_add(out, strchr("\\`*_{}[]<>#|~&!$", *text) ? "\\%c" : "%c", *text);
}

void table_add_markdown(const struct table *table, struct text *out)
{
    size_t shown = 0;
    add_lines(out, &table->title, "", add_escaped);
    text_add(out, "%s", table->title.chars ? "\n" : "");
    if (table->warning) {
        text_add(out, "**Warning**: ");
        add_escaped(out, table->warning);
        text_add(out, "\n\n");
    }
    for (long row = HEAD; row < (long)table->row_count; row++) {
        for (size_t c = 0; c < table->column_count; c++)
            if (table_shows(table, c)) {
                text_add(out, "| ");
                add_cell(out, table, row, c, STYLE_PLAIN, add_escaped);
                text_add(out, " ");
            }
        text_add(out, "|\n");
        for (size_t c = 0; row == HEAD && c < table->column_count; c++)
            if (table_shows(table, c)) {
                text_add(out, table->columns[c].number ? "| ---: " : "| --- ");
                shown++;
            }
        if (row == HEAD)
            text_add(out, "|\n");
        else if (table->below[row]) {
            text_add(out, "| ");
            add_cell(out, table, row, 0, STYLE_PLAIN, add_escaped);
            text_add(out, " | ");
            add_escaped(out, table->below[row]);
            for (size_t c = 2; c < shown; c++)
                text_add(out, " |");
            text_add(out, " |\n");
        }
    }
    text_add(out, "%s", table->notes.length ? "\n" : "");
    add_lines(out, &table->notes, "", add_escaped);
    text_add(out, "%s", table->verdicts.length ? "\n" : "");
    add_lines(out, &table->verdicts, "- ", add_escaped);
}

/* ---------------------------------------------------------------- LaTeX */

static void add_tex(struct text *out, const char *text)
{
    static const struct {
        char c;
        const char *instead;
    } words[] = {{'\\', "\\textbackslash{}"},
                 {'~', "\\textasciitilde{}"},
                 {'^', "\\textasciicircum{}"},
                 {'<', "\\textless{}"},
                 {'>', "\\textgreater{}"},
                 {'|', "\\textbar{}"},
                 {'"', "\\symbol{34}"},
                 {'[', "{[}"}, /* after \\ this would be an argument */
                 {'*', "{*}"}};
    for (; *text; text++) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words && words[i].c != *text)
            i++;
        if (i < sizeof words / sizeof *words)
            text_add(out, "%s", words[i].instead);
        else if (strchr("&%$#_{}", *text))
            text_add(out, "\\%c", *text);
        else if (*text == '+' && text[1] == '-') {
            text_add(out, "$\\pm$");
            text++;
        } else if (strchr("-`',?!", *text) &&
                   strchr("-`',", text[1] ? text[1] : ' ')) /* no ligatures: -- ?` ,, */
            text_add(out, "%c{}", *text);
        else
            text_add(out, "%c", *text);
    }
}

/* A number as mathematics. */
static void add_math(struct text *out, const struct table *table, size_t row, size_t column)
{
    enum cell_kind kind = table_at(table, row, column)->kind;
    struct text cell = {0};
    table_add_cell(&cell, table, row, column, STYLE_MATH);
    int dash = kind == CELL_MISSING || (cell.length == 1 && *cell.chars == '-');
    if (cell.length)
        text_add(out,
                 dash                                               ? "--"
                 : table_at(table, row, column)->mark == MARK_FIRST ? "$\\mathbf{%s}$"
                                                                    : "$%s$",
                 cell.chars);
    out->failed |= cell.failed;
    text_free(&cell);
}

static void add_span(struct text *out, size_t columns, const char *begin, const char *text)
{
    text_add(out, "\\multicolumn{%zu}{p{0.9\\linewidth}}{%s ", columns, begin);
    add_tex(out, text);
    text_add(out, "} \\\\\n");
}

void table_add_latex(const struct table *table, struct text *out)
{
    size_t shown = 0;
    add_lines(out, &table->title, "% ", add_plain);
    text_add(out, "%% needs \\usepackage{booktabs}\n\\begin{tabular}{");
    for (size_t c = 0; c < table->column_count; c++)
        if (table_shows(table, c)) {
            text_add(out, table->columns[c].number ? "r" : "l");
            shown++;
        }
    text_add(out, "}\n\\toprule\n");
    for (long row = HEAD; row < (long)table->row_count; row++) {
        const char *between = "";
        for (size_t c = 0; c < table->column_count; c++)
            if (table_shows(table, c)) {
                text_add(out, "%s", between);
                if (row != HEAD && table->columns[c].number)
                    add_math(out, table, (size_t)row, c);
                else
                    add_cell(out, table, row, c, STYLE_PLAIN, add_tex);
                between = " & ";
            }
        text_add(out, " \\\\\n%s", row == HEAD ? "\\midrule\n" : "");
        if (row != HEAD && table->below[row])
            add_span(out, shown, "\\quad", table->below[row]);
    }
    if (table->warning) {
        text_add(out, "\\midrule\n");
        add_span(out, shown, "\\textbf{Warning:}", table->warning);
    }
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
    add_lines(out, &table->notes, "% ", add_plain);
    add_lines(out, &table->verdicts, "% ", add_plain);
}

/* ---------------------------------------------------------------- HTML */

static void add_html_cell(struct text *out, const struct table *table, long row, size_t column, int first)
{
    static const char *const marks[] = {[MARK_PLAIN] = "",
                                        [MARK_BEST] = "best",
                                        [MARK_BAD] = "bad",
                                        [MARK_LEAD] = "lead",
                                        [MARK_FIRST] = "lead"};
    const struct table_column *c = &table->columns[column];
    const char *mark = row == HEAD ? "" : marks[table_at(table, (size_t)row, column)->mark];
    const char *tag = row == HEAD || first ? "th" : "td";
    text_add(out, "<%s%s", tag, row == HEAD ? " scope=\"col\"" : first ? " scope=\"row\"" : "");
    if (c->number || *mark)
        text_add(out, " class=\"%s%s%s\"", c->number ? "n" : "", c->number && *mark ? " " : "", mark);
    text_add(out, ">");
    add_cell(out, table, row, column, STYLE_HTML, html_add_text);
    if (row == HEAD && c->unit)
        text_add(out, ", %s", c->unit);
    text_add(out, "</%s>", tag);
}

void table_add_html(const struct table *table, struct text *out)
{
    text_add(out, "<div class=\"scroll\" tabindex=\"0\"><table>\n");
    if (table->caption.chars) {
        text_add(out, "<caption>");
        html_add_typeset(out, table->caption.chars, table->caption.length - 1);
        text_add(out, "</caption>\n");
    }
    for (long row = HEAD; row < (long)table->row_count; row++) {
        int first = 1;
        text_add(out, row == HEAD ? "<thead><tr>" : "<tr>");
        for (size_t c = 0; c < table->column_count; c++)
            if (table_shows(table, c)) {
                add_html_cell(out, table, row, c, first);
                first = 0;
            }
        text_add(out, row == HEAD ? "</tr></thead>\n<tbody>\n" : "</tr>\n");
    }
    text_add(out, "</tbody></table></div>\n");
}
