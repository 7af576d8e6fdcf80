/* SPDX-License-Identifier: MIT
 *
 * Delimited text to rows of fields. Knows nothing of what the fields mean. */
#ifndef SPH_DATA_CSV_H
#define SPH_DATA_CSV_H

#include <stddef.h>
#include <stdint.h>

/* fields (count): UTF-8 (bytes that are not are taken as Latin-1), valid during the call, with CSV_PAD bytes behind
 * each that may be read and mean nothing. line: where the row
 * begins, from 1. Empty lines give no row. A negative return ends the reading and is returned. */
enum { CSV_PAD = 16 };
typedef int csv_row(void *user, size_t line, const char *const *fields, size_t count);

/* A line as it stands in the file, offered before it is parted into fields: returns what is behind its line feed, or NULL: it
 * comes by csv_row. No byte at or behind end may be read. */
typedef const char *csv_line(void *user, const char *line, const char *end);

/* delimiter ' ' means runs of blanks and tabs; lines are then not offered, nor where offer is NULL. path is for messages. */
int csv_read(const char *path, const char *bytes, size_t length, char delimiter, csv_line *offer,
             csv_row *row, void *user);

/* The likely delimiter: `likely` (0: none) if every one of the first lines has it, else comma, semicolon,
 * tab, bar or ' '. */
char csv_sniff(const char *bytes, size_t length, char likely);

#endif
