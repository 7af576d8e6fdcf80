/* SPDX-License-Identifier: MIT
 *
 * Mutations that leave an .npz what it is: a zip whose sums and lengths are right, of arrays one of which has
 * another header, other numbers or another name. */
#include <archive.h>
#include <archive_entry.h>

#include "fuzz.h"

enum { MEMBERS_MOST = 40, MEMBER_MOST = 1 << 15, NAME_MOST = 64, HEAD = 10, DICT_MOST = 200 };

struct member {
    char name[NAME_MOST];
    uint8_t *bytes; /* (MEMBER_MOST) */
    size_t length;
};

struct zip {
    struct member member[MEMBERS_MOST];
    size_t count;
};

static struct zip zip; /* one mutation at a time */

static struct member *add(const char *name)
{
    struct member *member = &zip.member[zip.count++];
    if (!member->bytes && !(member->bytes = malloc(MEMBER_MOST)))
        abort();
    snprintf(member->name, sizeof member->name, "%s", name);
    member->length = 0;
    return member;
}

static int unpack(const uint8_t *bytes, size_t length)
{
    struct archive *in = archive_read_new();
    struct archive_entry *entry;
    zip.count = 0;
    archive_read_support_format_zip(in);
    if (archive_read_open_memory(in, bytes, length) == ARCHIVE_OK)
        while (zip.count < MEMBERS_MOST && archive_read_next_header(in, &entry) == ARCHIVE_OK) {
            const char *name = archive_entry_pathname(entry);
            struct member *member = add(name ? name : "");
            la_ssize_t got = archive_read_data(in, member->bytes, MEMBER_MOST);
            member->length = got > 0 ? (size_t)got : 0;
        }
    archive_read_free(in);
    return zip.count > 0;
}

/* 0: it does not fit. */
static size_t pack(uint8_t *bytes, size_t most, int deflate)
{
    struct archive *out = archive_write_new();
    size_t used = 0;
    int status = archive_write_set_format_zip(out);
    if (!deflate)
        archive_write_zip_set_compression_store(out);
    archive_write_set_bytes_in_last_block(out, 1);
    if (status == ARCHIVE_OK)
        status = archive_write_open_memory(out, bytes, most, &used);
    for (size_t i = 0; i < zip.count && status == ARCHIVE_OK; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, zip.member[i].name);
        archive_entry_set_size(entry, (la_int64_t)zip.member[i].length);
        archive_entry_set_filetype(entry, AE_IFREG);
        status = archive_write_header(out, entry);
        if (status == ARCHIVE_OK && archive_write_data(out, zip.member[i].bytes, zip.member[i].length) < 0)
            status = ARCHIVE_FATAL;
        archive_entry_free(entry);
    }
    if (archive_write_close(out) != ARCHIVE_OK)
        status = ARCHIVE_FATAL;
    archive_write_free(out);
    return status == ARCHIVE_OK ? used : 0;
}

/* ---------------------------------------------------------------- an array */

/* Where its numbers begin. */
static size_t start_of(const struct member *member)
{
    size_t start = member->length < HEAD ? 0 : HEAD + (size_t)(member->bytes[8] | member->bytes[9] << 8);
    return start <= member->length ? start : 0;
}

/* Another header before its numbers. */
static void set_header(struct member *member, const void *dict, size_t length)
{
    size_t start = start_of(member), numbers = member->length - start;
    if (HEAD + length + numbers > MEMBER_MOST)
        numbers = MEMBER_MOST - HEAD - length;
    memmove(member->bytes + HEAD + length, member->bytes + start, numbers);
    memcpy(member->bytes, "\x93NUMPY\1", 8);
    member->bytes[8] = (uint8_t)length;
    member->bytes[9] = (uint8_t)(length >> 8);
    memcpy(member->bytes + HEAD, dict, length);
    member->length = HEAD + length + numbers;
}

/* A shape and type, mostly with as many numbers as they ask for. */
static void describe(struct member *member, unsigned *random)
{
    static const char *const types[] = {"<f8", "<f4", "|u1", "<u8", ">i2", "|b1", "<i4", "<f2", "|O", "<u2"};
    static const unsigned sizes[] = {8, 4, 1, 8, 2, 1, 4, 2, 8, 2};
    static const char *const dims[] = {"1",  "2",    "3", "3",          "4",
                                       "12", "3072", "0", "4294967296", "4611686018427387904"};
    static const size_t values[] = {1, 2, 3, 3, 4, 12, 3072, 0, 0, 0};
    char dict[DICT_MOST], shape[100] = "";
    size_t type = fuzz_random(random) % 16, bytes, ndim = fuzz_random(random) % 12;
    type = type < 10 ? type : type % 3;
    ndim = ndim < 6 ? ndim : 1 + ndim % 3;
    bytes = sizes[type];
    for (size_t i = 0; i < ndim; i++) {
        size_t dim = fuzz_random(random) % 20;
        dim = dim < 10 ? dim : dim % 5;
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s, ", dims[dim]);
        bytes *= values[dim];
    }
    snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", types[type],
             fuzz_random(random) % 8 ? "False" : "True", shape);
    set_header(member, dict, strlen(dict));
    size_t start = start_of(member), whole = start + bytes;
    if (fuzz_random(random) % 4 == 0 || whole > MEMBER_MOST)
        return;
    for (size_t i = member->length; i < whole; i++)
        member->bytes[i] = (uint8_t)(i % 8 == 7 ? 0x3f : 1);
    member->length = whole;
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t most);

static void change(const char *const *names, size_t name_count, unsigned *random)
{
    static uint8_t text[1024];
    struct member *member = &zip.member[fuzz_random(random) % zip.count];
    size_t start = start_of(member);
    const char *name = names[fuzz_random(random) % name_count];
    switch (fuzz_random(random) % 7) {
    case 0: /* its numbers */
        member->length =
            start + LLVMFuzzerMutate(member->bytes + start, member->length - start, MEMBER_MOST - start);
        return;
    case 1: /* the words of its header */
        if (start <= HEAD || start - HEAD > sizeof text)
            return;
        memcpy(text, member->bytes + HEAD, start - HEAD);
        set_header(member, text, LLVMFuzzerMutate(text, start - HEAD, sizeof text));
        return;
    case 2:
        snprintf(member->name, sizeof member->name, "%s.npy", name);
        return;
    case 3: /* one more */
        if (zip.count < MEMBERS_MOST) {
            const struct member *from = member;
            member = add("");
            snprintf(member->name, sizeof member->name, "%s.npy", name);
            memcpy(member->bytes, from->bytes, member->length = from->length);
        }
        return;
    case 4: /* all of it, its frame too */
        member->length = LLVMFuzzerMutate(member->bytes, member->length, MEMBER_MOST);
        return;
    default:
        describe(member, random);
    }
}

static void drop(unsigned *random)
{
    size_t k = fuzz_random(random) % zip.count;
    struct member gone = zip.member[k];
    zip.member[k] = zip.member[--zip.count];
    zip.member[zip.count] = gone; /* its bytes are used again */
}

size_t fuzz_mutate_npz(uint8_t *bytes, size_t length, size_t most, unsigned seed, const char *const *names,
                       size_t name_count)
{
    unsigned random = seed;
    if (fuzz_random(&random) % 16 == 0)
        return LLVMFuzzerMutate(bytes, length, most);
    if (!unpack(bytes, length))
        for (size_t i = 0; i < name_count && i < 4; i++) {
            char name[NAME_MOST];
            snprintf(name, sizeof name, "%s.npy", names[i]);
            describe(add(name), &random);
        }
    if (zip.count > 1 && fuzz_random(&random) % 16 == 0)
        drop(&random);
    for (unsigned i = 0; i <= fuzz_random(&random) % 3; i++)
        change(names, name_count, &random);
    size_t written = pack(bytes, most, fuzz_random(&random) % 4 == 0);
    return written ? written : LLVMFuzzerMutate(bytes, length, most);
}
