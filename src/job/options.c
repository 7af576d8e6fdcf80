/* SPDX-License-Identifier: MIT
 *
 * The option table and the public job handle over it. */
#include "job/options.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/moments.h"

/* ---------------------------------------------------------------- the tables */

enum option_kind {
    KIND_SIZE,
    KIND_BATCH,
    KIND_SIZES,
    KIND_U64,
    KIND_REAL,
    KIND_WORD,
    KIND_SWITCH,
    KIND_CHAR,
    KIND_TEXT
};

enum option_check {
    CHECK_ANY,
    CHECK_POSITIVE,
    CHECK_NOT_NEGATIVE,
    CHECK_FRACTION, /* [0, 1) */
    CHECK_SHARE,    /* (0, 1] */
    CHECK_THREADS,
    CHECK_INIT,
    CHECK_RECORD,
    CHECK_DTYPES,
    CHECK_PARAMS,
    CHECK_NORMS,
    CHECK_ACTS,
    CHECK_LOSSES,
    CHECK_OPTIMIZERS,
    CHECK_TASKS,
    CHECK_SPLITS,
    CHECK_MISSINGS,
    CHECK_STANDARDIZES,
    CHECK_AUGMENTS,
    CHECK_CONVS,
    CHECK_NETS,
    CHECK_PROTOCOLS
};

enum { THREADS_MAX = 1024, SIZES_MAX = 1000 };

#define WORD_ITEM(id, word, help) word,

static const struct word_list {
    const char *words[8];
    size_t count;
} word_lists[] = {
    [CHECK_DTYPES] = {{SPH_DTYPES(WORD_ITEM)}, SPH_DTYPE_COUNT},
    [CHECK_PARAMS] = {{SPH_PARAMS(WORD_ITEM)}, SPH_PARAM_COUNT},
    [CHECK_NORMS] = {{SPH_NORMS(WORD_ITEM)}, SPH_NORM_COUNT},
    [CHECK_ACTS] = {{SPH_ACTS(WORD_ITEM)}, SPH_ACT_COUNT},
    [CHECK_LOSSES] = {{SPH_LOSSES(WORD_ITEM)}, SPH_LOSS_COUNT},
    [CHECK_OPTIMIZERS] = {{SPH_OPTIMIZERS(WORD_ITEM)}, SPH_OPTIMIZER_COUNT},
    [CHECK_TASKS] = {{SPH_TASKS(WORD_ITEM)}, SPH_TASK_COUNT},
    [CHECK_SPLITS] = {{SPH_SPLITS(WORD_ITEM)}, SPH_SPLIT_COUNT},
    [CHECK_MISSINGS] = {{SPH_MISSINGS(WORD_ITEM)}, SPH_MISSING_COUNT},
    [CHECK_STANDARDIZES] = {{SPH_STANDARDIZES(WORD_ITEM)}, SPH_STANDARDIZE_COUNT},
    [CHECK_AUGMENTS] = {{SPH_AUGMENTS(WORD_ITEM)}, SPH_AUGMENT_COUNT},
    [CHECK_CONVS] = {{SPH_CONVS(WORD_ITEM)}, SPH_CONV_COUNT},
    [CHECK_NETS] = {{OPTION_NETS(WORD_ITEM)}, NET_COUNT},
    [CHECK_PROTOCOLS] = {{OPTION_PROTOCOLS(WORD_ITEM)}, PROTOCOL_COUNT},
};

#define TABLE_ROW(id, field, name, kind, check, initial, section, key, argument, help)                       \
    {name, argument, initial, section, help},
static const sph_option table[OPTION_COUNT] = {OPTION_LIST(TABLE_ROW)};

#define RULE_ROW(id, field, name, kind, check, initial, section, key, argument, help)                        \
    {KIND_##kind, CHECK_##check, offsetof(struct job_options, field), key},
static const struct rule {
    enum option_kind kind;
    enum option_check check;
    size_t offset;
    const char *key;
} rules[OPTION_COUNT] = {OPTION_LIST(RULE_ROW)};

#define NAME_ITEM(id, field, name, kind, check, initial, section, key, argument, help) name,
static const char *const names[OPTION_COUNT] = {OPTION_LIST(NAME_ITEM)};

size_t sph_options(const sph_option **out)
{
    *out = table;
    return OPTION_COUNT;
}

const sph_option *option_row(enum option_id id)
{
    return &table[id];
}

const char *option_key(enum option_id id)
{
    return rules[id].key;
}

int option_is_number(enum option_id id)
{
    enum option_kind kind = rules[id].kind;
    return kind == KIND_SIZE || kind == KIND_U64 || kind == KIND_REAL || kind == KIND_SWITCH;
}

int option_is_list(enum option_id id)
{
    return rules[id].kind == KIND_SIZES || id == OPTION_TARGET || id == OPTION_DROP;
}

int option_find(const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *a = name, *b = names[i];
        while (*b && (*a == *b || (*a == '_' && *b == '-')))
            a++, b++;
        if (!*a && !*b)
            return i;
    }
    return -1;
}

/* ---------------------------------------------------------------- values */

/* A parsed value and its canonical text, not yet part of a job. */
struct value {
    union {
        size_t size;
        struct option_sizes sizes;
        uint64_t u64;
        double real;
        int word;
        char character;
    } as;
    char *text; /* NULL: unset */
};

static const char *range_words(const struct rule *rule)
{
    switch (rule->check) {
    case CHECK_POSITIVE:
        return rule->kind == KIND_REAL ? "a number greater than 0" : "a whole number, 1 or more";
    case CHECK_NOT_NEGATIVE:
        return "a number, 0 or more";
    case CHECK_FRACTION:
        return "a number from 0 to below 1";
    case CHECK_SHARE:
        return "a number above 0, at most 1";
    case CHECK_THREADS:
        return "a whole number from 1 to 1024";
    default:
        return "a whole number, 0 or more";
    }
}

static int in_range(enum option_check check, double x)
{
    switch (check) {
    case CHECK_POSITIVE:
        return x > 0;
    case CHECK_NOT_NEGATIVE:
        return x >= 0;
    case CHECK_FRACTION:
        return x >= 0 && x < 1;
    case CHECK_SHARE:
        return x > 0 && x <= 1;
    case CHECK_THREADS:
        return x >= 1 && x <= THREADS_MAX;
    default:
        return 1;
    }
}

static int expected(const char *found, const char *what)
{
    if (!*found)
        return sph_fail(SPH_EARG, "found nothing, expected %s", what);
    return sph_fail(SPH_EARG, "found '%s', expected %s", found, what);
}

/* The shortest text that reads back as the same number; fewer than 15 digits would write 30 as 3e+01. */
static char *real_text(double x)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        double back;
        if (text_to_double(text, &back) && back == x)
            break;
    }
    /* A host program may have set a locale that writes 0,5. */
    const char *point = localeconv()->decimal_point;
    char *at = strcmp(point, ".") ? strstr(text, point) : NULL;
    if (at) {
        *at = '.';
        memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
    }
    return mem_text(text);
}

static int unknown_word(const char *found, const char *const *words, size_t count, const char *choices)
{
    const char *nearest = text_nearest(found, words, count);
    if (!nearest)
        return sph_fail(SPH_EARG, "unknown word '%s' (%s)", found, choices);
    return sph_fail(SPH_EARG, "unknown word '%s', did you mean '%s'? (%s)", found, nearest, choices);
}

/* "100,50" or "none". */
static int parse_sizes(struct value *out, const char *value)
{
    static const char what[] = "sizes of hidden layers such as 100 or 100,50, or none";
    struct option_sizes sizes = {0};
    struct text text = {0};
    size_t capacity = 0;
    int err;

    for (const char *at = value; strcmp(value, "none") && at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char part[24] = "";
        size_t length = strcspn(at, ","), size;
        if (length < sizeof part)
            memcpy(part, at, length);
        if (!text_to_size(part, &size) || !size || sizes.count >= SIZES_MAX) {
            err = expected(value, what);
            goto out;
        }
        if (!mem_reserve((void **)&sizes.list, &capacity, sizes.count + 1, sizeof *sizes.list)) {
            err = SPH_EMEMORY;
            goto out;
        }
        text_add(&text, sizes.count ? ",%zu" : "%zu", size);
        sizes.list[sizes.count++] = size;
    }
    if (!sizes.count)
        text_add(&text, "none");
    if (text.failed) {
        err = SPH_EMEMORY;
        goto out;
    }
    out->as.sizes = sizes;
    out->text = text.chars;
    return 0;
out:
    mem_free(sizes.list);
    text_free(&text);
    return err;
}

static int parse_character(char *out, const char *value, const char **canonical)
{
    static const char what[] = "one character that no number or word has in it, or tab or blank";
    if (!strcmp(value, "tab") || !strcmp(value, "\t") || !strcmp(value, "\\t")) {
        *out = '\t';
        *canonical = "tab";
        return 0;
    }
    if (!strcmp(value, "blank") || !strcmp(value, " ")) {
        *out = ' ';
        *canonical = "blank";
        return 0;
    }
    if (strlen(value) != 1 || !strchr(",;:|!#$%&*/=@^~", *value))
        return expected(value, what);
    *out = *value;
    *canonical = value;
    return 0;
}

/* YAML and JSON are UTF-8, so what goes into them has to be. */
static int is_utf8(const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        unsigned length = *s < 0x80   ? 1u
                          : *s < 0xc2 ? 0u
                          : *s < 0xe0 ? 2u
                          : *s < 0xf0 ? 3u
                          : *s < 0xf5 ? 4u
                                      : 0u;
        if (!length)
            return 0;
        for (unsigned i = 1; i < length; i++)
            if ((s[i] & 0xc0) != 0x80)
                return 0;
        if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
            (*s == 0xf4 && s[1] > 0x8f))
            return 0;
        s += length;
    }
    return 1;
}

static int check_text(enum option_id id, const char *value)
{
    static const char *const inits[] = {"paper", "glorot", "he"};
    static const char suffix[] = ".safetensors";
    size_t length = strlen(value);

    if (!length || !is_utf8(value))
        return expected(value, length ? "UTF-8 text" : table[id].argument);
    if (rules[id].check != CHECK_INIT || text_find(value, inits, 3) >= 0)
        return 0;
    if (length > strlen(suffix) && !strcmp(value + length - strlen(suffix), suffix))
        return 0;
    return unknown_word(value, inits, 3, table[id].argument);
}

/* One way of saying it. */
static int parse_record(struct value *out, const char *value)
{
    struct moments_list moments;
    struct text text = {0};
    int err = moments_read(&moments, value);
    if (err < 0)
        return err;
    moments_add_text(&text, &moments);
    moments_free(&moments);
    if (text.failed) {
        text_free(&text);
        return SPH_EMEMORY;
    }
    out->text = text.chars;
    return 0;
}

static int parse_switch(int *out, const char *value)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    int found = text_find(value, words, 8);
    if (found < 0)
        return expected(value, "true or false");
    *out = found % 2;
    return 0;
}

/* Leaves out->text NULL for a word that means "choose for me". */
static int parse(struct value *out, enum option_id id, const char *value)
{
    const struct rule *rule = &rules[id];
    const char *canonical = value;
    double real;
    int err;

    *out = (struct value){0};
    switch (rule->kind) {
    case KIND_SIZE:
    case KIND_BATCH:
        if (rule->kind == KIND_BATCH && !strcmp(value, "full"))
            break;
        if (!text_to_size(value, &out->as.size) || !in_range(rule->check, (double)out->as.size))
            return expected(value, rule->kind == KIND_BATCH ? "a whole number, 1 or more, or full"
                                                            : range_words(rule));
        out->text = mem_format("%zu", out->as.size);
        return out->text ? 0 : SPH_EMEMORY;
    case KIND_SIZES:
        return parse_sizes(out, value);
    case KIND_U64:
        if (!text_to_u64(value, &out->as.u64))
            return expected(value, range_words(rule));
        out->text = mem_format("%llu", (unsigned long long)out->as.u64);
        return out->text ? 0 : SPH_EMEMORY;
    case KIND_REAL:
        if (!text_to_double(value, &real) || !isfinite(real) || !in_range(rule->check, real))
            return expected(value, range_words(rule));
        out->as.real = real + 0.0; /* -0 becomes 0 */
        out->text = real_text(out->as.real);
        return out->text ? 0 : SPH_EMEMORY;
    case KIND_WORD: {
        const struct word_list *list = &word_lists[rule->check];
        out->as.word = text_find(value, list->words, list->count);
        if (out->as.word < 0)
            return unknown_word(value, list->words, list->count, table[id].argument);
        if (rule->check == CHECK_STANDARDIZES && out->as.word == SPH_STANDARDIZE_AUTO) {
            out->as.word = -1;
            return 0;
        }
        break;
    }
    case KIND_SWITCH:
        if ((err = parse_switch(&out->as.word, value)) < 0)
            return err;
        canonical = out->as.word ? "true" : "false";
        break;
    case KIND_CHAR:
        if ((err = parse_character(&out->as.character, value, &canonical)) < 0)
            return err;
        break;
    case KIND_TEXT:
        if ((err = check_text(id, value)) < 0)
            return err;
        if (rule->check == CHECK_RECORD)
            return parse_record(out, value);
        break;
    }
    out->text = mem_text(canonical);
    return out->text ? 0 : SPH_EMEMORY;
}

static void set_unset(struct value *out, enum option_id id)
{
    *out = (struct value){0};
    if (rules[id].kind == KIND_REAL)
        out->as.real = (double)NAN;
    if (rules[id].kind == KIND_WORD)
        out->as.word = -1;
}

/* Moves value into the job, freeing what was there. */
static void keep(struct sph_job *job, enum option_id id, struct value *value)
{
    void *field = (char *)&job->options + rules[id].offset;
    mem_free(job->text[id]);
    job->text[id] = value->text;
    switch (rules[id].kind) {
    case KIND_SIZE:
    case KIND_BATCH:
        *(size_t *)field = value->as.size;
        break;
    case KIND_SIZES:
        mem_free(((struct option_sizes *)field)->list);
        *(struct option_sizes *)field = value->as.sizes;
        break;
    case KIND_U64:
        *(uint64_t *)field = value->as.u64;
        break;
    case KIND_REAL:
        *(double *)field = value->as.real;
        break;
    case KIND_WORD:
    case KIND_SWITCH:
        *(int *)field = value->as.word;
        break;
    case KIND_CHAR:
        *(char *)field = value->as.character;
        break;
    case KIND_TEXT:
        *(const char **)field = value->text;
        break;
    }
}

int options_put(struct sph_job *job, enum option_id id, const char *value)
{
    struct value parsed;
    set_unset(&parsed, id);
    int err = value ? parse(&parsed, id, value) : 0;
    if (!err)
        keep(job, id, &parsed);
    return err;
}

int options_put_real(struct sph_job *job, enum option_id id, double value)
{
    char *text = real_text(value);
    if (!text)
        return SPH_EMEMORY;
    int err = options_put(job, id, text);
    mem_free(text);
    return err;
}

int options_give(struct sph_job *job, enum option_id id, const char *value)
{
    int err = options_put(job, id, value);
    if (!err)
        job->given[id] = job->text[id] != NULL;
    return err;
}

int options_adopt(struct sph_job *mine, const struct sph_job *theirs)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (mine->given[i] || i == OPTION_OUT)
            continue;
        int err = options_put(mine, (enum option_id)i, theirs->text[i]);
        if (err)
            return err;
    }
    return 0;
}

/* ---------------------------------------------------------------- the public handle */

int sph_job_new(sph_job **out)
{
    struct sph_job *job = mem_get(1, sizeof *job);
    if (!job)
        return SPH_EMEMORY;
    for (int i = 0; i < OPTION_COUNT; i++) {
        int err = options_put(job, (enum option_id)i, *table[i].initial ? table[i].initial : NULL);
        if (err) {
            sph_job_free(job);
            return err;
        }
    }
    *out = job;
    return 0;
}

void sph_job_free(sph_job *job)
{
    if (!job)
        return;
    mem_free(job->options.hidden.list);
    for (int i = 0; i < OPTION_COUNT; i++)
        mem_free(job->text[i]);
    mem_free(job);
}

int sph_job_set(sph_job *job, const char *name, const char *value)
{
    int id = option_find(name);
    if (id < 0) {
        const char *nearest = text_nearest(name, names, OPTION_COUNT);
        if (nearest)
            return sph_fail(SPH_EARG, "unknown option \'--%s\', did you mean \'--%s\'?", name, nearest);
        return sph_fail(SPH_EARG, "unknown option '--%s'", name);
    }
    if (!value)
        value = table[id].argument ? "" : "true";
    int err = options_give(job, (enum option_id)id, value);
    return err == SPH_EARG ? sph_fail_about(err, names[id], "--%s", names[id]) : err;
}

const char *sph_job_get(const sph_job *job, const char *name)
{
    int id = option_find(name);
    if (id < 0)
        return NULL;
    return job->text[id] ? job->text[id] : "";
}
