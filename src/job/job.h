/* SPDX-License-Identifier: MIT
 *
 * From options to the parts of a training run: data, split, network, training options. Shared by jobs and
 * runs. */
#ifndef SPH_JOB_JOB_H
#define SPH_JOB_JOB_H

#include "data/open.h"
#include "job/options.h"

/* Opens the data that the options name; nothing is decided here. again: a run began on them earlier. cache: where they are kept for
 * others, or NULL. */
int job_read_data(const struct job_spec *spec, size_t folder_side, int again, struct data_cache *cache,
                  sph_data **out);

/* As sph_job_new; without recommends, options that are not set have the fixed defaults of the table. */
int job_new(sph_job **out, int recommends);

/* Opens the job's data, with notes on how they were taken, and resolves its options (resolve.h). */
int job_open_data(struct sph_job *job, sph_data **out);

/* The options of data that are open already. */
int job_resolve_for(struct sph_job *job, const sph_data *data);

/* A number that changes when the data's numbers do. */
uint64_t job_content(const sph_data *data);

/* Of OPTION_SEED_SPLIT or OPTION_SEED_INIT: its own where it is set, else --seed. */
uint64_t job_seed(const struct job_spec *spec, enum option_id which);

int job_make_split(const struct job_spec *spec, const sph_data *data, sph_split *out);
int job_make_net(const struct job_spec *spec, const sph_data *data, sph_net **out);

size_t job_members(const struct job_spec *spec); /* of an ensemble; 1 of one net */

/* Member k of an ensemble; the first is job_make_net's. The seed draws its first values and shuffles its rows. */
uint64_t job_member_seed(const struct job_spec *spec, size_t member);
int job_make_member(const struct job_spec *spec, const sph_data *data, size_t member, sph_net **out);

/* The weights of a file belong to its features: refuses one whose features are those of the data in another order. */
int job_check_order(const char *path, const sph_data *data);
sph_train_opts job_train_opts(const struct job_spec *spec);

/* How many folds of the rows choose the epochs of an ensemble's members; 0: the validation part does for all. */
size_t job_folds(const struct job_spec *spec);

#endif
