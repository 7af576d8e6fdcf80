/* SPDX-License-Identifier: MIT
 *
 * spherelu bench: what this machine does in a second. Its options; bench/ is the program that measures. */
#include "bench.h"

static const sph_option options[] = {
    {"units", "N", "512", "param", "units of the layer"},
    {"rows", "N", "404", "mlp", "rows of the batch"},
    {"hidden", "N,...", "100", "mlp", "units of each hidden layer"},
    {"record", "DIR", "", "mlp",
     "in turns with these, steps that record their boundaries (files in DIR, removed afterwards)"},
    {"natural", "X", "", "param and mlp", "natural directions with this damping (gmp): what they cost"},
    {"batch", "N", "", "images", "images of a step (default 32 in vgg6, 16 in the others)"},
    {"size", "N", "", "images", "height and width of an image (default 32 in vgg6, 224 in the others)"},
    {"data", "DIR", "", "loader", "folder of pictures"},
    {"workers", "N", "1", "loader", "threads that decode"},
    {"decode", CLI_WORDS(SPH_DECODES), "exact", "loader",
     "JPEG files decoded whole, or smaller where that is enough"},
    {"width", "X", "1", "images", "scale of the networks' widths"},
    {"conv", CLI_WORDS(SPH_CONVS), "auto", "images", "f32 convolutions: the fastest way, or no Winograd"},
    {"memory", CLI_WORDS(SPH_MEMORIES), "normal", "images", "what a step keeps of its way forward"},
    {"steps-only", NULL, "", "images", "leave the bare convolutions out"},
    {"norm", CLI_WORDS(SPH_NORMS), "none", "steps", "normalization"},
    {"activation", CLI_WORDS(SPH_ACTS), "relu", "steps", "activation"},
    {"optimizer", CLI_WORDS(SPH_OPTIMIZERS), "", "steps",
     "update (default adam in mlp, sgd with momentum 0.9 for images)"},
    {"inputs", "N", "", "all", "inputs of a unit (default 4608 in param, 13 in mlp)"},
    {"param", CLI_WORDS(SPH_PARAMS), "gmp", "all", "parameterization"},
    {"repeats", "N", "", "all", "the best of N is printed (default 5, for images 3)"},
    {"clock", "wall|processor", "wall", "all",
     "seconds that passed, or that the processor spent on this, shared out to the threads: for a machine "
     "that others use too"},
    {"threads", "N", "1", "general", "threads of one network; param runs in one"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "f32", "general", "precision"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

#define BENCHES "param" SPH_NETS(CLI_BAR_WORD) "|loader"

const struct command command_bench = {
    .name = "bench",
    .summary = "measure the speed of this machine",
    .usage = "[" BENCHES "] [--json]",
    .about =
        "param: building a layer's weights from its raw numbers and pulling the gradient back, in "
        "nanoseconds per weight. mlp: whole training steps (forward, loss, backward, update) in "
        "microseconds. The others: whole training steps of networks for images on noise, in images per "
        "second; beside it what bare oneDNN convolutions reach on one thread with nothing between them, and "
        "the most memory the steps took. loader: pictures of a folder, brought to --size and augmented as "
        "the papers "
        "say, in pictures per second; beside it what the decoder alone reaches on one thread; and both for a "
        "second "
        "of processors' time. With no argument param and mlp run. Each figure is the best of "
        "several "
        "repetitions after a warm-up; with --json one object per line.",
    .examples =
        "  spherelu bench\n"
        "  spherelu bench param --units 512 --inputs 4608 --json\n"
        "  spherelu bench mlp --rows 404 --inputs 13 --hidden 100 --param gmp --norm none --optimizer adam\n"
        "  spherelu bench mlp --record /tmp\n"
        "  spherelu bench vgg6 --batch 32 --param gmp --norm imn\n"
        "  spherelu bench mobile --size 32 --batch 32 --param sp --norm bn\n"
        "  spherelu bench loader --data photos --size 224 --json\n"
        "  spherelu bench resnet50 --batch 16 --size 224 --param sp --norm bn --conv direct --json\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {BENCHES},
    .words_needed = 0,
    .run = bench_run,
};
