/* SPDX-License-Identifier: MIT
 *
 * From a finished experiment, or one run, to its figures: which trainings stand in which panel, and which
 * function fills it. */
#include "report/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/drawing.h"
#include "compare/perturb.h"
#include "report/page_of.h"
#include "job/nodes.h"
#include "report/perturbation.h"
#include "report/schematic.h"
#include "net/net.h"

/* ---------------------------------------------------------------- the kinds */

/* What data a figure needs, or NULL where these will do. */
static const char *lacks_data(enum figure_word word, const sph_data *data)
{
    size_t n = data->features;
    int classes = data->task != SPH_TASK_REGRESSION;
    switch (word) {
    case FIGURE_TRAJECTORIES:
    case FIGURE_ANIMATION:
        return n == 1 || n == 2 ? NULL : "data with 1 or 2 features";
    case FIGURE_SPECTRUM:
        return n == 1 ? NULL : "data with 1 feature";
    case FIGURE_PREDICTIONS:
        return n == 1 && !classes && data->targets == 1 ? NULL : "data with 1 feature and 1 real target";
    case FIGURE_DECISION:
        return n == 2 && classes ? NULL : "data with 2 features and classes";
    case FIGURE_REGIONS:
        return n == 2 ? NULL : "data with 2 features";
    default:
        return NULL;
    }
}

int figure_stands_alone(enum figure_word word)
{
    return word >= FIGURE_BOUNDARY && word <= FIGURE_LINES;
}

#define FIGURE_WORD(id, word, record, help)   word,
#define FIGURE_RECORD(id, word, record, help) record,
#define FIGURE_HELP(id, word, record, help)   word ": " help,
#define FIGURE_BAR(id, word, record, help)    "|" word
#define FIGURE_LACKS(id, word, record, help)                                                                 \
    static const char *lacks_##id(const sph_data *data)                                                      \
    {                                                                                                        \
        return lacks_data(FIGURE_##id, data);                                                                \
    }
#define FIGURE_KIND(id, word, record, help)                                                                  \
    {word, record, FIGURE_##id >= FIGURE_BOUNDARY && FIGURE_##id <= FIGURE_LINES,                            \
     FIGURE_##id == FIGURE_SENSITIVITY ? OPTION_LR : OPTION_COUNT, lacks_##id},
FIGURE_WORDS(FIGURE_LACKS)
const char *const figure_names[FIGURE_WORD_COUNT] = {FIGURE_WORDS(FIGURE_WORD)};
static const char *const figure_record[FIGURE_WORD_COUNT] = {FIGURE_WORDS(FIGURE_RECORD)};
static const char figure_choices[] = FIGURE_WORDS(FIGURE_BAR);
static const struct figure_kind kinds[FIGURE_WORD_COUNT] = {FIGURE_WORDS(FIGURE_KIND)};
const struct figure_kinds figure_kinds = {kinds, figure_names, FIGURE_WORD_COUNT, figure_choices + 1,
                                          PANELS_MOST};

/* ---------------------------------------------------------------- trainings in panels */

static void drawing_free(struct drawing *d)
{
    for (size_t i = 0; i < d->rows * d->columns; i++) {
        if (d->open)
            recorded_free(&d->open[i]);
        if (d->labels)
            mem_free(d->labels[i]);
    }
    mem_free(d->open);
    mem_free(d->panels);
    mem_free(d->labels);
    mem_free(d->method);
    mem_free(d->dir);
    reported_free(&d->jobs);
}

/* "lr 0.1, hidden 100" of a grid; else the rate. */
static int label_of(struct drawing *d, size_t i, size_t point)
{
    struct text text = {0};
    if (d->e && d->e->axis_count) {
        experiment_add_point(d->e, point, &text);
    } else {
        text_add(&text, "lr ");
        options_add(&text, d->open[i].job, OPTION_LR);
    }
    d->labels[i] = text.chars;
    return text.failed ? SPH_EMEMORY : 0;
}

static int open_panel(struct drawing *d, size_t i, const char *folder, const char *method, size_t point)
{
    struct recorded *r = &d->open[i];
    int err = recorded_open(r, folder, *d->metric ? d->metric : NULL);
    if (err < 0 || (err = label_of(d, i, point)) < 0)
        return err;
    if (!*d->metric)
        snprintf(d->metric, sizeof d->metric, "%s", r->metric);
    d->panels[i] = (struct panel){.method = method,
                                  .point = d->labels[i],
                                  .where = r->dir,
                                  .record = r->record,
                                  .first = r->first,
                                  .last = r->last,
                                  .data = r->data,
                                  .split = &r->split,
                                  .metric = r->metric,
                                  .score = r->score,
                                  .finished = r->finished};
    return 0;
}

static int take_room(struct drawing *d)
{
    d->open = mem_get(d->rows * d->columns, sizeof *d->open);
    d->panels = mem_get(d->rows * d->columns, sizeof *d->panels);
    d->labels = mem_get(d->rows * d->columns, sizeof *d->labels);
    return d->open && d->panels && d->labels ? 0 : SPH_EMEMORY;
}

static int open_experiment(struct drawing *d, const char *dir)
{
    const struct sph_experiment *e = d->e;
    int err = reported_read(&d->jobs, e, dir);
    if (err < 0)
        return err;
    snprintf(d->metric, sizeof d->metric, "%s", d->jobs.metric);
    d->rows = experiment_lines(e);
    d->columns = e->method_count;
    err = take_room(d);
    for (size_t i = 0; i < d->rows * d->columns && !err; i++) {
        size_t method = i % d->columns, line = i / d->columns;
        const struct reported *job = reported_find(&d->jobs, e, method, line, 0);
        err = job ? open_panel(d, i, job->folder, e->methods[method].name, job->point)
                  : sph_fail_at(SPH_EFORMAT, dir, EXPERIMENT_RESULTS ": no job of method '%s' is reported",
                                e->methods[method].name);
    }
    return err;
}

static int open_run(struct drawing *d, const char *dir)
{
    d->rows = d->columns = 1;
    int err = take_room(d);
    if (!err)
        err = open_panel(d, 0, dir, "", 0);
    if (err < 0)
        return err;
    const struct sph_job *job = d->open[0].job;
    int norm = job->options.norm != SPH_NORM_NONE;
    d->method = mem_format("%s%s%s", options_word(job, OPTION_PARAM), norm ? "+" : "",
                           norm ? options_word(job, OPTION_NORM) : "");
    d->panels[0].method = d->method;
    return d->method ? 0 : SPH_EMEMORY;
}

/* ---------------------------------------------------------------- drawing */

enum { ANIMATION_PAGES = 40 };
static const double page_seconds = 0.15;

static int fill_figure(struct figure *figure, const struct drawing *d, enum figure_word word)
{
    struct panels panels = {d->panels, d->rows, d->columns};
    switch (word) {
    case FIGURE_TRAJECTORIES:
        return trajectories_fill(figure, &panels, 0);
    case FIGURE_ANIMATION:
        return trajectories_fill(figure, &panels, ANIMATION_PAGES);
    case FIGURE_TURNS:
        return turns_fill(figure, &panels);
    case FIGURE_DECISION:
        return decision_fill(figure, &panels);
    case FIGURE_PREDICTIONS:
        return predictions_fill(figure, &panels);
    case FIGURE_SPECTRUM:
        return spectrum_fill(figure, &panels);
    case FIGURE_MOVES:
        return moves_fill(figure, &panels);
    case FIGURE_FLIPS:
        return flips_fill(figure, &panels);
    case FIGURE_REGIONS:
        return region_maps_fill(figure, &panels);
    case FIGURE_CONVERGENCE:
        return drawing_convergence(figure, d);
    case FIGURE_SENSITIVITY:
        return d->e ? drawing_sensitivity(figure, d)
                    : sph_fail_at(SPH_EARG, d->panels[0].where,
                                  "sensitivity needs an experiment with a grid over lr");
    default:
        return sph_fail(SPH_EARG, "figure '%s' cannot be drawn yet", figure_names[word]);
    }
}

/* Into the folder itself. */
static int draw_alone(const struct drawing *d, enum figure_word word)
{
    sph_perturb_result result;
    int err;
    switch (word) {
    case FIGURE_BOUNDARY:
        return schematic_boundary(d->dir);
    case FIGURE_POINTS:
        return schematic_points(d->dir);
    case FIGURE_LINES:
        return schematic_lines(d->dir);
    default:
        if ((err = experiment_perturb(d->e, &result)) < 0)
            return err;
        err = perturbation_draw(&result, d->dir);
        sph_perturb_free(&result);
        return err;
    }
}

static int draw(const struct drawing *d, enum figure_word word)
{
    struct figure *figure = NULL;
    if (figure_stands_alone(word))
        return draw_alone(d, word);
    const char *script = word == FIGURE_REGIONS ? "region-maps" : figure_names[word];
    int err = figure_new(&figure, d->dir, figure_names[word], script);
    if (!err)
        err = fill_figure(figure, d, word);
    if (!err)
        err = word == FIGURE_ANIMATION ? figure_animate(figure, ANIMATION_PAGES, page_seconds)
                                       : figure_draw(figure);
    figure_free(figure);
    return err;
}

/* What `regions` would refuse. */
static int has_regions(const struct panel *panel, const struct sph_job *job)
{
    int act = job->options.activation;
    return panel->last && job->options.net == NET_MLP && (act == SPH_ACT_RELU || act == SPH_ACT_LEAKY_RELU) &&
           job->options.norm != SPH_NORM_LN;
}

/* One run that says nothing of what it is to show: all that its data and its record allow. */
static void choose_figures(const struct drawing *d, unsigned char wanted[FIGURE_WORD_COUNT])
{
    const struct panel *panel = &d->panels[0];
    int patterns = panel->record && panel_has(panel, "pattern_step");
    int boundaries = panel->record && panel_has(panel, "frame_step");
    for (int i = 0; i < FIGURE_WORD_COUNT; i++) {
        int there = !strcmp(figure_record[i], "patterns") ? patterns : !*figure_record[i] || boundaries;
        wanted[i] = there && i != FIGURE_SENSITIVITY && !figure_stands_alone((enum figure_word)i) &&
                    !lacks_data((enum figure_word)i, panel->data) &&
                    (i != FIGURE_REGIONS || has_regions(panel, d->open[0].job));
    }
}

/* Of an experiment whose file provides for no record, what to write there. */
static int check_records(const struct drawing *d, const unsigned char wanted[FIGURE_WORD_COUNT])
{
    for (int i = 0; i < FIGURE_WORD_COUNT; i++) {
        const char *record = figure_record[i];
        const char *array = !strcmp(record, "patterns") ? "pattern_step" : "frame_step";
        if (wanted[i] && *record && !moments_want(&d->e->base->options.record, record) &&
            !(d->panels[0].record && panel_has(&d->panels[0], array)))
            return sph_fail_at(
                SPH_EFORMAT, d->e->path,
                "%s needs record: {%s: epoch} in the experiment's file; run it again with that",
                figure_names[i], record);
    }
    return 0;
}

static int check_trained(const struct sph_experiment *e, const unsigned char wanted[FIGURE_WORD_COUNT])
{
    for (int i = 0; i < FIGURE_WORD_COUNT && !e->method_count; i++)
        if (wanted[i] && !figure_stands_alone((enum figure_word)i))
            return sph_fail_at(SPH_EFORMAT, e->path, "this experiment trains nothing, and so has no %s",
                               figure_names[i]);
    return 0;
}

/* DIR/figures/NAME.note says in the report why a figure is not there. reason NULL: it is. */
static int keep_note(const struct drawing *d, const char *name, const char *reason)
{
    char *path = mem_format("%s/%s" EXPERIMENT_NOTE, d->dir, name);
    int err = path ? 0 : SPH_EMEMORY;
    if (path && reason)
        err = file_replace_with(path, reason, strlen(reason));
    else if (path)
        unlink(path);
    mem_free(path);
    return err;
}

/* Pictures of an earlier drawing would pass for this one's. */
static int remove_pictures(const struct drawing *d, const char *name)
{
    static const char *const endings[] = {"png", "svg", "pdf"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *path = mem_format("%s/%s.%s", d->dir, name, endings[i]);
        if (!path)
            return SPH_EMEMORY;
        unlink(path);
        mem_free(path);
    }
    return 0;
}

/* One figure. Returns 0 drawn, 1 without gnuplot, 2 not drawn: `notes` has grown by the reason, *first is the
 * first such failure; or a failure that stops all. */
static int draw_one(const struct drawing *d, enum figure_word word, int keep, struct text *notes,
                    struct failure *first)
{
    int err = draw(d, word);
    if (err == SPH_EMEMORY)
        return err;
    if (err >= 0) {
        int kept = keep_note(d, figure_names[word], NULL);
        return kept < 0 ? kept : err;
    }
    char *reason = mem_text(sph_error());
    if (!reason)
        return SPH_EMEMORY;
    text_add(notes, "%s%s: %s", notes->length ? "; " : "", figure_names[word], reason);
    if (!first->code)
        failure_save(first);
    int kept = remove_pictures(d, figure_names[word]);
    if (!kept && keep)
        kept = keep_note(d, figure_names[word], reason);
    mem_free(reason);
    return kept < 0 ? kept : notes->failed ? SPH_EMEMORY : 2;
}

/* What was not drawn, in one line: a failure where figures were named or none could be drawn, else a note. */
static int say_notes(const struct text *notes, size_t failed, size_t drawn, int named,
                     const struct failure *first)
{
    if (failed == 1 && !drawn)
        return failure_set(first);
    sph_fail(first->code, "not drawn: %.480s", notes->chars);
    return named || !drawn ? first->code : 2;
}

static void tell_made(void *self, sph_progress_call *made, const char *path, size_t done)
{
    made(self, &(sph_progress){.what = path,
                               .done = done,
                               .share = (double)NAN,
                               .seconds = (double)NAN,
                               .seconds_left = (double)NAN});
}

/* The folder comes with the first figure: where there is none to draw there is none. A figure that cannot be
 * drawn does not stop the others. */
static int draw_all(struct drawing *d, const char *dir, const unsigned char wanted[FIGURE_WORD_COUNT],
                    int named, sph_progress_call *made, void *self)
{
    int missing = 0, err = 0;
    struct failure first = {0};
    size_t drawn = 0, failed = 0;
    struct text notes = {0};
    d->dir = file_join(dir, EXPERIMENT_FIGURES);
    if (!d->dir || (err = file_make_directory(d->dir)) < 0)
        return err ? err : SPH_EMEMORY;
    for (int i = 0; i < FIGURE_WORD_COUNT && err >= 0; i++) {
        if (!wanted[i])
            continue;
        err = draw_one(d, (enum figure_word)i, d->e || !named, &notes, &first);
        missing |= err == FIGURE_NO_GNUPLOT;
        failed += err == 2;
        if (err == 2)
            continue;
        drawn += err >= 0;
        char *path = err < 0 || !made ? NULL : file_join(d->dir, figure_names[i]);
        if (path)
            tell_made(self, made, path, drawn);
        else if (made && err >= 0)
            err = SPH_EMEMORY;
        mem_free(path);
    }
    if (err >= 0 && failed)
        err = say_notes(&notes, failed, drawn, named, &first);
    else if (err >= 0)
        err = missing;
    text_free(&notes);
    return err;
}

int experiment_draw(const struct sph_experiment *e, const char *dir,
                    const unsigned char wanted[FIGURE_WORD_COUNT], sph_progress_call *made, void *self)
{
    struct drawing d = {.e = e};
    unsigned char all[FIGURE_WORD_COUNT] = {0};
    int trained = !e && !wanted, err = 0;
    for (int i = 0; i < FIGURE_WORD_COUNT; i++) {
        all[i] = wanted ? wanted[i] : e && e->wanted_figures >> i & 1;
        trained |= all[i] && !figure_stands_alone((enum figure_word)i);
    }
    if (e)
        err = check_trained(e, all);
    if (trained && !err)
        err = e ? open_experiment(&d, dir) : open_run(&d, dir);
    if (!err && e && trained)
        err = check_records(&d, all);
    if (!err && !e && !wanted)
        choose_figures(&d, all);
    if (!err)
        err = draw_all(&d, dir, all, wanted != NULL, made, self);
    drawing_free(&d);
    return err;
}

/* ---------------------------------------------------------------- from outside */

size_t sph_figure_words(const char *const **out)
{
    static const char *const words[] = {FIGURE_WORDS(FIGURE_HELP)};
    *out = words;
    return FIGURE_WORD_COUNT;
}

static int read_names(const char *const *names, size_t count, unsigned char wanted[FIGURE_WORD_COUNT])
{
    for (size_t i = 0; i < count; i++) {
        int found = text_find(names[i], figure_names, FIGURE_WORD_COUNT);
        const char *nearest = found < 0 ? text_nearest(names[i], figure_names, FIGURE_WORD_COUNT) : NULL;
        if (found < 0)
            return sph_fail(SPH_EARG, "unknown figure '%s'%s%s%s (%s)", names[i],
                            nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                            figure_choices + 1);
        wanted[found] = 1;
    }
    return 0;
}

int sph_figures(const char *dir, const char *const *names, size_t count, void *self, sph_progress_call *made)
{
    unsigned char wanted[FIGURE_WORD_COUNT] = {0};
    sph_experiment *e = NULL;
    char *file = file_join(dir, EXPERIMENT_FILE);
    int err = file ? read_names(names, count, wanted) : SPH_EMEMORY;
    if (!err && file_exists(file))
        err = sph_experiment_open(&e, file);
    if (!err && e && !count && !e->wanted_figures)
        err = sph_fail_at(SPH_EARG, file, "its key figures names none; name some here (%s)",
                          figure_choices + 1);
    if (!err)
        err = experiment_draw(e, dir, count ? wanted : NULL, made, self);
    if (err >= 0) {
        int reported = e ? experiment_write_report(dir) : run_write_report(dir);
        err = reported < 0 ? reported : err;
    }
    sph_experiment_free(e);
    mem_free(file);
    return err;
}
