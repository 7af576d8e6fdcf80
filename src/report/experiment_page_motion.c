/* SPDX-License-Identifier: MIT
 *
 * How far boundaries moved, in an experiment's report, from motion.json. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/experiment_page.h"
#include "report/table.h"
#include "report/page_table.h"

const char *report_words(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

void report_add_number(struct text *out, const json_t *object, const char *part, const char *key, int digits)
{
    const json_t *value = json_object_get(part ? json_object_get(object, part) : object, key);
    if (json_is_integer(value))
        text_add(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_number(value))
        text_add_general(out, digits, json_number_value(value));
}

/* ---------------------------------------------------------------- motion of the boundaries */

static const struct {
    const char *key, *header;
} motions[] = {{"max_move", "largest move"},
               {"median_move", "median move"},
               {"max_turn", "largest turn, °"},
               {"turn_99", "99 % turn, °"}};

enum {
    MOTIONS = sizeof motions / sizeof *motions,
    MOTION_FIRST = 5
}; /* after method, point, layer, runs, steps */

static int is_same(const json_t *a, const json_t *b, const char *key)
{
    const char *x = report_words(a, key), *y = report_words(b, key);
    return x && y && !strcmp(x, y);
}

static void add_words_of(struct text *out, const json_t *object, const char *key)
{
    const char *words = report_words(object, key);
    text_add(out, "%s", words ? words : "");
}

/* What the papers say of that number of the row, or nothing. */
static void add_paper(struct text *out, const json_t *papers, const json_t *row, const char *number)
{
    size_t i;
    const json_t *paper;
    json_array_foreach(papers, i, paper)
    {
        const char *words = report_words(paper, "number");
        if (words && !strcmp(words, number) && is_same(paper, row, "method") && is_same(paper, row, "point"))
            add_words_of(out, paper, "papers");
    }
}

static int has_layers(const json_t *rows)
{
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) if (!is_same(row, json_array_get(rows, 0), "layer")) return 1;
    return 0;
}

static int add_motion_rows(struct report *report, const json_t *rows, const json_t *papers)
{
    static const char *const names[MOTION_FIRST] = {"method", "point", "layer", "runs", "steps"};
    struct page_table table;
    size_t i;
    const json_t *row;
    int layers = has_layers(rows),
        err = page_table_new(&table, json_array_size(rows), MOTION_FIRST + 2 * MOTIONS);
    if (err < 0)
        return err;
    for (size_t c = 0; c < MOTION_FIRST; c++)
        page_table_column(&table, c, names[c], c > 2);
    for (size_t k = 0; k < MOTIONS; k++) {
        page_table_column(&table, MOTION_FIRST + 2 * k, motions[k].header, 1);
        page_table_column(&table, MOTION_FIRST + 2 * k + 1, "papers", 0);
    }
    json_array_foreach(rows, i, row)
    {
        add_words_of(page_table_at(&table, i, 0), row, "method");
        add_words_of(page_table_at(&table, i, 1), row, "point");
        if (layers)
            add_words_of(page_table_at(&table, i, 2), row, "layer");
        report_add_number(page_table_at(&table, i, 3), row, NULL, "runs", 0);
        report_add_number(page_table_at(&table, i, 4), row, NULL, "steps", 0);
        for (size_t k = 0; k < MOTIONS; k++) {
            report_add_number(page_table_at(&table, i, MOTION_FIRST + 2 * k), row, NULL, motions[k].key, 3);
            add_paper(page_table_at(&table, i, MOTION_FIRST + 2 * k + 1), papers, row, motions[k].key);
        }
    }
    err = report_page_table(report, &table, NULL);
    page_table_free(&table);
    return err;
}

static int is_motion(const json_t *paper)
{
    const char *number = report_words(paper, "number");
    for (size_t k = 0; number && k < MOTIONS; k++)
        if (!strcmp(number, motions[k].key))
            return 1;
    return 0;
}

/* What the papers say of scores; of motion only where no row of it was there to say it beside. */
static int add_papers(struct report *report, const json_t *papers, int with_motion)
{
    struct page_table table;
    size_t i, row = 0, rows = 0;
    const json_t *paper;
    json_array_foreach(papers, i, paper) rows += with_motion || !is_motion(paper) ? 1 : 0;
    int err = rows ? page_table_new(&table, rows, 5) : 0;
    if (err < 0 || !rows)
        return err;
    page_table_column(&table, 0, "method", 0);
    page_table_column(&table, 1, "point", 0);
    page_table_column(&table, 2, "number", 0);
    page_table_column(&table, 3, "here", 1);
    page_table_column(&table, 4, "papers", 0);
    json_array_foreach(papers, i, paper)
    {
        if (!with_motion && is_motion(paper))
            continue;
        add_words_of(page_table_at(&table, row, 0), paper, "method");
        add_words_of(page_table_at(&table, row, 1), paper, "point");
        add_words_of(page_table_at(&table, row, 2), paper, "number");
        report_add_number(page_table_at(&table, row, 3), paper, NULL, "here", 3);
        add_words_of(page_table_at(&table, row, 4), paper, "papers");
        row++;
    }
    err =
        report_page_table(report, &table, with_motion ? NULL : "Scores on the test part beside the papers'");
    page_table_free(&table);
    return err;
}

int report_add_motion(const struct report_source *source)
{
    const json_t *rows = json_object_get(source->motion, "rows"),
                 *papers = json_object_get(source->motion, "papers");
    const char *unit = report_words(source->motion, "unit");
    int err = 0;
    if (!json_array_size(rows) && !json_array_size(papers))
        return 0;
    if (json_array_size(rows)) {
        struct text words = {0};
        report_section(source->report, "How far the boundaries move");
        err = add_motion_rows(source->report, rows, papers);
        text_add(&words,
                 "Over all steps of all seeds. A step's move, |Δφ|%s%s, and its turn are the largest of the "
                 "layer's "
                 "units.",
                 unit ? " in " : "", unit ? unit : "");
        if (!err)
            err = words.failed ? SPH_EMEMORY : 0;
        if (!err)
            report_note(source->report, words.chars);
        text_free(&words);
    } else
        report_section(source->report, "Beside the papers");
    return err < 0 ? err : add_papers(source->report, papers, !json_array_size(rows));
}
