/* SPDX-License-Identifier: MIT */
#include "data/npz.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/levels.h"
#include "file/file.h"
#include "base/memory.h"
#include "data/npz_names.h"

/* Entries of the directory that may be gone by, over all reads: arrays that are asked for in another order than they have in the
 * file make the zip be opened again. 500 arrays can be had in any order. */
enum { WALKED_MOST = 500000, MEMBERS_MOST = 10000 };

enum {
    HEADER_MOST = 1 << 17, /* bytes of a member that are searched for its NPY header       */
    PIECE = 1 << 24        /* shown to libarchive at a time: it cannot sum more than 4 GB */
};

struct member {
    char *name;
    size_t entry; /* its place in the zip */
    struct npy_header header;
    const unsigned char *numbers; /* NULL: not yet read */
    unsigned char *own;           /* the unpacked member, where it does not lie in the file as it is */
};

struct npz {
    char *path;
    const unsigned char *bytes; /* (length) of the zip */
    size_t length;
    struct file_map map; /* where npz_open has them from */
    npz_wanted *wanted;
    struct member *member;
    size_t count, capacity;
    struct levels names; /* of the members, in their order */
    size_t entries;      /* of the zip: members, and what is no array */
    struct archive *zip;
    struct npz_names locale;
    size_t next, walked; /* the entry that zip comes to next */
};

/* ---------------------------------------------------------------- the zip */

static int fail_zip(const struct npz *npz, const char *name, struct archive *zip)
{
    const char *reason = archive_error_string(zip);
    if (archive_errno(zip) == ENOMEM)
        return sph_fail(SPH_EMEMORY, "out of memory: unpacking %s", npz->path);
    return sph_fail_at(SPH_EFORMAT, npz->path, "%s%s%s", name, *name ? ": " : "",
                       reason ? reason : "cannot be unpacked");
}

static void close_zip(struct npz *npz)
{
    if (npz->zip)
        archive_read_free(npz->zip);
    npz->zip = NULL;
    npz->next = 0;
}

/* By its directory, which stands at the end: without it the members of a file that was cut short would look
 * whole. */
static int open_zip(struct npz *npz)
{
    struct archive *zip = archive_read_new();
    close_zip(npz);
    if (!zip)
        return sph_fail(SPH_EMEMORY, "out of memory: opening %s", npz->path);
    if (archive_read_support_format_zip_seekable(zip) == ARCHIVE_OK &&
        archive_read_open_memory2(zip, npz->bytes, npz->length, PIECE) == ARCHIVE_OK) {
        npz->zip = zip;
        npz->walked += npz->entries;
        return 0;
    }
    int memory = archive_errno(zip) == ENOMEM;
    archive_read_free(zip);
    if (memory)
        return sph_fail(SPH_EMEMORY, "out of memory: opening %s", npz->path);
    int is_zip = npz->length >= 4 && !memcmp(npz->bytes, "PK\3\4", 4);
    int is_empty = npz->length >= 4 && !memcmp(npz->bytes, "PK\5\6", 4);
    return sph_fail_at(SPH_EFORMAT, npz->path, "%s",
                       is_zip     ? "the file is cut short: its zip directory is missing"
                       : is_empty ? "an empty zip file, expected arrays"
                                  : "not an npz file: it is not a zip file");
}

/* Entries come in the order of their places. One that begins before the place up to which the one before it was read would be
 * read again: a few bytes for each entry could ask for any amount of work. */
static int next_entry(struct npz *npz, struct archive_entry **entry)
{
    npz_names_begin(&npz->locale);
    la_int64_t before = archive_filter_bytes(npz->zip, -1);
    int status = archive_read_next_header(npz->zip, entry);
    npz_names_end(&npz->locale);
    npz->next++;
    npz->walked++;
    if (status == ARCHIVE_EOF)
        return 0;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
        return fail_zip(npz, "", npz->zip);
    if (npz->next > 1 && archive_filter_bytes(npz->zip, -1) < before)
        return sph_fail_at(SPH_EFORMAT, npz->path, "entry %zu of the zip file overlaps the one before",
                           npz->next);
    return 1;
}

/* ---------------------------------------------------------------- headers */

static int check_header(const struct npz *npz, const struct member *member)
{
    const struct npy_header *header = &member->header;
    if (header->ndim > NPZ_DIMS)
        return sph_fail_of(SPH_EFORMAT, npz->path, 0, member->name,
                           "%s: an array of %zu dimensions, expected at most %d", member->name, header->ndim,
                           NPZ_DIMS);
    if (header->too_big)
        return sph_fail_of(SPH_EFORMAT, npz->path, 0, member->name, "%s: the array's shape is too large",
                           member->name);
    return 0;
}

static int add_name(struct npz *npz, const char *name)
{
    size_t place;
    if (levels_place(&npz->names, name, &place) < 0)
        return SPH_EMEMORY;
    return place + 1 == npz->count
               ? 0
               : sph_fail_of(SPH_EFORMAT, npz->path, 0, name, "%s: two arrays of this name", name);
}

static int read_header(const struct npz *npz, struct member *member, unsigned char *bytes)
{
    size_t length = 0;
    for (la_ssize_t got = 1; got && length < HEADER_MOST; length += (size_t)got)
        if ((got = archive_read_data(npz->zip, bytes + length, HEADER_MOST - length)) < 0)
            return fail_zip(npz, member->name, npz->zip);
    int err = npy_read_header(&member->header, bytes, length, npz->path);
    if (err == SPH_EFORMAT)
        sph_fail_about(err, member->name, "%s", member->name);
    return err ? err : check_header(npz, member);
}

/* Members that are no arrays are passed over. */
static int add_member(struct npz *npz, struct archive_entry *entry, unsigned char *bytes)
{
    npz_names_begin(&npz->locale);
    const char *path = archive_entry_pathname(entry);
    npz_names_end(&npz->locale);
    size_t n = path ? strlen(path) : 0;
    if (n < 4 || strcmp(path + n - 4, ".npy") != 0)
        return 0;
    if (npz->count == MEMBERS_MOST)
        return sph_fail_at(SPH_EFORMAT, npz->path, "more than %d arrays", MEMBERS_MOST);
    if (!mem_reserve((void **)&npz->member, &npz->capacity, npz->count + 1, sizeof *npz->member))
        return SPH_EMEMORY;
    struct member *member = &npz->member[npz->count];
    *member = (struct member){.name = mem_text_of(path, n - 4), .entry = npz->next - 1};
    if (!member->name)
        return SPH_EMEMORY;
    npz->count++;
    int err = add_name(npz, member->name);
    return err || (npz->wanted && !npz->wanted(member->name)) ? err : read_header(npz, member, bytes);
}

static int read_directory(struct npz *npz)
{
    unsigned char *header = mem_get(HEADER_MOST, 1);
    struct archive_entry *entry;
    int err = header ? open_zip(npz) : SPH_EMEMORY, more = 0;
    for (; !err && (more = next_entry(npz, &entry)) > 0; npz->entries++)
        err = add_member(npz, entry, header);
    close_zip(npz);
    npz->walked = 0;
    mem_free(header);
    return more < 0 ? more : err;
}

/* bytes NULL: those of the file. */
static int open_any(struct npz **out, const char *path, const void *bytes, size_t length, npz_wanted *wanted)
{
    struct npz *npz = *out = mem_get(1, sizeof *npz);
    int err = npz && (npz->path = mem_text(path)) ? 0 : SPH_EMEMORY;
    if (!err && !bytes)
        err = file_map(&npz->map, path);
    if (!err) {
        npz->bytes = bytes ? bytes : npz->map.data;
        npz->length = bytes ? length : npz->map.length;
        npz->wanted = wanted;
        err = read_directory(npz);
    }
    if (err) {
        npz_free(npz);
        *out = NULL;
    }
    return err;
}

int npz_open(struct npz **out, const char *path)
{
    return open_any(out, path, NULL, 0, NULL);
}

int npz_open_bytes(struct npz **out, const char *path, const void *bytes, size_t length, npz_wanted *wanted)
{
    return open_any(out, path, bytes, length, wanted);
}

void npz_free(struct npz *npz)
{
    if (!npz)
        return;
    close_zip(npz);
    for (size_t i = 0; i < npz->count; i++) {
        mem_free(npz->member[i].name);
        mem_free(npz->member[i].own);
    }
    mem_free(npz->member);
    levels_free(&npz->names);
    npz_names_free(&npz->locale);
    mem_free(npz->path);
    file_unmap(&npz->map);
    mem_free(npz);
}

static struct member *find(const struct npz *npz, const char *name)
{
    size_t place = levels_seen(&npz->names, name);
    return place == SIZE_MAX ? NULL : &npz->member[place];
}

const char *npz_name(const struct npz *npz, size_t i)
{
    return i < npz->count ? npz->member[i].name : NULL;
}

int npz_find(const struct npz *npz, const char *name, size_t shape[NPZ_DIMS], size_t *ndim)
{
    const struct member *member = find(npz, name);
    if (!member)
        return 0;
    if (shape)
        memcpy(shape, member->header.shape, sizeof member->header.shape);
    if (ndim)
        *ndim = member->header.ndim;
    return 1;
}

/* ---------------------------------------------------------------- numbers */

/* The bytes of a member as they come. Those that lie in the file as they are need not be copied. */
struct bytes {
    const unsigned char *first; /* in the file, as long as own is NULL */
    unsigned char *own;
    size_t used, capacity;
};

/* whole: of how many; where deflate can make so many of the file, memory is asked for once. */
static int add_piece(const struct npz *npz, struct bytes *bytes, const void *piece, size_t length,
                     size_t whole)
{
    enum { DEFLATE_MOST = 1032 };
    uintptr_t file = (uintptr_t)npz->bytes, at = (uintptr_t)piece;
    int in_file = at >= file && at - file <= npz->length && length <= npz->length - (at - file);
    if (!bytes->own && in_file && (!bytes->used || piece == bytes->first + bytes->used)) {
        bytes->first = bytes->used ? bytes->first : piece;
    } else {
        int begins = !bytes->own;
        if (begins && whole / DEFLATE_MOST <= npz->length) {
            if (!(bytes->own = mem_get_large(whole, 1)))
                return SPH_EMEMORY;
            bytes->capacity = whole;
        }
        if (!mem_reserve((void **)&bytes->own, &bytes->capacity, bytes->used + length, 1))
            return SPH_EMEMORY;
        if (begins && bytes->used)
            memcpy(bytes->own, bytes->first, bytes->used);
        memcpy(bytes->own + bytes->used, piece, length);
    }
    bytes->used += length;
    return 0;
}

/* Every byte goes by, so that the zip's sum is checked. */
static int read_pieces(const struct npz *npz, const struct member *member, struct bytes *bytes)
{
    const struct npy_header *header = &member->header;
    size_t whole;
    if (!size_plus(&whole, header->start, header->bytes))
        return sph_fail_at(SPH_EFORMAT, npz->path, "%s: the array's shape is too large", member->name);
    for (;;) {
        const void *piece;
        size_t length;
        la_int64_t offset;
        int err, status = archive_read_data_block(npz->zip, &piece, &length, &offset);
        if (status == ARCHIVE_EOF)
            break;
        if (status != ARCHIVE_OK)
            return fail_zip(npz, member->name, npz->zip);
        if (length > whole - bytes->used)
            return sph_fail_of(SPH_EFORMAT, npz->path, 0, member->name,
                               "%s: more bytes of numbers than the %zu expected", member->name,
                               header->bytes);
        if (length && (err = add_piece(npz, bytes, piece, length, whole)) < 0)
            return err;
    }
    if (bytes->used != whole)
        return sph_fail_of(SPH_EFORMAT, npz->path, 0, member->name, "%s: %zu bytes of numbers, expected %zu",
                           member->name, bytes->used - header->start, header->bytes);
    return 0;
}

static int load(struct npz *npz, struct member *member)
{
    struct archive_entry *entry;
    struct bytes bytes = {0};
    int err = npz->zip && npz->next <= member->entry ? 0 : open_zip(npz), more = 1;
    while (!err && more > 0 && npz->next <= member->entry)
        more = next_entry(npz, &entry);
    if (!err && npz->walked > WALKED_MOST)
        err = sph_fail_at(SPH_EFORMAT, npz->path, "%zu arrays in this order are too many", npz->count);
    if (!err)
        err = more < 0 ? more : read_pieces(npz, member, &bytes);
    if (err) {
        close_zip(npz);
        mem_free(bytes.own);
        return err;
    }
    member->own = bytes.own;
    member->numbers = (bytes.own ? bytes.own : bytes.first) + member->header.start;
    return 0;
}

int npz_numbers(struct npz *npz, const char *name, const struct npy_header **header,
                const unsigned char **numbers)
{
    struct member *member = find(npz, name);
    if (!member)
        return sph_fail_of(SPH_EARG, npz->path, 0, name, "no array named %s", name);
    int err = member->numbers ? 0 : load(npz, member);
    *header = &member->header;
    *numbers = member->numbers;
    return err;
}

int npz_read(struct npz *npz, const char *name, double *values, size_t first, size_t count)
{
    const struct npy_header *header;
    const unsigned char *from;
    int err = npz_numbers(npz, name, &header, &from);
    if (err < 0)
        return err;
    if (header->fortran && header->ndim > 1)
        return sph_fail_of(SPH_EFORMAT, npz->path, 0, name, "%s: numbers in Fortran's order, expected C's",
                           name);
    if (first > header->count || count > header->count - first)
        return sph_fail_of(SPH_EARG, npz->path, 0, name, "%s: %zu numbers from the %zu-th on, but it has %zu",
                           name, count, first, header->count);
    from += first * header->size;
    if (header->type == 'f' && header->size == sizeof *values && !header->swapped) {
        memcpy(values, from, count * sizeof *values);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = npy_number(from + i * header->size, header->type, header->size, header->swapped);
    return 0;
}
