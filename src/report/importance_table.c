/* SPDX-License-Identifier: MIT
 *
 * Permutation importance as a table. */

#include "base/error.h"
#include "base/tool.h"
#include "job/run_importance.h"
#include "report/show.h"
#include "report/tool.h"

struct telling {
    const sph_importance_opts *opts;
};

static int tell(void *self, double share)
{
    const struct telling *telling = self;
    sph_progress view = {.share = share};
    return telling->opts->progress(telling->opts->self, &view);
}

#define IMPORTANCES(X)                                                                                       \
    X(COLUMN, (.head = "column", .json = "column"), words, found->list[row].column)                          \
    X(MEAN, (.head = "importance", .json = "importance", .number = 1, .digits = 4), number,                  \
      found->list[row].mean)                                                                                 \
    X(SPREAD, (.head = "spread", .json = "spread", .number = 1, .digits = 3), number, found->list[row].spread)

TABLE_IDS(IMPORTANCES);

static int print(const struct importances *found, const char *dir, int json, const sph_sink *sink)
{
    const char *word = sph_word(SPH_WORDS_METRIC, (int)found->metric)->word;
    struct table table = {0}, *out = &table;
    TABLE_COLUMNS(out, IMPORTANCES);
    table_rows(out, found->count);
    for (size_t row = 0; row < found->count; row++) {
        IMPORTANCES(TABLE_CELL)
    }
    table_line(&table.title, "%s: increase of the error (%s) when a column is shuffled", dir, word);
    table_line(&table.notes, "%s %.5g on %zu rows; each column shuffled %zu times", word, found->score,
               found->rows, found->repeats);
    int err;
    if (json)
        err = show_json(json_pack("{s:s, s:I, s:s, s:f, s:I, s:o}", "run", dir, "rows",
                                  (json_int_t)found->rows, "metric", word, "score", found->score, "repeats",
                                  (json_int_t)found->repeats, "columns", table_to_json(&table)),
                        sink);
    else
        err = show_table(&table, 0, sink);
    table_free(&table);
    return err;
}

int sph_importance(const char *dir, const sph_importance_opts *opts, int json, const sph_sink *sink)
{
    NEED(dir, opts, sink);
    NEED_CALL(sink->write);
    enum { REPEATS = 10 };
    struct importances found = {0};
    struct telling telling = {opts};
    sph_run *run = NULL;
    int metric = opts->metric ? sph_word_find(SPH_WORDS_METRIC, opts->metric) : -1;
    if (opts->metric && metric < 0) {
        const char *nearest = sph_word_nearest(SPH_WORDS_METRIC, opts->metric);
        return sph_fail_key(SPH_EARG, "metric", "unknown metric '%s'%s%s", opts->metric,
                            nearest ? "; did you mean " : "", nearest ? nearest : "");
    }
    int err = sph_run_open(&run, dir);
    if (!err)
        err = importances_find(&found, run, opts->data, metric, opts->repeats ? opts->repeats : REPEATS,
                               opts->seed, opts->progress ? tell : NULL, &telling);
    if (!err)
        err = print(&found, dir, json, sink);
    importances_free(&found);
    sph_run_free(run);
    return err;
}
