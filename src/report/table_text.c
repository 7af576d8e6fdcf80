/* SPDX-License-Identifier: MIT
 *
 * The table as aligned text and as Markdown. */
#include <string.h>

#include "report/listing.h"

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
    listing_add_plain(out, text);
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
    struct listing listing;
    size_t width[LISTING_COLUMNS] = {0};
    int err = listing_make(&listing, comparison);
    if (err < 0)
        return err;
    for (size_t row = 0; row < listing.rows; row++)
        for (int c = 0; c < LISTING_COLUMNS; c++) {
            size_t wide = width_of(listing_cell(&listing, row, (size_t)c));
            width[c] = wide > width[c] ? wide : width[c];
        }
    listing_add_title(out, comparison, listing_add_plain);
    text_add(out, "\n");
    if (input->warning) {
        text_add(out, "WARNING: ");
        listing_add_plain(out, input->warning);
        text_add(out, "\n");
    }
    text_add(out, "\n");
    for (size_t row = 0; row < listing.rows; row++) {
        for (int c = 0; c < LISTING_COLUMNS; c++)
            if (listing.shown[c]) {
                text_add(out, "%s", c ? "  " : "");
                add_aligned(out, listing_cell(&listing, row, (size_t)c), width[c], listing.number[c]);
            }
        trim_line(out);
        if (row && input->methods[row - 1].failed) {
            text_add(out, "  ");
            listing_add_failure(out, &input->methods[row - 1], listing_add_plain);
            text_add(out, "\n");
        }
    }
    text_add(out, "\n");
    listing_add_notes(out, comparison, &listing, "", listing_add_plain);
    if (comparison->reference)
        text_add(out, "\n");
    listing_add_verdicts(out, comparison, "", listing_add_plain);
    listing_free(&listing);
    return 0;
}

/* ---------------------------------------------------------------- Markdown */

static void add_escaped(struct text *out, const char *text)
{
    for (; *text; text++)
        text_add(out, strchr("\\`*_{}[]<>#|~&!$", *text) ? "\\%c" : "%c", listing_printable(*text));
}

int table_add_markdown(const struct comparison *comparison, struct text *out)
{
    const struct comparison_input *input = comparison->input;
    struct listing listing;
    int err = listing_make(&listing, comparison);
    if (err < 0)
        return err;
    listing_add_title(out, comparison, add_escaped);
    text_add(out, "\n\n");
    if (input->warning) {
        text_add(out, "**Warning**: ");
        add_escaped(out, input->warning);
        text_add(out, "\n\n");
    }
    for (size_t row = 0; row < listing.rows; row++) {
        for (int c = 0; c < LISTING_COLUMNS; c++)
            if (listing.shown[c]) {
                text_add(out, "| ");
                add_escaped(out, listing_cell(&listing, row, (size_t)c));
                text_add(out, " ");
            }
        text_add(out, "|\n");
        for (int c = 0; !row && c < LISTING_COLUMNS; c++)
            if (listing.shown[c])
                text_add(out, listing.number[c] ? "| ---: " : "| --- ");
        if (!row)
            text_add(out, "|\n");
        else if (input->methods[row - 1].failed) {
            text_add(out, "| ");
            add_escaped(out, input->methods[row - 1].name);
            text_add(out, " | ");
            listing_add_failure(out, &input->methods[row - 1], add_escaped);
            for (size_t c = 2; c < listing_shown(&listing); c++)
                text_add(out, " |");
            text_add(out, " |\n");
        }
    }
    text_add(out, "\n");
    listing_add_notes(out, comparison, &listing, "", add_escaped);
    if (comparison->reference)
        text_add(out, "\n");
    listing_add_verdicts(out, comparison, "- ", add_escaped);
    listing_free(&listing);
    return 0;
}
