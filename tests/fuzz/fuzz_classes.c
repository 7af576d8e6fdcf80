/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the names of classes of a folder of images, in both forms. */
#include <archive.h>
#include <archive_entry.h>

#include "fuzz.h"

static void add(struct archive *zip, const char *name, const char *dict, const void *numbers, size_t length)
{
    struct archive_entry *entry = archive_entry_new();
    char head[128] = "\x93NUMPY\1";
    size_t text = strlen(dict);
    memset(head + 10, ' ', sizeof head - 10);
    memcpy(head + 10, dict, text);
    head[8] = sizeof head - 10;
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (la_int64_t)(sizeof head + length));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(zip, entry);
    archive_write_data(zip, head, sizeof head);
    archive_write_data(zip, numbers, length);
    archive_entry_free(entry);
}

/* Three pictures of a pixel, of the classes 1, 2 and 3. */
static void make_set(void)
{
    static char file[4096];
    size_t used = 0;
    struct archive *zip = archive_write_new();
    archive_write_set_format_zip(zip);
    archive_write_open_memory(zip, file, sizeof file, &used);
    add(zip, "data.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 3)}", "123456789", 9);
    add(zip, "labels.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}", "\1\2\3", 3);
    archive_write_close(zip);
    archive_write_free(zip);
    mkdir(fuzz_path("set"), 0700);
    fuzz_file("set/train_data_batch_1.npz", file, used);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const uint8_t record[2 * 3073] = {[3073] = 1};
    if (access(fuzz_path("set"), F_OK)) {
        make_set();
        mkdir(fuzz_path("ten"), 0700);
        fuzz_file("ten/data_batch_1.bin", record, sizeof record);
    }
    if (fuzz_way(bytes, length, 2)) {
        fuzz_file("set/classes.txt", bytes, length);
        fuzz_data(fuzz_path("set"));
    } else {
        fuzz_file("ten/batches.meta.txt", bytes, length);
        fuzz_data(fuzz_path("ten"));
    }
    return 0;
}
