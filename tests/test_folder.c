/* SPDX-License-Identifier: MIT
 *
 * Folders of pictures: what is listed and in which order, what is refused, and rows as they come out of them. */
#include "image_files.h"

#include <time.h>

#include "base/clock.h"
#include "data/open.h"
#include "data/folder.h"
#include "data/loader.h"
#include "data/pictures.h"
#include "data/tool.h"
#include "layer.h"
#include "rows/picture_source.h"
#include "rows/tool.h"

static void touch(const char *name)
{
    write_file(name, "x", 1);
}

static void copy(const char *name, const char *picture)
{
    static uint8_t bytes[65536];
    char path[1024];
    snprintf(path, sizeof path, SPH_TESTS_DIR "/golden/pictures/%s", picture);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    write_file(name, bytes, got);
}

/* Four pictures in two classes. */
static void write_four(const char *name)
{
    char path[128];
    static const char *const files[][2] = {{"a/1.jpg", "small.jpg"},
                                           {"a/2.jpg", "tall.jpg"},
                                           {"b/1.png", "plain.png"},
                                           {"b/2.jpg", "scans.jpg"}};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", name, files[i][0]);
        copy(path, files[i][1]);
    }
}

/* ---------------------------------------------------------------- listing */

static void assert_names(const struct folder *list, const char *const *expected, size_t count)
{
    assert_int_equal(list->rows, count);
    for (size_t i = 0; i < count; i++) {
        char *name = folder_name(list, i, 0);
        assert_string_equal(name, expected[i]);
        mem_free(name);
    }
}

static void files_come_in_torchvision_s_order(void **state)
{
    (void)state;
    /* sorted(os.walk(class)) by the folder's path, where '-' is before '/'; then its files by name */
    static const char *const expected[] = {"Zebra/z.png",   "ape/10.JPEG",      "ape/2.jpg",   "ape/x/1.jpg",
                                           "ape/x-y/0.jpg", "ape/x/deep/1.jpg", "ape/z/1.jpg", "bear/1.jpg"};
    static const char *const others[] = {"ape/.hidden.jpg", "ape/notes.txt", ".git/1.jpg", "readme.jpg"};
    for (int i = 0; i < 8; i++) {
        char path[64];
        snprintf(path, sizeof path, "order/%s", expected[i]);
        touch(path);
    }
    for (int i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "order/%s", others[i]);
        touch(path);
    }
    struct folder *list;
    assert_int_equal(folder_open(&list, at("order")), 0);
    assert_names(list, expected, 8);
    assert_int_equal(list->class_count, 3);
    assert_string_equal(list->classes[0], "Zebra");
    assert_int_equal(folder_class(list, 0), 0);
    assert_int_equal(folder_class(list, 6), 1);
    assert_int_equal(folder_class(list, 7), 2);
    assert_int_equal(list->test_from, 0);
    folder_free(list);
}

static void train_and_val_are_a_set_with_its_own_test_part(void **state)
{
    (void)state;
    static const char *const expected[] = {"train/a/1.jpg", "train/a/2.jpg", "train/b/1.png",
                                           "train/b/2.jpg", "val/a/3.jpg",   "val/b/4.jpg"};
    write_four("parts/train");
    copy("parts/val/a/3.jpg", "small.jpg");
    copy("parts/val/b/4.jpg", "tall.jpg");
    struct folder *list;
    assert_int_equal(folder_open(&list, at("parts")), 0);
    assert_names(list, expected, 6);
    assert_int_equal(list->test_from, 4);
    assert_int_equal(folder_class(list, 5), 1);
    folder_free(list);
    char *classes[] = {"a", "b", "c"};
    assert_int_equal(folder_open_like(&list, at("parts"), classes, 3, 1), 0); /* c may be absent */
    assert_names(list, expected + 4, 2);
    folder_free(list);
    assert_fails(folder_open_like(&list, at("parts"), classes, 1, 1), SPH_EFORMAT, .key = "b");
    assert_int_equal(folder_open_like(&list, at("parts/train"), NULL, 0, 0), 0); /* whatever lies below */
    assert_int_equal(list->rows, 4);
    folder_free(list);
    assert_int_equal(folder_open_like(&list, at("parts/val/a/3.jpg"), NULL, 0, 0), 0);
    assert_int_equal(list->rows, 1);
    folder_free(list);
}

static void assert_refused(const char *name, const char *where, const char *key, int code)
{
    struct folder *list;
    char *path = mem_text(at(name)), *at_fault = mem_text(at(where));
    assert_fails(folder_open(&list, path), code, .key = key, .path = at_fault);
    mem_free(path);
    mem_free(at_fault);
}

static void folders_that_are_no_set_are_refused_by_name(void **state)
{
    (void)state;
    touch("flat/1.jpg");
    assert_refused("flat", "flat", NULL, SPH_EFORMAT);
    touch("one/a/1.jpg");
    assert_refused("one", "one", "a", SPH_EFORMAT);
    touch("none/a/1.jpg");
    touch("none/b/1.webp");
    assert_refused("none", "none/b", NULL, SPH_EFORMAT);
    touch("differ/train/a/1.jpg");
    touch("differ/train/b/1.jpg");
    touch("differ/val/a/1.jpg");
    assert_refused("differ", "differ/val", "b", SPH_EFORMAT);
    touch("differ/val/b/1.jpg");
    touch("differ/val/c/1.jpg");
    assert_refused("differ", "differ/val", "c", SPH_EFORMAT);
    touch("both/train/a/1.jpg");
    touch("both/val/a/1.jpg");
    touch("both/test/a/1.jpg");
    assert_refused("both", "both", NULL, SPH_EFORMAT);
    assert_refused("absent", "absent", NULL, SPH_EIO);
    touch("loop/a/1.jpg");
    touch("loop/b/1.jpg");
    assert_int_equal(symlink(at("loop/b"), at("loop/b/again")), 0);
    assert_refused("loop", "loop/b/again", NULL, SPH_EFORMAT);
    touch("self/a/1.jpg");
    touch("self/b/1.jpg");
    assert_int_equal(symlink("2.jpg", at("self/b/2.jpg")), 0);
    assert_refused("self", "self/b/2.jpg", NULL, SPH_EIO);
    touch("dangling/a/1.jpg");
    touch("dangling/b/1.jpg");
    assert_int_equal(symlink("nowhere.jpg", at("dangling/b/2.jpg")), 0);
    assert_refused("dangling", "dangling/b/2.jpg", NULL, SPH_EIO);
    touch("linked/a/1.jpg");
    assert_int_equal(symlink("a", at("linked/b")),
                     0); /* a link to another folder is a class like any other */
    struct folder *list;
    assert_int_equal(folder_open(&list, at("linked")), 0);
    assert_int_equal(list->rows, 2);
    folder_free(list);
}

/* Each folder holds two links to the next: 2^20 ways to the last, and no loop. */
static void links_that_multiply_are_refused(void **state)
{
    (void)state;
    char name[64], target[64];
    touch("many/a/1.jpg");
    touch("many/b/1.jpg");
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "deep/%d/1.jpg", i + 1);
        touch(name);
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, i ? "deep/%d/%c" : "many/b/%.0d%c", i, 'x' + k);
            snprintf(target, sizeof target, "%s/%d", i ? ".." : "../../deep", i + 1);
            assert_int_equal(symlink(target, at(name)), 0);
        }
    }
    assert_refused("many", "many/b", NULL, SPH_EFORMAT);
}

/* ---------------------------------------------------------------- rows */

static sph_data *opened_pictures(const char *name, size_t size, size_t workers, int gray)
{
    sph_data *data;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.side = size;
    opts.workers = workers;
    opts.gray = gray;
    if (sph_data_open(&data, at(name), &opts) < 0)
        fail_msg("%s", sph_error());
    return data;
}

/* All rows twice, in another order the second time; out (2, rows, features). */
static void take_all(const sph_data *data, sph_augment augment, size_t epoch, uint8_t *out)
{
    struct picture_stream *stream;
    uint32_t order[] = {2, 0, 3, 1, 4, 5};
    const uint8_t *pixels;
    assert_int_equal(
        data->image.pictures->stream(data->image.pictures, &stream, augment, 5, NULL, data->rows), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(stream->begin(stream, epoch, NULL, round ? order : NULL, data->rows), 0);
        for (uint32_t i = 0; i < data->rows; i++) {
            uint32_t row = round ? order[i] : i;
            assert_int_equal(stream->take(stream, row, &pixels), 0);
            memcpy(out + ((size_t)round * data->rows + row) * data->features, pixels, data->features);
        }
        assert_int_equal(stream->take(stream, 0, &pixels), 0); /* one that was not announced */
        assert_memory_equal(pixels, out, data->features);
    }
    stream->release(stream);
}

static void rows_are_the_same_bytes_for_any_number_of_workers_and_any_order(void **state)
{
    (void)state;
    write_four("rows/train");
    copy("rows/val/a/3.jpg", "large.jpg");
    copy("rows/val/b/4.jpg", "tall.jpg");
    for (int gray = 0; gray < 2; gray++) {
        sph_augment augment = gray ? SPH_AUGMENT_CROP : SPH_AUGMENT_COLOUR;
        size_t bytes = 0;
        uint8_t *first = NULL, *other = NULL;
        for (size_t workers = 1; workers <= 4; workers++) {
            sph_data *data = opened_pictures("rows", 20, workers, gray);
            assert_int_equal(data->rows, 6);
            assert_int_equal(data->test_from, 4);
            assert_int_equal(data->features, (gray ? 1 : 3) * 400);
            assert_true(data->y[1] == 0 && data->y[2] == 1 && data->y[5] == 1);
            bytes = 2 * data->rows * data->features;
            if (!first) {
                first = mem_get(bytes, 1);
                other = mem_get(bytes, 1);
                take_all(data, augment, 1, first);
                assert_memory_equal(first, first + bytes / 2, bytes / 2);
                take_all(data, augment, 2, other);
                assert_true(memcmp(first, other, bytes) != 0);
            }
            take_all(data, augment, 1, other);
            assert_memory_equal(first, other, bytes);
            sph_data_free(data);
        }
        mem_free(first);
        mem_free(other);
    }
}

/* pixels (3, 24, 24) <- what PIL makes of a file of golden/pictures in evaluation; returns 0 where it is not there. */
static int read_golden(const char *file, uint8_t *pixels)
{
    static char line[16384];
    char start[128];
    FILE *csv = fopen(SPH_TESTS_DIR "/golden/pictures.csv", "r");
    int found = 0;
    assert_non_null(csv);
    snprintf(start, sizeof start, "%s,24,27,nan,nan,0,0,0,0,", file);
    while (!found && fgets(line, sizeof line, csv))
        found = !strncmp(line, start, strlen(start));
    fclose(csv);
    for (size_t p = 0; found && p < 3 * 24 * 24; p++) {
        unsigned value;
        found = sscanf(line + strlen(start) + 2 * p, "%2x", &value);
        pixels[p] = (uint8_t)value;
    }
    return found;
}

/* The most that row 0 differs from the golden one by. */
static double apart(const sph_data *data, const uint8_t *golden)
{
    struct picture_stream *stream;
    const uint8_t *pixels;
    double most = 0;
    assert_int_equal(data->features, 3 * 24 * 24);
    assert_int_equal(
        data->image.pictures->stream(data->image.pictures, &stream, SPH_AUGMENT_NONE, 0, NULL, 0), 0);
    assert_int_equal(stream->take(stream, 0, &pixels), 0);
    for (size_t p = 0; p < data->features; p++)
        most = fmax(most, fabs((double)pixels[p] - golden[p]));
    stream->release(stream);
    return most;
}

/* A larger side shows less of the picture; the model keeps it, and sides that cannot be are refused. */
static void the_side_of_evaluation_is_kept_by_the_model(void **state)
{
    (void)state;
    uint8_t golden[3 * 24 * 24];
    sph_data_opts opts;
    sph_data *data, *like;
    json_t *schema;
    copy("side/a/1.jpg", "odd.jpg");
    copy("side/b/2.jpg", "small.jpg");
    assert_true(read_golden("odd.jpg", golden));
    sph_data_defaults(&opts);
    opts.side = 24;
    opts.eval_side = 27; /* 256 / 224 of 24 */
    assert_int_equal(sph_data_open(&data, at("side"), &opts), 0);
    assert_true(apart(data, golden) <= 1);
    sph_data_free(data);
    opts.eval_side = 39; /* 368 / 224 of 24 */
    assert_int_equal(sph_data_open(&data, at("side"), &opts), 0);
    assert_true(apart(data, golden) > 3);
    assert_int_equal(data_schema(data, &schema), 0);
    assert_int_equal(data_open_like(&like, at("side"), schema, 1, NULL), 0);
    assert_int_equal(like->image.eval_side, 39);
    assert_true(apart(like, golden) == apart(data, golden));
    sph_data_free(like);
    sph_data_free(data);
    json_decref(schema);
    opts.eval_side = 23;
    assert_fails(sph_data_open(&data, at("side"), &opts), SPH_EARG, .key = "eval_side");
}

/* Without a word training, evaluation and packing see PIL's pixels; a model keeps what it was trained with, one that says
 * nothing is of 0.2.0 or before, and a packed set keeps what it was made with. */
static void jpegs_are_decoded_whole_unless_scaled_is_asked_for_and_the_model_keeps_it(void **state)
{
    (void)state;
    uint8_t golden[3 * 24 * 24];
    sph_data_opts opts;
    copy("decode/a/1.jpg", "odd.jpg");
    copy("decode/b/2.jpg", "small.jpg");
    assert_true(read_golden("odd.jpg", golden));
    for (int decode = -1; decode < SPH_DECODE_COUNT; decode++) { /* -1: the default */
        int scaled = decode == SPH_DECODE_SCALED;
        sph_data *data, *like, *from_pack;
        sph_packed packed;
        json_t *schema;
        char out[32];
        sph_data_defaults(&opts);
        opts.side = 24;
        if (decode >= 0)
            opts.decode = (sph_decode)decode;
        assert_int_equal(sph_data_open(&data, at("decode"), &opts), 0);
        assert_true(scaled ? apart(data, golden) > 3 : apart(data, golden) <= 1);
        assert_int_equal(data_schema(data, &schema), 0);
        assert_int_equal(data_open_like(&like, at("decode"), schema, 1, NULL), 0);
        assert_true(apart(like, golden) == apart(data, golden));
        sph_data_free(like);
        assert_int_equal(json_object_del(json_object_get(schema, "images"), "decode"), 0);
        assert_int_equal(data_open_like(&like, at("decode"), schema, 1, NULL), 0);
        assert_int_equal(like->image.decode, SPH_DECODE_SCALED);
        assert_true(apart(like, golden) > 3);
        sph_data_free(like);
        json_object_set_new(json_object_get(schema, "images"), "decode", json_string("half"));
        assert_fails(data_open_like(&like, at("decode"), schema, 1, NULL), SPH_EFORMAT, .key = "decode");
        json_decref(schema);
        sph_data_free(data);
        snprintf(out, sizeof out, "packed-%d", decode);
        assert_int_equal(sph_data_pack(&packed, at("decode"), at(out), &opts, NULL, NULL), 0);
        sph_data_defaults(&opts);
        opts.side = 24;
        assert_int_equal(sph_data_open(&from_pack, at(out), &opts), 0);
        assert_true(scaled ? apart(from_pack, golden) > 3 : apart(from_pack, golden) <= 1);
        assert_int_equal(from_pack->image.decode, scaled ? SPH_DECODE_SCALED : SPH_DECODE_EXACT);
        sph_data_free(from_pack);
        snprintf(out, sizeof out, "packed-%d/decode.txt", decode);
        if (scaled)
            write_file(out, "half\n", 5);
        else
            assert_int_equal(unlink(at(out)), 0);
        *strchr(out, '/') = '\0';
        if (scaled) {
            assert_fails(sph_data_open(&from_pack, at(out), &opts), SPH_EFORMAT,
                         .path = at("packed-1/decode.txt"), .line = 1);
        } else { /* numpy wrote it, or 0.2.0 */
            opts.decode = SPH_DECODE_SCALED;
            assert_int_equal(sph_data_open(&from_pack, at(out), &opts), 0);
            assert_int_equal(from_pack->image.decode, SPH_DECODE_SCALED);
            sph_data_free(from_pack);
        }
    }
}

static void a_failure_is_that_of_the_row_and_names_its_file(void **state)
{
    (void)state;
    write_four("broken");
    touch("broken/a/3.jpg");
    sph_data *data = opened_pictures("broken", 16, 3, 0);
    struct picture_stream *stream;
    const uint8_t *pixels;
    assert_int_equal(
        data->image.pictures->stream(data->image.pictures, &stream, SPH_AUGMENT_NONE, 0, NULL, 0), 0);
    assert_int_equal(stream->begin(stream, 0, NULL, NULL, 5), 0);
    for (uint32_t row = 0; row < 5; row++) {
        int err = stream->take(stream, row, &pixels);
        assert_int_equal(err, row == 2 ? SPH_EFORMAT : 0);
        if (row == 2)
            assert_string_equal(sph_failure()->path, at("broken/a/3.jpg"));
    }
    stream->release(stream);
    sph_data_free(data);
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.side = 16;
    opts.skip_bad = 1;
    assert_int_equal(sph_data_open(&data, at("broken"), &opts), 0);
    assert_int_equal(data->rows, 4);
    assert_int_equal(data->counts.left_out, 1);
    char *name = data->image.pictures->name(data->image.pictures, 2);
    assert_string_equal(name, "b/1.png");
    mem_free(name);
    assert_true(data->y[1] == 0 && data->y[2] == 1);
    sph_data_free(data);
    unlink(at("broken/a/1.jpg"));
    unlink(at("broken/a/2.jpg"));
    assert_fails(sph_data_open(&data, at("broken"), &opts), SPH_EFORMAT, .path = at("broken"));
    opts.side = PICTURES_SIZE_MOST + 1;
    assert_fails(sph_data_open(&data, at("broken"), &opts), SPH_EARG, .key = "size");
}

static void sleep_for(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * microseconds}, NULL);
}

static int bring_slowly(void *self, void *desk, size_t epoch, uint32_t row, uint8_t *to)
{
    (void)self, (void)desk, (void)epoch;
    sleep_for(2000);
    *to = (uint8_t)row;
    return 0;
}

static void *no_desk(void *self)
{
    return self;
}

static void leave_desk(void *self, void *desk)
{
    (void)self, (void)desk;
}

/* Rows come at 1.2 times the rate at which steps of eight take them. Only in the long layer: other work on the machine fails it. */
static void a_loader_a_fifth_faster_than_training_lets_it_wait_under_two_percent(void **state)
{
    (void)state;
    if (!layer_is("long"))
        return;
    enum { STEP = 8, ROWS = 1200 };
    int self;
    struct loader_maker maker = {
        .self = &self, .bytes = 1, .bring = bring_slowly, .desk = no_desk, .desk_free = leave_desk};
    struct loader *loader;
    const uint8_t *bytes;
    assert_int_equal(loader_new(&loader, &maker, 1), 0);
    assert_int_equal(loader_begin(loader, 0, NULL, NULL, ROWS), 0);
    double from = clock_seconds();
    for (uint32_t row = 0; row < ROWS; row++) {
        assert_int_equal(loader_take(loader, row, &bytes), 0);
        assert_int_equal(*bytes, (uint8_t)row);
        if (row % STEP == STEP - 1)
            for (int k = 0; k < STEP;
                 k++) /* as the loader does it: what sleeps last too long by is on both sides */
                sleep_for(2400);
    }
    double share = loader_waited(loader) / (clock_seconds() - from);
    print_message("waited %.2f %% of the time\n", 100 * share);
    assert_true(share > 0 && share < 0.02);
    loader_free(loader);
}

/* ---------------------------------------------------------------- ten million */

static void a_listing_of_ten_million_takes_at_most_sixteen_bytes_a_picture(void **state)
{
    (void)state;
    enum { CLASSES = 7692, EACH = 1300 };
    struct names names = {0};
    size_t before = mem_held(), count = 0, classes = CLASSES / quick_step(50);
    char name[64]; /* as ImageNet's, sorted: numbers that skip about thirty */
    for (size_t c = 0; c < classes; c++)
        for (size_t i = 0; i < EACH; i++, count++) {
            snprintf(name, sizeof name, "n%08zu_%zu.JPEG", 1440764 + 31 * c, 10000 + 29 * i + c % 29);
            assert_int_equal(names_add(&names, name), 0);
        }
    assert_int_equal(names_end(&names), 0);
    double each =
        (double)(mem_held() - before + (classes + 1) * sizeof(size_t)) / (double)count + sizeof(double);
    print_message("%zu pictures: %.2f bytes each, of which %zu are its class\n", count, each, sizeof(double));
    assert_true(each <= 16);
    char out[NAMES_LONGEST + 1];
    names_at(&names, count - 1, out);
    assert_string_equal(out, name);
    names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_in_torchvision_s_order),
        cmocka_unit_test(train_and_val_are_a_set_with_its_own_test_part),
        cmocka_unit_test(folders_that_are_no_set_are_refused_by_name),
        cmocka_unit_test(links_that_multiply_are_refused),
        cmocka_unit_test(rows_are_the_same_bytes_for_any_number_of_workers_and_any_order),
        cmocka_unit_test(the_side_of_evaluation_is_kept_by_the_model),
        cmocka_unit_test(jpegs_are_decoded_whole_unless_scaled_is_asked_for_and_the_model_keeps_it),
        cmocka_unit_test(a_failure_is_that_of_the_row_and_names_its_file),
        cmocka_unit_test(a_loader_a_fifth_faster_than_training_lets_it_wait_under_two_percent),
        cmocka_unit_test(a_listing_of_ten_million_takes_at_most_sixteen_bytes_a_picture),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
