/* SPDX-License-Identifier: MIT
 *
 * The header of an NPY file, versions 1 to 3, and the types of numbers that may follow. */
#ifndef SPH_DATA_NPY_H
#define SPH_DATA_NPY_H

#include <stddef.h>

struct array; /* sheet.h */

enum { NPY_DIMS = 4, NPY_HEADER = 256 };

struct npy_header {
    char type;                    /* 'f' 'i' 'u' 'b'                        */
    size_t size;                  /* bytes of an element                    */
    int swapped;                  /* other byte order than ours             */
    int fortran;                  /* column after column                    */
    size_t shape[NPY_DIMS], ndim; /* ndim may be larger: the rest is lost   */
    size_t count, bytes;          /* of the numbers, unless they are        */
    int too_big;                  /* for any memory                         */
    size_t start;                 /* where the numbers begin                */
};

/* bytes: the first length bytes of the file, its header whole. What follows the header is not looked at.
 * where begins the message. */
int npy_read_header(struct npy_header *out, const unsigned char *bytes, size_t length, const char *where);

/* array <- what the header says, 1-D or 2-D and not empty, else it is refused; its bytes are left to the caller. */
int npy_array(struct array *out, const struct npy_header *header, const char *where);

/* NPY 1.0 with its numbers aligned, as numpy writes it. type: "<f4" "<f8" "<u8" "|u1", '<' being this machine's order. Returns
 * its length. */
size_t npy_write_header(unsigned char out[NPY_HEADER], const char *type, const size_t *shape, size_t ndim);

/* An element at p, which need not be aligned. */
double npy_number(const unsigned char *p, char type, size_t size, int swapped);

#endif
