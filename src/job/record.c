/* SPDX-License-Identifier: MIT */
#include "job/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "boundary/tracker.h"
#include "job/record_gradients.h"
#include "job/record_patterns.h"
#include "store/runfolder.h"
#include "store/series.h"

#define RECORD_SERIES(X)                                                                                     \
    X(MOVES, "moves", RUNFOLDER_MOVES)                                                                       \
    X(FRAMES, "frames", RUNFOLDER_FRAMES)                                                                    \
    X(PATTERNS, "patterns", RUNFOLDER_PATTERNS)                                                              \
    X(GRADIENTS, "gradients", RUNFOLDER_GRADIENTS)

#define SERIES_ENUM(id, word, file) RECORD_##id,
#define SERIES_WORD(id, word, file) word,
#define SERIES_FILE(id, word, file) file,
enum { RECORD_SERIES(SERIES_ENUM) RECORD_COUNT };
static const char *const words[RECORD_COUNT] = {RECORD_SERIES(SERIES_WORD)};
static const char *const files[RECORD_COUNT] = {RECORD_SERIES(SERIES_FILE)};

struct record {
    char *path[RECORD_COUNT], *npz;
    sph_net *net;
    const struct moments_list *moments;  /* borrowed */
    sph_tracker *tracker;                /* NULL: no boundaries are recorded */
    struct record_patterns *patterns;    /* NULL: no patterns                */
    struct record_gradients *gradients;  /* NULL: no gradients               */
    struct series *series[RECORD_COUNT]; /* NULL where nothing is recorded; the last two are theirs */
    uint64_t kept[RECORD_COUNT];         /* rows when it began */
    char *row, *frame;                   /* one row of moves, of frames */
    int done;                            /* the npz is whole and the files are gone */
};

/* ---------------------------------------------------------------- columns */

struct columns {
    struct series_column *list;
    size_t count, capacity;
};

static int add_column(struct columns *columns, const char *path, const char *name, const char *type,
                      size_t ndim, const size_t *shape)
{
    if (!mem_reserve((void **)&columns->list, &columns->capacity, columns->count + 1, sizeof *columns->list))
        return SPH_EMEMORY;
    struct series_column *column = &columns->list[columns->count++];
    *column = (struct series_column){.ndim = ndim};
    snprintf(column->name, sizeof column->name, "%s%s%s", path ? path : "", path ? "." : "", name);
    memcpy(column->type, type, sizeof column->type);
    for (size_t i = 0; i < ndim; i++)
        column->shape[i] = shape[i];
    return 0;
}

static int moves_columns(const struct record *record, struct columns *out)
{
    static const size_t three[] = {SPH_MOTION_COUNT};
    int err = add_column(out, NULL, "step", "<u8", 0, NULL);
    for (size_t k = 0; k < record->net->layer_count && !err; k++) {
        const char *path = record->net->layers[k].path;
        if (tracker_follows(record->net, k) && !(err = add_column(out, path, "move", "<f8", 1, three)))
            err = add_column(out, path, "turn", "<f8", 1, three);
    }
    return err;
}

static int frames_columns(const struct record *record, struct columns *out)
{
    const char *type = record->net->dtype == SPH_F64 ? "<f8" : "<f4";
    int err = add_column(out, NULL, "frame_step", "<u8", 0, NULL);
    for (size_t k = 0; k < record->net->layer_count && !err; k++) {
        const struct net_layer *layer = &record->net->layers[k];
        const size_t shape[] = {layer->shape.m, layer->shape.n};
        if (tracker_follows(record->net, k) && !(err = add_column(out, layer->path, "phi", type, 2, shape)))
            err = add_column(out, layer->path, "normal", type, 2, shape);
    }
    return err;
}

static int open_series(struct record *record, int which,
                       int (*columns_of)(const struct record *, struct columns *))
{
    struct columns columns = {0};
    int err = columns_of(record, &columns);
    if (!err)
        err = series_open(&record->series[which], record->path[which], columns.list, columns.count,
                          record->kept[which]);
    mem_free(columns.list);
    return err;
}

/* ---------------------------------------------------------------- making */

static int read_kept(struct record *record, const json_t *kept)
{
    for (int i = 0; kept && i < RECORD_COUNT; i++) {
        size_t rows;
        if (i == RECORD_GRADIENTS && !json_object_get(kept, words[i])) /* checkpoints have it if it is kept */
            continue;
        int err = json_member_size(kept, "checkpoint: record", words[i], &rows);
        if (err < 0)
            return err;
        record->kept[i] = rows;
    }
    return 0;
}

static int open_boundaries(struct record *record)
{
    int err = sph_tracker_new(&record->tracker, record->net);
    if (err < 0 || (err = open_series(record, RECORD_MOVES, moves_columns)) < 0 ||
        (err = open_series(record, RECORD_FRAMES, frames_columns)) < 0)
        return err;
    record->row = mem_get(series_row_bytes(record->series[RECORD_MOVES]), 1);
    record->frame = mem_get(series_row_bytes(record->series[RECORD_FRAMES]), 1);
    return record->row && record->frame ? 0 : SPH_EMEMORY;
}

static int open_patterns(struct record *record, const struct source *rows)
{
    int err = record_patterns_open(&record->patterns, record->path[RECORD_PATTERNS], record->net, rows,
                                   record->kept[RECORD_PATTERNS]);
    if (!err)
        record->series[RECORD_PATTERNS] = record_patterns_series(record->patterns);
    return err;
}

static int open_gradients(struct record *record, const struct record_setup *setup)
{
    int err =
        record_gradients_open(&record->gradients, record->path[RECORD_GRADIENTS], record->net, setup->rows,
                              setup->batch_rows, setup->opts, record->kept[RECORD_GRADIENTS]);
    if (!err)
        record->series[RECORD_GRADIENTS] = record_gradients_series(record->gradients);
    return err;
}

static int name_files(struct record *record, const char *dir)
{
    int missing = !(record->npz = file_join(dir, RUNFOLDER_BOUNDARIES));
    for (int i = 0; i < RECORD_COUNT; i++)
        missing |= !(record->path[i] = file_join(dir, files[i]));
    return missing ? SPH_EMEMORY : 0;
}

/* A finished run whose files have begun to go: the npz was there before the first of them went. */
static int is_done(const struct record *record)
{
    int wanted[RECORD_COUNT] = {
        record->moments->of[MOMENTS_BOUNDARIES].wanted, record->moments->of[MOMENTS_BOUNDARIES].wanted,
        record->moments->of[MOMENTS_PATTERNS].wanted, record->moments->of[MOMENTS_GRADIENTS].wanted};
    for (int i = 0; i < RECORD_COUNT; i++)
        if (wanted[i] && !file_exists(record->path[i]))
            return file_exists(record->npz);
    return 0;
}

int record_new(struct record **out, const struct record_setup *setup)
{
    struct record *record = mem_get(1, sizeof *record);
    int err;
    if (!record)
        return SPH_EMEMORY;
    record->net = setup->net;
    record->moments = setup->moments;
    if ((err = name_files(record, setup->dir)) < 0 || (err = read_kept(record, setup->kept)) < 0)
        goto out;
    record->done = setup->kept && setup->finished && is_done(record);
    if (!record->done && record->moments->of[MOMENTS_BOUNDARIES].wanted &&
        (err = open_boundaries(record)) < 0)
        goto out;
    if (!record->done && record->moments->of[MOMENTS_PATTERNS].wanted &&
        (err = open_patterns(record, setup->rows)) < 0)
        goto out;
    if (!record->done && record->moments->of[MOMENTS_GRADIENTS].wanted &&
        (err = open_gradients(record, setup)) < 0)
        goto out;
    if (!record->done && file_exists(record->npz) && remove(record->npz)) /* what follows makes it old */
        err = sph_fail_at(SPH_EIO, record->npz, "cannot remove: %s", strerror(errno));
out:
    if (err < 0) {
        record_free(record);
        return err;
    }
    *out = record;
    return 0;
}

static void close_series(struct record *record)
{
    series_close(record->series[RECORD_MOVES]);
    series_close(record->series[RECORD_FRAMES]);
    record_patterns_free(record->patterns);
    record_gradients_free(record->gradients);
    record->patterns = NULL;
    record->gradients = NULL;
    for (int i = 0; i < RECORD_COUNT; i++)
        record->series[i] = NULL;
}

void record_free(struct record *record)
{
    if (!record)
        return;
    close_series(record);
    for (int i = 0; i < RECORD_COUNT; i++)
        mem_free(record->path[i]);
    sph_tracker_free(record->tracker);
    mem_free(record->npz);
    mem_free(record->row);
    mem_free(record->frame);
    mem_free(record);
}

/* ---------------------------------------------------------------- at work */

static int add_moves(struct record *record, uint64_t step)
{
    char *at = record->row;
    memcpy(at, &step, sizeof step);
    at += sizeof step;
    for (size_t k = 0; k < record->net->layer_count; k++) {
        sph_motion motion;
        if (sph_tracker_layer(record->tracker, k, &motion) != 1)
            continue;
        memcpy(at, motion.move, sizeof motion.move);
        memcpy(at + sizeof motion.move, motion.turn, sizeof motion.turn);
        at += sizeof motion.move + sizeof motion.turn;
    }
    return series_add(record->series[RECORD_MOVES], record->row);
}

static int add_frame(struct record *record, uint64_t step)
{
    char *at = record->frame;
    memcpy(at, &step, sizeof step);
    at += sizeof step;
    for (size_t k = 0; k < record->net->layer_count; k++) {
        const struct param_shape *shape = &record->net->layers[k].shape;
        size_t bytes = shape->m * shape->n * record->net->k->size;
        if (!tracker_follows(record->net, k))
            continue;
        tracker_frame(record->tracker, k, at, at + bytes);
        at += 2 * bytes;
    }
    return series_add(record->series[RECORD_FRAMES], record->frame);
}

static int add_chosen(struct record *record, uint64_t step, int ends_epoch)
{
    int err = 0;
    if (record->tracker && moments_due(&record->moments->of[MOMENTS_BOUNDARIES], step, ends_epoch))
        err = add_frame(record, step);
    if (!err && record->patterns && moments_due(&record->moments->of[MOMENTS_PATTERNS], step, ends_epoch))
        err = record_patterns_take(record->patterns, step);
    if (!err && record->gradients && moments_due(&record->moments->of[MOMENTS_GRADIENTS], step, ends_epoch))
        err = record_gradients_take(record->gradients, step);
    return err;
}

/* A run that goes on has the rows of its moment already. */
static int on_start(void *self, const sph_view *view)
{
    struct record *record = self;
    if (record->tracker)
        tracker_start(record->tracker, view);
    int begun =
        record->kept[RECORD_FRAMES] || record->kept[RECORD_PATTERNS] || record->kept[RECORD_GRADIENTS];
    return view->step == 0 && !begun ? add_chosen(record, 0, 0) : 0;
}

static int on_step(void *self, const sph_view *view)
{
    struct record *record = self;
    if (record->tracker) {
        tracker_step(record->tracker, view);
        int err = add_moves(record, view->step);
        if (err < 0)
            return err;
    }
    return add_chosen(record, view->step, view->step % (view->steps / view->epochs) == 0);
}

sph_observer record_observer(struct record *record)
{
    return (sph_observer){.self = record, .start = on_start, .step = on_step};
}

sph_record_size record_size(const struct record *record)
{
    size_t bytes[RECORD_COUNT] = {0};
    for (int i = 0; i < RECORD_COUNT; i++)
        if (record->series[i])
            bytes[i] = series_row_bytes(record->series[i]);
    return (sph_record_size){bytes[RECORD_MOVES], bytes[RECORD_FRAMES], bytes[RECORD_PATTERNS],
                             bytes[RECORD_GRADIENTS]};
}

int record_sync(struct record *record, json_t **rows)
{
    json_t *object = json_object();
    int err = object ? 0 : sph_fail(SPH_EMEMORY, "out of memory");
    for (int i = 0; i < RECORD_COUNT && !err; i++) {
        uint64_t count = record->kept[i];
        if (i == RECORD_GRADIENTS && !record->gradients)
            continue;
        if (record->series[i] && (err = series_sync(record->series[i], &count)) < 0)
            break;
        if (json_object_set_new(object, words[i], json_integer((json_int_t)count)))
            err = sph_fail(SPH_EMEMORY, "out of memory");
    }
    if (err < 0) {
        json_decref(object);
        return err;
    }
    *rows = object;
    return 0;
}

/* Arrays that are no series: the standardisation, and what patterns need. */
static int gather_constants(const struct record *record, struct npz_array **out, size_t *count)
{
    const struct scaling *scaling = &record->net->scaling;
    const struct npz_array *theirs = NULL;
    size_t their_count = 0;
    if (record->patterns)
        theirs = record_patterns_constants(record->patterns, &their_count);
    struct npz_array *all = mem_get(2 + their_count, sizeof *all);
    if (!all)
        return SPH_EMEMORY;
    *count = 0;
    if (scaling->x_mean && scaling->x_scale) {
        all[(*count)++] = (struct npz_array){.name = "x_mean",
                                             .type = "<f8",
                                             .shape = {scaling->features},
                                             .ndim = 1,
                                             .bytes = scaling->x_mean};
        all[(*count)++] = (struct npz_array){.name = "x_scale",
                                             .type = "<f8",
                                             .shape = {scaling->features},
                                             .ndim = 1,
                                             .bytes = scaling->x_scale};
    }
    for (size_t i = 0; i < their_count; i++)
        all[(*count)++] = theirs[i];
    *out = all;
    return 0;
}

int record_save(struct record *record)
{
    struct series *all[RECORD_COUNT];
    struct npz_array *constants = NULL;
    size_t count = 0, constant_count;
    if (record->done)
        return 0;
    for (int i = 0; i < RECORD_COUNT; i++)
        if (record->series[i])
            all[count++] = record->series[i];
    int err = gather_constants(record, &constants, &constant_count);
    if (!err)
        err = series_save_npz(record->npz, all, count, constants, constant_count);
    mem_free(constants);
    return err;
}

void record_finish(struct record *record)
{
    close_series(record);
    for (int i = 0; i < RECORD_COUNT; i++)
        if (file_exists(record->path[i]))
            remove(record->path[i]);
    record->done = 1;
}

int record_sweep(const char *dir)
{
    for (int i = 0; i < RECORD_COUNT; i++) {
        char *path = file_join(dir, files[i]);
        if (!path)
            return SPH_EMEMORY;
        if (file_exists(path))
            remove(path);
        mem_free(path);
    }
    return 0;
}
