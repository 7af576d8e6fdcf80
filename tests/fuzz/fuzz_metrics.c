/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the metrics.jsonl of a run, as the figure of its losses reads it. */
#include "fuzz.h"
#include "report/figures.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    return fuzz_mutate_json(bytes, length, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char config[] = "data: {name: crescents, task: binary}\n";
    if (access(fuzz_path("config.yaml"), F_OK))
        fuzz_file("config.yaml", config, sizeof config - 1);
    fuzz_file("metrics.jsonl", bytes, length);
    fuzz_fill_figures(fuzz_home(), FIGURE_METRICS);
    return 0;
}
