/* SPDX-License-Identifier: MIT
 *
 * Tables of grids, seeds, jobs, motion, published numbers and perturbations. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "boundary/tool.h"
#include "report/tables.h"

enum { SEEDS_DOWN = 8 }; /* with at most so many methods, seeds are rows and methods are columns */

/* ---------------------------------------------------------------- matrices */

size_t matrix_count(const struct results *results)
{
    const struct sph_experiment *e = results->experiment;
    return !e->table.all_points || !e->grid.count ? 0 : e->grid.count == 1 ? 1 : e->method_count;
}

static void name_row(struct table *out, size_t row, const struct sph_experiment *e, size_t line)
{
    struct text name = {0};
    if (e->grid.count == 1)
        text_add(&name, "%s", e->methods[row].name);
    for (size_t a = 0; a + 1 < e->grid.count; a++)
        text_add(
            &name, "%s%s %s", a ? ", " : "", option_key(e->grid.axes[a].id),
            experiment_value_text(&e->grid.axes[a], experiment_value(e, line % experiment_points(e), a)));
    table_take(out, row, 0, &name);
}

void matrix_table(struct table *out, const struct results *results, size_t number)
{
    const struct sph_experiment *e = results->experiment;
    const struct experiment_axis *across = &e->grid.axes[e->grid.count - 1];
    const struct comparison *comparison = &results->comparison;
    size_t rows = e->grid.count == 1 ? e->method_count : experiment_points(e) / across->count;
    double best = comparison_best(comparison);
    *out = (struct table){0};
    if (e->grid.count == 1)
        table_line(&out->caption, "mean %s", results->facts.metric);
    else
        table_line(&out->caption, "%s: mean %s", e->methods[number].name, results->facts.metric);
    table_column(out, (struct table_column){.head = ""});
    for (size_t c = 0; c < across->count; c++)
        table_made_column(out, (struct table_column){.number = 1, .digits = 4}, "%s %s",
                          option_key(across->id), experiment_value_text(across, c));
    table_rows(out, rows);
    for (size_t row = 0; row < rows; row++) {
        size_t line = (number * rows + row) * across->count;
        name_row(out, row, e, line);
        for (size_t c = 0; c < across->count; c++) {
            const struct summary *s = &comparison->lines[line + c].summary;
            table_number(out, row, c + 1, s->mean);
            if (s->n && same_number(s->mean, best))
                table_mark(out, row, c + 1, MARK_LEAD);
            else if (s->n < comparison->input->cases)
                table_mark(out, row, c + 1, MARK_BAD);
        }
    }
}

/* ---------------------------------------------------------------- seeds */

static int is_best(const struct comparison_input *input, size_t line, size_t seed)
{
    double own = input->methods[line].value[seed];
    for (size_t m = 0; m < input->count; m++) {
        double other = input->methods[m].value[seed];
        if (!same_number(own, other) && (input->larger_is_better ? other > own : other < own))
            return 0;
    }
    return !isnan(own) && input->count > 1;
}

/* A number of decimals for the whole table with which each number keeps six digits; -1: the numbers are too different. */
static int common_decimals(const struct comparison_input *input)
{
    int most = 0;
    for (size_t i = 0; i < input->count * input->cases; i++) {
        double value = fabs(input->methods[i / input->cases].value[i % input->cases]);
        char number[64];
        if (isnan(value) || value == 0)
            continue;
        if (value < 1e-4 || value >= 1e6)
            return -1;
        int decimals = 5 - comparison_exponent(value);
        snprintf(number, sizeof number, "%.*f", decimals < 0 ? 0 : decimals, value);
        while (decimals > 0 && number[strlen(number) - 1] == '0') {
            number[strlen(number) - 1] = '\0';
            decimals--;
        }
        most = decimals > most ? decimals : most;
    }
    return most;
}

void seeds_table(struct table *out, const struct results *results)
{
    const struct comparison_input *input = &results->input;
    const uint64_t *seeds = results->experiment->seeds;
    int down = input->count <= SEEDS_DOWN, decimals = common_decimals(input);
    const struct table_column score = {
        .number = 1, .digits = decimals < 0 ? 6 : 0, .fixed = decimals < 0 ? 0 : decimals};
    *out = (struct table){0};
    if (input->set)
        table_line(&out->caption, "%s", input->set);
    table_column(out, (struct table_column){.head = down ? "seed" : "method"});
    for (size_t i = 0; i < (down ? input->count : input->cases); i++)
        if (down)
            table_made_column(out, score, "%s", input->methods[i].name);
        else
            table_made_column(out, score, "seed %llu", (unsigned long long)seeds[i]);
    table_rows(out, down ? input->cases : input->count);
    for (size_t row = 0; row < out->row_count; row++)
        if (down)
            table_text(out, row, 0, "%llu", (unsigned long long)seeds[row]);
        else
            table_words(out, row, 0, input->methods[row].name);
    for (size_t m = 0; m < input->count; m++)
        for (size_t s = 0; s < input->cases; s++) {
            size_t row = down ? s : m, column = down ? m + 1 : s + 1;
            double value = input->methods[m].value[s];
            table_number(out, row, column, value);
            table_mark(out, row, column,
                       isnan(value)           ? MARK_BAD
                       : is_best(input, m, s) ? MARK_LEAD
                                              : MARK_PLAIN);
        }
}

/* ---------------------------------------------------------------- jobs */

int gave_nothing(const struct experiment_outcome *outcome)
{
    return !outcome->finished || outcome->diverged;
}

#define JOBS(X)                                                                                              \
    X(JOB_SET, (.head = "set"), known_words, e->set_count ? e->sets[job->set].name : NULL)                   \
    X(JOB_METHOD, (.head = "method"), words, e->methods[job->method].name)                                   \
    X(JOB_POINT, (.head = "point"), take, &point)                                                            \
    X(JOB_SEED, (.head = "seed", .number = 1), text, "%llu", (unsigned long long)e->seeds[job->seed])        \
    X(JOB_PART, (.head = "part"), take, &part)                                                               \
    X(JOB_TEST, (.head = "test", .number = 1, .digits = 6), known, outcome->test)                            \
    X(JOB_VAL, (.head = "validation", .number = 1, .digits = 6), known, outcome->val)                        \
    X(JOB_EPOCHS, (.head = "epochs", .number = 1), known,                                                    \
      outcome->finished ? (double)outcome->epochs : (double)NAN)                                             \
    X(JOB_BEST, (.head = "best epoch", .number = 1), known,                                                  \
      outcome->finished ? (double)outcome->best_epoch : (double)NAN)                                         \
    X(JOB_REPORTED, (.head = "reported"), known_words, reported ? "yes" : NULL)                              \
    X(JOB_END, (.head = "outcome"), take, &end)

TABLE_IDS(JOBS);

static void fill_job(struct table *out, size_t row, const struct results *results, size_t i)
{
    const struct sph_experiment *e = results->experiment;
    const struct experiment_job *job = &results->jobs[i];
    const struct experiment_outcome *outcome = &results->outcomes[i];
    struct text point = {0}, part = {0}, end = {0};
    size_t line = e->table.all_points ? job->point : 0;
    int reported = results_final(results_of_set(results, job->set), job->method, line, job->seed) == i;
    experiment_add_point(e, job->point, &point);
    if (job->fold >= 0 || job->fold == FOLD_REFIT)
        text_add(&part, job->fold >= 0 ? "fold %d" : "refit", job->fold);
    if (gave_nothing(outcome))
        text_add(&end, "%s%s", outcome->diverged ? "" : "failed: ", outcome->reason ? outcome->reason : "");
    JOBS(TABLE_CELL)
    if (gave_nothing(outcome))
        table_mark(out, row, JOB_END, MARK_BAD);
}

void jobs_table(struct table *out, const struct results *results, int only_bad, size_t most)
{
    size_t rows = 0, row = 0;
    *out = (struct table){0};
    TABLE_COLUMNS(out, JOBS);
    for (size_t i = 0; i < results->count; i++)
        rows += !only_bad || gave_nothing(&results->outcomes[i]);
    table_rows(out, rows < most ? rows : most);
    for (size_t i = 0; i < results->count && row < out->row_count; i++)
        if (!only_bad || gave_nothing(&results->outcomes[i]))
            fill_job(out, row++, results, i);
}

/* ---------------------------------------------------------------- motion */

enum { MOTION_METHOD, MOTION_POINT, MOTION_SET, MOTION_LAYER, MOTION_RUNS, MOTION_STEPS, MOTION_FIRST };

void motion_table(struct table *out, const struct motion *motion)
{
    static const char *const heads[] = {"largest move", "median move", "largest turn", "99 % turn"};
    size_t seeds = motion->experiment->seed_count;
    *out = (struct table){0};
    const char *set =
        motion->experiment->set_count ? experiment_set_name(motion->experiment, motion->set) : NULL;
    table_line(&out->title, "%s%s%s: moves and turns of the boundaries in a step, over %zu seed%s",
               set ? set : "", set ? " of " : "", motion->experiment->name, seeds, seeds == 1 ? "" : "s");
    table_line(&out->notes,
               "The move (|dphi|, in %s) and turn (degrees) of a step are the largest over the units of the "
               "layer; the median and the 99 %% quantile are over all steps.",
               motion_units[motion->unit]);
    table_column(out, (struct table_column){.head = "method", .csv = "method", .json = "method"});
    table_column(out, (struct table_column){.head = "point", .csv = "point", .json = "point"});
    table_column(out, (struct table_column){.csv = set ? "set" : NULL});
    table_column(out, (struct table_column){
                          .head = motion->layers > 1 ? "layer" : NULL, .csv = "layer", .json = "layer"});
    table_column(
        out, (struct table_column){.head = "runs", .csv = "runs", .json = "runs", .number = 1, .wide = 4});
    table_column(
        out, (struct table_column){.head = "steps", .csv = "steps", .json = "steps", .number = 1, .wide = 8});
    for (size_t k = 0; k < MOTION_COUNT; k++)
        table_column(out, (struct table_column){.head = heads[k],
                                                .unit = k < MOTION_MAX_TURN ? NULL : "°",
                                                .csv = motion_words[k],
                                                .json = motion_words[k],
                                                .number = 1,
                                                .digits = 3,
                                                .least = k < MOTION_MAX_TURN ? 0 : 0.001,
                                                .wide = 12});
    for (size_t k = 0; k < MOTION_COUNT; k++)
        table_column(out, (struct table_column){.csv = motion_paper_words[k]});
    table_rows(out, motion->count);
    for (size_t i = 0; i < motion->count; i++) {
        const struct motion_row *row = &motion->rows[i];
        table_words(out, i, MOTION_METHOD, row->method);
        table_words(out, i, MOTION_POINT, row->point);
        table_words(out, i, MOTION_SET, set ? set : "");
        table_words(out, i, MOTION_LAYER, row->layer);
        table_count(out, i, MOTION_RUNS, row->runs);
        table_count(out, i, MOTION_STEPS, row->steps);
        for (size_t k = 0; k < MOTION_COUNT; k++) {
            table_number(out, i, MOTION_FIRST + k, row->value[k]);
            table_words(
                out, i, MOTION_FIRST + MOTION_COUNT + k,
                experiment_paper(motion->experiment, motion_words[k], motion->set, row->point, row->method));
        }
    }
}

/* Scores also have median, minimum and maximum over the seeds, because the mean says little if some trainings get stuck. */
void papers_table(struct table *out, const struct motion *motion)
{
    static const char *const spread[] = {"median", "least", "most"};
    int scores = 0, errors = 0;
    for (size_t i = 0; i < motion->paper_count; i++) {
        scores |= !isnan(motion->papers[i].median);
        errors |= !isnan(motion->papers[i].off);
    }
    *out = (struct table){0};
    table_line(&out->caption, "%s%scomparison with the papers%s",
               motion->experiment->set_count ? experiment_set_name(motion->experiment, motion->set) : "",
               motion->experiment->set_count ? ", " : "",
               errors ? "; off: our value minus the papers' value, in standard errors of the papers" : "");
    table_column(out, (struct table_column){.head = "number", .json = "number"});
    table_column(out, (struct table_column){.head = "method", .json = "method"});
    table_column(out, (struct table_column){.head = "point", .json = "point"});
    table_column(out,
                 (struct table_column){.head = "here", .json = "here", .number = 1, .digits = 3, .wide = 12});
    for (size_t k = 0; scores && k < 3; k++)
        table_column(out, (struct table_column){
                              .head = spread[k], .json = spread[k], .number = 1, .digits = 3, .wide = 8});
    table_column(out, (struct table_column){.head = "papers", .json = "papers"});
    if (errors)
        table_column(out, (struct table_column){.head = "off", .json = "off", .number = 1, .fixed = 1});
    table_rows(out, motion->paper_count);
    for (size_t i = 0; i < motion->paper_count; i++) {
        const struct motion_paper *paper = &motion->papers[i];
        const double number[] = {paper->median, paper->least, paper->most};
        table_words(out, i, 0, paper->metric);
        table_words(out, i, 1, paper->method);
        table_words(out, i, 2, paper->point);
        table_number(out, i, 3, paper->ours);
        for (size_t k = 0; scores && k < 3; k++)
            table_number(out, i, 4 + k, number[k]);
        table_words(out, i, scores ? 7 : 4, paper->text);
        if (errors)
            table_number(out, i, scores ? 8 : 5, paper->off);
    }
}

json_t *motion_to_json(const struct motion *motion, const struct table *rows, const struct table *papers)
{
    const struct sph_experiment *e = motion->experiment;
    return JSON_OF({"experiment", json_string(e->name)},
                   JSON_IF(e->set_count, "set", json_words(experiment_set_name(e, motion->set))),
                   {"seeds", json_count(e->seed_count)}, {"unit", json_string(motion_units[motion->unit])},
                   {"rows", table_to_json(rows)}, {"papers", table_to_json(papers)});
}

/* ---------------------------------------------------------------- under a perturbation */

void perturb_table(struct table *out, const sph_perturb_result *result, int shift)
{
    *out = (struct table){0};
    table_line(&out->caption, "%s", shift ? "shift of phi" : "turn of its boundary in degrees");
    table_column(out, (struct table_column){.head = "eps", .digits = 4, .wide = 10});
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
        table_column(
            out, (struct table_column){.head = result->method[m].name, .number = 1, .digits = 4, .wide = 9});
    table_rows(out, result->count);
    for (size_t i = 0; i < result->count; i++) {
        table_number(out, i, 0, result->method[0].after[i].eps);
        for (size_t m = 0; m < SPH_PERTURB_METHODS; m++) {
            const sph_perturb_plane *plane = &result->method[m].after[i];
            table_number(out, i, m + 1, shift ? plane->shift : fabs(plane->turn));
        }
    }
}
