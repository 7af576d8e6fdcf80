/* SPDX-License-Identifier: MIT
 *
 * An experiment reads each file of its data once, in all of its processes together, and its jobs have the rows
 * that they would have read themselves. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "compare/tool.h"
#include "data/cache.h"
#include "experiment_files.h"
#include "fault_system.h"
#include "short_memory.h"

/* ---------------------------------------------------------------- opens, counted */

/* In memory that the processes of a crew share. */
static struct counts {
    atomic_int opens; /* of files whose path has "data-" in it */
} * counts;

static void count_open(const char *path)
{
    if (strstr(path, "/data-"))
        atomic_fetch_add(&counts->opens, 1);
}

static int begin(void **state)
{
    void *shared = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    counts = shared == MAP_FAILED ? NULL : shared;
    sys.opens = counts ? count_open : NULL;
    return counts ? make_home(state) : -1;
}

static int end(void **state)
{
    sys.opens = NULL;
    munmap(counts, sizeof *counts);
    return remove_home(state);
}

static int opens(void)
{
    return atomic_exchange(&counts->opens, 0);
}

static size_t threads(void)
{
    char **names;
    size_t count = 1;
    if (file_list(&names, &count, "/proc/self/task") < 0)
        return 1;
    mem_free_texts(names, count);
    return count;
}

/* ---------------------------------------------------------------- data */

enum { ROWS = 120, IMAGES = 40 };

/* A text column, a missing cell, and a class that rare rows have. */
static void write_table(void)
{
    struct text csv = {0};
    text_add(&csv, "a,b,colour,kind\n");
    for (int i = 0; i < ROWS; i++) {
        if (i != 17)
            text_add(&csv, "%g", sin(i) * 10);
        text_add(&csv, ",%d,%s,%s\n", i * 7 % 13, i % 3 ? "red" : "blue",
                 i % 12 == 1 ? "rare"
                 : i % 2     ? "odd"
                             : "even");
    }
    assert_false(csv.failed);
    write_file("data-table.csv", csv.chars);
    text_free(&csv);
}

static void write_idx(const char *name, size_t dimensions, const uint8_t *bytes, size_t length)
{
    uint8_t head[16] = {0, 0, 8, (uint8_t)dimensions, 0, 0, 0, IMAGES, 0, 0, 0, 3, 0, 0, 0, 3};
    int fd = open(in_home(name), O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, head, 4 + 4 * dimensions), 4 + 4 * dimensions);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

/* Four files: images and labels of both parts. */
static void write_images(void)
{
    uint8_t pixels[IMAGES * 9], labels[IMAGES];
    for (int i = 0; i < IMAGES * 9; i++)
        pixels[i] = (uint8_t)(i * i % 251);
    for (int i = 0; i < IMAGES; i++)
        labels[i] = (uint8_t)(i % 3);
    assert_int_equal(mkdir(in_home("data-set"), 0700), 0);
    write_idx("data-set/train-images-idx3-ubyte", 3, pixels, sizeof pixels);
    write_idx("data-set/train-labels-idx1-ubyte", 1, labels, sizeof labels);
    write_idx("data-set/t10k-images-idx3-ubyte", 3, pixels, sizeof pixels);
    write_idx("data-set/t10k-labels-idx1-ubyte", 1, labels, sizeof labels);
}

static void write_experiment(const char *data, const char *more)
{
    char text[2000];
    snprintf(text, sizeof text,
             "name: once\n"
             "data: {name: %s/%s}\n"
             "net: {hidden: [3]}\n"
             "train: {epochs: 2, batch: full}\n"
             "methods:\n"
             "  - {name: SP, param: sp}\n"
             "  - {name: GmP, param: gmp}\n"
             "seeds: 3\n"
             "grid: {lr: [0.1, 0.01]}\n"
             "%s",
             home, data, more);
    write_file("file.yaml", text);
}

static void run(const char *out, int resume, size_t workers, size_t jobs)
{
    sph_experiment_result result = {0};
    if (run_file(out, resume, workers, &result) < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(result.jobs, jobs);
    assert_int_equal(result.failed, 0);
}

/* ---------------------------------------------------------------- experiments */

static void a_table_is_opened_once_whatever_the_jobs_and_processes(void **state)
{
    (void)state;
    write_table();
    write_experiment("data-table.csv", "");
    run("beside", 0, 2, 12);
    assert_int_equal(opens(), 1);
    run("here", 0, 0, 12);
    assert_int_equal(opens(), 1);
    run("here", 1, 2, 12); /* all is done: the check alone */
    assert_int_equal(opens(), 1);
    assert_same_tree(in_home("beside"), in_home("here"));
}

static void rows_that_depend_on_the_seed_are_chosen_of_one_reading(void **state)
{
    (void)state;
    write_table();
    write_experiment("data-table.csv, rows: 80", "");
    run("beside", 0, 2, 12);
    assert_int_equal(opens(), 1);
}

static void folds_and_refits_read_nothing_again(void **state)
{
    (void)state;
    write_table();
    write_experiment("data-table.csv", "protocol: cv\nfolds: 2\n");
    run("beside", 0, 2, 2 * 2 * 3 * 2 + 2 * 3);
    assert_int_equal(opens(), 1);
}

static void each_file_of_an_image_set_is_opened_once(void **state)
{
    (void)state;
    write_images();
    write_experiment("data-set, rows: 30", "");
    run("beside", 0, 2, 12);
    assert_int_equal(opens(), 4);
    write_experiment("data-set", "");
    run("all", 0, 2, 12);
    assert_int_equal(opens(), 4);
}

/* Each panel of a figure shows a run with its data. */
static void figures_draw_what_was_read_for_the_jobs(void **state)
{
    (void)state;
    struct text csv = {0};
    text_add(&csv, "a,y\n");
    for (int i = 0; i < ROWS; i++)
        text_add(&csv, "%g,%g\n", i * 0.1, sin(i * 0.1));
    write_file("data-table.csv", csv.chars);
    text_free(&csv);
    write_experiment("data-table.csv", "table: all\nfigures: [predictions]\n");
    run("beside", 0, 2, 12);
    assert_int_equal(opens(), 1);
    assert_true(file_exists(in_home("beside/figures/predictions.gp")));
}

static void a_plan_and_a_check_read_once_too_and_start_no_thread(void **state)
{
    (void)state;
    size_t jobs;
    write_table();
    write_experiment("data-table.csv", "");
    sph_experiment *e = NULL;
    assert_int_equal(sph_experiment_open(&e, in_home("file.yaml")), 0);
    assert_int_equal(sph_experiment_plan(e, 1, &jobs), 0);
    assert_int_equal(opens(), 1);
    assert_int_equal(sph_experiment_check(e), 0);
    assert_int_equal(opens(), 1);
    assert_int_equal(threads(), 1); /* or forking would not be safe */
    /* what changed in between is seen */
    write_file("data-table.csv", "a,y\n1,2\n");
    assert_int_equal(sph_experiment_check(e), SPH_EFORMAT);
    assert_int_equal(sph_failure()->line, 2);
    sph_experiment_free(e);
}

/* ---------------------------------------------------------------- the cache */

static void assert_same_data(const sph_data *a, const sph_data *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->task, b->task);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->test_from, b->test_from);
    assert_int_equal(a->column_count, b->column_count);
    for (size_t i = 0; i < a->classes; i++)
        assert_string_equal(a->labels[i], b->labels[i]);
    for (size_t i = 0; i < a->column_count; i++) {
        assert_string_equal(a->columns[i].name, b->columns[i].name);
        assert_int_equal(a->columns[i].level_count, b->columns[i].level_count);
    }
    assert_memory_equal(a->y, b->y, a->rows * sizeof *a->y);
    if (a->image.pixels)
        assert_memory_equal(a->image.pixels, b->image.pixels, a->rows * a->features);
    else
        assert_memory_equal(a->x, b->x, a->rows * a->features * sizeof *a->x);
}

static void what_is_kept_is_what_would_be_read(void **state)
{
    (void)state;
    write_table();
    write_images();
    const char *const sources[] = {in_home("data-table.csv"), in_home("data-set"), "crescents", "levy"};
    const size_t rows[] = {0, 30, 7};
    struct data_cache cache = {0};
    for (size_t s = 0; s < 4; s++)
        for (size_t r = 0; r < 3; r++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                sph_data *kept, *again, *alone;
                sph_data_opts opts;
                sph_data_defaults(&opts);
                opts.rows = rows[r];
                opts.seed = seed;
                opts.drop = s == 0 && seed == 1 ? "b" : NULL;
                assert_int_equal(data_cache_open(&cache, &kept, sources[s], &opts), 0);
                assert_int_equal(data_cache_open(&cache, &again, sources[s], &opts), 0);
                assert_int_equal(sph_data_open(&alone, sources[s], &opts), 0);
                assert_same_data(kept, alone);
                assert_same_data(again, alone);
                sph_data_free(kept);
                sph_data_free(again);
                sph_data_free(alone);
            }
    /* noise is for sets that are made, also where a file was read already */
    sph_data *data;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.noise = 0.5;
    assert_int_equal(data_cache_open(&cache, &data, sources[0], &opts), SPH_EARG);
    assert_string_equal(sph_failure()->key, "noise");
    assert_null(data);
    data_cache_free(&cache);
}

static int open_some(void)
{
    struct data_cache cache = {0};
    sph_data *data = NULL;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = 50;
    opts.target = "kind";
    int err = data_cache_open(&cache, &data, in_home("data-table.csv"), &opts);
    sph_data_free(data);
    data_cache_free(&cache);
    return err;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    int count, err;
    write_table();
    SHORT_OF_MEMORY(count, err, err = open_some());
    assert_true(count > 20);
}

#define IN_A_HOME(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_HOME(a_table_is_opened_once_whatever_the_jobs_and_processes),
        IN_A_HOME(rows_that_depend_on_the_seed_are_chosen_of_one_reading),
        IN_A_HOME(folds_and_refits_read_nothing_again),
        IN_A_HOME(each_file_of_an_image_set_is_opened_once),
        IN_A_HOME(figures_draw_what_was_read_for_the_jobs),
        IN_A_HOME(a_plan_and_a_check_read_once_too_and_start_no_thread),
        IN_A_HOME(what_is_kept_is_what_would_be_read),
        IN_A_HOME(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
