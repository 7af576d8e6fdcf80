/* SPDX-License-Identifier: MIT */
#ifndef SPH_REPORT_PERTURB_JSON_H
#define SPH_REPORT_PERTURB_JSON_H

#include "file/json.h"
#include "spherelu.h"

/* perturb.json of an experiment; NULL: out of memory. */
json_t *perturb_to_json(const char *name, const sph_perturb_result *result, uint64_t seed);

#endif
