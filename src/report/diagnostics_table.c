/* SPDX-License-Identifier: MIT
 *
 * Dead and always active units of each method and its epochs; in JSON also seconds, which differ from run to run. */
#include <math.h>

#include "report/tables.h"

#define DIAGNOSTICS(X)                                                                                       \
    X(SET, (.head = "set", .csv = "set", .json = "set"), known_words,                                        \
      e->set_count ? e->sets[row / per_set].name : NULL)                                                     \
    X(METHOD, (.head = "method", .csv = "method", .json = "method"), words, e->methods[method].name)         \
    X(POINT, (.head = "point", .csv = "point", .json = "point"), take, &point)                               \
    X(RUNS, (.csv = "runs", .json = "runs"), count, d.runs)                                                  \
    X(UNITS, (.head = "units", .csv = "units", .json = "units", .number = 1, .digits = 4), number, d.units)  \
    X(DEAD, (.head = "dead", .csv = "dead_share", .json = "dead_share", .number = 1, .fixed = 3), number,    \
      d.dead)                                                                                                \
    X(ALWAYS,                                                                                                \
      (.head = "always on", .csv = "always_on_share", .json = "always_on_share", .number = 1, .fixed = 3),   \
      number, d.always)                                                                                      \
    X(POLES,                                                                                                 \
      (.head = "near a pole", .csv = "near_pole_share", .json = "near_pole_share", .number = 1, .fixed = 3), \
      number, d.poles)                                                                                       \
    X(BEST, (.head = "best epoch", .csv = "best_epoch", .json = "best_epoch", .number = 1, .digits = 4),     \
      number, d.best_epoch)                                                                                  \
    X(EPOCHS, (.head = "epochs", .csv = "epochs", .json = "epochs", .number = 1, .digits = 4), number,       \
      d.epochs)                                                                                              \
    X(SECONDS, (.json = "seconds"), number, d.seconds)

TABLE_IDS(DIAGNOSTICS);

void diagnostics_table(struct table *out, const struct results *results)
{
    const struct sph_experiment *e = results->experiment;
    size_t lines = experiment_lines(e), per_set = e->method_count * lines;
    *out = (struct table){0};
    table_line(&out->title, "%s: dead and always active units; means over %zu seed%s", e->name, e->seed_count,
               e->seed_count == 1 ? "" : "s");
    TABLE_COLUMNS(out, DIAGNOSTICS);
    table_rows(out, experiment_sets(e) * per_set);
    for (size_t row = 0; row < out->row_count; row++) {
        size_t method = row % per_set / lines, line = row % lines;
        struct diagnostics d;
        struct text point = {0};
        diagnostics_of(&d, results_of_set(results, row / per_set), method, line);
        if (e->table.all_points)
            experiment_add_point(e, line, &point);
        DIAGNOSTICS(TABLE_CELL)
    }
    table_line(&out->notes,
               "dead: active for no training row; always on: active for all of them; near a pole: gmp units "
               "with three or more inputs and |sin theta| below %g in an angle other than the last; all are "
               "shares of the units.",
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
