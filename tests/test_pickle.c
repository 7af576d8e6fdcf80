/* SPDX-License-Identifier: MIT
 *
 * ImageNet32's batches as pickles: each protocol, and what is refused. */
#include "image_files.h"

#include "skip.h"

static size_t read_whole(const char *path, uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

static uint8_t bytes[4096];

static size_t golden(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, SPH_TESTS_DIR "/golden/pickles/%s", name);
    return read_whole(path, bytes, sizeof bytes);
}

static void every_protocol_gives_the_same_images(void **state)
{
    (void)state;
    static const double labels[] = {0, 2, 1, 0};
    for (int protocol = 2; protocol <= 4; protocol++)
        for (int list = 0; list < 2; list++) {
            char name[64];
            snprintf(name, sizeof name, "val_data_%s.p%d", list ? "list" : "array", protocol);
            write_file(name, bytes, golden(name));
            sph_data *data = opened(at(name), 0);
            assert_int_equal(data->rows, 4);
            assert_int_equal(data->image.channels, 3);
            assert_int_equal(data->image.width, 2);
            assert_int_equal(data->classes, 3);
            for (size_t i = 0; i < 48; i++)
                assert_int_equal(data->image.pixels[i], i * 37 % 256);
            for (size_t i = 0; i < 4; i++)
                assert_true(data->y[i] == labels[i]);
            sph_data_free(data);
        }
}

static void a_folder_of_pickles_is_a_set_with_its_test_part(void **state)
{
    (void)state;
    write_file("set/train_data_batch_1", bytes, golden("val_data_list.p3"));
    write_file("set/train_data_batch_2", bytes, golden("val_data_array.p4"));
    write_file("set/val_data", bytes, golden("val_data_list.p2"));
    sph_data *data = opened(at("set"), 0);
    assert_int_equal(data->rows, 12);
    assert_int_equal(data->test_from, 8);
    sph_data_free(data);
}

/* A golden one with one text replaced by another of the same length. */
static void assert_bad(const char *name, const char *from, const char *to, const char *key)
{
    size_t length = golden(name);
    uint8_t *found = memmem(bytes, length, from, strlen(from));
    assert_non_null(found);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(found, to, strlen(to));
    write_file("val_data_bad", bytes, length);
    sph_data *data;
    assert_fails(sph_data_open(&data, at("val_data_bad"), NULL), SPH_EFORMAT, .key = key,
                 .path = at("val_data_bad"));
}

static void any_other_name_is_refused_by_name(void **state)
{
    (void)state;
    static const char system[] = "\x80\x02}(X\x04\0\0\0datacos\nsystem\nX\x04\0\0\0true\x85Ru.";
    sph_data *data;
    write_file("val_data", system, sizeof system - 1);
    assert_fails(sph_data_open(&data, at("val_data"), NULL), SPH_EFORMAT, .key = "os.system",
                 .path = at("val_data"));
    assert_bad("val_data_list.p3", "ndarray", "nDarray", "numpy.nDarray");
    assert_bad("val_data_list.p4", "_reconstruct", "_reconstrucT", "numpy._core.multiarray._reconstrucT");
    assert_bad("val_data_list.p2", "_codecs", "_Codecs", "_Codecs.encode");
}

static void pickles_that_are_no_batch_are_refused(void **state)
{
    (void)state;
    sph_data *data;
    assert_bad("val_data_list.p3", "labels", "lAbels", "labels");
    assert_bad("val_data_list.p3", "X\x04", "I\x04", "opcode");
    assert_bad("val_data_list.p3", "\x80\x03", "\x80\x05", NULL);
    assert_bad("val_data_list.p3", "K\x04K\x0c", "K\x04K\x0d", NULL);
    assert_bad("val_data_list.p3", "u1", "m8", NULL);
    size_t length = golden("val_data_list.p3");
    for (size_t cut = 1; cut < length; cut++) { /* whatever is missing */
        write_file("val_data_cut", bytes, cut);
        assert_fails(sph_data_open(&data, at("val_data_cut"), NULL), SPH_EFORMAT, .path = at("val_data_cut"));
    }
}

static void refused(const void *pickle, size_t length)
{
    sph_data *data;
    write_file("val_data", pickle, length);
    assert_fails(sph_data_open(&data, at("val_data"), NULL), SPH_EFORMAT, .path = at("val_data"));
}

static void work_and_memory_are_in_proportion_to_the_file(void **state)
{
    (void)state;
    /* a memo of four million, in ten bytes */
    static const char far_memo[] = "\x80\x02}r\xff\xff\x3f\0.";
    refused(far_memo, sizeof far_memo - 1);
    /* the same text encoded a thousand times */
    static const char head[] = "\x80\x02"
                               "c_codecs\nencode\nq\0X\x2c\x01\0\0",
                      middle[] = "q\1X\6\0\0\0latin1q\2", once[] = "h\0h\1h\2\x86R";
    size_t length = sizeof head - 1;
    memcpy(bytes, head, length);
    memset(bytes + length, 'a', 300);
    length += 300;
    memcpy(bytes + length, middle, sizeof middle - 1);
    length += sizeof middle - 1;
    for (int i = 0; i < 400; i++, length += sizeof once - 1)
        memcpy(bytes + length, once, sizeof once - 1);
    assert_true(length < sizeof bytes);
    refused(bytes, length);
}

static void a_dtype_of_zero_bytes_is_refused(void **state)
{
    (void)state;
    size_t length = golden("val_data_list.p3");
    uint8_t *found = memmem(bytes, length, "u1", 2);
    assert_non_null(found);
    memset(found, 0, 2);
    refused(bytes, length);
}

static void the_shared_pickles_are_the_shared_npz(void **state)
{
    (void)state;
    const char *folders = getenv("SPHERELU_DATA");
    char path[1024];
    for (int protocol = 2; protocol <= 4; protocol++) {
        snprintf(path, sizeof path, "%.*s/imagenet32-subset/pickle/val_data_small.p%d",
                 folders ? (int)strcspn(folders, ":") : 0, folders ? folders : "", protocol);
        if (access(path, R_OK))
            skip_because("imagenet32-subset is not in SPHERELU_DATA");
        sph_data *data = opened(path, 0);
        assert_int_equal(data->rows, 200);
        assert_int_equal(data->features, 3072);
        assert_int_equal(data->image.pixels[0], 0xe3);
        assert_true(data->y[0] == 35);
        sph_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_protocol_gives_the_same_images),
        cmocka_unit_test(a_folder_of_pickles_is_a_set_with_its_test_part),
        cmocka_unit_test(any_other_name_is_refused_by_name),
        cmocka_unit_test(pickles_that_are_no_batch_are_refused),
        cmocka_unit_test(work_and_memory_are_in_proportion_to_the_file),
        cmocka_unit_test(a_dtype_of_zero_bytes_is_refused),
        cmocka_unit_test(the_shared_pickles_are_the_shared_npz),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
