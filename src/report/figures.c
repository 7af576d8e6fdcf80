/* SPDX-License-Identifier: MIT
 *
 * The figures, what is refused before anything is trained or drawn, and from a finished experiment, or one
 * run, to its pictures. */
#include "report/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data.h"
#include "file/file.h"
#include "layer/act.h"
#include "layer/norm.h"
#include "net/zoo.h"
#include "report/pages.h"
#include "report/tool.h"

#define FIGURE_POINTER(id, word, help)  &figure_##id,
#define FIGURE_WORD(id, word, help)     word,
#define FIGURE_BAR(id, word, help)      "|" word
#define FIGURE_WORD_ROW(id, word, help) {word, help},
const struct figure_kind *const figure_kinds[FIGURE_COUNT] = {FIGURES(FIGURE_POINTER)};
const char *const figure_names[FIGURE_COUNT] = {FIGURES(FIGURE_WORD)};
static const char figure_choices[] = FIGURES(FIGURE_BAR);

/* ---------------------------------------------------------------- what a figure needs */

/* What can be recorded, and an array that is there if it was. */
static const struct {
    unsigned need;
    const char *word, *array;
} records[] = {{FIGURE_BOUNDARIES, "boundaries", "frame_step"},
               {FIGURE_PATTERNS, "patterns", "pattern_step"},
               {FIGURE_GRADIENTS, "gradients", "gradient_step"}};

enum { RECORDS = sizeof records / sizeof *records };

unsigned figure_parts(const struct figure_kind *kind)
{
    unsigned parts = kind->needs & (RECORDED_RECORD | RECORDED_DATA | RECORDED_FIRST | RECORDED_LAST);
    for (size_t i = 0; i < RECORDS; i++)
        parts |= kind->needs & records[i].need ? RECORDED_RECORD : 0;
    return parts;
}

static int stands_alone(const struct figure_kind *kind)
{
    return !kind->needs;
}

/* "decision needs data with 2 features and classes, found 3 features" */
static int check_data(const char *word, const struct figure_kind *kind, const sph_data *data)
{
    static const char *const tasks[] = {[FIGURE_ANY_TASK] = "",
                                        [FIGURE_CLASSES] = " and classes",
                                        [FIGURE_ONE_TARGET] = " and 1 real target",
                                        [FIGURE_IMAGES] = " and images of classes"};
    size_t least = kind->features_least, most = kind->features_most, n = data->features;
    int classes = data->task != SPH_TASK_REGRESSION;
    int task = kind->task == FIGURE_CLASSES      ? classes && data->targets == 1
               : kind->task == FIGURE_IMAGES     ? classes && data_is_images(data)
               : kind->task == FIGURE_ONE_TARGET ? !classes && data->targets == 1
                                                 : 1;
    char from[32] = "";
    if (task && (!most || (n >= least && n <= most)))
        return 0;
    if (!most)
        return sph_fail_of(SPH_EARG, "", 0, word, "%s needs data with%s", word, tasks[kind->task] + 4);
    if (least < most)
        snprintf(from, sizeof from, "%zu or ", least);
    return sph_fail_of(SPH_EARG, "", 0, word, "%s needs data with %s%zu feature%s%s, found %zu feature%s%s",
                       word, from, most, most == 1 ? "" : "s", tasks[kind->task], n, n == 1 ? "" : "s",
                       classes ? " and classes" : "");
}

int figure_check_panel(const char *word, const struct figure_kind *kind, const struct panel *panel)
{
    int err = panel->run.data ? check_data(word, kind, panel->run.data) : 0;
    for (size_t i = 0; i < RECORDS && !err; i++)
        if (kind->needs & records[i].need && !panel_has(panel, records[i].array))
            err = sph_fail_of(SPH_EFORMAT, "", 0, "record", "no recorded %s; train it with --record %s",
                              records[i].word, records[i].word);
    return err;
}

/* ---------------------------------------------------------------- before the first job */

static int has_axis(const struct sph_experiment *e, const char *key)
{
    for (size_t i = 0; i < e->axis_count; i++)
        if (!strcmp(option_key(e->axes[i].id), key))
            return 1;
    return 0;
}

static int records_it(const struct sph_experiment *e, const char *what)
{
    return moments_want(&e->base->options.record, what);
}

/* A figure of scores alone has one for each set and point of the keys that are not its axis; others for each training. */
static size_t panels_of(const struct sph_experiment *e, const struct figure_kind *kind)
{
    if (kind->needs != FIGURE_SCORES || !kind->axis)
        return experiment_lines(e) * e->method_count;
    size_t panels = experiment_sets(e) * experiment_points(e);
    for (size_t i = 0; i < e->axis_count; i++)
        if (!strcmp(option_key(e->axes[i].id), kind->axis))
            panels /= e->axes[i].count;
    return panels;
}

static int check_kind(const struct sph_experiment *e, const char *word, const struct figure_kind *kind,
                      const sph_data *data)
{
    int err = check_data(word, kind, data);
    for (size_t i = 0; i < RECORDS && !err; i++)
        if (kind->needs & records[i].need && !records_it(e, records[i].word))
            err = sph_fail(SPH_EARG, "%s needs record: {%s: every|epoch|[steps]}", word, records[i].word);
    if (!err && kind->axis && !has_axis(e, kind->axis))
        err = sph_fail(SPH_EARG, "%s needs a grid over %s", word, kind->axis);
    if (!err && kind->sets_least && (e->set_count < kind->sets_least || e->method_count < 2 || e->all_points))
        err = sph_fail(SPH_EARG, "%s needs %zu sets or more, data: {name: [a, b]}, and methods to compare",
                       word, kind->sets_least);
    if (!err && kind->all_points && !e->all_points)
        err = sph_fail(SPH_EARG, "%s needs table: all", word);
    size_t panels = panels_of(e, kind);
    if (!err && panels > PANELS_MOST)
        err = sph_fail(SPH_EARG, "%s: %zu panels, at most %d", word, panels, PANELS_MOST);
    return err;
}

/* data NULL: the experiment trains nothing. */
static int check_wanted(const struct sph_experiment *e, const sph_data *data)
{
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (!(e->wanted_figures >> i & 1))
            continue;
        if (!data && !stands_alone(figure_kinds[i]))
            return sph_fail_line_key(SPH_EFORMAT, e->path, 0, "figures", "%s needs data and methods to train",
                                     figure_names[i]);
        if (data && check_kind(e, figure_names[i], figure_kinds[i], data) < 0) {
            sph_fail_about(SPH_EFORMAT, "figures", "figures");
            return sph_fail_move(SPH_EFORMAT, e->path, e->figures_line, 0);
        }
    }
    return 0;
}

const struct figure_list figure_list = {figure_names, FIGURE_COUNT, figure_choices + 1, check_wanted};

/* ---------------------------------------------------------------- drawing one */

static const double page_seconds = 0.15; /* of an animation */

static int check_grid(const struct panels *panels)
{
    const char *axis = panels->kind->axis;
    if (!panels->e && panels->kind->needs & FIGURE_SCORES)
        return sph_fail_of(SPH_EARG, panels->dir, 0, panels->word, "%s needs an experiment with %s%s",
                           panels->word,
                           axis                       ? "a grid over "
                           : panels->kind->sets_least ? "several sets of data"
                                                      : "methods to compare",
                           axis ? axis : "");
    if (panels->e && axis && !has_axis(panels->e, axis))
        return sph_fail_of(SPH_EARG, panels->e->path, 0, panels->word, "%s needs a grid over %s",
                           panels->word, axis);
    return 0;
}

/* Its letters: the file's, or its own. */
static void add_letters(struct figure *figure, const struct panels *panels, size_t word)
{
    const char *own = panels->kind->letters ? panels->kind->letters : "";
    int given = panels->e && panels->e->letters && panels->e->letters[word];
    figure_text(figure, "letters", given ? panels->e->letters[word] : own);
}

/* "convergence", of one of several sets "convergence-boston"; caller frees. What a set is called may hold what a
 * figure's name may not. */
static char *file_name(const struct panels *panels, size_t word)
{
    int one = panels->e && panels->e->set_count && !panels->results->sets;
    const char *set = one ? panels->e->sets[panels->results->set].folder : NULL;
    size_t plain = set ? strspn(set, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") : 0;
    char *name = !set ? mem_text(figure_names[word])
                 : !set[plain]
                     ? mem_format("%s-%s", figure_names[word], set)
                     : mem_format("%s-%.*s-%zu", figure_names[word], (int)plain, set, panels->results->set);
    return name;
}

static int draw(struct panels *panels, const char *dir, size_t word, const char *name, char **caption)
{
    const struct figure_kind *kind = figure_kinds[word];
    struct figure *figure = NULL;
    panels->kind = kind;
    panels->word = figure_names[word];
    int err = check_grid(panels);
    if (!err)
        err = figure_new(&figure, dir, name, kind->script ? kind->script : panels->word);
    if (!err)
        add_letters(figure, panels, word);
    if (!err && !(err = panels_foot(figure, panels, caption)))
        err = kind->fill(figure, panels);
    if (!err)
        err = kind->pages ? figure_animate(figure, kind->pages, page_seconds) : figure_draw(figure);
    figure_free(figure);
    return err;
}

/* ---------------------------------------------------------------- which */

/* What `regions` would refuse. */
static int has_regions(const struct recorded *run)
{
    const struct act_ops *act = act_ops((sph_act)run->spec->options.activation);
    return run->last && !net_kind((sph_net_kind)run->spec->options.net)->make && act->two_lines &&
           act->breaks && !norm_ops((sph_norm)run->spec->options.norm)->per_sample;
}

static int has_tested(const struct recorded *run)
{
    return run->nets && (run->split.test_rows || run->split.val_rows);
}

/* One run that says nothing of what it is to show: all that its data and its record allow. */
static int choose_figures(struct panels *panels, unsigned char wanted[FIGURE_COUNT])
{
    const struct panel *panel;
    int err = panels_look(panels, 0, RECORDED_RECORD | RECORDED_DATA | RECORDED_LAST, &panel);
    for (size_t i = 0; i < FIGURE_COUNT && !err; i++) {
        unsigned needs = figure_kinds[i]->needs;
        wanted[i] = needs && !(needs & FIGURE_SCORES) &&
                    !figure_check_panel(figure_names[i], figure_kinds[i], panel) &&
                    (!(needs & FIGURE_TESTED) || has_tested(&panel->run)) &&
                    (!(needs & FIGURE_REGIONS) || has_regions(&panel->run));
    }
    return err;
}

/* Before a folder for figures is made in one that is no run's. */
static int check_run(struct panels *panels)
{
    const struct panel *panel;
    return panels_look(panels, 0, 0, &panel);
}

/* Of an experiment whose file provides for no record, what to write there. */
static int check_records(struct panels *panels, const unsigned char wanted[FIGURE_COUNT])
{
    const struct sph_experiment *e = panels->e;
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        const struct figure_kind *kind = figure_kinds[i];
        const struct panel *panel;
        if (!wanted[i] || stands_alone(kind))
            continue;
        for (size_t k = 0; k < RECORDS; k++) {
            if (!(kind->needs & records[k].need) || records_it(e, records[k].word))
                continue;
            int err = panels_look(panels, 0, RECORDED_RECORD, &panel);
            if (err < 0)
                return err;
            if (!panel_has(panel, records[k].array))
                return sph_fail_at(
                    SPH_EFORMAT, e->path,
                    "%s needs record: {%s: epoch} in the experiment's file; run it again with that",
                    figure_names[i], records[k].word);
        }
    }
    return 0;
}

static int check_trained(const struct sph_experiment *e, const unsigned char wanted[FIGURE_COUNT])
{
    for (size_t i = 0; i < FIGURE_COUNT && !e->method_count; i++)
        if (wanted[i] && !stands_alone(figure_kinds[i]))
            return sph_fail_at(SPH_EFORMAT, e->path, "this experiment trains nothing, and so has no %s",
                               figure_names[i]);
    return 0;
}

/* ---------------------------------------------------------------- drawing all */

/* DIR/figures/NAME.note says in the report why a figure is not there, NAME.caption what is shown in one that is.
 * text NULL: there is none. */
static int keep_words(const char *dir, const char *name, const char *ending, const char *text)
{
    char *path = mem_format("%s/%s%s", dir, name, ending);
    int err = path ? 0 : SPH_EMEMORY;
    if (path && text)
        err = file_replace_with(path, text, strlen(text));
    else if (path)
        file_remove(path);
    mem_free(path);
    return err;
}

/* Pictures of an earlier drawing would pass for this one's. */
static int remove_pictures(const char *dir, const char *name)
{
    static const char *const endings[] = {"png", "svg", "pdf", "caption"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *path = mem_format("%s/%s.%s", dir, name, endings[i]);
        if (!path)
            return SPH_EMEMORY;
        file_remove(path);
        mem_free(path);
    }
    return 0;
}

/* One figure. Returns 0 drawn, 1 without gnuplot, 2 not drawn: `notes` has grown by the reason, *first is the
 * first such failure; or a failure that stops all. */
static int draw_one(struct panels *panels, const char *dir, size_t word, const char *name, int keep,
                    struct text *notes, struct failure *first)
{
    char *caption = NULL;
    int err = draw(panels, dir, word, name, &caption), kept = 0;
    if (err >= 0) {
        kept = keep_words(dir, name, EXPERIMENT_NOTE, NULL);
        if (!kept)
            kept = keep_words(dir, name, EXPERIMENT_CAPTION, caption);
    }
    mem_free(caption);
    if (err >= 0 || err == SPH_EMEMORY)
        return kept < 0 ? kept : err;
    char *reason = mem_text(sph_error());
    if (!reason)
        return SPH_EMEMORY;
    text_add(notes, "%s%s: %s", notes->length ? "; " : "", name, reason);
    if (!first->code)
        failure_save(first);
    kept = remove_pictures(dir, name);
    if (!kept && keep)
        kept = keep_words(dir, name, EXPERIMENT_NOTE, reason);
    mem_free(reason);
    return kept < 0 ? kept : notes->failed ? SPH_EMEMORY : 2;
}

/* What was not drawn, in one line: a failure where figures were named or none could be drawn, else a note. */
static int say_notes(const struct text *notes, size_t failed, size_t drawn, int named,
                     const struct failure *first)
{
    if (failed == 1 && !drawn)
        return failure_set(first);
    sph_fail_of(first->code, "", 0, "figures", "not drawn: %.480s", notes->chars);
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
static int draw_all(struct panels *panels, const unsigned char wanted[FIGURE_COUNT], int named,
                    sph_progress_call *made, void *self)
{
    int missing = 0;
    struct failure first = {0};
    size_t drawn = 0, failed = 0;
    struct text notes = {0};
    char *dir = file_join(panels->dir, EXPERIMENT_FIGURES);
    int err = dir ? file_make_directory(dir) : SPH_EMEMORY;
    for (size_t i = 0; i < FIGURE_COUNT && err >= 0; i++) {
        if (!wanted[i])
            continue;
        char *name = file_name(panels, i);
        err = name ? draw_one(panels, dir, i, name, panels->e || !named, &notes, &first) : SPH_EMEMORY;
        missing |= err == FIGURE_NO_GNUPLOT;
        failed += err == 2;
        char *path = err < 0 || err == 2 || !made ? NULL : file_join(dir, name);
        mem_free(name);
        if (err == 2)
            continue;
        drawn += err >= 0;
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
    mem_free(dir);
    return err;
}

/* Of these results: a run's, an experiment's, or one set's of several. */
static int draw_these(const struct results *results, const char *dir, unsigned char all[FIGURE_COUNT],
                      int named, const uint64_t *seed, sph_progress_call *made, void *self)
{
    struct panels panels;
    const struct sph_experiment *e = results ? results->experiment : NULL;
    int trained = !e && !named, err = panels_begin(&panels, results, dir, seed);
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        trained |= all[i] && !stands_alone(figure_kinds[i]);
    if (!err && e)
        err = check_trained(e, all);
    if (trained && !err)
        err = e ? check_records(&panels, all) : named ? check_run(&panels) : choose_figures(&panels, all);
    if (!err)
        err = draw_all(&panels, all, named, made, self);
    panels_end(&panels);
    return err;
}

/* Of all sets: 0 of the results as a whole, what is one figure of all sets or of none; 1 and on of each set. */
static int take_those(const struct results *results, size_t part, const unsigned char wanted[FIGURE_COUNT],
                      unsigned char out[FIGURE_COUNT])
{
    int some = 0;
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        const struct figure_kind *kind = figure_kinds[i];
        int asked = wanted ? wanted[i] : results->experiment->wanted_figures >> i & 1;
        out[i] = asked && (!part == (kind->all_sets || stands_alone(kind)));
        some |= out[i];
    }
    return some;
}

int figures_draw(const struct results *results, const char *dir, const unsigned char wanted[FIGURE_COUNT],
                 const uint64_t *seed, sph_progress_call *made, void *self)
{
    unsigned char all[FIGURE_COUNT] = {0};
    int worst = 0;
    if (!results || !results->sets) {
        for (size_t i = 0; i < FIGURE_COUNT; i++)
            all[i] = wanted ? wanted[i] : results && results->experiment->wanted_figures >> i & 1;
        return draw_these(results, dir, all, wanted != NULL, seed, made, self);
    }
    for (size_t part = 0; part <= results->experiment->set_count && worst >= 0; part++) {
        if (!take_those(results, part, wanted, all))
            continue;
        int err =
            draw_these(part ? &results->sets[part - 1] : results, dir, all, wanted != NULL, seed, made, self);
        worst = err < 0 || err > worst ? err : worst;
    }
    return worst;
}

/* ---------------------------------------------------------------- from outside */

const sph_word_row *sph_figure_word(size_t i)
{
    static const sph_word_row words[] = {FIGURES(FIGURE_WORD_ROW)};
    return i < FIGURE_COUNT ? &words[i] : NULL;
}

static int read_names(const char *const *names, size_t count, unsigned char wanted[FIGURE_COUNT])
{
    for (size_t i = 0; i < count; i++) {
        int found = text_find(names[i], figure_names, FIGURE_COUNT);
        const char *nearest = found < 0 ? text_nearest(names[i], figure_names, FIGURE_COUNT) : NULL;
        if (found < 0)
            return sph_fail_of(SPH_EARG, "", 0, names[i], "unknown figure '%s'%s%s%s (%s)", names[i],
                               nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                               figure_choices + 1);
        wanted[found] = 1;
    }
    return 0;
}

static int draw_experiment(const sph_experiment *e, const char *dir, const unsigned char *wanted,
                           const uint64_t *seed, void *self, sph_progress_call *made)
{
    struct results results;
    struct tables tables = {0};
    int err = results_read(&results, e, dir), page = 0;
    if (!err)
        err = figures_draw(&results, dir, wanted, seed, made, self);
    if (err >= 0 && !(page = tables_make(&tables, &results)))
        page = experiment_write_page(&results, &tables);
    tables_free(&tables);
    results_free(&results);
    return page < 0 ? page : err;
}

static int draw_run(const char *dir, const unsigned char *wanted, const uint64_t *seed, void *self,
                    sph_progress_call *made)
{
    int err = figures_draw(NULL, dir, wanted, seed, made, self), page = err < 0 ? 0 : sph_run_page(dir);
    return page < 0 ? page : err;
}

static int draw_in(const char *dir, const sph_figures_opts *opts, void *self, sph_progress_call *made)
{
    static const sph_figures_opts none;
    unsigned char wanted[FIGURE_COUNT] = {0}, *named = opts && opts->count ? wanted : NULL;
    sph_experiment *e = NULL;
    char *file = file_join(dir, EXPERIMENT_FILE);
    opts = opts ? opts : &none;
    int err = file ? read_names(opts->names, opts->count, wanted) : SPH_EMEMORY;
    if (!err && file_exists(file))
        err = sph_experiment_open(&e, file);
    if (!err && e && !opts->count && !e->wanted_figures)
        err = sph_fail_of(SPH_EARG, file, 0, "figures", "its key figures names none; name some here (%s)",
                          figure_choices + 1);
    if (!err)
        err = e ? draw_experiment(e, dir, named, opts->seed, self, made)
                : draw_run(dir, named, opts->seed, self, made);
    sph_experiment_free(e);
    mem_free(file);
    return err;
}

int sph_figures(const char *dir, const sph_figures_opts *opts, void *self, sph_progress_call *made)
{
    NEED(dir);
    int err = file_enter(dir);
    if (!err) {
        err = draw_in(dir, opts, self, made);
        file_leave(dir);
    }
    return err;
}
