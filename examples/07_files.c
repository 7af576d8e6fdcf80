/* SPDX-License-Identifier: MIT
 *
 * Nets on disk: save and open (safetensors, with the graph and the standardisation inside), and take only the
 * learned numbers of a file into a net of the same shapes. */
#include <stdio.h>
#include <string.h>

#include <spherelu.h>

enum { ROWS = 4 };

static const double x[ROWS * 2] = {0, 0, 1, 0, 0, 1, 1, -0.5};

static int same_outputs(sph_net *a, sph_net *b)
{
    double y[2][ROWS];
    return sph_net_forward(a, x, ROWS, y[0]) == 0 && sph_net_forward(b, x, ROWS, y[1]) == 0 &&
           memcmp(y[0], y[1], sizeof y[0]) == 0;
}

int main(void)
{
    const char *path = "07_net.safetensors", *broken = "07_broken.safetensors";
    sph_data *data = NULL;
    sph_split split = {0};
    sph_net *net = NULL, *opened = NULL, *fresh = NULL, *none = NULL;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = (size_t[]){8},
                    .depth = 1,
                    .param = SPH_PARAM_GMP,
                    .act = SPH_ACT_RELU};
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_BINARY);
    int err, bad = 0;
    opts.epochs = 20;
    opts.lr = 0.1;
    if ((err = sph_data_open(&data, "crescents", NULL)) < 0 ||
        (err = sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 0)) < 0 ||
        (err = sph_net_mlp(&net, &spec)) < 0 ||
        (err = sph_train(net, data, &split, &opts, NULL, 0, NULL)) < 0)
        goto out;

    /* A file holds the net whole: graph, learned numbers, running statistics, standardisation. */
    if ((err = sph_net_save(net, path)) < 0 || (err = sph_net_open(&opened, path)) < 0)
        goto out;
    int same = same_outputs(net, opened);
    printf("opened again: the outputs are %s\n", same ? "the same bits" : "DIFFERENT");
    bad |= !same;

    /* Into a net of one's own: the learned numbers only. Its own standardisation, none here, stays. */
    spec.seed = 99;
    if ((err = sph_net_mlp(&fresh, &spec)) < 0 || (err = sph_net_load_tensors(fresh, path)) < 0)
        goto out;
    double theta[2][8];
    if ((err = sph_net_get(net, "layers.0.theta", theta[0], 8)) < 0 ||
        (err = sph_net_get(fresh, "layers.0.theta", theta[1], 8)) < 0)
        goto out;
    same = !memcmp(theta[0], theta[1], sizeof theta[0]);
    printf("loaded into another net: the angles are %s\n", same ? "the same bits" : "DIFFERENT");
    bad |= !same;

    /* Another shape, and a file that is no such file: one line each. */
    sph_net_free(fresh);
    fresh = NULL;
    spec.hidden = (size_t[]){9};
    if ((err = sph_net_mlp(&fresh, &spec)) < 0)
        goto out;
    bad |= sph_net_load_tensors(fresh, path) != SPH_EFORMAT;
    printf("%s\n", sph_error());
    FILE *file = fopen(broken, "w");
    if (file) {
        fputs("not a net", file);
        fclose(file);
    }
    bad |= sph_net_open(&none, broken) != SPH_EFORMAT;
    printf("%s\n", sph_error());
out:
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    sph_net_free(net);
    sph_net_free(opened);
    sph_net_free(fresh);
    sph_net_free(none);
    sph_split_free(&split);
    sph_data_free(data);
    return err < 0 || bad;
}
