/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the results of an experiment whose results.json and motion.json are these members, or all of the
 * bytes, and the page of a run whose result.json they are. */
#include <jansson.h>

#include "compare/results.h"
#include "fuzz.h"
#include "report/pages.h"
#include "report/tool.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    return fuzz_mutate_json(bytes, length, most, seed);
}

/* A file of the JSON under this key, or of all the bytes where there is none. */
static void put_member(const char *name, const char *key, const uint8_t *bytes, size_t length)
{
    json_t *both = json_loadb((const char *)bytes, length, 0, NULL), *member = json_object_get(both, key);
    char *text = member ? json_dumps(member, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    fuzz_file(name, text ? (const void *)text : bytes, text ? strlen(text) : length);
    free(text);
    json_decref(both);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char text[] =
        "name: e\ndata: {name: crescents}\nmethods: [{name: A, param: sp}, {name: B}]\n"
        "seeds: 2\ngrid: {lr: [0.1, 0.01]}\nrecord: {boundaries: epoch}\n"
        "papers: {max_turn: {A: '5'}, accuracy: {B: '0.9'}}\n";
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
    if (fuzz_way(bytes, length, 4) == 0) {
        fuzz_file("r/result.json", bytes, length);
        run_write_page(fuzz_path("r"));
        return 0;
    }
    put_member("e/results.json", "results", bytes, length);
    put_member("e/motion.json", "motion", bytes, length);
    if (results_read(&results, e, fuzz_path("e")) == 0 && results_write(&results) < 0)
        abort();
    results_free(&results);
    return 0;
}
