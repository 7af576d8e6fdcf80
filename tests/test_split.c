/* SPDX-License-Identifier: MIT
 *
 * Splits: scikit-learn's row for row, ours complete and in proportion, what cannot be split refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/mt19937.h"
#include "rows/data.h"
#include "rows/split.h"
#include "failure.h"
#include "fault.h"

static const uint64_t fnv_start = 14695981039346656037u;

static uint64_t fnv_on(uint64_t h, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int b = 0; b < 4; b++)
            h = (h ^ (rows[i] >> 8 * b & 0xff)) * 1099511628211u;
    return h;
}

static uint64_t fnv(const uint32_t *rows, size_t count)
{
    return fnv_on(fnv_start, rows, count);
}

/* rows with one feature; class of row i is i % classes, or regression when classes is 0. */
static sph_data *numbered(size_t rows, size_t classes)
{
    double *x = mem_get(rows, sizeof *x), *y = mem_get(rows, sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    for (size_t i = 0; i < rows; i++) {
        x[i] = (double)i;
        y[i] = classes ? (double)(i % classes) : (double)i;
    }
    sph_data *data;
    assert_int_equal(
        sph_data_from_arrays(&data, x, y, rows, 1, 1, classes ? SPH_TASK_CLASSES : SPH_TASK_REGRESSION, NULL),
        0);
    mem_free(x);
    mem_free(y);
    return data;
}

static FILE *expectations(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", SPH_TESTS_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

static void sklearn_split_and_numpy_choice_match_row_for_row(void **state)
{
    (void)state;
    FILE *file = expectations("sklearn_splits.csv");
    char line[512];
    size_t cases = 0;
    while (fgets(line, sizeof line, file) && strncmp(line, "full", 4) != 0) {
        size_t n, rows[3];
        unsigned long seed;
        double test, val;
        unsigned long long hash[4];
        assert_int_equal(sscanf(line, "%zu,%lu,%lf,%lf,%zu,%zu,%zu,%llx,%llx,%llx,%llx", &n, &seed, &test,
                                &val, &rows[0], &rows[1], &rows[2], &hash[0], &hash[1], &hash[2], &hash[3]),
                         11);
        sph_data *data = numbered(n, 0);
        sph_split split;
        assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_SKLEARN, test, val, seed), 0);
        assert_int_equal(split.test_rows, rows[0]);
        assert_int_equal(split.val_rows, rows[1]);
        assert_int_equal(split.train_rows, rows[2]);
        assert_true(fnv(split.test, split.test_rows) == hash[0]);
        assert_true(fnv(split.val, split.val_rows) == hash[1]);
        assert_true(fnv(split.train, split.train_rows) == hash[2]);
        sph_split_free(&split);
        sph_data_free(data);

        struct mt19937 mt;
        uint32_t *order = mem_get(n, sizeof *order);
        mt19937_seed(&mt, (uint32_t)seed);
        mt19937_permutation(&mt, order, n);
        assert_true(fnv(order, (n + 2) / 3) == hash[3]);
        mem_free(order);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 100);
}

static void sklearn_split_matches_whole_lists(void **state)
{
    (void)state;
    FILE *file = expectations("sklearn_splits.csv");
    char line[512];
    size_t lists = 0;
    while (fgets(line, sizeof line, file) && strncmp(line, "full", 4) != 0)
        continue;
    while (fgets(line, sizeof line, file)) {
        size_t n;
        unsigned long seed;
        double test, val;
        char part[8];
        int at;
        assert_int_equal(sscanf(line, "%zu,%lu,%lf,%lf,%7[a-z],%n", &n, &seed, &test, &val, part, &at), 5);
        sph_data *data = numbered(n, 0);
        sph_split split;
        assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_SKLEARN, test, val, seed), 0);
        const uint32_t *rows = part[0] == 'v' ? split.val : part[1] == 'e' ? split.test : split.train;
        size_t count = part[0] == 'v' ? split.val_rows : part[1] == 'e' ? split.test_rows : split.train_rows;
        char *p = line + at;
        for (size_t i = 0; i < count; i++)
            assert_int_equal(strtoul(p, &p, 10), rows[i]);
        assert_string_equal(p, "\n");
        sph_split_free(&split);
        sph_data_free(data);
        lists++;
    }
    fclose(file);
    assert_int_equal(lists, 9);
}

static void assert_each_row_once(const sph_split *split, size_t rows)
{
    unsigned char *seen = mem_get(rows, 1);
    const uint32_t *part[] = {split->train, split->val, split->test};
    size_t count[] = {split->train_rows, split->val_rows, split->test_rows};
    assert_int_equal(count[0] + count[1] + count[2], rows);
    for (int p = 0; p < 3; p++)
        for (size_t i = 0; i < count[p]; i++) {
            assert_true(part[p][i] < rows);
            assert_int_equal(seen[part[p][i]]++, 0);
        }
    mem_free(seen);
}

static void every_kind_deals_each_row_once_and_depends_on_the_seed_alone(void **state)
{
    (void)state;
    sph_data *data = numbered(101, 3);
    for (int kind = 0; kind < SPH_SPLIT_COUNT; kind++) {
        sph_split a, b, c;
        assert_int_equal(sph_split_make(&a, data, (sph_split_kind)kind, 0.2, 0.25, 5), 0);
        assert_int_equal(sph_split_make(&b, data, (sph_split_kind)kind, 0.2, 0.25, 5), 0);
        assert_int_equal(sph_split_make(&c, data, (sph_split_kind)kind, 0.2, 0.25, 6), 0);
        assert_int_equal(a.test_rows, 21);
        assert_int_equal(a.val_rows, 20);
        assert_each_row_once(&a, 101);
        assert_memory_equal(a.train, b.train, a.train_rows * sizeof *a.train);
        assert_memory_equal(a.val, b.val, a.val_rows * sizeof *a.val);
        assert_memory_equal(a.test, b.test, a.test_rows * sizeof *a.test);
        assert_memory_not_equal(a.train, c.train, a.train_rows * sizeof *a.train);
        sph_split_free(&a);
        sph_split_free(&b);
        sph_split_free(&c);
    }
    sph_data_free(data);
}

static void stratified_split_keeps_each_class_in_proportion(void **state)
{
    (void)state;
    enum { ROWS = 200 };
    double x[ROWS], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = (double)i;
        y[i] = i < 150 ? 0 : i < 190 ? 1 : 2; /* 150, 40, 10 */
    }
    sph_data *data;
    sph_split split;
    assert_int_equal(sph_data_from_arrays(&data, x, y, ROWS, 1, 1, SPH_TASK_CLASSES, NULL), 0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_STRATIFIED, 0.2, 0.25, seed), 0);
        size_t test[3] = {0}, val[3] = {0};
        for (size_t i = 0; i < split.test_rows; i++)
            test[(size_t)y[split.test[i]]]++;
        for (size_t i = 0; i < split.val_rows; i++)
            val[(size_t)y[split.val[i]]]++;
        assert_each_row_once(&split, ROWS);
        assert_int_equal(test[0], 30);
        assert_int_equal(test[1], 8);
        assert_int_equal(test[2], 2);
        assert_int_equal(val[0], 30);
        assert_int_equal(val[1], 8);
        assert_int_equal(val[2], 2);
        sph_split_free(&split);
    }
    sph_data_free(data);
}

static void a_share_of_zero_gives_an_empty_part(void **state)
{
    (void)state;
    sph_data *data = numbered(10, 2);
    for (int kind = 0; kind < SPH_SPLIT_COUNT; kind++) {
        sph_split split;
        assert_int_equal(sph_split_make(&split, data, (sph_split_kind)kind, 0, 0, 1), 0);
        assert_int_equal(split.train_rows, 10);
        assert_int_equal(split.val_rows + split.test_rows, 0);
        assert_each_row_once(&split, 10);
        sph_split_free(&split);
    }
    sph_data_free(data);
}

static void fails(sph_data *data, sph_split_kind kind, double test, double val, uint64_t seed,
                  const char *key)
{
    sph_split split;
    assert_fails(sph_split_make(&split, data, kind, test, val, seed), SPH_EARG, .key = key);
    assert_null(split.train);
    sph_split_free(&split);
}

static void what_cannot_be_split_is_refused(void **state)
{
    (void)state;
    sph_data *one = numbered(1, 0), *two = numbered(2, 0), *ten = numbered(10, 0);
    fails(one, SPH_SPLIT_RANDOM, 0.2, 0, 0, "split");
    fails(two, SPH_SPLIT_SKLEARN, 0.2, 0.2, 0, "split");
    fails(ten, SPH_SPLIT_RANDOM, 0.99, 0, 0, "split");
    fails(ten, SPH_SPLIT_RANDOM, 1, 0, 0, "test");
    fails(ten, SPH_SPLIT_RANDOM, 0, -0.1, 0, "val");
    fails(ten, SPH_SPLIT_STRATIFIED, 0.2, 0.2, 0, "split");
    fails(ten, SPH_SPLIT_SKLEARN, 0.2, 0.2, (uint64_t)1 << 32, "split");
    sph_data_free(one);
    sph_data_free(two);
    sph_data_free(ten);
}

/* ---------------------------------------------------------------- folds */

static void kfold_matches_sklearn_row_for_row(void **state)
{
    (void)state;
    FILE *file = expectations("sklearn_kfolds.csv");
    char line[512];
    size_t cases = 0;
    while (fgets(line, sizeof line, file) && strncmp(line, "full", 4) != 0) {
        size_t n, folds;
        unsigned long seed;
        unsigned long long val, train;
        assert_int_equal(sscanf(line, "%zu,%lu,%zu,%llx,%llx", &n, &seed, &folds, &val, &train), 5);
        uint64_t val_hash = fnv_start, train_hash = fnv_start;
        for (size_t fold = 0; fold < folds; fold++) {
            sph_split split;
            assert_int_equal(split_kfold(&split, NULL, n, folds, fold, seed), 0);
            assert_int_equal(split.val_rows + split.train_rows, n);
            assert_int_equal(split.test_rows, 0);
            val_hash = fnv_on(val_hash, split.val, split.val_rows);
            train_hash = fnv_on(train_hash, split.train, split.train_rows);
            sph_split_free(&split);
        }
        assert_true(val_hash == val);
        assert_true(train_hash == train);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 100);
}

static void kfold_matches_whole_lists(void **state)
{
    (void)state;
    FILE *file = expectations("sklearn_kfolds.csv");
    char line[512];
    size_t lists = 0;
    while (fgets(line, sizeof line, file) && strncmp(line, "full", 4) != 0)
        continue;
    while (fgets(line, sizeof line, file)) {
        size_t n, folds, fold;
        unsigned long seed;
        char part[8];
        int at;
        assert_int_equal(sscanf(line, "%zu,%lu,%zu,%zu,%7[a-z],%n", &n, &seed, &folds, &fold, part, &at), 5);
        sph_split split;
        assert_int_equal(split_kfold(&split, NULL, n, folds, fold, seed), 0);
        const uint32_t *rows = part[0] == 'v' ? split.val : split.train;
        size_t count = part[0] == 'v' ? split.val_rows : split.train_rows;
        char *p = line + at;
        for (size_t i = 0; i < count; i++)
            assert_int_equal(strtoul(p, &p, 10), rows[i]);
        assert_string_equal(p, "\n");
        sph_split_free(&split);
        lists++;
    }
    fclose(file);
    assert_int_equal(lists, 20);
}

static void kfold_of_some_rows_gives_those_rows_by_position(void **state)
{
    (void)state;
    enum { COUNT = 13, FOLDS = 4 };
    uint32_t rows[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        rows[i] = 1000 - 7 * i;
    for (size_t fold = 0; fold < FOLDS; fold++) {
        sph_split all, some;
        assert_int_equal(split_kfold(&all, NULL, COUNT, FOLDS, fold, 3), 0);
        assert_int_equal(split_kfold(&some, rows, COUNT, FOLDS, fold, 3), 0);
        assert_int_equal(all.val_rows, fold == 0 ? 4 : 3);
        assert_int_equal(some.val_rows, all.val_rows);
        assert_int_equal(some.train_rows, all.train_rows);
        for (size_t i = 0; i < all.val_rows; i++)
            assert_int_equal(some.val[i], rows[all.val[i]]);
        for (size_t i = 0; i < all.train_rows; i++)
            assert_int_equal(some.train[i], rows[all.train[i]]);
        sph_split_free(&all);
        sph_split_free(&some);
    }
}

static void kfold_fails(size_t count, size_t folds, size_t fold, uint64_t seed, const char *key)
{
    sph_split split;
    assert_fails(split_kfold(&split, NULL, count, folds, fold, seed), SPH_EARG, .key = key);
    assert_null(split.train);
    sph_split_free(&split);
}

static void folds_that_cannot_be_are_refused(void **state)
{
    (void)state;
    kfold_fails(4, 5, 0, 0, "folds");
    kfold_fails(1, 2, 0, 0, "folds");
    kfold_fails(0, 2, 0, 0, "folds");
    kfold_fails(9, 1, 0, 0, "folds");
    kfold_fails(9, 0, 0, 0, "folds");
    kfold_fails(9, 3, 3, 0, "folds");
    kfold_fails(9, 3, 0, (uint64_t)1 << 32, "folds");
}

static void kfold_short_of_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    size_t failed = 0;
    for (;; failed++) {
        sph_split split;
        fault_after(failed);
        int err = split_kfold(&split, NULL, 20, 4, 1, 0);
        fault_off();
        sph_split_free(&split);
        if (!fault_happened())
            break;
        assert_int_equal(err, SPH_EMEMORY);
    }
    assert_int_equal(failed, 6);
}

static void folds_of_a_split_begin_with_it_and_hold_each_row_back_once(void **state)
{
    (void)state;
    enum { TRAIN = 23, VAL = 6, ROWS = TRAIN + VAL, FOLDS = 5 };
    uint32_t train[TRAIN], val[VAL], joined[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        joined[i] = 100 + (i * 7) % ROWS;
        *(i < TRAIN ? &train[i] : &val[i - TRAIN]) = joined[i];
    }
    const sph_split whole = {.train = train, .train_rows = TRAIN, .val = val, .val_rows = VAL};
    size_t held[ROWS] = {0};
    for (size_t fold = 0; fold < FOLDS; fold++) {
        sph_split part;
        uint32_t *at;
        assert_int_equal(split_fold(&part, &at, &whole, FOLDS, fold), 0);
        assert_int_equal(part.train_rows + part.val_rows, ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            uint32_t row = i < part.train_rows ? part.train[i] : part.val[i - part.train_rows];
            assert_int_equal(row, joined[at[i]]);
            held[at[i]] += i >= part.train_rows;
        }
        if (fold == 0) {
            assert_memory_equal(part.train, train, sizeof train);
            assert_memory_equal(part.val, val, sizeof val);
        } else
            assert_true(part.val_rows == TRAIN / (FOLDS - 1) || part.val_rows == TRAIN / (FOLDS - 1) + 1);
        sph_split_free(&part);
        mem_free(at);
    }
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(held[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sklearn_split_and_numpy_choice_match_row_for_row),
        cmocka_unit_test(sklearn_split_matches_whole_lists),
        cmocka_unit_test(every_kind_deals_each_row_once_and_depends_on_the_seed_alone),
        cmocka_unit_test(stratified_split_keeps_each_class_in_proportion),
        cmocka_unit_test(a_share_of_zero_gives_an_empty_part),
        cmocka_unit_test(what_cannot_be_split_is_refused),
        cmocka_unit_test(kfold_matches_sklearn_row_for_row),
        cmocka_unit_test(kfold_matches_whole_lists),
        cmocka_unit_test(kfold_of_some_rows_gives_those_rows_by_position),
        cmocka_unit_test(folds_that_cannot_be_are_refused),
        cmocka_unit_test(kfold_short_of_memory_says_so_and_leaks_nothing),
        cmocka_unit_test(folds_of_a_split_begin_with_it_and_hold_each_row_back_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
