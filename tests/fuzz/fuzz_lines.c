/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: lines of text are parted into the fields that libcsv makes of them. The first byte chooses the
 * delimiter. */
#include <csv.h>

#include "base/text.h"
#include "data/csv.h"
#include "fuzz.h"

/* Fields and rows as a sum: FNV-1a, with a sign after each. */
static void add(uint64_t *sum, const void *bytes, size_t length, unsigned char sign)
{
    for (size_t i = 0; i < length; i++)
        *sum = (*sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    *sum = (*sum ^ sign) * 1099511628211u + 256;
}

static int our_row(void *user, size_t line, const struct csv_field *fields, size_t count)
{
    (void)line;
    for (size_t i = 0; i < count; i++)
        add(user, fields[i].text, fields[i].length, 1);
    add(user, "", 0, 2);
    return 0;
}

struct theirs {
    uint64_t sum;
    size_t fields;
};

static void their_field(void *bytes, size_t length, void *user)
{
    struct theirs *theirs = user;
    theirs->fields++;
    add(&theirs->sum, bytes, length, 1);
}

static void their_row(int terminator, void *user)
{
    struct theirs *theirs = user;
    (void)terminator;
    if (theirs->fields)
        add(&theirs->sum, "", 0, 2);
    theirs->fields = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { STRICT = CSV_APPEND_NULL | CSV_REPALL_NL | CSV_STRICT | CSV_STRICT_FINI };
    struct theirs theirs = {0};
    struct csv_parser parser;
    uint64_t ours = 0;
    if (!length || memchr(bytes, 0, length)) /* a text table has no NUL */
        return 0;
    char delimiter = ",;\t|"[bytes[0] % 4];
    const char *text = (const char *)bytes + 1;
    length--;
    csv_sniff(text, length, delimiter);
    if (bytes[0] & 4)
        csv_read("t", text, length, ' ', our_row, &ours);
    ours = 0;
    int err = csv_read("t", text, length, delimiter, our_row, &ours);
    for (size_t i = 0; i < length; i++)
        if (bytes[1 + i] >= 0x80) /* fields are made UTF-8, theirs are not */
            return 0;
    csv_init(&parser, CSV_APPEND_NULL | CSV_REPALL_NL);
    csv_set_delim(&parser, (unsigned char)delimiter);
    csv_parse(&parser, text, length, their_field, their_row, &theirs);
    csv_set_opts(&parser, STRICT);
    int failed = csv_fini(&parser, their_field, their_row, &theirs) != 0;
    csv_free(&parser);
    if (failed != (err < 0) || (!failed && ours != theirs.sum))
        abort();
    return 0;
}
