/* SPDX-License-Identifier: MIT
 *
 * Training, validation and test rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/mt19937.h"
#include "base/random.h"
#include "rows/data.h"
#include "rows/split.h"

/* scikit-learn's count: rounded up, in doubles as numpy computes it. */
static size_t part_of(double share, size_t rows)
{
    return (size_t)ceil(share * (double)rows);
}

void sph_split_free(sph_split *split)
{
    if (!split)
        return;
    mem_free(split->train);
    mem_free(split->val);
    mem_free(split->test);
    *split = (sph_split){0};
}

/* order: test rows first, then validation, then training. */
static void deal(sph_split *out, const uint32_t *order)
{
    memcpy(out->test, order, out->test_rows * sizeof *order);
    memcpy(out->val, order + out->test_rows, out->val_rows * sizeof *order);
    memcpy(out->train, order + out->test_rows + out->val_rows, out->train_rows * sizeof *order);
}

static void split_random(sph_split *out, size_t rows, uint64_t seed, uint32_t *order)
{
    struct rng rng = rng_stream(seed, RNG_SPLIT, 0);
    for (size_t i = 0; i < rows; i++)
        order[i] = (uint32_t)i;
    rng_shuffle(&rng, order, rows);
    deal(out, order);
}

/* train_test_split(rows, test) and train_test_split(rest, val), both with random_state=seed. */
static int split_sklearn(sph_split *out, size_t rows, uint64_t seed, uint32_t *order)
{
    struct mt19937 *mt = mem_get(1, sizeof *mt);
    uint32_t *inner = mem_get(rows, sizeof *inner);
    if (!mt || !inner) {
        mem_free(mt);
        mem_free(inner);
        return SPH_EMEMORY;
    }
    if (out->test_rows) {
        mt19937_seed(mt, (uint32_t)seed);
        mt19937_permutation(mt, order, rows);
    } else
        for (size_t i = 0; i < rows; i++)
            order[i] = (uint32_t)i;
    if (out->val_rows) {
        size_t rest = rows - out->test_rows;
        uint32_t *tail = order + out->test_rows;
        mt19937_seed(mt, (uint32_t)seed);
        mt19937_permutation(mt, inner, rest);
        for (size_t i = 0; i < rest; i++)
            inner[i] = tail[inner[i]];
        memcpy(tail, inner, rest * sizeof *tail);
    }
    deal(out, order);
    mem_free(mt);
    mem_free(inner);
    return 0;
}

/* ---------------------------------------------------------------- stratified */

/* Shares `total` among classes in proportion to size[], by largest remainders; of equal ones the earlier
 * wins. No class gives more than it has. */
static void apportion(size_t *given, const size_t *size, size_t classes, size_t total)
{
    size_t rows = 0, left = total;
    for (size_t c = 0; c < classes; c++)
        rows += size[c];
    for (size_t c = 0; c < classes; c++) {
        given[c] = (size_t)((double)total * (double)size[c] / (double)rows);
        left -= given[c];
    }
    for (; left; left--) {
        size_t best = classes;
        double most = -1.0;
        for (size_t c = 0; c < classes; c++) {
            double remainder = (double)total * (double)size[c] / (double)rows - (double)given[c];
            if (given[c] < size[c] && remainder > most) {
                most = remainder;
                best = c;
            }
        }
        given[best]++;
    }
}

struct strata {
    size_t *size, *begin, *test, *val;
};

static void split_by_class(sph_split *out, const sph_data *data, size_t rows, uint64_t seed, uint32_t *order,
                           struct strata *s)
{
    for (size_t i = 0; i < rows; i++)
        s->size[(size_t)data->y[i]]++;
    for (size_t c = 1; c < data->classes; c++)
        s->begin[c] = s->begin[c - 1] + s->size[c - 1];
    for (size_t i = 0; i < rows; i++)
        order[s->begin[(size_t)data->y[i]]++] = (uint32_t)i;

    apportion(s->test, s->size, data->classes, out->test_rows);
    size_t end = 0, test = 0;
    for (size_t c = 0; c < data->classes; c++) {
        struct rng rng = rng_stream(seed, RNG_SPLIT, (uint32_t)c + 1);
        rng_shuffle(&rng, order + end, s->size[c]);
        memcpy(out->test + test, order + end, s->test[c] * sizeof *order);
        test += s->test[c];
        end += s->size[c];
        s->begin[c] = end - (s->size[c] - s->test[c]); /* what is left of the class */
        s->size[c] -= s->test[c];
    }
    apportion(s->val, s->size, data->classes, out->val_rows);
    size_t val = 0, train = 0;
    for (size_t c = 0; c < data->classes; c++) {
        const uint32_t *rest = order + s->begin[c];
        memcpy(out->val + val, rest, s->val[c] * sizeof *order);
        memcpy(out->train + train, rest + s->val[c], (s->size[c] - s->val[c]) * sizeof *order);
        val += s->val[c];
        train += s->size[c] - s->val[c];
    }
    struct rng rng = rng_stream(seed, RNG_SPLIT, 0);
    rng_shuffle(&rng, out->test, out->test_rows);
    rng_shuffle(&rng, out->val, out->val_rows);
    rng_shuffle(&rng, out->train, out->train_rows);
}

static int split_stratified(sph_split *out, const sph_data *data, size_t rows, uint64_t seed, uint32_t *order)
{
    if (data->task == SPH_TASK_REGRESSION)
        return sph_fail_key(SPH_EARG, "split",
                            "stratified needs classes, but the task is regression; use random");
    struct strata s = {0};
    size_t *counts = mem_get(4 * data->classes, sizeof *counts);
    if (!counts)
        return SPH_EMEMORY;
    s.size = counts;
    s.begin = counts + data->classes;
    s.test = counts + 2 * data->classes;
    s.val = counts + 3 * data->classes;
    split_by_class(out, data, rows, seed, order, &s);
    mem_free(counts);
    return 0;
}

/* ---------------------------------------------------------------- by a column */

struct keyed {
    double key;
    uint32_t row;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->row > y->row) - (x->row < y->row);
}

/* Whole groups of rows with the same key, until a part has as many rows as it should: the sizes of the parts follow.
 * Groups come in an order drawn by the seed, times from the last to the first. */
static int split_by_keys(sph_split *out, const struct keyed *sorted, size_t rows, int times, uint64_t seed,
                         double val, uint32_t *order)
{
    struct rng rng = rng_stream(seed, RNG_SPLIT, 0);
    size_t groups = 0, at = 0, want = out->test_rows, g = 0, *begin = mem_get(rows + 1, sizeof *begin);
    uint32_t *drawn = mem_get(rows, sizeof *drawn);
    int err = begin && drawn ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < rows && !err; i++)
        if (!i || sorted[i].key != sorted[i - 1].key)
            begin[groups++] = i;
    if (!err) {
        begin[groups] = rows;
        for (size_t i = 0; i < groups; i++)
            drawn[i] = (uint32_t)(times ? groups - 1 - i : i);
        if (!times)
            rng_shuffle(&rng, drawn, groups);
    }
    out->test_rows = out->val_rows = 0;
    for (int part = 0; part < 3 && !err; part++) {
        size_t first = at;
        for (; g < groups && at - first < want; g++) {
            size_t from = begin[drawn[g]], end = begin[drawn[g] + 1];
            for (size_t i = from; i < end; i++)
                order[at++] = sorted[times ? from + end - 1 - i : i].row;
        }
        if (part < 2)
            *(part ? &out->val_rows : &out->test_rows) = at - first;
        want = part ? rows : part_of(val, rows - at);
    }
    mem_free(begin);
    mem_free(drawn);
    if (err < 0)
        return err;
    if (out->test_rows + out->val_rows >= rows)
        return times ? sph_fail_key(SPH_EARG, "time",
                                    "%zu different time%s, which are too few for three sets, because rows "
                                    "with the same time stay together",
                                    groups, groups == 1 ? "" : "s")
                     : sph_fail_key(SPH_EARG, "group", "%zu group%s, which are too few for three sets",
                                    groups, groups == 1 ? "" : "s");
    out->train_rows = rows - out->test_rows - out->val_rows;
    mem_free(out->test);
    mem_free(out->val);
    mem_free(out->train);
    out->test = mem_get(out->test_rows, sizeof *out->test);
    out->val = mem_get(out->val_rows, sizeof *out->val);
    out->train = mem_get(out->train_rows, sizeof *out->train);
    if (!out->test || !out->val || !out->train)
        return SPH_EMEMORY;
    deal(out, order);
    if (!times)
        rng_shuffle(&rng, out->train, out->train_rows);
    return 0;
}

static int split_by_column(sph_split *out, const sph_data *data, size_t rows, sph_split_kind kind,
                           uint64_t seed, double val, uint32_t *order)
{
    int groups = data->side[COLUMN_GROUP] != NULL;
    const double *keys = data->side[groups ? COLUMN_GROUP : COLUMN_TIME];
    const char *option = groups ? "group" : "time";
    if (groups && data->side[COLUMN_TIME])
        return sph_fail_key(SPH_EARG, "group", "cannot be combined with --time; remove one of them");
    if (kind != SPH_SPLIT_RANDOM)
        return sph_fail_key(SPH_EARG, option, "not used with --split; remove it");
    struct keyed *sorted = mem_get(rows, sizeof *sorted);
    if (!sorted)
        return SPH_EMEMORY;
    for (size_t i = 0; i < rows; i++)
        sorted[i] = (struct keyed){keys[i], (uint32_t)i};
    qsort(sorted, rows, sizeof *sorted, by_key);
    int err = split_by_keys(out, sorted, rows, !groups, seed, val, order);
    mem_free(sorted);
    return err;
}

/* ---------------------------------------------------------------- all */

static int check_share(const char *name, double share)
{
    if (share >= 0.0 && share < 1.0)
        return 0;
    return sph_fail_key(SPH_EARG, name, "found %g, expected 0 or more and less than 1", share);
}

/* A part of the set's own, to its end, in its order. */
static int take_own_part(uint32_t **part, size_t *part_rows, const sph_data *data, size_t from)
{
    size_t count = data->rows - from;
    uint32_t *rows = mem_get(count, sizeof *rows);
    if (!rows)
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++)
        rows[i] = (uint32_t)(from + i);
    mem_free(*part);
    *part = rows;
    *part_rows = count;
    return 0;
}

static int take_own_parts(sph_split *out, const sph_data *data, double test, double val)
{
    int err = 0;
    if (data->test_from && test > 0)
        err = take_own_part(&out->test, &out->test_rows, data, data->test_from);
    if (!err && data->counts.val && val > 0)
        err = take_own_part(&out->val, &out->val_rows, data, data->rows - data->counts.val);
    return err;
}

int sph_split_make(sph_split *out, const sph_data *data, sph_split_kind kind, double test, double val,
                   uint64_t seed)
{
    NEED(out, data);
    *out = (sph_split){0};
    size_t rows = data->test_from ? data->test_from : data->rows - data->counts.val;
    if (check_share("test", test) < 0 || check_share("val", val) < 0)
        return SPH_EARG;
    if ((unsigned)kind >= SPH_SPLIT_COUNT)
        return sph_fail_key(SPH_EARG, "split", "kind %d is unknown", (int)kind);
    if (data->rows > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "split", "%zu rows, expected fewer than 2^32", data->rows);
    if (kind == SPH_SPLIT_SKLEARN && seed > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "split", "scikit-learn's seeds are below 2^32");
    out->test_rows = data->test_from ? 0 : part_of(test, rows);
    out->val_rows = data->counts.val ? 0 : part_of(val, rows - out->test_rows);
    if (out->test_rows + out->val_rows >= rows) {
        *out = (sph_split){0};
        return sph_fail_key(SPH_EARG, "split", "%zu row%s with test %g and val %g leave no training rows",
                            rows, rows == 1 ? "" : "s", test, val);
    }
    out->train_rows = rows - out->test_rows - out->val_rows;
    uint32_t *order = mem_get(rows, sizeof *order);
    out->train = mem_get(out->train_rows, sizeof *out->train);
    out->val = mem_get(out->val_rows, sizeof *out->val);
    out->test = mem_get(out->test_rows, sizeof *out->test);
    int err = SPH_EMEMORY;
    if (order && out->train && out->val && out->test) {
        err = 0;
        if (data->side[COLUMN_GROUP] || data->side[COLUMN_TIME])
            err = split_by_column(out, data, rows, kind, seed, val, order);
        else if (kind == SPH_SPLIT_RANDOM)
            split_random(out, rows, seed, order);
        else if (kind == SPH_SPLIT_SKLEARN)
            err = split_sklearn(out, rows, seed, order);
        else
            err = split_stratified(out, data, rows, seed, order);
        if (!err)
            err = take_own_parts(out, data, test, val);
    }
    mem_free(order);
    if (err < 0)
        sph_split_free(out);
    return err;
}

/* ---------------------------------------------------------------- folds */

static int check_folds(size_t count, size_t folds, size_t fold, uint64_t seed)
{
    if (folds < 2)
        return sph_fail_key(SPH_EARG, "folds", "%zu, expected 2 or more", folds);
    if (folds > count)
        return sph_fail_key(SPH_EARG, "folds", "%zu folds of %zu row%s, expected at most one fold a row",
                            folds, count, count == 1 ? "" : "s");
    if (fold >= folds)
        return sph_fail_key(SPH_EARG, "folds", "fold %zu, expected 0 to %zu", fold, folds - 1);
    if (count > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "folds", "%zu rows, expected fewer than 2^32", count);
    if (seed > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "folds", "scikit-learn's seeds are below 2^32");
    return 0;
}

int split_kfold(sph_split *out, const uint32_t *rows, size_t count, size_t folds, size_t fold, uint64_t seed)
{
    *out = (sph_split){0};
    int err = check_folds(count, folds, fold, seed);
    if (err < 0)
        return err;
    /* the first count % folds folds are one row longer */
    size_t longer = count % folds, held = count / folds + (fold < longer);
    size_t begin = fold * (count / folds) + (fold < longer ? fold : longer);
    struct mt19937 *mt = mem_get(1, sizeof *mt);
    uint32_t *order = mem_get(count, sizeof *order);
    unsigned char *is_held = mem_get(count, 1);
    out->val = mem_get(held, sizeof *out->val);
    out->train = mem_get(count - held, sizeof *out->train);
    out->test = mem_get(0, sizeof *out->test);
    if (!mt || !order || !is_held || !out->val || !out->train || !out->test) {
        err = SPH_EMEMORY;
        goto out;
    }
    mt19937_seed(mt, (uint32_t)seed);
    mt19937_permutation(mt, order, count);
    for (size_t i = 0; i < held; i++)
        is_held[order[begin + i]] = 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = rows ? rows[i] : (uint32_t)i;
        if (is_held[i])
            out->val[out->val_rows++] = row;
        else
            out->train[out->train_rows++] = row;
    }
out:
    mem_free(mt);
    mem_free(order);
    mem_free(is_held);
    if (err < 0)
        sph_split_free(out);
    return err;
}

int split_fold(sph_split *out, uint32_t **at, const sph_split *whole, size_t folds, size_t fold)
{
    size_t first = whole->train_rows, rows = first + whole->val_rows, held = 0;
    uint32_t *train = mem_get(rows, sizeof *train), *val = mem_get(rows, sizeof *val);
    uint32_t *where = mem_get(rows, sizeof *where);
    *out = (sph_split){.train = train, .val = val, .test = mem_get(0, sizeof *out->test)};
    if (!train || !val || !where || !out->test) {
        mem_free(where);
        sph_split_free(out);
        return SPH_EMEMORY;
    }
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < rows; i++) {
            uint32_t row = i < first ? whole->train[i] : whole->val[i - first];
            if ((fold == (i < first ? 1 + i % (folds - 1) : 0)) != pass)
                continue;
            where[held++] = (uint32_t)i;
            if (pass)
                val[out->val_rows++] = row;
            else
                train[out->train_rows++] = row;
        }
    if (at)
        *at = where;
    else
        mem_free(where);
    return 0;
}
