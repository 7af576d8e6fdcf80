/* SPDX-License-Identifier: MIT */
#include "report/figures.h"

#include "fuzz.h"

/* Not those that run a net over a plane: slow, and other targets open nets. */
static int is_wanted(const struct figure_kind *kind, unsigned needs)
{
    return kind->needs & needs && !(kind->needs & (FIGURE_SCORES | FIGURE_FIRST | FIGURE_LAST));
}

void fuzz_fill_figures(const char *dir, unsigned needs)
{
    struct panels panels;
    const struct panel *panel;
    unsigned parts = 0;
    if (panels_begin(&panels, NULL, dir, NULL) < 0)
        abort();
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        parts |= is_wanted(figure_kinds[i], needs) ? figure_parts(figure_kinds[i]) : 0;
    panels_look(&panels, 0, parts, &panel); /* once for all of them */
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        const struct figure_kind *kind = figure_kinds[i];
        struct figure *figure = NULL;
        if (!is_wanted(kind, needs))
            continue;
        panels.kind = kind;
        panels.word = figure_names[i];
        if (figure_new(&figure, dir, panels.word, kind->script ? kind->script : panels.word) < 0)
            abort();
        kind->fill(figure, &panels);
        figure_free(figure);
    }
    panels_end(&panels);
}
