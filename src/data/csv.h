/* SPDX-License-Identifier: MIT
 *
 * Splits delimited text into rows of fields. The meaning of fields is not known here, except for plain
 * numbers. */
#ifndef SPH_DATA_CSV_H
#define SPH_DATA_CSV_H

#include <stddef.h>
#include <stdint.h>

enum csv_kind {
    CSV_NUMBER, /* [-]digits[.digits][e[+-]digits], finite */
    CSV_TEXT,   /* anything else that is in the file as it is */
    CSV_MADE    /* text that is gone after the call: quotes were doubled, or it was Latin-1 */
};

struct csv_field {
    const char *text; /* (length) UTF-8, without the blanks and quotes around it; no NUL behind it */
    union {
        double number; /* of CSV_NUMBER */
        size_t place;  /* csv.c's own   */
    };
    uint32_t length, kind;
};

/* line: where the row begins, from 1. Empty lines give no row. A negative return ends the reading and is returned. */
typedef int csv_row(void *user, size_t line, const struct csv_field *fields, size_t count);

/* delimiter ' ' means runs of blanks and tabs. path is for messages. Bytes that are not UTF-8 are taken as Latin-1. */
int csv_read(const char *path, const char *bytes, size_t length, char delimiter, csv_row *row, void *user);

/* The likely delimiter: `likely` (0: none) if every one of the first lines has it, else comma, semicolon,
 * tab, bar or ' '. */
char csv_sniff(const char *bytes, size_t length, char likely);

#endif
