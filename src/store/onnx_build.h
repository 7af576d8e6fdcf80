/* SPDX-License-Identifier: MIT
 *
 * An ONNX graph while it is put together: constants, nodes, what goes in and out. A failure is kept, and what
 * comes after it does nothing: put together freely, look once at write. Values have names; those that are handed out
 * live as long as the build. */
#ifndef SPH_STORE_ONNX_BUILD_H
#define SPH_STORE_ONNX_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "onnx.pb-c.h"

/* Numbers that ONNX has for types of elements, and of attributes. */
enum { ONNX_FLOAT = 1, ONNX_INT64 = 7, ONNX_STRING = 8, ONNX_DOUBLE = 11 };
enum { ONNX_A_FLOAT = 1, ONNX_AN_INT = 2, ONNX_INTS = 7 };
enum { ONNX_DIMS = 4 };

struct onnx_build {
    Onnx__Model model;
    Onnx__Graph graph;
    Onnx__Node *node; /* the last one: what attributes are given to */
    void **owned;
    size_t owned_count, owned_capacity;
    size_t nodes, initializers, inputs, outputs, entries; /* room in these lists */
    int err;
};

/* onnx_free is fine after every begin. */
void onnx_begin(struct onnx_build *build, int opset);
void onnx_free(struct onnx_build *build);

/* Memory of the build, zeroed; NULL: it failed. */
void *onnx_take(struct onnx_build *build, size_t count, size_t size);
char *onnx_text(struct onnx_build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Constants; what they are called is handed back. shape (dims), each entry at least 1. */
const char *onnx_floats(struct onnx_build *build, const char *name, const double *values, const size_t *shape,
                        size_t dims);
const char *onnx_ints(struct onnx_build *build, const char *name, const int64_t *values, size_t count);
const char *onnx_strings(struct onnx_build *build, const char *name, char *const *texts, size_t count);

/* A node of one result, which is called `out`, as the node is. inputs end with NULL. Returns out. */
const char *onnx_node(struct onnx_build *build, const char *op, const char *out, ...)
    __attribute__((sentinel));

/* Attributes of the last node. */
void onnx_set_int(struct onnx_build *build, const char *name, int64_t value);
void onnx_set_float(struct onnx_build *build, const char *name, double value);
void onnx_set_ints(struct onnx_build *build, const char *name, const size_t *values, size_t count);

/* A vector, or a matrix, ...: N of them, N being open. */
void onnx_input(struct onnx_build *build, const char *name, int type, const size_t *shape, size_t dims);
void onnx_output(struct onnx_build *build, const char *name, int type, const size_t *shape, size_t dims);

void onnx_metadata(struct onnx_build *build, const char *key, const char *value);

/* Replaces the file whole; or the build's failure. */
int onnx_write(struct onnx_build *build, const char *path);

#endif
