/* SPDX-License-Identifier: MIT
 *
 * The bytes of a file, compressed or not. */
#ifndef SPH_DATA_BYTES_H
#define SPH_DATA_BYTES_H

#include "file/file.h"

struct data_bytes {
    const unsigned char *data; /* (length) mapped, or own */
    size_t length;
    struct file_map map;
    unsigned char *own;
};

/* What the file holds: unpacked if it begins as gzip or zstd does (a name that ends in .gz or .zst and bytes that do not
 * are refused). A pipe is read to its end. What is unpacked counts as memory (sph_set_max_memory). A failure leaves
 * nothing to free. */
int data_bytes_read(struct data_bytes *out, const char *path);

/* The same, also of a pipe or a device such as /dev/stdin, which is read to its end: for a name that the user gave. */
int data_bytes_read_stream(struct data_bytes *out, const char *path);
void data_bytes_free(struct data_bytes *bytes);

#endif
