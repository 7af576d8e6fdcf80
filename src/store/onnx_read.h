/* SPDX-License-Identifier: MIT
 *
 * An ONNX file as its messages: the model, unpacked within the memory limit, its constants by name, and the
 * attributes of a node. Sizes in the file are checked: a tensor that does not have the number of values of
 * its shape is rejected. */
#ifndef SPH_STORE_ONNX_READ_H
#define SPH_STORE_ONNX_READ_H

#include <stddef.h>
#include <stdint.h>

#include "onnx.pb-c.h"

enum { ONNX_READ_LEAST = 9, ONNX_READ_MOST = 24, ONNX_MOST_DIMS = 8, ONNX_MOST_NODES = 20000 };

/* Numbers that nodes read, over all nodes: each may read the same constant, or change the same layer. */
#define ONNX_MOST_NUMBERS ((size_t)1 << 30)

struct onnx_file {
    const char *path; /* borrowed */
    Onnx__Model *model;
    const Onnx__Graph *graph; /* never NULL once open */
    int64_t opset;
};

/* Refuses what is no model, or of an opset that is not known. onnx_close is fine after a failed open. */
int onnx_open(struct onnx_file *out, const char *path);
void onnx_close(struct onnx_file *file);

/* A constant: dims, count and, in f64, the numbers. Caller frees the values. what: a name for messages. */
struct onnx_numbers {
    size_t shape[ONNX_MOST_DIMS], dims, count;
    int is_double; /* more than f32 */
    double *values;
};
int onnx_tensor_read(const struct onnx_file *file, const Onnx__Tensor *tensor, const char *what,
                     struct onnx_numbers *out);

/* "model.onnx: node 'NAME' (OP): ...", SPH_EFORMAT. */
int onnx_refuse(const struct onnx_file *file, const Onnx__Node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Attributes; where the node has none of the name, the value that is given. */
const Onnx__Attribute *onnx_attribute(const Onnx__Node *node, const char *name); /* or NULL */
int64_t onnx_int(const Onnx__Node *node, const char *name, int64_t otherwise);
double onnx_float(const Onnx__Node *node, const char *name, double otherwise);

/* Of a tensor of type bool: its first element. */
int onnx_is_true(const Onnx__Tensor *tensor);

/* Text that may be NULL in a message. */
const char *onnx_word(const char *text);

#endif
