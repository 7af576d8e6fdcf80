/* SPDX-License-Identifier: MIT
 *
 * Checkpoints and metrics of a training, as observers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "job/job_run.h"
#include "store/checkpoint.h"

/* The trainers to the checkpoint with extra; or from it, and what was extra to *out. */
static int exchange(const struct job_run *run, const json_t *extra, json_t **out)
{
    struct trainer **trainers = mem_get(run->count, sizeof *trainers);
    if (!trainers)
        return SPH_EMEMORY;
    for (size_t k = 0; k < run->count; k++)
        trainers[k] = run->trainers[k]->loop;
    const struct checkpoint_parts parts = {trainers, run->count, run->nets[0]};
    int err = out ? checkpoint_load(run->folder.checkpoint, &parts, out)
                  : checkpoint_save(run->folder.checkpoint, &parts, extra);
    mem_free(trainers);
    return err;
}

int job_save_checkpoint(struct job_run *run)
{
    uint64_t offset;
    int err = metrics_sync(&run->metrics, &offset);
    if (!err && run->board)
        err = tensorboard_flush(run->board);
    if (err < 0)
        return err;
    json_t *recorded = NULL;
    if (run->record && (err = record_sync(run->record, &recorded)) < 0)
        return err;
    json_t *extra =
        JSON_OF({"metrics_bytes", json_count(offset)}, {"data", json_sprintf("%016" PRIx64, run->content)},
                {"seconds", json_number(run->clock.before + clock_seconds() - run->clock.began)},
                JSON_IF(run->refit, "refit", json_incref(run->refit)), JSON_IF(recorded, "record", recorded));
    err = !extra ? sph_fail(SPH_EMEMORY, "out of memory") : run->members ? job_members_state(run, extra) : 0;
    if (!err)
        err = exchange(run, extra, NULL);
    json_decref(extra);
    run->clock.saved_at = clock_seconds();
    return err;
}

int job_load_checkpoint(struct job_run *run, uint64_t *metrics_bytes, json_t **recorded)
{
    const char *path = run->folder.checkpoint, *then;
    char now[17];
    json_t *extra = NULL;
    size_t bytes = 0;
    int err = exchange(run, NULL, &extra);
    if (!err && !(err = json_member_size(extra, path, "metrics_bytes", &bytes)) &&
        !(err = json_member_real(extra, path, "seconds", &run->clock.before)) &&
        !(err = json_member_text(extra, path, "data", &then))) {
        snprintf(now, sizeof now, "%016" PRIx64, run->content);
        if (strcmp(then, now) != 0)
            err = sph_fail_at(
                SPH_EFORMAT, run->folder.dir,
                "its checkpoint does not match the data: the data have changed since the run was started");
    }
    if (!err && run->members)
        err = job_members_restore(run, extra, path);
    const json_t *rows;
    if (!err && options_has(&run->job->spec, OPTION_RECORD) &&
        !(err = json_member_object(extra, path, "record", &rows)))
        *recorded = json_incref((json_t *)rows);
    *metrics_bytes = bytes;
    json_decref(extra);
    return err;
}

int job_save_due(const struct job_run *run)
{
    return clock_seconds() - run->clock.saved_at >= run->job->spec.options.checkpoint_seconds;
}

/* The first checkpoint is there before anything can go wrong. It comes when all others have begun: who lets a signal stop
 * the training, and says how to go on, is there before that is possible. */
static int save_first(void *self, const sph_view *view)
{
    struct job_run *run = self;
    (void)view;
    return file_exists(run->folder.checkpoint) ? 0 : job_save_checkpoint(run);
}

/* An ensemble's steps are seen between two rounds of training, when all members are at rest. */
static int on_step(void *self, const sph_view *view)
{
    struct job_run *run = self;
    int ends_epoch =
        view->step % (view->steps / view->epochs) == 0; /* on_epoch comes at once and knows more */
    if (run->members)
        return run->clock.due ? job_save_checkpoint(run) : 0;
    int mine = !ends_epoch && run->job->spec.options.checkpoint_seconds > 0;
    return mine && job_save_due(run) ? job_save_checkpoint(run) : 0;
}

static int on_epoch(void *self, const sph_view *view)
{
    struct job_run *run = self;
    sph_view timed = *view;
    timed.seconds += run->clock.before;
    int err = metrics_add(&run->metrics, &timed);
    return err < 0 || run->members || !job_save_due(run) ? err : job_save_checkpoint(run);
}

static int on_end(void *self, const sph_view *view)
{
    (void)view;
    return job_save_checkpoint(self);
}

sph_observer job_saver(struct job_run *run)
{
    return (sph_observer){.self = run, .step = on_step, .epoch = on_epoch, .end = on_end};
}

sph_observer job_first_saver(struct job_run *run)
{
    return (sph_observer){.self = run, .start = save_first};
}
