/* SPDX-License-Identifier: MIT
 *
 * A confusion matrix as a table; with many classes, the most frequent confusions. */
#include <stdio.h>
#include <string.h>

#include "report/show.h"
#include "report/tables.h"
#include "report/tool.h"

enum { MATRIX_MOST = 20, PAIRS_MOST = 20 };

/* Samples of class `truth` that were predicted as class `given`. */
struct confused {
    size_t truth, given, rows;
};

/* The most frequent confusions in descending order, those with equal counts in the order of the matrix. Returns their number. */
static size_t find_pairs(const sph_confusion *confusion, struct confused pairs[PAIRS_MOST])
{
    size_t n = confusion->classes, found = 0, last = (size_t)-1, last_at = 0;
    for (; found < PAIRS_MOST; found++) {
        size_t best = 0, at = 0;
        for (size_t i = 0; i < n * n; i++)
            if (i / n != i % n && confusion->count[i] > best &&
                (confusion->count[i] < last || (confusion->count[i] == last && i > last_at))) {
                best = confusion->count[i];
                at = i;
            }
        if (!best)
            break;
        pairs[found] = (struct confused){at / n, at % n, best};
        last = best;
        last_at = at;
    }
    return found;
}

static void fill_matrix(struct table *out, const sph_confusion *confusion)
{
    size_t n = confusion->classes;
    table_column(out, (struct table_column){.head = "true class"});
    for (size_t c = 0; c < n; c++)
        table_made_column(out, (struct table_column){.number = 1}, "%s", confusion->label[c]);
    table_rows(out, n);
    for (size_t c = 0; c < n; c++) {
        table_words(out, c, 0, confusion->label[c]);
        for (size_t k = 0; k < n; k++)
            table_count(out, c, k + 1, confusion->count[c * n + k]);
    }
}

int confusion_table(struct table *out, const sph_confusion *confusion)
{
    struct confused pairs[PAIRS_MOST];
    if (confusion->classes <= MATRIX_MOST) {
        fill_matrix(out, confusion);
        return 0;
    }
    table_column(out, (struct table_column){.head = "true class"});
    table_column(out, (struct table_column){.head = "predicted class"});
    table_column(out, (struct table_column){.head = "rows", .number = 1});
    table_rows(out, find_pairs(confusion, pairs));
    for (size_t row = 0; row < out->row_count; row++) {
        table_words(out, row, 0, confusion->label[pairs[row].truth]);
        table_words(out, row, 1, confusion->label[pairs[row].given]);
        table_count(out, row, 2, pairs[row].rows);
    }
    return 1;
}

static void add_pairs(struct text *out, const sph_confusion *confusion)
{
    struct confused pairs[PAIRS_MOST];
    size_t count = find_pairs(confusion, pairs);
    text_add(out, "\n%zu classes; most frequent confusions (--json prints the whole matrix):\n%8s  %s\n",
             confusion->classes, "rows", "true class -> predicted class");
    for (size_t i = 0; i < count; i++)
        text_add(out, "%8zu  %s -> %s\n", pairs[i].rows, confusion->label[pairs[i].truth],
                 confusion->label[pairs[i].given]);
}

int sph_confusion_print(const sph_confusion *confusion, const sph_sink *sink)
{
    struct text out = {0};
    struct table table = {0};
    size_t left = strlen("true class");
    int err = 0;
    if (confusion->classes > MATRIX_MOST) {
        add_pairs(&out, confusion);
    } else {
        fill_matrix(&table, confusion);
        for (size_t c = 0; c < confusion->classes; c++) {
            size_t width = text_width(confusion->label[c], strlen(confusion->label[c]));
            left = width > left ? width : left;
        }
        text_add(&out, "\n%*s  predicted class\n", (int)left, "");
        err = table_write(&table, TABLE_TEXT, &out);
        table_free(&table);
    }
    return show_text(&out, err, sink);
}
