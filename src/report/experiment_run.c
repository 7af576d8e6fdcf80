/* SPDX-License-Identifier: MIT
 *
 * An experiment from its file to a folder with results, tables, figures and a page: the jobs are the work of
 * the room compare, what readers look at is added here. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "compare/run.h"
#include "report/experiment_tables.h"
#include "report/figures.h"
#include "report/motion_write.h"
#include "report/page_of.h"
#include "report/perturb_write.h"

int sph_experiment_open(sph_experiment **out, const char *path)
{
    return experiment_open(out, path, &figure_list);
}

/* ---------------------------------------------------------------- motion and figures
 * In processes of their own, since they open data and make nets: the table of motion first, then a figure
 * each. None of them can spoil the results, which are written. */

struct drawing_run {
    struct experiment_run *run;
    size_t words[FIGURE_COUNT];
};

static int do_draw(void *self, size_t job, struct crew_slot *slot)
{
    const struct drawing_run *d = self;
    const struct sph_experiment *e = d->run->experiment;
    if (job == 0 && experiment_without_jobs(e))
        return 0;
    if (job == 0) {
        struct motion motion;
        int err = motion_read(&motion, e, d->run->opts->out);
        if (!err)
            err = motion_write(&motion, d->run->opts->out);
        motion_free(&motion);
        return err;
    }
    unsigned char wanted[FIGURE_COUNT] = {0};
    wanted[d->words[job - 1]] = 1;
    int drawn = experiment_draw(e, d->run->opts->out, wanted, NULL, NULL);
    slot->real = drawn;
    if (drawn > 0)
        failure_save(&slot->failure);
    return drawn < 0 ? drawn : 0;
}

static int draw_ended(void *self, size_t job, const struct crew_slot *slot)
{
    const struct drawing_run *d = self;
    sph_experiment_result *result = d->run->result;
    const char *what = job ? figure_names[d->words[job - 1]] : "motion";
    if (job && slot->err >= 0 && slot->real == 0)
        result->figures++;
    if (slot->err >= 0 && slot->real == 0)
        return 0;
    result->not_drawn += slot->err < 0;
    size_t used = strlen(result->figures_note), room = sizeof result->figures_note - used;
    if (slot->err < 0)
        snprintf(result->figures_note + used, room, "%s%s: %.480s", used ? "; " : "", what,
                 slot->failure.text);
    else if (!used)
        snprintf(result->figures_note, sizeof result->figures_note, "%.480s", slot->failure.text);
    return 0;
}

static int draw_progress(void *self, const struct crew_progress *progress)
{
    const struct drawing_run *d = self;
    struct experiment_run *run = d->run;
    (void)progress;
    sph_progress view = {.all = run->before,
                         .done = run->before,
                         .share = 1,
                         .seconds = clock_seconds() - run->began,
                         .seconds_left = (double)NAN};
    return run->opts->progress ? run->opts->progress(run->opts->self, &view) : 0;
}

static int draw_all(struct experiment_run *run)
{
    const struct sph_experiment *e = run->experiment;
    struct drawing_run d = {.run = run};
    struct crew crew = {.jobs = 1,
                        .workers = run->opts->workers,
                        .self = &d,
                        .work = do_draw,
                        .ended = draw_ended,
                        .progress = draw_progress};
    int stopped;
    if (!e->base->set[OPTION_RECORD] && !e->paper_count && !e->wanted_figures)
        return 0;
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (e->wanted_figures >> i & 1)
            d.words[crew.jobs++ - 1] = i;
    return crew_run(&crew, &stopped);
}

/* ---------------------------------------------------------------- all */

static int write_tables(struct experiment_run *run)
{
    struct results_comparison compared;
    int err = results_compare(&compared, &run->results);
    if (!err)
        err = experiment_write_tables(&run->results, &compared);
    results_comparison_free(&compared);
    return err;
}

int sph_experiment_run(sph_experiment *e, const sph_experiment_opts *opts, sph_experiment_result *result)
{
    sph_experiment_result own;
    struct experiment_run run = {.experiment = e, .opts = opts, .held = -1, .result = result ? result : &own};
    *run.result = (sph_experiment_result){0};
    int err = experiment_run_jobs(&run);
    if (!err && !run.result->stopped) {
        err = experiment_without_jobs(e) ? experiment_write_perturb(e, opts->out) : write_tables(&run);
        if (!err)
            err = draw_all(&run);
        if (!err)
            err = experiment_write_report(opts->out);
    }
    experiment_run_end(&run);
    return err;
}
