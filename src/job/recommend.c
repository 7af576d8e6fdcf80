/* SPDX-License-Identifier: MIT */
#include "job/recommend.h"

#include <math.h>
#include <string.h>

#include "rows/data.h"
#include "train/optimizer.h"

/* From so many rows on a table is large: two layers pay, and it has enough steps in half the epochs. */
enum { LARGE = 5000 };

/* One hidden layer below, two above. */
static const struct recommended {
    const char *hidden;
    double lr;
    size_t epochs;
} small = {"100", 0.02, 200}, large = {"128,128", 0.01, 100};

enum { MEMBERS = 5, BATCH_LEAST = 32, BATCH_MOST = 256, ROWS_OF_A_BATCH = 32, EPOCHS_LEAST = 20 };

/* Rows that all epochs see, at most: above it epochs give way, for the sake of time. */
static const double rows_seen = 5e6;

/* A power of two near a 32nd of the rows. */
static size_t batch_for(size_t rows)
{
    size_t batch = BATCH_LEAST;
    while (batch < BATCH_MOST && (double)batch * ROWS_OF_A_BATCH * sqrt(2) < (double)rows)
        batch *= 2;
    return batch;
}

static size_t epochs_for(size_t epochs, size_t rows)
{
    double most = rows_seen / (double)rows;
    return most >= (double)epochs ? epochs : most > EPOCHS_LEAST ? (size_t)most : EPOCHS_LEAST;
}

/* Who names a net or a way to train it gets that net; who names none, the mean of several. Weights of classes are about the task,
 * and --tune looks for what nobody named. */
static int is_left_open(const struct sph_job *job)
{
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        const char *section = option_row(id)->section;
        int names = !strcmp(section, "net") || !strcmp(section, "training");
        if (job->given[id] && names && id != OPTION_TUNE && id != OPTION_CLASS_WEIGHT)
            return 0;
    }
    return !job->settled && job->options.protocol == PROTOCOL_HOLDOUT && job->options.val > 0;
}

int recommend_chooses(enum option_id id)
{
    static const enum option_id chosen[] = {OPTION_PARAM,    OPTION_HIDDEN, OPTION_BATCH,   OPTION_LR,
                                            OPTION_SCHEDULE, OPTION_EPOCHS, OPTION_PATIENCE};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        if (chosen[i] == id)
            return 1;
    return 0;
}

static int is_open(const struct sph_job *job, enum option_id id)
{
    return !job->given[id] && !job->adopted[id];
}

int recommend_settle(struct sph_job *job, const sph_data *data)
{
    const struct job_options *o = &job->options;
    size_t rows = (size_t)((double)data->rows * (1 - o->test) * (1 - o->val));
    const struct recommended *table = data->rows < LARGE ? &small : &large;
    int cosine = is_open(job, OPTION_SCHEDULE), err = 0;
    if (is_left_open(job))
        options_set_size(job, OPTION_ENSEMBLE, MEMBERS);
    if (o->ensemble > 1 && is_open(job, OPTION_THREADS))
        options_set_size(job, OPTION_THREADS,
                         sph_processors() < o->ensemble ? sph_processors() : o->ensemble);
    if (is_open(job, OPTION_PARAM))
        options_set_word(job, OPTION_PARAM, SPH_PARAM_SPHERE);
    if (is_open(job, OPTION_HIDDEN))
        err = options_put(job, OPTION_HIDDEN, table->hidden);
    if (is_open(job, OPTION_BATCH))
        options_set_size(job, OPTION_BATCH, batch_for(rows));
    if (is_open(job, OPTION_LR))
        options_set_real(job, OPTION_LR, table->lr * optimizer_ops((sph_optimizer)o->optimizer)->rate);
    if (!err && cosine)
        err = options_put(job, OPTION_SCHEDULE, "cosine");
    /* a rate that falls to 0 ends by itself */
    if (cosine && is_open(job, OPTION_EPOCHS))
        options_set_size(job, OPTION_EPOCHS, epochs_for(table->epochs, rows));
    if (cosine && is_open(job, OPTION_PATIENCE))
        options_set_size(job, OPTION_PATIENCE, 0);
    return err;
}
