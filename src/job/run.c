/* SPDX-License-Identifier: MIT
 *
 * A finished run used on other data: scores and predictions. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "job/tool.h"
#include "rows/feed.h"
#include "job/config.h"
#include "job/job.h"
#include "job/nets.h"
#include "job/run.h"
#include "job/verdicts.h"
#include "store/model.h"
#include "store/runfolder.h"
#include "train/losses.h"
#include "train/members.h"
#include "train/metrics.h"

enum { PIECE = 1 << 16 };

size_t sph_run_members(const sph_run *run)
{
    return run ? run->members : 0;
}

int sph_run_take_member(sph_run *run, size_t member)
{
    NEED(run);
    if (member >= run->members)
        return sph_fail_key(SPH_EARG, "member", "found %zu, but %s has %zu, counted from 0", member, run->dir,
                            run->members);
    for (size_t k = 0; k < run->members; k++)
        if (k != member)
            sph_net_free(run->nets[k]);
    run->net = run->nets[0] = run->nets[member];
    run->members = 1;
    return 0;
}

int run_check_single(const sph_run *run, const char *what)
{
    return run->members == 1
               ? 0
               : sph_fail_at(SPH_EARG, run->dir,
                             "an ensemble of %zu networks, but %s need a single network; use --member K",
                             run->members, what);
}

static int put_option(sph_run *run, enum option_id id, const char *value)
{
    const sph_option *option = option_row(id);
    if (!value)
        value = option->argument ? "" : "true";
    int err = options_put(run->spec, id, value, ORIGIN_COMMAND);
    sph_data_free(run->data); /* they may be others now */
    run->data = NULL;
    return err == SPH_EARG ? sph_fail_about(err, option->name, "--%s", option->name) : err;
}

int sph_run_set(sph_run *run, const char *name, const char *value)
{
    NEED(run, name);
    static const enum option_id may[] = {OPTION_WORKERS, OPTION_SKIP_BAD};
    int id = option_find(name);
    if (!strcmp(name, "strict")) {
        run->strict = !value || !*value || !strcmp(value, "true");
        return 0;
    }
    if (!strcmp(name, "keep")) {
        char *copy = value ? mem_text(value) : NULL;
        if (value && !copy)
            return SPH_EMEMORY;
        mem_free(run->keep);
        run->keep = copy;
        return 0;
    }
    for (size_t i = 0; i < sizeof may / sizeof *may; i++)
        if (id == (int)may[i])
            return put_option(run, (enum option_id)id, value);
    return sph_fail_key(SPH_EARG, name,
                        "cannot be changed after training, expected workers, skip-bad, strict or keep");
}

const char *sph_run_get(const sph_run *run, const char *name)
{
    int id = run && name ? option_find(name) : -1;
    return id < 0 ? NULL : options_text(run->spec, (enum option_id)id);
}

const char *sph_run_notes(const sph_run *run)
{
    return run && run->notes.chars ? run->notes.chars : "";
}

const char *sph_run_second_class(const sph_run *run)
{
    const json_t *classes = run ? json_object_get(run->schema, "classes") : NULL;
    return json_array_size(classes) == 2 ? json_string_value(json_array_get(classes, 1)) : NULL;
}

size_t sph_run_left_out(const sph_run *run)
{
    return run ? run->left_out : 0;
}

const sph_net *sph_run_net(const sph_run *run)
{
    return run ? run->net : NULL;
}

int run_check_net(const sph_net *net, const sph_data *data, const char *path)
{
    size_t outputs = sph_data_outputs(data);
    if (sph_net_inputs(net) != data->features)
        return sph_fail_at(SPH_EFORMAT, path, "the network has %zu inputs, but the data have %zu features",
                           sph_net_inputs(net), data->features);
    if (sph_net_outputs(net) != outputs)
        return sph_fail_at(SPH_EFORMAT, path, "the network has %zu outputs, but the data need %zu",
                           sph_net_outputs(net), outputs);
    return 0;
}

static sph_data_opts reading_of(const sph_run *run)
{
    sph_data_opts how;
    sph_data_defaults(&how);
    how.workers = run->spec->options.workers;
    how.skip_bad = run->spec->options.skip_bad > 0;
    how.strict = run->strict;
    how.keep = run->keep;
    return how;
}

/* Fails, and names the line of a source, or the row of the run's own data. */
static int refuse(const sph_run *run, const char *source, const sph_data *data,
                  const struct data_place *place, const char *why)
{
    const double *of =
        place->target ? data->y + place->row * data->targets : data->x + place->row * data->features;
    struct data_refusal refusal = {place->column, place->target, of[place->column], why};
    sph_data_opts how = reading_of(run);
    int err = source ? data_refuse(source, run->schema, data->y != NULL, &how, &refusal) : 0;
    return err < 0 ? err : feed_fail_place(data, place, why);
}

int run_check_outputs(const sph_run *run, const char *source, const sph_data *data, const uint32_t *rows,
                      size_t count, const double *y)
{
    size_t outputs = sph_net_outputs(run->net), n = data->features, bad = 0;
    struct data_place place = {0};
    while (bad < count * outputs && isfinite(y[bad]))
        bad++;
    if (bad == count * outputs)
        return 0;
    place.row = rows ? rows[bad / outputs] : bad / outputs;
    if (data_is_images(data))
        return sph_fail_of(SPH_EFORMAT, "", 0, "row",
                           "row %zu (counted from 0): the prediction is not a finite number", place.row);
    double *scaled = mem_get(n, sizeof *scaled);
    if (!scaled)
        return SPH_EMEMORY;
    memcpy(scaled, data->x + place.row * n, n * sizeof *scaled);
    scaling_apply_x(&run->net->scaling, 1, scaled, scaled);
    for (size_t j = 1; j < n; j++)
        if (fabs(scaled[j]) > fabs(scaled[place.column]))
            place.column = j;
    mem_free(scaled);
    return refuse(run, source, data, &place,
                  sph_net_dtype(run->net) == SPH_F64
                      ? "for which the prediction is not a finite number in f64; correct it"
                      : "for which the prediction is not a finite number in f32; correct it, or train with "
                        "--dtype f64");
}

/* Whether source is what the run was trained on, under whatever path. */
static int is_own_source(const sph_run *run, const char *source)
{
    const char *own = run->spec->options.data;
    struct stat a, b;
    return own && (!strcmp(own, source) ||
                   (!stat(own, &a) && !stat(source, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino));
}

/* 1: data have the rows that the run was trained on; 0: only the test set of a dataset that has one was read. */
static int has_training_rows(const sph_run *run, const sph_data *data)
{
    sph_split split = {0};
    int err = runfolder_read_split(&split, run->dir, data->rows);
    sph_split_free(&split);
    return err == SPH_EMEMORY ? err : !err;
}

int run_open_data(sph_run *run, const char *source, int need_targets, sph_data **out)
{
    sph_data *data = NULL;
    struct data_place place;
    char *model = file_join(run->dir, RUNFOLDER_MODEL);
    int err = model ? 0 : SPH_EMEMORY;
    sph_data_opts how = reading_of(run);
    *out = NULL;
    if (!err && !source && run->spec->options.data && !strcmp(run->spec->options.data, DATA_STDIN))
        err =
            sph_fail_key(SPH_EARG, "data", "%s: the run was trained on standard input; use --data", run->dir);
    if (!err && run->keep && json_object_get(run->schema, "images"))
        err = sph_fail_key(SPH_EARG, "keep", "only used with tables, not with images");
    if (!err && source)
        err = data_open_like(&data, source, run->schema, need_targets, &how);
    else if (!err && !(err = run_own_data(run, NULL)))
        data = data_share(run->data);
    run->left_out = !err && data->image.pictures ? data->counts.left_out : 0;
    text_free(&run->notes);
    if (!err && source)
        data_counts(data, &run->notes);
    int whole =
        !err && source && need_targets && is_own_source(run, source) ? has_training_rows(run, data) : 0;
    if (whole < 0)
        err = whole;
    else if (whole)
        text_add_line(&run->notes, "the run was trained on these data, so the scores include training rows; "
                                   "without --data they are those of the test set");
    if (!err && run->notes.failed)
        err = SPH_EMEMORY;
    if (!err)
        err = run_check_net(run->net, data, model);
    for (size_t k = 0; k < run->members && !err; k++)
        if (feed_find_beyond(data, run->nets[k], &place))
            err = refuse(run, source, data, &place, feed_beyond_words(run->nets[k]));
    mem_free(model);
    if (err < 0)
        sph_data_free(data);
    else
        *out = data;
    return err;
}

int run_scored_rows(sph_run *run, const char *source, const sph_data *data, const uint32_t **rows,
                    size_t *count)
{
    *rows = NULL;
    *count = data->rows;
    if (source)
        return 0;
    int err = run_own_split(run);
    if (!err && !run->split.test_rows)
        err = sph_fail_key(SPH_EARG, "data", "%s: the run has no test set; use --data", run->dir);
    *rows = run->split.test;
    *count = run->split.test_rows;
    return err;
}

int sph_run_eval(sph_run *run, const char *source, sph_scores *scores)
{
    NEED(run, scores);
    sph_data *data = NULL;
    struct feed *feed = NULL;
    const uint32_t *rows;
    sph_train_opts train = job_train_opts(run->spec);
    int err = run_open_data(run, source, 1, &data);
    if (err < 0)
        return err;
    size_t count;
    if (!(err = run_scored_rows(run, source, data, &rows, &count)))
        err = feed_new(&feed, data, rows, count, run->net);
    if (!err)
        err = members_score(run->nets, run->members, &train, &feed->source, NULL, 0, scores);
    feed_free(feed);
    sph_data_free(data);
    return err;
}

/* ---------------------------------------------------------------- predictions as CSV */

/* ",spread", or ",spread_NAME" of each of several targets. */
static int put_column(struct text *csv, const char *what, const char *name)
{
    char *column = mem_format("%s%s%s", what, name ? "_" : "", name ? name : "");
    if (!column)
        return SPH_EMEMORY;
    text_add_csv(csv, column);
    mem_free(column);
    return 0;
}

static int put_header(struct text *csv, const sph_data *data, int spread)
{
    size_t count = data->task == SPH_TASK_CLASSES ? data->classes : data->targets;
    int classes = data->task == SPH_TASK_CLASSES, several = classes || count > 1, err = 0;
    if (data->image.pictures)
        text_add(csv, "file,");
    for (size_t i = 0; i < data->kept.columns; i++) {
        text_add_csv(csv, data->kept.names[i]);
        text_add(csv, ",");
    }
    if (data->task == SPH_TASK_BINARY) {
        text_add(csv, spread ? "class,probability,spread\n" : "class,probability\n");
        return 0;
    }
    if (classes)
        text_add(csv, "class");
    for (size_t j = 0; j < count && !err; j++) {
        text_add(csv, "%s", classes || j ? "," : "");
        err = put_column(csv, classes ? "p" : "prediction",
                         classes   ? data->labels[j]
                         : several ? data_target_name(data, j)
                                   : NULL);
    }
    for (size_t j = 0; spread && j < (classes ? 1 : count) && !err; j++) {
        text_add(csv, ",");
        err = put_column(csv, "spread", several && !classes ? data_target_name(data, j) : NULL);
    }
    text_add(csv, "\n");
    return err;
}

static int put_name(struct text *csv, const sph_data *data, size_t row)
{
    char *name = data->image.pictures->name(data->image.pictures, (uint32_t)row);
    if (!name)
        return SPH_EMEMORY;
    text_add_csv(csv, name);
    text_add(csv, ",");
    mem_free(name);
    return 0;
}

/* Of two classes the probability of the second, of several that of each. A class is told by what one net gives, or by
 * the mean of the probabilities. */
static void put_row(struct text *csv, const sph_data *data, const struct loss_row *loss, struct joined *row)
{
    size_t outputs = row->outputs;
    int classes = data->task != SPH_TASK_REGRESSION;
    size_t class = metric_class(outputs, row->each);
    nets_join(row, loss->link);
    if (row->members > 1)
        class = outputs == 1 ? row->mean[0] > 0.5 : metric_class(outputs, row->mean);
    if (classes)
        text_add_csv(csv, data->labels[class]);
    for (size_t j = 0; j < outputs; j++) {
        text_add(csv, "%s", j || classes ? "," : "");
        text_add_exact(csv, row->mean[j]);
    }
    for (size_t j = 0; row->members > 1 && j < (classes ? 1 : outputs); j++) {
        text_add(csv, ",");
        text_add_exact(csv, row->spread[classes && outputs > 1 ? class : j]);
    }
    text_add(csv, "\n");
}

struct forwarding {
    sph_net *net;
    double *y; /* (rows, outputs) */
};

static int forward_piece(void *self, size_t first, size_t count, const double *x)
{
    const struct forwarding *f = self;
    return sph_net_forward(f->net, x, count, f->y + first * sph_net_outputs(f->net));
}

/* y (rows, outputs) <- the net of all rows. */
static int forward(sph_net *net, const sph_data *data, double *y)
{
    return data_is_images(data)
               ? rows_walk(data, net, NULL, data->rows, forward_piece, &(struct forwarding){net, y})
               : sph_net_forward(net, data->x, data->rows, y);
}

/* y (members, rows, outputs) of all rows, as lines of CSV. */
static int put_rows(struct text *text, const sph_run *run, const sph_data *data, const double *y,
                    const sph_sink *csv)
{
    const struct loss_row *loss = loss_row((sph_loss)run->spec->options.loss);
    size_t outputs = sph_net_outputs(run->net), members = run->members;
    double *memory = mem_get((members + 2) * outputs, sizeof *memory);
    if (!memory)
        return SPH_EMEMORY;
    int err = 0;
    struct joined row = {members, outputs, memory, memory + members * outputs,
                         memory + (members + 1) * outputs};
    for (size_t i = 0; i < data->rows && !err; i++) {
        if (data->image.pictures && (err = put_name(text, data, i)) < 0)
            break;
        for (size_t k = 0; k < data->kept.columns; k++) {
            text_add_csv(text, data->kept.cells[i * data->kept.columns + k]);
            text_add(text, ",");
        }
        for (size_t k = 0; k < members; k++)
            memcpy(row.each + k * outputs, y + (k * data->rows + i) * outputs, outputs * sizeof *y);
        put_row(text, data, loss, &row);
        if (text->failed)
            err = SPH_EMEMORY;
        else if (text->length >= PIECE || i + 1 == data->rows) {
            err = csv->write(csv->self, text->chars, text->length);
            text->length = 0;
        }
    }
    mem_free(memory);
    return err;
}

int sph_run_predict(sph_run *run, const char *source, const sph_sink *csv)
{
    NEED(run, csv);
    NEED_CALL(csv->write);
    sph_data *data = NULL;
    struct text text = {0};
    int err = run_open_data(run, source, 0, &data);
    if (err < 0)
        return err;
    size_t numbers = data->rows * sph_net_outputs(run->net);
    double *y = mem_get(run->members * numbers, sizeof *y);
    if (!y)
        err = SPH_EMEMORY;
    for (size_t k = 0; k < run->members && !err; k++)
        if (!(err = forward(run->nets[k], data, y + k * numbers)))
            err = run_check_outputs(run, source, data, NULL, data->rows, y + k * numbers);
    if (!err && !(err = put_header(&text, data, run->members > 1)))
        err = put_rows(&text, run, data, y, csv);
    text_free(&text);
    mem_free(y);
    sph_data_free(data);
    return err;
}

/* A file that is there whole or not at all. */
int sph_run_predict_file(sph_run *run, const char *source, const char *path)
{
    NEED(run, path);
    struct file_replace file;
    int err = file_replace_begin(&file, path);
    if (!err)
        err = sph_run_predict(run, source, &(sph_sink){&file, file_replace_sink});
    if (!err)
        err = file_replace_commit(&file);
    file_replace_abort(&file);
    return err;
}
