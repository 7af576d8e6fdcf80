/* SPDX-License-Identifier: MIT */
#include "train/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static const double pi = 3.14159265358979323846;

static int bad(const char *text)
{
    return sph_fail_key(
        SPH_EARG, "schedule",
        "'%s' is none of: none, step:EPOCH,EPOCH,...:FACTOR, plateau:PATIENCE:FACTOR:MIN_DELTA, "
        "cosine",
        text);
}

/* Cuts text at the next separator; returns the rest or NULL. */
static char *cut(char *text, char separator)
{
    char *end = strchr(text, separator);
    if (!end)
        return NULL;
    *end = '\0';
    return end + 1;
}

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

static int parse_plateau(struct schedule *out, char *patience)
{
    char *factor = cut(patience, ':');
    char *delta = factor ? cut(factor, ':') : NULL;
    return factor && text_to_size(patience, &out->patience) && out->patience &&
           text_to_double(factor, &out->factor) && out->factor > 0 && out->factor < 1 &&
           (!delta ||
            (text_to_double(delta, &out->min_delta) && out->min_delta >= 0 && isfinite(out->min_delta)));
}

int schedule_parse(struct schedule *out, const char *text, double warmup)
{
    char words[256];
    *out = (struct schedule){.warmup = warmup, .best = INFINITY, .lowered = 1, .factor = 1};
    if (!(warmup >= 0) || !isfinite(warmup))
        return sph_fail_key(SPH_EARG, "warmup", "%g epochs, expected 0 or more", warmup);
    if (!text || !strcmp(text, "none"))
        return 0;
    if (strlen(text) >= sizeof words)
        return bad(text);
    strcpy(words, text);
    char *rest = cut(words, ':');
    if (!strcmp(words, "cosine") && !rest) {
        out->kind = SCHEDULE_COSINE;
        return 0;
    }
    if (!strcmp(words, "step") && rest && parse_step(out, rest)) {
        out->kind = SCHEDULE_STEP;
        return 0;
    }
    if (!strcmp(words, "plateau") && rest && parse_plateau(out, rest)) {
        out->kind = SCHEDULE_PLATEAU;
        return 0;
    }
    return bad(text);
}

double schedule_factor(const struct schedule *schedule, size_t epoch, uint64_t step, uint64_t steps,
                       size_t steps_per_epoch)
{
    double factor = 1;
    switch (schedule->kind) {
    case SCHEDULE_STEP:
        for (size_t i = 0; i < schedule->count; i++)
            if (epoch >= schedule->at[i])
                factor *= schedule->factor;
        break;
    case SCHEDULE_PLATEAU:
        factor = schedule->lowered;
        break;
    case SCHEDULE_COSINE:
        factor = 0.5 * (1 + cos(pi * (double)step / (double)steps));
        break;
    case SCHEDULE_NONE:
        break;
    }
    double ramp = schedule->warmup * (double)steps_per_epoch;
    if ((double)step < ramp)
        factor *= (double)(step + 1) / ramp < 1 ? (double)(step + 1) / ramp : 1;
    return factor;
}

void schedule_epoch(struct schedule *schedule, double value)
{
    if (schedule->kind != SCHEDULE_PLATEAU)
        return;
    if (value < schedule->best - schedule->min_delta) {
        schedule->best = value;
        schedule->waited = 0;
    } else if (++schedule->waited >= schedule->patience) {
        schedule->lowered *= schedule->factor;
        schedule->waited = 0;
    }
}
