/* SPDX-License-Identifier: MIT */
#include "train/schedule.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static const double pi = 3.14159265358979323846;

struct moment {
    size_t epoch;
    double step, steps;
};

/* A row; what it has not is NULL. */
struct schedule_row {
    int (*parse)(struct schedule *out,
                 char *arguments); /* what follows the colon; 1: taken. NULL: nothing may follow */
    double (*factor)(const struct schedule *schedule, const double *state,
                     const struct moment *now); /* NULL: 1 */
    void (*epoch)(const struct schedule *schedule, double *state, double value);
    int ends_low;
};

/* Cuts text at the next separator; returns the rest or NULL. */
static char *cut(char *text, char separator)
{
    char *end = strchr(text, separator);
    if (!end)
        return NULL;
    *end = '\0';
    return end + 1;
}

/* ---------------------------------------------------------------- step */

static int parse_step(struct schedule *out, char *epochs)
{
    char *factor = cut(epochs, ':');
    if (!factor || !text_to_double(factor, &out->factor) || !(out->factor > 0) || !isfinite(out->factor))
        return 0;
    for (char *next; epochs; epochs = next) {
        next = cut(epochs, ',');
        size_t epoch;
        if (out->count == SCHEDULE_STEPS_MAX || !text_to_size(epochs, &epoch) || !epoch)
            return 0;
        out->at[out->count++] = epoch;
    }
    return 1;
}

static double step_factor(const struct schedule *schedule, const double *state, const struct moment *now)
{
    double factor = 1;
    (void)state;
    for (size_t i = 0; i < schedule->count; i++)
        if (now->epoch >= schedule->at[i])
            factor *= schedule->factor;
    return factor;
}

/* ---------------------------------------------------------------- plateau */

enum { PLATEAU_BEST, PLATEAU_LOWERED, PLATEAU_WAITED };

static int parse_plateau(struct schedule *out, char *patience)
{
    char *factor = cut(patience, ':');
    char *delta = factor ? cut(factor, ':') : NULL;
    return factor && text_to_size(patience, &out->patience) && out->patience &&
           text_to_double(factor, &out->factor) && out->factor > 0 && out->factor < 1 &&
           (!delta ||
            (text_to_double(delta, &out->min_delta) && out->min_delta >= 0 && isfinite(out->min_delta)));
}

static double plateau_factor(const struct schedule *schedule, const double *state, const struct moment *now)
{
    (void)schedule;
    (void)now;
    return state[PLATEAU_LOWERED];
}

static void plateau_epoch(const struct schedule *schedule, double *state, double value)
{
    if (value < state[PLATEAU_BEST] - schedule->min_delta) {
        state[PLATEAU_BEST] = value;
        state[PLATEAU_WAITED] = 0;
    } else if (++state[PLATEAU_WAITED] >= (double)schedule->patience) {
        state[PLATEAU_LOWERED] *= schedule->factor;
        state[PLATEAU_WAITED] = 0;
    }
}

/* ---------------------------------------------------------------- cosine */

static double cosine_factor(const struct schedule *schedule, const double *state, const struct moment *now)
{
    (void)schedule;
    (void)state;
    return 0.5 * (1 + cos(pi * now->step / now->steps));
}

/* ---------------------------------------------------------------- the table */

static const struct schedule_row rows[SPH_SCHEDULE_COUNT] = {
    [SPH_SCHEDULE_NONE] = {0},
    [SPH_SCHEDULE_STEP] = {.parse = parse_step, .factor = step_factor},
    [SPH_SCHEDULE_PLATEAU] = {.parse = parse_plateau, .factor = plateau_factor, .epoch = plateau_epoch},
    [SPH_SCHEDULE_COSINE] = {.factor = cosine_factor, .ends_low = 1},
};

static int bad(const char *text)
{
    struct text known = {0};
    for (int i = 0; i < SPH_SCHEDULE_COUNT; i++)
        text_add(&known, "%s%s", i ? ", " : "", sph_word(SPH_WORDS_SCHEDULE, i)->word);
    int err = known.failed
                  ? SPH_EMEMORY
                  : sph_fail_key(SPH_EARG, "schedule", "found '%s', expected one of: %s", text, known.chars);
    text_free(&known);
    return err;
}

/* The row whose form begins with this word. */
static int find_row(const char *word)
{
    size_t length = strlen(word);
    for (int i = 0; i < SPH_SCHEDULE_COUNT; i++) {
        const char *form = sph_word(SPH_WORDS_SCHEDULE, i)->word;
        if (strcspn(form, ":") == length && !strncmp(form, word, length))
            return i;
    }
    return -1;
}

int schedule_parse(struct schedule *out, const char *text, double warmup)
{
    char words[256];
    *out = (struct schedule){.warmup = warmup, .factor = 1};
    if (!(warmup >= 0) || !isfinite(warmup))
        return sph_fail_key(SPH_EARG, "warmup", "%g epochs, expected 0 or more", warmup);
    if (!text)
        return 0;
    if (strlen(text) >= sizeof words)
        return bad(text);
    strcpy(words, text);
    char *rest = cut(words, ':');
    int kind = find_row(words);
    if (kind < 0 || !rest != !rows[kind].parse || (rest && !rows[kind].parse(out, rest)))
        return bad(text);
    out->kind = (sph_schedule)kind;
    return 0;
}

/* Plateau's, and what files have there under the others, which remember nothing. */
void schedule_begin(double state[SCHEDULE_STATE])
{
    state[PLATEAU_BEST] = INFINITY;
    state[PLATEAU_LOWERED] = 1;
    state[PLATEAU_WAITED] = 0;
}

double schedule_factor(const struct schedule *schedule, const double state[SCHEDULE_STATE], size_t epoch,
                       uint64_t step, uint64_t steps, size_t steps_per_epoch)
{
    const struct schedule_row *row = &rows[schedule->kind];
    struct moment now = {epoch, (double)step, (double)steps};
    double factor = row->factor ? row->factor(schedule, state, &now) : 1;
    double ramp = schedule->warmup * (double)steps_per_epoch;
    if ((double)step < ramp)
        factor *= (double)(step + 1) / ramp < 1 ? (double)(step + 1) / ramp : 1;
    return factor;
}

void schedule_epoch(const struct schedule *schedule, double state[SCHEDULE_STATE], double value)
{
    if (rows[schedule->kind].epoch)
        rows[schedule->kind].epoch(schedule, state, value);
}

int schedule_watches(const struct schedule *schedule)
{
    return rows[schedule->kind].epoch != NULL;
}

int schedule_ends_low(const struct schedule *schedule)
{
    return rows[schedule->kind].ends_low;
}
