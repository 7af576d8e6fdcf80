/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a model by its description (a line of JSON) and its tensors (JSON). What opens also runs and
 * opens again as it was saved; its columns are no more to be trusted than the rest (frame.c makes the file). */
#include "data/open.h"
#include "fuzz.h"
#include "store/model.h"

static void run(sph_net *net)
{
    enum { NUMBERS_MOST = 1 << 14 };
    size_t n = sph_net_inputs(net), m = sph_net_outputs(net);
    if (n > NUMBERS_MOST || m > NUMBERS_MOST || sph_net_learned(net) > NUMBERS_MOST)
        return;
    double *x = calloc(n, sizeof *x), *y = calloc(m, sizeof *y);
    sph_net_forward(net, x, 1, y);
    free(x);
    free(y);
    const char *again = fuzz_path("again.safetensors");
    sph_net *back = NULL;
    if (sph_net_save(net, again) == 0) {
        if (sph_net_open(&back, again) < 0 || sph_net_inputs(back) != n || sph_net_outputs(back) != m)
            abort();
        sph_net_free(back);
    }
}

/* Models of each kind to begin with, with and without words about columns. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char note[] =
        "{\"named\": true, \"missing\": \"mean\", \"task\": \"regression\", \"columns\": ["
        "{\"name\": \"a\", \"role\": \"feature\", \"kind\": \"number\"},"
        "{\"name\": \"b\", \"role\": \"feature\", \"kind\": \"number\"},"
        "{\"name\": \"y\", \"role\": \"target\", \"kind\": \"number\", \"at\": 0}]}";
    (void)argc, (void)argv;
    for (int param = 0; param < SPH_PARAM_COUNT; param++) {
        sph_net *net = NULL;
        if (sph_net_mlp(&net, &(sph_mlp){.size = sizeof(sph_mlp),
                                         .dtype = SPH_F32,
                                         .inputs = 2,
                                         .outputs = 1,
                                         .hidden = (size_t[]){3},
                                         .depth = 1,
                                         .param = (sph_param)param,
                                         .norm = (sph_norm)(param % SPH_NORM_COUNT),
                                         .act = SPH_ACT_RELU}) < 0 ||
            (param % 2 && sph_net_set_note(net, note) < 0) || sph_net_save(net, fuzz_path("seed")) < 0)
            abort();
        sph_net_free(net);
        fuzz_seed(fuzz_path("seed"));
    }
    sph_net *net = NULL;
    if (sph_net_new(&net, SPH_F32) < 0)
        abort();
    int node = sph_net_image(net, 3, 4, 4);
    node = sph_net_conv(net, node,
                        &(sph_layer){.size = sizeof(sph_layer),
                                     .units = 2,
                                     .kernel = 3,
                                     .stride = 1,
                                     .pad = 1,
                                     .norm = SPH_NORM_BN,
                                     .act = SPH_ACT_RELU});
    node = sph_net_max_pool(net, node, 2, 2, 0);
    node = sph_net_global_pool(net, node);
    node = sph_net_dense(net, node, &(sph_layer){.size = sizeof(sph_layer), .units = 2});
    if (sph_net_ready(net, node, 1) < 0 || sph_net_save(net, fuzz_path("seed")) < 0)
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
    static const char table[] = "a,b,y\n1,2,3\n2,3,4\n3,5,6\n";
    size_t size;
    uint8_t *file = fuzz_safetensors(bytes, length, &size);
    const char *path = fuzz_file("m.safetensors", file, size);
    sph_net *net = NULL;
    json_t *schema = NULL;
    free(file);
    if (model_open(&net, &schema, path) == 0) {
        sph_data *data = NULL;
        if (schema &&
            data_open_like(&data, fuzz_file("t.csv", table, sizeof table - 1), schema, 0, NULL) == 0)
            sph_data_free(data);
        run(net);
        sph_net_free(net);
    }
    json_decref(schema);
    return 0;
}
