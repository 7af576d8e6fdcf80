/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the boundaries.npz of a run. Figures are filled with it, and an experiment's table of moves
 * and turns; nothing is drawn. */
#include "compare/results.h"
#include "fuzz.h"
#include "report/figures.h"

static sph_experiment *experiment;
static struct experiment_job job;
static struct experiment_outcome outcome;
static size_t final;

/* A run folder that has its options; boundaries.npz is to come. */
static void make_run(const char *name, const char *table, const char *task)
{
    char config[2 * FUZZ_PATH], path[FUZZ_PATH];
    mkdir(fuzz_path(name), 0700);
    snprintf(path, sizeof path, "%s.csv", name);
    snprintf(config, sizeof config, "data: {name: %s, task: %s}\n", fuzz_file(path, table, strlen(table)),
             task);
    snprintf(path, sizeof path, "%s/config.yaml", name);
    fuzz_file(path, config, strlen(config));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char text[] = "name: e\ndata: {name: levy}\nmethods: [{name: A, param: sp}]\nseeds: 1\n"
                               "record: {boundaries: epoch}\npapers: {max_move: {A: '1'}, rmse: {A: '2'}}\n";
    (void)argc, (void)argv;
    make_run("line", "a,y\n1,1\n2,3\n3,2\n4,5\n5,4\n6,7\n7,6\n8,9\n9,8\n", "regression");
    make_run("plane", "a,b,y\n1,2,0\n2,1,1\n3,2,0\n1,1,1\n2,2,0\n4,1,1\n3,1,0\n1,3,1\n2,4,0\n5,1,1\n",
             "binary");
    if (sph_experiment_open(&experiment, fuzz_file("e.yaml", text, sizeof text - 1)) < 0)
        abort();
    job.folder = strdup("line");
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    static const char *const names[] = {
        "step",          "frame_step",   "layers.0.move", "layers.0.turn",  "layers.0.phi",
        "x_scale",       "x_mean",       "pattern_step",  "layers.0.flips", "layers.0.distinct",
        "layers.1.move", "layers.1.phi", "flips",         "distinct",       "layers.1.flips"};
    return fuzz_mutate_npz(bytes, length, most, seed, names, sizeof names / sizeof *names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct results results = {.experiment = experiment,
                              .dir = fuzz_home(),
                              .jobs = &job,
                              .outcomes = &outcome,
                              .count = 1,
                              .final = &final};
    unsigned way = fuzz_way(bytes, length, 3);
    const char *run = way == 1 ? "plane" : "line";
    char path[FUZZ_PATH];
    snprintf(path, sizeof path, "%s/boundaries.npz", run);
    fuzz_file(path, bytes, length);
    if (way < 2) {
        fuzz_fill_figures(fuzz_path(run), FIGURE_BOUNDARIES | FIGURE_PATTERNS);
        return 0;
    }
    motion_read(&results.motion, &results);
    motion_free(&results.motion);
    return 0;
}
