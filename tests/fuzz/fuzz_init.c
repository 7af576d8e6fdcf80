/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: weights to begin with, for nets that stay usable whether they are taken or not. */
#include "fuzz.h"

static sph_net *make(void)
{
    sph_net *net = NULL;
    if (sph_net_new(&net, SPH_F32) < 0)
        abort();
    int node = sph_net_input(net, 2);
    node = sph_net_dense(net, node,
                         &(sph_layer){.size = sizeof(sph_layer),
                                      .units = 3,
                                      .param = SPH_PARAM_GMP,
                                      .norm = SPH_NORM_BN,
                                      .act = SPH_ACT_RELU});
    node = sph_net_dense(net, node, &(sph_layer){.size = sizeof(sph_layer), .units = 1});
    if (sph_net_ready(net, node, 1) < 0)
        abort();
    return net;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    sph_net *net = make();
    (void)argc, (void)argv;
    if (sph_net_save(net, fuzz_path("seed")) < 0)
        abort();
    sph_net_free(net);
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
    double x[2] = {1, 2}, y;
    uint8_t *file = fuzz_safetensors(bytes, length, &size);
    const char *path = fuzz_file("i.safetensors", file, size);
    free(file);
    sph_net *net = make();
    sph_net_load_tensors(net, path);
    sph_net_forward(net, x, 1, &y);
    sph_net_free(net);
    return 0;
}
