/* SPDX-License-Identifier: MIT
 *
 * What the methods of an experiment come to beside each other. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/results.h"
#include "job/resolve.h"
#include "train/tool.h"

enum { CHOICES_SHOWN = 3, CHOICES_LONG = 40 /* bytes, after which no more are shown */ };

/* "lr 0.03 (3 of 5), 0.1 (2)", the most frequent first; results.json has them all. */
static int describe_choice(const struct results *r, size_t method, size_t line, char **out)
{
    const struct sph_experiment *e = r->experiment;
    size_t points = experiment_points(e), seeds = e->seed_count, *count = mem_get(points, sizeof *count);
    struct text text = {0};
    if (!count)
        return SPH_EMEMORY;
    for (size_t s = 0; s < seeds; s++) {
        size_t final = results_final(r, method, line, s);
        if (!isnan(r->outcomes[final].test))
            count[r->jobs[final].point]++;
    }
    for (int shown = 0;; shown++) {
        size_t most = 0;
        for (size_t p = 1; p < points; p++)
            if (count[p] > count[most])
                most = p;
        if (!count[most])
            break;
        if (shown == CHOICES_SHOWN || (shown && text.length > CHOICES_LONG)) {
            text_add(&text, ", ...");
            break;
        }
        text_add(&text, "%s", !shown ? "" : e->grid.count > 1 ? "; " : ", ");
        if (shown && e->grid.count == 1)
            text_add(&text, "%s", experiment_value_text(&e->grid.axes[0], most));
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

static int fill_line(const struct results *r, size_t method, size_t line, struct comparison_method *out)
{
    const struct sph_experiment *e = r->experiment;
    struct text name = {0};
    char *chosen = NULL, *edge = NULL;
    double *value = mem_get(e->seed_count, sizeof *value);
    double *beside = r->input.beside ? mem_get(e->seed_count, sizeof *beside) : NULL;
    int err = 0;
    *out =
        (struct comparison_method){.value = value,
                                   .beside = beside,
                                   .seconds = (double)NAN}; /* tables of a resumed run have to be the same */
    if (!value || (r->input.beside && !beside))
        return SPH_EMEMORY;
    for (size_t s = 0; s < e->seed_count; s++) {
        size_t final = results_final(r, method, line, s);
        const struct experiment_outcome *outcome = &r->outcomes[final];
        int refitted = r->jobs[final].fold < 0;
        value[s] = refitted ? outcome->test : (double)NAN;
        if (beside)
            beside[s] = refitted ? results_score(r, final, "test", r->input.beside) : (double)NAN;
        if (refitted && outcome->finished && !outcome->diverged) /* a score may be undefined: no failure */
            continue;
        out->failed++;
        if (!out->reason)
            out->reason = outcome->reason;
    }
    text_add(&name, "%s", e->methods[method].name);
    if (e->table.all_points && e->grid.count) {
        text_add(&name, ", ");
        experiment_add_point(e, line, &name);
    } else if (e->grid.count) {
        err = describe_choice(r, method, line, &chosen);
    }
    if (!err)
        err = name.failed ? SPH_EMEMORY : results_edges(r, method, line, &edge);
    out->name = name.chars;
    out->chosen = chosen;
    out->edge = edge;
    return err;
}

/* What the file says; else the first method under gmp is what the others are compared with; without one, the best. */
static int reference_of(const struct sph_experiment *e)
{
    int baseline =
        e->table.baseline ? experiment_find_method(e, e->table.baseline, strlen(e->table.baseline)) : -1;
    if (e->table.baseline)
        return baseline < 0 ? COMPARISON_ALL : baseline;
    for (size_t m = 0; m < e->method_count; m++) {
        const struct job_spec *own = e->methods[m].asked;
        if ((options_given(own, OPTION_PARAM) ? own : e->base)->options.param == SPH_PARAM_GMP)
            return (int)m;
    }
    return COMPARISON_BEST;
}

const char *experiment_warning(const struct sph_experiment *e)
{
    int chose_point = e->grid.count && !e->table.all_points, chose_epoch = job_leaks(e->base);
    for (size_t m = 0; m < e->method_count; m++)
        if (options_given(e->methods[m].asked, OPTION_MONITOR) &&
            e->base->options.protocol == PROTOCOL_REFERENCE)
            chose_epoch |= strcmp(e->methods[m].asked->options.monitor, "train_loss") != 0;
    if (e->base->options.protocol != PROTOCOL_REFERENCE || (!chose_point && !chose_epoch))
        return NULL;
    if (!chose_epoch)
        return "protocol reference: the test set chose the grid point, so test scores are too optimistic; "
               "do not report them";
    return chose_point ? "protocol reference: the test set chose the epoch and the grid point, so test "
                         "scores are too optimistic; do not report them"
                       : OPTION_LEAK;
}

/* Random splits of the same rows have test rows and training rows in common. */
static double overlap_of(const struct results *r)
{
    const struct experiment_data *data = r->data ? &r->data[r->set] : NULL;
    if (!data || data->drawn || data->own_test || !data->test_rows || data->test_rows >= data->rows)
        return 0;
    return (double)data->test_rows / (double)(data->rows - data->test_rows);
}

static const char *beside_of(const char *metric)
{
    int known = sph_word_find(SPH_WORDS_METRIC, metric);
    return known < 0 ? NULL : sph_metric_about((sph_metric)known)->beside;
}

/* The score of a constant prediction on the splits that some job tells it of. */
static void add_baseline(struct comparison_input *input, const struct results *r, size_t lines)
{
    double sum = 0;
    for (size_t seed = 0; seed < r->experiment->seed_count; seed++) {
        double score = (double)NAN;
        for (size_t i = 0; i < input->count && isnan(score); i++)
            score =
                results_score(r, results_final(r, i / lines, i % lines, seed), "baseline", r->facts.metric);
        if (!isnan(score)) {
            sum += score;
            input->baseline_cases++;
        }
    }
    input->baseline = input->baseline_cases ? sum / (double)input->baseline_cases : 0;
}

static int compare_set(struct results *r)
{
    const struct sph_experiment *e = r->experiment;
    size_t lines = experiment_lines(e), count = e->method_count * lines;
    int compared =
        !e->table.all_points || !e->grid.count; /* points side by side are a picture, not a contest */
    r->methods = mem_get(count, sizeof *r->methods);
    r->input = (struct comparison_input){.experiment = e->name,
                                         .set = e->set_count ? e->sets[r->set].name : NULL,
                                         .metric = r->facts.metric,
                                         .beside = beside_of(r->facts.metric),
                                         .larger_is_better = r->facts.larger_is_better,
                                         .protocol = options_word(e->base, OPTION_PROTOCOL),
                                         .warning = experiment_warning(e),
                                         .cases = e->seed_count,
                                         .methods = r->methods,
                                         .count = count,
                                         .reference_method = compared ? reference_of(e) : COMPARISON_NONE,
                                         .overlap = overlap_of(r)};
    int err = r->methods ? 0 : SPH_EMEMORY;
    if (!err)
        add_baseline(&r->input, r, lines);
    for (size_t i = 0; i < count && !err; i++)
        err = fill_line(r, i / lines, i % lines, &r->methods[i]);
    return err ? err : comparison_measure(&r->comparison, &r->input);
}

/* A part for each of several sets, with the jobs of all. */
static int part_sets(struct results *r)
{
    size_t count = r->experiment->set_count;
    if (!count || r->sets)
        return 0;
    if (!(r->sets = mem_get(count, sizeof *r->sets)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++)
        r->sets[i] = (struct results){.experiment = r->experiment,
                                      .dir = r->dir,
                                      .facts = r->facts,
                                      .jobs = r->jobs,
                                      .outcomes = r->outcomes,
                                      .count = r->count,
                                      .final = r->final,
                                      .data = r->data,
                                      .units = r->units,
                                      .set = i};
    return 0;
}

/* Points of a grid side by side are no contest. */
static int rank_methods(struct results *r)
{
    const struct comparison_input *input = &r->sets[0].input;
    if (input->reference_method == COMPARISON_NONE || input->count < 2)
        return 0;
    double *score = mem_get(r->experiment->set_count, input->count * sizeof *score);
    if (!score)
        return SPH_EMEMORY;
    for (size_t i = 0; i < r->experiment->set_count; i++)
        for (size_t m = 0; m < input->count; m++)
            score[i * input->count + m] = r->sets[i].comparison.lines[m].summary.mean;
    return ranking_make(&r->ranking, score, r->experiment->set_count, input->count, input->larger_is_better);
}

int results_compare(struct results *r)
{
    size_t count = experiment_sets(r->experiment);
    struct comparison **list = mem_get(count, sizeof *list);
    int err = list ? part_sets(r) : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        struct results *set = r->sets ? &r->sets[i] : r;
        err = compare_set(set);
        list[i] = &set->comparison;
    }
    if (!err)
        err = comparison_conclude(list, count);
    mem_free(list);
    if (!err)
        err = tolerance_make(&r->tolerance, r, reference_of(r->experiment));
    return err || !r->sets ? err : rank_methods(r);
}

int results_measure(struct results *r)
{
    int err = 0;
    for (size_t i = 0; i < experiment_sets(r->experiment) && !err; i++) {
        struct results *set = r->sets ? &r->sets[i] : r;
        err = r->owned ? motion_load(&set->motion, set) : motion_read(&set->motion, set);
    }
    return err;
}

void results_forget_motion(struct results *r)
{
    for (size_t i = 0; i < experiment_sets(r->experiment); i++) {
        struct motion *motion = r->sets ? &r->sets[i].motion : &r->motion;
        motion_free(motion);
        *motion = (struct motion){.experiment = r->experiment, .set = i};
    }
}
