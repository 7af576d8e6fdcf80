/* SPDX-License-Identifier: MIT
 *
 * One training into a run folder. The order of writing is what makes a kill harmless at any moment: config
 * and split first, checkpoints while training, then model, record and result. Whatever is missing is made
 * again from what is there. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "job/config.h"
#include "job/cost.h"
#include "train/fit.h"
#include "job/job.h"
#include "job/record.h"
#include "job/reference.h"
#include "job/tensorboard.h"
#include "store/checkpoint.h"
#include "store/model.h"
#include "store/runfolder.h"
#include "store/tensors.h"

struct folder {
    const char *dir;
    char *config, *model, *checkpoint; /* paths */
};

struct job_run {
    struct sph_job *job;
    struct folder folder;
    int held; /* the folder, or -1 */
    sph_data *data;
    sph_split split;
    sph_net *net;
    struct fit *fit;
    struct metrics metrics;
    int metrics_open;
    struct record *record;     /* NULL: nothing is recorded */
    struct tensorboard *board; /* NULL: no such log */
    uint64_t content;          /* of the data: a run goes on only on the numbers it began with */
    double saved_at;           /* clock at the last checkpoint */
    double before;             /* seconds of earlier parts of the run */
};

static void folder_free(struct folder *folder)
{
    mem_free(folder->config);
    mem_free(folder->model);
    mem_free(folder->checkpoint);
}

static int folder_name(struct folder *out, const char *dir)
{
    out->dir = dir;
    out->config = file_join(dir, RUNFOLDER_CONFIG);
    out->model = file_join(dir, RUNFOLDER_MODEL);
    out->checkpoint = file_join(dir, RUNFOLDER_CHECKPOINT);
    return out->config && out->model && out->checkpoint ? 0 : SPH_EMEMORY;
}

/* ---------------------------------------------------------------- config.yaml */

static int adopt_config(struct sph_job *job, const char *path)
{
    struct sph_job *theirs = NULL;
    int err = sph_job_new(&theirs);
    if (!err)
        err = config_read(theirs, path);
    if (!err && !theirs->given[OPTION_STEM]) /* a run of 0.1.0, which knew no other */
        options_set_word(theirs, OPTION_STEM, SPH_STEM_LARGE);
    if (!err && !(err = config_conflict(job, theirs)))
        err = options_adopt(job, theirs);
    sph_job_free(theirs);
    return err;
}

/* A folder without a run, or one to go on with. */
static int begin_folder(struct job_run *run, int resume)
{
    const struct folder *folder = &run->folder;
    if (file_is_directory(folder->dir)) {
        int err = file_hold(&run->held, folder->dir, 0);
        if (err < 0)
            return err;
    }
    if (!file_exists(folder->config))
        return file_check_empty(folder->dir);
    int diverged = runfolder_diverged(folder->dir);
    if (diverged < 0)
        return diverged;
    if (diverged)
        return sph_fail_at(SPH_EARG, folder->dir,
                           "holds a run that diverged; choose another --out and a smaller --lr");
    if (!resume)
        return sph_fail_at(SPH_EARG, folder->dir,
                           "holds a run already; go on with --resume, or choose another --out");
    return adopt_config(run->job, folder->config);
}

/* The folder, made where it was not there yet; meanwhile another process may have had the same idea. */
static int make_folder(struct job_run *run)
{
    if (run->held >= 0)
        return 0;
    int existed = file_is_directory(run->folder.dir), err = file_make_directory(run->folder.dir);
    if (!err)
        err = file_hold(&run->held, run->folder.dir, 0);
    if (!err && !existed && file_exists(run->folder.config))
        err = sph_fail_at(SPH_EIO, run->folder.dir, "another process began a run in it");
    return err;
}

static int write_config(struct job_run *run)
{
    char *text = NULL;
    int err = config_write(run->job, &text);
    if (!err)
        err = file_replace_with(run->folder.config, text, strlen(text));
    mem_free(text);
    return err;
}

/* ---------------------------------------------------------------- split.json */

static int same_rows(const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    return na == nb && (na == 0 || !memcmp(a, b, na * sizeof *a));
}

static int data_changed(const struct job_run *run, const char *how)
{
    return sph_fail_at(SPH_EFORMAT, run->folder.dir, "%s: the data changed since the run began", how);
}

static int check_split(const struct job_run *run)
{
    sph_split old;
    int err = runfolder_check_content(run->folder.dir, run->content);
    if (err < 0 || (err = runfolder_read_split(&old, run->folder.dir, run->data->rows)) < 0)
        return err;
    const sph_split *now = &run->split;
    if (!same_rows(old.train, old.train_rows, now->train, now->train_rows) ||
        !same_rows(old.val, old.val_rows, now->val, now->val_rows) ||
        !same_rows(old.test, old.test_rows, now->test, now->test_rows))
        err = data_changed(run, "its split.json is not the split of these data");
    sph_split_free(&old);
    return err;
}

static int settle_split(struct job_run *run)
{
    char *path = file_join(run->folder.dir, RUNFOLDER_SPLIT);
    if (!path)
        return SPH_EMEMORY;
    int exists = file_exists(path);
    mem_free(path);
    return exists ? check_split(run) : runfolder_write_split(run->folder.dir, &run->split, run->content);
}

/* ---------------------------------------------------------------- checkpoints and metrics, as observers */

static int save_checkpoint(struct job_run *run)
{
    uint64_t offset;
    int err = metrics_sync(&run->metrics, &offset);
    if (!err && run->board)
        err = tensorboard_flush(run->board);
    if (err < 0)
        return err;
    json_t *extra = json_object(), *recorded = NULL;
    if (run->record && (err = record_sync(run->record, &recorded)) < 0) {
        json_decref(extra);
        return err;
    }
    int bad = !extra || json_object_set_new(extra, "metrics_bytes", json_integer((json_int_t)offset)) ||
              json_object_set_new(extra, "data", json_sprintf("%016" PRIx64, run->content)) ||
              json_object_set_new(extra, "seconds",
                                  json_number(run->before + trainer_seconds(run->fit->trainer))) ||
              (recorded && json_object_set(extra, "record", recorded));
    err = bad ? sph_fail(SPH_EMEMORY, "out of memory")
              : checkpoint_save(run->folder.checkpoint, run->fit->trainer, run->net, extra);
    json_decref(recorded);
    json_decref(extra);
    run->saved_at = clock_seconds();
    return err;
}

/* recorded: the rows that were on the disk, where the run records; caller frees with json_decref. */
static int load_checkpoint(struct job_run *run, uint64_t *metrics_bytes, json_t **recorded)
{
    const char *path = run->folder.checkpoint, *then;
    char now[17];
    json_t *extra = NULL;
    size_t bytes = 0;
    int err = checkpoint_load(path, run->fit->trainer, run->net, &extra);
    if (!err && !(err = json_member_size(extra, path, "metrics_bytes", &bytes)) &&
        !(err = json_member_real(extra, path, "seconds", &run->before)) &&
        !(err = json_member_text(extra, path, "data", &then))) {
        snprintf(now, sizeof now, "%016" PRIx64, run->content);
        if (strcmp(then, now) != 0)
            err = data_changed(run, "its checkpoint is of other data");
    }
    const json_t *rows;
    if (!err && run->job->set[OPTION_RECORD] && !(err = json_member_object(extra, path, "record", &rows)))
        *recorded = json_incref((json_t *)rows);
    *metrics_bytes = bytes;
    json_decref(extra);
    return err;
}

static int due(const struct job_run *run)
{
    return clock_seconds() - run->saved_at >= run->job->options.checkpoint_seconds;
}

/* The first checkpoint is there before anything can go wrong. It comes when all others have begun: who lets a signal stop
 * the training, and says how to go on, is there before that is possible. */
static int save_first(void *self, const sph_view *view)
{
    struct job_run *run = self;
    (void)view;
    return file_exists(run->folder.checkpoint) ? 0 : save_checkpoint(run);
}

static int on_step(void *self, const sph_view *view)
{
    struct job_run *run = self;
    int ends_epoch =
        view->step % (view->steps / view->epochs) == 0; /* on_epoch comes at once and knows more */
    return !ends_epoch && run->job->options.checkpoint_seconds > 0 && due(run) ? save_checkpoint(run) : 0;
}

static int on_epoch(void *self, const sph_view *view)
{
    struct job_run *run = self;
    sph_view timed = *view;
    timed.seconds += run->before;
    int err = metrics_add(&run->metrics, &timed);
    return err < 0 || !due(run) ? err : save_checkpoint(run);
}

static int on_end(void *self, const sph_view *view)
{
    (void)view;
    return save_checkpoint(self);
}

/* ---------------------------------------------------------------- the run */

static const char *warning_of(const struct job_run *run)
{
    return reference_leaks(run->job) ? OPTION_LEAK : NULL;
}

static int save_record(struct job_run *run)
{
    return run->record ? record_save(run->record) : 0;
}

/* The model comes before the record, which may be large: a full disk then costs no training. The result comes
 * last: where it is, everything is. */
static int finish(struct job_run *run, const sph_result *result)
{
    json_t *schema = NULL;
    int err = data_schema(run->data, &schema);
    if (!err && !(err = model_save(run->folder.model, run->net, schema)) &&
        (err = save_record(run)) == SPH_EIO)
        err = sph_fail_more(err, "; the model is saved, and --resume makes the rest");
    if (!err)
        err = runfolder_write_result(run->folder.dir, result, NULL, warning_of(run));
    if (!err && run->record)
        record_finish(run->record);
    json_decref(schema);
    return err;
}

/* The last good checkpoint stays, and with it what was recorded, the steps behind it included. */
static int give_up(struct job_run *run, const sph_result *result)
{
    struct failure failure;
    failure_save(&failure);
    int err = metrics_flush(&run->metrics);
    if (!err)
        err = save_record(run);
    int written = runfolder_write_result(run->folder.dir, result, failure.text, warning_of(run));
    if (!err)
        err = written;
    if (!err && run->record)
        record_finish(run->record);
    return err < 0 ? err : failure_set(&failure);
}

enum { OBSERVERS_MAX = 16 };

static int train(struct job_run *run, const sph_observer *observers, size_t count, sph_result *result)
{
    sph_observer all[OBSERVERS_MAX + 3];
    size_t own = 0;
    if (count >= OBSERVERS_MAX)
        return sph_fail(SPH_EARG, "%zu observers, expected fewer than %d", count, OBSERVERS_MAX);
    if (run->record)
        all[own++] = record_observer(run->record);
    if (run->board)
        all[own++] = tensorboard_observer(run->board);
    all[own++] = (sph_observer){.self = run, .step = on_step, .epoch = on_epoch, .end = on_end};
    for (size_t i = 0; i < count; i++)
        all[own + i] = observers[i];
    all[own++ + count] = (sph_observer){.self = run, .start = save_first};
    run->saved_at = clock_seconds();
    int err = fit_run(run->fit, all, own + count, result);
    result->seconds += run->before;
    if (run->job->options.protocol == PROTOCOL_REFERENCE)
        result->val = (sph_scores){0}; /* it was the test part */
    if (err == SPH_EDIVERGED)
        return give_up(run, result);
    if (err < 0)
        return err;
    return result->stopped ? save_record(run) : finish(run, result);
}

static int begin_record(struct job_run *run, const json_t *kept)
{
    const struct fit *fit = run->fit;
    struct record_setup setup = {
        .dir = run->folder.dir,
        .moments = &run->job->options.record,
        .net = run->net,
        .rows = fit->as_it_is ? &fit->as_it_is->source : &fit->train->source,
        .batch_rows = trainer_rows(fit->trainer),
        .opts = &fit->opts,
        .kept = kept,
        .finished = trainer_scalar(fit->trainer, TRAINER_FINISHED) != 0,
    };
    run->job->record_size = (sph_record_size){0};
    int err = run->job->set[OPTION_RECORD] ? record_new(&run->record, &setup) : 0;
    if (!err && run->record)
        run->job->record_size = record_size(run->record);
    return err;
}

/* A new event file each time: what a killed run wrote behind its checkpoint is passed over. A run that is over has its own. */
static int begin_log(struct job_run *run)
{
    const struct fit *fit = run->fit;
    const struct source *rows = fit->as_it_is ? &fit->as_it_is->source : &fit->train->source;
    int finished = trainer_scalar(fit->trainer, TRAINER_FINISHED) != 0;
    int wanted = run->job->options.log == LOG_TENSORBOARD && !finished;
    struct tensorboard_setup setup = {.dir = run->folder.dir,
                                      .job = run->job,
                                      .net = run->net,
                                      .rows =
                                          moments_want(&run->job->options.record, "boundaries") ? rows : NULL,
                                      .step = (uint64_t)trainer_scalar(fit->trainer, TRAINER_STEP)};
    return wanted ? tensorboard_new(&run->board, &setup) : 0;
}

/* From the checkpoint, where there is one: the net, and what grew beside it. */
static int go_on(struct job_run *run, int resume)
{
    uint64_t metrics_bytes = 0;
    json_t *recorded = NULL;
    int err = 0;
    if (resume && file_exists(run->folder.checkpoint))
        err = load_checkpoint(run, &metrics_bytes, &recorded);
    if (!err && !(err = metrics_open(&run->metrics, run->folder.dir, metrics_bytes))) {
        run->metrics_open = 1;
        if (!(err = begin_record(run, recorded)))
            err = begin_log(run);
    }
    json_decref(recorded);
    return err;
}

/* Data, split, net, and all that a step needs. */
static int prepare_fit(struct job_run *run)
{
    struct sph_job *job = run->job;
    int err;
    if ((err = job_open_data(job, &run->data)) < 0 ||
        (err = job_make_split(job, run->data, &run->split)) < 0 ||
        (err = job_make_net(job, run->data, &run->net)) < 0)
        return err;
    run->content = job_content(run->data);
    sph_train_opts opts = job_train_opts(job);
    sph_split parts = run->split;
    if (job->options.protocol == PROTOCOL_REFERENCE) {
        parts.val = parts.test;
        parts.val_rows = parts.test_rows;
    }
    return fit_new(&run->fit, run->net, run->data, &parts, &opts);
}

static int prepare(struct job_run *run, int resume)
{
    struct sph_job *job = run->job;
    int err;
    if (!job->options.out)
        return sph_fail_key(SPH_EARG, "out", "nothing given, expected the run folder to write");
    if ((err = folder_name(&run->folder, job->options.out)) < 0 || (err = begin_folder(run, resume)) < 0 ||
        (err = prepare_fit(run)) < 0)
        return err;
    /* Everything fits: from here on the folder is written. */
    if ((err = make_folder(run)) < 0 || (err = write_config(run)) < 0 || (err = settle_split(run)) < 0)
        return err;
    return go_on(run, resume);
}

void sph_job_record_size(const sph_job *job, sph_record_size *out)
{
    *out = job->record_size;
}

size_t sph_job_left_out(const sph_job *job)
{
    return job->left_out;
}

static void job_run_free(struct job_run *run)
{
    if (run->metrics_open)
        metrics_close(&run->metrics);
    tensorboard_free(run->board);
    record_free(run->record);
    fit_free(run->fit);
    sph_net_free(run->net);
    sph_split_free(&run->split);
    sph_data_free(run->data);
    folder_free(&run->folder);
    file_let_go(run->held);
}

int sph_job_run(sph_job *job, int resume, const sph_observer *observers, size_t count, sph_result *result)
{
    struct job_run run = {.job = job, .held = -1};
    sph_result own;
    if (!result)
        result = &own;
    *result = (sph_result){0};
    int err = prepare(&run, resume);
    if (!err)
        err = train(&run, observers, count, result);
    job_run_free(&run);
    return err;
}

/* ---------------------------------------------------------------- a dry run */

static const double timed_seconds = 0.5;

int sph_job_dry_run(sph_job *job, sph_job_size *out)
{
    struct job_run run = {.job = job, .held = -1};
    struct job_cost cost;
    int err = prepare_fit(&run);
    if (!err && !(err = job_cost(&cost, job, run.fit, run.net, &run.split, timed_seconds)))
        *out = (sph_job_size){.train_rows = run.split.train_rows,
                              .val_rows = run.split.val_rows,
                              .test_rows = run.split.test_rows,
                              .features = run.data->features,
                              .learned = sph_net_learned(run.net),
                              .frozen = trainer_frozen(run.fit->trainer),
                              .steps = trainer_steps(run.fit->trainer),
                              .epochs = job->options.epochs,
                              .step_seconds = cost.step_seconds,
                              .seconds = cost.seconds,
                              .peak_bytes = cost.peak_bytes,
                              .disk_bytes = cost.disk_bytes};
    job_run_free(&run);
    return err;
}
