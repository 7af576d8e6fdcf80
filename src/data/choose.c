/* SPDX-License-Identifier: MIT
 *
 * Some of the rows of a set, drawn by a seed as numpy draws them; its rows and its columns in another order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/mt19937.h"
#include "base/order.h"
#include "data/build.h"

/* ---------------------------------------------------------------- which */

/* rows (all): at their front, RandomState(seed).choice(all, kept, replace=False). */
static int draw(uint32_t *rows, size_t all, uint64_t seed)
{
    struct mt19937 *mt = mem_get(1, sizeof *mt);
    if (!mt)
        return SPH_EMEMORY;
    mt19937_seed(mt, (uint32_t)seed);
    mt19937_permutation(mt, rows, all);
    mem_free(mt);
    return 0;
}

/* quota (classes) <- how many of each class are among `kept` of these rows: in proportion, to the nearest whole
 * numbers that add up, the largest remainder first. */
static int share_out(size_t *quota, const sph_data *whole, size_t first, size_t all, size_t kept)
{
    size_t classes = whole->classes, given = 0;
    size_t *count = mem_get(classes, sizeof *count);
    if (!count)
        return SPH_EMEMORY;
    for (size_t i = 0; i < all; i++)
        count[(size_t)whole->y[first + i]]++;
    for (size_t c = 0; c < classes; c++)
        given += quota[c] = count[c] * kept / all; /* both are below 2^32 */
    for (; given < kept; given++) {
        size_t most = 0, rest = 0;
        for (size_t c = 0; c < classes; c++)
            if (quota[c] * all < count[c] * kept && count[c] * kept - quota[c] * all > rest) {
                rest = count[c] * kept - quota[c] * all;
                most = c;
            }
        quota[most]++;
    }
    mem_free(count);
    return 0;
}

/* rows (all, of which the first `kept` count) <- some of the rows from first on, with the classes in their proportions,
 * in the set's order: which ones they are is what matters. */
static int draw_part(uint32_t *rows, const sph_data *whole, size_t first, size_t all, size_t kept,
                     uint64_t seed)
{
    size_t *quota = mem_get(whole->classes, sizeof *quota), taken = 0;
    int err = quota ? draw(rows, all, seed) : SPH_EMEMORY;
    if (!err)
        err = share_out(quota, whole, first, all, kept);
    for (size_t i = 0; i < all && !err; i++) {
        size_t row = first + rows[i], class = (size_t)whole->y[row];
        if (quota[class]) {
            quota[class]--;
            rows[taken++] = (uint32_t)row;
        }
    }
    if (!err)
        qsort(rows, kept, sizeof *rows, by_u32);
    mem_free(quota);
    return err;
}

static int draw_images(uint32_t *rows, const sph_data *whole, size_t train, size_t kept, size_t kept_test,
                       uint64_t seed)
{
    size_t test = whole->rows - train;
    uint32_t *others = mem_get(test, sizeof *others);
    int err = others ? draw_part(rows, whole, 0, train, kept, seed) : SPH_EMEMORY;
    if (!err && test)
        err = draw_part(others, whole, train, test, kept_test, seed);
    if (!err && kept_test)
        memcpy(rows + kept, others, kept_test * sizeof *rows);
    mem_free(others);
    return err;
}

/* ---------------------------------------------------------------- a set of them */

/* NULL stays NULL. */
static int copy_texts(char ***out, char *const *texts, size_t count)
{
    *out = texts ? mem_copy_texts(texts, count) : NULL;
    return *out || !texts ? 0 : SPH_EMEMORY;
}

static int copy_columns(sph_data *data, const sph_data *whole)
{
    int err = copy_texts(&data->labels, whole->labels, whole->classes);
    data->columns = mem_get(whole->column_count, sizeof *data->columns);
    if (err < 0 || !data->columns)
        return SPH_EMEMORY;
    for (size_t i = 0; i < whole->column_count && !err; i++) {
        struct column *column = &data->columns[i];
        const struct column *from = &whole->columns[i];
        *column = *from;
        column->levels = column->rare = NULL;
        column->statistics = NULL;
        column->why = NULL;
        column->name = mem_text(from->name);
        err = column->name ? copy_texts(&column->levels, from->levels, from->level_count) : SPH_EMEMORY;
        if (!err && from->rare)
            err = copy_texts(&column->rare, from->rare, from->rare_count);
        if (from->why && !(column->why = mem_text(from->why)))
            err = SPH_EMEMORY;
        data->column_count++;
    }
    return err;
}

/* (count) rows of so many bytes; NULL stays NULL. */
static int copy_rows(void *out, const void *from, size_t bytes, const uint32_t *rows, size_t count)
{
    char *taken = from ? mem_get(count, bytes) : NULL;
    if (from && !taken)
        return SPH_EMEMORY;
    for (size_t i = 0; taken && i < count; i++)
        memcpy(taken + i * bytes, (const char *)from + rows[i] * bytes, bytes);
    memcpy(out, &taken, sizeof taken);
    return 0;
}

static int take_rows(sph_data **out, const sph_data *whole, const uint32_t *rows, size_t count)
{
    sph_data *data = mem_get(1, sizeof *data);
    if (!data)
        return SPH_EMEMORY;
    *data = *whole;
    data->rows = count;
    data->columns = NULL;
    data->labels = NULL;
    data->reading.missing_words = NULL;
    data->class_weights = NULL; /* of data in memory alone, which nothing is chosen of */
    data->x = data->y = NULL;
    data->image.pixels = NULL;
    data->image.pictures = NULL;
    data->notes = (struct text){0};
    data->kept = (struct kept_cells){0};
    memset(data->side, 0, sizeof data->side);
    data->column_count = data->holders = 0;
    int err = copy_columns(data, whole);
    if (!err && whole->reading.missing_words &&
        !(data->reading.missing_words = mem_text(whole->reading.missing_words)))
        err = SPH_EMEMORY;
    if (!err && !(err = copy_rows(&data->x, whole->x, whole->features * sizeof *data->x, rows, count)) &&
        !(err = copy_rows(&data->y, whole->y, whole->targets * sizeof *data->y, rows, count)))
        err = copy_rows(&data->image.pixels, whole->image.pixels, whole->features, rows, count);
    for (int i = 0; i < COLUMN_USES && !err; i++)
        err = copy_rows(&data->side[i], whole->side[i], sizeof *data->side[i], rows, count);
    if (whole->notes.length)
        text_add_bytes(&data->notes, whole->notes.chars, whole->notes.length);
    if (data->notes.failed)
        err = SPH_EMEMORY;
    if (!err && whole->image.pictures)
        err = whole->image.pictures->choose(whole->image.pictures, &data->image.pictures, rows, count);
    if (err < 0)
        sph_data_free(data);
    else
        *out = data;
    return err;
}

int data_copy(sph_data **out, const sph_data *whole)
{
    uint32_t *rows = mem_get(whole->rows, sizeof *rows);
    for (size_t i = 0; rows && i < whole->rows; i++)
        rows[i] = (uint32_t)i;
    int err = rows ? take_rows(out, whole, rows, whole->rows) : SPH_EMEMORY;
    mem_free(rows);
    return err;
}

int data_choose(sph_data **out, const sph_data *whole, const char *path, size_t count, uint64_t seed)
{
    size_t train = data_is_images(whole) && whole->test_from ? whole->test_from : whole->rows, kept_test = 0;
    if (count > train)
        return sph_fail_of(SPH_EARG, path, 0, "rows",
                           data_is_images(whole)
                               ? "the data have %zu training images, fewer than the requested %zu"
                               : "the data have %zu rows, fewer than the requested %zu",
                           train, count);
    if (seed > UINT32_MAX || whole->rows > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "rows", "seeds and rows must be below 2^32 for numpy's choice");
    if (train < whole->rows)
        kept_test = (size_t)ceil((double)count * (double)(whole->rows - train) / (double)train);
    uint32_t *rows = mem_get(whole->rows, sizeof *rows);
    int err = !rows                   ? SPH_EMEMORY
              : data_is_images(whole) ? draw_images(rows, whole, train, count, kept_test, seed)
                                      : draw(rows, whole->rows, seed);
    if (!err)
        err = take_rows(out, whole, rows, count + kept_test);
    if (!err)
        (*out)->test_from = kept_test ? count : 0;
    mem_free(rows);
    return err;
}

/* ---------------------------------------------------------------- in another order */

int data_permute(sph_data **data, const char *path, uint32_t seed)
{
    sph_data *permuted = NULL;
    size_t count = (*data)->rows;
    if ((*data)->test_from)
        return sph_fail_of(SPH_EARG, path, 0, "permute",
                           "--permute: not used with a dataset that has a test set; remove it");
    if (count > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "permute", "at most 2^32 - 1 rows can be permuted");
    uint32_t *rows = mem_get(count, sizeof *rows);
    int err = rows ? draw(rows, count, seed) : SPH_EMEMORY;
    if (!err)
        err = take_rows(&permuted, *data, rows, count);
    mem_free(rows);
    if (err < 0)
        return err;
    sph_data_free(*data);
    *data = permuted;
    return 0;
}

/* Where the numbers of a column stand: levels keep their order. */
static size_t width_of(const struct column *column)
{
    return column->role != COLUMN_FEATURE ? 0 : column_width(column);
}

int data_reverse(sph_data **data, const char *path)
{
    const sph_data *from = *data;
    sph_data *turned = NULL;
    if (from->image.pixels)
        return sph_fail_of(SPH_EARG, path, 0, "columns", "--columns: not used with images; remove it");
    if (from->rows > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "columns", "%zu rows, expected fewer than 2^32", from->rows);
    int err = data_copy(&turned, from);
    if (err < 0)
        return err;
    turned->reading.reversed = !from->reading.reversed;
    for (size_t i = 0; i < from->column_count; i++) {
        struct column *to = &turned->columns[i];
        size_t at = to->at, width = width_of(to);
        if (!width)
            continue;
        to->at = from->features - at - width;
        for (size_t row = 0; row < from->rows; row++)
            memcpy(turned->x + row * from->features + to->at, from->x + row * from->features + at,
                   width * sizeof *from->x);
    }
    sph_data_free(*data);
    *data = turned;
    return 0;
}
