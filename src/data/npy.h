/* SPDX-License-Identifier: MIT
 *
 * The header of an NPY file, versions 1 to 3, and the kinds of numbers that may stand behind it. */
#ifndef SPH_DATA_NPY_H
#define SPH_DATA_NPY_H

#include <stddef.h>

enum { NPY_DIMS = 4 };

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

/* An element at p, which need not be aligned. */
double npy_number(const unsigned char *p, char type, size_t size, int swapped);

#endif
