/* SPDX-License-Identifier: MIT
 *
 * spherelu bench: what this machine does in a second. Its options; bench/ is the program that measures. */
#include "bench.h"

static const sph_option options[] = {
    {"units", "N", "512", "param", "units of the layer"},
    {"rows", "N", "404", "mlp", "samples in a batch"},
    {"hidden", "N,...", "100", "mlp", "units of each hidden layer"},
    {"record", "DIR", "", "mlp",
     "also measure steps that record boundaries, alternating with the others; temporary files go into DIR"},
    {"natural", "X", "", "param and mlp", "gmp: natural gradient with this damping"},
    {"batch", "N", "", "images", "images in a batch (default: 32 for vgg6, 16 for the others)"},
    {"size", "N", "", "images", "height and width of an image (default: 32 for vgg6, 224 for the others)"},
    {"data", "DIR", "", "loader", "image folder"},
    {"workers", "N", "1", "loader", "threads that decode"},
    {"decode", CLI_WORDS(SPH_DECODES), "exact", "loader",
     "decode JPEG files in full, or smaller if enough pixels remain"},
    {"width", "X", "1", "images", "factor on the number of channels of every layer"},
    {"conv", CLI_WORDS(SPH_CONVS), "auto", "images",
     "f32 convolutions: the fastest algorithm, including Winograd, or only direct ones"},
    {"memory", CLI_WORDS(SPH_MEMORIES), "normal", "images",
     "small: recompute the outputs of bn and imn in the backward pass"},
    {"steps-only", NULL, "", "images", "do not measure the convolutions alone"},
    {"norm", CLI_WORDS(SPH_NORMS), "none", "steps", "normalization"},
    {"activation", CLI_WORDS(SPH_ACTS), "relu", "steps", "activation"},
    {"optimizer", CLI_WORDS(SPH_OPTIMIZERS), "", "steps",
     "optimizer (default: adam for mlp, sgd with momentum 0.9 for image networks)"},
    {"inputs", "N", "", "all", "inputs of a unit (default: 4608 for param, 13 for mlp)"},
    {"param", CLI_WORDS(SPH_PARAMS), "gmp", "all", "parameterization"},
    {"repeats", "N", "", "all",
     "number of repetitions, of which the best is printed (default: 5, for images 3)"},
    {"clock", "wall|processor", "wall", "all",
     "measure elapsed time, or processor time divided by the number of threads, for a busy machine"},
    {"threads", "N", "1", "output and resources", "threads of one network; param always uses one"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "f32", "output and resources", "precision"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

#define BENCHES "param" SPH_NETS(CLI_BAR_WORD) "|loader"

const struct command command_bench = {
    .name = "bench",
    .summary = "measure the training speed on this machine",
    .usage = "[" BENCHES "] [--json]",
    .about =
        "param: building the weights of a layer from its parameters and the gradient back, in nanoseconds "
        "per weight. mlp: complete training steps (forward, loss, backward, update) in microseconds. Image "
        "networks: complete training steps on noise, in images per second, the speed of the oneDNN "
        "convolutions alone on one thread, and peak memory. loader: decoding, resizing to --size and "
        "augmenting the images of a folder, in images per second of time and of processor time, and the "
        "speed of the decoder alone on one thread. Without an argument, param and mlp run. Each figure is "
        "the best of several repetitions after a warm-up; --json prints one object per line.",
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
