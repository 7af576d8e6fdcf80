/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: an experiment file is taken or refused, and so are changes of it; what is taken is written and read again
 * as the same. */
#include "base/memory.h"
#include "compare/experiment.h"
#include "fuzz.h"

static void write_again(const sph_experiment *e)
{
    enum { LENGTH_MOST = 1 << 16 }; /* a great many seeds are slow to write */
    char *text = NULL, *again = NULL;
    sph_experiment *back = NULL;
    if (experiment_write(e, NULL, &text) < 0)
        abort();
    if (strlen(text) < LENGTH_MOST &&
        (sph_experiment_open(&back, fuzz_file("again.yaml", text, strlen(text))) < 0 ||
         experiment_write(back, NULL, &again) < 0 || strcmp(text, again) != 0))
        abort();
    sph_experiment_free(back);
    mem_free(text);
    mem_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    sph_experiment *e = NULL;
    if (sph_experiment_open(&e, fuzz_file("e.yaml", bytes, length)) < 0)
        return 0;
    write_again(e);
    char value[64] = "";
    memcpy(value, bytes, length < sizeof value ? length : sizeof value - 1);
    sph_experiment_set(e, "grid.lr", value);
    sph_experiment_set(e, "seeds", value);
    sph_experiment_set(e, value, "1");
    sph_experiment_free(e);
    return 0;
}
