/* SPDX-License-Identifier: MIT
 *
 * The tables of an experiment: table.txt, .md, .tex, .csv and .json. */
#include "report/experiment_tables.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/statistics.h"
#include "file/file.h"
#include "report/table.h"

/* For each method, means of the last key's values across and of the others' down. */
static void add_matrices(const struct sph_experiment *e, const struct comparison_input *input,
                         struct text *out)
{
    const struct experiment_axis *across = &e->axes[e->axis_count - 1];
    size_t points = experiment_points(e), wide = 10;
    for (size_t i = 0; i < across->count; i++) {
        size_t length = strlen(experiment_value_text(across, i)) + 2;
        wide = length > wide ? length : wide;
    }
    for (size_t m = 0; m < e->method_count; m++) {
        text_add(out, "\n%s: mean %s, %s across\n%-30s", e->methods[m].name, input->metric,
                 option_key(across->id), "");
        for (size_t i = 0; i < across->count; i++)
            text_add(out, "%*s", (int)wide, experiment_value_text(across, i));
        for (size_t p = 0; p < points; p++) {
            if (p % across->count == 0) {
                struct text label = {0};
                for (size_t a = 0; a + 1 < e->axis_count; a++)
                    text_add(&label, "%s%s %s", a ? ", " : "", option_key(e->axes[a].id),
                             experiment_value_text(&e->axes[a], experiment_value(e, p, a)));
                text_add(out, "\n%-30s", label.chars ? label.chars : "");
                out->failed |= label.failed;
                text_free(&label);
            }
            struct summary summary;
            summarize(input->methods[m * points + p].value, input->cases, &summary);
            if (summary.n)
                text_add(out, "%*.4g", (int)wide, summary.mean);
            else
                text_add(out, "%*s", (int)wide, "-");
        }
        text_add(out, "\n");
    }
}

int experiment_write_tables(const struct experiment_results *r, const struct results_comparison *compared)
{
    static const struct {
        enum table_format format;
        const char *name;
    } files[] = {{TABLE_TEXT, "table.txt"},
                 {TABLE_MARKDOWN, "table.md"},
                 {TABLE_LATEX, "table.tex"},
                 {TABLE_CSV, "table.csv"},
                 {TABLE_JSON, "table.json"}};
    int err = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files && !err; i++) {
        struct text text = {0};
        char *path = file_join(r->dir, files[i].name);
        err = path ? table_write(&compared->comparison, files[i].format, &text) : SPH_EMEMORY;
        if (!err && files[i].format == TABLE_TEXT && r->experiment->all_points && r->experiment->axis_count)
            add_matrices(r->experiment, &compared->input, &text);
        if (!err)
            err = text.failed ? SPH_EMEMORY : file_replace_with(path, text.chars, text.length);
        mem_free(path);
        text_free(&text);
    }
    return err;
}
