/* SPDX-License-Identifier: MIT
 *
 * Series: rows go into the file and come back, as rows and as arrays; a cut goes where it should; whatever
 * fails or is killed on the way leaves whole rows, and the old .npz or the new. */
#include "support.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/file.h"
#include "fault.h"
#include "fault_system.h"
#include "spherelu.h"
#include "store/series.h"
#include "skip.h"
#include "temporaries.h"

static char part[64], other[64], out[64];

static int begin(void **state)
{
    (void)state;
    snprintf(part, sizeof part, "/tmp/spherelu-series-%d.part", (int)getpid());
    snprintf(other, sizeof other, "/tmp/spherelu-series-%d.other", (int)getpid());
    snprintf(out, sizeof out, "/tmp/spherelu-series-%d.npz", (int)getpid());
    return 0;
}

static int end(void **state)
{
    (void)state;
    sys_plan(0, FAIL);
    unlink(part);
    unlink(other);
    unlink(out);
    return 0;
}

static const struct series_column columns[] = {
    {"step", "<u8", {0}, 0},
    {"layers.0.move", "<f8", {3}, 1},
    {"layers.0.phi", "<f4", {2, 3}, 2},
    {"layers.0.pattern", "|u1", {5, 1}, 2},
    {"flips", "<u8", {0}, 0},
};
enum { COLUMNS = sizeof columns / sizeof *columns, ROW = 8 + 24 + 24 + 5 + 8 };

static void make_row(char row[ROW], uint64_t t)
{
    double move[3];
    float phi[6];
    uint64_t flips = 7 * t + 1;
    for (size_t i = 0; i < 3; i++)
        move[i] = (double)t + 0.25 * (double)i;
    for (size_t i = 0; i < 6; i++)
        phi[i] = -(float)t - (float)i;
    memcpy(row, &t, 8);
    memcpy(row + 8, move, 24);
    memcpy(row + 32, phi, 24);
    for (size_t i = 0; i < 5; i++)
        row[56 + i] = (char)(t + i);
    memcpy(row + 61, &flips, 8);
}

static struct series *series_with(uint64_t keep, uint64_t stop)
{
    struct series *series;
    char row[ROW];
    assert_int_equal(series_open(&series, part, columns, COLUMNS, keep), 0);
    assert_int_equal(series_row_bytes(series), ROW);
    for (uint64_t t = keep; t < stop; t++) {
        make_row(row, t);
        assert_int_equal(series_add(series, row), 0);
    }
    return series;
}

static void check_npz(uint64_t rows)
{
    struct npz *npz;
    size_t shape[NPZ_DIMS], ndim;
    double v[6];
    assert_int_equal(npz_open(&npz, out), 0);
    assert_int_equal(npz_find(npz, "step", shape, &ndim), 1);
    assert_true(ndim == 1 && shape[0] == rows);
    assert_int_equal(npz_find(npz, "layers.0.phi", shape, &ndim), 1);
    assert_true(ndim == 3 && shape[0] == rows && shape[1] == 2 && shape[2] == 3);
    for (uint64_t t = 0; t < rows; t += 1 + rows / 1000) {
        assert_int_equal(npz_read(npz, "step", v, t, 1), 0);
        assert_true(v[0] == (double)t);
        assert_int_equal(npz_read(npz, "layers.0.move", v, 3 * t, 3), 0);
        assert_true(v[0] == (double)t && v[2] == (double)t + 0.5);
        assert_int_equal(npz_read(npz, "layers.0.phi", v, 6 * t, 6), 0);
        assert_true(v[0] == -(double)t && v[5] == -(double)t - 5);
        assert_int_equal(npz_read(npz, "layers.0.pattern", v, 5 * t, 5), 0);
        assert_true(v[4] == (double)(uint8_t)(t + 4));
        assert_int_equal(npz_read(npz, "flips", v, t, 1), 0);
        assert_true(v[0] == (double)(7 * t + 1));
    }
    npz_free(npz);
}

static void rows_become_arrays(void **state)
{
    (void)state;
    static const uint64_t counts[] = {
        0, 1, 2, 100, (1 << 20) / ROW - 1, (1 << 20) / ROW, (1 << 20) / ROW + 1, 100003};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct series *series = series_with(0, counts[i]);
        assert_int_equal(series_save_npz(out, &series, 1, NULL, 0), 0);
        check_npz(counts[i]);
        char row[ROW], want[ROW];
        for (uint64_t t = 0; t < counts[i]; t += 1 + counts[i] / 10) {
            make_row(want, t);
            assert_int_equal(series_read_row(series, t, row), 0);
            assert_memory_equal(row, want, ROW);
        }
        assert_int_equal(series_read_row(series, counts[i], row), SPH_EARG);
        series_close(series);
    }
}

static void numpy_reads_the_columns(void **state)
{
    (void)state;
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0)
        skip_because("/usr/bin/python3 has no numpy");
    struct series *all[2] = {series_with(0, 1000)};
    static const struct series_column small = {"frame_step", "<u8", {0}, 0};
    assert_int_equal(series_open(&all[1], other, &small, 1, 0), 0);
    for (uint64_t t = 0; t < 3; t++)
        assert_int_equal(series_add(all[1], &(uint64_t){10 * t}), 0);
    double mean[2] = {0.5, -1};
    struct npz_array constant = {"x_mean", "<f8", {2}, 1, mean};
    assert_int_equal(series_save_npz(out, all, 2, &constant, 1), 0);
    series_close(all[0]);
    series_close(all[1]);
    unlink(other);
    char command[1024];
    snprintf(command, sizeof command,
             "/usr/bin/python3 -c \"\n"
             "import numpy as np\n"
             "z = np.load('%s'); t = np.arange(1000)\n"
             "assert list(z) == ['step', 'layers.0.move', 'layers.0.phi', 'layers.0.pattern', 'flips',\n"
             "                   'frame_step', 'x_mean'], list(z)\n"
             "assert (z['step'] == t).all() and z['step'].dtype == np.uint64\n"
             "assert (z['layers.0.move'] == t[:, None] + [0, .25, .5]).all()\n"
             "assert (z['layers.0.phi'] == -t[:, None, None] - np.arange(6).reshape(2, 3)).all()\n"
             "assert z['layers.0.phi'].dtype == np.float32\n"
             "assert (z['layers.0.pattern'] == (t[:, None, None] + np.arange(5)[:, None]) %% 256).all()\n"
             "assert (z['flips'] == 7 * t + 1).all() and z['frame_step'].tolist() == [0, 10, 20]\n"
             "assert z['x_mean'].tolist() == [.5, -1]\n"
             "\"",
             out);
    assert_int_equal(system(command), 0);
}

/* A row of three megabytes: more than is read or written at once. */
static void rows_larger_than_a_piece_go_through(void **state)
{
    (void)state;
    enum { WIDE = 3000001 };
    static const struct series_column wide[] = {
        {"a", "<u8", {0}, 0}, {"b", "|u1", {WIDE}, 1}, {"c", "<u8", {0}, 0}};
    struct series *series;
    char *row = mem_get(WIDE + 16, 1), *back = mem_get(WIDE + 16, 1);
    assert_int_equal(series_open(&series, part, wide, 3, 0), 0);
    for (uint64_t t = 0; t < 3; t++) {
        uint64_t last = 100 + t;
        memcpy(row, &t, 8);
        for (size_t i = 0; i < WIDE; i++)
            row[8 + i] = (char)(i * 7 + t);
        memcpy(row + 8 + WIDE, &last, 8);
        assert_int_equal(series_add(series, row), 0);
    }
    assert_int_equal(series_read_row(series, 2, back), 0);
    assert_memory_equal(row, back, WIDE + 16);
    assert_int_equal(series_save_npz(out, &series, 1, NULL, 0), 0);
    series_close(series);
    struct npz *npz;
    double v[3], *b = mem_get(WIDE, sizeof *b);
    assert_int_equal(npz_open(&npz, out), 0);
    assert_int_equal(npz_read(npz, "c", v, 0, 3), 0);
    assert_true(v[0] == 100 && v[2] == 102);
    assert_int_equal(npz_read(npz, "b", b, WIDE, WIDE), 0);
    for (size_t i = 0; i < WIDE; i++)
        assert_true(b[i] == (uint8_t)(i * 7 + 1));
    npz_free(npz);
    mem_free(b);
    mem_free(row);
    mem_free(back);
}

/* ---------------------------------------------------------------- going on */

static void a_series_that_is_cut_back_goes_on_in_the_same_bytes(void **state)
{
    (void)state;
    char *want, *have;
    size_t length, again;
    uint64_t rows = 0;
    struct series *series = series_with(0, 50);
    assert_int_equal(series_sync(series, &rows), 0);
    assert_int_equal(rows, 50);
    series_close(series);
    assert_int_equal(file_read(&want, &length, part), 0);
    for (uint64_t keep = 0; keep <= 50; keep += 10) {
        series = series_with(keep, 50);
        assert_int_equal(series_sync(series, NULL), 0);
        series_close(series);
        assert_int_equal(file_read(&have, &again, part), 0);
        assert_int_equal(again, length);
        assert_memory_equal(have, want, length);
        mem_free(have);
    }
    mem_free(want);
}

static void a_file_that_is_too_short_or_has_other_columns_is_refused_and_left(void **state)
{
    (void)state;
    struct series *series;
    struct stat info;
    series = series_with(0, 10);
    assert_int_equal(series_sync(series, NULL), 0);
    series_close(series);
    assert_int_equal(stat(part, &info), 0);
    off_t size = info.st_size;

    assert_fails(series_open(&series, part, columns, COLUMNS - 1, 5), SPH_EFORMAT, .path = part);
    assert_null(series);
    struct series_column changed[COLUMNS];
    memcpy(changed, columns, sizeof changed);
    changed[2].shape[0] = 3;
    assert_int_equal(series_open(&series, part, changed, COLUMNS, 5), SPH_EFORMAT);
    assert_int_equal(stat(part, &info), 0);
    assert_int_equal(info.st_size, size); /* nothing was cut */

    assert_fails(series_open(&series, part, columns, COLUMNS, 11), SPH_EIO, .path = part);
    assert_fails(series_open(&series, part, columns, COLUMNS, UINT64_MAX / 2), SPH_EFORMAT, .path = part);
    assert_fails(series_open(&series, other, columns, COLUMNS, 3), SPH_EIO, .path = other);
}

static void a_part_that_another_cut_short_is_told_when_it_is_saved(void **state)
{
    (void)state;
    struct series *series = series_with(0, 10);
    struct stat info;
    assert_int_equal(series_sync(series, NULL), 0);
    assert_int_equal(stat(part, &info), 0);
    assert_int_equal(truncate(part, info.st_size - 1), 0);
    assert_int_equal(file_replace_with(out, "old", 3), 0);
    assert_fails(series_save_npz(out, &series, 1, NULL, 0), SPH_EIO, .path = part);
    assert_int_equal(stat(out, &info), 0);
    assert_int_equal(info.st_size, 3);
    series_close(series);
}

/* ---------------------------------------------------------------- failures */

static int record_all(void)
{
    struct series *series;
    char row[ROW];
    int err = series_open(&series, part, columns, COLUMNS, 0);
    if (err)
        return err;
    for (uint64_t t = 0; t < 20 && !err; t++) {
        make_row(row, t);
        err = series_add(series, row);
        if (!err && t % 5 == 4)
            err = series_sync(series, NULL);
    }
    if (!err)
        err = series_save_npz(out, &series, 1, NULL, 0);
    series_close(series);
    return err;
}

static int is_whole_npz(void)
{
    struct npz *npz;
    if (npz_open(&npz, out) < 0)
        return 0;
    npz_free(npz);
    check_npz(20);
    return 1;
}

static int is_old(void)
{
    char *bytes;
    size_t length;
    assert_int_equal(file_read(&bytes, &length, out), 0);
    int old = length == 3 && !memcmp(bytes, "old", 3);
    mem_free(bytes);
    return old;
}

static void no_temporary_is_left(void)
{
    assert_int_equal(temporaries_in("/tmp", strrchr(out, '/') + 1, 0), 0);
}

static void a_failing_write_sync_or_rename_leaves_the_old_file_or_the_new(void **state)
{
    (void)state;
    int at = 0, err = 1, new_in_place = 0;
    while (err) {
        sys_plan(0, FAIL);
        assert_int_equal(file_replace_with(out, "old", 3), 0);
        sys_plan(++at, FAIL);
        err = record_all();
        if (err) {
            assert_fails(err, SPH_EIO);
            if (!is_old()) /* the sync of the directory, after the rename */
                new_in_place += is_whole_npz();
        }
        no_temporary_is_left();
    }
    assert_true(at > 10);
    assert_int_equal(new_in_place, 1);
    assert_true(is_whole_npz());
}

static void a_kill_at_any_write_leaves_rows_to_go_on_from(void **state)
{
    (void)state;
    int at = 0, status = 1;
    for (int action = KILL_BEFORE; action <= KILL_AFTER; action++)
        for (at = 0, status = 1; status;) {
            sys_plan(0, FAIL);
            assert_int_equal(file_replace_with(out, "old", 3), 0);
            sys_plan(++at, (enum action)action);
            pid_t child = fork();
            if (child == 0)
                _exit(record_all() != 0);
            assert_int_equal(waitpid(child, &status, 0), child);
            sys_plan(0, FAIL);
            assert_true(is_old() || is_whole_npz());
            /* whole rows: as many as were synced, at least */
            struct series *series;
            struct stat info;
            assert_int_equal(stat(part, &info), 0);
            if (info.st_size < 100 + ROW)
                continue;
            assert_int_equal(series_open(&series, part, columns, COLUMNS, 1), 0);
            char row[ROW], want[ROW];
            make_row(want, 0);
            assert_int_equal(series_read_row(series, 0, row), 0);
            assert_memory_equal(row, want, ROW);
            series_close(series);
        }
    assert_true(at > 10);
}

static void after_a_failed_write_adding_goes_on_failing(void **state)
{
    (void)state;
    struct series *series = series_with(0, 3);
    char row[ROW];
    make_row(row, 3);
    sys_plan(1, FAIL);
    assert_int_equal(series_sync(series, NULL), SPH_EIO);
    assert_fails(series_add(series, row), SPH_EIO, .path = part);
    assert_int_equal(series_save_npz(out, &series, 1, NULL, 0), SPH_EIO);
    series_close(series);
}

static void a_lack_of_memory_is_told(void **state)
{
    (void)state;
    size_t failures = 0;
    sys_plan(0, FAIL);
    assert_int_equal(file_replace_with(out, "old", 3), 0);
    for (int err = 1; err; failures++) {
        fault_after(failures);
        err = record_all();
        fault_off();
        if (err) {
            assert_int_equal(err, SPH_EMEMORY);
            assert_true(is_old());
        }
        no_temporary_is_left();
    }
    assert_true(failures > 5);
    assert_true(is_whole_npz());
}

/* ---------------------------------------------------------------- memory stays flat */

static long resident_most(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss; /* kilobytes */
}

static void memory_stays_flat_over_many_rows(void **state)
{
    (void)state;
    const char *sanitizer = getenv("SPH_SAN");
    if (sanitizer && *sanitizer)
        skip_because("a sanitizer keeps what was freed");
    struct series *series = series_with(0, 20000); /* the buffers have their size */
    assert_int_equal(series_save_npz(out, &series, 1, NULL, 0), 0);
    long before = resident_most();
    series_close(series);
    series = series_with(20000, 1000000); /* 69 MB */
    assert_int_equal(series_save_npz(out, &series, 1, NULL, 0), 0);
    long after = resident_most();
    print_message("%ld kB before, %ld kB after\n", before, after);
    assert_true(after - before < 1024);
    series_close(series);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_stays_flat_over_many_rows),
        cmocka_unit_test(rows_become_arrays),
        cmocka_unit_test(numpy_reads_the_columns),
        cmocka_unit_test(rows_larger_than_a_piece_go_through),
        cmocka_unit_test(a_series_that_is_cut_back_goes_on_in_the_same_bytes),
        cmocka_unit_test(a_file_that_is_too_short_or_has_other_columns_is_refused_and_left),
        cmocka_unit_test(a_part_that_another_cut_short_is_told_when_it_is_saved),
        cmocka_unit_test(a_failing_write_sync_or_rename_leaves_the_old_file_or_the_new),
        cmocka_unit_test(a_kill_at_any_write_leaves_rows_to_go_on_from),
        cmocka_unit_test(after_a_failed_write_adding_goes_on_failing),
        cmocka_unit_test(a_lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
