/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: an experiment file is taken or refused, and so are changes of it. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    sph_experiment *e = NULL;
    if (sph_experiment_open(&e, fuzz_file("e.yaml", bytes, length)) < 0)
        return 0;
    char value[64] = "";
    memcpy(value, bytes, length < sizeof value ? length : sizeof value - 1);
    sph_experiment_set(e, "grid.lr", value);
    sph_experiment_set(e, "seeds", value);
    sph_experiment_set(e, value, "1");
    sph_experiment_free(e);
    return 0;
}
