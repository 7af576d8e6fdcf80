/* SPDX-License-Identifier: MIT
 *
 * NPY and NPZ: every type, order and version that numpy writes, and files that are not what they say. */
#include <math.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>

#include "base/memory.h"
#include "data/open.h"
#include "data/sheet.h"
#include "data_files.h"
#include "failure.h"
#include "spherelu.h"

struct bytes {
    unsigned char at[4096];
    size_t length;
};

/* An NPY file of version major with this header dict and these numbers. */
static struct bytes npy(int major, const char *dict, const void *numbers, size_t length)
{
    struct bytes file = {.length = major == 1 ? 10 : 12};
    size_t header = (strlen(dict) + file.length + 1 + 63) / 64 * 64 - file.length;
    memcpy(file.at, "\x93NUMPY", 6);
    file.at[6] = (unsigned char)major;
    file.at[8] = header & 0xff;
    file.at[9] = (unsigned char)(header >> 8);
    memset(file.at + file.length, ' ', header);
    memcpy(file.at + file.length, dict, strlen(dict));
    file.at[file.length + header - 1] = '\n';
    file.length += header;
    memcpy(file.at + file.length, numbers, length);
    file.length += length;
    return file;
}

static struct bytes npy_f8(const char *shape, const double *numbers, size_t count)
{
    char dict[128];
    snprintf(dict, sizeof dict, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape);
    return npy(1, dict, numbers, count * sizeof *numbers);
}

static void every_type_and_byte_order_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        size_t size;
        double expected[3];
        unsigned char bytes[24];
    } cases[] = {
        {"|b1", 1, {1, 0, 1}, {1, 0, 2}},
        {"|i1", 1, {-1, 127, -128}, {0xff, 0x7f, 0x80}},
        {"|u1", 1, {255, 127, 128}, {0xff, 0x7f, 0x80}},
        {"<i2", 2, {-2, 258, 1}, {0xfe, 0xff, 2, 1, 1, 0}},
        {">i2", 2, {-2, 258, 1}, {0xff, 0xfe, 1, 2, 0, 1}},
        {"<u2", 2, {65534, 258, 1}, {0xfe, 0xff, 2, 1, 1, 0}},
        {"<i4", 4, {-2, 1, 0}, {0xfe, 0xff, 0xff, 0xff, 1}},
        {">u4", 4, {4294967294.0, 1, 0}, {0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 1}},
        {"<i8", 8, {-2, 1, 0}, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
        {">u8", 8, {1, 256, 0}, {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}},
        {"<f4", 4, {1.5, -2, 0}, {0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0}},
        {">f4", 4, {1.5, -2, 0}, {0x3f, 0xc0, 0, 0, 0xc0}},
        {"<f8", 8, {1.5, -2, 0}, {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}},
        {">f8", 8, {1.5, -2, 0}, {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int major = 1; major <= 3; major++) {
            char dict[128];
            snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (3,)}",
                     cases[i].descr);
            struct bytes file = npy(major, dict, cases[i].bytes, 3 * cases[i].size);
            struct array array;
            assert_int_equal(npy_parse(&array, file.at, file.length, "t"), 0);
            assert_int_equal(array.rows, 3);
            assert_int_equal(array.columns, 1);
            for (size_t k = 0; k < 3; k++)
                assert_true(array_at(&array, k, 0) == cases[i].expected[k]);
        }
}

static void an_npy_file_is_a_table_without_header_in_either_order(void **state)
{
    (void)state;
    static const double by_row[] = {1, 2, 3, 4, NAN, 6, 7, 8, 9}, by_column[] = {1, 4, 7, 2, NAN, 8, 3, 6, 9};
    for (int fortran = 0; fortran < 2; fortran++) {
        char dict[128];
        snprintf(dict, sizeof dict, "{'descr': '<f8', 'fortran_order': %s, 'shape': (3L, 3L), }",
                 fortran ? "True" : "False");
        struct bytes file = npy(1, dict, fortran ? by_column : by_row, sizeof by_row);
        const char *path = file_with(".npy", file.at, file.length);
        sph_data *data;
        assert_int_equal(sph_data_open(&data, path, NULL), 0);
        unlink(path);
        assert_int_equal(sph_data_rows(data), 3);
        assert_int_equal(sph_data_features(data), 2);
        const double *x = sph_data_x(data), *y = sph_data_y(data);
        assert_true(x[0] == 1 && x[1] == 2 && x[2] == 4 && isnan(x[3]) && x[4] == 7 && x[5] == 8);
        assert_true(y[0] == 3 && y[1] == 6 && y[2] == 9);
        sph_data_free(data);
    }
}

/* ---------------------------------------------------------------- npz */

static const char *npz_with(int deflated, size_t count, const char *const *names, const struct bytes *files)
{
    char zip[1 << 16];
    size_t used = 0;
    struct archive *out = archive_write_new();
    archive_write_set_format_zip(out);
    archive_write_set_options(out, deflated ? "zip:compression=deflate" : "zip:compression=store");
    assert_int_equal(archive_write_open_memory(out, zip, sizeof zip, &used), ARCHIVE_OK);
    for (size_t i = 0; i < count; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, names[i]);
        archive_entry_set_size(entry, (la_int64_t)files[i].length);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
        assert_int_equal(archive_write_data(out, files[i].at, files[i].length), files[i].length);
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(out), ARCHIVE_OK);
    archive_write_free(out);
    return file_with(".npz", zip, used);
}

static const double six[] = {1, 2, 3, 4, 5, 6};

static void an_npz_file_holds_features_and_targets(void **state)
{
    (void)state;
    const char *const names[][3] = {{"x.npy", "y.npy", "other.npy"}, {"labels.npy", "mean.npy", "data.npy"}};
    struct bytes x = npy_f8("(3, 2)", six, 6), y = npy_f8("(3,)", six, 3), y2 = npy_f8("(3, 2)", six, 6);
    struct bytes files[][3] = {{x, y, y}, {y, y, x}};
    for (int i = 0; i < 2; i++)
        for (int deflated = 0; deflated < 2; deflated++) {
            const char *path = npz_with(deflated, 3, names[i], files[i]);
            sph_data *data;
            if (sph_data_open(&data, path, NULL) < 0)
                fail_msg("%s", sph_error());
            unlink(path);
            assert_int_equal(sph_data_features(data), 2);
            assert_int_equal(data->targets, 1);
            assert_memory_equal(sph_data_x(data), six, sizeof six);
            assert_memory_equal(sph_data_y(data), six, 3 * sizeof *six);
            sph_data_free(data);
        }
    const char *path = npz_with(1, 2, names[0], (struct bytes[]){x, y2});
    sph_data *data;
    assert_int_equal(sph_data_open(&data, path, NULL), 0);
    assert_int_equal(data->targets, 2);
    assert_string_equal(data_target_name(data, 1), "y1");

    json_t *schema; /* predicting takes a file without y */
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    unlink(path);
    path = npz_with(1, 1, names[0], &x);
    assert_int_equal(data_open_like(&data, path, schema, 0, NULL), 0);
    assert_int_equal(sph_data_rows(data), 3);
    sph_data_free(data);
    assert_int_equal(data_open_like(&data, path, schema, 1, NULL), SPH_EFORMAT);
    unlink(path);
    json_decref(schema);
}

/* An .npz of x with this header dict and so many zeroes behind it, which take next to no room. */
static const char *bomb(const char *dict, size_t zeroes)
{
    static char zip[1 << 20];
    static const char piece[1 << 16];
    struct bytes head = npy(1, dict, "", 0);
    size_t used = 0;
    struct archive *out = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    archive_write_set_format_zip(out);
    archive_write_set_options(out, "zip:compression=deflate");
    assert_int_equal(archive_write_open_memory(out, zip, sizeof zip, &used), ARCHIVE_OK);
    archive_entry_set_pathname(entry, "x.npy");
    archive_entry_set_size(entry, (la_int64_t)(head.length + zeroes));
    archive_entry_set_filetype(entry, AE_IFREG);
    assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
    archive_write_data(out, head.at, head.length);
    for (size_t i = 0; i < zeroes; i += sizeof piece)
        archive_write_data(out, piece, sizeof piece);
    archive_entry_free(entry);
    assert_int_equal(archive_write_close(out), ARCHIVE_OK);
    archive_write_free(out);
    return file_with(".npz", zip, used);
}

static void a_bomb_is_refused_before_it_takes_the_memory(void **state)
{
    (void)state;
    sph_data *data;
    sph_set_max_memory(mem_held() + (16 << 20));
    const char *path = bomb("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}", 64 << 20);
    assert_fails(sph_data_open(&data, path, NULL), SPH_EFORMAT, .key = "x", .path = path);
    unlink(path);
    path = bomb("{'descr': '|u1', 'fortran_order': False, 'shape': (65536, 1024)}", 64 << 20);
    assert_fails(sph_data_open(&data, path, NULL), SPH_EMEMORY, .key = "max-memory", .path = path);
    unlink(path);
    sph_set_max_memory(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_byte_order_is_read),
        cmocka_unit_test(an_npy_file_is_a_table_without_header_in_either_order),
        cmocka_unit_test(an_npz_file_holds_features_and_targets),
        cmocka_unit_test(a_bomb_is_refused_before_it_takes_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
