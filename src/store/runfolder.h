/* SPDX-License-Identifier: MIT
 *
 * The file names of a run folder, and its plain files: metrics.jsonl (appended), split.json and result.json
 * (replaced as a whole). Numbers have 17 digits; values that are not finite are null. */
#ifndef SPH_STORE_RUNFOLDER_H
#define SPH_STORE_RUNFOLDER_H

#include <stdint.h>

#include "file/file.h"
#include "file/json.h"
#include "spherelu.h"

#define RUNFOLDER_CONFIG     "config.yaml"
#define RUNFOLDER_METRICS    "metrics.jsonl"
#define RUNFOLDER_REFIT      "refit.jsonl" /* the same of a second training */
#define RUNFOLDER_TUNE       "tune.json"   /* what --tune tried and chose     */
#define RUNFOLDER_MODEL      "model.safetensors"
#define RUNFOLDER_CHECKPOINT "checkpoint.safetensors"
#define RUNFOLDER_RESULT     "result.json"
#define RUNFOLDER_SPLIT      "split.json"

/* What the folder of an experiment has instead of a config.yaml. */
#define RUNFOLDER_EXPERIMENT "experiment.yaml"

/* What was recorded of the boundaries; the others grow while training, and are gone when it is finished. */
#define RUNFOLDER_BOUNDARIES "boundaries.npz"
#define RUNFOLDER_MOVES      "boundaries.moves.part"
#define RUNFOLDER_FRAMES     "boundaries.frames.part"
#define RUNFOLDER_PATTERNS   "boundaries.patterns.part"
#define RUNFOLDER_GRADIENTS  "boundaries.gradients.part"

/* ---------------------------------------------------------------- metrics.jsonl
 * One object per epoch: epoch, step, lr, the view's named values, seconds. Lines reach the file at most once
 * a second or a megabyte at a time, and on flush. Before a checkpoint, sync: its offset is what resume passes
 * as keep_bytes. */
struct metrics {
    struct file_log log;
    double flushed; /* when, by clock_seconds */
};

int metrics_open(struct metrics *out, const char *dir, const char *name,
                 uint64_t keep_bytes); /* 0: begin anew */
int metrics_add(struct metrics *metrics, const sph_view *view);
int metrics_flush(struct metrics *metrics);
int metrics_sync(struct metrics *metrics, uint64_t *offset);
void metrics_close(struct metrics *metrics); /* does not flush */

/* ---------------------------------------------------------------- split.json, result.json */

/* content: a number for what the data hold, so that other data under the same name are noticed. */
int runfolder_write_split(const char *dir, const sph_split *split, uint64_t content);

/* rows of the data: each number must be below it and stand in one place only. Caller frees with
 * sph_split_free. */
int runfolder_read_split(sph_split *out, const char *dir, size_t rows);

/* SPH_EFORMAT where split.json says that the run began on other data. */
int runfolder_check_content(const char *dir, uint64_t content);

/* Hands every line of metrics.jsonl over, but for one without its end, which is being written. 1; 0: there is no such file; or
 * a failure, of a line or of who took it. */
int metrics_read(const char *dir, int (*take)(void *self, const json_t *line), void *self);

/* Parts without rows are left out, and all of them when the run diverged; reason: then why. warning: what a
 * reader of the scores must know, or NULL; more: an object of other members behind these, or NULL. out: what was written, caller frees with json_decref; or NULL. */
int runfolder_write_result(const char *dir, const sph_result *result, const char *reason, const char *warning,
                           const json_t *more, json_t **out);

/* Scores as result.json has them; NULL: out of memory. */
json_t *runfolder_scores(const sph_scores *scores);

/* 1 if the folder's result.json says that the run diverged, 0 if not or if there is none. */
int runfolder_diverged(const char *dir);

#endif
