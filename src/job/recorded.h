/* SPDX-License-Identifier: MIT
 *
 * A training as pictures need it: a run folder's options and score, and as much of its data, its net before
 * and after, and what was recorded as is asked for. */
#ifndef SPH_JOB_RECORDED_H
#define SPH_JOB_RECORDED_H

#include "data/data.h"
#include "job/options.h"
#include "data/npz.h"

/* What is opened; the rest stays NULL. */
enum recorded_parts {
    RECORDED_RECORD = 1,
    RECORDED_DATA = 2,  /* and its split */
    RECORDED_FIRST = 4, /* with the data, which it is made for */
    RECORDED_LAST = 8
};

struct recorded {
    char *dir;
    struct job_spec *spec;
    sph_data *data;
    sph_split split;
    sph_net *first;     /* as it was drawn, with the standardisation of the training part */
    sph_net **nets;     /* (members) as they are after training; NULL: the run left no model */
    size_t members;     /* more than one: an ensemble */
    sph_net *last;      /* the one there is; NULL: none, or an ensemble */
    struct npz *record; /* NULL: nothing was recorded */
    char metric[32];    /* of the task, if not given */
    double score;       /* on the test part; NaN: none */
    int finished;       /* it has its result, be it that it diverged */
};

/* metric NULL: by the task; parts: bits of recorded_parts; cache: where its data are kept for others, or NULL. */
int recorded_open(struct recorded *out, const char *dir, const char *metric, unsigned parts,
                  struct data_cache *cache);
void recorded_free(struct recorded *recorded);

/* dir's boundaries.npz; *out is NULL where there is none. */
int recorded_open_npz(struct npz **out, const char *dir);

/* The options of the run in dir, and its result.json, NULL where it has none yet. Caller frees both, also after a failure. */
int recorded_describe(const char *dir, struct job_spec **spec, struct json_t **result);

/* A score of a part in a result.json; NaN where there is none. */
double recorded_score(const struct json_t *result, const char *part, const char *metric);

#endif
