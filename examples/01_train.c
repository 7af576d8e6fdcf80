/* SPDX-License-Identifier: MIT
 *
 * Train a network of GmP units on two interleaved crescents: data, split, net, options, training, scores. */
#include <stdio.h>

#include <spherelu.h>

static void print_scores(const char *part, const sph_scores *scores)
{
    printf("%-5s %4zu rows", part, scores->rows);
    for (size_t i = 0; i < scores->count; i++)
        printf("   %s %.4f", scores->name[i], scores->value[i]);
    putchar('\n');
}

static int print_tensors(const sph_net *net)
{
    printf("the net has %zu layers and %zu learned numbers:\n", sph_net_layers(net), sph_net_learned(net));
    for (size_t i = 0; i < sph_net_tensors(net); i++) {
        sph_tensor tensor;
        if (sph_net_tensor(net, i, &tensor) < 0)
            return -1;
        printf("  %-16s", tensor.name);
        for (size_t d = 0; d < tensor.ndim; d++)
            printf("%s%zu", d ? " x " : "", tensor.shape[d]);
        putchar('\n');
    }
    return 0;
}

int main(void)
{
    sph_data *data = NULL;
    sph_split split = {0};
    sph_net *net = NULL;
    sph_result result;
    int err;

    /* "crescents" is embedded: 1,000 points of two classes. The file of one's own stands in the same place.
     */
    if ((err = sph_data_open(&data, "crescents", NULL)) < 0)
        goto out;
    /* A fifth of all rows for the test, a fifth of the rest to choose the epoch by. */
    if ((err = sph_split_make(&split, data, SPH_SPLIT_STRATIFIED, 0.2, 0.2, 0)) < 0)
        goto out;

    sph_mlp spec = {
        .size = sizeof(sph_mlp),
        .inputs = sph_data_features(data),
        .outputs = sph_data_outputs(data), /* one logit for two classes */
        .hidden = (size_t[]){20},
        .depth = 1,
        .param = SPH_PARAM_GMP,
        .act = SPH_ACT_RELU,
    };
    if ((err = sph_net_mlp(&net, &spec)) < 0 || (err = print_tensors(net)) < 0)
        goto out;

    /* The defaults are Adam, early stopping after 100 epochs without a better validation loss, and a loss
     * that fits the task: binary cross-entropy here. */
    sph_train_opts opts;
    sph_train_defaults(&opts, sph_data_task(data));
    opts.lr = 0.1;
    opts.batch = 128;
    opts.epochs = 200;
    if ((err = sph_train(net, data, &split, &opts, NULL, 0, &result)) < 0)
        goto out;

    printf("%zu epochs, the best was number %zu\n", result.epochs, result.best_epoch);
    print_scores("train", &result.train);
    print_scores("val", &result.val);
    print_scores("test", &result.test);
    if (result.test.value[1] < 0.98) { /* 0.5 is chance */
        printf("accuracy below 0.98\n");
        err = 1;
    }
out:
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    sph_net_free(net);
    sph_split_free(&split);
    sph_data_free(data);
    return err != 0;
}
