/* SPDX-License-Identifier: MIT
 *
 * The table of defaults. options.h has the fixed default of each option, which experiments use; the rows of
 * defaults.c replace it for tables, for image networks and under protocol reference. */
#ifndef SPH_JOB_DEFAULTS_H
#define SPH_JOB_DEFAULTS_H

#include "job/options.h"
#include "net/zoo.h"
#include "rows/data.h"

/* For whom a row is. FOR_TABLES: mlp in `train`. FOR_IMAGES: image networks in `train`, whether --net was asked for or not.
 * FOR_IMAGE_NETS: image networks anywhere, experiments included. */
enum default_for { FOR_ALL, FOR_TABLES, FOR_IMAGES, FOR_IMAGE_NETS, FOR_REFERENCE, DEFAULT_FORS };

/* A spec while it is made. */
struct resolving {
    struct job_spec *spec;
    const struct data_facts *facts;
    const struct net_kind *kind;
    int is[DEFAULT_FORS]; /* which rows are for this job */
};

struct default_row {
    enum option_id id;
    enum default_for when;
    int (*fits)(const struct resolving *r); /* NULL: always */
    const char *value;                      /* or NULL: computed */
    int (*compute)(const struct resolving *r, enum option_id id);
    const char *words; /* for the help, where the value alone does not say it */
};

/* Whether `train` leaves out columns without information by default. It does not if the first values come from a file, which fixes
 * the inputs, or under protocol reference. */
int defaults_drop(const struct job_spec *spec);

/* Whether the first values are drawn, not read from a file. */
int spec_is_new(const struct job_spec *spec);

/* The kind of network alone. It decides for whom the rows of the other options are. */
int defaults_put_net(const struct resolving *r);

/* A value for every option that has none and needs one. */
int defaults_put(const struct resolving *r);

/* The fixed defaults alone. */
int defaults_fixed(struct job_spec *spec);

/* The same, without options that have no meaning for some jobs: for a config.yaml of an older version. */
int defaults_older(struct job_spec *spec);

/* Whether `train` chooses another value by the data than the fixed default, once a network or a training is asked for. */
int defaults_vary(enum option_id id);

/* "default: none", "default for tables: sphere; for image networks: gmp"; nothing: it has none. */
void defaults_words(struct text *out, enum option_id id);

#endif
