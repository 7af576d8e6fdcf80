/* SPDX-License-Identifier: MIT
 *
 * One training into a run folder. The order of writing is what makes a kill harmless at any moment: config
 * and split first, checkpoints while training, then model, record and result. Whatever is missing is made
 * again from what is there. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "compute/threads.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "job/config.h"
#include "job/job.h"
#include "job/job_run.h"
#include "job/nets.h"
#include "job/resolve.h"
#include "job/run.h"
#include "store/model.h"

static void folder_free(struct folder *folder)
{
    mem_free(folder->config);
    mem_free(folder->model);
    mem_free(folder->checkpoint);
    file_leave(folder->dir);
}

static int folder_name(struct folder *out, const char *dir)
{
    int err = file_enter(dir);
    if (err < 0)
        return err;
    out->dir = dir;
    out->config = file_join(dir, RUNFOLDER_CONFIG);
    out->model = file_join(dir, RUNFOLDER_MODEL);
    out->checkpoint = file_join(dir, RUNFOLDER_CHECKPOINT);
    return out->config && out->model && out->checkpoint ? 0 : SPH_EMEMORY;
}

/* ---------------------------------------------------------------- config.yaml */

/* What the run was begun with is asked for once more: nothing is left to be chosen. */
static int adopt_config(struct job_run *run, const char *path)
{
    struct job_spec *asked = &run->job->request.asked;
    int err = options_new(&run->before_spec);
    if (!err)
        err = config_read(run->before_spec, path);
    if (!err)
        err = config_conflict(asked, run->before_spec);
    if (!err)
        err = config_adopt(asked, run->before_spec);
    run->job->request.recommends = 0;
    run->job->request.again = 1;
    if (!err && !options_has(asked, OPTION_DECODE)) /* images of 0.2.0 or before were decoded so */
        options_set_word(asked, OPTION_DECODE, SPH_DECODE_SCALED, ORIGIN_DEFAULT);
    return err;
}

/* The values of a resumed run keep their origins, except those that were given again. */
static void recall_origins(struct job_run *run)
{
    for (enum option_id id = 0; id < OPTION_COUNT && run->before_spec; id++)
        if (options_has(run->before_spec, id) && options_has(&run->job->spec, id) &&
            !options_named(&run->job->request.asked, id))
            run->job->spec.origin[id] = run->before_spec->origin[id];
}

/* A folder without a run, or one to go on with. */
static int begin_folder(struct job_run *run, int resume)
{
    const struct folder *folder = &run->folder;
    if (!job_writes(run))
        return resume && file_exists(folder->config) ? adopt_config(run, folder->config) : 0;
    if (file_is_directory(folder->dir)) {
        int err = file_hold(&run->held, folder->dir, 0);
        if (err < 0)
            return err;
    }
    if (!file_exists(folder->config) && resume && !options_has(&run->job->request.asked, OPTION_DATA))
        return sph_fail_at(SPH_EIO, folder->dir, "no run to resume: the folder %s",
                           file_is_directory(folder->dir) ? "has no " RUNFOLDER_CONFIG : "does not exist");
    if (!file_exists(folder->config))
        return file_check_empty(folder->dir);
    int diverged = runfolder_diverged(folder->dir);
    if (diverged < 0)
        return diverged;
    if (diverged)
        return sph_fail_at(SPH_EARG, folder->dir,
                           "contains a run that diverged; choose another --out and a smaller --lr");
    if (!resume)
        return sph_fail_at(SPH_EARG, folder->dir,
                           "already contains a run; continue with --resume, or choose another --out");
    return adopt_config(run, folder->config);
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
        err = sph_fail_at(SPH_EIO, run->folder.dir, "another process has started a run in it");
    return err;
}

static int write_config(struct job_run *run)
{
    char *text = NULL;
    int err = config_write(&run->job->spec, &text);
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
        err = sph_fail_at(
            SPH_EFORMAT, run->folder.dir,
            "its split.json does not match the data: the data have changed since the run was started");
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

/* ---------------------------------------------------------------- nets and rows */

/* net <- the numbers of another one of its shape. */
static int begin_with(sph_net *net, const sph_net *start)
{
    size_t count = sph_net_tensors(net);
    int err = count == sph_net_tensors(start)
                  ? 0
                  : sph_fail_key(SPH_EARG, "start", "a network of %zu tensors, expected %zu",
                                 sph_net_tensors(start), count);
    for (size_t i = 0; i < count && !err; i++) {
        sph_tensor here;
        sph_net_tensor(net, i, &here);
        double *values = mem_get(here.count, sizeof *values);
        err = values ? sph_net_get(start, here.name, values, here.count) : SPH_EMEMORY;
        if (!err)
            err = sph_net_set(net, here.name, values, here.count);
        mem_free(values);
    }
    return err;
}

/* The nets, and all that their steps need: of a table one copy of the rows. Members take one thread each. */
static int make_trainers(struct job_run *run, const sph_split *parts)
{
    const struct job_spec *spec = &run->job->spec;
    int err = 0;
    run->nets = mem_get(run->count, sizeof(sph_net *));
    run->trainers = mem_get(run->count, sizeof(sph_trainer *));
    if (!run->nets || !run->trainers)
        return SPH_EMEMORY;
    for (size_t k = 0; k < run->count && !err; k++) {
        sph_train_opts opts = job_train_opts(spec);
        if (run->count > 1)
            opts.threads = 1;
        opts.seed = job_member_seed(spec, k);
        if (run->refit) {
            opts.last_epoch = job_refit_epochs(run, k);
            opts.patience = 0;
            opts.monitor = NULL;
        }
        if ((err = job_make_member(spec, run->data, k, &run->nets[k])) < 0)
            break;
        if (run->start && (err = begin_with(run->nets[k], run->start->nets[k])) < 0)
            break;
        err = k ? fit_new_beside(&run->trainers[k], run->nets[k], run->trainers[0], run->data, parts,
                                 job_member_fold(run, k), &opts)
              : run->start
                  ? fit_new_scaled(&run->trainers[k], run->nets[k], &run->start->nets[k]->scaling, run->data,
                                   parts, &opts)
                  : fit_new(&run->trainers[k], run->nets[k], run->data, parts, &opts, job_ranks_team(run));
    }
    if (err == SPH_EFORMAT && spec->options.data && !*sph_failure()->path) /* a number that cannot be used */
        sph_fail_move(err, spec->options.data, 0, 0);
    return err || run->count == 1
               ? err
               : members_new(&run->members, run->trainers, run->count, spec->options.threads);
}

static void free_trainers(struct job_run *run)
{
    members_free(run->members);
    for (size_t k = run->count; k-- > 0;) { /* the first one's rows are the others' */
        if (run->trainers)
            sph_trainer_free(run->trainers[k]);
        if (run->nets)
            sph_net_free(run->nets[k]);
    }
    mem_free(run->trainers);
    mem_free(run->nets);
    mem_free(run->joined);
    run->joined = NULL;
    run->members = NULL;
    run->trainers = NULL;
    run->nets = NULL;
}

/* The parts that the training at work has. */
int job_make_parts(struct job_run *run)
{
    sph_split parts = run->split;
    if (run->refit) {
        int err = job_refit_split(run, &parts);
        run->joined = parts.train;
        return err ? err : make_trainers(run, &parts);
    }
    if (run->job->spec.options.protocol == PROTOCOL_REFERENCE) {
        parts.val = parts.test;
        parts.val_rows = parts.test_rows;
    }
    return make_trainers(run, &parts);
}

/* ---------------------------------------------------------------- the run */

static const char *warning_of(const sph_result *result)
{
    return *result->warning ? result->warning : NULL;
}

static int save_record(struct job_run *run)
{
    return run->record ? record_save(run->record) : 0;
}

/* What was trained stays open as the job's finished run: its nets, its rows, its result. */
static int hand_over(struct job_run *run, json_t *schema, json_t *result)
{
    sph_run *out = mem_get(1, sizeof *out);
    int err = out ? options_new(&out->spec) : SPH_EMEMORY;
    if (!err && !(err = options_copy(out->spec, &run->job->spec)) && !(out->dir = mem_text(run->folder.dir)))
        err = SPH_EMEMORY;
    if (!err)
        err = file_enter(out->dir);
    if (err < 0) {
        json_decref(schema);
        json_decref(result);
        if (out)
            run_close(out);
        mem_free(out);
        return err;
    }
    sph_run_free(run->job->run);
    run->job->run = out;
    out->result = result;
    out->data = data_share(run->data);
    out->split = run->split;
    run->split = (sph_split){0};
    sph_net **nets = run->nets;
    run->nets = NULL;
    return run_take_nets(out, nets, run->count, schema);
}

/* The model comes before the record, which may be large: a full disk then costs no training. The result comes
 * last: where it is, everything is. */
static int finish(struct job_run *run, const sph_result *result)
{
    json_t *schema = NULL, *written = NULL;
    int err = nets_describe(run->data, (sph_loss)run->job->spec.options.loss, &schema);
    if (!err && !(err = model_save_members(run->folder.model, run->nets, run->count, schema)) &&
        (err = save_record(run)) == SPH_EIO)
        err = sph_fail_more(err, "; the model is saved; create the remaining files with --resume");
    if (!err)
        err = runfolder_write_result(run->folder.dir, result, NULL, warning_of(result), run->more, &written);
    if (!err && run->record)
        record_finish(run->record);
    if (!err)
        return hand_over(run, schema, written);
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
    int written =
        runfolder_write_result(run->folder.dir, result, failure.text, warning_of(result), NULL, NULL);
    if (!err)
        err = written;
    if (!err && run->record)
        record_finish(run->record);
    return err < 0 ? err : failure_set(&failure);
}

enum { OBSERVERS_MAX = 16 };

/* The training at work, to its end. Observers begin once. */
static int train(struct job_run *run, const sph_observer *observers, size_t count, int again,
                 sph_result *result)
{
    sph_observer all[OBSERVERS_MAX + 3];
    size_t own = 0;
    if (count >= OBSERVERS_MAX)
        return sph_fail(SPH_EARG, "%zu observers, expected fewer than %d", count, OBSERVERS_MAX);
    if (run->record)
        all[own++] = record_observer(run->record);
    if (run->board)
        all[own++] = tensorboard_observer(run->board);
    if (run->folder.dir)
        all[own++] = job_saver(run);
    for (size_t i = 0; i < count; i++) {
        all[own + i] = observers[i];
        if (again)
            all[own + i].start = NULL;
    }
    if (run->folder.dir)
        all[own++ + count] = job_first_saver(run);
    run->clock.saved_at = run->clock.began = clock_seconds();
    int err = run->members ? job_train_members(run, all, own + count, result)
                           : fit_run(run->trainers[0], all, own + count, result);
    result->seconds += run->clock.before;
    if (run->job->spec.options.protocol == PROTOCOL_REFERENCE)
        result->val = (sph_scores){0}; /* it was the test part */
    return err;
}

/* The first training is over: its nets go, and the second one's come. */
static int begin_refit(struct job_run *run, const sph_result *chosen)
{
    int err = job_refit_choose(run, chosen);
    if (err < 0)
        return err;
    if (run->metrics_open)
        metrics_close(&run->metrics);
    run->metrics_open = 0;
    tensorboard_free(run->board);
    run->board = NULL;
    free_trainers(run);
    run->clock.before = chosen->seconds;
    if ((err = job_make_parts(run)) < 0 || !run->folder.dir ||
        (err = metrics_open(&run->metrics, run->folder.dir, RUNFOLDER_REFIT, 0)) < 0)
        return err;
    run->metrics_open = 1;
    run->clock.began = clock_seconds();
    return job_save_checkpoint(run);
}

int job_train_parts(struct job_run *run, const sph_observer *observers, size_t count, sph_result *result)
{
    int err = train(run, observers, count, 0, result);
    if (job_leaks(&run->job->spec))
        job_warn(result, "%s", OPTION_LEAK);
    if (!err && !result->stopped && job_refit_wanted(run) &&
        !(err = job_ranks_agree(run, begin_refit(run, result))) && !(err = job_ranks_begin(run)))
        err = train(run, observers, count, 1, result);
    if (err < 0 || result->stopped || (err = job_refit_result(run, result)) < 0)
        return err;
    return job_baseline(run, result);
}

static int train_all(struct job_run *run, const sph_observer *observers, size_t count, sph_result *result)
{
    int err = job_train_parts(run, observers, count, result);
    if (!job_writes(run))
        return err;
    if (err == SPH_EDIVERGED)
        return give_up(run, result);
    if (err < 0)
        return err;
    return result->stopped ? save_record(run) : finish(run, result);
}

static int begin_record(struct job_run *run, const json_t *kept)
{
    const sph_trainer *trainer = run->trainers[0];
    struct record_setup setup = {
        .dir = run->folder.dir,
        .moments = &run->job->spec.options.record,
        .net = run->nets[0],
        .data = run->data,
        .rows = trainer->as_it_is ? &trainer->as_it_is->source : &trainer->train->source,
        .batch_rows = trainer_rows(trainer->loop),
        .opts = &trainer->opts,
        .kept = kept,
        .finished = trainer_place(trainer->loop)->finished,
    };
    run->job->record_size = (sph_record_size){0};
    int err = options_has(&run->job->spec, OPTION_RECORD) ? record_new(&run->record, &setup) : 0;
    if (!err && run->record)
        run->job->record_size = record_size(run->record);
    return err;
}

/* A new event file each time: what a killed run wrote behind its checkpoint is passed over. A run that is over has its own. */
static int begin_log(struct job_run *run)
{
    const sph_trainer *trainer = run->trainers[0];
    const struct source *rows = trainer->as_it_is ? &trainer->as_it_is->source : &trainer->train->source;
    int finished = trainer_place(trainer->loop)->finished;
    int wanted = run->job->spec.options.log == LOG_TENSORBOARD && !finished && !run->refit;
    struct tensorboard_setup setup = {
        .dir = run->folder.dir,
        .spec = &run->job->spec,
        .net = run->nets[0],
        .rows = moments_want(&run->job->spec.options.record, "boundaries") ? rows : NULL,
        .step = trainer_place(trainer->loop)->step};
    return wanted ? tensorboard_new(&run->board, &setup) : 0;
}

/* From the checkpoint, where there is one: the net, and what grew beside it. */
static int go_on(struct job_run *run, int resume)
{
    uint64_t metrics_bytes = 0;
    json_t *recorded = NULL;
    int err = 0;
    if (resume && file_exists(run->folder.checkpoint))
        err = job_load_checkpoint(run, &metrics_bytes, &recorded);
    if (!err && !(err = metrics_open(&run->metrics, run->folder.dir,
                                     run->refit ? RUNFOLDER_REFIT : RUNFOLDER_METRICS, metrics_bytes))) {
        run->metrics_open = 1;
        if (!(err = begin_record(run, recorded)))
            err = begin_log(run);
    }
    json_decref(recorded);
    return err;
}

static int prepare_rows(struct job_run *run)
{
    struct sph_job *job = run->job;
    int err;
    if ((err = job_open_data(job, &run->data)) < 0 ||
        (err = job_make_split(&job->spec, run->data, &run->split)) < 0)
        return err;
    recall_origins(run);
    run->content = job_content(run->data);
    if ((err = data_encode(&run->data, &run->split)) < 0)
        return err;
    run->count = job_members(&job->spec);
    return 0;
}

int job_prepare_rows(struct job_run *run)
{
    int err = job_ranks_agree(run, prepare_rows(run));
    return err ? err : job_ranks_check(run);
}

/* The nets, and all that a step needs. */
static int prepare_nets(struct job_run *run)
{
    if (run->folder.checkpoint && run->job->spec.options.refit > 0 && file_exists(run->folder.checkpoint)) {
        int err = job_refit_recall(run);
        if (err < 0)
            return err;
    }
    int err = job_make_parts(run);
    return err ? err : job_note_first(run);
}

/* Tries and chooses, in a folder that is there already: a run that is killed here begins anew, with the same spec. Other
 * ranks take what rank 0 chose. */
static int tune(struct job_run *run)
{
    int err = job_writes(run) ? write_config(run) : 0;
    if (!err && job_writes(run) && !(err = settle_split(run)))
        err = job_tune(run);
    err = job_ranks_agree(run, err);
    return err || job_writes(run) ? err : job_tune(run);
}

static int enter(struct job_run *run, int resume)
{
    const char *out = run->job->request.asked.options.out;
    int err =
        out ? folder_name(&run->folder, out) : sph_fail_key(SPH_EARG, "out", "empty, expected a run folder");
    err = job_ranks_agree(run, err ? err : begin_folder(run, resume));
    return err || !resume ? err : job_ranks_check_folder(run);
}

/* Everything fits: from here on the folder is written. */
static int begin_writing(struct job_run *run, int resume)
{
    int err = 0;
    if (job_writes(run) && !(err = write_config(run)) && !(err = settle_split(run)))
        err = go_on(run, resume);
    err = job_ranks_agree(run, err);
    return err ? err : job_ranks_begin(run);
}

static int prepare(struct job_run *run, int resume)
{
    struct sph_job *job = run->job;
    int err, tunes;
    if ((err = enter(run, resume)) < 0 || (err = job_prepare_rows(run)) < 0)
        return err;
    tunes = options_has(&job->spec, OPTION_TUNE);
    if ((!tunes && (err = job_ranks_agree(run, prepare_nets(run))) < 0) ||
        (err = job_ranks_agree(run, job_writes(run) ? make_folder(run) : 0)) < 0 ||
        (tunes && ((err = job_ranks_agree(run, tune(run))) < 0 ||
                   (err = job_ranks_agree(run, prepare_nets(run))) < 0)) ||
        (job->foresees && (err = job_foresee(run)) < 0))
        return err;
    return begin_writing(run, resume);
}

void job_run_free(struct job_run *run)
{
    if (run->metrics_open)
        metrics_close(&run->metrics);
    tensorboard_free(run->board);
    record_free(run->record);
    free_trainers(run);
    json_decref(run->more);
    json_decref(run->refit);
    sph_split_free(&run->split);
    sph_data_free(run->data);
    folder_free(&run->folder);
    options_delete(run->before_spec);
    file_let_go(run->held);
}

int sph_job_run(sph_job *job, int resume, const sph_observer *observers, size_t count, sph_result *result)
{
    NEED(job);
    if (count)
        NEED(observers);
    struct job_run run = {.job = job, .held = -1};
    sph_result own;
    if (!result)
        result = &own;
    *result = (sph_result){0};
    int threads = threads_setting(), err = prepare(&run, resume);
    if (!err)
        err = job_ranks_agree(&run, train_all(&run, observers, count, result));
    job_run_free(&run);
    threads_set_back(threads);
    return err;
}
