/* SPDX-License-Identifier: MIT
 *
 * An experiment of four jobs that take no time. */
#ifndef TESTS_EXPERIMENT_SMALL_H
#define TESTS_EXPERIMENT_SMALL_H

#include "compare/experiment.h"
#include "experiment_files.h"

static const char small[] = "name: small\n"
                            "data: {name: crescents, rows: 80, noise: 0.3, split: sklearn}\n"
                            "net: {hidden: [4]}\n"
                            "train: {epochs: 4, batch: 16}\n"
                            "methods:\n"
                            "  - {name: SP, param: sp, lr: 0.01}\n"
                            "  - {name: \"GmP, fast\", param: gmp, lr: 0.1}\n"
                            "seeds: [0, 3]\n";

static char *written(const sph_experiment *e)
{
    char *text = NULL;
    assert_int_equal(experiment_write(e, NULL, &text), 0);
    return text;
}

#endif
