/* SPDX-License-Identifier: MIT
 *
 * safetensors: what is written comes back, what the format forbids is refused by name, and a failing disk or
 * memory leaves nothing behind. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "bad_list.h"
#include "base/error.h"
#include "file/file.h"
#include "file/file_sys.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/safetensors.h"
#include "failure.h"
#include "fault_system.h"
#include "short_memory.h"

/* ---------------------------------------------------------------- jansson's memory, made to fail */

static int gets, fail_get;

static void *json_get(size_t size)
{
    return ++gets == fail_get ? NULL : malloc(size);
}

/* ---------------------------------------------------------------- a folder */

static char dir[64], path[80];

static int make_folder(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/spherelu-st-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/m.safetensors", dir);
    gets = fail_get = 0;
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *list = opendir(dir);
    for (struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

/* Reads the file at path and, where it opens, touches every byte that it hands out. */
static unsigned touch(const char *name)
{
    struct safetensors file;
    unsigned sum = 0;
    if (safetensors_open(&file, name) < 0) {
        safetensors_close(&file);
        return 0;
    }
    for (size_t i = 0; i < file.count; i++) {
        const struct st_tensor *tensor = &file.tensor[i];
        for (size_t k = 0; k < tensor->bytes; k++)
            sum += ((const unsigned char *)tensor->data)[k];
        double *values = mem_get(tensor->count, sizeof *values);
        sum += (unsigned)safetensors_to_double(tensor, values);
        mem_free(values);
        assert_ptr_equal(safetensors_find(&file, tensor->name), tensor);
    }
    safetensors_close(&file);
    return sum;
}

/* ---------------------------------------------------------------- round trips */

static const unsigned char bytes64[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 251, 252, 0, 0, 128, 63};

static void every_dtype_and_shape_comes_back(void **state)
{
    (void)state;
    static const size_t two[] = {2}, none[] = {3, 0, 2}, eight[] = {1, 2, 1, 1, 1, 1, 1, 1};
    struct st_item items[ST_DTYPE_COUNT * 4];
    char names[ST_DTYPE_COUNT * 4][16];
    size_t count = 0;
    for (int d = 0; d < ST_DTYPE_COUNT; d++)
        for (int kind = 0; kind < 4; kind++, count++) {
            snprintf(names[count], sizeof names[count], "%d.%s", kind, st_dtype_name((enum st_dtype)d));
            items[count] = (struct st_item){
                .name = names[count],
                .dtype = (enum st_dtype)d,
                .shape = kind == 0   ? NULL
                         : kind == 1 ? two
                         : kind == 2 ? none
                                     : eight,
                .ndim = kind == 0   ? 0
                        : kind == 1 ? 1
                        : kind == 2 ? 3
                                    : 8,
                .data = bytes64 + count % 8,
            };
        }
    static const struct st_meta meta[] = {
        {"spherelu", "{\"a\": [1, \"two\"]}"}, {"", ""}, {"é\n\"\\", "日本 😀"}};
    assert_int_equal(safetensors_write(path, items, count, meta, 3), 0);

    struct safetensors file;
    assert_int_equal(safetensors_open(&file, path), 0);
    assert_int_equal(file.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct st_tensor *tensor = safetensors_find(&file, items[i].name);
        assert_non_null(tensor);
        assert_int_equal(tensor->dtype, items[i].dtype);
        assert_int_equal(tensor->ndim, items[i].ndim);
        size_t elements = 1;
        for (size_t k = 0; k < tensor->ndim; k++) {
            assert_int_equal(tensor->shape[k], items[i].shape[k]);
            elements *= tensor->shape[k];
        }
        assert_int_equal(tensor->count, elements);
        assert_int_equal(tensor->bytes, elements * st_dtype_size(tensor->dtype));
        assert_memory_equal(tensor->data, items[i].data, tensor->bytes);
    }
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(safetensors_metadata(&file, meta[i].key), meta[i].value);
    assert_null(safetensors_metadata(&file, "other"));
    assert_null(safetensors_find(&file, "other"));
    safetensors_close(&file);
    safetensors_close(&file);
}

static void names_with_quotes_and_other_scripts_come_back_in_the_given_order(void **state)
{
    (void)state;
    static const char *const names[] = {"z", "a\"b\\c/d", "tab\tnewline\n", "größe", "重み",
                                        "😀", "",          "layers.0.theta"};
    enum { COUNT = sizeof names / sizeof *names };
    struct st_item items[COUNT];
    static const size_t shape[] = {3};
    for (size_t i = 0; i < COUNT; i++)
        items[i] = (struct st_item){names[i], ST_U8, shape, 1, bytes64 + i};
    assert_int_equal(safetensors_write(path, items, COUNT, NULL, 0), 0);
    struct safetensors file;
    assert_int_equal(safetensors_open(&file, path), 0);
    assert_int_equal(file.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_string_equal(file.tensor[i].name, names[i]);
        assert_memory_equal(file.tensor[i].data, bytes64 + i, 3);
    }
    safetensors_close(&file);
}

static void header_is_padded_so_that_data_are_aligned(void **state)
{
    (void)state;
    for (size_t length = 1; length <= 9; length++) {
        char name[16] = "";
        memset(name, 'n', length);
        struct st_item item = {name, ST_F64, NULL, 0, bytes64};
        assert_int_equal(safetensors_write(path, &item, 1, NULL, 0), 0);
        char *bytes;
        size_t size;
        uint64_t header;
        assert_int_equal(file_read(&bytes, &size, path), 0);
        memcpy(&header, bytes, 8);
        assert_int_equal(header % 8, 0);
        assert_int_equal(size, 8 + header + 8);
        assert_int_equal(bytes[8], '{');
        mem_free(bytes);
    }
}

static int numbers_from(void *self, size_t item, const void **data)
{
    size_t *calls = self;
    ++*calls;
    *data = bytes64 + 24 * item;
    return item == 2 ? SPH_EARG : 0;
}

static int collect(void *self, const void *bytes, size_t length)
{
    text_add_bytes(self, bytes, length);
    return 0;
}

static void data_may_come_from_a_function_and_go_to_a_sink(void **state)
{
    (void)state;
    static const size_t shape[] = {2, 3};
    struct st_item items[] = {{"a", ST_F32, shape, 2, bytes64}, {"b", ST_I16, shape, 2, bytes64 + 24}};
    assert_int_equal(safetensors_write(path, items, 2, NULL, 0), 0);
    char *whole;
    size_t length, calls = 0;
    assert_int_equal(file_read(&whole, &length, path), 0);
    items[0].data = items[1].data = NULL;
    struct text pieces = {0};
    struct st_file file = {.items = items, .count = 2, .numbers = numbers_from, .self = &calls};
    assert_int_equal(safetensors_save("", &(sph_sink){&pieces, collect}, &file), 0);
    assert_int_equal(calls, 2);
    assert_int_equal(pieces.length, length);
    assert_memory_equal(pieces.chars, whole, length);
    text_free(&pieces);
    mem_free(whole);
}

/* ---------------------------------------------------------------- values */

static void check_values(enum st_dtype dtype, const void *data, size_t count, const double *expected,
                         const char *key)
{
    /* one byte in front makes every type unaligned */
    struct st_item items[] = {{"pad", ST_U8, NULL, 0, bytes64}, {"t", dtype, &count, 1, data}};
    assert_int_equal(safetensors_write(path, items, 2, NULL, 0), 0);
    struct safetensors file;
    assert_int_equal(safetensors_open(&file, path), 0);
    double values[8] = {0};
    int err = safetensors_to_double(safetensors_find(&file, "t"), values);
    if (key) {
        assert_fails(err, SPH_EFORMAT, .key = key, .path = path);
    } else {
        assert_int_equal(err, 0);
        assert_memory_equal(values, expected, count * sizeof *values);
    }
    safetensors_close(&file);
}

static void values_are_exact_or_refused(void **state)
{
    (void)state;
    static const double wide[] = {0.1, -1e300, 5e-324, INFINITY};
    check_values(ST_F64, wide, 4, wide, NULL);
    static const float narrow[] = {0.1f, -1e30f, 1e-45f};
    check_values(ST_F32, narrow, 3, (double[]){0.1f, -1e30f, 1e-45f}, NULL);
    static const enum st_dtype others[] = {ST_I8,  ST_U8,  ST_I16, ST_U16, ST_I32,
                                           ST_U32, ST_I64, ST_U64, ST_BOOL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_values(others[i], (uint64_t[]){1}, 1, NULL, "t");
    check_values(ST_F16, (uint16_t[]){0x3c00, 0xc000, 0x0001, 0x83ff, 0x0400, 0x7bff, 0x7c00, 0x3555}, 8,
                 (double[]){1, -2, 0x1p-24, -0x3ffp-24, 0x1p-14, 65504, INFINITY, 0x1.554p-2}, NULL);
    check_values(ST_BF16, (uint16_t[]){0x3f80, 0xc000, 0x0001, 0x7f7f, 0xff80, 0x3eab}, 6,
                 (double[]){1, -2, 0x1p-133, 0x1.fep127, -INFINITY, 0x1.56p-2}, NULL);
}

/* All that are finite and not negative: counted up from 0 they grow by one unit of the last place of their
 * binade. */
static void every_half_is_exact(void **state)
{
    (void)state;
    static uint16_t halves[0x7c00];
    static double values[0x7c00];
    size_t count = 0x7c00;
    for (size_t i = 0; i < count; i++)
        halves[i] = (uint16_t)i;
    struct st_item item = {"t", ST_F16, &count, 1, halves};
    struct safetensors file;
    assert_int_equal(safetensors_write(path, &item, 1, NULL, 0), 0);
    assert_int_equal(safetensors_open(&file, path), 0);
    assert_int_equal(safetensors_to_double(safetensors_find(&file, "t"), values), 0);
    double expected = 0, step = 0x1p-24;
    for (size_t i = 0; i < count; i++) {
        if (i >= 2048 && i % 1024 == 0)
            step *= 2;
        assert_true(values[i] == expected);
        expected += step;
    }
    safetensors_close(&file);
}

/* ---------------------------------------------------------------- broken files */

static void each_broken_file_gives_its_failure(void **state)
{
    (void)state;
    static const char folder[] = SPH_TESTS_DIR "/bad/safetensors";
    size_t present = 0;
    struct bad_list list = bad_list("safetensors");
    for (char *column[5], name[1024]; bad_list_next(&list, column, 5);) {
        snprintf(name, sizeof name, "%s/%s", folder, column[0]);
        struct safetensors file;
        int err = safetensors_open(&file, name);
        bad_list_check(&list, err, column, 5, name);
        assert_true(!err || !file.count);
        safetensors_close(&file);
        touch(name);
    }
    bad_list_end(&list, 50);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; (entry = readdir(entries));)
        present += strstr(entry->d_name, ".safetensors") != NULL;
    closedir(entries);
    assert_int_equal(list.cases, present); /* a file without a line would never be tried */
}

static void a_missing_file_is_an_input_output_failure(void **state)
{
    (void)state;
    struct safetensors file;
    assert_fails(safetensors_open(&file, path), SPH_EIO, .path = path);
}

static void cut_anywhere_or_with_any_byte_changed_a_file_is_read_or_refused_but_never_overrun(void **state)
{
    (void)state;
    static const size_t shape[] = {2, 2};
    struct st_item items[] = {{"a", ST_F32, shape, 2, bytes64}, {"b", ST_U8, shape, 2, bytes64 + 16}};
    struct st_meta meta = {"k", "v"};
    assert_int_equal(safetensors_write(path, items, 2, &meta, 1), 0);
    char *good, name[96];
    size_t length;
    assert_int_equal(file_read(&good, &length, path), 0);
    snprintf(name, sizeof name, "%s/x.safetensors", dir);
    char *bad = malloc(length);
    for (size_t cut = 0; cut < length; cut++) {
        FILE *out = fopen(name, "wb");
        fwrite(good, 1, cut, out);
        fclose(out);
        struct safetensors file;
        assert_int_equal(safetensors_open(&file, name), SPH_EFORMAT);
    }
    static const char changes[] = {0, '0', '9', '-', '"', '{', ' ', 'a', (char)0xff};
    for (size_t at = 0; at < length; at++)
        for (size_t c = 0; c < sizeof changes; c++) {
            memcpy(bad, good, length);
            bad[at] = changes[c];
            FILE *out = fopen(name, "wb");
            fwrite(bad, 1, length, out);
            fclose(out);
            touch(name);
        }
    free(bad);
    mem_free(good);
}

/* ---------------------------------------------------------------- writing that fails */

static void a_writer_refuses_what_the_format_cannot_hold(void **state)
{
    (void)state;
    static const size_t one[] = {1}, huge[] = {(size_t)1 << 61, 4}, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct st_item twice[] = {{"a", ST_U8, one, 1, bytes64}, {"a", ST_U8, one, 1, bytes64}};
    assert_fails(safetensors_write(path, twice, 2, NULL, 0), SPH_EARG, .key = "a", .path = path);
    struct st_item item = {"__metadata__", ST_U8, one, 1, bytes64};
    assert_fails(safetensors_write(path, &item, 1, NULL, 0), SPH_EARG, .key = "__metadata__", .path = path);
    static const char *const not_utf8[] = {
        "caf\xe9",  "\x80", "\xc0\x80",         "\xed\xa0\x80",        "\xf4\x90\x80\x80",
        "\xe2\x82", "\xff", "\xf0\x80\x80\x80", "\xf8\x88\x80\x80\x80"};
    for (size_t i = 0; i < sizeof not_utf8 / sizeof *not_utf8; i++) {
        item.name = not_utf8[i];
        assert_fails(safetensors_write(path, &item, 1, NULL, 0), SPH_EARG, .key = not_utf8[i], .path = path);
        struct st_meta meta = {"k", not_utf8[i]};
        assert_fails(safetensors_write(path, NULL, 0, &meta, 1), SPH_EARG, .key = "k", .path = path);
    }
    item = (struct st_item){"h", ST_U8, huge, 2, bytes64};
    assert_fails(safetensors_write(path, &item, 1, NULL, 0), SPH_EARG, .key = "h", .path = path);
    item = (struct st_item){"n", ST_U8, nine, 9, bytes64};
    assert_fails(safetensors_write(path, &item, 1, NULL, 0), SPH_EARG, .key = "n", .path = path);
    struct st_meta metas[] = {{"k", "1"}, {"k", "2"}};
    assert_fails(safetensors_write(path, NULL, 0, metas, 2), SPH_EARG, .key = "k", .path = path);

    struct st_item three[] = {
        {"a", ST_U8, one, 1, bytes64}, {"b", ST_U8, one, 1, bytes64}, {"c", ST_U8, one, 1, NULL}};
    size_t calls = 0;
    assert_int_equal(
        safetensors_save(
            path, NULL,
            &(struct st_file){.items = three, .count = 3, .numbers = numbers_from, .self = &calls}),
        SPH_EARG);
    assert_int_equal(files_in_folder(), 0);
}

static int write_sample(void)
{
    static const size_t shape[] = {2, 2};
    struct st_item items[] = {{"a", ST_F32, shape, 2, bytes64}, {"b", ST_U8, shape, 2, bytes64 + 16}};
    struct st_meta meta[] = {{"k", "v"}, {"l", "w"}};
    return safetensors_write(path, items, 2, meta, 2);
}

static void a_full_disk_at_any_write_leaves_the_old_file(void **state)
{
    (void)state;
    struct safetensors file;
    assert_int_equal(safetensors_write(path, NULL, 0, NULL, 0), 0);
    enum { CALLS = 5 }; /* length, header, two tensors, sync */
    for (int at = 1; at <= CALLS + 1; at++) {
        sys_plan(at <= CALLS ? at : 0, FAIL);
        int err = write_sample();
        sys_plan(0, FAIL);
        if (at <= CALLS)
            assert_fails(err, SPH_EIO, .path = path);
        else
            assert_int_equal(err, 0);
        assert_int_equal(files_in_folder(), 1);
        assert_int_equal(safetensors_open(&file, path), 0);
        assert_int_equal(file.count, err ? 0 : 2);
        safetensors_close(&file);
    }
}

static void each_allocation_of_our_own_may_fail(void **state)
{
    (void)state;
    int failures, err;
    SHORT_OF_MEMORY(failures, err, err = write_sample(); assert_int_equal(files_in_folder(), err ? 0 : 1));
    assert_true(failures >= 4);
    struct safetensors file;
    SHORT_OF_MEMORY(failures, err, err = safetensors_open(&file, path));
    assert_true(failures >= 3);
    assert_int_equal(file.count, 2);
    safetensors_close(&file);
}

static void each_allocation_of_jansson_may_fail(void **state)
{
    (void)state;
    json_malloc_t held_get;
    json_free_t held_free;
    json_get_alloc_funcs(&held_get, &held_free);
    json_set_alloc_funcs(json_get, free);
    int err = -1, at = 0;
    while (err) {
        gets = 0;
        fail_get = ++at;
        err = write_sample();
        if (err && (err != SPH_EMEMORY || sph_failure()->code != SPH_EMEMORY))
            break;
        if (err && files_in_folder())
            break;
    }
    assert_int_equal(err, 0);
    assert_true(at > 20);
    struct safetensors file;
    int short_of = 0;
    for (err = -1, at = 0; err;) {
        gets = 0;
        fail_get = ++at;
        err = safetensors_open(&file, path);
        /* while it copies a string jansson calls the string unexpected */
        if (err && err != SPH_EMEMORY && err != SPH_EFORMAT)
            break;
        short_of += err == SPH_EMEMORY;
    }
    json_set_alloc_funcs(held_get, held_free);
    assert_int_equal(err, 0);
    assert_true(short_of > 10);
    assert_int_equal(file.count, 2);
    safetensors_close(&file);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(every_dtype_and_shape_comes_back),
        in_a_folder(names_with_quotes_and_other_scripts_come_back_in_the_given_order),
        in_a_folder(header_is_padded_so_that_data_are_aligned),
        in_a_folder(data_may_come_from_a_function_and_go_to_a_sink),
        in_a_folder(values_are_exact_or_refused),
        in_a_folder(every_half_is_exact),
        in_a_folder(each_broken_file_gives_its_failure),
        in_a_folder(a_missing_file_is_an_input_output_failure),
        in_a_folder(cut_anywhere_or_with_any_byte_changed_a_file_is_read_or_refused_but_never_overrun),
        in_a_folder(a_writer_refuses_what_the_format_cannot_hold),
        in_a_folder(a_full_disk_at_any_write_leaves_the_old_file),
        in_a_folder(each_allocation_of_our_own_may_fail),
        in_a_folder(each_allocation_of_jansson_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
