/* SPDX-License-Identifier: MIT
 *
 * A job of options that must be taken. Include it behind cmocka.h. */
#ifndef SPH_TESTS_JOBS_H
#define SPH_TESTS_JOBS_H

#include "job/job.h"
#include "spherelu/job.h"

static inline sph_job *new_job(void)
{
    sph_job *job = NULL;
    assert_int_equal(job_new(&job, 0), 0);
    return job;
}

static inline void set(sph_job *job, const char *name, const char *value)
{
    if (sph_job_set(job, name, value))
        fail_msg("--%s %s: %s", name, value, sph_error());
}

#endif
