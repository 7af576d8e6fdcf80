/* SPDX-License-Identifier: MIT
 *
 * The option table and the public job handle over it. */
#include "job/options.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/option_kinds.h"

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
    return rules[id].kind == KIND_SIZES || id == OPTION_TARGET || id == OPTION_DROP || id == OPTION_FREEZE;
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

/* ---------------------------------------------------------------- the values of a job */

static union option_value get(const struct sph_job *job, enum option_id id)
{
    union option_value value = {0};
    memcpy(&value, (const char *)&job->options + rules[id].offset, rules[id].size);
    return value;
}

/* Moves value into the job, freeing what was there. */
static void keep(struct sph_job *job, enum option_id id, const union option_value *value, int set)
{
    union option_value before = get(job, id);
    option_free(&rules[id], &before);
    memcpy((char *)&job->options + rules[id].offset, value, rules[id].size);
    job->set[id] = (unsigned char)set;
    mem_free(job->shown[id]);
    job->shown[id] = NULL;
}

void options_unset(struct sph_job *job, enum option_id id)
{
    union option_value value = option_unset(&rules[id]);
    keep(job, id, &value, 0);
    job->given[id] = job->named[id] = 0;
}

int options_put(struct sph_job *job, enum option_id id, const char *text)
{
    union option_value value;
    int err = option_parse(&value, &rules[id], text);
    if (err >= 0)
        keep(job, id, &value, !err);
    return err < 0 ? err : 0;
}

int options_give(struct sph_job *job, enum option_id id, const char *text)
{
    int err = options_put(job, id, text);
    if (!err)
        job->given[id] = job->set[id];
    return err;
}

void options_set_size(struct sph_job *job, enum option_id id, uint64_t number)
{
    union option_value value = {0};
    if (rules[id].kind == KIND_U64)
        value.u64 = number;
    else
        value.size = (size_t)number;
    keep(job, id, &value, 1);
}

void options_set_real(struct sph_job *job, enum option_id id, double number)
{
    keep(job, id, &(union option_value){.real = number}, 1);
}

void options_set_word(struct sph_job *job, enum option_id id, int number)
{
    keep(job, id, &(union option_value){.word = number}, 1);
}

void options_set_record(struct sph_job *job, const struct moments_list *value)
{
    keep(job, OPTION_RECORD, &(union option_value){.record = *value}, 1);
}

void options_add(struct text *out, const struct sph_job *job, enum option_id id)
{
    union option_value value = get(job, id);
    if (job->set[id])
        option_add(out, &rules[id], &value);
}

const char *options_text(const struct sph_job *job, enum option_id id)
{
    struct text text = {0};
    if (!job->set[id])
        return "";
    if (!job->shown[id]) {
        options_add(&text, job, id);
        if (text.failed)
            text_free(&text);
        job->shown[id] = text.chars;
    }
    return job->shown[id];
}

const char *options_word(const struct sph_job *job, enum option_id id)
{
    return job->set[id] ? option_word(rules[id].check, get(job, id).word) : "";
}

/* ---------------------------------------------------------------- from job to job */

int options_take(struct sph_job *job, const struct sph_job *from, enum option_id id)
{
    union option_value value = get(from, id);
    int err = option_own(&rules[id], &value);
    if (!err)
        keep(job, id, &value, from->set[id]);
    return err;
}

int options_override(struct sph_job *job, const struct sph_job *from)
{
    int err = 0;
    for (int i = 0; i < OPTION_COUNT && !err; i++) {
        if (!from->given[i])
            continue;
        err = options_take(job, from, (enum option_id)i);
        job->given[i] = job->named[i] = 1;
    }
    return err;
}

int options_adopt(struct sph_job *job, const struct sph_job *from)
{
    int err = 0;
    for (int i = 0; i < OPTION_COUNT && !err; i++)
        if (!job->given[i] && i != OPTION_OUT)
            err = options_take(job, from, (enum option_id)i);
    return err;
}

/* A job with nothing in it. */
static struct sph_job *new_job(void)
{
    struct sph_job *job = mem_get(1, sizeof *job);
    if (!job || !(job->shown = mem_get(OPTION_COUNT, sizeof *job->shown))) {
        mem_free(job);
        return NULL;
    }
    job->seconds = (double)NAN;
    for (int i = 0; i < OPTION_COUNT; i++)
        options_unset(job, (enum option_id)i);
    return job;
}

int options_copy(struct sph_job **out, const struct sph_job *from)
{
    struct sph_job *job = new_job();
    int err = job ? 0 : SPH_EMEMORY;
    for (int i = 0; i < OPTION_COUNT && !err; i++) {
        err = options_take(job, from, (enum option_id)i);
        job->given[i] = from->given[i];
    }
    if (!err)
        job->cache = from->cache;
    if (err < 0)
        sph_job_free(job);
    else
        *out = job;
    return err;
}

/* ---------------------------------------------------------------- the public handle */

int sph_job_new(sph_job **out)
{
    NEED(out);
    struct sph_job *job = new_job();
    int err = job ? 0 : SPH_EMEMORY;
    for (int i = 0; i < OPTION_COUNT && !err; i++)
        if (*table[i].initial)
            err = options_put(job, (enum option_id)i, table[i].initial);
    if (err < 0)
        sph_job_free(job);
    else
        *out = job;
    return err;
}

void sph_job_free(sph_job *job)
{
    if (!job)
        return;
    for (int i = 0; i < OPTION_COUNT; i++)
        options_unset(job, (enum option_id)i);
    mem_free(job->shown);
    mem_free(job->notes);
    mem_free(job->counts);
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
    int err = options_give(job, (enum option_id)id, value);
    job->named[id] |= job->given[id];
    return err == SPH_EARG ? sph_fail_about(err, names[id], "--%s", names[id]) : err;
}

const char *sph_job_get(const sph_job *job, const char *name)
{
    if (!job || !name)
        return NULL;
    int id = option_find(name);
    return id < 0 ? NULL : options_text(job, (enum option_id)id);
}
