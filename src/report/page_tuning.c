/* SPDX-License-Identifier: MIT
 *
 * What --tune tried and chose, on the page of a run. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/json.h"
#include "report/pages.h"
#include "store/runfolder.h"

static const char *const tuned[] = {"lr", "hidden", "batch"};
enum { TUNED = sizeof tuned / sizeof *tuned, EPOCHS = TUNED + 1, SCORE, CHOSEN, COLUMNS };

static const json_t *last_rung(const json_t *candidate)
{
    const json_t *rungs = json_object_get(candidate, "rungs");
    size_t count = json_array_size(rungs);
    return count ? json_array_get(rungs, count - 1) : NULL;
}

static double score_of(const json_t *candidate)
{
    return json_number_value(json_object_get(last_rung(candidate), "value"));
}

/* "lr 0.002, hidden 50, batch 32" */
static void add_options(struct text *out, const json_t *candidate)
{
    for (size_t k = 0; k < TUNED; k++) {
        const char *value = json_string_value(json_object_get(candidate, tuned[k]));
        text_add(out, "%s%s %s", k ? ", " : "", tuned[k], value ? value : "");
    }
}

static void add_candidate(struct table *table, size_t row, const json_t *candidate, int is_chosen)
{
    const json_t *rung = last_rung(candidate);
    table_text(table, row, 0, "%zu", row + 1);
    for (size_t k = 0; k < TUNED; k++) {
        const char *value = json_string_value(json_object_get(candidate, tuned[k]));
        table_words(table, row, k + 1, value ? value : "");
    }
    table_count(table, row, EPOCHS, (size_t)json_integer_value(json_object_get(rung, "epochs")));
    if (json_is_number(json_object_get(rung, "value")))
        table_number(table, row, SCORE, score_of(candidate));
    table_words(table, row, CHOSEN,
                is_chosen                                              ? "chosen"
                : json_is_true(json_object_get(candidate, "diverged")) ? "diverged"
                : row                                                  ? ""
                                                                       : "the defaults");
}

static void add_candidates(struct report *report, const json_t *tried, size_t chosen)
{
    struct table table = {0};
    table_columns(&table,
                  (struct table_column[COLUMNS]){{.head = "candidate"},
                                                 {.head = tuned[0]},
                                                 {.head = tuned[1]},
                                                 {.head = tuned[2]},
                                                 {.head = "epochs", .number = 1},
                                                 {.head = "validation score", .number = 1, .digits = 5},
                                                 {.head = ""}},
                  COLUMNS);
    table_rows(&table, json_array_size(tried));
    for (size_t i = 0; i < json_array_size(tried); i++)
        add_candidate(&table, i, json_array_get(tried, i), i == chosen);
    report_take_table(report, &table);
}

static void add_trail(struct report *report, const json_t *trail)
{
    const json_t *tried = json_object_get(trail, "tried"), *seconds = json_object_get(trail, "seconds");
    size_t count = json_array_size(tried),
           chosen = (size_t)json_integer_value(json_object_get(trail, "number"));
    struct text words = {0};
    if (!count || chosen >= count)
        return;
    report_section(report, "Tuning");
    text_add(&words, "--tune tried %zu candidate%s", count, count == 1 ? "" : "s");
    if (json_is_number(seconds))
        text_add(&words, " in %.2g s", json_number_value(seconds));
    text_add(&words, chosen ? " and chose " : "; none was better than the defaults: ");
    add_options(&words, json_array_get(tried, chosen));
    if (chosen)
        text_add(&words, " (validation score %.4g, with the defaults %.4g)",
                 score_of(json_array_get(tried, chosen)), score_of(json_array_get(tried, 0)));
    text_add(&words, ".");
    report_text(report, &words);
    report_fold(report, "All candidates");
    add_candidates(report, tried, chosen);
    report_note(report, "All candidates train for a ninth of the epochs, the best third of them for a third, "
                        "and the best third of these to the end. The validation score is the best value of "
                        "what --monitor names.");
    report_unfold(report);
}

void page_add_tuning(struct report *report, const sph_run *run)
{
    char *path = file_join(run->dir, RUNFOLDER_TUNE);
    json_t *trail = NULL;
    int err = path ? file_exists(path) ? json_read(&trail, path) : 0 : SPH_EMEMORY;
    if (trail)
        add_trail(report, trail);
    report_fail(report, err == SPH_EMEMORY ? err : 0);
    json_decref(trail);
    mem_free(path);
}
