/* SPDX-License-Identifier: MIT
 *
 * The option table and the public job handle over it. */
#include "job/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/defaults.h"
#include "job/option_kinds.h"
#include "job/tool.h"

/* ---------------------------------------------------------------- the tables */

#define TABLE_ROW(id, field, name, kind, check, initial, section, key, argument, help)                       \
    {name, argument, initial, section, help},
static const sph_option table[OPTION_COUNT] = {OPTION_LIST(TABLE_ROW)};

#define RULE_ROW(id, field, name, kind, check, initial, section, key, argument, help)                        \
    {KIND_##kind, CHECK_##check, offsetof(struct job_options, field), sizeof(option_##kind), key, argument},
static const struct option_rule rules[OPTION_COUNT] = {OPTION_LIST(RULE_ROW)};

#define NAME_ITEM(id, field, name, kind, check, initial, section, key, argument, help) name,
static const char *const names[OPTION_COUNT] = {OPTION_LIST(NAME_ITEM)};

size_t sph_options(const sph_option **out)
{
    if (!out)
        return 0;
    *out = table;
    return OPTION_COUNT;
}

void sph_option_default(size_t row, char *out, size_t size)
{
    struct text words = {0};
    if (!out || !size)
        return;
    if (row < OPTION_COUNT)
        defaults_words(&words, (enum option_id)row);
    snprintf(out, size, "%s", words.chars ? words.chars : "");
    text_free(&words);
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
    return rules[id].kind == KIND_SIZES || id == OPTION_TARGET || id == OPTION_DROP || id == OPTION_KEEP ||
           id == OPTION_TEXT || id == OPTION_MISSING_WORDS || id == OPTION_FREEZE;
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

#define ORIGIN_WORD(id, word) word,
static const char *const origin_words[ORIGIN_COUNT] = {OPTION_ORIGINS(ORIGIN_WORD)};

const char *option_origin_word(enum option_origin origin)
{
    return origin_words[origin];
}

int option_origin_find(const char *word)
{
    return text_find(word, origin_words, ORIGIN_COUNT);
}

/* ---------------------------------------------------------------- values */

static union option_value get(const struct job_spec *spec, enum option_id id)
{
    union option_value value = {0};
    memcpy(&value, (const char *)&spec->options + rules[id].offset, rules[id].size);
    return value;
}

/* Moves value into the spec, freeing what was there. */
static void keep(struct job_spec *spec, enum option_id id, const union option_value *value,
                 enum option_origin origin)
{
    union option_value before = get(spec, id);
    option_free(&rules[id], &before);
    memcpy((char *)&spec->options + rules[id].offset, value, rules[id].size);
    spec->origin[id] = (unsigned char)origin;
    if (spec->shown) {
        mem_free(spec->shown[id]);
        spec->shown[id] = NULL;
    }
}

void options_init(struct job_spec *out)
{
    *out = (struct job_spec){0};
    for (int i = 0; i < OPTION_COUNT; i++)
        options_unset(out, (enum option_id)i);
}

void options_free(struct job_spec *spec)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        options_unset(spec, (enum option_id)i);
    mem_free(spec->shown);
    spec->shown = NULL;
}

int options_new(struct job_spec **out)
{
    *out = mem_get(1, sizeof **out);
    if (!*out)
        return SPH_EMEMORY;
    options_init(*out);
    return 0;
}

void options_delete(struct job_spec *spec)
{
    if (!spec)
        return;
    options_free(spec);
    mem_free(spec);
}

void options_unset(struct job_spec *spec, enum option_id id)
{
    union option_value value = option_unset(&rules[id]);
    keep(spec, id, &value, ORIGIN_UNSET);
}

int options_put(struct job_spec *spec, enum option_id id, const char *text, enum option_origin origin)
{
    union option_value value;
    int err = option_parse(&value, &rules[id], text);
    if (err >= 0)
        keep(spec, id, &value, err ? ORIGIN_UNSET : origin);
    return err < 0 ? err : 0;
}

void options_set_size(struct job_spec *spec, enum option_id id, uint64_t number, enum option_origin origin)
{
    union option_value value = {0};
    if (rules[id].kind == KIND_U64)
        value.u64 = number;
    else
        value.size = (size_t)number;
    keep(spec, id, &value, origin);
}

void options_set_real(struct job_spec *spec, enum option_id id, double number, enum option_origin origin)
{
    keep(spec, id, &(union option_value){.real = number}, origin);
}

void options_set_word(struct job_spec *spec, enum option_id id, int number, enum option_origin origin)
{
    keep(spec, id, &(union option_value){.word = number}, origin);
}

void options_set_record(struct job_spec *spec, const struct moments_list *value)
{
    keep(spec, OPTION_RECORD, &(union option_value){.record = *value}, ORIGIN_FILE);
}

void options_add(struct text *out, const struct job_spec *spec, enum option_id id)
{
    union option_value value = get(spec, id);
    if (options_has(spec, id))
        option_add(out, &rules[id], &value);
}

const char *options_text(const struct job_spec *spec, enum option_id id)
{
    struct text text = {0};
    if (!options_has(spec, id))
        return "";
    struct job_spec *lender = (struct job_spec *)spec; /* what it lends is no part of its value */
    if (!lender->shown && !(lender->shown = mem_get(OPTION_COUNT, sizeof *lender->shown)))
        return NULL;
    if (!lender->shown[id]) {
        options_add(&text, spec, id);
        if (text.failed)
            text_free(&text);
        lender->shown[id] = text.chars;
    }
    return lender->shown[id];
}

const char *options_word(const struct job_spec *spec, enum option_id id)
{
    return options_has(spec, id) ? option_word(rules[id].check, get(spec, id).word) : "";
}

/* ---------------------------------------------------------------- from one to another */

int options_take(struct job_spec *spec, const struct job_spec *from, enum option_id id)
{
    union option_value value = get(from, id);
    int err = option_own(&rules[id], &value);
    if (!err)
        keep(spec, id, &value, (enum option_origin)from->origin[id]);
    return err;
}

int options_override(struct job_spec *spec, const struct job_spec *from, enum option_origin origin)
{
    int err = 0;
    for (int i = 0; i < OPTION_COUNT && !err; i++) {
        if (!options_given(from, (enum option_id)i))
            continue;
        err = options_take(spec, from, (enum option_id)i);
        spec->origin[i] = from->origin[i] == ORIGIN_COMMAND ? ORIGIN_COMMAND : (unsigned char)origin;
    }
    return err;
}

int options_copy(struct job_spec *out, const struct job_spec *from)
{
    int err = 0;
    options_init(out);
    for (int i = 0; i < OPTION_COUNT && !err; i++)
        err = options_take(out, from, (enum option_id)i);
    if (err < 0)
        options_free(out);
    return err;
}

/* ---------------------------------------------------------------- the public handle */

int job_new(sph_job **out, int recommends)
{
    struct sph_job *job = mem_get(1, sizeof *job);
    if (!job)
        return SPH_EMEMORY;
    job->seconds = (double)NAN;
    job->request.recommends = recommends;
    options_init(&job->request.asked);
    options_init(&job->spec);
    *out = job;
    return 0;
}

int sph_job_new(sph_job **out)
{
    NEED(out);
    return job_new(out, 1);
}

void sph_job_free(sph_job *job)
{
    if (!job)
        return;
    options_free(&job->request.asked);
    options_free(&job->spec);
    sph_run_free(job->run);
    text_free(&job->notes);
    text_free(&job->counts);
    mem_free(job);
}

int sph_job_set(sph_job *job, const char *name, const char *value)
{
    NEED(job, name);
    int id = option_find(name);
    if (id < 0) {
        const char *nearest = text_nearest(name, names, OPTION_COUNT);
        if (nearest)
            return sph_fail_of(SPH_EARG, "", 0, name, "unknown option '--%s', did you mean '--%s'?", name,
                               nearest);
        return sph_fail_of(SPH_EARG, "", 0, name, "unknown option '--%s'", name);
    }
    if (!value)
        value = table[id].argument ? "" : "true";
    int err = options_put(&job->request.asked, (enum option_id)id, value, ORIGIN_COMMAND);
    if (!err && job->resolved)
        err = options_put(&job->spec, (enum option_id)id, value, ORIGIN_COMMAND);
    return err == SPH_EARG ? sph_fail_about(err, names[id], "--%s", names[id]) : err;
}

/* Before the data are known it is what was asked for, or the fixed default. */
const char *sph_job_get(const sph_job *job, const char *name)
{
    if (!job || !name)
        return NULL;
    int id = option_find(name);
    if (id < 0)
        return NULL;
    const struct job_spec *spec = job->resolved ? &job->spec : &job->request.asked;
    return job->resolved || options_has(spec, (enum option_id)id) ? options_text(spec, (enum option_id)id)
                                                                  : table[id].initial;
}
