/* SPDX-License-Identifier: MIT */
#include "boundary/theory.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "boundary/tool.h"

void sph_theory_defaults(sph_theory_opts *out)
{
    if (!out)
        return;
    *out = (sph_theory_opts){.samples = 1000000, .threads = 1};
}

sph_theory_row *theory_row(struct theory *theory, size_t inputs, size_t tries, double value, double least,
                           double most)
{
    sph_theory_result *result = theory->result;
    assert(result->count < SPH_THEORY_ROWS);
    sph_theory_row *row = &result->row[result->count++];
    *row = (sph_theory_row){.inputs = inputs, .tries = tries, .value = value, .least = least, .most = most};
    row->passed = value >= least && value <= most;
    result->failed += !row->passed;
    return row;
}

double theory_larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

void theory_count(char out[32], size_t count)
{
    char plain[24];
    int length = snprintf(plain, sizeof plain, "%zu", count), at = 0;
    for (int i = 0; i < length; i++) {
        out[at++] = plain[i];
        if (i + 1 < length && (length - i) % 3 == 1)
            out[at++] = ',';
    }
    out[at] = '\0';
}

int sph_theory(sph_theory_result *out, const sph_theory_opts *opts)
{
    NEED(out, opts);
    struct theory theory = {opts, out};
    int err;
    *out = (sph_theory_result){0};
    if (opts->threads < 1)
        return sph_fail_key(SPH_EARG, "threads", "found %d, expected 1 or more", opts->threads);
    if (opts->samples < 1 || (uint64_t)opts->samples > 1000000000000)
        return sph_fail_key(SPH_EARG, "samples", "found %zu, expected 1 to 1000000000000", opts->samples);
    if ((err = theory_flips(&theory)) < 0 || (err = theory_norms(&theory)) < 0 ||
        (err = theory_metric(&theory)) < 0 || (err = theory_small(&theory)) < 0)
        return err;
    return theory_bound(&theory);
}
