/* SPDX-License-Identifier: MIT
 *
 * The table in LaTeX, with the rules of booktabs. */
#include <string.h>

#include "report/listing.h"

static void add_tex(struct text *out, const char *text)
{
    for (; *text; text++) {
        char c = listing_printable(*text);
        if (c == '\\')
            text_add(out, "\\textbackslash{}");
        else if (c == '~')
            text_add(out, "\\textasciitilde{}");
        else if (c == '^')
            text_add(out, "\\textasciicircum{}");
        else if (c == '<')
            text_add(out, "\\textless{}");
        else if (c == '>')
            text_add(out, "\\textgreater{}");
        else if (c == '|')
            text_add(out, "\\textbar{}");
        else if (c == '"')
            text_add(out, "\\symbol{34}");
        else if (strchr("&%$#_{}", c))
            text_add(out, "\\%c", c);
        else if (c == '[' || c == '*') /* after \\ they would be its arguments */
            text_add(out, "{%c}", c);
        else if (c == '+' && text[1] == '-') {
            text_add(out, "$\\pm$");
            text++;
        } else if (strchr("-`',?!", c) &&
                   strchr("-`',", text[1] ? text[1] : ' ')) /* no ligatures: -- ?` ,, */
            text_add(out, "%c{}", c);
        else
            text_add(out, "%c", c);
    }
}

/* A cell of numbers as mathematics. */
static void add_math(struct text *out, const char *text)
{
    if (!*text)
        return;
    if (!strcmp(text, "-")) {
        text_add(out, "--");
        return;
    }
    text_add(out, "$");
    for (; *text; text++)
        if (*text == '+' && text[1] == '-') {
            text_add(out, "\\pm");
            text++;
        } else if (*text == '~')
            text_add(out, "\\approx ");
        else if (*text == 'e') {
            /* e-07 */
            size_t digits = 2 + strspn(text + 2, "0");
            text_add(out, " \\times 10^{%s", text[1] == '-' ? "-" : "");
            for (text += digits; *text >= '0' && *text <= '9'; text++)
                text_add(out, "%c", *text);
            text_add(out, "}");
            text--;
        } else
            text_add(out, "%c", *text);
    text_add(out, "$");
}

static void begin_span(struct text *out, size_t columns)
{
    text_add(out, "\\multicolumn{%zu}{p{0.9\\linewidth}}{", columns);
}

int table_add_latex(const struct comparison *comparison, struct text *out)
{
    const struct comparison_input *input = comparison->input;
    struct listing listing;
    int err = listing_make(&listing, comparison);
    if (err < 0)
        return err;
    size_t columns = listing_shown(&listing);
    text_add(out, "%% ");
    listing_add_title(out, comparison, listing_add_plain);
    text_add(out, "\n%% needs \\usepackage{booktabs}\n\\begin{tabular}{");
    for (int c = 0; c < LISTING_COLUMNS; c++)
        if (listing.shown[c])
            text_add(out, listing.number[c] ? "r" : "l");
    text_add(out, "}\n\\toprule\n");
    for (size_t row = 0; row < listing.rows; row++) {
        for (int c = 0; c < LISTING_COLUMNS; c++)
            if (listing.shown[c]) {
                text_add(out, "%s", c ? " & " : "");
                (row && listing.number[c] ? add_math : add_tex)(out, listing_cell(&listing, row, (size_t)c));
            }
        text_add(out, " \\\\\n");
        if (!row)
            text_add(out, "\\midrule\n");
        else if (input->methods[row - 1].failed) {
            begin_span(out, columns);
            text_add(out, "\\quad ");
            listing_add_failure(out, &input->methods[row - 1], add_tex);
            text_add(out, "} \\\\\n");
        }
    }
    if (input->warning) {
        text_add(out, "\\midrule\n");
        begin_span(out, columns);
        text_add(out, "\\textbf{Warning:} ");
        add_tex(out, input->warning);
        text_add(out, "} \\\\\n");
    }
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
    listing_add_notes(out, comparison, &listing, "% ", listing_add_plain);
    listing_add_verdicts(out, comparison, "% ", listing_add_plain);
    listing_free(&listing);
    return 0;
}
