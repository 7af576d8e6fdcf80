/* SPDX-License-Identifier: MIT
 *
 * Figures of a finished experiment or run: sph_figures opens the folder and writes its page again, figures_draw goes through datasets
 * and figures, draw_figure draws one. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "file/file.h"
#include "report/figures.h"
#include "report/pages.h"
#include "report/tool.h"

/* ---------------------------------------------------------------- one figure */

static const double page_seconds = 0.15; /* duration of a page of an animation */

/* The figures of a run, of an experiment, or of one of several datasets. */
struct drawing {
    struct panels panels;
    unsigned char wanted[FIGURE_COUNT];
    int named; /* the caller named them, so one that cannot be drawn is a failure */
    char *dir; /* the folder that figures go to */
    size_t drawn, failed;
    int no_gnuplot;
    struct failure first; /* first failure */
    struct text notes;    /* reasons of all failures */
};

/* The letters of the panels, from the experiment's file or the figure's defaults. */
static void add_letters(struct figure *figure, const struct panels *panels, size_t word)
{
    const char *own = panels->kind->letters ? panels->kind->letters : "";
    int given = panels->e && panels->e->drawn.letters && panels->e->drawn.letters[word];
    figure_text(figure, "letters", given ? panels->e->drawn.letters[word] : own);
}

/* "convergence", or "convergence-boston" for one of several datasets; caller frees. A dataset's name can have characters that are not
 * allowed in a figure's name. */
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

/* Writes NAME.note (why a figure is missing) or NAME.caption (what it shows) for the page. text NULL: removes the file. */
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

/* Removes pictures of an earlier drawing, which would be mistaken for the current ones. */
static int remove_pictures(const char *dir, const char *name)
{
    static const char *const endings[] = {"png", "svg", "pdf", "gif", "caption"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *path = mem_format("%s/%s.%s", dir, name, endings[i]);
        if (!path)
            return SPH_EMEMORY;
        file_remove(path);
        mem_free(path);
    }
    return 0;
}

/* Writes data and script, then the pictures. caption: the seed that it shows; caller frees. */
static int make_figure(struct drawing *d, size_t word, const char *name, char **caption)
{
    const struct figure_kind *kind = figure_kinds[word];
    struct figure *figure = NULL;
    d->panels.kind = kind;
    d->panels.word = figure_names[word];
    int err = figure_check_grid(&d->panels);
    if (!err)
        err = figure_new(&figure, d->dir, name, kind->script ? kind->script : figure_names[word]);
    if (!err)
        add_letters(figure, &d->panels, word);
    if (!err && !(err = panels_foot(figure, &d->panels, caption)))
        err = kind->fill(figure, &d->panels);
    if (!err)
        err = kind->pages ? figure_animate(figure, kind->pages, page_seconds) : figure_draw(figure);
    figure_free(figure);
    return err;
}

/* Notes why the figure could not be drawn. Fails only if the other figures have to stop. */
static int note_failure(struct drawing *d, const char *name)
{
    char *reason = mem_text(sph_error());
    if (!reason)
        return SPH_EMEMORY;
    text_add(&d->notes, "%s%s: %s", d->notes.length ? "; " : "", name, reason);
    if (!d->failed++)
        failure_save(&d->first);
    int err = remove_pictures(d->dir, name);
    if (!err && (d->panels.e || !d->named))
        err = keep_words(d->dir, name, EXPERIMENT_NOTE, reason);
    mem_free(reason);
    return err ? err : d->notes.failed ? SPH_EMEMORY : 0;
}

/* Draws a figure or notes why it cannot be drawn. Fails only if the other figures have to stop. */
static int draw_figure(struct drawing *d, size_t word, sph_progress_call *made, void *self)
{
    char *caption = NULL, *path = NULL, *name = file_name(&d->panels, word);
    int err = name ? make_figure(d, word, name, &caption) : SPH_EMEMORY;
    if (err < 0 && err != SPH_EMEMORY) {
        err = note_failure(d, name);
    } else if (err >= 0) {
        d->drawn++;
        d->no_gnuplot |= err == FIGURE_NO_GNUPLOT;
        struct failure missing;
        failure_save(&missing);
        int kept = keep_words(d->dir, name, EXPERIMENT_NOTE, NULL);
        if (!kept)
            kept = keep_words(d->dir, name, EXPERIMENT_CAPTION, caption);
        if (!kept && made && !(path = file_join(d->dir, name)))
            kept = SPH_EMEMORY;
        if (path)
            made(self, &(sph_progress){.what = path,
                                       .done = d->drawn,
                                       .share = (double)NAN,
                                       .seconds = (double)NAN,
                                       .seconds_left = (double)NAN});
        if (!kept && err)
            failure_set(&missing);
        err = kept;
    }
    mem_free(caption);
    mem_free(path);
    mem_free(name);
    return err;
}

/* ---------------------------------------------------------------- all of them */

/* part 0: the whole experiment, with the figures over all datasets; 1, 2, ...: each of several datasets. */
static int wants(const struct results *results, size_t part, const unsigned char *named, size_t word)
{
    const struct figure_kind *kind = figure_kinds[word];
    if (!(named ? named[word] : results && results->experiment->drawn.bits >> word & 1))
        return 0;
    return !results || !results->sets || !part == (kind->all_sets || figure_stands_alone(kind));
}

/* Makes the folder only if there are figures to draw. */
static int begin_drawing(struct drawing *d, const struct results *results, const char *dir,
                         const uint64_t *seed)
{
    int err = panels_begin(&d->panels, results, dir, seed);
    if (!err)
        err = figures_choose(&d->panels, d->named, d->wanted);
    if (!err && !(d->dir = file_join(dir, EXPERIMENT_FIGURES)))
        err = SPH_EMEMORY;
    return err ? err : file_make_directory(d->dir);
}

/* Reports figures that were not drawn in one line: a failure if figures were named or none was drawn, otherwise a note. */
static int end_drawing(struct drawing *d, int err)
{
    if (!err && d->failed == 1 && !d->drawn) {
        err = failure_set(&d->first);
    } else if (!err && d->failed) {
        sph_fail_of(d->first.code, "", 0, "figures", "not drawn: %.480s", d->notes.chars);
        err = d->named || !d->drawn ? d->first.code : 2;
    } else if (!err) {
        err = d->no_gnuplot;
    }
    text_free(&d->notes);
    mem_free(d->dir);
    panels_end(&d->panels);
    return err;
}

int figures_draw(const struct results *results, const char *dir, const unsigned char wanted[FIGURE_COUNT],
                 const uint64_t *seed, sph_progress_call *made, void *self)
{
    size_t parts = results && results->sets ? 1 + results->experiment->set_count : 1;
    int worst = 0;
    for (size_t part = 0; part < parts && worst >= 0; part++) {
        struct drawing d = {.named = wanted != NULL};
        int some = parts == 1;
        for (size_t i = 0; i < FIGURE_COUNT; i++)
            some |= d.wanted[i] = (unsigned char)wants(results, part, wanted, i);
        if (!some)
            continue;
        int err = begin_drawing(&d, part ? &results->sets[part - 1] : results, dir, seed);
        for (size_t i = 0; i < FIGURE_COUNT && !err; i++)
            err = d.wanted[i] ? draw_figure(&d, i, made, self) : 0;
        err = end_drawing(&d, err);
        worst = err < 0 || err > worst ? err : worst;
    }
    return worst;
}

/* ---------------------------------------------------------------- a folder */

/* Draws and writes the page. e NULL: the folder of a run. */
static int draw_folder(const sph_experiment *e, const char *dir, const unsigned char *wanted,
                       const sph_figures_opts *opts, void *self, sph_progress_call *made)
{
    struct results results = {0};
    struct tables tables = {0};
    int err = e ? results_read(&results, e, dir) : 0, page = 0;
    if (!err)
        err = figures_draw(e ? &results : NULL, dir, wanted, opts->seed, made, self);
    if (err >= 0)
        page = !e ? run_write_page(dir) : tables_make(&tables, &results);
    if (err >= 0 && e && !page)
        page = experiment_write_page(&results, &tables);
    tables_free(&tables);
    results_free(&results);
    return page < 0 ? page : err;
}

int sph_figures(const char *dir, const sph_figures_opts *opts, void *self, sph_progress_call *made)
{
    static const sph_figures_opts none;
    unsigned char wanted[FIGURE_COUNT] = {0};
    sph_experiment *e = NULL;
    int err = file_enter(dir);
    if (err < 0)
        return err;
    char *file = file_join(dir, EXPERIMENT_FILE);
    opts = opts ? opts : &none;
    err = file ? figures_read(opts->names, opts->count, wanted) : SPH_EMEMORY;
    if (!err && file_exists(file))
        err = sph_experiment_open(&e, file);
    if (!err && e && !opts->count && !e->drawn.bits)
        err = sph_fail_of(SPH_EARG, file, 0, "figures",
                          "its key figures is empty; give names of figures (%s)", figure_list.choices);
    if (!err)
        err = draw_folder(e, dir, opts->count ? wanted : NULL, opts, self, made);
    sph_experiment_free(e);
    mem_free(file);
    file_leave(dir);
    return err;
}
