/* SPDX-License-Identifier: MIT */
#include "job/run_importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "job/job.h"
#include "job/run_rows.h"
#include "rows/feed.h"
#include "train/evaluate.h"
#include "train/tool.h"

enum { EVAL_ROWS = 1024, RARE_PERCENT = 20 };

struct scorer {
    sph_run *run;
    struct run_rows rows;
    sph_data shuffled;        /* the rows at hand alone, x to be shuffled; all else is borrowed */
    struct weights **weights; /* (members) */
    struct evaluator *evaluator;
    uint32_t *order;
    sph_metric metric;
};

static int score(struct scorer *s, double *out)
{
    struct feed *feed = NULL;
    sph_scores scores;
    int err = feed_new(&feed, &s->shuffled, NULL, s->rows.count, s->run->net);
    if (!err)
        err = evaluator_run(s->evaluator, &feed->source, NULL, EVALUATOR_ALL, &scores);
    feed_free(feed);
    if (err < 0)
        return err;
    const char *word = sph_word(SPH_WORDS_METRIC, (int)s->metric)->word;
    for (size_t i = 0; i < scores.count; i++)
        if (!strcmp(scores.name[i], word)) {
            *out = scores.value[i];
            if (!isnan(*out))
                return 0;
            const char *why = sph_metric_about(s->metric)->undefined;
            return sph_fail_key(SPH_EARG, "metric", "%s is undefined %s in these rows", word,
                                why ? why : "because a prediction is not a finite number");
        }
    return sph_fail_key(SPH_EARG, "metric", "%s is not a metric of the run's task", word);
}

/* The metric of the task. If most rows are of one class, accuracy says little about the others. */
static sph_metric default_metric(const struct run_rows *rows)
{
    const sph_data *data = rows->data;
    size_t most = 0;
    for (size_t c = 0, count = 0; c < data->classes; c++, count = 0) {
        for (size_t i = 0; i < rows->count; i++)
            count += rows->y[i * rows->targets] == (double)c;
        most = count > most ? count : most;
    }
    if (100 * most <= (100 - RARE_PERCENT) * rows->count)
        return sph_metric_of(data->task);
    return data->classes == 2 ? SPH_METRIC_AUC : SPH_METRIC_BALANCED_ACCURACY;
}

static int scorer_open(struct scorer *s, sph_run *run, const char *source, int metric)
{
    sph_train_opts train = job_train_opts(run->spec);
    struct evaluator_opts opts = {
        .loss = train.loss, .smoothing = train.label_smoothing, .delta = train.huber_delta, .workers = 1};
    size_t most = net_rows_at_once(run->net, EVAL_ROWS), members = run->members;
    s->run = run;
    int err = run_rows_open(&s->rows, run, source);
    if (err < 0)
        return err;
    s->metric = metric < 0 ? default_metric(&s->rows) : (sph_metric)metric;
    s->shuffled = *s->rows.data;
    s->shuffled.rows = s->rows.count;
    s->shuffled.x = s->rows.x;
    s->shuffled.y = s->rows.y;
    if (!(s->order = mem_get(s->rows.count, sizeof *s->order)))
        return SPH_EMEMORY;
    if (!(s->weights = mem_get(members, sizeof *s->weights)))
        return SPH_EMEMORY;
    for (size_t k = 0; k < members && !err; k++)
        if (!(err = weights_new(&s->weights[k], run->nets[k], run->nets[k]->k, 0)))
            weights_materialize(s->weights[k]);
    return err ? err
               : evaluator_new_mean(&s->evaluator, s->weights, members, &opts,
                                    s->rows.count < most ? s->rows.count : most);
}

static void scorer_free(struct scorer *s)
{
    evaluator_free(s->evaluator);
    for (size_t k = 0; s->weights && k < s->run->members; k++)
        weights_free(s->weights[k]);
    mem_free(s->weights);
    mem_free(s->order);
    run_rows_free(&s->rows);
}

/* x's columns of one column of the table <- those of the rows in another order. */
static void shuffle(struct scorer *s, const struct column *column, const uint32_t *order)
{
    const sph_data *data = s->rows.data;
    size_t n = data->features, width = column_width(column) * sizeof *data->x;
    for (size_t i = 0; i < s->rows.count; i++)
        memcpy(s->rows.x + i * n + column->at, data->x + s->rows.row[order ? order[i] : i] * n + column->at,
               width);
}

static int try_column(struct scorer *s, size_t number, size_t repeats, uint64_t seed, double whole,
                      struct importance *out)
{
    const struct column *column = &s->rows.data->columns[number];
    double sum = 0, squares = 0, along = 0, value,
           sign = sph_metric_about(s->metric)->larger_is_better ? 1 : -1;
    int err = 0;
    for (size_t k = 0; k < repeats && !err; k++) {
        struct rng rng = rng_stream(seed, RNG_SHUFFLE, (uint32_t)(number * repeats + k));
        for (size_t i = 0; i < s->rows.count; i++)
            s->order[i] = (uint32_t)i;
        rng_shuffle(&rng, s->order, s->rows.count);
        shuffle(s, column, s->order);
        if ((err = score(s, &value)) < 0)
            break;
        double loss = sign * (whole - value), off = loss - along;
        sum += loss;
        along += off / (double)(k + 1); /* equal losses have a spread of 0, without rounding */
        squares += off * (loss - along);
    }
    shuffle(s, column, NULL);
    *out = (struct importance){.column = column->name,
                               .mean = sum / (double)repeats,
                               .spread = sqrt(fmax(0, squares / (double)repeats))};
    return err;
}

static int by_mean(const void *a, const void *b)
{
    const struct importance *x = a, *y = b;
    return x->mean != y->mean ? (x->mean < y->mean) - (x->mean > y->mean) : strcmp(x->column, y->column);
}

int importances_find(struct importances *out, sph_run *run, const char *source, int metric, size_t repeats,
                     uint64_t seed, int (*tell)(void *self, double share), void *self)
{
    struct scorer s = {0};
    *out = (struct importances){.repeats = repeats};
    int err = scorer_open(&s, run, source, metric);
    const sph_data *data = s.rows.data;
    if (!err && !(out->list = mem_get(data->column_count, sizeof *out->list)))
        err = SPH_EMEMORY;
    if (!err)
        err = score(&s, &out->score);
    for (size_t i = 0; !err && i < data->column_count; i++) {
        if (data->columns[i].role != COLUMN_FEATURE)
            continue;
        err = try_column(&s, i, repeats, seed, out->score, &out->list[out->count]);
        out->count += !err;
        if (!err && tell && tell(self, (double)(i + 1) / (double)data->column_count))
            err = 1;
    }
    if (!err) {
        qsort(out->list, out->count, sizeof *out->list, by_mean);
        out->rows = s.rows.count;
        out->metric = s.metric;
        out->data = s.rows.data;
        s.rows.data = NULL;
    }
    scorer_free(&s);
    return err;
}

void importances_free(struct importances *importances)
{
    mem_free(importances->list);
    sph_data_free(importances->data);
    *importances = (struct importances){0};
}
