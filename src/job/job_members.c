/* SPDX-License-Identifier: MIT
 *
 * An ensemble into a run folder: rounds of training, between them what observers see, metrics and checkpoints. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "job/job.h"
#include "job/job_run.h"
#include "rows/split.h"

/* Between two rounds a signal is seen, and the progress bar moves. */
static const double round_seconds = 0.2;

/* ---------------------------------------------------------------- observers */

static int tell_epochs(struct job_run *run, const sph_observer *observers, size_t count)
{
    sph_view view;
    int stop = 0, answer = 0;
    while (answer >= 0 && members_epoch(run->members, &view)) {
        answer = observers_tell(observers, count, &view, AT_EPOCH);
        stop |= answer > 0;
    }
    return answer < 0 ? answer : stop;
}

/* ---------------------------------------------------------------- results */

static json_t *member_result(const sph_result *result)
{
    return JSON_OF({"epochs", json_count(result->epochs)}, {"best_epoch", json_count(result->best_epoch)},
                   JSON_IF(result->test.rows, "test", runfolder_scores(&result->test)),
                   JSON_IF(result->val.rows, "val", runfolder_scores(&result->val)));
}

static int score_mean(const struct job_run *run, const struct feed *feed, sph_scores *out)
{
    return feed ? members_score(run->nets, run->count, &run->trainers[0]->opts, &feed->source, NULL, 0, out)
                : 0;
}

struct fit_fold job_member_fold(const struct job_run *run, size_t member)
{
    size_t folds = run->refit ? 0 : job_folds(&run->job->spec), most = 1 + run->split.train_rows;
    folds = folds < most ? folds : most; /* a fold has a row */
    return (struct fit_fold){folds, folds ? member % folds : 0};
}

/* rows (all of training and validation part) <- those of the folds that have a member, fold by fold. */
static int gather_folds(const struct job_run *run, size_t folds, size_t used, uint32_t *rows, size_t *end)
{
    int err = 0;
    for (size_t f = 0, count = 0; f < used && !err; f++) {
        sph_split fold;
        if ((err = split_fold(&fold, NULL, &run->split, folds, f)) < 0)
            break;
        memcpy(rows + count, fold.val, fold.val_rows * sizeof *rows);
        end[f] = count += fold.val_rows;
        sph_split_free(&fold);
    }
    return err;
}

/* Every row by the members whose fold it is in: they did not train on it. */
static int score_folds(const struct job_run *run, size_t folds, sph_scores *out)
{
    size_t used = folds < run->count ? folds : run->count;
    uint32_t *rows = mem_get(run->split.train_rows + run->split.val_rows, sizeof *rows);
    size_t *end = mem_get(used, sizeof *end);
    struct feed *feed = NULL;
    int err = rows && end ? gather_folds(run, folds, used, rows, end) : SPH_EMEMORY;
    if (!err)
        err = feed_new(&feed, run->data, rows, end[used - 1], run->nets[0]);
    if (!err)
        err = members_score(run->nets, run->count, &run->trainers[0]->opts, &feed->source, end, folds, out);
    feed_free(feed);
    mem_free(rows);
    mem_free(end);
    return err;
}

static int score_val(const struct job_run *run, sph_scores *out)
{
    size_t folds = job_member_fold(run, 0).folds;
    return folds ? score_folds(run, folds, out) : score_mean(run, run->trainers[0]->val, out);
}

/* Each member takes its best weights; the scores are the mean prediction's. Epochs are those of the member that
 * trained longest, the best one is the mean over the members, which each have their own. */
static int sum_up(struct job_run *run, sph_result *result)
{
    const sph_trainer *first = run->trainers[0];
    json_t *list = json_array();
    double best = 0;
    int err = 0, bad = 0;
    for (size_t k = 0; k < run->count && !err; k++) {
        sph_result own;
        if ((err = fit_run(run->trainers[k], NULL, 0, &own)) < 0) {
            result->diverged = err == SPH_EDIVERGED;
            sph_fail_in(err, "member %zu", k);
        }
        result->epochs = own.epochs > result->epochs ? own.epochs : result->epochs;
        result->steps = own.steps > result->steps ? own.steps : result->steps;
        result->improving |= own.improving;
        best += (double)own.best_epoch;
        bad |= json_array_append_new(list, member_result(&own));
    }
    result->best_epoch = (size_t)lround(best / (double)run->count);
    if (!err && !(run->more = json_pack("{s:o}", "members", list)))
        bad = 1;
    else if (err)
        json_decref(list);
    if (!err && bad)
        err = sph_fail(SPH_EMEMORY, "out of memory");
    if (!err && !(err = score_mean(run, first->as_it_is ? first->as_it_is : first->train, &result->train)) &&
        !(err = score_val(run, &result->val)))
        err = score_mean(run, first->test, &result->test);
    return err;
}

/* ---------------------------------------------------------------- training */

/* A round, and what observers make of it; *stopped: one of them, of any rank, wants to stop. */
static int play_round(struct job_run *run, const sph_observer *observers, size_t count, int *stopped)
{
    struct comm *comm = run->job->comm;
    sph_view view;
    int err = job_ranks_agree(run, members_round(run->members, round_seconds));
    if (err < 0)
        return err;
    run->clock.due = job_writes(run) && job_save_due(run);
    comm_broadcast(comm, 0, &run->clock.due, sizeof run->clock.due);
    if ((err = job_ranks_agree(run, members_share(run->members, run->clock.due))) < 0)
        return err;
    double stop = (err = tell_epochs(run, observers, count)) > 0;
    if (err >= 0) {
        members_view(run->members, &view);
        err = observers_tell(observers, count, &view, AT_STEP);
        stop += err > 0;
    }
    comm_sum(comm, &stop, 1, 1);
    *stopped = stop > 0;
    return job_ranks_agree(run, err < 0 ? err : 0);
}

static int train(struct job_run *run, const sph_observer *observers, size_t count, int *stopped)
{
    sph_view view;
    members_view(run->members, &view);
    int err = observers_tell(observers, count, &view, AT_START);
    double stop = err > 0;
    comm_sum(run->job->comm, &stop, 1, 1);
    *stopped = stop > 0;
    err = job_ranks_agree(run, err < 0 ? err : 0);
    while (!err && !*stopped && !members_finished(run->members))
        err = play_round(run, observers, count, stopped);
    if (err < 0 || (err = members_share(run->members, 1)) < 0)
        return err;
    members_view(run->members, &view);
    err = observers_tell(observers, count, &view, AT_END);
    return job_ranks_agree(run, err < 0 ? err : 0);
}

int job_train_members(struct job_run *run, const sph_observer *observers, size_t count, sph_result *result)
{
    int stopped = 0;
    *result = (sph_result){0};
    int err = train(run, observers, count, &stopped);
    result->stopped = stopped && !members_finished(run->members);
    result->diverged = err == SPH_EDIVERGED;
    for (size_t k = 0; k < run->count && result->diverged; k++) {
        size_t epochs = (size_t)trainer_place(run->trainers[k]->loop)->epoch;
        result->epochs = epochs > result->epochs ? epochs : result->epochs;
    }
    if (!err && !result->stopped)
        err = sum_up(run, result);
    result->seconds = clock_seconds() - run->clock.began;
    return err;
}

/* ---------------------------------------------------------------- checkpoints */

int job_members_state(const struct job_run *run, json_t *extra)
{
    json_t *waiting = json_array();
    int bad = json_object_set_new(extra, "epochs_given", json_count(members_given(run->members)));
    for (size_t k = 0; k < run->count; k++) {
        size_t rows;
        const double *numbers = members_waiting(run->members, k, &rows);
        bad |= json_array_append_new(waiting, json_numbers(numbers, rows * members_width(run->members)));
    }
    bad |= json_object_set_new(extra, "waiting", waiting);
    return bad ? sph_fail(SPH_EMEMORY, "out of memory") : 0;
}

static int restore(struct job_run *run, size_t member, const json_t *numbers, const char *path)
{
    size_t width = members_width(run->members), count = json_array_size(numbers);
    if (!json_is_array(numbers) || count % width)
        return sph_fail_of(SPH_EFORMAT, path, 0, "waiting",
                           "\"waiting\"[%zu] has %zu numbers, expected %zu for each epoch", member, count,
                           width);
    double *rows = mem_get(count, sizeof *rows);
    if (!rows)
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(numbers, i);
        rows[i] = json_is_number(number) ? json_number_value(number) : (double)NAN;
    }
    int err = members_restore(run->members, member, rows, count / width);
    mem_free(rows);
    return err;
}

int job_members_restore(struct job_run *run, const json_t *extra, const char *path)
{
    const json_t *waiting;
    size_t given;
    int err = json_member_size(extra, path, "epochs_given", &given);
    if (!err && !(err = json_member_array(extra, path, "waiting", &waiting)) &&
        json_array_size(waiting) != run->count)
        err = sph_fail_of(SPH_EFORMAT, path, 0, "waiting", "\"waiting\" has %zu members, expected %zu",
                          json_array_size(waiting), run->count);
    for (size_t k = 0; k < run->count && !err; k++)
        err = restore(run, k, json_array_get(waiting, k), path);
    if (!err)
        members_set_given(run->members, given);
    return err;
}
