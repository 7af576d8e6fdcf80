/* SPDX-License-Identifier: MIT
 *
 * An experiment from its file to a folder with results, tables, figures and a page. The module compare runs the jobs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "compare/experiment_jobs.h"
#include "file/file.h"
#include "report/figures.h"
#include "report/pages.h"

int sph_experiment_open(sph_experiment **out, const char *path)
{
    NEED(out, path);
    return experiment_open(out, path, &figure_list);
}

/* ---------------------------------------------------------------- motion and figures
 * The results are already written, so a failure here is only a note. */

static void add_note(sph_experiment_result *result, const char *what, const char *why)
{
    size_t used = strlen(result->figures_note), room = sizeof result->figures_note - used;
    snprintf(result->figures_note + used, room, "%s%s: %.480s", used ? "; " : "", what, why);
    result->not_drawn++;
}

static int measure_motion(struct experiment_run *run)
{
    int err = results_measure(&run->results);
    if (!err || err == SPH_EMEMORY)
        return err;
    add_note(run->result, MOTION_FILE, sph_error());
    results_forget_motion(&run->results);
    return 0;
}

/* Each figure is drawn in a separate process, because it opens data and makes nets. */
struct drawing_run {
    struct experiment_run *run;
    size_t words[FIGURE_COUNT];
};

static int do_draw(void *self, size_t job, struct crew_slot *slot)
{
    const struct drawing_run *d = self;
    unsigned char wanted[FIGURE_COUNT] = {0};
    wanted[d->words[job]] = 1;
    int drawn = figures_draw(&d->run->results, d->run->opts->out, wanted, NULL, NULL, NULL);
    slot->real = drawn;
    if (drawn > 0)
        failure_save(&slot->failure);
    return drawn < 0 ? drawn : 0;
}

static int draw_ended(void *self, size_t job, const struct crew_slot *slot)
{
    const struct drawing_run *d = self;
    sph_experiment_result *result = d->run->result;
    if (slot->err < 0)
        add_note(result, figure_names[d->words[job]], slot->failure.text);
    else if (slot->real == 0)
        result->figures++;
    else if (!*result->figures_note)
        snprintf(result->figures_note, sizeof result->figures_note, "%.480s", slot->failure.text);
    return 0;
}

static int draw_progress(void *self, const struct crew_progress *progress)
{
    const struct drawing_run *d = self;
    struct experiment_run *run = d->run;
    sph_progress view = {.what = "drawing figures",
                         .all = progress->jobs,
                         .done = progress->ended,
                         .share = progress->share,
                         .seconds = clock_seconds() - run->began,
                         .seconds_left = (double)NAN};
    return run->opts->progress ? run->opts->progress(run->opts->self, &view) : 0;
}

static int draw_all(struct experiment_run *run)
{
    const struct sph_experiment *e = run->experiment;
    struct drawing_run d = {.run = run};
    struct crew crew = {.workers = run->opts->workers,
                        .self = &d,
                        .work = do_draw,
                        .ended = draw_ended,
                        .progress = draw_progress};
    int stopped;
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (e->drawn.bits >> i & 1)
            d.words[crew.jobs++] = i;
    return crew.jobs ? crew_run(&crew, &stopped) : 0;
}

/* ---------------------------------------------------------------- dead and always active units */

static int do_count(void *self, size_t job, struct crew_slot *slot)
{
    const struct experiment_run *run = self;
    struct unit_counts counts;
    _Static_assert(sizeof counts <= sizeof slot->note, "the counts fit into a note");
    int err = diagnostics_count(&counts, &run->results, run->results.final[job]);
    memcpy(slot->note, &counts, sizeof counts);
    return err;
}

/* The count failed for another reason than a failed training or missing data: memory was short, an existing file could not be read, or
 * the process died, as some libraries do without memory. */
static int is_lost(const struct experiment_run *run, size_t job, const struct crew_slot *slot)
{
    int finished = run->results.outcomes[run->results.final[job]].finished;
    return slot->err == SPH_EMEMORY || !slot->ended ||
           (finished && file_unread(slot->err, slot->failure.path));
}

static int count_ended(void *self, size_t job, const struct crew_slot *slot)
{
    struct experiment_run *run = self;
    if (is_lost(run, job, slot))
        return failure_set(&slot->failure);
    if (slot->err >= 0)
        memcpy(&run->results.units[job], slot->note, sizeof *run->results.units);
    return 0;
}

/* Counts the units of each reported training in a separate process. */
static int count_units(struct experiment_run *run)
{
    size_t count = experiment_reports(run->experiment);
    struct crew crew = {
        .jobs = count, .workers = run->opts->workers, .self = run, .work = do_count, .ended = count_ended};
    int stopped;
    if (!(run->results.units = mem_get(count, sizeof *run->results.units)))
        return SPH_EMEMORY;
    return crew_run(&crew, &stopped);
}

/* ---------------------------------------------------------------- all */

/* Computes everything that tables, figures and the page need. */
static int conclude(struct experiment_run *run)
{
    if (experiment_without_jobs(run->experiment))
        return results_perturb(&run->results);
    int err = count_units(run);
    if (!err)
        err = results_compare(&run->results);
    return err ? err : measure_motion(run);
}

static int write_all(struct experiment_run *run)
{
    struct tables tables;
    int err = tables_make(&tables, &run->results);
    if (!err)
        err = tables_write(&tables, &run->results);
    if (!err)
        err = draw_all(run);
    if (!err)
        err = experiment_write_page(&run->results, &tables);
    if (!err && run->opts->table)
        err = tables_print(&tables, &run->results, run->opts->json, run->opts->table);
    tables_free(&tables);
    return err;
}

int sph_experiment_run(sph_experiment *experiment, const sph_experiment_opts *opts,
                       sph_experiment_result *result)
{
    NEED(experiment, opts);
    sph_experiment_result unseen;
    sph_experiment_opts own = {.size = sizeof(sph_experiment_opts)};
    struct experiment_run run = {
        .experiment = experiment, .opts = &own, .claims = CLAIMS_NONE, .result = result ? result : &unseen};
    *run.result = (sph_experiment_result){0};
    int complete = 0, err = SIZED_TAKE(&own, opts, sph_experiment_opts);
    if (err < 0 || (err = own.out ? file_enter(own.out) : 0) < 0)
        return err;
    err = experiment_run_jobs(&run, &complete);
    if (!err && complete && !(err = conclude(&run)))
        err = write_all(&run);
    experiment_run_end(&run);
    file_leave(own.out);
    return err;
}
