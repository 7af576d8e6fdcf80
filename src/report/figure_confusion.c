/* SPDX-License-Identifier: MIT
 *
 * The confusion matrix of the test part: shares of each true class, with counts if they fit. */

#include "base/error.h"
#include "base/memory.h"
#include "job/verdicts.h"
#include "report/figures.h"

enum { CLASSES_MOST = 50, COUNTS_MOST = 12 };

/* shown (classes) <- 1 for at most CLASSES_MOST classes, those with most errors. Returns their number. */
static size_t choose_classes(const size_t *matrix, size_t classes, unsigned char *shown)
{
    size_t left = classes < CLASSES_MOST ? classes : CLASSES_MOST;
    for (size_t n = 0; n < left; n++) {
        size_t best = classes, most = 0;
        for (size_t c = 0; c < classes; c++) {
            size_t wrong = 0;
            for (size_t k = 0; k < classes; k++)
                wrong += k != c ? matrix[c * classes + k] : 0;
            if (!shown[c] && (best == classes || wrong > most)) {
                best = c;
                most = wrong;
            }
        }
        shown[best] = 1;
    }
    return left;
}

/* The test part, or the validation part if there is no test part. */
static const uint32_t *rows_of(const struct panel *panel, size_t *count)
{
    const sph_split *split = &panel->run.split;
    *count = split->test_rows ? split->test_rows : split->val_rows;
    return split->test_rows ? split->test : split->val;
}

static void write_matrix(struct figure *figure, const size_t *matrix, size_t classes,
                         const unsigned char *shown)
{
    for (size_t c = 0, y = 0; c < classes; c++) {
        size_t all = 0;
        if (!shown[c])
            continue;
        for (size_t k = 0; k < classes; k++)
            all += matrix[c * classes + k];
        for (size_t k = 0, x = 0; k < classes; k++) {
            double count = (double)matrix[c * classes + k];
            if (!shown[k])
                continue;
            figure_row(figure,
                       (double[]){(double)x++, (double)y, all ? count / (double)all : 0, count, (double)c,
                                  (double)k},
                       6);
        }
        figure_gap(figure, 1);
        y++;
    }
}

/* name_<place>: the names of the shown classes. */
static void write_names(struct figure *figure, const sph_data *data, const unsigned char *shown)
{
    for (size_t c = 0, place = 0; c < data->classes; c++)
        if (shown[c])
            panels_text(figure, "name", place++, "%s", data->labels[c]);
}

static int write_panel(struct figure *figure, const struct panel *panel, size_t number, unsigned char *shown,
                       size_t *shown_count)
{
    const sph_data *data = panel->run.data;
    size_t classes = data->classes, count;
    const uint32_t *rows = rows_of(panel, &count);
    struct verdict *list = mem_get(count, sizeof *list);
    size_t *matrix = mem_get(classes * classes, sizeof *matrix);
    int err = list && matrix ? 0 : SPH_EMEMORY;
    if (!err && !(err = verdicts_make(list, panel->run.nets, panel->run.members, data, rows, count))) {
        verdicts_count(matrix, classes, list, count);
        if (!*shown_count) { /* all panels show the same classes */
            *shown_count = choose_classes(matrix, classes, shown);
            write_names(figure, data, shown);
        }
        panels_columns(figure, number, "",
                       "place of the predicted class, place of the true class, share, rows, true class, "
                       "predicted class");
        write_matrix(figure, matrix, classes, shown);
    }
    mem_free(matrix);
    mem_free(list);
    return err;
}

static int fill(struct figure *figure, struct panels *panels)
{
    unsigned char *shown = NULL;
    size_t shown_count = 0, classes = 0, drawn = 0;
    const char *note = NULL;
    int err = 0;
    panels_head(figure, panels->rows, panels->columns);
    for (size_t i = 0; i < panels_count(panels) && !err; i++) {
        const struct panel *panel;
        size_t count;
        if ((err = panels_open(panels, i, &panel)) < 0)
            break;
        classes = panel->run.data->classes;
        if (!shown && !(shown = mem_get(classes, 1)))
            err = SPH_EMEMORY;
        rows_of(panel, &count);
        const char *empty = !panel->run.nets ? panel_without_model(panel)
                            : !count         ? "the run has no test set"
                                             : "";
        panels_title(figure, panel, i);
        panels_score(figure, panel, i);
        panels_note(figure, i, empty);
        if (!err && !*empty) {
            err = write_panel(figure, panel, i, shown, &shown_count);
            drawn++;
        }
        note = *empty ? empty : note;
    }
    if (!err && !drawn)
        err = sph_fail_at(SPH_EFORMAT, panels->dir, "%s", note ? note : "the run has no test set");
    figure_number(figure, "classes", (double)shown_count);
    figure_number(figure, "all_classes", (double)classes);
    figure_number(figure, "counts", shown_count <= COUNTS_MOST);
    mem_free(shown);
    return err;
}

const struct figure_kind figure_confusion = {
    .needs = FIGURE_DATA | FIGURE_LAST | FIGURE_TESTED,
    .task = FIGURE_CLASSES,
    .fill = fill,
    .caption = "Confusion matrix of the test set: each row is a true class, and its cells are the shares of "
               "its samples predicted as each class (with the number of samples if it fits). With more than "
               "50 classes, only those with most errors are shown.",
};
