/* SPDX-License-Identifier: MIT
 *
 * Arrays in .npz: what is written is what we and numpy read, in the same bytes always; broken files are
 * refused with their message. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bad_list.h"
#include "file/file.h"
#include "base/memory.h"
#include "data_files.h"
#include "short_memory.h"
#include "spherelu.h"
#include "data/npz.h"
#include "failure.h"
#include "skip.h"

static char path[64];

static int begin(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/spherelu-npz-%d.npz", (int)getpid());
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static const double doubles[] = {1.5, -2, 1e300, 0, -0.0, 7};
static const float floats[] = {0.5f, -3, 1e30f};
static const uint64_t wholes[] = {0, 1, 4503599627370497, 9};
static const uint8_t bytes[24] = {0, 1, 255, 128, 7};

static const struct npz_array arrays[] = {
    {"layers.0.move", "<f8", {2, 3}, 2, doubles},
    {"x", "<f4", {3}, 1, floats},
    {"step", "<u8", {4}, 1, wholes},
    {"one", "<u8", {0}, 0, wholes + 2},
    {"bits", "|u1", {2, 3, 2, 2}, 4, bytes},
    {"none", "<f8", {0, 3}, 2, doubles},
    {"na\xc3\xafve", "|u1", {2}, 1, bytes},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

/* In pieces of this many bytes; 0: all at once. */
static int write_in(size_t piece)
{
    struct npz_writer *writer;
    int err = npz_writer_begin(&writer, path);
    for (size_t i = 0; i < ARRAYS && !err; i++) {
        size_t length = npz_array_bytes(&arrays[i]), part = piece ? piece : length;
        err = npz_writer_array(&writer, &arrays[i]);
        for (size_t at = 0; at < length && !err; at += part)
            err = npz_writer_data(&writer, (const char *)arrays[i].bytes + at,
                                  length - at < part ? length - at : part);
    }
    if (!err)
        err = npz_writer_commit(&writer);
    npz_writer_abort(&writer);
    return err;
}

static void check_all(struct npz *npz)
{
    size_t shape[4], ndim;
    double v[24];
    for (size_t i = 0; i < ARRAYS; i++) {
        assert_int_equal(npz_find(npz, arrays[i].name, shape, &ndim), 1);
        assert_int_equal(ndim, arrays[i].ndim);
        assert_memory_equal(shape, arrays[i].shape, ndim * sizeof *shape);
    }
    assert_int_equal(npz_read(npz, "layers.0.move", v, 0, 6), 0);
    assert_memory_equal(v, doubles, sizeof doubles);
    assert_int_equal(npz_read(npz, "layers.0.move", v, 4, 2), 0);
    assert_true(v[0] == 0 && v[1] == 7);
    assert_int_equal(npz_read(npz, "x", v, 0, 3), 0);
    assert_true(v[0] == 0.5 && v[1] == -3 && v[2] == (double)1e30f);
    assert_int_equal(npz_read(npz, "one", v, 0, 1), 0);
    assert_true(v[0] == 4503599627370497.0);
    assert_int_equal(npz_read(npz, "bits", v, 0, 24), 0);
    for (size_t i = 0; i < 24; i++)
        assert_true(v[i] == bytes[i]);
    assert_int_equal(npz_read(npz, "none", v, 0, 0), 0);
    assert_int_equal(npz_read(npz, "na\xc3\xafve", v, 1, 1), 0);
    assert_true(v[0] == 1);
    assert_int_equal(npz_find(npz, "layers.0", NULL, NULL), 0);
    assert_int_equal(npz_find(npz, "x", NULL, NULL), 1);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const size_t pieces[] = {0, 1, 7, 16};
    for (size_t i = 0; i < 4; i++) {
        struct npz *npz;
        assert_int_equal(write_in(pieces[i]), 0);
        assert_int_equal(npz_open(&npz, path), 0);
        check_all(npz);
        npz_free(npz);
    }
}

static void the_same_arrays_give_the_same_bytes_at_any_time_and_place(void **state)
{
    (void)state;
    char *first, *second;
    size_t length, other;
    setenv("TZ", "UTC", 1);
    tzset();
    assert_int_equal(write_in(0), 0);
    assert_int_equal(file_read(&first, &length, path), 0);
    setenv("TZ", "Pacific/Auckland", 1);
    tzset();
    assert_int_equal(write_in(5), 0);
    assert_int_equal(file_read(&second, &other, path), 0);
    unsetenv("TZ");
    tzset();
    assert_int_equal(length, other);
    assert_memory_equal(first, second, length);
    assert_memory_equal(first + 10, "\0\0\x21\0", 4); /* when: midnight, 1 January 1980 */
    mem_free(first);
    mem_free(second);
}

static void numpy_reads_it(void **state)
{
    (void)state;
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0)
        skip_because("/usr/bin/python3 has no numpy");
    char command[1024];
    assert_int_equal(write_in(0), 0);
    snprintf(
        command, sizeof command,
        "/usr/bin/python3 -c \"\n"
        "import numpy as np\n"
        "z = np.load('%s')\n"
        "assert list(z) == ['layers.0.move', 'x', 'step', 'one', 'bits', 'none', 'na\\u00efve'], list(z)\n"
        "a = z['layers.0.move']; assert a.dtype == np.float64\n"
        "assert (a == [[1.5, -2, 1e300], [0, 0, 7]]).all() and np.signbit(a[1, 1])\n"
        "assert z['x'].dtype == np.float32 and z['x'][2] == np.float32(1e30)\n"
        "assert z['step'].dtype == np.uint64 and z['step'].tolist() == [0, 1, 4503599627370497, 9]\n"
        "assert z['one'].shape == () and z['one'] == 4503599627370497\n"
        "assert z['bits'].shape == (2, 3, 2, 2) and z['bits'].ravel()[:5].tolist() == [0, 1, 255, 128, 7]\n"
        "assert z['none'].shape == (0, 3)\n"
        "\"",
        path);
    assert_int_equal(system(command), 0);
}

static void what_is_not_there_is_told(void **state)
{
    (void)state;
    struct npz *npz;
    double v[8];
    assert_int_equal(write_in(0), 0);
    assert_int_equal(npz_open(&npz, path), 0);
    assert_fails(npz_read(npz, "nothing", v, 0, 1), SPH_EARG, .key = "nothing", .path = path);
    assert_fails(npz_read(npz, "x", v, 2, 2), SPH_EARG, .key = "x", .path = path);
    assert_int_equal(npz_read(npz, "x", v, SIZE_MAX, 2), SPH_EARG);
    assert_int_equal(npz_read(npz, "x", v, 3, 0), 0);
    npz_free(npz);
    unlink(path);
    assert_fails(npz_open(&npz, path), SPH_EIO, .path = path);
    assert_null(npz);
}

/* ---------------------------------------------------------------- broken files */

/* Opens the file and reads all of its array a. */
static int try_file(const char *name)
{
    struct npz *npz;
    size_t shape[NPZ_DIMS], ndim, count = 1;
    int err = npz_open(&npz, name);
    if (err < 0) {
        assert_null(npz);
        return err;
    }
    if (npz_find(npz, "a", shape, &ndim))
        for (size_t i = 0; i < ndim; i++)
            count *= shape[i];
    double v[400];
    err = npz_read(npz, "a", v, 0, count < 400 ? count : 400);
    npz_free(npz);
    return err;
}

static void broken_files_give_their_failures(void **state)
{
    (void)state;
    static const char folder[] = SPH_TESTS_DIR "/bad/npz";
    size_t present = 0;
    struct bad_list list = bad_list("npz");
    for (char *column[5], name[1024]; bad_list_next(&list, column, 5);) {
        snprintf(name, sizeof name, "%s/%s", folder, column[0]);
        bad_list_check(&list, try_file(name), column, 5, name);
    }
    bad_list_end(&list, 40);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; (entry = readdir(entries));)
        present += strstr(entry->d_name, ".npz") != NULL;
    closedir(entries);
    assert_int_equal(list.cases, present); /* a file without a line would never be tried */
}

static void a_file_cut_anywhere_or_with_any_byte_changed_is_read_or_refused_but_never_overrun(void **state)
{
    (void)state;
    char *whole;
    size_t length, refused = 0;
    assert_int_equal(file_read(&whole, &length, SPH_TESTS_DIR "/bad/npz/ok.npz"), 0);
    for (size_t cut = 0; cut < length; cut++) {
        const char *name = file_with(".npz", whole, cut);
        assert_int_equal(try_file(name), SPH_EFORMAT);
        unlink(name);
    }
    for (size_t i = 0; i < length; i++)
        for (int bit = 0; bit < 8; bit += 7) {
            whole[i] ^= (char)(1 << bit);
            const char *name = file_with(".npz", whole, length);
            refused += try_file(name) < 0;
            unlink(name);
            whole[i] ^= (char)(1 << bit);
        }
    assert_in_range(refused, length, 2 * length);
    mem_free(whole);
}

/* ---------------------------------------------------------------- memory */

static int open_and_read(void)
{
    struct npz *npz;
    double v[24];
    int err = npz_open(&npz, path);
    if (!err) {
        err = npz_read(npz, "bits", v, 0, 24);
        npz_free(npz);
    }
    return err;
}

static int try_deflated(void)
{
    return try_file(SPH_TESTS_DIR "/bad/npz/ok-deflated.npz");
}

static void a_lack_of_memory_is_told_and_leaves_the_old_file(void **state)
{
    (void)state;
    int count, err;
    char *before;
    size_t length;
    assert_int_equal(file_replace_with(path, "old", 3), 0);
    SHORT_OF_MEMORY(count, err, {
        err = write_in(0);
        short_memory.fail = 0;
        assert_int_equal(file_read(&before, &length, path), 0);
        assert_int_equal(err ? length == 3 : length > 3, 1);
        mem_free(before);
    });
    assert_true(count >= 3);
    SHORT_OF_MEMORY(count, err, err = open_and_read());
    assert_true(count >= 10);
    SHORT_OF_MEMORY(count, err, err = try_deflated());
    assert_true(count >= 7);
}

/* The processor's time that opening a file of so many arrays takes; twice: the last one's name is the first one's. */
static double seconds_to_open(int many, int twice)
{
    struct npz *npz = NULL;
    struct npz_writer *writer;
    assert_int_equal(npz_writer_begin(&writer, path), 0);
    for (int i = 0; i < many; i++) {
        struct npz_array array = {.type = "|u1", .shape = {1}, .ndim = 1, .bytes = bytes};
        snprintf(array.name, sizeof array.name, "array number %d", twice && i == many - 1 ? 0 : i);
        assert_int_equal(npz_writer_array(&writer, &array), 0);
        assert_int_equal(npz_writer_data(&writer, bytes, 1), 0);
    }
    assert_int_equal(npz_writer_commit(&writer), 0);
    clock_t began = clock();
    if (twice)
        assert_fails(npz_open(&npz, path), SPH_EFORMAT, .path = path, .key = "array number 0");
    else
        assert_int_equal(npz_open(&npz, path), 0);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    npz_free(npz);
    return seconds;
}

/* Sixteen times as many take about sixteen times as long, not 256 times. */
static void very_many_arrays_are_looked_at_once(void **state)
{
    (void)state;
    enum { MANY = 9600, TIMES = 16 }; /* 10,000 are the most that a file may hold */
    for (int twice = 0; twice < 2; twice++)
        assert_true(seconds_to_open(MANY, twice) < 5 * TIMES * seconds_to_open(MANY / TIMES, twice));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_same_arrays_give_the_same_bytes_at_any_time_and_place),
        cmocka_unit_test(numpy_reads_it),
        cmocka_unit_test(what_is_not_there_is_told),
        cmocka_unit_test(broken_files_give_their_failures),
        cmocka_unit_test(a_file_cut_anywhere_or_with_any_byte_changed_is_read_or_refused_but_never_overrun),
        cmocka_unit_test(a_lack_of_memory_is_told_and_leaves_the_old_file),
        cmocka_unit_test(very_many_arrays_are_looked_at_once),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
