/* SPDX-License-Identifier: MIT
 *
 * The kinds of option values: conversion from text to value and back. options.h defines the kind and the
 * check of each option. */
#ifndef SPH_JOB_OPTION_KINDS_H
#define SPH_JOB_OPTION_KINDS_H

#include "job/options.h"

enum option_kind {
    KIND_SIZE,
    KIND_BATCH,
    KIND_SIZES,
    KIND_U64,
    KIND_REAL,
    KIND_WORD,
    KIND_SWITCH,
    KIND_CHAR,
    KIND_TEXT,
    KIND_RECORD
};

#define CHECK_WORDS(id, list) CHECK_##id,
enum option_check {
    CHECK_ANY,
    CHECK_POSITIVE,
    CHECK_NOT_NEGATIVE,
    CHECK_FRACTION, /* [0, 1) */
    CHECK_SHARE,    /* (0, 1] */
    CHECK_THREADS,
    CHECK_DRAW, /* "seed", "authors" or a whole number */
    CHECK_PROTOCOLS,
    CHECK_LOGS,
    CHECK_ENSEMBLE_VALS,
    CHECK_SYNC_NORMS,
    CHECK_SCALES,
    CHECK_INDICATORS,
    SPH_WORD_KINDS(CHECK_WORDS) /* one of the words of a list: CHECK_DTYPE ... */
};

struct option_rule {
    enum option_kind kind;
    enum option_check check;
    size_t offset; /* of its member of struct job_options */
    size_t size;   /* likewise                            */
    const char *key, *argument;
};

union option_value {
    size_t size;
    struct option_sizes sizes;
    uint64_t u64;
    double real;
    int word;
    char character;
    char *text;
    struct moments_list record;
};

/* What an option without a value reads as. */
union option_value option_unset(const struct option_rule *rule);

/* 0; 1 for a word that leaves the choice to the job, *out is unset then; or a failure that says what was found
 * and expected. Free with option_free. */
int option_parse(union option_value *out, const struct option_rule *rule, const char *text);
void option_free(const struct option_rule *rule, union option_value *value);

/* Gives copied bytes memory of their own, where the kind needs any. */
int option_own(const struct option_rule *rule, union option_value *value);

/* Appends the canonical text of a value that is set. */
void option_add(struct text *out, const struct option_rule *rule, const union option_value *value);

/* What --draw says: whether the points are numpy's, and by which seed. */
int option_draw(const char *text, uint32_t *seed);

/* A word of the list that the check names. */
const char *option_word(enum option_check check, int word);

#endif
