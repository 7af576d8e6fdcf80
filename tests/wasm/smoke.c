/* SPDX-License-Identifier: MIT
 *
 * Trains GmP on two crescents in f64 by core alone and prints the loss of every step with all its digits:
 * once by the plain kernels, which compute the same everywhere up to libm's last bit, and once by the fast
 * ones with two workers, which a system without threads runs one after the other. scripts/check-wasm compares
 * what this prints natively with what it prints in node. */
#include <stdio.h>

#include "net/net.h"
#include "spherelu/core.h"

static int print_loss(void *kernels, const sph_view *view)
{
    printf("%s %llu %.17g\n", (const char *)kernels, (unsigned long long)view->step, view->loss);
    return 0;
}

static int train(const sph_data *data, const sph_split *split, enum kernel_choice choice, int threads)
{
    sph_net *net = NULL;
    sph_result result;
    sph_train_opts opts;
    sph_mlp spec = {.size = sizeof spec,
                    .dtype = SPH_F64,
                    .inputs = sph_data_features(data),
                    .outputs = sph_data_outputs(data),
                    .hidden = (size_t[]){20, 20},
                    .depth = 2,
                    .param = SPH_PARAM_GMP,
                    .act = SPH_ACT_RELU,
                    .seed = 1};
    int err = sph_net_mlp(&net, &spec);
    if (err < 0)
        return err;
    net->k = kernels_pick(SPH_F64, choice);
    sph_train_defaults(&opts, sph_data_task(data));
    opts.lr = 0.01;
    opts.batch = 100;
    opts.epochs = 20;
    opts.threads = threads;
    char word[] = "plain";
    if (choice != KERNELS_PLAIN)
        snprintf(word, sizeof word, "fast");
    err = sph_train(net, data, split, &opts, &(sph_observer){.self = word, .step = print_loss}, 1, &result);
    for (size_t i = 0; err == 0 && i < result.test.count; i++)
        printf("%s test-%s %.17g\n", word, result.test.name[i], result.test.value[i]);
    sph_net_free(net);
    return err;
}

int main(void)
{
    sph_data *data = NULL;
    sph_split split = {0};
    int err;
    if ((err = sph_data_synthetic(&data, "crescents", 1000, 0.1, 0)) < 0 ||
        (err = sph_split_make(&split, data, SPH_SPLIT_STRATIFIED, 0.2, 0.2, 0)) < 0 ||
        (err = train(data, &split, KERNELS_PLAIN, 1)) < 0 ||
        (err = train(data, &split, KERNELS_FASTEST, 2)) < 0)
        fprintf(stderr, "smoke: %s\n", sph_error());
    sph_split_free(&split);
    sph_data_free(data);
    return err < 0;
}
