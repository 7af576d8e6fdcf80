/* SPDX-License-Identifier: MIT
 *
 * NPY, versions 1 to 3: numpy's header (a Python dict literal) and the numbers after it, read in place. */
#include "data/npy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/text.h"
#include "data/registry.h"

/* ---------------------------------------------------------------- numbers */

double npy_number(const unsigned char *p, char type, size_t size, int swapped)
{
    unsigned char b[8] = {0};
    for (size_t i = 0; i < size; i++)
        b[i] = swapped ? p[size - 1 - i] : p[i];
    union {
        unsigned char b[8];
        float f4;
        double f8;
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint16_t u2;
        uint32_t u4;
        uint64_t u8;
    } v;
    memcpy(v.b, b, sizeof b);
    switch (type) {
    case 'f':
        return size == 4 ? (double)v.f4 : v.f8;
    case 'i':
        return size == 1 ? v.i1 : size == 2 ? v.i2 : size == 4 ? v.i4 : (double)v.i8;
    case 'u':
        return size == 1 ? b[0] : size == 2 ? v.u2 : size == 4 ? v.u4 : (double)v.u8;
    default:
        return b[0] != 0;
    }
}

double array_at(const struct array *array, size_t row, size_t column)
{
    size_t index = array->fortran ? column * array->rows + row : row * array->columns + column;
    return npy_number(array->bytes + index * array->size, array->type, array->size, array->swapped);
}

/* ---------------------------------------------------------------- the header */

struct literal {
    const char *p, *end;
};

static void skip_blanks(struct literal *in)
{
    while (in->p < in->end && (*in->p == ' ' || *in->p == '\n' || *in->p == '\t'))
        in->p++;
}

static int take(struct literal *in, char c)
{
    skip_blanks(in);
    if (in->p == in->end || *in->p != c)
        return 0;
    in->p++;
    return 1;
}

static int take_word(struct literal *in, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(in);
    if ((size_t)(in->end - in->p) < n || memcmp(in->p, word, n) != 0)
        return 0;
    in->p += n;
    return 1;
}

static int take_string(struct literal *in, char *out, size_t size)
{
    char quote = take(in, '\'') ? '\'' : take(in, '"') ? '"' : '\0';
    size_t n = 0;
    if (!quote)
        return 0;
    for (; in->p < in->end && *in->p != quote; in->p++) {
        if (n + 1 >= size)
            return 0;
        out[n++] = *in->p;
    }
    out[n] = '\0';
    return take(in, quote);
}

/* -1: no number; 0: too big; 1: taken. */
static int take_size(struct literal *in, size_t *out)
{
    skip_blanks(in);
    if (in->p == in->end || *in->p < '0' || *in->p > '9')
        return -1;
    size_t value = 0;
    int fits = 1;
    for (; in->p < in->end && *in->p >= '0' && *in->p <= '9'; in->p++)
        fits &= size_times(&value, value, 10) && size_plus(&value, value, (size_t)(*in->p - '0'));
    if (in->p < in->end && *in->p == 'L') /* Python 2 */
        in->p++;
    *out = value;
    return fits;
}

struct description {
    char descr[32];
    int fortran;
    size_t shape[NPY_DIMS], ndim;
    size_t count; /* product of all dimensions */
    int too_big;
};

static int take_shape(struct literal *in, struct description *out)
{
    out->count = 1;
    if (!take(in, '('))
        return 0;
    while (!take(in, ')')) {
        size_t value = 0;
        int taken = take_size(in, &value);
        if (taken < 0)
            return 0;
        out->too_big |= !taken || !size_times(&out->count, out->count, value);
        if (out->ndim < NPY_DIMS)
            out->shape[out->ndim] = value;
        out->ndim++;
        if (!take(in, ',')) {
            if (!take(in, ')'))
                return 0;
            break;
        }
    }
    return 1;
}

/* A key that comes again would undo what was checked of the first. */
static int take_key(struct literal *in, int *key, int *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char word[32];
    if (!take_string(in, word, sizeof word) || !take(in, ':'))
        return 0;
    *key = text_find(word, keys, 3);
    if (*key < 0 || *seen & 1 << *key)
        return 0;
    *seen |= 1 << *key;
    return 1;
}

static int take_header(struct literal *in, struct description *out)
{
    enum { DESCR, FORTRAN_ORDER, SHAPE };
    int seen = 0, key;
    if (!take(in, '{'))
        return 0;
    while (!take(in, '}')) {
        if (!take_key(in, &key, &seen))
            return 0;
        if (key == DESCR) {
            /* A list describes a record; it is refused below like any other foreign type. */
            if (take(in, '[')) {
                memcpy(out->descr, "record", 7);
                return 1;
            }
            if (!take_string(in, out->descr, sizeof out->descr))
                return 0;
        } else if (key == FORTRAN_ORDER) {
            if (take_word(in, "True"))
                out->fortran = 1;
            else if (!take_word(in, "False"))
                return 0;
        } else if (!take_shape(in, out)) {
            return 0;
        }
        if (!take(in, ',')) {
            if (!take(in, '}'))
                return 0;
            break;
        }
    }
    return seen == 7;
}

static int set_type(struct npy_header *out, const char *descr, const char *where)
{
    static const char *const known[] = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
    static const char ours = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    const char *name = descr;
    char order = '|';
    if (*name && strchr("<>|=", *name))
        order = *name++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i])) {
            out->type = name[0];
            out->size = (size_t)(name[1] - '0');
            out->swapped = (order == '<' || order == '>') && order != ours;
            return 0;
        }
    return sph_fail_at(SPH_EFORMAT, where, "numbers of type '%s', expected floats, integers or bool", descr);
}

int npy_read_header(struct npy_header *out, const unsigned char *bytes, size_t length, const char *where)
{
    *out = (struct npy_header){0};
    struct cursor file = cursor_over(bytes, length);
    if (!cursor_passes(&file, "\x93NUMPY", 6) || cursor_left(&file) < 4)
        return sph_fail_at(SPH_EFORMAT, where, "not an NPY file: it does not begin with \\x93NUMPY");
    unsigned major = (unsigned)cursor_little(&file, 1);
    if (major < 1 || major > 3)
        return sph_fail_at(SPH_EFORMAT, where, "NPY version %u, expected 1, 2 or 3", major);
    cursor_take(&file, 1);
    const char *text = (const char *)cursor_take(&file, cursor_little(&file, major == 1 ? 2 : 4));
    if (!text)
        return sph_fail_at(SPH_EFORMAT, where, "the file ends within its NPY header");

    struct literal in = {text, (const char *)file.at};
    struct description header = {0};
    int understood = take_header(&in, &header);
    if (understood && !strcmp(header.descr, "record"))
        return sph_fail_at(SPH_EFORMAT, where, "records (a structured type), expected plain numbers");
    if (!understood)
        return sph_fail_at(SPH_EFORMAT, where, "the NPY header is malformed near byte %zu",
                           (size_t)(in.p - (const char *)bytes));
    int err = set_type(out, header.descr, where);
    if (err < 0)
        return err;
    memcpy(out->shape, header.shape, sizeof out->shape);
    out->ndim = header.ndim;
    out->fortran = header.fortran;
    out->start = (size_t)(file.at - bytes);
    out->count = header.count;
    out->too_big = header.too_big || !size_times(&out->bytes, header.count, out->size);
    return 0;
}

size_t npy_write_header(unsigned char out[NPY_HEADER], const char *type, const size_t *shape, size_t ndim)
{
    static const char ours = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    enum { START = 10, ALIGN = 64 };
    char list[128] = "", dict[NPY_HEADER];
    size_t used = 0;
    for (size_t i = 0; i < ndim; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%zu%s", shape[i],
                                 ndim == 1      ? ","
                                 : i + 1 < ndim ? ", "
                                                : "");
    int n = snprintf(dict, sizeof dict, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                     type[0] == '<' ? ours : type[0], type + 1, list);
    size_t length = ((size_t)n + START + 1 + ALIGN - 1) / ALIGN * ALIGN;
    assert(length <= NPY_HEADER);
    memset(out, ' ', length);
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (unsigned char)((length - START) & 0xff);
    out[9] = (unsigned char)((length - START) >> 8);
    memcpy(out + START, dict, (size_t)n);
    out[length - 1] = '\n';
    return length;
}

int npy_array(struct array *out, const struct npy_header *header, const char *where)
{
    *out = (struct array){0};
    if (header->ndim != 1 && header->ndim != 2)
        return sph_fail_at(SPH_EFORMAT, where, "an array of %zu dimensions, expected 1 or 2", header->ndim);
    *out = (struct array){.rows = header->shape[0],
                          .columns = header->ndim == 2 ? header->shape[1] : 1,
                          .type = header->type,
                          .size = header->size,
                          .swapped = header->swapped,
                          .fortran = header->fortran};
    if (header->too_big)
        return sph_fail_at(SPH_EFORMAT, where, "the array's shape is too large");
    if (!header->count)
        return sph_fail_at(SPH_EFORMAT, where, "no %s", out->rows ? "columns" : "rows");
    return 0;
}

int npy_parse(struct array *out, const unsigned char *bytes, size_t length, const char *where)
{
    struct npy_header header;
    *out = (struct array){0};
    int err = npy_read_header(&header, bytes, length, where);
    if (!err)
        err = npy_array(out, &header, where);
    if (err < 0)
        return err;
    size_t held = length - header.start;
    if (held != header.bytes)
        return sph_fail_at(SPH_EFORMAT, where, "%zu bytes of numbers, expected %zu (%zu x %zu of %zu bytes)",
                           held, header.bytes, out->rows, out->columns, out->size);
    out->bytes = bytes + header.start;
    return 0;
}

static int open_npy(struct sheet *sheet, const struct sheet_hints *hints)
{
    (void)hints;
    int err = npy_parse(&sheet->x, (const unsigned char *)sheet->bytes, sheet->length, sheet->path);
    if (err < 0)
        return err;
    sheet->rows = sheet->x.rows;
    sheet->columns = sheet->x.columns;
    return sheet_set_names(sheet, NULL);
}

static int knows_npy(const struct reader_file *file)
{
    return reader_ends(file, ".npy") || (file->length >= 6 && !memcmp(file->bytes, "\x93NUMPY", 6));
}

const struct reader reader_npy = {.knows = knows_npy, .open_sheet = open_npy};
