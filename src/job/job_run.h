/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that train into a run folder. Start reading at job_run.c. */
#ifndef SPH_JOB_JOB_RUN_H
#define SPH_JOB_JOB_RUN_H

#include "comm/comm.h"
#include "file/json.h"
#include "job/cost.h"
#include "job/options.h"
#include "job/record.h"
#include "job/tensorboard.h"
#include "store/runfolder.h"
#include "train/fit.h"
#include "train/members.h"

struct folder {
    const char *dir;
    char *config, *model, *checkpoint; /* paths */
};

/* Seconds. */
struct job_clock {
    double saved_at; /* the last checkpoint */
    double before;   /* so long were earlier parts of the run */
    double began;    /* this part */
    int due;         /* of an ensemble: a checkpoint is to be written after this round */
};

struct job_run {
    struct sph_job *job;
    struct folder folder;
    struct job_spec *before_spec; /* of the run that is resumed, or NULL */
    int held;                     /* the folder, or -1 */
    sph_data *data;
    sph_split split;
    size_t count;            /* of an ensemble's members; 1 of one net */
    const sph_start *start;  /* NULL: at drawn numbers */
    sph_net **nets;          /* (count) */
    sph_trainer **trainers;  /* (count) */
    struct members *members; /* NULL: one net */
    struct metrics metrics;
    int metrics_open;
    struct record *record;     /* NULL: nothing is recorded */
    struct tensorboard *board; /* NULL: no such log */
    uint64_t content;          /* of the data: a run goes on only on the numbers it began with */
    struct job_clock clock;
    json_t *more;     /* what result.json has beside the result, or NULL */
    uint32_t *joined; /* rows of the second training, which is on two parts */
    json_t *refit; /* what chose the epochs of the second training, which is at work; NULL: it is the first */
};

/* ---------------------------------------------------------------- job_run.c */

/* Data, split and count of a run whose job names them; then its nets and rows. */
int job_prepare_rows(struct job_run *run);
int job_make_parts(struct job_run *run);

/* Trains them, and again where --refit says so; into its folder, where the run has one. */
int job_train_parts(struct job_run *run, const sph_observer *observers, size_t count, sph_result *result);
void job_run_free(struct job_run *run);

/* ---------------------------------------------------------------- job_ranks.c */

/* Whether this rank writes the folder: the first one, or the only one. */
int job_writes(const struct job_run *run);

/* After one step of the preparation, err being what this rank came to: 0, or the failure of a rank. */
int job_ranks_agree(const struct job_run *run, int err);

/* Ranks that were given or found something else are a failure of all: version, options, data; the folder. */
int job_ranks_check(const struct job_run *run);
int job_ranks_check_folder(const struct job_run *run);

/* Who trains a net of the run. */
struct fit_team job_ranks_team(const struct job_run *run);

/* Before the first step: all ranks have what rank 0 has read, and only rank 0 has a folder from here on. */
int job_ranks_begin(struct job_run *run);

/* ---------------------------------------------------------------- job_dry_run.c */

/* The job's seconds <- how long a run that has its nets will take. */
int job_foresee(struct job_run *run);

/* All that a job does with these data before its first step, of an ensemble with one net; then, unless cost is NULL, steps for so
 * many seconds (cost.h). */
int job_try(struct sph_job *job, sph_data *data, double seconds, struct job_cost *cost);

/* ---------------------------------------------------------------- job_notes.c */

/* Adds to the job's notes: columns that are taken as constant though their values differ, a record without boundaries. */
int job_note_first(struct job_run *run);

/* ---------------------------------------------------------------- job_save.c */

int job_save_checkpoint(struct job_run *run);
int job_save_due(const struct job_run *run);

/* recorded: the rows that were on the disk, where the run records; caller frees with json_decref. */
int job_load_checkpoint(struct job_run *run, uint64_t *metrics_bytes, json_t **recorded);

/* Writes metrics and checkpoints; the first checkpoint is another one's, who comes last. */
sph_observer job_saver(struct job_run *run);
sph_observer job_first_saver(struct job_run *run);

/* ---------------------------------------------------------------- job_members.c */

/* Trains all members and scores their mean. */
int job_train_members(struct job_run *run, const sph_observer *observers, size_t count, sph_result *result);

/* The fold of a member, where members have folds: those of a second training, which has no validation part, have none. */
struct fit_fold job_member_fold(const struct job_run *run, size_t member);

/* What a checkpoint keeps of an ensemble beside its trainers, as a member of `extra`; and back. */
int job_members_state(const struct job_run *run, json_t *extra);
int job_members_restore(struct job_run *run, const json_t *extra, const char *path);

/* ---------------------------------------------------------------- job_refit.c */

int job_refit_wanted(const struct job_run *run);

/* Training and validation part together; the caller frees out->train. */
int job_refit_split(const struct job_run *run, sph_split *out);
size_t job_refit_epochs(const struct job_run *run, size_t member);

/* run->refit <- what the first training found; or what the checkpoint says, NULL where it is of the first. */
int job_refit_choose(struct job_run *run, const sph_result *chosen);
int job_refit_recall(struct job_run *run);

/* The result of both: epochs and validation scores are the first training's. */
int job_refit_result(struct job_run *run, sph_result *result);

/* ---------------------------------------------------------------- job_baseline.c */

/* result->baseline <- scores on the test part of a prediction that ignores the features; no rows where there is no such part.
 * Warns where the net is not better. */
int job_baseline(const struct job_run *run, sph_result *result);

/* Adds a sentence to the warning of a result. */
void job_warn(sph_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---------------------------------------------------------------- job_tune.c */

/* Chooses what was not asked for among rate, hidden units and batch, or takes the choice that the folder's tune.json has. */
int job_tune(struct job_run *run);

#endif
