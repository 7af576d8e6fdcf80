/* SPDX-License-Identifier: MIT
 *
 * A score over learning rates, with its standard error: how much a method minds a rate that is not its best.
 */
#include <math.h>

#include "report/panels.h"

int sensitivity_fill(struct figure *figure, const struct sensitivity_line *lines, size_t rows, size_t columns,
                     const char *metric)
{
    panels_head(figure, rows, columns);
    figure_text(figure, "metric", metric);
    for (size_t column = 0; column < columns; column++)
        panels_method(figure, column, lines[column].method, "");
    for (size_t row = 0; row < rows; row++) {
        panels_text(figure, "title", row, "%s", lines[row * columns].point);
        panels_columns(figure, row, "", "lr, mean, standard error, runs with a number, runs without");
        for (size_t column = 0; column < columns; column++) {
            const struct sensitivity_line *line = &lines[row * columns + column];
            for (size_t i = 0; i < line->count; i++) {
                const struct sensitivity_point *p = &line->points[i];
                double error = isnan(p->error) ? 0 : p->error;
                figure_row(figure, (double[]){p->lr, p->mean, error, (double)p->runs, (double)p->failed}, 5);
            }
            figure_gap(figure, 2);
        }
    }
    return 0;
}
