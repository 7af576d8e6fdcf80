/* SPDX-License-Identifier: MIT
 *
 * What became of the units of each method, and how long it trained: epochs, and for programs seconds, which are not the
 * same from run to run. */
#include <math.h>

#include "report/tables.h"

enum { SET, METHOD, POINT, RUNS, UNITS, DEAD, ALWAYS, POLES, BEST, EPOCHS, SECONDS, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [SET] = {.head = "set", .csv = "set", .json = "set"},
    [METHOD] = {.head = "method", .csv = "method", .json = "method"},
    [POINT] = {.head = "point", .csv = "point", .json = "point"},
    [RUNS] = {.csv = "runs", .json = "runs"},
    [UNITS] = {.head = "units", .csv = "units", .json = "units", .number = 1, .digits = 4},
    [DEAD] = {.head = "dead", .csv = "dead_share", .json = "dead_share", .number = 1, .fixed = 3},
    [ALWAYS] =
        {.head = "always on", .csv = "always_on_share", .json = "always_on_share", .number = 1, .fixed = 3},
    [POLES] =
        {.head = "near a pole", .csv = "near_pole_share", .json = "near_pole_share", .number = 1, .fixed = 3},
    [BEST] = {.head = "best epoch", .csv = "best_epoch", .json = "best_epoch", .number = 1, .digits = 4},
    [EPOCHS] = {.head = "epochs", .csv = "epochs", .json = "epochs", .number = 1, .digits = 4},
    [SECONDS] = {.json = "seconds"},
};

void diagnostics_table(struct table *out, const struct results *results)
{
    const struct sph_experiment *e = results->experiment;
    size_t lines = experiment_lines(e), per_set = e->method_count * lines;
    *out = (struct table){0};
    table_line(&out->title, "%s: what became of the units; means over %zu seed%s", e->name, e->seed_count,
               e->seed_count == 1 ? "" : "s");
    for (int c = 0; c < COLUMNS; c++)
        table_column(out, columns[c]);
    table_rows(out, experiment_sets(e) * per_set);
    for (size_t i = 0; i < out->row_count; i++) {
        const struct results *set = results_of_set(results, i / per_set);
        size_t method = i % per_set / lines, line = i % lines;
        struct diagnostics d;
        struct text point = {0};
        diagnostics_of(&d, set, method, line);
        if (e->set_count)
            table_words(out, i, SET, e->sets[i / per_set].name);
        table_words(out, i, METHOD, e->methods[method].name);
        if (e->all_points)
            experiment_add_point(e, line, &point);
        table_take(out, i, POINT, &point);
        table_count(out, i, RUNS, d.runs);
        table_number(out, i, UNITS, d.units);
        table_number(out, i, DEAD, d.dead);
        table_number(out, i, ALWAYS, d.always);
        table_number(out, i, POLES, d.poles);
        table_number(out, i, BEST, d.best_epoch);
        table_number(out, i, EPOCHS, d.epochs);
        table_number(out, i, SECONDS, d.seconds);
    }
    table_line(
        &out->notes,
        "dead: on for no training row; always on: for all of them; near a pole: of gmp's units with three "
        "inputs or more, those with |sin theta| below %g in an angle before the last; shares of the units.",
        diagnostics_near_pole);
}

json_t *diagnostics_to_json(const struct results *results, const struct table *table)
{
    json_t *runs = json_array();
    int bad = !runs;
    for (size_t i = 0; i < experiment_reports(results->experiment) && results->units && !bad; i++) {
        const struct unit_counts *own = &results->units[i];
        bad = json_array_append_new(
            runs, JSON_OF({"units", json_count(own->units)}, {"dead", json_count(own->dead)},
                          {"always_on", json_count(own->always)}, {"with_poles", json_count(own->angled)},
                          {"near_pole", json_count(own->poles)}));
    }
    return JSON_OF({"experiment", json_words(results->experiment->name)}, {"rows", table_to_json(table)},
                   {"runs", json_whole(runs, bad)});
}
