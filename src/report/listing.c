/* SPDX-License-Identifier: MIT */
#include "report/listing.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

static struct text *cell(const struct listing *listing, size_t row, size_t column)
{
    return &listing->cell[row * LISTING_COLUMNS + column];
}

const char *listing_cell(const struct listing *listing, size_t row, size_t column)
{
    const struct text *text = cell(listing, row, column);
    return text->chars ? text->chars : "";
}

/* ---------------------------------------------------------------- cells */

static int clamp_decimals(int decimals)
{
    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

/* 0.1234 +- 0.0056, (1.23 +- 0.45)e-07: the error has two significant digits, the mean as many decimals. */
static void add_mean(struct text *out, double mean, double error)
{
    double size = fmax(fabs(mean), error);
    if (isnan(mean))
        text_add(out, "-");
    else if (!(error > 0)) {
        text_add_general(out, isnan(error) ? 4 : 6, mean);
        text_add(out, "%s", isnan(error) ? "" : " +- 0");
    } else if (size < 1e-4 || size >= 1e7) {
        int power = comparison_exponent(size),
            decimals = clamp_decimals(power - comparison_exponent(error) + 1);
        text_add(out, "(");
        text_add_fixed(out, decimals, mean / pow(10, power));
        text_add(out, " +- ");
        text_add_fixed(out, decimals, error / pow(10, power));
        text_add(out, ")e%+03d", power);
    } else {
        int decimals = 1 - comparison_exponent(error);
        text_add_fixed(out, clamp_decimals(decimals), mean);
        text_add(out, " +- ");
        if (decimals > 9)
            text_add_general(out, 2, error);
        else
            text_add_fixed(out, clamp_decimals(decimals), error);
    }
}

/* A number known to within `spread`. */
static void add_within(struct text *out, double value, double spread)
{
    int decimals = spread > 0 ? 1 - comparison_exponent(spread) : 10;
    if (decimals > 9 || fabs(value) >= 1e7)
        text_add_general(out, 3, value);
    else
        text_add_fixed(out, clamp_decimals(decimals), value);
}

static void fill_pair(struct listing *listing, size_t row, const struct comparison_pair *pair)
{
    if (!pair->pairs) {
        text_add(cell(listing, row, LISTING_DIFFERENCE), "-");
        text_add(cell(listing, row, LISTING_INTERVAL), "-");
        text_add(cell(listing, row, LISTING_P), "-");
        return;
    }
    double low = pair->interval.low, high = pair->interval.high, spread = (high - low) / 2;
    add_within(cell(listing, row, LISTING_DIFFERENCE), pair->difference, spread);
    if (pair->pairs > 1) {
        struct text *interval = cell(listing, row, LISTING_INTERVAL);
        text_add(interval, "[");
        add_within(interval, low, spread);
        text_add(interval, ", ");
        add_within(interval, high, spread);
        text_add(interval, "]");
        listing->small |= pair->pairs < 10;
    } else
        text_add(cell(listing, row, LISTING_INTERVAL), "-");
    int approximate = !pair->test.exact && pair->test.n;
    text_add(cell(listing, row, LISTING_P), "%s", approximate ? "~" : "");
    comparison_add_p(cell(listing, row, LISTING_P), pair->test.p);
    listing->approximate |= approximate;
}

static void fill_row(struct listing *listing, size_t row, const struct comparison_input *input,
                     const struct comparison_method *method, const struct comparison_line *line)
{
    text_add(cell(listing, row, LISTING_METHOD), "%s", method->name);
    add_mean(cell(listing, row, LISTING_MEAN), line->summary.mean, line->summary.error);
    if (line->summary.n < input->cases)
        text_add(cell(listing, row, LISTING_COUNT), "%zu/%zu", line->summary.n, input->cases);
    else
        text_add(cell(listing, row, LISTING_COUNT), "%zu", line->summary.n);
    text_add_fixed(cell(listing, row, LISTING_RANK), 1, line->rank);
    if (line->pair.verdict.chars)
        fill_pair(listing, row, &line->pair);
    text_add(cell(listing, row, LISTING_CHOSEN), "%s", method->chosen ? method->chosen : "-");
    if (isfinite(method->seconds))
        text_add_general(cell(listing, row, LISTING_SECONDS), 3, method->seconds);
    else
        text_add(cell(listing, row, LISTING_SECONDS), "-");
}

void listing_free(struct listing *listing)
{
    for (size_t i = 0; listing->cell && i < listing->rows * LISTING_COLUMNS; i++)
        text_free(&listing->cell[i]);
    mem_free(listing->cell);
}

int listing_make(struct listing *listing, const struct comparison *comparison)
{
    const struct comparison_input *input = comparison->input;
    *listing = (struct listing){.rows = input->count + 1};
    listing->cell = mem_get(listing->rows, LISTING_COLUMNS * sizeof *listing->cell);
    if (!listing->cell)
        return SPH_EMEMORY;
    for (int c = 0; c < LISTING_COLUMNS; c++)
        listing->number[c] = c != LISTING_METHOD && c != LISTING_CHOSEN;
    listing->shown[LISTING_METHOD] = listing->shown[LISTING_MEAN] = listing->shown[LISTING_COUNT] = 1;
    listing->shown[LISTING_RANK] = input->count > 1;
    listing->shown[LISTING_DIFFERENCE] = listing->shown[LISTING_INTERVAL] = listing->shown[LISTING_P] =
        comparison->reference != NULL;
    for (size_t m = 0; m < input->count; m++) {
        listing->shown[LISTING_CHOSEN] |= input->methods[m].chosen != NULL;
        listing->shown[LISTING_SECONDS] |= isfinite(input->methods[m].seconds) != 0;
        fill_row(listing, m + 1, input, &input->methods[m], &comparison->lines[m]);
    }
    text_add(cell(listing, 0, LISTING_METHOD), "method");
    text_add(cell(listing, 0, LISTING_MEAN), "%s", input->metric);
    text_add(cell(listing, 0, LISTING_COUNT), "n");
    text_add(cell(listing, 0, LISTING_RANK), "rank");
    text_add(cell(listing, 0, LISTING_DIFFERENCE), "minus %s",
             comparison->reference ? comparison->reference : "");
    text_add(cell(listing, 0, LISTING_INTERVAL), "%d %% interval", COMPARISON_PERCENT);
    text_add(cell(listing, 0, LISTING_P), "p");
    text_add(cell(listing, 0, LISTING_CHOSEN), "chosen");
    text_add(cell(listing, 0, LISTING_SECONDS), "s/job");
    int err = 0;
    for (size_t i = 0; i < listing->rows * LISTING_COLUMNS; i++)
        if (listing->cell[i].failed)
            err = SPH_EMEMORY;
    if (err < 0)
        listing_free(listing);
    return err;
}

size_t listing_shown(const struct listing *listing)
{
    size_t count = 0;
    for (int c = 0; c < LISTING_COLUMNS; c++)
        count += listing->shown[c] != 0;
    return count;
}

/* ---------------------------------------------------------------- sentences */

char listing_printable(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f ? ' ' : c;
}

void listing_add_plain(struct text *out, const char *text)
{
    for (; *text; text++)
        text_add_bytes(out, &(char){listing_printable(*text)}, 1);
}

static void add_made(struct text *out, struct text *made, listing_adder *add)
{
    if (made->failed)
        out->failed = 1;
    else
        add(out, made->chars);
    text_free(made);
}

void listing_add_title(struct text *out, const struct comparison *comparison, listing_adder *add)
{
    const struct comparison_input *input = comparison->input;
    struct text title = {0};
    text_add(&title, "%s: %s (%s is better), protocol %s, %zu split%s", input->experiment, input->metric,
             input->larger_is_better ? "larger" : "smaller", input->protocol, input->cases,
             input->cases == 1 ? "" : "s");
    add_made(out, &title, add);
}

void listing_add_failure(struct text *out, const struct comparison_method *method, listing_adder *add)
{
    struct text line = {0};
    text_add(&line, "%zu job%s failed", method->failed, method->failed == 1 ? "" : "s");
    if (method->reason)
        text_add(&line, "%s: %s", method->failed == 1 ? "" : ", the first", method->reason);
    add_made(out, &line, add);
}

static void add_note(struct text *out, struct text *note, const char *begin, listing_adder *add)
{
    text_add(out, "%s", begin);
    add_made(out, note, add);
    text_add(out, "\n");
}

void listing_add_notes(struct text *out, const struct comparison *comparison, const struct listing *listing,
                       const char *begin, listing_adder *add)
{
    struct text note = {0};
    text_add(&note, "+- is the standard error of the mean over splits.");
    add_note(out, &note, begin, add);
    if (!comparison->reference)
        return;
    text_add(&note, "Intervals: %d %% of %d resamples of the splits%s.", COMPARISON_PERCENT,
             COMPARISON_RESAMPLES, listing->small ? "; of fewer than 10 splits they are too narrow" : "");
    add_note(out, &note, begin, add);
    text_add(&note, "p: Wilcoxon's signed-rank test, two-sided%s%s.",
             listing->approximate ? "; ~ is the normal approximation (equal splits, ties, or more than 50)"
                                  : "",
             comparison->compared > 1 ? "; each alone, not corrected for the number of comparisons" : "");
    add_note(out, &note, begin, add);
    if (comparison->input->reference_method < 0) {
        text_add(&note, "%s was made the reference because its mean is best: that flatters it.",
                 comparison->reference);
        add_note(out, &note, begin, add);
    }
}

void listing_add_verdicts(struct text *out, const struct comparison *comparison, const char *begin,
                          listing_adder *add)
{
    for (size_t m = 0; m < comparison->input->count; m++)
        if (comparison->lines[m].pair.verdict.chars) {
            text_add(out, "%s", begin);
            add(out, comparison->lines[m].pair.verdict.chars);
            text_add(out, "\n");
        }
}
