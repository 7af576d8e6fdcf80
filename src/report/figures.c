/* SPDX-License-Identifier: MIT
 *
 * The list of figures and the checks before training and drawing. */
#include "report/figures.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "data/open.h"
#include "layer/act.h"
#include "layer/norm.h"
#include "net/zoo.h"

#define FIGURE_POINTER(id, word, help)  &figure_##id,
#define FIGURE_WORD(id, word, help)     word,
#define FIGURE_BAR(id, word, help)      "|" word
#define FIGURE_WORD_ROW(id, word, help) {word, help},
const struct figure_kind *const figure_kinds[FIGURE_COUNT] = {FIGURES(FIGURE_POINTER)};
const char *const figure_names[FIGURE_COUNT] = {FIGURES(FIGURE_WORD)};
static const char figure_choices[] = FIGURES(FIGURE_BAR);

/* ---------------------------------------------------------------- what a figure needs */

/* What can be recorded, and an array that the record then has. */
static const struct {
    unsigned need;
    const char *word, *array;
} records[] = {{FIGURE_BOUNDARIES, "boundaries", "frame_step"},
               {FIGURE_PATTERNS, "patterns", "pattern_step"},
               {FIGURE_GRADIENTS, "gradients", "gradient_step"}};

enum { RECORDS = sizeof records / sizeof *records };

unsigned figure_parts(const struct figure_kind *kind)
{
    unsigned parts = kind->needs & (RUN_RECORD | RUN_DATA | RUN_FIRST | RUN_MODEL);
    for (size_t i = 0; i < RECORDS; i++)
        parts |= kind->needs & records[i].need ? RUN_RECORD : 0;
    return parts;
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
    for (size_t i = 0; i < e->grid.count; i++)
        if (!strcmp(option_key(e->grid.axes[i].id), key))
            return 1;
    return 0;
}

static int records_it(const struct sph_experiment *e, const char *what)
{
    return moments_want(&e->base->options.record, what);
}

/* A figure of scores has one panel for each dataset and point of the keys other than its axis; other figures have one for each training. */
static size_t panels_of(const struct sph_experiment *e, const struct figure_kind *kind)
{
    if (kind->needs != FIGURE_SCORES || !kind->axis)
        return experiment_lines(e) * e->method_count;
    size_t panels = experiment_sets(e) * experiment_points(e);
    for (size_t i = 0; i < e->grid.count; i++)
        if (!strcmp(option_key(e->grid.axes[i].id), kind->axis))
            panels /= e->grid.axes[i].count;
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
    if (!err && kind->sets_least &&
        (e->set_count < kind->sets_least || e->method_count < 2 || e->table.all_points))
        err = sph_fail(SPH_EARG, "%s needs %zu sets or more, data: {name: [a, b]}, and methods to compare",
                       word, kind->sets_least);
    if (!err && kind->all_points && !e->table.all_points)
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
        if (!(e->drawn.bits >> i & 1))
            continue;
        if (!data && !figure_stands_alone(figure_kinds[i]))
            return sph_fail_line_key(SPH_EFORMAT, e->path, 0, "figures", "%s needs data and methods to train",
                                     figure_names[i]);
        if (data && check_kind(e, figure_names[i], figure_kinds[i], data) < 0) {
            sph_fail_about(SPH_EFORMAT, "figures", "figures");
            return sph_fail_move(SPH_EFORMAT, e->path, e->drawn.line, 0);
        }
    }
    return 0;
}

const struct figure_list figure_list = {figure_names, FIGURE_COUNT, figure_choices + 1, check_wanted};

/* ---------------------------------------------------------------- before drawing */

int figure_check_grid(const struct panels *panels)
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

/* The command regions accepts the network. */
static int has_regions(const struct sph_run *run)
{
    const struct act_ops *act = act_ops((sph_act)run->spec->options.activation);
    return run_single(run) && !net_kind((sph_net_kind)run->spec->options.net)->make && act->two_lines &&
           act->breaks && !norm_ops((sph_norm)run->spec->options.norm)->per_sample;
}

static int has_tested(const struct sph_run *run)
{
    return run->nets && (run->split.test_rows || run->split.val_rows);
}

static int has_turns(const struct panel *panel)
{
    return panel->run.data->features > 1 || panel_array(panel, 1, "turn");
}

/* All figures that the data and the record of a single run allow. */
static int choose_figures(struct panels *panels, unsigned char wanted[FIGURE_COUNT])
{
    const struct panel *panel;
    int err = panels_look(panels, 0, RUN_RECORD | RUN_DATA | RUN_MODEL, &panel);
    for (size_t i = 0; i < FIGURE_COUNT && !err; i++) {
        unsigned needs = figure_kinds[i]->needs;
        wanted[i] = needs && !(needs & FIGURE_SCORES) &&
                    !figure_check_panel(figure_names[i], figure_kinds[i], panel) &&
                    (!(needs & FIGURE_TESTED) || has_tested(&panel->run)) &&
                    (!(needs & FIGURE_TURNS) || has_turns(panel)) &&
                    (!(needs & FIGURE_REGIONS) || has_regions(&panel->run));
    }
    return err;
}

/* Fails if the folder is not a run, before a folder for figures is made in it. */
static int check_run(struct panels *panels)
{
    const struct panel *panel;
    return panels_look(panels, 0, 0, &panel);
}

/* Fails if a figure needs a record that the experiment does not have, and says what to write into its file. */
static int check_records(struct panels *panels, const unsigned char wanted[FIGURE_COUNT])
{
    const struct sph_experiment *e = panels->e;
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        const struct figure_kind *kind = figure_kinds[i];
        const struct panel *panel;
        if (!wanted[i] || figure_stands_alone(kind))
            continue;
        for (size_t k = 0; k < RECORDS; k++) {
            if (!(kind->needs & records[k].need) || records_it(e, records[k].word))
                continue;
            int err = panels_look(panels, 0, RUN_RECORD, &panel);
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
        if (wanted[i] && !figure_stands_alone(figure_kinds[i]))
            return sph_fail_at(SPH_EFORMAT, e->path, "this experiment trains nothing, so it has no %s",
                               figure_names[i]);
    return 0;
}

int figures_choose(struct panels *panels, int named, unsigned char wanted[FIGURE_COUNT])
{
    int trained = !panels->e && !named, err = panels->e ? check_trained(panels->e, wanted) : 0;
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        trained |= wanted[i] && !figure_stands_alone(figure_kinds[i]);
    if (err || !trained)
        return err;
    return panels->e ? check_records(panels, wanted)
           : named   ? check_run(panels)
                     : choose_figures(panels, wanted);
}

/* ---------------------------------------------------------------- their words */

const sph_word_row *sph_figure_word(size_t i)
{
    static const sph_word_row words[] = {FIGURES(FIGURE_WORD_ROW)};
    return i < FIGURE_COUNT ? &words[i] : NULL;
}

int figures_read(const char *const *names, size_t count, unsigned char wanted[FIGURE_COUNT])
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
