/* SPDX-License-Identifier: MIT
 *
 * What the methods of an experiment come to beside each other. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/results.h"
#include "job/reference.h"

enum { CHOICES_SHOWN = 3 };

/* "lr 0.03 (3 of 5), 0.1 (2)", the most frequent first; results.json has them all. */
static int describe_choice(const struct results *r, const size_t *final, char **out)
{
    const struct sph_experiment *e = r->experiment;
    size_t points = experiment_points(e), seeds = e->seed_count, *count = mem_get(points, sizeof *count);
    struct text text = {0};
    if (!count)
        return SPH_EMEMORY;
    for (size_t s = 0; s < seeds; s++)
        if (!isnan(r->outcomes[final[s]].test))
            count[r->jobs[final[s]].point]++;
    for (int shown = 0;; shown++) {
        size_t most = 0;
        for (size_t p = 1; p < points; p++)
            if (count[p] > count[most])
                most = p;
        if (!count[most])
            break;
        if (shown == CHOICES_SHOWN) {
            text_add(&text, ", ...");
            break;
        }
        text_add(&text, "%s", !shown ? "" : e->axis_count > 1 ? "; " : ", ");
        if (shown && e->axis_count == 1)
            text_add(&text, "%s", experiment_value_text(&e->axes[0], most));
        else
            experiment_add_point(e, most, &text);
        if (!shown && count[most] < seeds)
            text_add(&text, " (%zu of %zu)", count[most], seeds);
        else if (shown)
            text_add(&text, " (%zu)", count[most]);
        count[most] = 0;
    }
    mem_free(count);
    if (text.failed) {
        text_free(&text);
        return SPH_EMEMORY;
    }
    *out = text.chars;
    return 0;
}

static int fill_line(const struct results *r, size_t method, size_t line, struct results_line *own,
                     struct comparison_method *out)
{
    const struct sph_experiment *e = r->experiment;
    const size_t *final = r->final + (method * experiment_lines(e) + line) * e->seed_count;
    struct text name = {0};
    int err = 0;
    *out =
        (struct comparison_method){.seconds = (double)NAN}; /* tables of a resumed run have to be the same */
    if (!(own->value = mem_get(e->seed_count, sizeof *own->value)))
        return SPH_EMEMORY;
    for (size_t s = 0; s < e->seed_count; s++) {
        const struct experiment_outcome *outcome = &r->outcomes[final[s]];
        int refitted = r->jobs[final[s]].fold < 0;
        own->value[s] = refitted ? outcome->test : (double)NAN;
        if (refitted && outcome->finished && !outcome->diverged) /* a score may be undefined: no failure */
            continue;
        out->failed++;
        if (!out->reason)
            out->reason = outcome->reason;
    }
    text_add(&name, "%s", e->methods[method].name);
    if (e->all_points && e->axis_count) {
        text_add(&name, ", ");
        experiment_add_point(e, line, &name);
    } else if (e->axis_count) {
        err = describe_choice(r, final, &own->chosen);
    }
    own->name = name.chars;
    if (!err && name.failed)
        err = SPH_EMEMORY;
    out->name = own->name;
    out->value = own->value;
    out->chosen = own->chosen;
    return err;
}

/* The first method under gmp is what the others are compared with; without one, the best. Points of a grid
 * side by side are a picture, not a contest. */
static int reference_of(const struct sph_experiment *e)
{
    if (e->all_points && e->axis_count)
        return COMPARISON_NONE;
    for (size_t m = 0; m < e->method_count; m++) {
        const struct sph_job *job = e->methods[m].job;
        if ((job->given[OPTION_PARAM] ? job : e->base)->options.param == SPH_PARAM_GMP)
            return (int)m;
    }
    return COMPARISON_BEST;
}

const char *experiment_warning(const struct sph_experiment *e)
{
    int chose_point = e->axis_count && !e->all_points, chose_epoch = reference_leaks(e->base);
    for (size_t m = 0; m < e->method_count; m++)
        if (e->methods[m].job->given[OPTION_MONITOR] && e->base->options.protocol == PROTOCOL_REFERENCE)
            chose_epoch |= strcmp(e->methods[m].job->options.monitor, "train_loss") != 0;
    if (e->base->options.protocol != PROTOCOL_REFERENCE || (!chose_point && !chose_epoch))
        return NULL;
    if (!chose_epoch)
        return "protocol reference: the test part chose the point of the grid, so its scores are too good; "
               "not for "
               "reporting";
    return chose_point
               ? "protocol reference: the test part chose the epoch and the point of the grid, so its scores "
                 "are too good; not for reporting"
               : OPTION_LEAK;
}

int results_compare(struct results *r)
{
    const struct sph_experiment *e = r->experiment;
    size_t lines = experiment_lines(e), count = e->method_count * lines;
    r->lines = mem_get(count, sizeof *r->lines);
    r->methods = mem_get(count, sizeof *r->methods);
    r->input = (struct comparison_input){.experiment = e->name,
                                         .metric = r->facts.metric,
                                         .larger_is_better = r->facts.larger_is_better,
                                         .protocol = options_word(e->base, OPTION_PROTOCOL),
                                         .warning = experiment_warning(e),
                                         .cases = e->seed_count,
                                         .methods = r->methods,
                                         .count = count,
                                         .reference_method = reference_of(e)};
    int err = r->lines && r->methods ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++)
        err = fill_line(r, i / lines, i % lines, &r->lines[i], &r->methods[i]);
    return err ? err : comparison_make(&r->comparison, &r->input);
}
