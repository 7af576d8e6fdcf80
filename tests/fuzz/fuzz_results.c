/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the results of an experiment whose results.json holds these bytes, its motion.json too, and the page
 * of a run whose result.json does. */
#include "compare/results.h"
#include "fuzz.h"
#include "report/pages.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    return fuzz_mutate_json(bytes, length, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char text[] =
        "name: e\ndata: {name: crescents}\nmethods: [{name: A, param: sp}, {name: B}]\n"
        "seeds: 2\ngrid: {lr: [0.1, 0.01]}\nrecord: {boundaries: epoch}\n";
    static const char config[] = "data:\n  name: crescents\n";
    static sph_experiment *e;
    struct results results = {0};
    if (!e) {
        mkdir(fuzz_path("e"), 0700);
        mkdir(fuzz_path("r"), 0700);
        fuzz_file("r/config.yaml", config, sizeof config - 1);
        if (sph_experiment_open(&e, fuzz_file("e/experiment.yaml", text, sizeof text - 1)) < 0)
            abort();
    }
    fuzz_file("e/results.json", bytes, length);
    fuzz_file("e/motion.json", bytes, length);
    results_read(&results, e, fuzz_path("e"));
    results_free(&results);
    fuzz_file("r/result.json", bytes, length);
    run_write_page(fuzz_path("r"));
    return 0;
}
