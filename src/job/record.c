/* SPDX-License-Identifier: MIT */
#include "job/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "boundary/tracker.h"
#include "job/recorder.h"
#include "job/tool.h"
#include "store/runfolder.h"

/* X(ID, word in a checkpoint, file, what of `record:` it is of); moves come with every step, the others when they are
 * due. */
#define RECORD_SERIES(X)                                                                                     \
    X(MOVES, "moves", RUNFOLDER_MOVES, MOMENTS_BOUNDARIES)                                                   \
    X(FRAMES, "frames", RUNFOLDER_FRAMES, MOMENTS_BOUNDARIES)                                                \
    X(PATTERNS, "patterns", RUNFOLDER_PATTERNS, MOMENTS_PATTERNS)                                            \
    X(GRADIENTS, "gradients", RUNFOLDER_GRADIENTS, MOMENTS_GRADIENTS)

#define SERIES_ENUM(id, word, file, thing)  RECORD_##id,
#define SERIES_WORD(id, word, file, thing)  word,
#define SERIES_FILE(id, word, file, thing)  file,
#define SERIES_THING(id, word, file, thing) thing,
enum { RECORD_SERIES(SERIES_ENUM) RECORD_COUNT };
static const char *const words[RECORD_COUNT] = {RECORD_SERIES(SERIES_WORD)};
static const char *const files[RECORD_COUNT] = {RECORD_SERIES(SERIES_FILE)};
static const int things[RECORD_COUNT] = {RECORD_SERIES(SERIES_THING)};

struct record {
    char *path[RECORD_COUNT], *npz;
    sph_net *net;
    const struct moments_list *moments; /* borrowed */
    sph_tracker *tracker;               /* of moves and frames, or NULL */
    struct recorder of[RECORD_COUNT];
    uint64_t kept[RECORD_COUNT]; /* rows when it began */
    char *names;                 /* (features, name_bytes) filled up with 0, or NULL */
    size_t name_bytes;
    int done; /* the npz is whole and the files are gone */
};

/* ---------------------------------------------------------------- moves and frames */

static int add_moves(struct recorder *recorder, uint64_t step)
{
    const struct record *record = recorder->self;
    char *at = recorder->row;
    memcpy(at, &step, sizeof step);
    at += sizeof step;
    for (size_t k = 0; k < record->net->layer_count; k++) {
        sph_motion motion;
        if (sph_tracker_layer(record->tracker, k, &motion) != 1)
            continue;
        memcpy(at, &motion.move, sizeof motion.move);
        memcpy(at + sizeof motion.move, &motion.turn, sizeof motion.turn);
        at += sizeof motion.move + sizeof motion.turn;
    }
    return series_add(recorder->series, recorder->row);
}

static int add_frame(struct recorder *recorder, uint64_t step)
{
    const struct record *record = recorder->self;
    char *at = recorder->row;
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
    return series_add(recorder->series, recorder->row);
}

static int open_moves(struct record *record, const char *path, uint64_t keep_rows)
{
    static const size_t three[] = {sizeof(sph_spread) / sizeof(double)};
    struct columns columns = {0};
    columns_add(&columns, NULL, "step", "<u8", 0, NULL);
    for (size_t k = 0; k < record->net->layer_count; k++)
        if (tracker_follows(record->net, k)) {
            columns_add(&columns, record->net->layers[k].path, "move", "<f8", 1, three);
            columns_add(&columns, record->net->layers[k].path, "turn", "<f8", 1, three);
        }
    record->of[RECORD_MOVES] = (struct recorder){.self = record, .take = add_moves};
    return recorder_open(&record->of[RECORD_MOVES], path, &columns, keep_rows, 1);
}

static int open_frames(struct record *record, const char *path, uint64_t keep_rows)
{
    const char *type = record->net->dtype == SPH_F64 ? "<f8" : "<f4";
    struct columns columns = {0};
    columns_add(&columns, NULL, "frame_step", "<u8", 0, NULL);
    for (size_t k = 0; k < record->net->layer_count; k++) {
        const struct net_layer *layer = &record->net->layers[k];
        const size_t shape[] = {layer->shape.m, layer->shape.n};
        if (tracker_follows(record->net, k)) {
            columns_add(&columns, layer->path, "phi", type, 2, shape);
            columns_add(&columns, layer->path, "normal", type, 2, shape);
        }
    }
    record->of[RECORD_FRAMES] = (struct recorder){.self = record, .take = add_frame};
    return recorder_open(&record->of[RECORD_FRAMES], path, &columns, keep_rows, 1);
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

static int name_files(struct record *record, const char *dir)
{
    int missing = !(record->npz = file_join(dir, RUNFOLDER_BOUNDARIES));
    for (int i = 0; i < RECORD_COUNT; i++)
        missing |= !(record->path[i] = file_join(dir, files[i]));
    return missing ? SPH_EMEMORY : 0;
}

static int is_wanted(const struct record *record, int i)
{
    return record->moments->of[things[i]].wanted;
}

/* A finished run whose files have begun to go: the npz was there before the first of them went. */
static int is_done(const struct record *record)
{
    for (int i = 0; i < RECORD_COUNT; i++)
        if (is_wanted(record, i) && !file_exists(record->path[i]))
            return file_exists(record->npz);
    return 0;
}

static int open_one(struct record *record, const struct record_setup *setup, int i)
{
    const char *path = record->path[i];
    int err = 0;
    switch (i) {
    case RECORD_MOVES:
        err = sph_tracker_new(&record->tracker, record->net);
        return err ? err : open_moves(record, path, record->kept[i]);
    case RECORD_FRAMES:
        return open_frames(record, path, record->kept[i]);
    case RECORD_PATTERNS:
        return recorder_patterns(&record->of[i], path, record->net, setup->rows, record->kept[i]);
    default:
        return recorder_gradients(&record->of[i], path, record->net, setup->rows, setup->batch_rows,
                                  setup->opts, record->kept[i]);
    }
}

/* The names of the inputs, in the order of phi: of a table whose columns were reversed not that of the table. Twice
 * through them, as arrays have rows of one length. */
static int name_features(struct record *record, const sph_data *data)
{
    for (int filling = 0; data && filling < 2 && !data_is_images(data); filling++) {
        if (filling && !(record->names = mem_get(data->features, record->name_bytes)))
            return SPH_EMEMORY;
        for (size_t i = 0; i < data->features; i++) {
            char *name = data_feature_name(data, i);
            if (!name)
                return SPH_EMEMORY;
            size_t length = strlen(name);
            if (filling)
                memcpy(record->names + i * record->name_bytes, name, length);
            else if (length > record->name_bytes)
                record->name_bytes = length;
            mem_free(name);
        }
    }
    return 0;
}

int record_new(struct record **out, const struct record_setup *setup)
{
    struct record *record = mem_get(1, sizeof *record);
    if (!record)
        return SPH_EMEMORY;
    record->net = setup->net;
    record->name_bytes = 1;
    record->moments = setup->moments;
    int err = name_files(record, setup->dir);
    if (!err)
        err = name_features(record, setup->data);
    if (!err)
        err = read_kept(record, setup->kept);
    record->done = !err && setup->kept && setup->finished && is_done(record);
    for (int i = 0; i < RECORD_COUNT && !record->done && !err; i++)
        if (is_wanted(record, i))
            err = open_one(record, setup, i);
    if (!err && !record->done && file_exists(record->npz) &&
        file_remove(record->npz)) /* what follows makes it old */
        err = sph_fail_at(SPH_EIO, record->npz, "cannot remove: %s", strerror(errno));
    if (err < 0) {
        record_free(record);
        return err;
    }
    *out = record;
    return 0;
}

static void close_all(struct record *record)
{
    for (int i = 0; i < RECORD_COUNT; i++)
        recorder_close(&record->of[i]);
}

void record_free(struct record *record)
{
    if (!record)
        return;
    close_all(record);
    for (int i = 0; i < RECORD_COUNT; i++)
        mem_free(record->path[i]);
    sph_tracker_free(record->tracker);
    mem_free(record->names);
    mem_free(record->npz);
    mem_free(record);
}

/* ---------------------------------------------------------------- at work */

static int add_chosen(struct record *record, uint64_t step, int ends_epoch)
{
    int err = 0;
    for (int i = RECORD_FRAMES; i < RECORD_COUNT && !err; i++)
        if (record->of[i].series && moments_due(&record->moments->of[things[i]], step, ends_epoch))
            err = record->of[i].take(&record->of[i], step);
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
        int err = add_moves(&record->of[RECORD_MOVES], view->step);
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
        if (record->of[i].series)
            bytes[i] = series_row_bytes(record->of[i].series);
    return (sph_record_size){bytes[RECORD_MOVES], bytes[RECORD_FRAMES], bytes[RECORD_PATTERNS],
                             bytes[RECORD_GRADIENTS]};
}

int record_sync(struct record *record, json_t **rows)
{
    json_t *object = json_object();
    int err = object ? 0 : sph_fail(SPH_EMEMORY, "out of memory");
    for (int i = 0; i < RECORD_COUNT && !err; i++) {
        uint64_t count = record->kept[i];
        if (i == RECORD_GRADIENTS && !record->of[i].series)
            continue;
        if (record->of[i].series && (err = series_sync(record->of[i].series, &count)) < 0)
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

/* Arrays that are no series: the names of the features, the standardisation, and what patterns need. */
static int gather_constants(const struct record *record, struct npz_array **out, size_t *count)
{
    const struct scaling *scaling = &record->net->scaling;
    const struct recorder *patterns = &record->of[RECORD_PATTERNS];
    struct npz_array *all = mem_get(3 + patterns->constant_count, sizeof *all);
    if (!all)
        return SPH_EMEMORY;
    *count = 0;
    if (record->names)
        all[(*count)++] = (struct npz_array){.name = "features",
                                             .type = "|u1",
                                             .shape = {sph_net_inputs(record->net), record->name_bytes},
                                             .ndim = 2,
                                             .bytes = record->names};
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
    for (size_t i = 0; i < patterns->constant_count; i++)
        all[(*count)++] = patterns->constants[i];
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
        if (record->of[i].series)
            all[count++] = record->of[i].series;
    int err = gather_constants(record, &constants, &constant_count);
    if (!err)
        err = series_save_npz(record->npz, all, count, constants, constant_count);
    mem_free(constants);
    return err;
}

void record_finish(struct record *record)
{
    close_all(record);
    for (int i = 0; i < RECORD_COUNT; i++)
        if (file_exists(record->path[i]))
            file_remove(record->path[i]);
    record->done = 1;
}

int record_sweep(const char *dir)
{
    for (int i = 0; i < RECORD_COUNT; i++) {
        char *path = file_join(dir, files[i]);
        if (!path)
            return SPH_EMEMORY;
        if (file_exists(path))
            file_remove(path);
        mem_free(path);
    }
    return 0;
}
