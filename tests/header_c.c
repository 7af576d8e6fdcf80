/* SPDX-License-Identifier: MIT
 *
 * The public header compiles alone, twice over, as strict C17. Building this file is the test. */
#include "spherelu.h"
#include "spherelu.h"

sph_train_opts header_c_touches_the_api(void);

sph_train_opts header_c_touches_the_api(void)
{
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
    return opts;
}
