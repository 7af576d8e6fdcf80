/* SPDX-License-Identifier: MIT
 *
 * The table as aligned text and as Markdown. */
#include <string.h>

#include "report/table_grid.h"

/* ---------------------------------------------------------------- text */

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void add_aligned(struct text *out, const char *text, size_t width, int right)
{
    size_t blanks = width - width_of(text);
    if (right)
        text_add(out, "%*s", (int)blanks, "");
    grid_add_plain(out, text);
    if (!right)
        text_add(out, "%*s", (int)blanks, "");
}

static void trim_line(struct text *out)
{
    while (out->length && out->chars[out->length - 1] == ' ')
        out->chars[--out->length] = '\0';
    text_add(out, "\n");
}

int table_add_text(const struct comparison *comparison, struct text *out)
{
    const struct comparison_input *input = comparison->input;
    struct grid grid;
    size_t width[GRID_COLUMNS] = {0};
    int err = grid_make(&grid, comparison);
    if (err < 0)
        return err;
    for (size_t row = 0; row < grid.rows; row++)
        for (int c = 0; c < GRID_COLUMNS; c++) {
            size_t wide = width_of(grid_cell(&grid, row, (size_t)c));
            width[c] = wide > width[c] ? wide : width[c];
        }
    grid_add_title(out, comparison, grid_add_plain);
    text_add(out, "\n");
    if (input->warning) {
        text_add(out, "WARNING: ");
        grid_add_plain(out, input->warning);
        text_add(out, "\n");
    }
    text_add(out, "\n");
    for (size_t row = 0; row < grid.rows; row++) {
        for (int c = 0; c < GRID_COLUMNS; c++)
            if (grid.shown[c]) {
                text_add(out, "%s", c ? "  " : "");
                add_aligned(out, grid_cell(&grid, row, (size_t)c), width[c], grid.number[c]);
            }
        trim_line(out);
        if (row && input->methods[row - 1].failed) {
            text_add(out, "  ");
            grid_add_failure(out, &input->methods[row - 1], grid_add_plain);
            text_add(out, "\n");
        }
    }
    text_add(out, "\n");
    grid_add_notes(out, comparison, &grid, "", grid_add_plain);
    if (comparison->reference)
        text_add(out, "\n");
    grid_add_verdicts(out, comparison, "", grid_add_plain);
    grid_free(&grid);
    return 0;
}

/* ---------------------------------------------------------------- Markdown */

static void add_escaped(struct text *out, const char *text)
{
    for (; *text; text++)
        text_add(out, strchr("\\`*_{}[]<>#|~&!$", *text) ? "\\%c" : "%c", grid_printable(*text));
}

int table_add_markdown(const struct comparison *comparison, struct text *out)
{
    const struct comparison_input *input = comparison->input;
    struct grid grid;
    int err = grid_make(&grid, comparison);
    if (err < 0)
        return err;
    grid_add_title(out, comparison, add_escaped);
    text_add(out, "\n\n");
    if (input->warning) {
        text_add(out, "**Warning**: ");
        add_escaped(out, input->warning);
        text_add(out, "\n\n");
    }
    for (size_t row = 0; row < grid.rows; row++) {
        for (int c = 0; c < GRID_COLUMNS; c++)
            if (grid.shown[c]) {
                text_add(out, "| ");
                add_escaped(out, grid_cell(&grid, row, (size_t)c));
                text_add(out, " ");
            }
        text_add(out, "|\n");
        for (int c = 0; !row && c < GRID_COLUMNS; c++)
            if (grid.shown[c])
                text_add(out, grid.number[c] ? "| ---: " : "| --- ");
        if (!row)
            text_add(out, "|\n");
        else if (input->methods[row - 1].failed) {
            text_add(out, "| ");
            add_escaped(out, input->methods[row - 1].name);
            text_add(out, " | ");
            grid_add_failure(out, &input->methods[row - 1], add_escaped);
            for (size_t c = 2; c < grid_shown(&grid); c++)
                text_add(out, " |");
            text_add(out, " |\n");
        }
    }
    text_add(out, "\n");
    grid_add_notes(out, comparison, &grid, "", add_escaped);
    if (comparison->reference)
        text_add(out, "\n");
    grid_add_verdicts(out, comparison, "- ", add_escaped);
    grid_free(&grid);
    return 0;
}
