/* SPDX-License-Identifier: MIT
 *
 * --tune N: rate, width and batch by successive halving on the validation part, for the time of N trainings. All candidates
 * train for a ninth of the epochs, the best third of them for a third, the best third of these to the end; each goes on where it
 * was. The options as they would have been stay to the end, and lose only to what is clearly better. Candidates
 * train side by side, one thread each: what comes out depends on no clock and no number of threads. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "file/file.h"
#include "job/job.h"
#include "job/job_run.h"
#include "train/tool.h"

enum { RATES = 6, WIDTHS = 4, BATCHES = 4, RUNGS = 3, SHARE = 3 };

/* Factors on what the job would take, and rows of a step. */
static const double rates[RATES] = {1, 0.1, 0.3, 3, 10, 30};
static const double widths[WIDTHS] = {1, 0.5, 2, 4};
static const size_t batches[BATCHES] = {0 /* the job's own */, 32, 128, 512};

/* Part of the value by which another choice has to be better than the job's own: less is chance. */
static const double margin = 0.01;

static const enum option_id tuned[] = {OPTION_LR, OPTION_HIDDEN, OPTION_BATCH};
enum { TUNED = sizeof tuned / sizeof *tuned };

static const double round_seconds = 1;

struct candidate {
    struct job_spec *spec;
    sph_net *net;
    sph_trainer *trainer;
    json_t *rungs;
    double value; /* best so far, smaller is better */
    int diverged;
};

struct tuning {
    struct job_run *run;
    struct candidate *all; /* (count) the first is the job as it is */
    size_t count;
    size_t *live, alive; /* (alive) those still in it, best first after a rung */
    size_t epochs[RUNGS];
    int tunes[TUNED];
};

/* ---------------------------------------------------------------- candidates */

static int set_hidden(struct job_spec *spec, double factor)
{
    const struct option_sizes *hidden = &spec->options.hidden;
    struct text text = {0};
    for (size_t i = 0; i < hidden->count; i++) {
        double size = fmax(1, round((double)hidden->list[i] * factor));
        text_add(&text, "%s%.0f", i ? "," : "", size);
    }
    int err = text.failed     ? SPH_EMEMORY
              : hidden->count ? options_put(spec, OPTION_HIDDEN, text.chars, ORIGIN_RECOMMENDED)
                              : 0;
    text_free(&text);
    return err;
}

/* Point of the grid -> the run's options with its values. */
static int make_spec(const struct tuning *t, size_t point, struct job_spec **out)
{
    size_t rate = point % RATES, width = point / RATES % WIDTHS, batch = batches[point / RATES / WIDTHS];
    int err = options_new(out);
    if (!err)
        err = options_copy(*out, &t->run->job->spec);
    if (err < 0)
        return err;
    if (rate)
        options_set_real(*out, OPTION_LR, (*out)->options.lr * rates[rate], ORIGIN_RECOMMENDED);
    if (batch)
        options_set_size(*out, OPTION_BATCH, batch, ORIGIN_RECOMMENDED);
    return width ? set_hidden(*out, widths[width]) : 0;
}

static size_t rows_of_batch(const struct tuning *t, size_t batch)
{
    size_t rows = t->run->split.train_rows;
    return batch && batch < rows ? batch : rows;
}

/* A point that is another one's twin is left out: an option that was given stays, and a batch of all rows is one. */
static int is_new(const struct tuning *t, size_t point)
{
    size_t rate = point % RATES, width = point / RATES % WIDTHS, batch = point / RATES / WIDTHS;
    const struct job_options *o = &t->run->job->spec.options;
    if ((rate && !t->tunes[0]) || (width && (!t->tunes[1] || !o->hidden.count)) || (batch && !t->tunes[2]))
        return 0;
    if (!batch)
        return 1;
    size_t rows = rows_of_batch(t, batches[batch]);
    return rows != rows_of_batch(t, o->batch) && rows != t->run->split.train_rows;
}

/* The most candidates that N trainings of all epochs pay for. */
static size_t affordable(const struct tuning *t, size_t most)
{
    double budget = (double)t->run->job->spec.options.tune * (double)t->epochs[RUNGS - 1];
    for (size_t n = most; n > 1; n--) {
        double cost = 0;
        size_t live = n, before = 0;
        for (size_t r = 0; r < RUNGS; r++) {
            cost += (double)live * (double)(t->epochs[r] - before);
            before = t->epochs[r];
            live = (live + SHARE - 1) / SHARE;
        }
        if (cost <= budget)
            return n;
    }
    return 1;
}

/* The job's own options, then others in an order that its seed draws. */
static int choose_points(struct tuning *t, uint32_t points[static RATES * WIDTHS * BATCHES])
{
    size_t count = 0;
    for (uint32_t point = 0; point < RATES * WIDTHS * BATCHES; point++)
        if (is_new(t, point))
            points[count++] = point;
    struct rng rng = rng_stream(job_seed(&t->run->job->spec, OPTION_SEED_INIT), RNG_TUNE, 0);
    rng_shuffle(&rng, points + 1, count - 1);
    t->count = affordable(t, count);
    t->all = mem_get(t->count, sizeof *t->all);
    t->live = mem_get(t->count, sizeof *t->live);
    return t->all && t->live ? 0 : SPH_EMEMORY;
}

static int make_candidate(struct tuning *t, size_t number, size_t point)
{
    struct candidate *c = &t->all[number];
    int err = make_spec(t, point, &c->spec);
    if (err < 0 || (err = job_make_net(c->spec, t->run->data, &c->net)) < 0)
        return err;
    sph_train_opts opts = job_train_opts(c->spec);
    opts.threads = 1;
    err = number ? fit_new_beside(&c->trainer, c->net, t->all[0].trainer, t->run->data, &t->run->split,
                                  (struct fit_fold){0}, &opts)
                 : fit_new(&c->trainer, c->net, t->run->data, &t->run->split, &opts, (struct fit_team){0});
    c->rungs = json_array();
    return err ? err : c->rungs ? 0 : sph_fail(SPH_EMEMORY, "out of memory");
}

static int make_candidates(struct tuning *t)
{
    uint32_t points[RATES * WIDTHS * BATCHES];
    int err = choose_points(t, points);
    for (size_t i = 0; i < t->count && !err; i++) {
        t->live[t->alive++] = i;
        err = make_candidate(t, i, points[i]);
    }
    return err;
}

static void tuning_free(struct tuning *t)
{
    for (size_t i = t->all ? t->count : 0; i-- > 0;) { /* the first one's rows are the others' */
        sph_trainer_free(t->all[i].trainer);
        sph_net_free(t->all[i].net);
        options_delete(t->all[i].spec);
        json_decref(t->all[i].rungs);
    }
    mem_free(t->all);
    mem_free(t->live);
}

/* ---------------------------------------------------------------- rungs */

/* The monitored value; trainers have the negative of one that is to be large. */
static double shown_value(const struct tuning *t, double value)
{
    const char *monitor = t->run->job->spec.options.monitor, *name = monitor ? strchr(monitor, '_') : NULL;
    int metric = name ? sph_word_find(SPH_WORDS_METRIC, name + 1) : -1;
    return metric >= 0 && sph_metric_about((sph_metric)metric)->larger_is_better ? -value : value;
}

/* Everyone alive trains up to so many epochs. */
static int climb(struct tuning *t, size_t epochs)
{
    sph_trainer **trainers = mem_get(t->alive, sizeof(sph_trainer *));
    struct members *members = NULL;
    int err = trainers ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < t->alive && !err; i++) {
        trainers[i] = t->all[t->live[i]].trainer;
        trainers[i]->opts.last_epoch = epochs;
        trainer_go_on(trainers[i]->loop);
    }
    if (!err && !(err = members_new(&members, trainers, t->alive, sph_processors())))
        members_forgive(members);
    while (!err && !members_finished(members))
        err = members_round(members, round_seconds);
    for (size_t i = 0; i < t->alive && !err; i++) {
        struct candidate *c = &t->all[t->live[i]];
        c->diverged |= members_diverged(members, i);
        c->value = c->diverged ? INFINITY : trainer_place(c->trainer->loop)->best;
        json_int_t trained = (json_int_t)trainer_place(c->trainer->loop)->epoch;
        if (json_array_append_new(c->rungs, json_pack("{s:I, s:o}", "epochs", trained, "value",
                                                      json_number(shown_value(t, c->value)))) < 0)
            err = sph_fail(SPH_EMEMORY, "out of memory");
    }
    members_free(members);
    mem_free(trainers);
    return err;
}

/* live <- the best of them; the job's own options stay. Of equals the earlier comes first. */
static void select_best(struct tuning *t)
{
    for (size_t i = 1; i < t->alive; i++)
        for (size_t k = i; k > 0; k--) {
            size_t a = t->live[k - 1], b = t->live[k];
            if (t->all[a].value < t->all[b].value || (t->all[a].value == t->all[b].value && a < b))
                break;
            t->live[k - 1] = b;
            t->live[k] = a;
        }
    t->alive = (t->alive + SHARE - 1) / SHARE;
    for (size_t i = 0; i < t->alive; i++)
        if (!t->live[i])
            return;
    t->live[t->alive - 1] = 0;
}

static size_t winner(const struct tuning *t)
{
    size_t best = 0;
    double least = t->all[0].value - margin * fabs(t->all[0].value);
    for (size_t i = 0; i < t->alive; i++) {
        double value = t->all[t->live[i]].value;
        if (value < least || (!isfinite(t->all[best].value) && isfinite(value))) {
            best = t->live[i];
            least = value;
        }
    }
    return best;
}

/* ---------------------------------------------------------------- what is left of it */

static int add_options(json_t *object, const struct job_spec *spec)
{
    int bad = 0;
    for (size_t i = 0; i < TUNED; i++)
        bad |= json_object_set_new(object, option_key(tuned[i]), json_words(options_text(spec, tuned[i])));
    return bad;
}

static int write_trail(const struct tuning *t, size_t chosen, double seconds, const char *path)
{
    json_t *tried = json_array(), *choice = json_object();
    int bad = add_options(choice, t->all[chosen].spec);
    for (size_t i = 0; i < t->count; i++) {
        const struct candidate *c = &t->all[i];
        json_t *one = json_object();
        bad |= add_options(one, c->spec);
        bad |= json_object_set(one, "rungs", c->rungs);
        bad |= json_object_set_new(one, "diverged", json_boolean(c->diverged));
        bad |= json_array_append_new(tried, one);
    }
    json_t *object =
        JSON_OF({"budget", json_count(t->run->job->spec.options.tune)}, {"chosen", choice},
                {"number", json_count(chosen)}, {"seconds", json_number(seconds)}, {"tried", tried});
    int err = bad || !object ? sph_fail_at(SPH_EMEMORY, path, "out of memory") : json_write(path, object, 2);
    json_decref(object);
    return err;
}

/* The options that the folder's tune.json chose before the run was interrupted. */
static int recall_choice(struct job_spec *spec, const char *path)
{
    json_t *object = NULL;
    const json_t *choice;
    int err = json_read(&object, path);
    if (!err)
        err = json_member_object(object, path, "chosen", &choice);
    for (size_t i = 0; i < TUNED && !err; i++) {
        const char *text;
        if (!(err = json_member_text(choice, path, option_key(tuned[i]), &text)) &&
            (err = options_put(spec, tuned[i], text, (enum option_origin)spec->origin[tuned[i]])) < 0)
            err = sph_fail_of(SPH_EFORMAT, path, 0, option_key(tuned[i]), "\"%s\" is '%.80s'",
                              option_key(tuned[i]), text);
    }
    json_decref(object);
    return err;
}

/* " (the largest tried)": a better learning rate may be outside of the range. */
static const char *lr_at_edge(const struct tuning *t, double lr)
{
    int largest = t->count > 1, smallest = largest;
    for (size_t i = 0; i < t->count; i++) {
        largest &= t->all[i].spec->options.lr <= lr;
        smallest &= t->all[i].spec->options.lr >= lr;
    }
    return largest == smallest ? "" : largest ? " (the largest tried)" : " (the smallest tried)";
}

/* A note on what was tried and chosen. */
static int note_choice(const struct tuning *t, size_t chosen, double seconds)
{
    struct sph_job *job = t->run->job;
    const struct candidate *c = &t->all[chosen];
    struct text *notes = &job->notes;
    text_add_line(notes, "--tune: tried %zu candidates in %.2g s; ", t->count, seconds);
    if (!chosen)
        text_add(notes, "none was better than the defaults:");
    else
        text_add(notes, "%s of one network %.4g (with the defaults %.4g) with",
                 job->spec.options.monitor ? job->spec.options.monitor : "val_loss", shown_value(t, c->value),
                 shown_value(t, t->all[0].value));
    for (size_t i = 0; i < TUNED; i++)
        text_add(notes, "%s --%s %s%s", i ? "," : "", option_row(tuned[i])->name,
                 options_text(c->spec, tuned[i]),
                 tuned[i] == OPTION_LR ? lr_at_edge(t, c->spec->options.lr) : "");
    return notes->failed ? SPH_EMEMORY : 0;
}

static int search(struct tuning *t, const char *path)
{
    double began = clock_seconds();
    size_t all = t->run->job->spec.options.epochs;
    for (size_t r = RUNGS, share = 1; r-- > 0; share *= SHARE)
        t->epochs[r] = (all + share - 1) / share;
    int err = make_candidates(t);
    for (size_t r = 0; r < RUNGS && !err; r++)
        if (!(err = climb(t, t->epochs[r])) && r + 1 < RUNGS)
            select_best(t);
    if (err < 0)
        return err;
    size_t chosen = winner(t);
    if (t->all[chosen].diverged)
        return sph_fail_key(SPH_EARG, "tune", "all %zu candidates diverged; use a smaller --lr", t->count);
    double seconds = clock_seconds() - began;
    err = write_trail(t, chosen, seconds, path);
    for (size_t i = 0; i < TUNED && !err; i++)
        err = options_take(&t->run->job->spec, t->all[chosen].spec, tuned[i]);
    return err ? err : note_choice(t, chosen, seconds);
}

/* ---------------------------------------------------------------- the door */

int job_tune(struct job_run *run)
{
    struct tuning t = {.run = run};
    struct job_spec *spec = &run->job->spec;
    char *path = file_join(run->folder.dir, RUNFOLDER_TUNE);
    int err = path ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < TUNED; i++)
        t.tunes[i] = !options_given(spec, tuned[i]);
    if (!err)
        err = file_exists(path) || !comm_first(run->job->comm) ? recall_choice(spec, path) : search(&t, path);
    tuning_free(&t);
    mem_free(path);
    return err;
}
