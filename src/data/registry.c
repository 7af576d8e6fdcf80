/* SPDX-License-Identifier: MIT
 *
 * The formats, a row each. */
#include "data/registry.h"

#include <string.h>
#include <strings.h>

/* ---------------------------------------------------------------- formats */

static const struct reader *const readers[] = {
    &reader_cifar10,    &reader_cifar100,          &reader_idx,    &reader_npy,  &reader_npz,
    &reader_imagenet32, &reader_imagenet32_pickle, &reader_libsvm, &reader_text,
};

enum { READERS = sizeof readers / sizeof *readers };

size_t registry_readers(const struct reader *const **out)
{
    *out = readers;
    return READERS;
}

int registry_reader(const struct reader **out, const struct reader_file *file, enum reader_kind kind)
{
    int found = 0;
    *out = NULL;
    for (size_t i = 0; i < READERS && !found; i++) {
        if ((kind == READ_SHEET && !readers[i]->open_sheet) ||
            (kind == READ_IMAGES && !readers[i]->read_images))
            continue;
        found = readers[i]->knows(file);
        *out = found > 0 ? readers[i] : NULL;
    }
    return found < 0 ? found : 0;
}

static int ends_at(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && !strncasecmp(text + length - n, end, n);
}

int reader_ends(const struct reader_file *file, const char *end)
{
    return ends_at(file->path, strlen(file->path), end);
}

int reader_ends_packed(const struct reader_file *file, const char *end)
{
    size_t packed = reader_ends(file, ".gz") ? 3 : reader_ends(file, ".zst") ? 4 : 0;
    return ends_at(file->path, strlen(file->path) - packed, end);
}
