/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a checkpoint, into a trainer that trains on whether it was taken or not. */
#include "fuzz.h"
#include "net/net.h"
#include "rows/source.h"
#include "store/checkpoint.h"

enum { ROWS = 4 };

static struct {
    sph_net *net;
    sph_train_opts opts;
    struct source source;
    struct trainer *trainer;
} t;

static int fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y, size_t ldy)
{
    (void)self;
    for (size_t i = 0; i < count; i++) {
        double row[] = {index[i], 1}, target = index[i];
        t.net->k->from_double(2, row, (char *)x + i * ldx * t.net->k->size);
        t.net->k->from_double(1, &target, (char *)y + i * ldy * t.net->k->size);
    }
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    sph_train_defaults(&t.opts, SPH_TASK_REGRESSION);
    t.opts.epochs = 3;
    t.source = (struct source){.rows = ROWS, .targets = 1, .fetch = fetch};
    struct trainer_setup setup = {.opts = &t.opts, .train = &t.source};
    json_t *extra = json_pack("{s:i}", "metrics", 10);
    if (sph_net_mlp(&t.net, &(sph_mlp){.size = sizeof(sph_mlp),
                                       .dtype = SPH_F32,
                                       .inputs = 2,
                                       .outputs = 1,
                                       .hidden = (size_t[]){3},
                                       .depth = 1,
                                       .param = SPH_PARAM_GMP,
                                       .norm = SPH_NORM_BN,
                                       .act = SPH_ACT_RELU}) < 0)
        abort();
    setup.net = t.net;
    if (trainer_new(&t.trainer, &setup) < 0 ||
        checkpoint_save(fuzz_path("seed"), &(struct checkpoint_parts){&t.trainer, 1, t.net}, extra) < 0)
        abort();
    json_decref(extra);
    fuzz_seed(fuzz_path("seed"));
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    return fuzz_mutate(bytes, length, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    size_t size;
    uint8_t *file = fuzz_safetensors(bytes, length, &size);
    json_t *extra = NULL;
    const char *path = fuzz_file("c.safetensors", file, size);
    free(file);
    checkpoint_load(path, &(struct checkpoint_parts){&t.trainer, 1, t.net}, &extra);
    json_decref(extra);
    return 0;
}
