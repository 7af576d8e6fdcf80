/* SPDX-License-Identifier: MIT */
#include "job/option_kinds.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/words.h"

enum { SIZES_MAX = 1000 };

/* ---------------------------------------------------------------- checks */

static const sph_word_row protocols[] = WORDS_OF(OPTION_PROTOCOLS);
static const sph_word_row logs[] = WORDS_OF(OPTION_LOGS);
static const sph_word_row ensemble_vals[] = WORDS_OF(OPTION_ENSEMBLE_VALS);
static const sph_word_row sync_norms[] = WORDS_OF(OPTION_SYNC_NORMS);
static const sph_word_row scales[] = WORDS_OF(SPH_SCALES);
static const sph_word_row indicators[] = WORDS_OF(SPH_INDICATORS);

static const sph_word_row *check_words(enum option_check check)
{
    if (check == CHECK_INIT)
        return sph_word(SPH_WORDS_INIT, SPH_INIT_DEFAULT + 1);
    return check == CHECK_PROTOCOLS       ? protocols
           : check == CHECK_LOGS          ? logs
           : check == CHECK_ENSEMBLE_VALS ? ensemble_vals
           : check == CHECK_SYNC_NORMS    ? sync_norms
           : check == CHECK_SCALES        ? scales
           : check == CHECK_INDICATORS    ? indicators
                                          : sph_word((sph_word_kind)(check - CHECK_DTYPE), 0);
}

const char *option_word(enum option_check check, int word)
{
    return check_words(check)[word].word;
}

static const struct range {
    double from, to;
    int above, below; /* the ends themselves are out */
    const char *whole, *real;
} ranges[] = {
    [CHECK_ANY] = {0, INFINITY, 0, 0, "a whole number, 0 or more", "a number"},
    [CHECK_POSITIVE] = {0, INFINITY, 1, 0, "a whole number, 1 or more", "a number greater than 0"},
    [CHECK_NOT_NEGATIVE] = {0, INFINITY, 0, 0, "a whole number, 0 or more", "a number, 0 or more"},
    [CHECK_FRACTION] = {0, 1, 0, 1, NULL, "a number from 0 to below 1"},
    [CHECK_SHARE] = {0, 1, 1, 0, NULL, "a number above 0, at most 1"},
    [CHECK_THREADS] = {1, 1024, 0, 0, "a whole number from 1 to 1024", NULL},
};

static int in_range(const struct range *range, double x)
{
    return x >= range->from && x <= range->to && !(range->above && x == range->from) &&
           !(range->below && x == range->to);
}

static int expected(const char *found, const char *what)
{
    if (!*found)
        return sph_fail(SPH_EARG, "found nothing, expected %s", what);
    return sph_fail(SPH_EARG, "found '%s', expected %s", found, what);
}

static int unknown_word(const char *found, const sph_word_row *words, const char *choices)
{
    const char *nearest = words_nearest(words, found);
    if (!nearest)
        return sph_fail(SPH_EARG, "unknown value '%s' (%s)", found, choices);
    return sph_fail(SPH_EARG, "unknown value '%s', did you mean '%s'? (%s)", found, nearest, choices);
}

/* ---------------------------------------------------------------- from text */

/* "100,50" or "none". */
static int parse_sizes(struct option_sizes *out, const char *text)
{
    size_t capacity = 0;
    for (const char *at = strcmp(text, "none") ? text : NULL; at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char part[24] = "";
        size_t length = strcspn(at, ","), size;
        if (length < sizeof part)
            memcpy(part, at, length);
        if (!text_to_size(part, &size) || !size || out->count >= SIZES_MAX)
            return expected(text, "sizes of hidden layers such as 100 or 100,50, or none");
        if (!mem_reserve((void **)&out->list, &capacity, out->count + 1, sizeof *out->list))
            return SPH_EMEMORY;
        out->list[out->count++] = size;
    }
    return 0;
}

static int parse_word(int *out, const struct option_rule *rule, const char *text)
{
    const sph_word_row *words = check_words(rule->check);
    int word = words_find(words, text);
    if (word < 0)
        return unknown_word(text, words, rule->argument);
    if (rule->check == CHECK_STANDARDIZE && word == SPH_STANDARDIZE_AUTO)
        return 1;
    *out = word;
    return 0;
}

static int parse_switch(int *out, const char *text)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    int found = text_find(text, words, 8);
    *out = found % 2;
    return found < 0 ? expected(text, "true or false") : 0;
}

static int parse_character(char *out, const char *text)
{
    if (!strcmp(text, "tab") || !strcmp(text, "\t") || !strcmp(text, "\\t"))
        *out = '\t';
    else if (!strcmp(text, "blank") || !strcmp(text, " "))
        *out = ' ';
    else if (strlen(text) == 1 && strchr(",;:|!#$%&*/=@^~", *text))
        *out = *text;
    else
        return expected(text, "one character that is not a letter, digit, sign or point, or tab or blank");
    return 0;
}

int option_draw(const char *text, uint32_t *seed)
{
    uint64_t number = 0;
    *seed = 0;
    if (!text || !strcmp(text, "seed"))
        return 0;
    if (!strcmp(text, "authors"))
        return 1;
    if (!text_to_u64(text, &number) || number > UINT32_MAX)
        return -1;
    *seed = (uint32_t)number;
    return 1;
}

/* YAML and JSON are UTF-8, so what goes into them has to be. */
static int check_text(const struct option_rule *rule, const char *text)
{
    const sph_word_row *inits = check_words(CHECK_INIT);
    static const char suffix[] = ".safetensors";
    size_t length = strlen(text);
    if (!length || !text_is_utf8(text))
        return expected(text, length ? "UTF-8 text" : rule->argument);
    uint32_t seed;
    if (rule->check == CHECK_DRAW && option_draw(text, &seed) < 0)
        return expected(text, "seed, authors, or a whole number below 2^32");
    if (rule->check != CHECK_INIT || words_find(inits, text) >= 0)
        return 0;
    if (length > strlen(suffix) && !strcmp(text + length - strlen(suffix), suffix))
        return 0;
    return unknown_word(text, inits, rule->argument);
}

static int parse(union option_value *out, const struct option_rule *rule, const char *text)
{
    /* words have none */
    const struct range *range =
        (size_t)rule->check < sizeof ranges / sizeof *ranges ? &ranges[rule->check] : NULL;
    int err;
    switch (rule->kind) {
    case KIND_BATCH:
        if (!strcmp(text, "full"))
            return 0;
        if (!text_to_size(text, &out->size) || !in_range(range, (double)out->size))
            return expected(text, "a whole number, 1 or more, or full");
        return 0;
    case KIND_SIZE:
        if (!text_to_size(text, &out->size) || !in_range(range, (double)out->size))
            return expected(text, range->whole);
        return 0;
    case KIND_U64:
        return text_to_u64(text, &out->u64) ? 0 : expected(text, range->whole);
    case KIND_REAL:
        if (!text_to_double(text, &out->real) || !isfinite(out->real) || !in_range(range, out->real))
            return expected(text, range->real);
        out->real += 0.0; /* -0 becomes 0 */
        return 0;
    case KIND_SIZES:
        return parse_sizes(&out->sizes, text);
    case KIND_WORD:
        return parse_word(&out->word, rule, text);
    case KIND_SWITCH:
        return parse_switch(&out->word, text);
    case KIND_CHAR:
        return parse_character(&out->character, text);
    case KIND_TEXT:
    case KIND_RECORD:
        if ((err = check_text(rule, text)) < 0)
            return err;
        if (rule->kind == KIND_RECORD)
            return moments_read(&out->record, text);
        out->text = mem_text(text);
        return out->text ? 0 : SPH_EMEMORY;
    }
    return 0;
}

int option_parse(union option_value *out, const struct option_rule *rule, const char *text)
{
    *out = option_unset(rule);
    int err = parse(out, rule, text);
    if (err < 0)
        option_free(rule, out);
    return err;
}

/* ---------------------------------------------------------------- memory */

union option_value option_unset(const struct option_rule *rule)
{
    union option_value value = {0};
    if (rule->kind == KIND_REAL)
        value.real = (double)NAN;
    if (rule->kind == KIND_WORD)
        value.word = -1;
    return value;
}

void option_free(const struct option_rule *rule, union option_value *value)
{
    if (rule->kind == KIND_TEXT)
        mem_free(value->text);
    else if (rule->kind == KIND_SIZES)
        mem_free(value->sizes.list);
    else if (rule->kind == KIND_RECORD)
        moments_free(&value->record);
    *value = option_unset(rule);
}

int option_own(const struct option_rule *rule, union option_value *value)
{
    switch (rule->kind) {
    case KIND_TEXT:
        return !value->text || (value->text = mem_text(value->text)) ? 0 : SPH_EMEMORY;
    case KIND_SIZES:
        value->sizes.list = mem_copy(value->sizes.list, value->sizes.count, sizeof *value->sizes.list);
        return value->sizes.list ? 0 : SPH_EMEMORY;
    case KIND_RECORD:
        return moments_own(&value->record);
    default:
        return 0;
    }
}

/* ---------------------------------------------------------------- to text */

void option_add(struct text *out, const struct option_rule *rule, const union option_value *value)
{
    switch (rule->kind) {
    case KIND_BATCH:
    case KIND_SIZE:
        if (!value->size && rule->kind == KIND_BATCH)
            text_add(out, "full");
        else
            text_add(out, "%zu", value->size);
        break;
    case KIND_U64:
        text_add(out, "%llu", (unsigned long long)value->u64);
        break;
    case KIND_REAL:
        text_add_exact(out, value->real);
        break;
    case KIND_SIZES:
        for (size_t i = 0; i < value->sizes.count; i++)
            text_add(out, i ? ",%zu" : "%zu", value->sizes.list[i]);
        if (!value->sizes.count)
            text_add(out, "none");
        break;
    case KIND_WORD:
        text_add(out, "%s", option_word(rule->check, value->word));
        break;
    case KIND_SWITCH:
        text_add(out, "%s", value->word ? "true" : "false");
        break;
    case KIND_CHAR:
        if (value->character == '\t' || value->character == ' ')
            text_add(out, "%s", value->character == ' ' ? "blank" : "tab");
        else
            text_add(out, "%c", value->character);
        break;
    case KIND_TEXT:
        text_add(out, "%s", value->text);
        break;
    case KIND_RECORD:
        moments_add_text(out, &value->record);
        break;
    }
}
