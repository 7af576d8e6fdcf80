/* SPDX-License-Identifier: MIT */
#include "compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const double significant = 0.05;

void comparison_add_p(struct text *out, double p)
{
    if (p < 1e-4)
        text_add(out, "< 0.0001");
    else
        text_add_general(out, 2, p);
}

int comparison_exponent(double value)
{
    char number[64];
    snprintf(number, sizeof number, "%.1e", value);
    return (int)strtol(strchr(number, 'e') + 1, NULL, 10);
}

/* ---------------------------------------------------------------- a method against the reference */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Who is ahead on how many splits. */
static void add_score(struct text *out, const struct comparison_pair *pair, const char *reference,
                      const char *method)
{
    if (pair->equal == pair->pairs) {
        text_add(out, "%s equal to %s on %zu of %zu split%s", reference, method, pair->equal, pair->pairs,
                 plural(pair->pairs));
        return;
    }
    int ahead = pair->better >= pair->worse;
    text_add(out, "%s %s than %s on %zu of %zu split%s", reference, ahead ? "better" : "worse", method,
             ahead ? pair->better : pair->worse, pair->pairs, plural(pair->pairs));
    size_t others = ahead ? pair->worse : pair->better;
    if (others && pair->equal)
        text_add(out, ", %s on %zu, equal on %zu", ahead ? "worse" : "better", others, pair->equal);
    else if (pair->equal)
        text_add(out, ", equal on %zu", pair->equal);
    else if (pair->better == pair->worse)
        text_add(out, ", worse on %zu", others);
}

int comparison_settled(const struct comparison_pair *pair)
{
    return pair->significant && (isnan(pair->t.p) || pair->t_corrected <= significant);
}

/* What follows from p, and what so few splits could have shown at all. */
static void add_conclusion(struct text *out, const struct comparison_pair *pair, size_t family)
{
    const struct wilcoxon *test = &pair->test;
    double least = wilcoxon_least_p(test->n);
    const char *differ = test->n < pair->pairs ? test->n == 1 ? " that differs" : " that differ" : "";
    if (pair->significant && !comparison_settled(pair))
        text_add(out, ": not settled");
    else if (pair->significant)
        text_add(out, ": significant at 5 %%");
    else if (least > significant && test->p <= least)
        text_add(out, ": too few splits for a significant difference (%zu split%s%s)", test->n,
                 plural(test->n), differ);
    else if (least > significant) {
        text_add(out, ": no significant difference; with %zu split%s%s the smallest possible p is ", test->n,
                 plural(test->n), differ);
        comparison_add_p(out, least);
    } else if (least * (double)family > significant && test->p <= significant)
        text_add(out, ": no significant difference; too few splits (%zu split%s%s) for %zu comparisons",
                 test->n, plural(test->n), differ, family);
    else
        text_add(out, ": no significant difference");
}

void comparison_add_equal_p(struct text *out, double p)
{
    text_add(out, p < 1e-4 ? "p " : "p = ");
    comparison_add_p(out, p);
}

/* The interval and the other test need not agree with the verdict: the reader is told. */
static void add_disagreement(struct text *out, const struct comparison_pair *pair, size_t family)
{
    int apart = pair->interval.low > 0 || pair->interval.high < 0;
    if (!isnan(pair->interval.low) && apart != pair->significant)
        text_add(out, "; but the interval %s 0%s", apart ? "excludes" : "contains",
                 apart && pair->pairs < FEW_SPLITS ? ", and with so few splits it is too narrow" : "");
    int t_shows = pair->t_corrected <= significant;
    if (isnan(pair->t.p) || t_shows == pair->significant)
        return;
    text_add(out, t_shows
                      ? "; but the test that accounts for overlapping splits finds a significant difference, "
                      : "; the test that accounts for overlapping splits (resampled t-test) gives ");
    comparison_add_equal_p(out, pair->t.p);
    if (family > 1) {
        text_add(out, ", corrected ");
        comparison_add_p(out, pair->t_corrected);
    }
}

static void add_verdict(struct text *out, const struct comparison_pair *pair,
                        const struct comparison_input *input, size_t family)
{
    const char *reference = input->methods[pair->reference].name;
    const char *method = input->methods[pair->method].name;
    if (!pair->pairs) {
        text_add(out, "%s and %s: no split in which both have a score", reference, method);
        return;
    }
    add_score(out, pair, reference, method);
    if (pair->left_out)
        text_add(out, " (%zu left out because a job has no score)", pair->left_out);
    if (pair->test.n) {
        text_add(out, ", ");
        comparison_add_equal_p(out, pair->test.p);
        text_add(out, " (Wilcoxon, %s)", pair->test.exact ? "exact" : "approximate");
        if (family > 1) {
            text_add(out, ", corrected ");
            comparison_add_p(out, pair->corrected);
        }
        add_conclusion(out, pair, family);
        add_disagreement(out, pair, family);
    }
    /* counts and sizes may point to different sides */
    double lead = input->larger_is_better ? -pair->difference : pair->difference;
    if (pair->better > pair->worse && lead < 0)
        text_add(out, "; the mean difference favors %s", method);
    else if (pair->worse > pair->better && lead > 0)
        text_add(out, "; the mean difference favors %s", reference);
}

static int compare(struct comparison_pair *pair, const struct comparison_input *input)
{
    const struct comparison_method *method = &input->methods[pair->method];
    const struct comparison_method *reference = &input->methods[pair->reference];
    for (size_t c = 0; c < input->cases; c++) {
        double x = method->value[c], y = reference->value[c];
        if (!isfinite(x) || !isfinite(y)) {
            pair->left_out++;
            continue;
        }
        pair->pairs++;
        if (same_number(x, y))
            pair->equal++;
        else if ((x < y) == (input->larger_is_better != 0))
            pair->better++;
        else
            pair->worse++;
    }
    pair->difference = mean_difference(method->value, reference->value, input->cases);
    pair->interval = (struct interval){NAN, NAN};
    int err = wilcoxon_test(method->value, reference->value, input->cases, &pair->test);
    if (!err && pair->pairs > 1)
        err = bootstrap_difference(method->value, reference->value, input->cases, COMPARISON_RESAMPLES,
                                   COMPARISON_PERCENT / 100.0, 0, &pair->interval);
    if (err < 0)
        return err;
    pair->t = (struct t_test){.t = (double)NAN, .p = (double)NAN};
    return input->overlap > 0
               ? resampled_t(method->value, reference->value, input->cases, input->overlap, &pair->t)
               : 0;
}

/* ---------------------------------------------------------------- all of it */

static int rank_methods(struct comparison *comparison)
{
    const struct comparison_input *input = comparison->input;
    double *score = mem_get(input->cases, input->count * sizeof *score);
    double *rank = mem_get(input->count, sizeof *rank);
    int err = score && rank ? 0 : SPH_EMEMORY;
    if (!err) {
        for (size_t c = 0; c < input->cases; c++)
            for (size_t m = 0; m < input->count; m++)
                score[c * input->count + m] = input->methods[m].value[c];
        err = average_ranks(score, input->cases, input->count, input->larger_is_better, rank);
    }
    for (size_t m = 0; !err && m < input->count; m++)
        comparison->lines[m].rank = rank[m];
    mem_free(score);
    mem_free(rank);
    return err;
}

/* The method with the best mean of those with most numbers, of equals the first: leaving out hard cases must not win.
 * -1: none. */
static int best_method(const struct comparison *comparison)
{
    int best = -1;
    for (size_t m = 0; m < comparison->input->count; m++) {
        const struct summary *s = &comparison->lines[m].summary;
        const struct summary *b = best < 0 ? NULL : &comparison->lines[best].summary;
        if (s->n && (!b || s->n > b->n ||
                     (s->n == b->n && !same_number(s->mean, b->mean) &&
                      (comparison->input->larger_is_better ? s->mean > b->mean : s->mean < b->mean))))
            best = (int)m;
    }
    return best;
}

double comparison_best(const struct comparison *comparison)
{
    int best = best_method(comparison);
    return best < 0 ? (double)NAN : comparison->lines[best].summary.mean;
}

void comparison_free(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->pair_count; i++)
        text_free(&comparison->pairs[i].verdict);
    mem_free(comparison->pairs);
    mem_free(comparison->lines);
}

static int check(const struct comparison_input *input)
{
    if (!input->count)
        return sph_fail_key(SPH_EARG, "table", "no method, expected at least one");
    if (!input->cases)
        return sph_fail_key(SPH_EARG, "table", "no case, expected at least one");
    if (input->reference_method >= 0 && (size_t)input->reference_method >= input->count)
        return sph_fail_key(SPH_EARG, "table", "reference method %d, expected one of %zu",
                            input->reference_method, input->count);
    if (!input->experiment || !input->metric || !input->protocol)
        return sph_fail_key(SPH_EARG, "table", "experiment, metric or protocol has no name");
    for (size_t m = 0; m < input->count; m++)
        if (!input->methods[m].name || !input->methods[m].value)
            return sph_fail_key(SPH_EARG, "table", "method %zu has no name or no values", m);
    return 0;
}

/* Which are compared with which. */
static int pair_up(struct comparison *comparison, int reference)
{
    const struct comparison_input *input = comparison->input;
    size_t most = input->count * input->count;
    int all = input->reference_method == COMPARISON_ALL;
    if (!(comparison->pairs = mem_get(most, sizeof *comparison->pairs)))
        return SPH_EMEMORY;
    for (size_t m = 0; m < input->count; m++)
        for (size_t other = 0; other < input->count; other++)
            if (all ? other > m : other == (size_t)reference && other != m)
                comparison->pairs[comparison->pair_count++] =
                    (struct comparison_pair){.method = m, .reference = other};
    for (size_t i = 0; i < comparison->pair_count && !all; i++)
        comparison->lines[comparison->pairs[i].method].pair = &comparison->pairs[i];
    if (!all)
        comparison->reference = input->methods[reference].name;
    return 0;
}

int comparison_measure(struct comparison *comparison, const struct comparison_input *input)
{
    *comparison = (struct comparison){.input = input};
    int err = check(input);
    if (err < 0)
        return err;
    comparison->lines = mem_get(input->count, sizeof *comparison->lines);
    if (!comparison->lines)
        return SPH_EMEMORY;
    for (size_t m = 0; m < input->count; m++) {
        summarize(input->methods[m].value, input->cases, &comparison->lines[m].summary);
        summarize(input->methods[m].beside, input->methods[m].beside ? input->cases : 0,
                  &comparison->lines[m].beside);
    }
    err = rank_methods(comparison);
    int reference = input->reference_method < 0 ? best_method(comparison) : input->reference_method;
    if (err < 0 || reference < 0 || input->reference_method == COMPARISON_NONE || input->count < 2)
        return err;
    err = pair_up(comparison, reference);
    for (size_t i = 0; !err && i < comparison->pair_count; i++)
        err = compare(&comparison->pairs[i], input);
    return err;
}

/* The p-values of all pairs, of either test, and back with the corrected ones. */
static void gather(struct comparison *const *list, size_t count, int t, double *p)
{
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < list[k]->pair_count; i++) {
            const struct comparison_pair *pair = &list[k]->pairs[i];
            *p++ = t ? pair->t.p : pair->test.n ? pair->test.p : pair->pairs ? 1 : (double)NAN;
        }
}

static void scatter(struct comparison *const *list, size_t count, int t, const double *p, size_t family)
{
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < list[k]->pair_count; i++) {
            struct comparison_pair *pair = &list[k]->pairs[i];
            *(t ? &pair->t_corrected : &pair->corrected) = *p++;
            if (!t)
                list[k]->family = family;
        }
}

int comparison_conclude(struct comparison *const *list, size_t count)
{
    size_t pairs = 0;
    int err = 0;
    for (size_t k = 0; k < count; k++)
        pairs += list[k]->pair_count;
    double *p = mem_get(pairs, sizeof *p), *corrected = mem_get(pairs, sizeof *corrected);
    if (!p || !corrected)
        err = SPH_EMEMORY;
    for (int t = 0; t < 2 && !err; t++) {
        gather(list, count, t, p);
        int family = holm_correct(p, pairs, corrected);
        if (family >= 0)
            scatter(list, count, t, corrected, (size_t)family);
        err = family < 0 ? family : 0;
    }
    for (size_t k = 0; k < count && !err; k++)
        for (size_t i = 0; i < list[k]->pair_count && !err; i++) {
            struct comparison_pair *pair = &list[k]->pairs[i];
            pair->significant = pair->test.n && pair->corrected <= significant;
            add_verdict(&pair->verdict, pair, list[k]->input, list[k]->family);
            err = pair->verdict.failed ? SPH_EMEMORY : 0;
        }
    mem_free(p);
    mem_free(corrected);
    return err;
}
