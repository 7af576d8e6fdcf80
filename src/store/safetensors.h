/* SPDX-License-Identifier: MIT
 *
 * The safetensors format: a header length, a JSON header, tensors end to end. Reading maps the file and
 * checks all of the header before anything is handed out; writing replaces the file whole.
 *
 * Accepted is what the format allows: a header of at most 100,000,000 bytes of UTF-8 JSON that begins with
 * '{' (and may end in blanks), no key twice, string-to-string __metadata__, tensors that fill the data
 * exactly: no hole, no overlap, nothing left over. Beyond that, tensors of more than ST_DIMS dimensions,
 * dtypes not listed here and NUL characters in names are refused. */
#ifndef SPH_STORE_SAFETENSORS_H
#define SPH_STORE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "file/file.h"
#include "spherelu/base.h"

/* id, the format's word (the same), bytes of an element */
#define ST_DTYPES(X)                                                                                         \
    X(F64, 8)                                                                                                \
    X(F32, 4)                                                                                                \
    X(F16, 2)                                                                                                \
    X(BF16, 2)                                                                                               \
    X(I64, 8)                                                                                                \
    X(I32, 4)                                                                                                \
    X(I16, 2)                                                                                                \
    X(I8, 1)                                                                                                 \
    X(U64, 8)                                                                                                \
    X(U32, 4)                                                                                                \
    X(U16, 2)                                                                                                \
    X(U8, 1)                                                                                                 \
    X(BOOL, 1)

#define ST_DTYPE_ENUM(id, size) ST_##id,
enum st_dtype { ST_DTYPES(ST_DTYPE_ENUM) ST_DTYPE_COUNT }; /* ST_F64 ... */

enum { ST_DIMS = 8, ST_HEADER_MAX = 100000000 };

const char *st_dtype_name(enum st_dtype dtype);
size_t st_dtype_size(enum st_dtype dtype);
int st_dtype_is_real(enum st_dtype dtype); /* F64, F32, F16, BF16 */

/* ---------------------------------------------------------------- reading */

struct st_tensor {
    const char *name;
    enum st_dtype dtype;
    size_t shape[ST_DIMS], ndim; /* ndim 0: one element */
    size_t count;                /* elements */
    const void *data;            /* (count), not aligned: read it with memcpy or safetensors_to_double */
    size_t bytes;
    const char *file; /* for messages */
};

struct json_t;

struct safetensors {
    char *path;
    struct st_tensor *tensor; /* (count) in the order of the data */
    size_t count;
    struct st_tensor **by_name; /* (count) */
    /* the rest is the reader's own */
    struct json_t *header; /* owns the names and the metadata */
    size_t header_bytes;   /* that the header counts as memory */
    struct file_map map;   /* owns the data, unless */
    int borrowed;          /* these are the caller's bytes */
};

#define ST_NOWHERE "model in memory" /* what messages call one that is no file */

/* Everything that out hands out is borrowed until safetensors_close, which is fine twice, and after a failed
 * open. */
int safetensors_open(struct safetensors *out, const char *path);
int safetensors_of_bytes(struct safetensors *out, const void *bytes, size_t length); /* borrowed likewise */
void safetensors_close(struct safetensors *file);

const struct st_tensor *safetensors_find(const struct safetensors *file, const char *name); /* or NULL */
/* How many names begin with this text: by_name from *first on. Where a tensor stands in by_name. */
size_t safetensors_begin_with(const struct safetensors *file, const char *text, size_t *first);
size_t safetensors_place(const struct safetensors *file, const struct st_tensor *tensor);
const char *safetensors_metadata(const struct safetensors *file, const char *key); /* or NULL */

/* out (count) <- the elements, exactly; of real numbers only (st_dtype_is_real). */
int safetensors_to_double(const struct st_tensor *tensor, double *out);

/* ---------------------------------------------------------------- writing */

struct st_item {
    const char *name;
    enum st_dtype dtype;
    const size_t *shape; /* (ndim) */
    size_t ndim;
    const void *data; /* NULL: st_file.numbers has them */
};
struct st_meta {
    const char *key, *value;
};
struct st_file {
    const struct st_item *items; /* (count) in the order of the data */
    size_t count;
    const struct st_meta *meta; /* (metas) */
    size_t metas;
    const struct safetensors *like; /* NULL, or a file whose metadata are added */
    /* *data <- the bytes of an item, valid until the next call. A negative code ends the writing. */
    int (*numbers)(void *self, size_t item, const void **data);
    void *self;
};

/* Replaces the file as a whole; sink: NULL, or what takes the bytes instead. Tensors are written one by one, so a file can be larger
 * than memory. */
int safetensors_save(const char *path, const sph_sink *sink, const struct st_file *file);

/* The same for tensors that are in memory. */
int safetensors_write(const char *path, const struct st_item *items, size_t count, const struct st_meta *meta,
                      size_t metas);

#endif
