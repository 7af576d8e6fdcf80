/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the files of a packed set, each in turn beside others that are right; what is taken for a set gives
 * its rows and their names. */
#include "base/memory.h"
#include "data/pack.h"
#include "fuzz.h"

enum { ROWS_MOST = 64 };

static const char dict_images[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2, 2, 1)}",
                  dict_labels[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,)}";

static void put(const char *name, const char *dict, const void *numbers, size_t length)
{
    static uint8_t file[128 + 4096];
    memset(file, ' ', 128);
    memcpy(file, "\x93NUMPY\1", 8);
    file[8] = 118;
    file[9] = 0;
    memcpy(file + 10, dict, strlen(dict));
    memcpy(file + 128, numbers, length);
    fuzz_file(name, file, 128 + length);
}

static void put_labels(const char *name, size_t count)
{
    static uint8_t labels[4096];
    char dict[128];
    for (size_t i = 0; i < sizeof labels; i++)
        labels[i] = (uint8_t)(i % 2);
    snprintf(dict, sizeof dict, dict_labels, count);
    put(name, dict, labels, count);
}

/* Every row, its class and what it is called; without the loader, whose threads would take most of the time. */
static void read_rows(const char *path)
{
    static struct picture_desk desk;
    struct pack *pack = NULL;
    fuzz_home();
    if (pack_open(&pack, path) < 0) {
        if (pack || !*sph_error())
            abort();
        return;
    }
    struct shelf shelf = shelf_of_pack(pack);
    for (size_t row = 0; row < shelf.rows && row < ROWS_MOST; row++) {
        char *name = shelf.kind->name(shelf.self, row);
        if (shelf.kind->class_of(shelf.self, row) >= shelf.class_count || !name)
            abort();
        if (shelf.kind->read(shelf.self, row, &desk, row % 2 ? 1 : 3, 1) == 0)
            fuzz_sum = desk.picture.bytes[desk.picture.width * desk.picture.height * desk.picture.step - 1];
        mem_free(name);
    }
    shelf.kind->release(shelf.self);
}

/* The first dimension of the header, as far as it can be guessed, so that labels fit. */
static size_t guess_rows(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i + 1 < length && i < 200; i++)
        if (bytes[i] == '(') {
            size_t rows = 0;
            for (i++; i < length && bytes[i] >= '0' && bytes[i] <= '9' && rows < 400; i++)
                rows = rows * 10 + (size_t)(bytes[i] - '0');
            return rows;
        }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    unsigned way = fuzz_way(bytes, length, 2);
    static const uint8_t image[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    if (access(fuzz_path("labels"), F_OK)) {
        mkdir(fuzz_path("images"), 0700);
        mkdir(fuzz_path("labels"), 0700);
        mkdir(fuzz_path("names"), 0700);
        mkdir(fuzz_path("files"), 0700);
        put("labels/train_images.npy", dict_images, image, sizeof image);
        put("names/train_images.npy", dict_images, image, sizeof image);
        put("files/train_images.npy", dict_images, image, sizeof image);
        put_labels("names/train_labels.npy", 3);
        put_labels("files/train_labels.npy", 3);
    }
    if (length > 6 && !memcmp(bytes, "\x93NUMPY", 6)) {
        if (way) {
            fuzz_file("images/train_images.npy", bytes, length);
            put_labels("images/train_labels.npy", guess_rows(bytes, length));
            read_rows(fuzz_path("images"));
        } else {
            fuzz_file("labels/train_labels.npy", bytes, length);
            read_rows(fuzz_path("labels"));
        }
    } else if (way) {
        fuzz_file("names/classes.txt", bytes, length);
        read_rows(fuzz_path("names"));
    } else {
        fuzz_file("files/train_files.txt", bytes, length);
        read_rows(fuzz_path("files"));
    }
    return 0;
}
