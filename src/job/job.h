/* SPDX-License-Identifier: MIT
 *
 * From options to the pieces of a training: data, split, net, training options. Shared by jobs and runs. */
#ifndef SPH_JOB_JOB_H
#define SPH_JOB_JOB_H

#include "job/options.h"
#include "data/data.h"

/* Opens the job's data and settles every option that depends on it (task, loss, lr, ...), so that the options
 * are everything needed to repeat the run. */
int job_open_data(struct sph_job *job, sph_data **out);
int job_settle(struct sph_job *job, const sph_data *data); /* the same, of data that are open already */

/* Whether the job's optimizer looks at the option; 1 of one that is no optimizer's. */
int job_reads(const struct sph_job *job, enum option_id id);

/* A number that changes when the data's numbers do. */
uint64_t job_content(const sph_data *data);

/* Of OPTION_SEED_SPLIT or OPTION_SEED_INIT: its own where it is set, else --seed. */
uint64_t job_seed(const struct sph_job *job, enum option_id which);

int job_make_split(const struct sph_job *job, const sph_data *data, sph_split *out);
int job_make_net(const struct sph_job *job, const sph_data *data, sph_net **out);

size_t job_members(const struct sph_job *job); /* of an ensemble; 1 of one net */

/* Member k of an ensemble; the first is job_make_net's. The seed draws its first values and shuffles its rows. */
uint64_t job_member_seed(const struct sph_job *job, size_t member);
int job_make_member(const struct sph_job *job, const sph_data *data, size_t member, sph_net **out);

/* The weights of a file belong to its features: refuses one whose features are those of the data in another order. */
int job_check_order(const char *path, const sph_data *data);
sph_train_opts job_train_opts(const struct sph_job *job);

/* How many folds of the rows choose the epochs of an ensemble's members; 0: the validation part does for all. */
size_t job_folds(const struct sph_job *job);

#endif
