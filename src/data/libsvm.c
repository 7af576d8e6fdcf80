/* SPDX-License-Identifier: MIT
 *
 * LIBSVM's text, also called SVMlight's: a row a line, its target, then INDEX:VALUE of what is not 0, in ascending order;
 * qid:N is passed over, and so is what follows #. Indices count from 1, or from 0 where one is 0, as scikit-learn takes
 * it. The columns are called x1, x2, ... and y. What was left out is held as 0, so that a table of many columns is large. */
#include "data/registry.h"

#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

enum { TOKEN = 64, INDEX_MOST = 100000 };

struct svm {
    struct sheet *sheet;
    size_t rows, most; /* rows so far, and the largest index */
    int zero;          /* index 0 is there */
    double *x, *y;     /* (rows, columns), (rows); NULL in the first pass */
    size_t columns, first;
};

/* The next word of the line as text; its length, 0 at the end, or a failure. */
static int next_token(const struct svm *svm, size_t line, const char **at, const char *end, char *token)
{
    size_t n = 0;
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
    if (*at < end && **at == '#')
        *at = end;
    for (; *at < end && **at != ' ' && **at != '\t' && **at != '\r'; ++*at) {
        if (n + 1 == TOKEN || !**at)
            return sheet_fail(svm->sheet, line, "", "not a LIBSVM line: an item of more than %d characters",
                              TOKEN - 1);
        token[n++] = **at;
    }
    token[n] = '\0';
    return (int)n;
}

static int read_number(const struct svm *svm, size_t line, const char *text, double *out)
{
    if (!text_to_double(*text == '+' ? text + 1 : text, out) || !isfinite(*out))
        return sheet_fail(svm->sheet, line, "", "'%s', expected a finite number", text);
    return 0;
}

static int read_pair(struct svm *svm, size_t line, char *token, size_t *last)
{
    char *colon = strchr(token, ':');
    size_t index;
    double value;
    if (!colon)
        return sheet_fail(svm->sheet, line, "", "'%s', expected INDEX:VALUE", token);
    *colon = '\0';
    if (!strcmp(token, "qid"))
        return 0;
    if (!text_to_size(token, &index) || index > INDEX_MOST)
        return sheet_fail(svm->sheet, line, "", "index '%s', expected a whole number of at most %d", token,
                          INDEX_MOST);
    if (*last != SIZE_MAX && index <= *last)
        return sheet_fail(svm->sheet, line, "", "index %zu after %zu, expected ascending indices", index,
                          *last);
    *last = index;
    svm->zero |= !index;
    svm->most = index > svm->most ? index : svm->most;
    int err = read_number(svm, line, colon + 1, &value);
    if (err < 0 || !svm->x)
        return err;
    if (index < svm->first)
        return sheet_fail(svm->sheet, line, "", "index 0, but the model was trained on indices from 1");
    if (index - svm->first < svm->columns)
        svm->x[svm->rows * svm->columns + index - svm->first] = value;
    return 0;
}

static int read_line(struct svm *svm, size_t line, const char *at, const char *end)
{
    char token[TOKEN];
    double target;
    size_t last = SIZE_MAX;
    int n = next_token(svm, line, &at, end, token);
    if (n <= 0)
        return n;
    int err = read_number(svm, line, token, &target);
    if (!err && svm->y)
        svm->y[svm->rows] = target;
    while (!err && (n = next_token(svm, line, &at, end, token)) > 0)
        err = read_pair(svm, line, token, &last);
    svm->rows++;
    return err < 0 ? err : n;
}

static int read_lines(struct svm *svm)
{
    const char *at = svm->sheet->bytes, *stop = at + svm->sheet->length;
    int err = 0;
    svm->rows = 0;
    for (size_t line = 1; at < stop && !err; line++) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        if (!end)
            end = stop;
        err = read_line(svm, line, at, end);
        at = end + (end < stop);
    }
    return err;
}

static struct array column_array(double *values, size_t rows, size_t columns)
{
    return (struct array){.bytes = (unsigned char *)values,
                          .rows = rows,
                          .columns = columns,
                          .type = 'f',
                          .size = sizeof *values};
}

/* What a trained net expects: a file may end before the last index, or say nothing of index 0. */
static void heed_expected(struct svm *svm, const struct sheet_hints *hints)
{
    int from_zero = 0;
    for (size_t i = 0; i < hints->expected_count; i++)
        from_zero |= !strcmp(hints->expected[i], "x0");
    svm->first = hints->expected_count ? !from_zero : !svm->zero;
    svm->columns = svm->most + 1 - svm->first;
    if (hints->expected_count > svm->columns + 1)
        svm->columns = hints->expected_count - 1;
}

static int open_libsvm(struct sheet *sheet, const struct sheet_hints *hints)
{
    struct svm svm = {.sheet = sheet};
    size_t count, bytes;
    sheet->is_text = 1; /* messages have lines */
    int err = read_lines(&svm);
    if (err < 0)
        return err;
    if (!svm.rows)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "no rows");
    heed_expected(&svm, hints);
    if (!svm.columns)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "no row has an INDEX:VALUE");
    size_t rows = svm.rows;
    if (!size_times(&count, rows, svm.columns) || !size_times(&bytes, count, sizeof *svm.x) ||
        !mem_allows(bytes))
        return sph_fail_at(SPH_EMEMORY, sheet->path, "out of memory: %zu rows of %zu numbers", rows,
                           svm.columns);
    svm.x = mem_get(count, sizeof *svm.x); /* zeroed */
    svm.y = mem_get(rows, sizeof *svm.y);
    sheet->own[0] = (unsigned char *)svm.x;
    sheet->own[1] = (unsigned char *)svm.y;
    if (!svm.x || !svm.y)
        return SPH_EMEMORY;
    if ((err = read_lines(&svm)) < 0)
        return err;
    sheet->is_text = 0;
    sheet->x = column_array(svm.x, rows, svm.columns);
    sheet->y = column_array(svm.y, rows, 1);
    sheet->rows = rows;
    sheet->columns = svm.columns + 1;
    return sheet_number_names(sheet, svm.first);
}

static int knows_libsvm(const struct reader_file *file)
{
    return reader_ends_packed(file, ".libsvm") || reader_ends_packed(file, ".svmlight") ||
           reader_ends_packed(file, ".svm");
}

const struct reader reader_libsvm = {.knows = knows_libsvm, .open_sheet = open_libsvm};
